//! Tables as text: records of cells, strictly by RFC 4180 (D22).

use std::borrow::Cow;

use super::parse_error::ParseError;
use crate::rules::text::{needs_quotes, shown};

/// Longest record in bytes.
pub const RECORD_BYTES_MAX: usize = 1 << 20;

const COLUMNS_MAX: usize = 1_000;

/// Marks a spreadsheet's number in the text converted from it.
pub const NUMBER: char = '\u{1}';

#[derive(Clone, Copy)]
pub struct RecordPlace {
    /// Its line, from 1.
    pub line: u32,
    pub start: u32,
    pub end: u32,
}

pub struct Scanner<'t> {
    text: &'t str,
    separator: u8,
    at: usize,
    line: u32,
}

impl<'t> Scanner<'t> {
    pub fn new(text: &'t str, separator: u8) -> Scanner<'t> {
        Scanner { text, separator, at: 0, line: 1 }
    }

    /// Reads the next record into `cells`; returns its place, `None` at the end.
    pub fn next(&mut self, cells: &mut Vec<Cow<'t, str>>) -> Result<Option<RecordPlace>, ParseError> {
        cells.clear();
        let (start, line) = (self.at, self.line);
        if start >= self.text.len() {
            return Ok(None);
        }
        loop {
            let cell = self.cell()?;
            cells.push(cell);
            if cells.len() > COLUMNS_MAX || self.at - start > RECORD_BYTES_MAX {
                return Err(record_too_long(line));
            }
            let end = self.at;
            match self.byte() {
                Some(byte) if byte == self.separator => self.at += 1,
                _ => {
                    self.line_end();
                    return Ok(Some(RecordPlace { line, start: start as u32, end: end as u32 }));
                }
            }
        }
    }

    fn cell(&mut self) -> Result<Cow<'t, str>, ParseError> {
        if self.byte() == Some(b'"') {
            return self.quoted();
        }
        let rest = &self.text[self.at..];
        let ends = |byte: u8| byte == self.separator || matches!(byte, b'\r' | b'\n');
        let end = rest.bytes().position(ends).unwrap_or(rest.len());
        let cell = &rest[..end];
        if cell.contains('"') {
            let cell = excerpt(cell);
            return Err(ParseError::at_line(
                self.line,
                format!(
                    "ein Anführungszeichen mitten in der Zelle {cell}; bitte die ganze Zelle in \
                     Anführungszeichen setzen und das innere doppelt."
                ),
            ));
        }
        self.at += end;
        Ok(Cow::Borrowed(cell))
    }

    /// Reads a cell in quotation marks; two within it stand for one.
    fn quoted(&mut self) -> Result<Cow<'t, str>, ParseError> {
        let opened = self.line;
        let start = self.at + 1;
        let mut from = start;
        let mut is_doubled = false;
        loop {
            let Some(length) = self.text[from..].find('"') else {
                let cell = excerpt(&self.text[start..]);
                return Err(ParseError::at_line(
                    opened,
                    format!(
                        "das Anführungszeichen vor {cell} wird nie geschlossen. Bitte schließen, oder als \"\" \
                         schreiben."
                    ),
                ));
            };
            let end = from + length;
            if self.text.as_bytes().get(end + 1) == Some(&b'"') {
                is_doubled = true;
                from = end + 2;
                continue;
            }
            let cell = &self.text[start..end];
            self.line += cell.bytes().filter(|byte| *byte == b'\n').count() as u32;
            self.at = end + 1;
            return match self.byte() {
                Some(byte) if byte != self.separator && !matches!(byte, b'\r' | b'\n') => {
                    let cell = excerpt(cell);
                    Err(ParseError::at_line(
                        opened,
                        format!("die Zelle {cell} geht hinter ihrem schließenden Anführungszeichen weiter."),
                    ))
                }
                _ if is_doubled => Ok(Cow::Owned(cell.replace("\"\"", "\""))),
                _ => Ok(Cow::Borrowed(cell)),
            };
        }
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn line_end(&mut self) {
        if self.byte() == Some(b'\r') {
            self.at += 1;
        }
        if self.byte() == Some(b'\n') {
            self.at += 1;
        }
        self.line += 1;
    }
}

pub fn record_too_long(line: u32) -> ParseError {
    let kib = RECORD_BYTES_MAX >> 10;
    ParseError::at_line(line, format!("mehr als {COLUMNS_MAX} Spalten oder {kib} KiB in einer Zeile."))
}

pub fn excerpt(text: &str) -> String {
    const MAX: usize = 40;
    let line = text.lines().next().unwrap_or_default();
    let short: String = line.chars().take(MAX).collect();
    let more = if short.len() < text.len() { " …" } else { "" };
    format!("\"{}{more}\"", shown(&short))
}

/// Names of the columns in lower case; `None` for unused columns.
pub type Columns = Vec<Option<String>>;

/// Returns the most frequent separator of the header: semicolon, comma or tab.
pub fn separator(header: &str) -> u8 {
    let count = |separator: &u8| header.bytes().filter(|byte| byte == separator).count();
    [b';', b',', b'\t']
        .into_iter()
        .max_by_key(|separator| (count(separator), *separator == b';'))
        .unwrap_or(b';')
}

/// Returns the length in bytes of a cell as [`push_cell`] writes it.
pub fn cell_bytes(cell: &str) -> usize {
    let quotes = if needs_quotes(cell) { 2 + cell.matches('"').count() } else { 0 };
    cell.len() + quotes
}
