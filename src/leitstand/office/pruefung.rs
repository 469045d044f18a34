//! The data of a period for an auditor (D36): ordered here, made in the background, downloaded here.

use maud::{Markup, Render, html};
use serde_json::json;

use crate::leitstand::kit::done::{Done, FirmaChange};
use crate::leitstand::kit::frame;
use crate::leitstand::kit::page::{PageRequest, Snapshot};
use crate::leitstand::kit::parts::{
    field, form, moment, number, optional, refusal, table, tenths, tick, yes_or_no,
};
use crate::office::z3::{self, Ueberlassung, UeberlassungStand};
use crate::platform::failure::{Failure, Result};
use crate::platform::http::reply::Reply;
use crate::platform::http::route::Method;
use crate::rules::admin_event::{AdminAction, AdminEvent, Art};
use crate::rules::day::Day;

const PATH: &str = "betriebspruefung";

pub fn list(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let made = z3::newest(&db.tx)?;
    let running = made.iter().find(|made| made.beendet_am.is_none());
    let body = html! {
        p {
            "Die Finanzverwaltung darf bei einer Außenprüfung die Daten eines Zeitraums auf einem \
             Datenträger verlangen (§ 147 Abs. 6 AO, „Z3“). Hier entsteht die Datei dafür: alle Tabellen mit \
             ihrer Beschreibung, wie Prüfprogramme sie einlesen."
        }
        @match running {
            Some(running) => p role="status" { (progress(running)) },
            None if request.may_manage() => (form(request, inside(request), "Zusammenstellen", false)),
            None => {}
        }
        p { (z3::NICHT_ENTHALTEN) }
        (rows(request, &made))
        p {
            "Aufgehoben werden die Dateien der " (z3::FILES_KEPT)
            " neuesten. Wer eine davon hat, kann alle Geschäfte des Zeitraums lesen. Jede ist eine Zeile im \
             Protokoll."
        }
    };
    let page = frame::page(request, "Betriebsprüfung", body);
    Ok(if running.is_some() { page.with("refresh", "2".to_owned()) } else { page })
}

fn inside(request: &PageRequest) -> Markup {
    let last = Day::in_berlin(request.now).end_of_year_after(-1);
    let first = last.end_of_year_after(-1).tomorrow();
    html! {
        (refusal(request, &["von", "bis"]))
        (field(request, "von", "Erster Tag", "date", &first.to_string(), "off"))
        (field(request, "bis", "Letzter Tag", "date", &last.to_string(), "off"))
        (tick("mit_belegen", request.is_sent("mit_belegen"), "mit den PDF, E-Rechnungen und Anhängen der Belege"))
    }
}

fn rows(request: &PageRequest, made: &[Ueberlassung]) -> Markup {
    let link = |made: &Ueberlassung| {
        let to = request.page_of(PATH, format!("{}/datei", made.id));
        html! {
            @if made.stand == UeberlassungStand::Fertig && request.may_manage() {
                a href=(to) { "Herunterladen" }
            }
        }
    };
    table("Zusammengestellte Daten", "Noch wurde nichts zusammengestellt.", made)
        .text("Zeitraum", period)
        .text("Mit Belegdateien", |made| yes_or_no(made.mit_belegen))
        .text("Begonnen", |made| moment(made.created_at))
        .text("Stand", progress)
        .numbers("Zeilen", |made| optional(made.zeilen, number))
        .numbers("Größe (MB)", |made| {
            optional(made.bytes, |bytes| tenths(bytes.unsigned_abs().div_ceil(100_000)))
        })
        .with("Datei", false, link)
        .render()
}

fn period(made: &Ueberlassung) -> String {
    format!("{} bis {}", made.von.german(), made.bis.german())
}

fn progress(made: &Ueberlassung) -> String {
    match made.stand {
        UeberlassungStand::Wartet => "wartet".to_owned(),
        UeberlassungStand::Laeuft => format!("wird gemacht, Schritt {} von {}", made.schritt, made.schritte),
        UeberlassungStand::Fertig => "fertig".to_owned(),
        UeberlassungStand::Fehlgeschlagen => made.fehler.clone().unwrap_or_default(),
    }
}

pub fn begin(request: &PageRequest) -> Result<FirmaChange> {
    let [von, bis] = ["von", "bis"].map(|name| request.filled(name));
    let body = json!({"von": von, "bis": bis, "mit_belegen": request.is_sent("mit_belegen")});
    let note = "Die Daten werden zusammengestellt. Diese Seite sagt, wann sie fertig sind.";
    let change = request.change(Method::Post, "/api/v1/z3", &body, request.of_firma(PATH), note)?;
    let day = |text: Option<&str>| optional(text.and_then(Day::parse_plain), Day::german);
    let name = format!("{} bis {}", day(von), day(bis));
    Ok(Box::new(move |tx| {
        let event = Some(AdminEvent::new(AdminAction::Angelegt, Art::Ueberlassung).name(name.clone()));
        Ok(Done { event, ..change(tx)? })
    }))
}

/// Returns the file; people who may only view do not get it.
pub fn download(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    if !request.may_manage() {
        return Err(Failure::not_found("Diese Datei"));
    }
    request.file_of(db, "z3/{id}/datei")
}
