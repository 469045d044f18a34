//! The first page of a company: what needs a hand, today in tonnes, open weighings, documents, errors of partners.

use maud::{Markup, Render, html};

use super::bars::{Pair, Words, bars};
use super::page::{Ask, Seen, encoded};
use super::parts::{linked, moment, number, or_blank};
use super::{frame, rat, wiegungen, zustand};
use crate::app::description::meaning_of;
use crate::belege;
use crate::db::list::Page;
use crate::failure::Result;
use crate::gate::audit::{Entry, Filter, Who, find, part};
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
const WEIGHINGS: u32 = 5_000;
const ERRORS: usize = 8;

/// Rows of the log among which they are looked for: this page is open all day.
const LOOKED_AT: i64 = 10_000;

pub fn show(ask: &Ask, seen: &Seen<'_>) -> Result<Reply> {
    let today = seen.tx.today();
    let (now, then) = (day(seen, today)?, day(seen, Day::of_number(today.number() - 7))?);
    let Errors { rows: errors, since } = errors_of(ask, seen)?;
    let keys = key::of_tenant(seen.connection, ask.firma_id(), ask.now)?;
    let upkeep = ask.keeps_house().then(|| ask.house.lookout.last()).flatten();
    let sorgen = zustand::sorgen(ask, seen, &keys, upkeep.as_ref())?;
    let body = html! {
        @if !sorgen.is_empty() { h2 { "Zu erledigen" } (zustand::shown(&sorgen)) }
        @if let Some(steps) = zustand::first_steps(ask, seen, &keys)? { (steps) }
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
            div.tile { "Herein (t)" strong { (tonnes(now.sum_in())) } }
            div.tile { "Hinaus (t)" strong { (tonnes(now.sum_out())) } }
            @for (typ, count) in documents(seen, today)? { div.tile { "Belege: " (typ) strong { (count) } } }
        }
        (picture(&now, &then))
        h2 { "Offene Wiegungen" }
        (wiegungen::open(ask, seen)?)
        @match &upkeep {
            Some(upkeep) => (zustand::house_in_words(upkeep, ask.now)),
            None => p { small { (zustand::VERSION) } },
        }
    };
    frame::live_page(ask, seen, "Übersicht", body)
}

struct Weighed([(i64, i64); 24]);

impl Weighed {
    fn sum_in(&self) -> i64 {
        self.0.iter().map(|hour| hour.0).sum()
    }

    fn sum_out(&self) -> i64 {
        self.0.iter().map(|hour| hour.1).sum()
    }
}

fn day(seen: &Seen<'_>, day: Day) -> Result<Weighed> {
    let auswahl = Auswahl { status: Some("fertig"), von: Some(day), bis: Some(day), ..Auswahl::default() };
    let page = Page { limit: Some(WEIGHINGS), offset: 0 };
    let found: Records<Wiegung> = waage::list(&seen.tx, &auswahl, page)?;
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
    Ok(Weighed(hours))
}

fn tonnes(kilograms: i64) -> String {
    let tenths = (kilograms + 50) / 100;
    number(format!("{}.{}", tenths / 10, tenths % 10))
}

/// Tonnes of each hour beside those of the same weekday before.
fn picture(now: &Weighed, then: &Weighed) -> Markup {
    let all = |day: &Weighed| day.0.map(|(into, out)| into + out);
    let (now, then) = (all(now), all(then));
    let most = now.iter().chain(&then).copied().max().unwrap_or(0);
    let pair = |(hour, (now, then)): (usize, (&i64, &i64))| Pair {
        label: hour.to_string(),
        says: format!("{hour} Uhr: {} t, vor einer Woche {} t", tonnes(*now), tonnes(*then)),
        left: *then,
        right: *now,
    };
    let pairs: Vec<_> = now.iter().zip(&then).enumerate().map(pair).collect();
    let words = Words {
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

fn documents(seen: &Seen<'_>, today: Day) -> Result<Vec<(&'static str, String)>> {
    let mut found = Vec::new();
    for typ in BelegTyp::ALL {
        let typen = vec![typ.as_str()];
        let auswahl =
            belege::Auswahl { typen, von: Some(today), bis: Some(today), ..belege::Auswahl::default() };
        let count = belege::count(&seen.tx, &auswahl)?;
        if count > 0 {
            found.push((typ.bezeichnung(), number(count)));
        }
    }
    Ok(found)
}

struct Errors {
    rows: Vec<Entry>,
    /// How far back they were looked for, where that is not the whole of today and yesterday.
    since: Option<Instant>,
}

fn errors_of(ask: &Ask, seen: &Seen<'_>) -> Result<Errors> {
    let yesterday = Day::of_number(Day::in_berlin(ask.now).number() - 1).begin_in_berlin();
    let filter = Filter {
        tenant_id: ask.firma.as_ref().map(|firma| firma.id),
        who: Some(Who::Keys),
        status_from: Some(400),
        from: Some(yesterday),
        looked_at: Some(LOOKED_AT),
        ..Filter::default()
    };
    let found = part(seen.connection, &filter, None, ERRORS)?;
    // A full list ends with the last row that is shown.
    let next = found.next.filter(|_| found.rows.len() < ERRORS);
    let last = next.map(|place| find(seen.connection, place, None)).transpose()?.flatten();
    let since = last.map(|entry| entry.at).filter(|at| *at > yesterday);
    Ok(Errors { rows: found.rows, since })
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
        .text("Schlüssel", |entry| {
            or_blank(if entry.key_label.is_some() { &entry.key_label } else { &entry.key_id })
        })
        .text("Anfrage", |entry| format!("{} {}", entry.method, entry.path))
        .text("Warum abgelehnt", |entry| format!("{}: {}", code(entry), meaning_of(&code(entry))))
        .text("Was tun", |entry| rat::of(&code(entry)).to_owned())
        .render()
}

/// Answered by the server once the company has changed.
pub fn news(_: &Ask, _: &Seen<'_>) -> Result<Reply> {
    Ok(Reply::default())
}
