//! The bytes of a file: lines, fields, quotes. Readers of CSV hide which fields are quoted, so this is our own.

use encoding_rs::WINDOWS_1252;

use super::{Fault, Faults, Lenient};

/// A field of the file without its quotes.
#[derive(Debug)]
pub struct Field {
    pub text: String,
    pub quoted: bool,
}

/// Decodes Windows-1252. The five undefined bytes become control characters.
pub fn decoded(bytes: &[u8]) -> String {
    WINDOWS_1252.decode_without_bom_handling(bytes).0.into_owned()
}

/// The lines without their ends. Each must end with CR LF, including the last one, and be Windows-1252.
pub fn lines<'a>(file: &'a [u8], all: &mut Vec<Fault>) -> Vec<&'a [u8]> {
    let bom = [&[0xEF, 0xBB, 0xBF][..], &[0xFF, 0xFE], &[0xFE, 0xFF]];
    let has_bom = bom.iter().any(|bom| file.starts_with(bom));
    Faults { all, line: 1 }.expect(!has_bom, 0, "a byte order mark: the file is Unicode, not Windows-1252");
    let mut lines = Vec::new();
    let mut rest = file;
    while !rest.is_empty() {
        let mut faults = Faults { all, line: lines.len() + 1 };
        let end = rest.windows(2).position(|two| two == b"\r\n");
        faults.expect(end.is_some(), 0, "the line does not end with CR LF");
        let line = &rest[..end.unwrap_or(rest.len())];
        // German text in Windows-1252 is hardly ever valid UTF-8 by chance.
        let utf8 = !line.is_ascii() && std::str::from_utf8(line).is_ok();
        faults.expect(!utf8 || has_bom, 0, "the line is UTF-8, not Windows-1252");
        lines.push(line);
        rest = &rest[end.map_or(rest.len(), |end| end + 2)..];
    }
    lines
}

/// The fields of a line; `None` if its quotes do not tell where they end.
pub fn fields(line: &[u8], lenient: &[Lenient], faults: &mut Faults) -> Option<Vec<Field>> {
    let mut fields = Vec::new();
    let mut rest = line;
    loop {
        let column = fields.len() + 1;
        let (field, length) = match rest.first() {
            Some(b'"') => quoted(rest, column, lenient, faults)?,
            _ => plain(rest, column, faults),
        };
        if let Some(control) = field.text.chars().find(|character| character.is_control()) {
            faults.add(column, format!("the control character {control:?}"));
        }
        fields.push(field);
        match rest.get(length) {
            None => return Some(fields),
            Some(_) => rest = &rest[length + 1..],
        }
    }
}

fn plain(rest: &[u8], column: usize, faults: &mut Faults) -> (Field, usize) {
    let length = rest.iter().position(|byte| *byte == b';').unwrap_or(rest.len());
    let text = decoded(&rest[..length]);
    faults.expect(!text.contains('"'), column, "a quote in a field without quotes");
    (Field { text, quoted: false }, length)
}

/// A quoted text, and its length in the file including the quotes.
fn quoted(rest: &[u8], column: usize, lenient: &[Lenient], faults: &mut Faults) -> Option<(Field, usize)> {
    let mut content = Vec::new();
    let mut at = 1;
    loop {
        match (rest.get(at), rest.get(at + 1)) {
            (Some(b'"'), None | Some(b';')) => {
                return Some((Field { text: decoded(&content), quoted: true }, at + 1));
            }
            (Some(b'"'), Some(b'"')) => {
                content.push(b'"');
                at += 2;
            }
            (Some(b'"'), Some(_)) if !lenient.contains(&Lenient::QuoteNotDoubled) => {
                faults.add(column, "a quote inside of a text is not doubled");
                return None;
            }
            (Some(byte), _) => {
                content.push(*byte);
                at += 1;
            }
            (None, _) => {
                faults.add(column, "the text has no end");
                return None;
            }
        }
    }
}
