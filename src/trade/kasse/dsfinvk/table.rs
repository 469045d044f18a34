//! Reads a file of the export as rows with named cells.

use std::borrow::Cow;

use super::files::Files;
use crate::platform::import::table::{Scanner, separator};
use crate::rules::day::Instant;
use crate::rules::fixed::Fixed;

/// Maximum length of a stored text, in characters (D18).
const TEXT_CHARS_MAX: usize = 255;

pub struct ExportRow<'r> {
    file: &'r str,
    line: u32,
    columns: &'r [(&'static str, usize)],
    cells: &'r [Cow<'r, str>],
    comma_is_decimal: bool,
}

/// The files, and their number format.
pub struct Tables<'f> {
    pub files: &'f Files,
    comma_is_decimal: bool,
}

impl<'f> Tables<'f> {
    /// The comma is the decimal separator if one occurs in any of the columns `numbers` of any file.
    pub fn of(files: &'f Files, names: &[&str], numbers: &[&str]) -> Tables<'f> {
        let has_comma = |name: &&str| files.optional(name).is_some_and(|text| has_comma(text, numbers));
        Tables { files, comma_is_decimal: names.iter().any(has_comma) }
    }

    /// Reads the rows of a file, strictly by RFC 4180. All `columns` are required, in any order; other
    /// columns are allowed.
    pub fn rows<T>(
        &self,
        file: &str,
        columns: &[&'static str],
        mut read: impl FnMut(&ExportRow<'_>) -> Result<T, String>,
    ) -> Result<Vec<T>, String> {
        let mut scanner = scanner(self.files.text(file)?);
        let mut cells = Vec::new();
        let mut header: Option<(Vec<(&'static str, usize)>, usize)> = None;
        let mut rows = Vec::new();
        while let Some(place) = scanner.next(&mut cells).map_err(|complaint| format!("{file} {complaint}"))? {
            if cells.iter().all(|cell| cell.trim().is_empty()) {
                continue;
            }
            let (line, comma_is_decimal) = (place.line, self.comma_is_decimal);
            match &header {
                None => header = Some((places(file, columns, &cells)?, cells.len())),
                Some((_, width)) if cells.len() != *width => {
                    return Err(format!("{file} Zeile {line}: {} Zellen, aber {width} Spalten", cells.len()));
                }
                Some((columns, _)) => {
                    rows.push(read(&ExportRow { file, line, columns, cells: &cells, comma_is_decimal })?);
                }
            }
        }
        header.map(|_| rows).ok_or_else(|| format!("{file} ist leer"))
    }
}

fn scanner(text: &str) -> Scanner<'_> {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    Scanner::new(text, separator(first))
}

/// Whether a numeric column contains a comma. Ignores errors, which are reported when the rows are read.
fn has_comma(text: &str, numbers: &[&str]) -> bool {
    let (mut scanner, mut cells) = (scanner(text), Vec::new());
    let mut places: Option<Vec<usize>> = None;
    while let Ok(Some(_)) = scanner.next(&mut cells) {
        let is_number =
            |cell: &Cow<'_, str>| numbers.iter().any(|name| cell.trim().eq_ignore_ascii_case(name));
        match &places {
            None => places = Some((0..cells.len()).filter(|at| is_number(&cells[*at])).collect()),
            Some(places) if places.is_empty() => return false,
            Some(places) => {
                if places.iter().any(|at| cells.get(*at).is_some_and(|cell| cell.contains(','))) {
                    return true;
                }
            }
        }
    }
    false
}

/// Removes the points between groups of three digits; returns a number without such groups unchanged.
fn ungrouped(text: &str) -> Cow<'_, str> {
    let whole = text.split(',').next().unwrap_or_default();
    let mut groups = whole.trim_start_matches('-').split('.');
    let are_digits = |group: &str| group.bytes().all(|byte| byte.is_ascii_digit());
    let first = groups.next().unwrap_or_default();
    let mut groups = groups.peekable();
    let is_grouped = groups.peek().is_some()
        && (1..=3).contains(&first.len())
        && are_digits(first)
        && groups.all(|group| group.len() == 3 && are_digits(group));
    if is_grouped { text.replace('.', "").into() } else { text.into() }
}

fn places(
    file: &str,
    columns: &[&'static str],
    header: &[Cow<'_, str>],
) -> Result<Vec<(&'static str, usize)>, String> {
    let place = |name: &&'static str| {
        let mut at = (0..header.len()).filter(|at| header[*at].trim().eq_ignore_ascii_case(name));
        match (at.next(), at.next()) {
            (Some(at), None) => Ok((*name, at)),
            (Some(_), Some(_)) => Err(format!("{file} hat die Spalte {name} doppelt")),
            (None, _) => Err(format!("in {file} fehlt die Spalte {name}")),
        }
    };
    columns.iter().map(place).collect()
}

impl ExportRow<'_> {
    /// Returns a one-line text; `None` for a blank cell.
    pub fn text(&self, column: &'static str) -> Result<Option<String>, String> {
        match self.lines(column)? {
            Some(text) if text.contains(['\n', '\t']) => Err(self.wrong(column, "enthält Steuerzeichen")),
            text => Ok(text),
        }
    }

    /// Returns a text that may have several lines, as on receipts.
    pub fn lines(&self, column: &'static str) -> Result<Option<String>, String> {
        let place = self.columns.iter().find(|(name, _)| *name == column).map(|(_, at)| *at);
        let cell =
            place.and_then(|at| self.cells.get(at)).map_or("", |cell| cell.trim()).replace("\r\n", "\n");
        if cell.chars().any(|letter| letter.is_control() && letter != '\n' && letter != '\t') {
            return Err(self.wrong(column, "enthält Steuerzeichen"));
        }
        if cell.chars().nth(TEXT_CHARS_MAX).is_some() {
            return Err(self.wrong(column, &format!("länger als {TEXT_CHARS_MAX} Zeichen")));
        }
        Ok((!cell.is_empty()).then_some(cell))
    }

    pub fn required(&self, column: &'static str) -> Result<String, String> {
        self.text(column)?.ok_or_else(|| self.wrong(column, "leer"))
    }

    /// Returns digits, without the points between groups if the comma is the decimal separator.
    pub fn number(&self, column: &'static str) -> Result<String, String> {
        let text = self.required(column)?;
        Ok(if self.comma_is_decimal { ungrouped(&text).into_owned() } else { text })
    }

    pub fn integer(&self, column: &'static str) -> Result<i64, String> {
        let text = self.number(column)?;
        text.parse().map_err(|_| self.wrong(column, &format!("{text} ist keine ganze Zahl")))
    }

    /// Returns a number with a decimal comma, optionally with points between thousands, or with a decimal
    /// point.
    pub fn decimal<const SCALE: u32, const SHOWN: usize>(
        &self,
        column: &'static str,
    ) -> Result<Option<Fixed<SCALE, SHOWN>>, String> {
        if self.text(column)?.is_none() {
            return Ok(None);
        }
        let text = self.number(column)?;
        match Fixed::parse(&text.replacen(',', ".", 1)) {
            Ok(parsed) => Ok(Some(parsed.value)),
            Err(_) => Err(self.wrong(column, &format!("{text} ist keine Zahl (1234,56 oder 1234.56)"))),
        }
    }

    pub fn required_decimal<const SCALE: u32, const SHOWN: usize>(
        &self,
        column: &'static str,
    ) -> Result<Fixed<SCALE, SHOWN>, String> {
        self.decimal(column)?.ok_or_else(|| self.wrong(column, "leer"))
    }

    pub fn instant(&self, column: &'static str) -> Result<Instant, String> {
        let text = self.required(column)?;
        Instant::parse_or_in_berlin(&text)
            .ok_or_else(|| self.wrong(column, &format!("{text} ist kein Zeitpunkt")))
    }

    /// Returns a flag: 1 is yes, 0 or blank is no.
    pub fn flag(&self, column: &'static str) -> Result<bool, String> {
        match self.text(column)?.as_deref() {
            Some("1") => Ok(true),
            None | Some("0") => Ok(false),
            Some(text) => Err(self.wrong(column, &format!("{text} ist weder 0 noch 1"))),
        }
    }

    pub fn wrong(&self, column: &str, why: &str) -> String {
        format!("{} Zeile {}, {column}: {why}", self.file, self.line)
    }
}
