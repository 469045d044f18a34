//! Parses the objects of a PDF (ISO 32000-1, 7.3), as far as needed to find an attachment. Each byte is read
//! a bounded number of times; each object is bounded in depth and number of values.

use std::cell::Cell;

const DEPTH_MAX: usize = 32;
const VALUES_MAX: usize = 100_000;
/// Longest number, in characters.
const NUMBER_CHARS_MAX: usize = 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Object {
    Integer(i64),
    /// A name without its slash.
    Name(Vec<u8>),
    Text(Vec<u8>),
    Reference(u32),
    Array(Vec<Object>),
    Dict(Dict),
    /// A fraction, a boolean, or null.
    Other,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dict(Vec<(Vec<u8>, Object)>);

impl Dict {
    pub fn get(&self, name: &str) -> Option<&Object> {
        self.0.iter().find(|(known, _)| known == name.as_bytes()).map(|(_, value)| value)
    }

    /// The value of a name, if it is an integer that is not negative.
    pub fn size(&self, name: &str) -> Option<usize> {
        match self.get(name) {
            Some(Object::Integer(size)) => usize::try_from(*size).ok(),
            _ => None,
        }
    }

    /// The value of a name, if it is a list of such integers.
    pub fn sizes(&self, name: &str) -> Option<Vec<usize>> {
        let Some(Object::Array(values)) = self.get(name) else { return None };
        let size = |value: &Object| match value {
            Object::Integer(size) => usize::try_from(*size).ok(),
            _ => None,
        };
        values.iter().map(size).collect()
    }

    pub fn is(&self, name: &str, value: &str) -> bool {
        matches!(self.get(name), Some(Object::Name(found)) if found == value.as_bytes())
    }
}

pub struct Lexer<'d> {
    data: &'d [u8],
    pub at: usize,
    values: usize,
    looks: Cell<usize>,
}

impl<'d> Lexer<'d> {
    pub fn new(data: &'d [u8], at: usize) -> Lexer<'d> {
        Lexer { data, at, values: 0, looks: Cell::new(0) }
    }

    /// Number of bytes read so far, repeated reads included.
    pub fn looks(&self) -> usize {
        self.looks.get()
    }

    /// Parses the next object; `None` if there is none, or if it is broken, too deep or too large.
    pub fn object(&mut self) -> Option<Object> {
        self.value(0)
    }

    /// Consumes a keyword; returns whether it was there.
    pub fn keyword(&mut self, word: &[u8]) -> bool {
        self.blanks();
        let found = self.data.get(self.at..).is_some_and(|rest| rest.starts_with(word));
        self.at += if found { word.len() } else { 0 };
        found
    }

    pub fn unsigned(&mut self) -> Option<u32> {
        self.blanks();
        let begin = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) && self.at - begin < NUMBER_CHARS_MAX {
            self.at += 1;
        }
        str::from_utf8(self.data.get(begin..self.at)?).ok()?.parse().ok()
    }

    fn peek(&self) -> Option<u8> {
        self.looks.set(self.looks.get() + 1);
        self.data.get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    fn blanks(&mut self) {
        while let Some(byte) = self.peek() {
            if byte == b'%' {
                while self.peek().is_some_and(|byte| !matches!(byte, b'\n' | b'\r')) {
                    self.at += 1;
                }
            } else if is_blank(byte) {
                self.at += 1;
            } else {
                return;
            }
        }
    }

    fn value(&mut self, depth: usize) -> Option<Object> {
        self.blanks();
        self.values += 1;
        if depth > DEPTH_MAX || self.values > VALUES_MAX {
            return None;
        }
        match self.peek()? {
            b'<' if self.data.get(self.at + 1) == Some(&b'<') => self.dict(depth),
            b'<' => self.hex(),
            b'(' => self.text(),
            b'[' => self.array(depth),
            b'/' => Some(Object::Name(self.name())),
            b'0'..=b'9' | b'+' | b'-' | b'.' => self.number(),
            b'a'..=b'z' => self.word(),
            _ => None,
        }
    }

    fn dict(&mut self, depth: usize) -> Option<Object> {
        self.at += 2;
        let mut dict = Dict::default();
        while !self.keyword(b">>") {
            if self.peek()? != b'/' {
                return None;
            }
            let name = self.name();
            let value = self.value(depth + 1)?;
            dict.0.push((name, value));
        }
        Some(Object::Dict(dict))
    }

    fn array(&mut self, depth: usize) -> Option<Object> {
        self.at += 1;
        let mut values = Vec::new();
        while !self.keyword(b"]") {
            values.push(self.value(depth + 1)?);
        }
        Some(Object::Array(values))
    }

    /// Parses a name, in which `#2F` is the byte 2F.
    fn name(&mut self) -> Vec<u8> {
        self.at += 1;
        let mut name = Vec::new();
        let is_part = |byte: &u8| !is_blank(*byte) && !b"()<>[]{}/%".contains(byte);
        while let Some(byte) = self.peek().filter(is_part) {
            self.at += 1;
            let digits = self.data.get(self.at..self.at + 2).and_then(|digits| str::from_utf8(digits).ok());
            match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
                Some(escaped) if byte == b'#' => {
                    self.at += 2;
                    name.push(escaped);
                }
                _ => name.push(byte),
            }
        }
        name
    }

    fn number(&mut self) -> Option<Object> {
        let begin = self.at;
        while self.peek().is_some_and(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.')) {
            self.at += 1;
            if self.at - begin > NUMBER_CHARS_MAX {
                return None;
            }
        }
        let text = str::from_utf8(self.data.get(begin..self.at)?).ok()?;
        let Ok(number) = text.parse::<i64>() else { return Some(Object::Other) };
        let behind = self.at;
        if let (Ok(id), Some(_), true) = (u32::try_from(number), self.unsigned(), self.keyword(b"R")) {
            return Some(Object::Reference(id));
        }
        self.at = behind;
        Some(Object::Integer(number))
    }

    fn word(&mut self) -> Option<Object> {
        let known = [b"true".as_slice(), b"false", b"null"].into_iter().any(|word| self.keyword(word));
        known.then_some(Object::Other)
    }

    fn hex(&mut self) -> Option<Object> {
        self.at += 1;
        let mut text = Vec::new();
        let mut half: Option<u8> = None;
        loop {
            let byte = self.next()?;
            if byte == b'>' {
                break;
            }
            if is_blank(byte) {
                continue;
            }
            let digit = char::from(byte).to_digit(16)? as u8;
            match half.take() {
                Some(high) => text.push(high << 4 | digit),
                None => half = Some(digit),
            }
        }
        text.extend(half.map(|high| high << 4));
        Some(Object::Text(text))
    }

    /// Parses a text in parentheses, which may contain nested ones, and escapes.
    fn text(&mut self) -> Option<Object> {
        self.at += 1;
        let (mut text, mut open) = (Vec::new(), 1u32);
        loop {
            let byte = self.next()?;
            match byte {
                b'(' => open += 1,
                b')' => open -= 1,
                b'\\' => {
                    text.extend(self.escaped());
                    continue;
                }
                _ => {}
            }
            if open == 0 {
                return Some(Object::Text(text));
            }
            text.push(byte);
        }
    }

    fn escaped(&mut self) -> Option<u8> {
        match self.next()? {
            b'n' => Some(b'\n'),
            b'r' => Some(b'\r'),
            b't' => Some(b'\t'),
            first @ b'0'..=b'7' => {
                let mut code = u32::from(first - b'0');
                for _ in 0..2 {
                    let Some(digit) = self.peek().filter(|byte| matches!(byte, b'0'..=b'7')) else { break };
                    self.at += 1;
                    code = code * 8 + u32::from(digit - b'0');
                }
                u8::try_from(code & 0xff).ok()
            }
            b'\n' | b'\r' => None,
            other => Some(other),
        }
    }
}

/// White space (ISO 32000-1, table 1).
pub fn is_blank(byte: u8) -> bool {
    matches!(byte, 0 | b'\t' | b'\n' | 0x0c | b'\r' | b' ')
}
