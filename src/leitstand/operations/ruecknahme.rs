//! The imports of a company, and undoing one (D22): first tried, then done.

use std::time::Duration;

use maud::{Markup, Render, html};
use serde_json::{Value, json};

use crate::leitstand::access::people::{self, Person, name_of};
use crate::leitstand::kit::done::{Done, FirmaChange, TRY, tried};
use crate::leitstand::kit::frame;
use crate::leitstand::kit::page::{PageRequest, Snapshot};
use crate::leitstand::kit::parts::{facts, form_to, linked, moment, number, refusal};
use crate::leitstand::kit::uploads::named;
use crate::operations::rueckgaengig;
use crate::platform::failure::{Failure, Result};
use crate::platform::gate::administration::{self, Akteur, Entry, TAKEN_BACK};
use crate::platform::http::reply::Reply;
use crate::rules::admin_event::AdminAction;

/// Rows of the log that are read for the list: imports and their undoing.
const LISTED: i64 = 50;

/// How long undoing an import may hold the writer.
const HELD_MAX: Duration = Duration::from_secs(1);

/// The newest imports, each with a link to its page.
pub fn section(request: &PageRequest, db: &Snapshot<'_>) -> Result<Markup> {
    let people = people::list(db.connection)?;
    let (imports, taken_back): (Vec<_>, Vec<_>) = administration::imports(&db.tx, LISTED)?
        .into_iter()
        .partition(|entry| entry.event.tat == AdminAction::Importiert);
    let is_taken_back = |entry: &Entry| {
        let nr = entry.nr.to_string();
        taken_back.iter().any(|back| back.event.nachher.get(TAKEN_BACK) == Some(&nr))
    };
    let to = |entry: &Entry| request.page_of("import", entry.nr);
    let table = linked("Importe", "Hier stehen die Importe dieser Firma.", &imports, to)
        .text("Wann", |entry| moment(entry.am))
        .text("Was", kind)
        .text("Datei", file)
        .text("Wer", |entry| who(entry, &people))
        .numbers("Neu", |entry| count(entry, "created"))
        .numbers("Geändert", |entry| count(entry, "changed"))
        .text(
            "Stand",
            |entry| if is_taken_back(entry) { "zurückgenommen".to_owned() } else { String::new() },
        );
    Ok(html! { h2 { "Bisherige Importe" } (table.render()) })
}

fn kind(entry: &Entry) -> String {
    named(entry.event.gegenstand.id.as_deref().unwrap_or_default())
}

fn file(entry: &Entry) -> String {
    entry.event.gegenstand.name.clone().unwrap_or_default()
}

fn count(entry: &Entry, name: &str) -> String {
    entry.event.nachher.get(name).map(number).unwrap_or_default()
}

fn who(entry: &Entry, people: &[Person]) -> String {
    match &entry.akteur {
        Akteur::Person(id) => name_of(*id, people),
        Akteur::Schluessel(id) => format!("Schlüssel {id}"),
        Akteur::Befehl { konto, .. } => format!("Kommandozeile ({konto})"),
    }
}

fn nr(request: &PageRequest) -> Result<i64> {
    request.id(0)?.parse().map_err(|_| Failure::not_found("Diesen Import"))
}

pub fn show(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let import = rueckgaengig::find(&db.tx, nr(request)?)?;
    let people = people::list(db.connection)?;
    let body = html! {
        (facts(&[
            ("Nummer", import.nr.to_string()),
            ("Wann", moment(import.am)),
            ("Was", kind(&import)),
            ("Datei", file(&import)),
            ("Wer", who(&import, &people)),
            ("Neu", count(&import, "created")),
            ("Geändert", count(&import, "changed")),
            ("Unverändert", count(&import, "unchanged")),
        ]))
        (refusal(request, &[]))
        (way_back(request, db, &import)?)
        p.actions { a.button href=(request.of_firma("import")) { "Zu den Importen" } }
    };
    Ok(frame::page(request, &format!("Import {}", import.nr), body))
}

/// The button that shows what undoing would do, or, once that is shown, the one that does it.
fn way_back(request: &PageRequest, db: &Snapshot<'_>, import: &Entry) -> Result<Markup> {
    if let Err(failure) = rueckgaengig::rows(&db.tx, import) {
        return match failure {
            Failure::Refused(refusal) => Ok(html! { p.note { (refusal.message) } }),
            failure => Err(failure),
        };
    }
    if !request.may_manage() {
        return Ok(html! { p.empty { "Zurücknehmen darf, wer diese Firma verwaltet." } });
    }
    let Some(tried) = request.tried.as_deref() else {
        let inside = html! { input type="hidden" name="schritt" value=(TRY); };
        return Ok(html! {
            p { "Ein Import lässt sich zurücknehmen, solange nichts auf das verweist, was er angelegt hat. \
                 Was geschähe, wird erst gezeigt." }
            (form_to(request, "", inside, "Ansehen, was zurückginge", false))
        });
    };
    let kept: Vec<_> = tried["kept"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    Ok(html! {
        (facts(&[
            ("Gelöscht würden", number(&tried["deleted"])),
            ("Zurückgestellt würden", number(&tried["put_back"]))
        ]))
        @if kept.is_empty() {
            p {
                "Gelöscht wird, was der Import angelegt hat. Was er geändert hat, hat danach wieder die \
                 Werte von vorher; im Verlauf steht beides."
            }
            (form_to(request, "", html! {}, "Zurücknehmen", true))
        } @else {
            p.refused role="alert" {
                "So lässt er sich nicht zurücknehmen: alles oder nichts. Stimmen nur einzelne Werte nicht, \
                 bitte die Datei berichtigen und noch einmal importieren."
            }
            ul { @for kept in &kept { li { (kept) } } }
        }
    })
}

pub fn take_back(request: &PageRequest) -> Result<FirmaChange> {
    let (nr, is_trial, to) = (nr(request)?, request.step().is_some(), request.of_firma("import"));
    Ok(Box::new(move |tx| {
        let import = rueckgaengig::find(tx, nr)?;
        let take_back = || rueckgaengig::take_back(tx, &import, Some(HELD_MAX));
        if is_trial {
            return tried(tx, || Ok(json!(take_back()?)));
        }
        let report = take_back()?;
        report.refuse()?;
        let counts = [report.deleted, report.put_back].map(number);
        let note = format!("Zurückgenommen: {} gelöscht, {} zurückgestellt.", counts[0], counts[1]);
        Ok(Done { event: Some(report.event(&import)), ..Done::to(to.clone(), &note) })
    }))
}
