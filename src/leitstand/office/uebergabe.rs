//! A Stapel that was handed over (D32): its files as they were sent, its hints, and its discarding.

use maud::html;
use serde_json::{Value, json};

use super::steuerberater::{hints, state};
use crate::leitstand::kit::done::FirmaChange;
use crate::leitstand::kit::frame;
use crate::leitstand::kit::page::{PageRequest, Snapshot};
use crate::leitstand::kit::parts::{facts, field, moment, number, optional, or_blank, table};
use crate::office::buchhaltung::{self, Datei, Stapel};
use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::platform::http::reply::Reply;
use crate::platform::http::route::Method;
use crate::rules::day::Day;

pub fn show(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let found = buchhaltung::with_files(&db.tx, buchhaltung::found(&db.tx, request.uuid(0)?)?)?;
    let (stapel, here) = (&found.stapel, request.page_of("steuerberater", found.stapel.id));
    let hinweise: Value = serde_json::from_str(found.hinweise.get())?;
    let body = html! {
        (facts(&[
            ("Stand", state(stapel)),
            ("Grund", or_blank(&stapel.verworfen_grund)),
            ("Angelegt", moment(stapel.created_at)),
            ("Von", optional(stapel.von, Day::german)),
            ("Bis", stapel.bis.german()),
            ("Belege", number(stapel.belege)),
            ("Buchungszeilen", number(stapel.zeilen)),
            ("Summe (EUR)", number(stapel.summe)),
        ]))
        p.actions {
            a.button href=(format!("{here}/datei")) { "Laden (ZIP)" }
            @if request.may_manage() && is_discardable(&db.tx, stapel)? {
                a.button.danger href=(format!("{here}/verwerfen")) { "Verwerfen" }
            }
            a.button href=(request.of_firma("steuerberater")) { "Zu allen Stapeln" }
        }
        p {
            "Das ZIP unverändert an den Steuerberater geben. In DATEV werden daraus zuerst die Debitoren und \
             Kreditoren eingelesen, dann die Buchungen, je Monat eine Datei."
        }
        h2 { "Dateien" }
        (table("Dateien", "", &found.dateien)
            .text("Name", |datei: &Datei| datei.name.clone())
            .numbers("Zeilen", |datei| number(datei.zeilen))
            .with("SHA-256", false, |datei| html! { code { (datei.sha256) } }))
        (hints(&hinweise))
    };
    Ok(frame::page(request, &format!("Stapel {}", stapel.nr), body))
}

/// Whether it is the newest valid one, the only one that may be discarded.
fn is_discardable(tx: &Tx<'_>, stapel: &Stapel) -> Result<bool> {
    Ok(stapel.verworfen_am.is_none() && buchhaltung::newest(tx)?.is_some_and(|(nr, _)| nr == stapel.nr))
}

/// Returns the files as they were sent.
pub fn download(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let (name, bytes) = buchhaltung::zip(&db.tx, &buchhaltung::found(&db.tx, request.uuid(0)?)?)?;
    Ok(frame::guarded(Reply::attachment("application/zip", &name, bytes)))
}

pub fn show_discard(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let stapel = buchhaltung::found(&db.tx, request.uuid(0)?)?;
    let inside = html! {
        p {
            "Nur, wenn der Steuerberater ihn noch nicht eingelesen hat, oder wieder gelöscht: Sonst stehen \
             die "
            (number(stapel.belege))
            " Belege dort zweimal. Sie sind danach wieder neu und kommen in den nächsten Stapel. Dieser \
             bleibt mit seinen Dateien stehen, als verworfen."
        }
        (field(request, "grund", "Warum?", "text", "", "off"))
    };
    frame::form_page(
        request,
        &format!("Stapel {} verwerfen", stapel.nr),
        &["grund"],
        inside,
        "Verwerfen",
        true,
    )
}

pub fn discard(request: &PageRequest) -> Result<FirmaChange> {
    let id = request.uuid(0)?;
    let (body, to) = (json!({"grund": request.filled("grund")}), request.page_of("steuerberater", id));
    let path = format!("/api/v1/datev/stapel/{id}/verwerfen");
    request.change(Method::Post, &path, &body, to, "Der Stapel ist verworfen.")
}
