//! The first page of a company: what is to be done, then the day: tonnes, receipts, documents, open
//! weighings.

use maud::{Markup, Render, html};

use super::{handgriffe, zustand};
use crate::goods::waage::{self, Auswahl, Wiegung};
use crate::leitstand::goods::wiegungen;
use crate::leitstand::kit::bars::{BarPair, BarWords, bars};
use crate::leitstand::kit::frame;
use crate::leitstand::kit::page::{PageRequest, Snapshot};
use crate::leitstand::kit::parts::{Table, amount, linked, number, tenths};
use crate::leitstand::operations::abgelehnt;
use crate::leitstand::operations::upkeep::Upkeep;
use crate::platform::db::list::Page;
use crate::platform::failure::Result;
use crate::platform::gate::access::key;
use crate::platform::http::reply::Reply;
use crate::platform::listing::Records;
use crate::rules::day::Day;
use crate::rules::fixed::Quantity;
use crate::rules::weighing::Richtung;
use crate::trade::annahmescheine;
use crate::trade::belege::{self, Beleg};

/// Most weighings that are read for one day.
const WEIGHINGS_OF_DAY_MAX: u32 = 5_000;

/// Most open weighings shown.
const WEIGHINGS_SHOWN_MAX: u32 = 15;

/// Most documents shown in one table.
const DOCUMENTS_SHOWN_MAX: usize = 8;

/// Most documents of a day that are summed; each of them is read.
const DOCUMENTS_OF_DAY_MAX: i64 = 1_000;

pub fn show(request: &PageRequest, db: &Snapshot<'_>) -> Result<Reply> {
    let upkeep = request.manages_installation().then(|| request.app.lookout.last()).flatten();
    let body = html! {
        (to_do(request, db, upkeep.as_ref())?)
        @if request.sees_management() && abgelehnt::is_any(request, db)? {
            p { a href=(request.of_firma("abgelehnt")) { "Anfragen von Programmen wurden abgelehnt: was zu tun ist" } }
        }
        (today(db)?)
        h2 { "Offene Wiegungen" }
        (wiegungen::open(request, db, WEIGHINGS_SHOWN_MAX)?)
        @match &upkeep {
            Some(upkeep) => (zustand::installation_in_words(upkeep, request.now)),
            None => p { small { (zustand::VERSION) } },
        }
    };
    frame::live_page(request, db, "Übersicht", body)
}

/// Says what is to be done, or that nothing is.
fn to_do(request: &PageRequest, db: &Snapshot<'_>, upkeep: Option<&Upkeep>) -> Result<Markup> {
    let keys = key::of_tenant(db.connection, request.firma_id(), request.now)?;
    let issues = [zustand::issues(request, db, &keys, upkeep)?, handgriffe::issues(request, db)?].concat();
    let issues = (!issues.is_empty()).then(|| html! { h2 { "Zu erledigen" } (zustand::shown(&issues)) });
    let steps = zustand::first_steps(request, db, &keys)?;
    let parts = [issues, without_erechnung(request, db)?, waiting(request, db)?, steps];
    Ok(html! {
        @if parts.iter().all(Option::is_none) { p.note { "Es ist nichts zu erledigen." } }
        @for part in parts.into_iter().flatten() { (part) }
    })
}

/// Today's tonnes in and out, sums of receipts and documents, and a chart of the hours beside those of a week
/// ago.
fn today(db: &Snapshot<'_>) -> Result<Markup> {
    let today = db.tx.today();
    let (now, then) = (day(db, today)?, day(db, Day::of_number(today.number() - 7))?);
    Ok(html! {
        h2 { "Heute, " (today.german()) }
        div.tiles {
            (tile("Herein (t)", tonnes(now.iter().map(|(into, _)| into).sum())))
            (tile("Hinaus (t)", tonnes(now.iter().map(|(_, out)| out).sum())))
            @for (name, sum) in of_today(db, today)? { (tile(&name, sum)) }
        }
        (picture(&now, &then))
    })
}

fn tile(name: &str, value: String) -> Markup {
    html! { div.tile { (name) strong { (value) } } }
}

/// Documents finalised without the e-invoice they should have had: at the end of a day nobody is there to be
/// warned (D4).
fn without_erechnung(request: &PageRequest, db: &Snapshot<'_>) -> Result<Option<Markup>> {
    let auswahl = belege::Auswahl { ohne_erechnung: true, ..belege::Auswahl::default() };
    let (found, count) = newest(db, &auswahl)?;
    let table = documents_of(request, "Belege ohne E-Rechnung, der neueste zuerst", &found)
        .text("Was fehlte", |beleg| beleg.erechnung_fehlt.as_deref().unwrap_or_default().join("; "));
    Ok((!found.is_empty()).then(|| html! {
        h2 { "Ohne E-Rechnung abgeschlossen" }
        p {
            "Diese " (count) " Belege brauchten eine E-Rechnung und haben keine. Bitte ergänzen, was fehlte, \
             den Beleg stornieren und neu schreiben. Was anders geregelt ist, verschwindet hier, sobald es \
             erledigt ist."
        }
        (table.render())
    }))
}

/// Invoices and Gutschriften that the end of their day left open for somebody to check (D4).
fn waiting(request: &PageRequest, db: &Snapshot<'_>) -> Result<Option<Markup>> {
    let Some(auswahl) = belege::waiting(&db.tx)? else { return Ok(None) };
    let (found, count) = newest(db, &auswahl)?;
    Ok((!found.is_empty()).then(|| html! {
        h2 { "Rechnungen und Gutschriften zu prüfen" }
        p { "Diese " (count) " Rechnungen an Kunden und Gutschriften an Lieferanten sind am Ende ihres Tages offen \
             geblieben. Bitte Steuer, Vereinbarung und Angaben für die E-Rechnung prüfen und sie dann abschließen." }
        (documents_of(request, "Offen geblieben, die neuesten zuerst", &found).render())
    }))
}

/// The newest of some documents, and how many there are. Never counts all of them, because this page stays
/// open all day.
fn newest(db: &Snapshot<'_>, auswahl: &belege::Auswahl<'_>) -> Result<(Vec<Beleg>, String)> {
    let mut found = belege::newest(&db.tx, auswahl, DOCUMENTS_SHOWN_MAX as u32 + 1)?;
    let is_all = found.len() <= DOCUMENTS_SHOWN_MAX;
    found.truncate(DOCUMENTS_SHOWN_MAX);
    let count = if is_all { found.len().to_string() } else { format!("neuesten {DOCUMENTS_SHOWN_MAX}") };
    Ok((found, count))
}

fn documents_of<'r>(request: &'r PageRequest, caption: &'r str, rows: &'r [Beleg]) -> Table<'r, Beleg> {
    linked(caption, "", rows, |beleg| request.page_of("belege", beleg.id))
        .text("Nummer", |beleg| beleg.beleg_nummer.clone())
        .text("Datum", |beleg| beleg.datum().german())
        .text("Partner", |beleg| beleg.kunden_name.clone())
}

/// Kilograms in and out in each hour of a day.
type Weighed = [(i64, i64); 24];

fn day(db: &Snapshot<'_>, day: Day) -> Result<Weighed> {
    let auswahl = Auswahl { status: Some("fertig"), von: Some(day), bis: Some(day), ..Auswahl::default() };
    let page = Page { limit: Some(WEIGHINGS_OF_DAY_MAX), offset: 0 };
    let found: Records<Wiegung> = waage::list(&db.tx, &auswahl, page)?;
    let mut hours = [(0, 0); 24];
    for wiegung in found.rows {
        let Some(hour) = hours.get_mut((wiegung.ts_erst.minute_in_berlin() / 60) as usize) else { continue };
        // Whole kilograms suffice for a chart.
        let kilograms = wiegung.gewicht_netto_kg.unwrap_or_default().units() / Quantity::whole(1).units();
        match wiegung.richtung {
            Some(Richtung::Eingang) => hour.0 += kilograms,
            _ => hour.1 += kilograms,
        }
    }
    Ok(hours)
}

fn tonnes(kilograms: i64) -> String {
    tenths((kilograms.unsigned_abs() + 50) / 100)
}

/// A chart of the tonnes in each hour beside those of the same weekday a week ago.
fn picture(now: &Weighed, then: &Weighed) -> Markup {
    let [now, then] = [now, then].map(|day| day.map(|(into, out)| into + out));
    let most = now.iter().chain(&then).copied().max().unwrap_or(0);
    let pair = |(hour, (now, then)): (usize, (&i64, &i64))| BarPair {
        label: hour.to_string(),
        says: format!("{hour} Uhr: {} t, vor einer Woche {} t", tonnes(*now), tonnes(*then)),
        left: *then,
        right: *now,
    };
    let pairs: Vec<_> = now.iter().zip(&then).enumerate().map(pair).collect();
    let words = BarWords {
        title: "Gewogene Tonnen je Stunde, heute und vor einer Woche",
        classes: ["then", "now"],
        caption: format!(
            "Tonnen je Stunde, heute (grün) und vor einer Woche (grau). Höchster Balken: {} t.",
            tonnes(most)
        ),
        empty: "Heute und vor einer Woche ist nichts gewogen worden. Das Bild füllt sich mit der ersten \
         fertigen Wiegung.",
    };
    bars(&pairs, &words)
}

/// Goods receipts and documents of today, with their sums.
fn of_today(db: &Snapshot<'_>, today: Day) -> Result<Vec<(String, String)>> {
    let of_day = annahmescheine::Auswahl { von: Some(today), bis: Some(today), ..Default::default() };
    let receipts = annahmescheine::sums(&db.tx, &of_day)?;
    let mut tiles = Vec::new();
    if receipts.count > 0 {
        let name = format!("Annahmescheine ({}), netto kg", number(receipts.count));
        tiles.push((name, amount(receipts.netto_menge_kg)));
    }
    let documents = belege::of_day(&db.tx, today, DOCUMENTS_OF_DAY_MAX + 1)?;
    if documents.iter().map(|(_, count, _)| count).sum::<i64>() > DOCUMENTS_OF_DAY_MAX {
        tiles.push(("Belege".to_owned(), format!("mehr als {}", number(DOCUMENTS_OF_DAY_MAX))));
        return Ok(tiles);
    }
    for (typ, count, netto) in documents {
        tiles.push((format!("{} ({}), netto EUR", typ.bezeichnung(), number(count)), number(netto)));
    }
    Ok(tiles)
}
