//! A spreadsheet's sheet converted to text, cell by cell (D22).

use super::memory_budget::MemoryBudget;
use super::parse_error::ParseError;
use super::table::{NUMBER, RECORD_BYTES_MAX, cell_bytes, record_too_long};
use super::template::MEANINGS;
use crate::rules::text::push_cell;

pub const COLUMNS_MAX: u32 = 1_000;

pub const SHEETS_MAX: usize = 100;

/// What a spreadsheet contains besides the records of the sheet.
#[derive(Default)]
pub struct Aside {
    /// Lines of hidden rows, in order.
    pub hidden: Vec<u32>,
    /// Other sheets with content, if no sheet was named.
    pub others: Vec<String>,
}

/// The records of a sheet in the form that [`super::table`] reads, and the line of each.
#[derive(Default)]
pub struct Sheet {
    pub text: String,
    /// The lines of the records, from 1.
    pub lines: Vec<u32>,
    /// Columns of the widest record; the others end with their last cell.
    pub width: usize,
    /// First and last line of the merged cells that reach furthest down.
    pub merged: Option<(u32, u32)>,
    /// Whether its days are counted from 1904.
    pub is_1904: bool,
    pub aside: Aside,
    column: u32,
    record_start: usize,
    /// The remaining memory for the rows, and for what a reader records on the way to them.
    pub budget: MemoryBudget,
}

impl Sheet {
    pub fn within(budget: MemoryBudget) -> Sheet {
        Sheet { budget, ..Sheet::default() }
    }

    /// Records the other sheets with content, given each sheet's name and whether it has content; none if the
    /// sheet was requested by name. The meanings of a template do not count.
    pub fn set_others<'n>(
        &mut self,
        sheets: impl Iterator<Item = (&'n str, bool)>,
        own: &str,
        wanted: Option<&str>,
    ) {
        let is_other = |(name, is_filled): &(&str, bool)| *is_filled && *name != own && *name != MEANINGS;
        let others = sheets.filter(is_other).map(|(name, _)| name.to_owned());
        self.aside.others = if wanted.is_none() { others.collect() } else { Vec::new() };
    }

    /// Records merged cells, in rows counted from 0. Titles above the header may be merged.
    pub fn merge(&mut self, first: u32, last: u32) {
        let lines = (first.saturating_add(1), last.saturating_add(1));
        self.merged = self.merged.filter(|(_, lowest)| *lowest >= lines.1).or(Some(lines));
    }

    /// Adds a cell, right of or below the previous one; row and column are counted from 0. A number may be a
    /// [`percentage`].
    pub fn add(&mut self, row: u32, column: u32, cell: &str, is_number: bool) -> Result<(), ParseError> {
        let line = row.saturating_add(1);
        if column >= COLUMNS_MAX {
            return Err(record_too_long(line));
        }
        match self.lines.last() {
            Some(last) if *last == line && column >= self.column => {}
            Some(last) if *last >= line => {
                return Err(ParseError::at_line(
                    line,
                    "ihre Zellen stehen nicht in ihrer Reihenfolge; bitte die Datei neu speichern.",
                ));
            }
            last => {
                self.budget.take(1 + size_of::<u32>())?;
                self.text.push_str(if last.is_some() { "\n" } else { "" });
                self.lines.push(line);
                self.column = 0;
                self.record_start = self.text.len();
            }
        }
        self.width = self.width.max(column as usize + 1);
        let bytes = (column - self.column) as usize + NUMBER.len_utf8() + cell_bytes(cell);
        if self.text.len() - self.record_start + bytes > RECORD_BYTES_MAX {
            return Err(record_too_long(line));
        }
        self.budget.take(bytes)?;
        while self.column < column {
            self.text.push(';');
            self.column += 1;
        }
        if is_number {
            self.text.push(NUMBER);
            self.text.push_str(cell);
        } else {
            push_cell(&mut self.text, cell.trim_start_matches(NUMBER));
        }
        Ok(())
    }
}

pub fn too_many_sheets() -> ParseError {
    ParseError::new(format!("Die Datei hat mehr als {SHEETS_MAX} Blätter."))
}

/// Chooses the sheet to read: the `wanted` one, else the first. Refuses if the first is hidden and none is wanted.
/// Each sheet is given with whether it is visible.
pub fn choose<'n>(sheets: &[(&'n str, bool)], wanted: Option<&str>) -> Result<&'n str, ParseError> {
    let names = || {
        let visible = sheets.iter().filter(|(_, is_visible)| *is_visible).map(|(name, _)| *name);
        visible.take(20).collect::<Vec<_>>().join(", ")
    };
    if sheets.len() > SHEETS_MAX {
        return Err(too_many_sheets());
    }
    match (wanted, sheets.first()) {
        (_, None) => Err(ParseError::new("Die Datei hat kein Blatt.")),
        (Some(wanted), _) => {
            let found = sheets.iter().find(|(name, _)| *name == wanted);
            found.map(|(name, _)| *name).ok_or_else(|| {
                let names = names();
                ParseError::new(format!("Ein Blatt {wanted} gibt es nicht, aber diese: {names}."))
            })
        }
        (None, Some((name, true))) => Ok(name),
        (None, Some((name, false))) => {
            let names = names();
            Err(ParseError::new(format!(
                "Das erste Blatt, {name}, ist ausgeblendet. Bitte angeben, welches gemeint ist: {names}."
            )))
        }
    }
}

pub fn decimal(number: f64, line: u32) -> Result<String, ParseError> {
    match number.is_finite() {
        true => Ok(number.to_string()),
        false => Err(ParseError::at_line(line, "eine Zahl, die keine ist.")),
    }
}

/// Returns a number that its cell shows as a percentage: a hundredfold, with the sign.
pub fn percentage(number: &str) -> String {
    let (sign, unsigned) = number.strip_prefix('-').map_or(("", number), |unsigned| ("-", unsigned));
    let (whole, decimals) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let decimals = format!("{decimals:0<2}");
    let (moved, rest) = decimals.split_at(2);
    let whole = format!("{whole}{moved}");
    let whole = whole.trim_start_matches('0');
    let zero = if whole.is_empty() { "0" } else { "" };
    let point = if rest.is_empty() { "" } else { "." };
    format!("{sign}{zero}{whole}{point}{rest}%")
}

/// The refusal of merged cells that begin in this line.
pub fn merged_cells(line: u32) -> ParseError {
    ParseError::at_line(
        line,
        "verbundene Zellen; nur die erste hat einen Wert. Bitte trennen und jede ausfüllen.",
    )
}

pub fn no_value(line: u32) -> ParseError {
    ParseError::at_line(
        line,
        "eine Formel ohne Wert; bitte die Datei in einer Tabellenkalkulation öffnen und speichern.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentage_is_a_hundredfold_to_the_last_digit() {
        let table = [
            ("0.02", "2%"),
            ("0.024", "2.4%"),
            ("0.19", "19%"),
            ("0.07", "7%"),
            ("1", "100%"),
            ("0", "0%"),
            ("0.5", "50%"),
            ("-0.025", "-2.5%"),
            ("0.00015", "0.015%"),
            ("12.3456", "1234.56%"),
        ];
        for (number, expected) in table {
            assert_eq!(percentage(number), expected, "{number}");
        }
    }
}
