//! JSON as the interface accepts it (D18): UTF-8, one value, no duplicate keys, no NUL, limited depth and
//! size. Numbers keep their text, so that no digit is lost.
//!
//! A body is parsed in one pass. Depth and values are counted on the way, and parsing stops at the first one
//! too many.

use std::borrow::Cow;

use hifijson::SliceLexer;
use hifijson::num::LexWrite as _;
use hifijson::str::{Error as TextError, LexAlloc as _};
use hifijson::token::{Expect, Lex as _};
use memchr::memrchr;

/// Maximum nesting (D18).
const DEPTH_MAX: u32 = 32;

/// Maximum number of values in a body: a document of 1,000 positions with all fields has about 30,000.
const VALUES_MAX: u32 = 100_000;

#[derive(Debug, Clone, PartialEq)]
pub enum Json<'b> {
    Null,
    Bool(bool),
    Number(&'b str),
    String(Cow<'b, str>),
    Array(Vec<Json<'b>>),
    /// An object; its keys are unique.
    Object(Vec<(Cow<'b, str>, Json<'b>)>),
}

impl<'b> Json<'b> {
    /// Parses a body; the error is a German sentence for the client.
    pub fn parse(body: &'b [u8]) -> Result<Json<'b>, String> {
        let mut lexer = SliceLexer::new(body);
        let mut values_left = VALUES_MAX;
        lexer
            .exactly_one(SliceLexer::ws_peek, |next, lexer| value(next, lexer, DEPTH_MAX, &mut values_left))
            .map_err(|fault| fault.sentence(body, lexer.as_slice()))
    }
}

enum Fault {
    Syntax,
    Utf8,
    TooDeep,
    TooManyValues,
    NulInText,
    NulInName,
    DoubledName(String),
}

impl Fault {
    /// Returns the sentence for the client; `rest` is the unread part of the body.
    fn sentence(self, body: &[u8], rest: &[u8]) -> String {
        match self {
            Fault::Syntax if body.iter().all(u8::is_ascii_whitespace) => {
                "Der Text ist leer; erwartet wird JSON.".to_owned()
            }
            Fault::Syntax if body.starts_with(b"\xef\xbb\xbf") => {
                "Der Text beginnt mit einem BOM (EF BB BF). Bitte ohne senden.".to_owned()
            }
            Fault::Syntax if std::str::from_utf8(body).is_ok() => {
                let (line, column) = place(&body[..body.len() - rest.len()]);
                format!("Der Text ist kein gültiges JSON (Zeile {line}, Spalte {column}).")
            }
            Fault::Syntax | Fault::Utf8 => "Der Text ist kein gültiges UTF-8.".to_owned(),
            Fault::TooDeep => format!("Der Text ist tiefer als {DEPTH_MAX} Ebenen verschachtelt."),
            Fault::TooManyValues => {
                format!("Der Text enthält mehr als {VALUES_MAX} Werte. Bitte aufteilen.")
            }
            Fault::NulInText => "Ein Text enthält ein NUL-Zeichen.".to_owned(),
            Fault::NulInName => "Ein Feldname enthält ein NUL-Zeichen.".to_owned(),
            Fault::DoubledName(name) => format!("Das Feld {name:?} kommt doppelt vor."),
        }
    }
}

impl From<Expect> for Fault {
    fn from(_: Expect) -> Fault {
        Fault::Syntax
    }
}

impl From<TextError> for Fault {
    fn from(error: TextError) -> Fault {
        match error {
            TextError::Utf8(_) => Fault::Utf8,
            TextError::Control | TextError::Escape(_) | TextError::Eof => Fault::Syntax,
        }
    }
}

/// Returns line and column of the position after a text, counted from 1; each character is one column.
fn place(text: &[u8]) -> (usize, usize) {
    let last_line = &text[memrchr(b'\n', text).map_or(0, |end| end + 1)..];
    let begins_letter = |byte: &&u8| **byte & 0b1100_0000 != 0b1000_0000;
    let lines = text.iter().filter(|byte| **byte == b'\n').count();
    (lines + 1, last_line.iter().filter(begins_letter).count() + 1)
}

/// Parses the value that begins with `next`, within the bounds on depth and number of values.
fn value<'b>(
    next: u8,
    lexer: &mut SliceLexer<'b>,
    levels_left: u32,
    values_left: &mut u32,
) -> Result<Json<'b>, Fault> {
    *values_left = values_left.checked_sub(1).ok_or(Fault::TooManyValues)?;
    let below = || levels_left.checked_sub(1).ok_or(Fault::TooDeep);
    match next {
        b'{' => members(lexer.discarded(), below()?, values_left).map(Json::Object),
        b'[' => elements(lexer.discarded(), below()?, values_left).map(Json::Array),
        b'"' => match lexer.discarded().str_string()? {
            text if text.contains('\0') => Err(Fault::NulInText),
            text => Ok(Json::String(text)),
        },
        b'-' | b'0'..=b'9' => match lexer.num_string().validated() {
            Ok((text, _)) => Ok(Json::Number(text)),
            Err(_) => Err(Fault::Syntax),
        },
        b'n' | b't' | b'f' => Ok(lexer.null_or_bool().ok_or(Fault::Syntax)?.map_or(Json::Null, Json::Bool)),
        _ => Err(Fault::Syntax),
    }
}

fn elements<'b>(
    lexer: &mut SliceLexer<'b>,
    levels_left: u32,
    values_left: &mut u32,
) -> Result<Vec<Json<'b>>, Fault> {
    let mut elements = Vec::new();
    lexer.seq(b']', SliceLexer::ws_peek, |next, lexer| {
        elements.push(value(next, lexer, levels_left, values_left)?);
        Ok::<_, Fault>(())
    })?;
    Ok(elements)
}

fn members<'b>(
    lexer: &mut SliceLexer<'b>,
    levels_left: u32,
    values_left: &mut u32,
) -> Result<Vec<(Cow<'b, str>, Json<'b>)>, Fault> {
    let mut members = Vec::new();
    lexer.seq(b'}', SliceLexer::ws_peek, |next, lexer| {
        lexer.expect(|_| Some(next), b'"').ok_or(Fault::Syntax)?;
        let name = lexer.str_string()?;
        lexer.expect(SliceLexer::ws_peek, b':').ok_or(Fault::Syntax)?;
        let next = lexer.ws_peek().ok_or(Fault::Syntax)?;
        members.push((name, value(next, lexer, levels_left, values_left)?));
        Ok::<_, Fault>(())
    })?;
    check_names(&members)?;
    Ok(members)
}

fn check_names(members: &[(Cow<'_, str>, Json<'_>)]) -> Result<(), Fault> {
    let mut names: Vec<&str> = members.iter().map(|(name, _)| name.as_ref()).collect();
    names.sort_unstable();
    if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(Fault::DoubledName(pair[0].chars().take(50).collect()));
    }
    if names.iter().any(|name| name.contains('\0')) {
        return Err(Fault::NulInName);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_text_and_strings_their_letters() {
        let json = Json::parse(br#" {"a": 99999999999999.990, "b": ["\u00fc", true, null]} "#).unwrap();
        let b = Json::Array(vec![Json::String("ü".into()), Json::Bool(true), Json::Null]);
        let expected = [("a".into(), Json::Number("99999999999999.990")), ("b".into(), b)];
        assert_eq!(json, Json::Object(expected.into()));
    }

    #[test]
    fn what_is_not_ours_is_refused() {
        let deep = |depth: usize| [vec![b'['; depth], vec![b']'; depth]].concat();
        assert!(Json::parse(&deep(32)).is_ok());
        let many = format!("[{}1]", "1,".repeat(VALUES_MAX as usize));
        let refused: [&[u8]; 12] = [
            &deep(33),
            &deep(100_000),
            many.as_bytes(),
            b"",
            b"{",
            b"\xef\xbb\xbf{}",
            b"\"\xff\"",
            br#"{"a":1,"a":2}"#,
            br#"{"x":{"a":1,"\u0061":2}}"#,
            br#"{"a":"\u0000"}"#,
            br#"["\ud800"]"#,
            b"{} x",
        ];
        for body in refused {
            assert!(Json::parse(body).is_err(), "{:?}", String::from_utf8_lossy(&body[..body.len().min(40)]));
        }
    }
    /// Checks the reason of each refusal: parsing stops at the first excess, so later faults go unnoticed.
    #[test]
    fn reading_ends_at_the_first_one_too_many() {
        let levels = |levels: usize| "[".repeat(levels);
        let many = |values: u32| format!("[{}1", "1,".repeat(values as usize - 2));
        let table = [
            (levels(33), "Der Text ist tiefer als 32 Ebenen verschachtelt."),
            (levels(32) + "1,]", "Der Text ist kein gültiges JSON (Zeile 1, Spalte 35)."),
            (format!("{}{}\u{0}", levels(32), "{\"a\":"), "Der Text ist tiefer als 32 Ebenen verschachtelt."),
            (many(VALUES_MAX + 1) + ",,,", "Der Text enthält mehr als 100000 Werte. Bitte aufteilen."),
            (
                format!("[{}{}", levels(30), many(VALUES_MAX)),
                "Der Text enthält mehr als 100000 Werte. Bitte aufteilen.",
            ),
            (format!("{}]]", many(VALUES_MAX)), "Der Text ist kein gültiges JSON (Zeile 1, Spalte 200000)."),
            ("{\"a\":1,}".to_owned(), "Der Text ist kein gültiges JSON (Zeile 1, Spalte 8)."),
            ("{\n \"ü\": x}".to_owned(), "Der Text ist kein gültiges JSON (Zeile 2, Spalte 7)."),
            ("{\"a\":1".to_owned(), "Der Text ist kein gültiges JSON (Zeile 1, Spalte 7)."),
            ("{\"a\":1} {".to_owned(), "Der Text ist kein gültiges JSON (Zeile 1, Spalte 9)."),
            ("{\"ab\":1,\"\\u0061b\":2}".to_owned(), "Das Feld \"ab\" kommt doppelt vor."),
            ("{\"a\\u0000\":1}".to_owned(), "Ein Feldname enthält ein NUL-Zeichen."),
            ("[\"a\\u0000\"]".to_owned(), "Ein Text enthält ein NUL-Zeichen."),
        ];
        for (body, expected) in table {
            let shown: String = body.chars().take(50).collect();
            assert_eq!(Json::parse(body.as_bytes()), Err(expected.to_owned()), "{shown}");
        }
        assert!(Json::parse(format!("{}]", many(VALUES_MAX)).as_bytes()).is_ok());
        for body in [&b"{\"a\":\"\xff\"}"[..], b"{\"a\":\xff}", b"{\"a\":1} \xff"] {
            assert_eq!(Json::parse(body), Err("Der Text ist kein gültiges UTF-8.".to_owned()));
        }
    }
}
