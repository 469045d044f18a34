//! Weighings: the list, open ones first, then by day; and a record with its weights, its slip and its
//! cancellation.

use maud::{Markup, html};

use crate::goods::waage::{self, Auswahl, Wiegung};
use crate::leitstand::kit::done::FirmaChange;
use crate::leitstand::kit::fields;
use crate::leitstand::kit::lists::{self, List, filter, filter_choice, new_button};
use crate::leitstand::kit::page::{PageRequest, Snapshot};
use crate::leitstand::kit::parts::{Table, amount, facts, linked, moment, number, optional, or_blank};
use crate::leitstand::kit::{frame, storno};
use crate::platform::db::list::Page;
use crate::platform::failure::Result;
use crate::platform::http::list_file;
use crate::platform::http::reply::Reply;
use crate::platform::http::route::Method;
use crate::platform::listing::Records;
use crate::rules::weighing::{Richtung, WiegungStatus};

const OPEN_WEIGHINGS_SHOWN_MAX: u32 = 100;

const STATUS: [(&str, &str); 3] = [("offen", "offen"), ("fertig", "fertig"), ("storno", "storniert")];

fn state_of(wiegung: &Wiegung) -> &'static str {
    match wiegung.status {
        WiegungStatus::Storno => "storniert",
        status => status.as_str(),
    }
}

pub fn columns<'t>(table: Table<'t, Wiegung>) -> Table<'t, Wiegung> {
    table
        .text("Wiegeschein", |wiegung| wiegung.wiegeschein_nr.clone())
        .text("Erstwiegung", |wiegung| moment(wiegung.ts_erst))
        .sorts("ts_erst")
        .text("Kennzeichen", |wiegung| or_blank(&wiegung.kennzeichen))
        .text("Partner", |wiegung| or_blank(&wiegung.partner_name))
        .text("Artikel", |wiegung| or_blank(&wiegung.artikel_bezeichnung))
        .numbers("Netto (kg)", net)
        .sorts("gewicht_netto_kg")
}

fn net(wiegung: &Wiegung) -> String {
    match wiegung.status {
        WiegungStatus::Offen => format!("offen, erst {}", amount(wiegung.gewicht_erst_kg)),
        WiegungStatus::Fertig => optional(wiegung.gewicht_netto_kg, amount),
        WiegungStatus::Storno => state_of(wiegung).to_owned(),
    }
}

/// The open weighings of a company, at most `most` of them, the oldest last; a sentence if there are none.
pub fn open(request: &PageRequest, db: &Snapshot<'_>, most: u32) -> Result<Markup> {
    let auswahl = Auswahl { status: Some("offen"), ..Auswahl::default() };
    let found: Records<Wiegung> = waage::list(&db.tx, &auswahl, Page { limit: Some(most), offset: 0 })?;
    let empty = "Keine offen: Jedes Fahrzeug ist zweimal gewogen.";
    let to = |wiegung: &Wiegung| request.page_of("wiegungen", wiegung.id);
    Ok(html! {
        (columns(linked("Offene Wiegungen", empty, &found.rows, to)))
        @if found.count > i64::from(most) {
            p {
                a href=(request.of_firma("wiegungen?status=offen")) {
                    "Alle " (number(found.count)) " offenen Wiegungen"
                }
            }
        }
    })
}

pub fn list(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let query = request.query_of("/api/v1/wiegungen")?;
    let auswahl = Auswahl::of(&query)?;
    if let Some(file) = list_file::asked(&query, "wiegungen", |page| waage::list(&db.tx, &auswahl, page))? {
        return Ok(file);
    }
    let found = waage::list(&db.tx, &auswahl, lists::page_of(request))?;
    let shown = ["status", "von", "bis", "kennzeichen", "wiegeschein_nr", "partner_id", "sortierung"];
    let is_plain = shown.iter().all(|name| request.param(name).is_empty()) && request.list_page() == 0;
    let list = List {
        empty: "Keine Wiegungen gefunden. Wiegungen legt das Programm der Waage an, oder man wiegt hier; \
         vielleicht ist auch die Suche zu eng.",
        filters: html! {
            (filter(request, "kennzeichen", "Kennzeichen", "search"))
            (filter(request, "wiegeschein_nr", "Wiegeschein", "search"))
            (filter_choice(request, "status", "Status", STATUS))
            (filter(request, "von", "Von", "date"))
            (filter(request, "bis", "Bis", "date"))
        },
        keeps: &[("partner_id", "zu", "partner")],
        order: "-ts_erst",
        above: html! {
            (new_button(request, "wiegungen/neu", "Fahrzeug wiegen"))
            @if is_plain { h2 { "Offen" } (open(request, db, OPEN_WEIGHINGS_SHOWN_MAX)?) h2 { "Alle" } }
        },
        ..List::of("wiegungen", "Wiegungen", |wiegung: &Wiegung| wiegung.id, &found)
    };
    frame::live_page(request, db, "Wiegungen", lists::body(request, db, list, columns)?)
}

pub fn show(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let wiegung = waage::found(&db.tx, request.uuid(0)?)?;
    let here = request.page_of("wiegungen", wiegung.id);
    let links = [
        (Some(wiegung.partner_id), "partner", "Zum Partner"),
        (wiegung.beleg_id, "belege", "Zum Beleg"),
        (wiegung.charge_id, "chargen", "Zur Charge"),
        (wiegung.kontrakt_id, "kontrakte", "Zum Kontrakt"),
    ];
    let body = html! {
        (facts(&facts_of(&wiegung)))
        p.actions {
            @if wiegung.status == WiegungStatus::Fertig {
                a.button href=(format!("{here}/pdf")) { "Wiegeschein (PDF)" }
            }
            @if request.may_change() && wiegung.status == WiegungStatus::Offen {
                a.button href=(format!("{here}/zweitwiegung")) { "Zweite Wiegung" }
            }
            (request.links(links))
            @if let (true, Some((typ, words)), None) =
                (request.may_change(), next_document(&wiegung), wiegung.beleg_id)
            {
                a.button href=(request.of_firma(&format!("belege/neu?typ={typ}&wiegung={}", wiegung.id))) {
                    (words)
                }
            }
            @if request.may_change() && wiegung.status != WiegungStatus::Storno {
                a.button.danger href=(format!("{here}/storno")) { "Stornieren" }
            }
        }
    };
    Ok(frame::page(request, &wiegung.wiegeschein_nr, body))
}

/// The document that a finished weighing leads to: its type, and the label of its button.
fn next_document(wiegung: &Wiegung) -> Option<(&'static str, &'static str)> {
    match wiegung.richtung.filter(|_| wiegung.status == WiegungStatus::Fertig)? {
        Richtung::Eingang => Some(("EL", "Lieferung daraus")),
        Richtung::Ausgang => Some(("LS", "Lieferschein daraus")),
    }
}

fn facts_of(wiegung: &Wiegung) -> Vec<(&'static str, String)> {
    let own = [
        ("wiegeschein_nr", String::new()),
        ("status", state_of(wiegung).to_owned()),
        ("partner_name", or_blank(&wiegung.partner_name)),
        ("artikel_bezeichnung", or_blank(&wiegung.artikel_bezeichnung)),
        ("fremdwiegung", if wiegung.fremdwiegung { "ja".to_owned() } else { String::new() }),
    ];
    let charge = ("Charge", wiegung.charge_nr.clone().flatten().unwrap_or_default());
    [fields::facts_of(wiegung, &own), vec![charge]].concat()
}

pub fn show_cancel(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let wiegung = waage::found(&db.tx, request.uuid(0)?)?;
    let what = html! {
        (wiegung.wiegeschein_nr)
        " zählt dann nirgends mehr und lässt sich nicht mehr verwenden. Rückgängig machen lässt sich das \
         nicht."
    };
    storno::show(request, "Wiegung stornieren", Some(wiegung.version), what)
}

pub fn cancel(request: &PageRequest) -> Result<FirmaChange> {
    storno::send(request, Method::Put, "wiegungen", "wiegungen", "Die Wiegung ist storniert.")
}
