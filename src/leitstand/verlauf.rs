//! Who changed what of a record of master data: a section of its page.

use maud::{Markup, html};
use serde_json::{Value, json};

use super::akteure::Akteure;
use super::page::{Ask, Seen};
use super::parts::{Cells, Column, ROWS, date_of, pager, table, text};
use crate::failure::Result;

const COLUMNS: [Column; 5] = [
    Column("Wann", false),
    Column("Feld", false),
    Column("Vorher", false),
    Column("Nachher", false),
    Column("Wer", false),
];

/// How people read the fields of a record.
pub struct Lesart {
    /// The label of a field; none for one that another field says already.
    pub label: fn(&str) -> Option<&str>,
    /// The value of a field of an answer; blank where nothing is said.
    pub wert: fn(&Value, &str) -> String,
}

/// Who changed what, the newest first.
pub fn section(ask: &Ask, seen: &Seen<'_>, path: &str, here: &str, lesart: &Lesart) -> Result<Markup> {
    let count = ask.get(seen, &format!("{path}/verlauf?limit=0"))?["count"].as_i64().unwrap_or(0);
    // The interface gives the oldest first.
    let end = (count - i64::from(ask.list_page() * ROWS)).max(0);
    let begin = (end - i64::from(ROWS)).max(0);
    let found = ask.get(seen, &format!("{path}/verlauf?limit={}&offset={begin}", end - begin))?;
    let akteure = Akteure::of(ask, seen)?;
    let mut rows = Vec::new();
    for change in found["data"].as_array().into_iter().flatten().rev() {
        let (at, who) = (date_of(change, "am"), akteure.name(text(change, "key_id"))?);
        let felder = change["felder"].as_array().into_iter().flatten();
        rows.extend(felder.filter_map(|feld| row(feld, &at, &who, lesart)));
    }
    Ok(html! {
        h2 { "Änderungen" }
        (table("Änderungen, die neuesten zuerst", &COLUMNS, &rows, "Seit dem Anlegen ist nichts geändert worden."))
        @if count > i64::from(ROWS) { (pager(ask, here, count)) }
    })
}

fn row(feld: &Value, at: &str, who: &str, lesart: &Lesart) -> Option<Cells> {
    let name = text(feld, "feld");
    let label = (lesart.label)(name)?.to_owned();
    let [old, mut new] = ["alt", "neu"].map(|side| (lesart.wert)(&json!({name: feld[side]}), name));
    let is_forgotten = feld["neu"].is_null() && (feld["alt"].is_null() || feld["alt"].is_array());
    if is_forgotten {
        new = "gelöscht".to_owned();
    }
    Some(Cells(String::new(), vec![at.to_owned(), label, old, new, who.to_owned()]))
}
