//! Operations of the command line on a document given by its number.

use super::lifecycle::{finalise, settle};
use super::model::Beleg;
use super::out::{ausfertigung, pdf};
use super::sql;
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::{Failure, Result};
use crate::rules::error::Hints;

/// Finalises a document by its number and returns the hints.
pub fn finalise_number(tx: &WriteTx<'_>, number: &str) -> Result<Hints> {
    let mut hints = Hints::default();
    finalise(tx, by_number(tx, number)?, &mut hints)?;
    Ok(hints)
}

pub fn settle_number(tx: &WriteTx<'_>, number: &str, closed: bool) -> Result<Hints> {
    let mut hints = Hints::default();
    settle(tx, by_number(tx, number)?, closed, &mut hints)?;
    Ok(hints)
}

/// Returns the PDF of a document by its number; the draft of an open one.
pub fn pdf_of_number(tx: &Tx<'_>, number: &str, notes: &mut Hints) -> Result<Vec<u8>> {
    Ok(pdf::newest(tx, &by_number(tx, number)?, true, notes)?.inhalt)
}

pub fn erechnung_of_number(tx: &Tx<'_>, number: &str, _: &mut Hints) -> Result<Vec<u8>> {
    Ok(ausfertigung::erechnung(tx, &by_number(tx, number)?)?.xml)
}

/// Returns what a document, by its number, lacks for its e-invoice; `None` if it gets none.
pub fn missing_of_number(tx: &Tx<'_>, number: &str) -> Result<Option<Vec<String>>> {
    let missing = ausfertigung::missing(tx, &by_number(tx, number)?)?;
    Ok(missing.map(|missing| missing.iter().map(ToString::to_string).collect()))
}

fn by_number(tx: &Tx<'_>, number: &str) -> Result<Beleg> {
    let found = sql::find_by_number(tx, number)?;
    found.ok_or_else(|| {
        Failure::Broken(format!("den Beleg {number} gibt es in dieser Firma nicht: die Nummer vergleichen"))
    })
}
