//! Tables as text: records of cells, strictly by RFC 4180 (D22).

use std::borrow::Cow;

use memchr::{memchr, memchr3};

use super::complaint::Complaint;
use super::header::{Header, Names, is_blank, no_header};
use super::room::{ROW_BYTES, Room};
use super::sheet::merged_cells;
use crate::rules::text::shown;

/// Longest record in bytes.
pub const RECORD_BYTES_MAX: usize = 1 << 20;

const COLUMNS_MAX: usize = 1_000;

/// What stands before a number of a spreadsheet in the text that it is turned into.
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

    /// Reads the next record into `cells`; its place, none at the end.
    pub fn next(&mut self, cells: &mut Vec<Cow<'t, str>>) -> Result<Option<RecordPlace>, Complaint> {
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

    fn cell(&mut self) -> Result<Cow<'t, str>, Complaint> {
        if self.byte() == Some(b'"') {
            return self.quoted();
        }
        let rest = &self.text[self.at..];
        let ends = |byte: u8| byte == self.separator || matches!(byte, b'\r' | b'\n');
        let end = rest.bytes().position(ends).unwrap_or(rest.len());
        let cell = &rest[..end];
        if cell.contains('"') {
            let cell = excerpt(cell);
            return Err(Complaint::at_line(
                self.line,
                format!(
                    "a quotation mark within the cell {cell}: write the whole cell in quotation marks, and the one inside twice"
                ),
                format!(
                    "ein Anführungszeichen mitten in der Zelle {cell}; bitte die ganze Zelle in Anführungszeichen setzen und das innere doppelt"
                ),
            ));
        }
        self.at += end;
        Ok(Cow::Borrowed(cell))
    }

    /// Reads a cell in quotation marks; within it two of them are one.
    fn quoted(&mut self) -> Result<Cow<'t, str>, Complaint> {
        let opened = self.line;
        let start = self.at + 1;
        let mut from = start;
        let mut is_doubled = false;
        loop {
            let Some(length) = self.text[from..].find('"') else {
                let cell = excerpt(&self.text[start..]);
                return Err(Complaint::at_line(
                    opened,
                    format!("the quotation mark before {cell} is never closed"),
                    format!("das Anführungszeichen vor {cell} wird nie geschlossen"),
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
                    Err(Complaint::at_line(
                        opened,
                        format!("the cell {cell} goes on behind its closing quotation mark"),
                        format!("die Zelle {cell} geht hinter ihrem schließenden Anführungszeichen weiter"),
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

pub fn record_too_long(line: u32) -> Complaint {
    let kib = RECORD_BYTES_MAX >> 10;
    Complaint::at_line(
        line,
        format!("more than {COLUMNS_MAX} columns or {kib} KiB in one row"),
        format!("mehr als {COLUMNS_MAX} Spalten oder {kib} KiB in einer Zeile"),
    )
}

pub fn excerpt(text: &str) -> String {
    const MAX: usize = 40;
    let line = text.lines().next().unwrap_or_default();
    let short: String = line.chars().take(MAX).collect();
    let more = if short.len() < text.len() { " …" } else { "" };
    format!("\"{}{more}\"", shown(&short))
}

/// Names of the columns in lower case; none for those that were not used.
pub type Columns = Vec<Option<String>>;

/// A sheet of which a table was made.
pub struct OfSheet<'s> {
    /// The lines of its records.
    pub lines: &'s [u32],
    pub width: usize,
    /// First and last line of the merged cells that reach lowest.
    pub merged: Option<(u32, u32)>,
}

/// Reads a table: lines that begin with "# " say something to people, then come the names of the columns, which titles may
/// stand above, then rows. In one of a sheet cells that are missing at the end of a record are blank.
pub fn read(
    text: &str,
    separator: u8,
    sheet: Option<&OfSheet<'_>>,
    names: &Names,
    room: &mut Room,
) -> Result<(Columns, Header, Vec<RecordPlace>), Complaint> {
    let (header_at, known) = names.find(text, separator)?;
    if known == 0 && !names.fields.is_empty() {
        return Err(no_header(names));
    }
    let mut scanner = Scanner::new(text, separator);
    let mut cells = Vec::new();
    let (mut columns, mut header): (Option<Columns>, _) = (None, Header::default());
    let mut rows = Vec::new();
    let mut records = 0;
    while let Some(mut place) = scanner.next(&mut cells)? {
        if let Some(sheet) = sheet {
            place.line = sheet.lines.get(records).copied().unwrap_or(place.line);
        }
        room.take(ROW_BYTES)?;
        match &columns {
            _ if is_blank(&cells) || (columns.is_none() && is_comment(&cells)) => {}
            None if records < header_at => header.pass_over(place.line, &cells),
            None => {
                header.line = place.line;
                columns = Some(names.columns(&cells, sheet.map_or(0, |sheet| sheet.width), &mut header)?);
            }
            Some(columns) if sheet.is_none() && columns.len() != cells.len() => {
                let (cells, columns) = (cells.len(), columns.len());
                return Err(Complaint::at_line(
                    place.line,
                    format!("{cells} cells, but {columns} columns"),
                    format!("{cells} Zellen, aber {columns} Spalten"),
                ));
            }
            Some(_) => rows.push(place),
        }
        records += 1;
    }
    match sheet.and_then(|sheet| sheet.merged) {
        Some((first, last)) if last >= header.line => Err(merged_cells(first)),
        _ => Ok((columns.ok_or_else(no_names)?, header, rows)),
    }
}

/// Whether a record above the header is for people alone.
pub fn is_comment(cells: &[Cow<'_, str>]) -> bool {
    cells.first().is_some_and(|cell| cell.starts_with("# "))
}

fn no_names() -> Complaint {
    Complaint::new(
        "there is no row with the names of the columns",
        "Die Zeile mit den Namen der Spalten fehlt.",
    )
}

/// The separator by which the header names the most columns, else of which it has most: semicolon, comma or tabulator.
pub fn separator_for(text: &str, names: &Names) -> u8 {
    let header =
        text.lines().find(|line| !line.trim().is_empty() && !line.trim_start_matches('"').starts_with("# "));
    let most = separator(header.unwrap_or_default());
    [b'\t', b',', b';']
        .into_iter()
        .max_by_key(|separator| {
            (names.find(text, *separator).map_or(0, |(_, known)| known), *separator == most)
        })
        .unwrap_or(most)
}

/// The separator that the header has most of: semicolon, comma or tabulator.
pub fn separator(header: &str) -> u8 {
    let count = |separator: &u8| header.bytes().filter(|byte| byte == separator).count();
    [b';', b',', b'\t']
        .into_iter()
        .max_by_key(|separator| (count(separator), *separator == b';'))
        .unwrap_or(b';')
}

fn needs_quotes(cell: &str) -> bool {
    memchr3(b';', b'"', b'\n', cell.as_bytes()).is_some() || memchr(b'\r', cell.as_bytes()).is_some()
}

/// Bytes of a cell as [`push_cell`] adds it.
pub fn cell_bytes(cell: &str) -> usize {
    let quotes = if needs_quotes(cell) { 2 + cell.matches('"').count() } else { 0 };
    cell.len() + quotes
}

/// Adds a cell to a record that [`Scanner`] reads.
pub fn push_cell(text: &mut String, cell: &str) {
    if !needs_quotes(cell) {
        text.push_str(cell);
        return;
    }
    text.push('"');
    text.push_str(&cell.replace('"', "\"\""));
    text.push('"');
}
