//! The attachments of a record: their list, the form that adds one, and each of them as a file.

use maud::{Markup, html};
use serde::Serialize;
use serde_json::Value;

use super::page::{Ask, Change, Seen};
use super::parts::{Cells, Column, date_of, field, form, number, refusal, table, text};
use super::{entry, frame};
use crate::failure::{Failure, Result};
use crate::http::reply::Reply;
use crate::http::route::Method;
use crate::rules::bytes::{InBase64, from_base64};

const COLUMNS: [Column; 4] = [
    Column("Datei", false),
    Column("Beschreibung", false),
    Column("Angehängt", false),
    Column("Größe (KB)", true),
];

/// The field of the form that the file is chosen in.
const DATEI: &str = "datei";

/// The attachments of the record at `path` of the interface, whose page is `here`.
pub fn section(ask: &Ask, seen: &Seen<'_>, path: &str, here: &str) -> Result<Markup> {
    let rows = rows(ask, seen, path, here)?;
    let empty = "Keine Anhänge. Sie kommen mit „Datei anhängen“ herein oder aus den angeschlossenen Programmen (POST …/dokumente).";
    Ok(html! {
        h2 { "Anhänge" }
        (table("Anhänge", &COLUMNS, &rows, empty))
        @if ask.may_change() { p.actions { a.button href=(format!("{here}/anhaenge")) { "Datei anhängen" } } }
    })
}

/// The file that the document at `path` of the interface was made of (D28), where it was made of one.
pub fn original(ask: &Ask, seen: &Seen<'_>, path: &str, here: &str) -> Result<Markup> {
    let rows = rows(ask, seen, path, here)?;
    Ok(html! {
        @if !rows.is_empty() {
            h2 { "Ursprüngliche Datei" }
            (table("Ursprüngliche Datei", &COLUMNS, &rows, ""))
        }
    })
}

fn rows(ask: &Ask, seen: &Seen<'_>, path: &str, here: &str) -> Result<Vec<Cells>> {
    let found = ask.get(seen, &format!("{path}/dokumente?limit=500"))?;
    let row = |anhang: &Value| {
        let to = format!("{here}/anhaenge/{}", text(anhang, "id"));
        let bytes = anhang["groesse_bytes"].as_i64().unwrap_or(0);
        let [name, description] = ["dateiname", "beschreibung"].map(|name| text(anhang, name).to_owned());
        let size = number(&((bytes + 1_023) / 1_024).to_string());
        Cells(to, vec![name, description, date_of(anhang, "erstellt_am"), size])
    };
    Ok(found.as_array().into_iter().flatten().map(row).collect())
}

/// The form that attaches a file to a record called `name`, whose page is `here`.
pub fn show_form(ask: &Ask, name: &str, here: &str) -> Reply {
    if !ask.may_change() {
        return entry::forbidden();
    }
    let inside = html! {
        (refusal(ask, &[DATEI, "beschreibung"]))
        p { "Die Datei bleibt, wie sie ist: Anhänge lassen sich hier weder ändern noch löschen." }
        (field(ask, DATEI, "Datei (bis 10 MiB)", "file", "", "off"))
        (field(ask, "beschreibung", "Beschreibung", "text", "", "off"))
    };
    let body = html! {
        (form(ask, inside, "Anhängen", false))
        p { a href=(here) { "Zurück, ohne etwas anzuhängen" } }
    };
    frame::page(ask, &format!("Datei an {name} anhängen"), body)
}

/// What the interface is asked to attach. Its content becomes JSON without a copy between.
#[derive(Serialize)]
struct Datei<'b> {
    dateiname: &'b str,
    inhalt_base64: InBase64<'b>,
    beschreibung: Option<&'b str>,
}

/// Attaches the file of the form to the record at `path` of the interface, whose page is `here`.
pub fn attach(ask: &Ask, path: &str, here: String) -> Result<Change> {
    let file = ask.file(DATEI)?;
    let body = Datei {
        dateiname: &file.name,
        inhalt_base64: InBase64(&file.content),
        beschreibung: Some(ask.field("beschreibung")).filter(|text| !text.is_empty()),
    };
    let path = format!("{path}/dokumente");
    ask.change(Method::Post, &path, &body, None, here, "Die Datei ist angehängt.").map_err(at_the_file)
}

/// What the interface refuses of the name or the content stands at the file that was chosen.
fn at_the_file(mut failure: Failure) -> Failure {
    if let Failure::Refused(refusal) = &mut failure
        && refusal.feld.as_deref().is_some_and(|feld| ["dateiname", "inhalt_base64"].contains(&feld))
    {
        refusal.feld = Some(DATEI.to_owned());
    }
    failure
}

/// The file of an attachment of the record at `path` of the interface. It is saved and not shown: whoever attached it
/// may have written what a browser would run.
pub fn download(ask: &Ask, seen: &Seen<'_>, path: &str) -> Result<Reply> {
    let anhang = ask.get(seen, &format!("{path}/dokumente/{}", ask.id(1)?))?;
    let inhalt = from_base64(text(&anhang, "inhalt_base64"))
        .ok_or_else(|| Failure::Broken("an attachment of the interface is no Base64".into()))?;
    Ok(frame::guarded(Reply::attachment("application/octet-stream", text(&anhang, "dateiname"), inhalt)))
}
