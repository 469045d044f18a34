//! The attachments of a record: their list, the form that adds one, and each of them as a file.

use maud::{Markup, Render, html};
use serde::Serialize;

use super::done::FirmaChange;
use super::frame;
use super::page::{PageRequest, Snapshot};
use super::parts::{field, form, linked, moment, number, or_blank, refusal};
use crate::leitstand::access::entry;
use crate::master::anhaenge::{self, Anhang, Besitzer};
use crate::platform::db::list::Page;
use crate::platform::failure::{Failure, Result};
use crate::platform::http::reply::Reply;
use crate::platform::http::route::Method;
use crate::platform::listing::Records;
use crate::rules::bytes::InBase64;

const ATTACHMENTS_SHOWN_MAX: u32 = 500;

const DATEI: &str = "datei";

/// Returns the attachments of a record whose page is `here`.
pub fn section(request: &PageRequest, db: &Snapshot<'_>, besitzer: Besitzer, here: &str) -> Result<Markup> {
    let empty = "Keine Anhänge. Sie kommen mit „Datei anhängen“ herein oder aus den angeschlossenen \
         Programmen (POST …/dokumente).";
    Ok(html! {
        h2 { "Anhänge" }
        (files("Anhänge", empty, &of(db, besitzer)?, here))
        @if request.may_change() { p.actions { a.button href=(format!("{here}/anhaenge")) { "Datei anhängen" } } }
    })
}

/// Returns the file that a document was made from (D28); empty if there is none.
pub fn original(db: &Snapshot<'_>, besitzer: Besitzer, here: &str) -> Result<Markup> {
    let rows = of(db, besitzer)?;
    Ok(html! {
        @if !rows.is_empty() {
            h2 { "Ursprüngliche Datei" }
            (files("Ursprüngliche Datei", "", &rows, here))
        }
    })
}

fn of(db: &Snapshot<'_>, besitzer: Besitzer) -> Result<Vec<Anhang>> {
    let found: Records<Anhang> =
        anhaenge::page(&db.tx, besitzer, Page { limit: Some(ATTACHMENTS_SHOWN_MAX), offset: 0 })?;
    Ok(found.rows)
}

fn files(caption: &str, empty: &str, rows: &[Anhang], here: &str) -> Markup {
    let to = |anhang: &Anhang| format!("{here}/anhaenge/{}", anhang.id);
    linked(caption, empty, rows, to)
        .text("Datei", |anhang| anhang.dateiname.clone())
        .text("Beschreibung", |anhang| or_blank(&anhang.beschreibung))
        .text("Angehängt", |anhang| moment(anhang.erstellt_am))
        .numbers("Größe (KB)", |anhang| number((anhang.groesse_bytes + 1_023) / 1_024))
        .render()
}

/// The form that attaches a file to a record called `name`, whose page is `here`.
pub fn show_form(request: &PageRequest, name: &str, here: &str) -> Reply {
    if !request.may_change() {
        return entry::forbidden();
    }
    let inside = html! {
        (refusal(request, &[DATEI, "beschreibung"]))
        p { "Die Datei bleibt, wie sie ist: Anhänge lassen sich hier weder ändern noch löschen." }
        (field(request, DATEI, "Datei (bis 10 MiB)", "file", "", "off"))
        (field(request, "beschreibung", "Beschreibung", "text", "", "off"))
    };
    let body = html! {
        (form(request, inside, "Anhängen", false))
        p { a href=(here) { "Zurück, ohne etwas anzuhängen" } }
    };
    frame::page(request, &format!("Datei an {name} anhängen"), body)
}

/// The body of the request that attaches a file. Its content becomes JSON without an intermediate copy.
#[derive(Serialize)]
struct Datei<'b> {
    dateiname: &'b str,
    inhalt_base64: InBase64<'b>,
    beschreibung: Option<&'b str>,
}

/// Attaches the file of the form to the record in the path. `api` is its list in the interface, `page` its
/// list in the Leitstand.
pub fn attach(request: &PageRequest, api: &str, page: &str) -> Result<FirmaChange> {
    let file = request.file(DATEI)?;
    let body = Datei {
        dateiname: &file.name,
        inhalt_base64: InBase64(&file.content),
        beschreibung: request.filled("beschreibung"),
    };
    let (path, note) = (format!("{api}/{{id}}/dokumente"), "Die Datei ist angehängt.");
    request.change_record(Method::Post, &path, &body, page, note).map_err(at_the_file)
}

/// Moves a refusal of the name or the content to the field where the file was chosen.
fn at_the_file(mut failure: Failure) -> Failure {
    if let Failure::Refused(refusal) = &mut failure
        && refusal.feld.as_deref().is_some_and(|feld| ["dateiname", "inhalt_base64"].contains(&feld))
    {
        refusal.feld = Some(DATEI.to_owned());
    }
    failure
}

/// Returns the file of an attachment. Browsers save it and never show it: it may contain a script of whoever
/// attached it.
pub fn download(request: &PageRequest, db: &Snapshot<'_>, besitzer: Besitzer) -> Result<Reply> {
    let (anhang, inhalt) = anhaenge::found(&db.tx, besitzer, request.uuid(1)?, <[u8]>::to_vec)?;
    Ok(frame::guarded(Reply::attachment("application/octet-stream", &anhang.dateiname, inhalt)))
}
