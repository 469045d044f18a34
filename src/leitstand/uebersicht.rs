//! The first page of a company: what needs a hand, today in tonnes, open weighings, documents, errors of partners.

use maud::{Markup, Render, html};

use super::bars::{BarPair, BarWords, bars};
use super::page::{Ask, Snapshot, encoded};
use super::parts::{Table, linked, moment, number, or_blank, tenths};
use super::{frame, rat, wiegungen, zustand};
use crate::app::description::meaning_of;
use crate::belege::{self, Beleg};
use crate::db::list::Page;
use crate::failure::Result;
use crate::gate::audit::{Entry, Filter, Who, find, log_page};
use crate::gate::key;
use crate::http::reply::Reply;
use crate::listing::Records;
use crate::rules::choice::Choice;
use crate::rules::day::{Day, Instant};
use crate::rules::document::BelegTyp;
use crate::rules::fixed::Quantity;
use crate::rules::weighing::Richtung;
use crate::waage::{self, Auswahl, Wiegung};

/// Weighings of a day that are looked at, and errors that are shown, at most.
const WEIGHINGS_OF_DAY_MAX: u32 = 5_000;
const ERRORS_SHOWN_MAX: usize = 8;
const DOCUMENTS_SHOWN_MAX: u32 = 20;

/// Rows of the log among which they are looked for: this page is open all day.
const LOG_ROWS_LOOKED_AT: i64 = 10_000;

pub fn show(ask: &Ask, db: &Snapshot<'_>) -> Result<Reply> {
    let today = db.tx.today();
    let (now, then) = (day(db, today)?, day(db, Day::of_number(today.number() - 7))?);
    let (errors, since) = errors_of(ask, db)?;
    let keys = key::of_tenant(db.connection, ask.firma_id(), ask.now)?;
    let upkeep = ask.keeps_house().then(|| ask.house.lookout.last()).flatten();
    let sorgen = zustand::sorgen(ask, db, &keys, upkeep.as_ref())?;
    let body = html! {
        @if !sorgen.is_empty() { h2 { "Zu erledigen" } (zustand::shown(&sorgen)) }
        (without_erechnung(ask, db)?)
        (waiting(ask, db)?)
        @if let Some(steps) = zustand::first_steps(ask, db, &keys)? { (steps) }
        @if !errors.is_empty() || since.is_some() {
            h2 { "Abgelehnte Anfragen" }
            (errors_table(ask, &errors))
            p {
                @if let Some(since) = since { "Es kommen so viele Anfragen, dass hier nur bis zurück zum " (moment(since)) " gesucht wurde. " }
                a href=(ask.of_firma("protokoll?wer=programme&ergebnis=abgelehnt")) { "Alle abgelehnten Anfragen im Protokoll" }
            }
        }
        h2 { "Heute, " (today.german()) }
        div.tiles {
            div.tile { "Herein (t)" strong { (tonnes(now.iter().map(|(into, _)| into).sum())) } }
            div.tile { "Hinaus (t)" strong { (tonnes(now.iter().map(|(_, out)| out).sum())) } }
            @for (typ, count) in documents(db, today)? { div.tile { "Belege: " (typ) strong { (count) } } }
        }
        (picture(&now, &then))
        h2 { "Offene Wiegungen" }
        (wiegungen::open(ask, db)?)
        @match &upkeep {
            Some(upkeep) => (zustand::house_in_words(upkeep, ask.now)),
            None => p { small { (zustand::VERSION) } },
        }
    };
    frame::live_page(ask, db, "Übersicht", body)
}

/// Documents that became final without the e-invoice that they should have had: nobody was told at the end of a day (D4).
fn without_erechnung(ask: &Ask, db: &Snapshot<'_>) -> Result<Markup> {
    let auswahl = belege::Auswahl { ohne_erechnung: true, ..belege::Auswahl::default() };
    let found = newest(db, &auswahl)?;
    let table = documents_of(ask, "Belege ohne E-Rechnung, der neueste zuerst", &found.rows)
        .text("Was fehlte", |beleg| beleg.erechnung_fehlt.as_deref().unwrap_or_default().join("; "));
    Ok(html! {
        @if found.count > 0 {
            h2 { "Ohne E-Rechnung abgeschlossen" }
            p { "Diese " (number(found.count)) " Belege brauchten eine E-Rechnung und haben keine. Bitte ergänzen, was fehlte, \
                 den Beleg stornieren und neu schreiben. Was anders geregelt ist, verschwindet hier, sobald es erledigt ist." }
            (table.render())
        }
    })
}

/// Gutschriften that the end of their day left open, so that somebody looks at them (D4).
fn waiting(ask: &Ask, db: &Snapshot<'_>) -> Result<Markup> {
    let Some(auswahl) = belege::waiting(&db.tx)? else { return Ok(html! {}) };
    let found = newest(db, &auswahl)?;
    Ok(html! {
        @if found.count > 0 {
            h2 { "Gutschriften zu prüfen" }
            p { "Diese " (number(found.count)) " Gutschriften an Lieferanten sind am Ende ihres Tages offen geblieben. Bitte \
                 Vereinbarung, Steuer und Angaben für die E-Rechnung prüfen und sie dann abschließen." }
            (documents_of(ask, "Offene Gutschriften, die neueste zuerst", &found.rows).render())
        }
    })
}

fn newest(db: &Snapshot<'_>, auswahl: &belege::Auswahl<'_>) -> Result<Records<Beleg>> {
    belege::list(&db.tx, auswahl, Page { limit: Some(DOCUMENTS_SHOWN_MAX), offset: 0 })
}

fn documents_of<'r>(ask: &'r Ask, caption: &'r str, rows: &'r [Beleg]) -> Table<'r, Beleg> {
    linked(caption, "", rows, |beleg| ask.page_of("belege", beleg.id))
        .text("Nummer", |beleg| beleg.beleg_nummer.clone())
        .text("Datum", |beleg| beleg.datum().german())
        .text("Partner", |beleg| beleg.kunden_name.clone())
}

/// Kilograms that came in and went out in each hour of a day.
type Weighed = [(i64, i64); 24];

fn day(db: &Snapshot<'_>, day: Day) -> Result<Weighed> {
    let auswahl = Auswahl { status: Some("fertig"), von: Some(day), bis: Some(day), ..Auswahl::default() };
    let page = Page { limit: Some(WEIGHINGS_OF_DAY_MAX), offset: 0 };
    let found: Records<Wiegung> = waage::list(&db.tx, &auswahl, page)?;
    let mut hours = [(0, 0); 24];
    for wiegung in found.rows {
        let Some(hour) = hours.get_mut((wiegung.ts_erst.minute_in_berlin() / 60) as usize) else { continue };
        // Whole kilograms suffice for a picture.
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

/// Tonnes of each hour beside those of the same weekday before.
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
        empty: "Heute und vor einer Woche ist nichts gewogen worden. Das Bild füllt sich mit der ersten fertigen Wiegung.",
    };
    bars(&pairs, &words)
}

fn documents(db: &Snapshot<'_>, today: Day) -> Result<Vec<(&'static str, String)>> {
    let counted = |typ: &BelegTyp| {
        let (typen, today) = (vec![typ.as_str()], Some(today));
        let auswahl = belege::Auswahl { typen, von: today, bis: today, ..belege::Auswahl::default() };
        let count = belege::count(&db.tx, &auswahl)?;
        Ok((count > 0).then(|| (typ.bezeichnung(), number(count))))
    };
    BelegTyp::ALL.iter().filter_map(|typ| counted(typ).transpose()).collect()
}

/// Refused requests of today and yesterday, and how far back they were looked for where that is not all of both; of whom
/// the log is not for, none.
fn errors_of(ask: &Ask, db: &Snapshot<'_>) -> Result<(Vec<Entry>, Option<Instant>)> {
    if !ask.sees_management() {
        return Ok(Default::default());
    }
    let yesterday = Day::of_number(Day::in_berlin(ask.now).number() - 1).begin_in_berlin();
    let filter = Filter {
        tenant_id: ask.tenant_id(),
        who: Some(Who::Keys),
        status_from: Some(400),
        from: Some(yesterday),
        looked_at: Some(LOG_ROWS_LOOKED_AT),
        ..Filter::default()
    };
    let found = log_page(db.connection, &filter, None, ERRORS_SHOWN_MAX)?;
    // A full list ends with the last row that is shown.
    let next = found.next.filter(|_| found.rows.len() < ERRORS_SHOWN_MAX);
    let last = next.map(|place| find(db.connection, place, None)).transpose()?.flatten();
    let since = last.map(|entry| entry.at).filter(|at| *at > yesterday);
    Ok((found.rows, since))
}

/// Each of them leads to its like in the log.
fn errors_table(ask: &Ask, errors: &[Entry]) -> Markup {
    let code = |entry: &Entry| or_blank(&entry.code);
    let to = |entry: &Entry| {
        let (key, code) = (or_blank(&entry.key_id), code(entry));
        ask.of_firma(&format!("protokoll?wer=schluessel-{}&code={}", encoded(&key), encoded(&code)))
    };
    let caption = "Abgelehnte Anfragen von heute und gestern, die neuesten zuerst";
    linked(caption, "Bis dahin keine gefunden.", errors, to)
        .text("Wann", |entry| moment(entry.at))
        .text("Schlüssel", |entry| entry.key_label.clone().or(entry.key_id.clone()).unwrap_or_default())
        .text("Anfrage", |entry| format!("{} {}", entry.method, entry.path))
        .text("Warum abgelehnt", |entry| format!("{}: {}", code(entry), meaning_of(&code(entry))))
        .text("Was tun", |entry| rat::of(&code(entry)).to_owned())
        .render()
}
