//! Reads a file to import: JSON (an array of objects, or one object per line), CSV, or a spreadsheet.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::Path;

use memchr::memmem;
use serde::Deserializer as _;
use serde::de::{SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::encoding::{CodePage, Decoded, decode};
use super::header::{self, Header, Names, OfSheet};
use super::memory_budget::{COMMAND_TABLE_BYTES_MAX, MemoryBudget, ROW_BYTES};
pub use super::parse_error::ParseError;
use super::sheet::{Aside, Sheet};
use super::table::{Columns, NUMBER, RECORD_BYTES_MAX, RecordPlace, Scanner, record_too_long};
use super::workbook;
use crate::platform::db::file::german::in_german;
use crate::platform::http::json::Json;
use crate::platform::http::wire::{At, Decimal, Numbers};
use crate::rules::error::Hints;
use crate::rules::text::{shown, unmarked};

/// Largest file on the command line, in bytes: a file that is not a spreadsheet is no longer than its table.
const FILE_BYTES_MAX: u64 = COMMAND_TABLE_BYTES_MAX as u64;

/// A file as it was sent or found, and the caller's choices for it.
pub struct Source<'s> {
    pub bytes: Vec<u8>,
    /// The sheet of a spreadsheet; the first one if not named.
    pub sheet: Option<&'s str>,
    /// The code page of a text that is not UTF-8; recognised if not named.
    pub encoding: Option<CodePage>,
    /// Bytes that its table may take.
    pub bytes_max: usize,
}

/// A table with our names of columns and semicolons, made of a file of another program.
#[derive(Default)]
pub struct Rewritten {
    pub text: String,
    /// The lines of its records in the file, from 1.
    pub lines: Vec<u32>,
    pub width: usize,
    /// Headings in the file, by our names.
    pub mapped: Vec<(String, &'static str)>,
    /// Headings of columns that have values and are not used.
    pub unused: Vec<String>,
}

/// Rewrites the text of another program's file; `None` for any other file.
pub type Rewrite = fn(&str) -> Option<Result<Rewritten, ParseError>>;

/// The rows of a file. Each access parses the row anew, so they take little more memory than their text.
#[derive(Default)]
pub struct Rows {
    text: String,
    rows: Vec<RecordPlace>,
    /// The columns of a table and the separator of its cells.
    table: Option<(Columns, u8)>,
    pub header: Header,
    /// The decimal separator of a table; `None` for JSON.
    pub decimal: Option<Decimal>,
    pub aside: Aside,
    /// How its text was decoded, if it is not UTF-8.
    pub decoded: Option<String>,
    /// Headings of another program's file that are not used.
    pub unused: Vec<String>,
    /// Whether it is another program's file.
    pub is_foreign: bool,
    is_1904: bool,
}

/// Opens a file to import. Refuses a pipe or a device before opening it: it may never deliver data, or never
/// end (D22).
pub fn open(path: &Path) -> Result<File, ParseError> {
    let complain = |error: std::io::Error| unreadable(path, &error);
    if !fs::metadata(path).map_err(complain)?.is_file() {
        let path = path.display();
        return Err(ParseError::new(format!(
            "{path} ist keine gewöhnliche Datei. Bitte den Inhalt erst in eine schreiben."
        )));
    }
    File::open(path).map_err(complain)
}

fn unreadable(path: &Path, error: &std::io::Error) -> ParseError {
    let is_missing = error.kind() == ErrorKind::NotFound;
    let cure = if is_missing { " Bitte Ordner und Namen prüfen." } else { "" };
    ParseError::new(format!("{} ist nicht zu lesen: {}.{cure}", path.display(), in_german(error)))
}

/// Reads a whole file for the command line.
pub fn bytes(path: &Path) -> Result<Vec<u8>, ParseError> {
    let mut bytes = Vec::new();
    let read = open(path)?.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes);
    match read.map_err(|error| unreadable(path, &error))? {
        read if read as u64 > FILE_BYTES_MAX => {
            let (path, mib) = (path.display(), FILE_BYTES_MAX >> 20);
            Err(ParseError::new(format!(
                "{path} ist größer als {mib} MiB. Bitte in mehrere Dateien aufteilen."
            )))
        }
        _ => Ok(bytes),
    }
}

impl Rows {
    /// Reads the rows with these columns from a file; `rewrite` knows that of another program.
    pub fn of_source(
        names: &Names,
        source: Source<'_>,
        rewrite: Option<Rewrite>,
    ) -> Result<Rows, ParseError> {
        let Source { bytes, sheet, encoding, bytes_max } = source;
        let mut budget = MemoryBudget::of(bytes_max);
        if workbook::is_zip(&bytes) {
            if encoding.is_some() {
                return Err(ParseError::new(
                    "Eine .xlsx oder .ods sagt selbst, welche Kodierung sie hat; die Angabe bitte weglassen.",
                ));
            }
            let Sheet { text, lines, width, merged, is_1904, aside, mut budget, .. } =
                workbook::read(&bytes, sheet, budget)?;
            let of_sheet = OfSheet { lines: &lines, width, merged };
            let rows = Rows::of(text, Some(&of_sheet), names, &mut budget)?;
            return Ok(Rows { is_1904, aside, ..rows });
        }
        refuse_others(&bytes)?;
        if sheet.is_some() {
            return Err(ParseError::new(
                "Blätter gibt es nur in einer .xlsx oder .ods; die Angabe bitte weglassen.",
            ));
        }
        let Decoded { text, said } = decode(bytes, encoding)?;
        budget.take(text.len())?;
        if let Some(rewritten) = rewrite.and_then(|rewrite| rewrite(&text)) {
            return Ok(Rows { decoded: said, ..Rows::of_rewritten(rewritten?, names, &mut budget)? });
        }
        Ok(Rows { decoded: said, ..Rows::of(text, None, names, &mut budget)? })
    }

    fn of_rewritten(
        rewritten: Rewritten,
        names: &Names,
        budget: &mut MemoryBudget,
    ) -> Result<Rows, ParseError> {
        let Rewritten { text, lines, width, mapped, unused } = rewritten;
        budget.take(text.len())?;
        let of_file = OfSheet { lines: &lines, width, merged: None };
        let mut rows = Rows::of(text, Some(&of_file), names, budget)?;
        (rows.header.mapped, rows.unused, rows.is_foreign) = (mapped, unused, true);
        Ok(rows)
    }

    /// Reads the rows of a text of our own, whose first record is its header.
    pub fn of_text(text: String) -> Result<Rows, ParseError> {
        Rows::of(text, None, &Names::default(), &mut MemoryBudget::of(COMMAND_TABLE_BYTES_MAX))
    }

    /// Reads JSON if the text begins like JSON, otherwise a table.
    fn of(
        mut text: String,
        sheet: Option<&OfSheet<'_>>,
        names: &Names,
        budget: &mut MemoryBudget,
    ) -> Result<Rows, ParseError> {
        if text.starts_with('\u{feff}') {
            text.remove(0);
        }
        let rows = match text.trim_start().as_bytes().first() {
            None => return Err(ParseError::new("Die Datei ist leer.")),
            Some(b'[') if sheet.is_none() => json_array(&text, budget)?,
            Some(b'{') if sheet.is_none() => json_lines(&text, budget)?,
            Some(_) => {
                let separator = if sheet.is_some() { b';' } else { header::separator_for(&text, names) };
                let (columns, header, rows) = header::read(&text, separator, sheet, names, budget)?;
                let (table, decimal) = (Some((columns, separator)), Some(Decimal::Comma));
                return Ok(Rows { text, rows, table, header, decimal, ..Rows::default() });
            }
        };
        Ok(Rows { text, rows, ..Rows::default() })
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub fn line(&self, at: usize) -> u32 {
        self.rows.get(at).map_or(0, |place| place.line)
    }

    /// A column's name in the file, followed by ours if that differs.
    pub fn shown_column(&self, field: &str) -> String {
        match self.header.heading(field) {
            Some(heading) => format!("{} ({})", shown(heading), shown(field)),
            None => shown(field).into_owned(),
        }
    }

    pub fn at<'h>(&self, hints: &'h mut Hints) -> At<'h> {
        let mut at = At::row(hints, self.decimal);
        at.is_1904 = self.is_1904;
        at
    }

    /// Like [`Self::at`], and also records the number cells and the value read from each cell.
    pub fn survey<'h>(&self, hints: &'h mut Hints, numbers: &'h RefCell<Numbers>) -> At<'h> {
        let mut at = At::survey(hints, self.decimal, numbers);
        at.is_1904 = self.is_1904;
        at
    }

    /// Returns a row as a JSON object. Cells of a table are strings; numbers of a spreadsheet are numbers.
    pub fn row(&self, at: usize) -> Json<'_> {
        self.read(self.written(at))
    }

    /// Takes the marks off a row as it is written.
    pub fn read<'j>(&self, written: Json<'j>) -> Json<'j> {
        if self.table.is_some() { without_marks(written) } else { written }
    }

    /// Like [`Self::row`], with the apostrophes that mark the cells of a table as texts.
    pub fn written(&self, at: usize) -> Json<'_> {
        let Some(text) =
            self.rows.get(at).and_then(|place| self.text.get(place.start as usize..place.end as usize))
        else {
            return Json::Null;
        };
        let Some((columns, separator)) = &self.table else {
            // Parsed successfully before.
            return Json::parse(text.as_bytes()).unwrap_or(Json::Null);
        };
        let mut cells = Vec::with_capacity(columns.len());
        let read = Scanner::new(text, *separator).next(&mut cells);
        if read.is_err() {
            return Json::Null;
        }
        let named = columns.iter().zip(cells).filter_map(|(name, cell)| Some((name.as_deref()?, cell)));
        let members = named.filter(|(_, cell)| !cell.trim().is_empty());
        Json::Object(members.map(|(name, cell)| (name.into(), value(cell))).collect())
    }

    /// Removes the table rows for which `is_out` holds; returns their lines. JSON rows stay.
    pub fn leave_out(&mut self, is_out: impl Fn(&Json<'_>) -> bool) -> Vec<u32> {
        let out: Vec<usize> = match self.table {
            Some(_) => (0..self.len()).filter(|at| is_out(&self.row(*at))).collect(),
            None => Vec::new(),
        };
        let lines = out.iter().map(|at| self.line(*at)).collect();
        for at in out.iter().rev() {
            self.rows.remove(*at);
        }
        lines
    }

    /// Keeps the columns with these names; returns the others by name, or by number from 1 if nameless. JSON
    /// rows keep their fields, and so name them themselves.
    pub fn keep(&mut self, fields: &[&str]) -> Vec<Result<String, usize>> {
        let mut unused = Vec::new();
        let Some((columns, _)) = &mut self.table else { return unused };
        for (at, column) in columns.iter_mut().enumerate() {
            if let Some(name) = column.take_if(|name| !fields.contains(&name.as_str())) {
                unused.push(if name.is_empty() { Err(at + 1) } else { Ok(name) });
            }
        }
        unused
    }
}

/// Refuses files that are often mistaken for a table, and says what to do.
fn refuse_others(bytes: &[u8]) -> Result<(), ParseError> {
    // A password-protected file is wrapped in the old container format (MS-OFFCRYPTO).
    const OLE: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";
    const PASSWORD: &[u8] = b"E\0n\0c\0r\0y\0p\0t\0e\0d\0P\0a\0c\0k\0a\0g\0e\0";
    let why = match bytes.trim_ascii_start() {
        [b'<', ..] => {
            "Das ist eine Webseite oder XML. Bitte in einer Tabellenkalkulation öffnen und als .xlsx speichern."
        }
        whole if whole.starts_with(b"%PDF") => {
            "Das ist ein PDF. Importiert wird nur eine Tabelle (.xlsx, .ods oder .csv)."
        }
        whole if whole.starts_with(OLE) && memmem::find(whole, PASSWORD).is_some() => {
            "Diese Datei hat ein Kennwort. Bitte ohne Kennwort speichern."
        }
        whole if whole.starts_with(OLE) => {
            "Das ist eine Datei des alten Excel (.xls). Bitte dort öffnen und als .xlsx speichern."
        }
        _ => return Ok(()),
    };
    Err(ParseError::new(why))
}

fn value(cell: Cow<'_, str>) -> Json<'_> {
    match cell {
        Cow::Borrowed(text) if text.starts_with(NUMBER) => Json::Number(text.trim_start_matches(NUMBER)),
        cell => Json::String(cell),
    }
}

/// Takes the apostrophes off that mark the cells of a table as texts (D39).
fn without_marks(mut row: Json<'_>) -> Json<'_> {
    if let Json::Object(cells) = &mut row {
        for (_, cell) in cells {
            if let Json::String(text) = cell
                && let Some(rest) = unmarked(text)
            {
                *text = Cow::Owned(rest.to_owned());
            }
        }
    }
    row
}

/// Collects the elements of an array, one after another.
struct Elements<'r> {
    text: &'r str,
    budget: &'r mut MemoryBudget,
    places: Result<Vec<RecordPlace>, ParseError>,
}

impl<'de> Visitor<'de> for &mut Elements<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        let start = self.text.as_ptr() as usize;
        let (mut line, mut counted) = (1, 0);
        while let Some(element) = elements.next_element::<&RawValue>()? {
            let at = element.get().as_ptr() as usize - start;
            line += self.text.as_bytes()[counted..at].iter().filter(|byte| **byte == b'\n').count();
            counted = at;
            let Ok(places) = &mut self.places else { continue };
            match json_object(element.get(), line, at, self.budget) {
                Ok(place) => places.push(place),
                Err(complaint) => self.places = Err(complaint),
            }
        }
        Ok(())
    }
}

fn json_array(text: &str, budget: &mut MemoryBudget) -> Result<Vec<RecordPlace>, ParseError> {
    let mut elements = Elements { text, budget, places: Ok(Vec::new()) };
    let mut reader = serde_json::Deserializer::from_str(text);
    let read = reader.deserialize_seq(&mut elements).and_then(|()| reader.end());
    read.map_err(|error| {
        let (line, column) = (error.line(), error.column());
        ParseError::new(format!("Zeile {line}, Zeichen {column}: Das ist kein JSON."))
    })?;
    elements.places
}

fn json_lines(text: &str, budget: &mut MemoryBudget) -> Result<Vec<RecordPlace>, ParseError> {
    let start = text.as_ptr() as usize;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(at, line)| json_object(line, at + 1, line.as_ptr() as usize - start, budget)).collect()
}

fn json_object(
    text: &str,
    line: usize,
    start: usize,
    budget: &mut MemoryBudget,
) -> Result<RecordPlace, ParseError> {
    budget.take(ROW_BYTES)?;
    if text.len() > RECORD_BYTES_MAX {
        return Err(record_too_long(line as u32));
    }
    match Json::parse(text.as_bytes()) {
        Ok(Json::Object(_)) => {
            Ok(RecordPlace { line: line as u32, start: start as u32, end: (start + text.len()) as u32 })
        }
        Ok(_) => Err(ParseError::at_line(line as u32, "jede Zeile muss ein JSON-Objekt sein.")),
        Err(message) => Err(ParseError::at_line(line as u32, &message)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_and_values(text: &str) -> Vec<(usize, String)> {
        let rows = Rows::of_text(text.to_owned()).unwrap();
        (0..rows.len())
            .map(|at| {
                let (line, row) = (rows.line(at) as usize, rows.row(at));
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
            ("", "Die Datei ist leer."),
            ("[1]", "Zeile 1: jede Zeile muss ein JSON-Objekt sein."),
            ("[{}\n,{]", "Zeile 2, Zeichen 3: Das ist kein JSON."),
            ("{\"a\":1}\n{\"a\":1,\"a\":2}", "Zeile 2: Das Feld \"a\" kommt doppelt vor."),
            ("a;a\n1;2", "Zeile 1: die Spalte a steht doppelt da."),
            ("a;b\n1;2;3", "Zeile 2: 3 Zellen, aber 2 Spalten."),
            ("a;b\n1", "Zeile 2: 1 Zellen, aber 2 Spalten."),
            (
                "a;b\n\"1;2\n3;4\n",
                "Zeile 2: das Anführungszeichen vor \"1;2 …\" wird nie geschlossen. Bitte schließen, oder als \
                 \"\" schreiben.",
            ),
            (
                "a;b\n\"1\"x;2\n",
                "Zeile 2: die Zelle \"1\" geht hinter ihrem schließenden Anführungszeichen weiter.",
            ),
        ];
        for (text, expected) in table {
            let complaint = Rows::of_text(text.to_owned()).map(|rows| rows.len()).map_err(String::from);
            assert_eq!(complaint, Err(expected.to_owned()), "{text}");
        }
    }
}
