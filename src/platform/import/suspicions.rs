//! Values that are no mistakes but hardly intended: sums, hidden rows, other sheets, and implausible values
//! (D22). They are reported before anything is stored, and stored only if the user confirms.

use std::collections::BTreeSet;

use super::Import;
use super::check::{Mistake, MistakePlace, Mistakes};
use super::encoding::encoded_twice;
use super::file::Rows;
use super::header::HEADING_BYTES_MAX;
use super::table::excerpt;
use crate::platform::http::json::Json;
use crate::platform::http::wire::FromJson;
use crate::rules::error::Hints;
use crate::rules::fixed::Percent;
use crate::rules::text::{case_key, folded_key, shown};
use crate::rules::unit::unece_code;

/// Words that begin a row of sums, in the form of [`folded_key`].
const SUMS: &[&str] =
    &["summe", "summen", "zwischensumme", "gesamtsumme", "endsumme", "gesamt", "total", "uebertrag", "saldo"];

const UNITS: &[&str] = &["einheit", "gesamtmenge_einheit"];

/// Values that a tenant uses, so that they are not suspicious.
pub struct Known {
    /// Its tax rates at any time.
    pub rates: Vec<Percent>,
    /// The units of its articles, in lower case.
    pub units: BTreeSet<String>,
}

/// Returns what is suspicious in the rows of a file for a tenant. A unit is reported once, where it first
/// appears.
pub fn find(kind: &Import, rows: &Rows, mut known: Known) -> Mistakes {
    let mut found = Mistakes::default();
    for sheet in &rows.aside.others {
        let message = "Dieses Blatt wird nicht gelesen. Bitte das Blatt nennen, das gemeint ist.".to_owned();
        let (place, value) = (MistakePlace::Sheet(shown(sheet).into_owned()), None);
        found.add(Mistake { place, column: None, heading: None, value, message, code: None });
    }
    for at in 0..rows.len() {
        let row = rows.row(at);
        let Json::Object(cells) = &row else { continue };
        let whole = |message: &str| Mistake::of_cell(rows, at, None, message.to_owned());
        if rows.aside.hidden.binary_search(&rows.line(at)).is_ok() {
            found.add(whole("Diese Zeile ist in der Tabelle ausgeblendet."));
        }
        if repeats_header(rows, cells) {
            found.add(whole("Diese Zeile wiederholt die Kopfzeile."));
        }
        if let Some(cell) = cells.iter().enumerate().find(|(at, (_, cell))| is_sum(cell, *at == 0)) {
            let message = "Das sieht nach einer Zeile mit Summen aus.".to_owned();
            found.add(Mistake::of_cell(rows, at, Some(cell.1), message));
        }
        for cell in cells {
            if let Some(message) = odd(kind, rows, &mut known, cell) {
                found.add(Mistake::of_cell(rows, at, Some(cell), message));
            }
        }
        if found.is_full() {
            break;
        }
    }
    found
}

type Cell<'j> = (std::borrow::Cow<'j, str>, Json<'j>);

/// Whether a cell marks its row as a sum: the first cell by its first word, another cell as a whole.
fn is_sum(cell: &Json<'_>, is_first: bool) -> bool {
    let Some(text) = short(cell) else { return false };
    let text = text.trim_end_matches(|letter: char| !letter.is_alphanumeric());
    let first = text.split(|letter: char| !letter.is_alphanumeric()).next();
    SUMS.contains(&text) || is_first && first.is_some_and(|first| SUMS.contains(&first))
}

/// Returns a text in folded form for comparison, if it is no longer than a heading.
fn short(cell: &Json<'_>) -> Option<String> {
    match cell {
        Json::String(text) if text.len() <= HEADING_BYTES_MAX => Some(folded_key(text)),
        _ => None,
    }
}

fn repeats_header(rows: &Rows, cells: &[Cell<'_>]) -> bool {
    let is_name = |(field, cell): &Cell<'_>| {
        let Some(text) = short(cell) else { return false };
        text == folded_key(field) || rows.header.heading(field).is_some_and(|name| folded_key(name) == text)
    };
    cells.len() > 1 && cells.iter().all(is_name)
}

/// Returns why a value is implausible.
fn odd(kind: &Import, rows: &Rows, known: &mut Known, (field, cell): &Cell<'_>) -> Option<String> {
    let text = match cell {
        Json::String(text) => text.trim(),
        Json::Number(digits) => digits,
        _ => return None,
    };
    if !kind.fields.contains(&field.as_ref()) {
        return None;
    }
    if let Some(meant) = encoded_twice(text) {
        return Some(format!(
            "Das sieht nach UTF-8 aus, das zweimal kodiert wurde; gemeint ist wohl {}.",
            excerpt(&meant)
        ));
    }
    if field == "mwst_satz" {
        let rate = Percent::from_json(cell, &mut rows.at(&mut Hints::default())).ok()?;
        return (!known.rates.contains(&rate))
            .then(|| "Diesen Steuersatz gibt es in der Steuertabelle der Firma nicht.".to_owned());
    }
    // Measured characteristics have units of their own, such as kg/hl.
    let is_unit = kind.kind != "merkmale" && UNITS.contains(&field.as_ref());
    let is_odd_unit = is_unit && unece_code(text).is_none() && known.units.insert(case_key(text));
    is_odd_unit.then(|| {
        "Diese Einheit ist nicht bekannt, und kein Artikel hat sie; bekannt sind zum Beispiel kg, dt, t, Stk, \
         Sack. Weitere Zeilen mit ihr werden nicht genannt."
            .to_owned()
    })
}
