//! Writes rows of a table as lines of CSV: UTF-8, `;`, CR LF, decimal comma, texts in quotes. Characters that
//! auditors' programs cannot read are replaced and counted; the database keeps the original.

use rusqlite::Row;
use rusqlite::types::ValueRef;
use uuid::Uuid;

use super::tabelle::{Art, Tabelle};
use crate::platform::failure::{Failure, Result};
use crate::rules::day::{Day, Instant};

/// Counts of what was written of a table.
#[derive(Debug, Clone)]
pub struct Geschrieben {
    pub zeilen: u64,
    pub spalten: Vec<Spaltenstand>,
}

/// Counts of what was written of a column.
#[derive(Debug, Clone, Copy, Default)]
pub struct Spaltenstand {
    /// Sum in the smallest unit.
    pub summe: i128,
    /// Number of texts in which something was replaced.
    pub ersetzt: u64,
    /// Characters of the longest text.
    pub laenge: usize,
}

impl Geschrieben {
    pub fn new(tabelle: &Tabelle) -> Geschrieben {
        Geschrieben { zeilen: 0, spalten: vec![Spaltenstand::default(); tabelle.spalten.len()] }
    }
}

/// The header line: the names of the columns.
pub fn kopf(tabelle: &Tabelle) -> String {
    let namen: Vec<_> = tabelle.spalten.iter().map(|spalte| format!("\"{}\"", spalte.name)).collect();
    namen.join(";") + "\r\n"
}

/// Appends a row as a line.
pub fn add(tabelle: &Tabelle, row: &Row<'_>, line: &mut String, stand: &mut Geschrieben) -> Result<()> {
    for (at, (spalte, stand)) in tabelle.spalten.iter().zip(&mut stand.spalten).enumerate() {
        if at > 0 {
            line.push(';');
        }
        let value = row.get_ref(at)?;
        cell(spalte.art, value, line, stand).ok_or_else(|| {
            Failure::Broken(format!(
                "{}: {} holds {:?}, no {:?}",
                tabelle.datei,
                spalte.name,
                value.data_type(),
                spalte.art
            ))
        })?;
    }
    line.push_str("\r\n");
    stand.zeilen += 1;
    Ok(())
}

/// Appends a value; `None` if the value does not fit its column.
fn cell(art: Art, value: ValueRef<'_>, line: &mut String, stand: &mut Spaltenstand) -> Option<()> {
    match (art, value) {
        (Art::Zahl { .. } | Art::Tag, ValueRef::Null) => {}
        (_, ValueRef::Null) => line.push_str("\"\""),
        (Art::Text, ValueRef::Text(text)) => add_text(std::str::from_utf8(text).ok()?, line, stand),
        (Art::Text, ValueRef::Integer(number)) => add_text(&number.to_string(), line, stand),
        (Art::Id, ValueRef::Blob(bytes)) => {
            add_text(&Uuid::from_slice(bytes).ok()?.to_string(), line, stand);
        }
        (Art::Zeitpunkt, ValueRef::Integer(millis)) => {
            add_text(&Instant::from_millis(millis).to_string(), line, stand);
        }
        (Art::Zahl { stellen, .. }, ValueRef::Integer(units)) => {
            stand.summe += i128::from(units);
            line.push_str(&dezimal(units.into(), stellen));
        }
        (Art::Tag, ValueRef::Text(text)) => {
            line.push_str(&Day::parse_plain(std::str::from_utf8(text).ok()?)?.german());
        }
        _ => return None,
    }
    Some(())
}

fn add_text(text: &str, line: &mut String, stand: &mut Spaltenstand) {
    let (mut length, mut is_replaced) = (0, false);
    line.push('"');
    for letter in text.chars() {
        let written = match letter {
            '"' => '\'',
            ';' => ',',
            control if control.is_control() => ' ',
            letter => letter,
        };
        is_replaced |= written != letter;
        length += 1;
        line.push(written);
    }
    line.push('"');
    stand.ersetzt += u64::from(is_replaced);
    stand.laenge = stand.laenge.max(length);
}

/// Formats a number of smallest units with a decimal comma.
pub fn dezimal(units: i128, stellen: u32) -> String {
    let sign = if units < 0 { "-" } else { "" };
    let one = 10u128.pow(stellen);
    let (whole, rest) = (units.unsigned_abs() / one, units.unsigned_abs() % one);
    match stellen {
        0 => format!("{sign}{whole}"),
        stellen => format!("{sign}{whole},{rest:0width$}", width = stellen as usize),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_exact_whatever_their_size() {
        for (units, stellen, written) in [
            (0, 2, "0,00"),
            (-5, 2, "-0,05"),
            (123_456, 2, "1234,56"),
            (7_800_000, 6, "7,800000"),
            (-42, 0, "-42"),
            (i128::from(i64::MAX), 6, "9223372036854,775807"),
            (i128::from(i64::MIN), 2, "-92233720368547758,08"),
        ] {
            assert_eq!(dezimal(units, stellen), written);
        }
    }

    #[test]
    fn a_text_is_one_cell_and_says_what_was_replaced_in_it() {
        for (text, written, is_replaced) in [
            ("Bio-Hof Huber", "\"Bio-Hof Huber\"", false),
            ("5 \"Säcke\"; je\t25 kg\r\nbar", "\"5 'Säcke', je 25 kg  bar\"", true),
            ("", "\"\"", false),
            ("\u{0}\u{85}", "\"  \"", true),
        ] {
            let (mut line, mut stand) = (String::new(), Spaltenstand::default());
            add_text(text, &mut line, &mut stand);
            assert_eq!((line.as_str(), stand.ersetzt), (written, u64::from(is_replaced)));
            assert_eq!(stand.laenge, text.chars().count());
        }
    }

    #[test]
    fn a_value_of_another_type_than_its_column_is_a_failure() {
        let mut stand = Spaltenstand::default();
        let mut line = String::new();
        for (art, value) in [
            (Art::Tag, ValueRef::Text(b"2026-02-30")),
            (Art::Tag, ValueRef::Integer(1)),
            (Art::Id, ValueRef::Blob(b"short")),
            (Art::Zahl { stellen: 2, hat_summe: true }, ValueRef::Real(1.5)),
            (Art::Text, ValueRef::Real(1.5)),
            (Art::Text, ValueRef::Text(b"\xff")),
        ] {
            assert!(cell(art, value, &mut line, &mut stand).is_none(), "{art:?} {value:?}");
        }
    }
}
