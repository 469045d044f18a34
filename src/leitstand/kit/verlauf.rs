//! The history of a record of master data, as a section of its page.

use maud::{Markup, html};
use serde_json::Value;

use super::akteure::named;
use super::page::{PageRequest, Snapshot};
use super::pager::pager;
use super::parts::{ROWS, moment, table};
use crate::platform::failure::{Failure, Result};
use crate::platform::listing::Records;
use crate::rules::felder::{Aenderung, GeaendertesFeld};

/// How to read a history: the label of a field (`None` if another field covers it), and a value of it in
/// words.
pub type Lesart = (fn(&str) -> Option<&str>, fn(&str, &Value) -> String);

/// One changed field: when, which, the value before and after, and who.
type Row = [String; 5];

/// The changes of a record, newest first.
pub fn section(
    request: &PageRequest,
    db: &Snapshot<'_>,
    here: &str,
    found: Records<Aenderung>,
    lesart: Lesart,
) -> Result<Markup> {
    let count = found.count;
    let mut rows: Vec<Row> = Vec::new();
    for (change, who) in named(request, db, found.rows, |change| change.key_id.as_deref())? {
        for feld in &change.felder {
            rows.extend(row(feld, moment(change.am), &who, lesart)?);
        }
    }
    let empty = "Seit dem Anlegen ist nichts geändert worden.";
    let cell = |at: usize| move |row: &Row| row[at].clone();
    Ok(html! {
        h2 { "Änderungen" }
        (table("Änderungen, die neuesten zuerst", empty, &rows)
            .text("Wann", cell(0))
            .text("Feld", cell(1))
            .text("Vorher", cell(2))
            .text("Nachher", cell(3))
            .text("Wer", cell(4)))
        @if count > i64::from(ROWS) { (pager(request, here, count)) }
    })
}

fn row(feld: &GeaendertesFeld, at: String, who: &str, (label, words): Lesart) -> Result<Option<Row>> {
    let broken = |error| Failure::Broken(format!("a history is no JSON: {error}"));
    let Some(label) = label(&feld.feld) else { return Ok(None) };
    let old: Value = serde_json::from_str(feld.alt.get()).map_err(broken)?;
    let new: Value = serde_json::from_str(feld.neu.get()).map_err(broken)?;
    let is_forgotten = new.is_null() && (old.is_null() || old.is_array());
    let words = |value| words(&feld.feld, value);
    let new = if is_forgotten { "gelöscht".to_owned() } else { words(&new) };
    Ok(Some([at, label.to_owned(), words(&old), new, who.to_owned()]))
}
