//! How a file is understood, for the command line and the web page alike: every interpretation is reported
//! (D22).

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use super::Import;
use super::check::{self, Mistakes};
use super::file::{Rows, Source};
use super::parse_error::ParseError;
use super::table::excerpt;
use super::template::EXAMPLE;
use crate::platform::http::json::Json;
use crate::platform::http::wire::{Decimal, Numbers, Seen};
use crate::rules::error::{HintCode, Hints};
use crate::rules::text::shown;

/// Names of unused fields that are collected from JSON objects, which may have any.
const UNUSED_MAX: usize = 1_000;

/// Reports a fact about a file: a heading and a text.
pub type Say<'s> = dyn FnMut(&'static str, String) + 's;

/// Reads the rows of a file without the example rows of a template. Reports where the header is, which
/// columns were mapped, and what is not used.
pub fn read(
    kind: &Import,
    source: Source<'_>,
    is_example: impl Fn(&Json<'_>) -> bool,
    say: &mut Say<'_>,
) -> Result<Rows, ParseError> {
    let mut rows = Rows::of_source(&kind.names(), source, kind.foreign.map(|foreign| foreign.rewrite))?;
    if let Some(decoded) = rows.decoded.take() {
        say("Kodierung", decoded);
    }
    if let Some(above) = rows.header.passed_over() {
        say("Kopfzeile", above);
    }
    if !rows.header.mapped.is_empty() {
        let mapped = rows.header.mapped.iter();
        let mapped = mapped.map(|(heading, field)| format!("{} ist {field}", excerpt(heading)));
        say("Spalten", mapped.collect::<Vec<_>>().join(", "));
    }
    let unused = unused(kind, &mut rows);
    if !unused.is_empty() {
        say("Nicht benutzte Spalten", unused.join(", "));
    }
    for line in rows.leave_out(is_example) {
        say("Ausgelassenes Beispiel", format!("Zeile {line}: {EXAMPLE}"));
    }
    Ok(rows)
}

/// Determines the decimal separator and reports it, then checks all rows without a database.
pub fn judge(
    kind: &Import,
    rows: &mut Rows,
    decimal: Option<Decimal>,
    say: &mut Say<'_>,
) -> Result<Mistakes, ParseError> {
    if let Some(taken) = decide_decimal(kind, rows, decimal)? {
        say("Dezimalen trennt", taken);
    }
    let mut mistakes = Mistakes::default();
    check::check(kind.of_file(rows), rows, &mut mistakes);
    Ok(mistakes)
}

/// Returns the unused columns, each with the name that may have been meant.
fn unused(kind: &Import, rows: &mut Rows) -> Vec<String> {
    let names = kind.names();
    if !rows.unused.is_empty() {
        return std::mem::take(&mut rows.unused).iter().map(|name| shown(name).into_owned()).collect();
    }
    let mut unused: BTreeSet<Result<String, usize>> = rows.keep(names.fields).into_iter().collect();
    if rows.decimal.is_none() {
        for at in 0..rows.len() {
            if unused.len() >= UNUSED_MAX {
                break;
            }
            let mut hints = Hints::default();
            let _ = (kind.check)(&rows.row(at), &mut rows.at(&mut hints));
            let unknown = hints.iter().filter(|hint| hint.code == HintCode::UnbekanntesFeld);
            unused.extend(unknown.filter_map(|hint| hint.feld.clone()).map(Ok));
        }
    }
    let named = |name: String| match (shown(&name), names.nearest(&name)) {
        (name, Some(nearest)) => format!("{name} (gemeint: {nearest}?)"),
        (name, None) => name.into_owned(),
    };
    let nameless = |at| format!("die {at}. (ohne Namen)");
    unused.into_iter().map(|name| name.map_or_else(nameless, named)).collect()
}

/// Determines the decimal separator, unless the caller named it; returns the text to report.
fn decide_decimal(
    kind: &Import,
    rows: &mut Rows,
    said: Option<Decimal>,
) -> Result<Option<String>, ParseError> {
    if rows.decimal.is_none() {
        return match said {
            Some(_) => Err(ParseError::new("JSON hat immer einen Dezimalpunkt; die Angabe bitte weglassen.")),
            None => Ok(None),
        };
    }
    if said.is_some() {
        rows.decimal = said;
        return Ok(said.map(|said| taken(said, "wie angegeben")));
    }
    let (decimal, seen) = numbers(kind, rows).decimal().map_err(|seen| either(rows, &seen))?;
    rows.decimal = Some(decimal);
    Ok(seen.map(|Seen { line, column, cell }| {
        let (column, cell) = (rows.shown_column(&column), excerpt(&cell));
        taken(decimal, &format!("wie in Zeile {line}, Spalte {column}: {cell}"))
    }))
}

/// Collects what the number cells of all rows reveal about the decimal separator.
fn numbers(kind: &Import, rows: &Rows) -> Numbers {
    let numbers = RefCell::new(Numbers::default());
    for at in 0..rows.len() {
        let row = rows.row(at);
        numbers.borrow_mut().go_to(rows.line(at));
        // A malformed number is a mistake of its cell, and reported later.
        let _ = (kind.check)(&row, &mut rows.survey(&mut Hints::default(), &numbers));
    }
    numbers.into_inner()
}

/// Returns the values read from the cells of a row, in German, by column; text cells are omitted.
pub fn values(kind: &Import, rows: &Rows, row: &Json<'_>) -> BTreeMap<String, String> {
    let numbers = RefCell::new(Numbers::default());
    let _ = (kind.check)(row, &mut rows.survey(&mut Hints::default(), &numbers));
    numbers.into_inner().values
}

/// Describes the separator chosen, the reason, and an example that no German reader can misunderstand.
fn taken(decimal: Decimal, why: &str) -> String {
    match decimal {
        Decimal::Comma => {
            format!("Komma, {why}. 24.860 heißt dann vierundzwanzigtausend und mehr (24860)")
        }
        Decimal::Point => format!("Punkt, {why}. 24.860 heißt dann fast fünfundzwanzig (24,86)"),
    }
}

/// Refuses a cell that could be read either way.
fn either(rows: &Rows, Seen { line, column, cell }: &Seen) -> ParseError {
    let (group, decimals) = (cell.replace('.', ""), cell.replacen('.', ",", 1));
    let point = decimals.trim_end_matches('0').trim_end_matches(',');
    let column = rows.shown_column(column);
    ParseError::new(format!(
        "Zeile {line}, Spalte {column}, Wert {cell}: Der Punkt kann Tausender trennen ({group}) oder \
         Nachkommastellen ({point}). Bitte angeben, was Dezimalen trennt: Komma für {group}, Punkt für {point}."
    ))
}
