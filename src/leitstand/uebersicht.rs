//! The first page of a company: what needs a hand, today in tonnes, open weighings, documents, errors of partners.

use maud::{Markup, html};

use super::bars::{Pair, Words, bars};
use super::page::{Ask, Seen, encoded};
use super::parts::{Cells, Column, day_text, moment, number, table, text};
use super::{frame, rat, wiegungen, zustand};
use crate::app::description::meaning_of;
use crate::failure::Result;
use crate::gate::audit::{Filter, Found, Who, find, part};
use crate::gate::key;
use crate::http::reply::Reply;
use crate::rules::choice::Choice;
use crate::rules::day::{Day, Instant};
use crate::rules::document::BelegTyp;

/// Weighings of a day that are looked at, and errors that are shown, at most.
const WEIGHINGS: i64 = 5_000;
const ERRORS: usize = 8;

/// Rows of the log among which they are looked for: this page is open all day.
const LOOKED_AT: i64 = 10_000;

/// GET /leitstand/f/{firma}
pub fn show(ask: &Ask, seen: &Seen<'_>) -> Result<Reply> {
    let today = seen.tx.today();
    let (now, then) = (day(ask, seen, today)?, day(ask, seen, Day::of_number(today.number() - 7))?);
    let Errors { rows: errors, since } = errors_of(ask, seen)?;
    let keys = key::of_tenant(seen.connection, ask.firma_id(), ask.now)?;
    let keeps_house = ask.person.as_ref().is_some_and(|person| person.keeps_house());
    let upkeep = keeps_house.then(|| ask.house.lookout.last()).flatten();
    let sorgen = zustand::sorgen(ask, seen, &keys, upkeep.as_ref())?;
    let body = html! {
        @if !sorgen.is_empty() { h2 { "Zu erledigen" } (zustand::shown(&sorgen)) }
        @if let Some(steps) = zustand::first_steps(ask, seen, &keys)? { (steps) }
        @if !errors.is_empty() || since.is_some() {
            h2 { "Abgelehnte Anfragen" }
            (table("Abgelehnte Anfragen von heute und gestern, die neuesten zuerst", &ERROR, &errors, "Bis dahin keine gefunden."))
            p {
                @if let Some(since) = since { "Es kommen so viele Anfragen, dass hier nur bis zurück zum " (moment(since)) " gesucht wurde. " }
                a href=(ask.of_firma("protokoll?wer=programme&ergebnis=abgelehnt")) { "Alle abgelehnten Anfragen im Protokoll" }
            }
        }
        h2 { "Heute, " (day_text(today)) }
        div.tiles {
            div.tile { "Herein (t)" strong { (tonnes(now.sum_in())) } }
            div.tile { "Hinaus (t)" strong { (tonnes(now.sum_out())) } }
            @for (typ, count) in documents(ask, seen, today)? { div.tile { "Belege: " (typ) strong { (count) } } }
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

/// Kilograms of a day, by hour: in and out.
struct Weighed([(i64, i64); 24]);

impl Weighed {
    fn sum_in(&self) -> i64 {
        self.0.iter().map(|hour| hour.0).sum()
    }

    fn sum_out(&self) -> i64 {
        self.0.iter().map(|hour| hour.1).sum()
    }
}

/// What was weighed on a day.
fn day(ask: &Ask, seen: &Seen<'_>, day: Day) -> Result<Weighed> {
    let path = format!("/api/v1/wiegungen?status=fertig&von={day}&bis={day}&limit={WEIGHINGS}");
    let found = ask.get(seen, &path)?;
    let mut hours = [(0, 0); 24];
    for weighing in found.as_array().into_iter().flatten() {
        let minute = Instant::parse(text(weighing, "ts_erst")).map_or(0, Instant::minute_in_berlin);
        let Some(hour) = hours.get_mut((minute / 60) as usize) else { continue };
        // Whole kilograms suffice for a picture.
        let kilograms = weighing["gewicht_netto_kg"].as_str().unwrap_or("0").split('.').next();
        let kilograms = kilograms.and_then(|text| text.parse::<i64>().ok()).unwrap_or(0);
        match text(weighing, "richtung") {
            "eingang" => hour.0 += kilograms,
            _ => hour.1 += kilograms,
        }
    }
    Ok(Weighed(hours))
}

/// Kilograms as tonnes with one place.
fn tonnes(kilograms: i64) -> String {
    let tenths = (kilograms + 50) / 100;
    number(&format!("{}.{}", tenths / 10, tenths % 10))
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

/// How many documents of each type have today's date.
fn documents(ask: &Ask, seen: &Seen<'_>, today: Day) -> Result<Vec<(&'static str, String)>> {
    let mut found = Vec::new();
    for typ in BelegTyp::ALL {
        let path = format!("/api/v1/belege?typ={}&von={today}&bis={today}&limit=1", typ.as_str());
        let count = ask.get(seen, &path)?["count"].as_i64().unwrap_or(0);
        if count > 0 {
            found.push((typ.bezeichnung(), number(&count.to_string())));
        }
    }
    Ok(found)
}

const ERROR: [Column; 5] = [
    Column("Wann", false),
    Column("Schlüssel", false),
    Column("Anfrage", false),
    Column("Warum abgelehnt", false),
    Column("Was tun", false),
];

/// Requests of keys that were refused or failed.
struct Errors {
    /// The newest of them; each leads to its like in the log.
    rows: Vec<Cells>,
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
    let row = |found: Found| {
        let entry = found.entry;
        let code = entry.code.unwrap_or_default();
        let (why, key_id) = (meaning_of(&code), entry.key_id.unwrap_or_default());
        let to =
            ask.of_firma(&format!("protokoll?wer=schluessel-{}&code={}", encoded(&key_id), encoded(&code)));
        let key = entry.key_label.unwrap_or(key_id);
        let what = format!("{} {}", entry.method, entry.path);
        let why = format!("{code}: {why}");
        Cells(to, vec![moment(entry.at), key, what, why, rat::of(&code).to_owned()])
    };
    let found = part(seen.connection, &filter, None, ERRORS)?;
    // A full list ends with the last row that is shown.
    let next = found.next.filter(|_| found.rows.len() < ERRORS);
    let last = next.map(|place| find(seen.connection, place, None)).transpose()?.flatten();
    let since = last.map(|entry| entry.at).filter(|at| *at > yesterday);
    Ok(Errors { rows: found.rows.into_iter().map(row).collect(), since })
}

/// GET /leitstand/f/{firma}/neues?seit=…: answered by the server once the company has changed.
pub fn news(_: &Ask, _: &Seen<'_>) -> Result<Reply> {
    Ok(Reply::default())
}
