//! The attachments of a record: their list, and each of them as a file.

use maud::{Markup, html};
use serde_json::Value;

use super::frame;
use super::page::{Ask, Seen};
use super::parts::{Cells, Column, date_of, number, table, text};
use crate::failure::{Failure, Result};
use crate::http::reply::Reply;
use crate::rules::bytes::from_base64;

const COLUMNS: [Column; 4] = [
    Column("Datei", false),
    Column("Beschreibung", false),
    Column("Angehängt", false),
    Column("Größe (KB)", true),
];

/// The attachments of the record at `path` of the interface, whose page is `here`.
pub fn section(ask: &Ask, seen: &Seen<'_>, path: &str, here: &str) -> Result<Markup> {
    let found = ask.get(seen, &format!("{path}/dokumente?limit=500"))?;
    let row = |anhang: &Value| {
        let to = format!("{here}/anhaenge/{}", text(anhang, "id"));
        let bytes = anhang["groesse_bytes"].as_i64().unwrap_or(0);
        let [name, description] = ["dateiname", "beschreibung"].map(|name| text(anhang, name).to_owned());
        let size = number(&((bytes + 1_023) / 1_024).to_string());
        Cells(to, vec![name, description, date_of(anhang, "erstellt_am"), size])
    };
    let rows: Vec<_> = found.as_array().into_iter().flatten().map(row).collect();
    let empty = "Keine Anhänge. Dateien hängen die angeschlossenen Programme an (POST …/dokumente).";
    Ok(html! { h2 { "Anhänge" } (table("Anhänge", &COLUMNS, &rows, empty)) })
}

/// The file of an attachment of the record at `path` of the interface. It is saved and not shown: whoever attached it
/// may have written what a browser would run.
pub fn download(ask: &Ask, seen: &Seen<'_>, path: &str) -> Result<Reply> {
    let anhang = ask.get(seen, &format!("{path}/dokumente/{}", ask.id(1)?))?;
    let inhalt = from_base64(text(&anhang, "inhalt_base64"))
        .ok_or_else(|| Failure::Broken("an attachment of the interface is no Base64".into()))?;
    Ok(frame::guarded(Reply::attachment("application/octet-stream", text(&anhang, "dateiname"), inhalt)))
}
