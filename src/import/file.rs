//! Reading a file to import: JSON (an array of objects, or one object a line) or CSV.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use csv::ReaderBuilder;
use encoding_rs::WINDOWS_1252;
use serde_json::value::RawValue;

use crate::http::json::Json;
use crate::rules::text::shown;

/// Largest file in bytes.
pub const MAX_FILE: u64 = 1 << 30;

/// Longest row of CSV in bytes.
const MAX_RECORD: usize = 1 << 20;

/// The rows of a file, each with the line it begins on.
pub struct Rows<'f> {
    /// Rows as JSON objects; the cells of CSV are strings.
    pub rows: Vec<(usize, Json<'f>)>,
    /// The file is CSV: numbers and days in cells may be German.
    pub tabular: bool,
}

/// A sentence for a person: which line, and what is wrong there.
pub type Complaint = String;

/// Opens a file to import. A pipe or a device is refused before it is opened: it may never begin, or never end (D22).
pub fn open(path: &Path) -> Result<File, Complaint> {
    let complain = |error: std::io::Error| format!("{} cannot be read: {error}", path.display());
    if !fs::metadata(path).map_err(complain)?.is_file() {
        return Err(format!("{} is no regular file: write what it gives into one first", path.display()));
    }
    File::open(path).map_err(complain)
}

/// The bytes of a file of [`MAX_FILE`] at most.
pub fn bytes(path: &Path) -> Result<Vec<u8>, Complaint> {
    let mut bytes = Vec::new();
    let read = open(path)?.take(MAX_FILE + 1).read_to_end(&mut bytes);
    match read.map_err(|error| format!("{} cannot be read: {error}", path.display()))? {
        read if read as u64 > MAX_FILE => {
            Err(format!("{} is larger than {} MiB", path.display(), MAX_FILE >> 20))
        }
        _ => Ok(bytes),
    }
}

/// The text of a file: UTF-8 with or without BOM, else Windows-1252 as Excel writes it.
pub fn decode(bytes: &[u8]) -> String {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => WINDOWS_1252.decode_without_bom_handling(bytes).0.into_owned(),
    }
}

/// The rows of a text: JSON when it begins like JSON, else CSV.
pub fn read(text: &str) -> Result<Rows<'_>, Complaint> {
    match text.trim_start().as_bytes().first() {
        None => Err("the file is empty".to_owned()),
        Some(b'[') => Ok(Rows { rows: json_array(text)?, tabular: false }),
        Some(b'{') => Ok(Rows { rows: json_lines(text)?, tabular: false }),
        Some(_) => Ok(Rows { rows: csv_rows(text)?, tabular: true }),
    }
}

fn json_array(text: &str) -> Result<Vec<(usize, Json<'_>)>, Complaint> {
    let elements: Vec<&RawValue> = serde_json::from_str(text)
        .map_err(|error| format!("line {}, column {}: this is no JSON", error.line(), error.column()))?;
    let start = text.as_ptr() as usize;
    let mut lines = LineCounter::new(text);
    let rows = elements.into_iter().map(|element| {
        let line = lines.line_at(element.get().as_ptr() as usize - start);
        Ok((line, json_object(element.get(), line)?))
    });
    rows.collect()
}

fn json_lines(text: &str) -> Result<Vec<(usize, Json<'_>)>, Complaint> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(at, line)| Ok((at + 1, json_object(line, at + 1)?))).collect()
}

fn json_object(text: &str, line: usize) -> Result<Json<'_>, Complaint> {
    match Json::parse(text.as_bytes()) {
        Ok(object @ Json::Object(_)) => Ok(object),
        Ok(_) => Err(format!("line {line}: a row must be a JSON object")),
        Err(message) => Err(format!("line {line}: {message}")),
    }
}

fn csv_rows(text: &str) -> Result<Vec<(usize, Json<'static>)>, Complaint> {
    let header = text.lines().next().unwrap_or_default();
    let mut reader =
        ReaderBuilder::new().delimiter(separator(header)).flexible(true).from_reader(text.as_bytes());
    let names: Vec<String> = reader
        .headers()
        .map_err(|error| format!("line 1: {error}"))?
        .iter()
        .map(|name| name.trim().to_lowercase())
        .collect();
    if let Some(doubled) = names.iter().enumerate().find(|(at, name)| names[..*at].contains(name)) {
        return Err(format!("line 1: the column {} stands there twice", shown(doubled.1)));
    }
    let mut rows = Vec::new();
    let mut lines = LineCounter::new(text);
    for record in reader.records() {
        let record = record.map_err(|error| error.to_string())?;
        let start = record.position().map_or(0, |position| position.byte() as usize);
        let line = lines.line_at(start);
        if record.len() > names.len() {
            return Err(format!("line {line}: {} cells, but {} columns", record.len(), names.len()));
        }
        if record.as_slice().len() > MAX_RECORD {
            return Err(format!("line {line}: longer than {MAX_RECORD} bytes"));
        }
        if record.iter().all(|cell| cell.trim().is_empty()) {
            continue;
        }
        let cells = names.iter().zip(record.iter());
        let members = cells.map(|(name, cell)| (name.clone().into(), Json::String(cell.to_owned().into())));
        rows.push((line, Json::Object(members.collect())));
    }
    Ok(rows)
}

/// The separator that the header has most of: semicolon, comma or tabulator.
pub fn separator(header: &str) -> u8 {
    let count = |separator: &u8| header.bytes().filter(|byte| byte == separator).count();
    [b';', b',', b'\t']
        .into_iter()
        .max_by_key(|separator| (count(separator), *separator == b';'))
        .unwrap_or(b';')
}

/// Counts lines on the way through a text.
pub struct LineCounter<'t> {
    text: &'t str,
    line: usize,
    counted: usize,
}

impl<'t> LineCounter<'t> {
    /// From the beginning on.
    pub fn new(text: &'t str) -> LineCounter<'t> {
        LineCounter { text, line: 1, counted: 0 }
    }

    /// The line of the first letter at or after `at` that is no line end; `at` only grows.
    pub fn line_at(&mut self, at: usize) -> usize {
        let bytes = self.text.as_bytes();
        let end = (at..bytes.len()).find(|at| !matches!(bytes[*at], b'\r' | b'\n')).unwrap_or(bytes.len());
        self.line += bytes[self.counted..end].iter().filter(|byte| **byte == b'\n').count();
        self.counted = end;
        self.line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_and_values(text: &str) -> Vec<(usize, String)> {
        let rows = read(text).unwrap().rows;
        rows.into_iter()
            .map(|(line, row)| {
                let Json::Object(members) = row else { panic!("{row:?}") };
                let texts = members.iter().map(|(name, value)| match value {
                    Json::String(text) => format!("{name}={text}"),
                    other => format!("{name}={other:?}"),
                });
                (line, texts.collect::<Vec<_>>().join("|"))
            })
            .collect()
    }

    #[test]
    fn the_separator_and_quotes_of_a_table_are_recognised() {
        for separator in [";", ",", "\t"] {
            let text = format!(
                "Name{separator}PLZ\n\"Müller\n& Söhne\"{separator}01234\n\n  {separator} \nB{separator}2\n"
            );
            let expected = [(2, "name=Müller\n& Söhne|plz=01234".to_owned()), (6, "name=B|plz=2".to_owned())];
            assert_eq!(names_and_values(&text), expected, "{separator:?}");
        }
    }

    #[test]
    fn json_rows_know_their_lines() {
        let expected = [(2, "a=1".to_owned()), (4, "a=2".to_owned())];
        assert_eq!(names_and_values("[\n{\"a\":\"1\"},\n\n{\"a\":\"2\"}]"), expected);
        let expected = [(1, "a=1".to_owned()), (3, "a=2".to_owned())];
        assert_eq!(names_and_values("{\"a\":\"1\"}\n\n{\"a\":\"2\"}\n"), expected);
    }

    #[test]
    fn what_cannot_be_read_is_named_by_its_line() {
        let table = [
            ("", "the file is empty"),
            ("[1]", "line 1: a row must be a JSON object"),
            ("[{}\n,{]", "line 2, column 3: this is no JSON"),
            ("{\"a\":1}\n{\"a\":1,\"a\":2}", "line 2: Das Feld \"a\" kommt doppelt vor."),
            ("a;a\n1;2", "line 1: the column a stands there twice"),
            ("a;b\n1;2;3", "line 2: 3 cells, but 2 columns"),
        ];
        for (text, expected) in table {
            assert_eq!(read(text).map(|rows| rows.rows.len()), Err(expected.to_owned()), "{text}");
        }
    }

    #[test]
    fn excel_files_are_read_as_what_they_are() {
        assert_eq!(decode(b"\xef\xbb\xbfM\xc3\xbcller"), "Müller");
        assert_eq!(decode(b"M\xfcller \x80"), "Müller €");
    }
}
