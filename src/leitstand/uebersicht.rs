//! The first page of a company: what needs a hand, today in tonnes, open weighings, documents, errors of partners.

use maud::{Markup, html};

use super::page::{Ask, Seen};
use super::parts::{Cells, Column, day_text, moment, number, table, text};
use super::{frame, wiegungen, zustand};
use crate::failure::Result;
use crate::gate::audit::{Entry, Selection, entries};
use crate::http::reply::Reply;
use crate::rules::choice::Choice;
use crate::rules::day::{Day, Instant};
use crate::rules::document::BelegTyp;

/// Weighings of a day that are looked at, and errors that are shown, at most.
const WEIGHINGS: i64 = 5_000;
const ERRORS: i64 = 8;

/// GET /leitstand/f/{firma}
pub fn show(ask: &Ask, seen: &Seen<'_>) -> Result<Reply> {
    let today = seen.tx.today();
    let (now, then) = (day(ask, seen, today)?, day(ask, seen, Day::of_number(today.number() - 7))?);
    let errors = errors_of(ask, seen)?;
    let sorgen = zustand::sorgen(ask, seen)?;
    let body = html! {
        @if !sorgen.is_empty() { h2 { "Braucht jemanden" } (zustand::shown(&sorgen)) }
        @if let Some(steps) = zustand::first_steps(ask, seen)? { (steps) }
        @if !errors.is_empty() {
            h2 { "Abgelehnte Anfragen" }
            (table("Abgelehnte Anfragen von heute und gestern, die neuesten zuerst", &ERROR, &errors, ""))
        }
        h2 { "Heute, " (day_text(today)) }
        div.tiles {
            div.tile { "Herein (t)" strong { (tonnes(now.sum_in())) } }
            div.tile { "Hinaus (t)" strong { (tonnes(now.sum_out())) } }
            @for (typ, count) in documents(ask, seen, today)? { div.tile { "Belege " (typ) strong { (count) } } }
        }
        (bars(&now, &then))
        h2 { "Offene Wiegungen" }
        (wiegungen::open(ask, seen)?)
        p { small { "partnerd " (env!("CARGO_PKG_VERSION")) } }
    };
    Ok(frame::page(ask, "Übersicht", body))
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

/// Tonnes of each hour beside those of the same weekday before, as a picture with its words.
fn bars(now: &Weighed, then: &Weighed) -> Markup {
    let all = |day: &Weighed| day.0.map(|(into, out)| into + out);
    let (now, then) = (all(now), all(then));
    let most = now.iter().chain(&then).copied().max().unwrap_or(0).max(1);
    let height = |kilograms: i64| kilograms * 100 / most;
    if now.iter().chain(&then).all(|kilograms| *kilograms == 0) {
        return html! { p.empty { "Heute und vor einer Woche ist nichts gewogen worden. Das Bild füllt sich mit der ersten fertigen Wiegung." } };
    }
    html! {
        figure {
            svg viewBox="0 0 768 140" width="768" height="140" role="img" aria-label="Gewogene Tonnen je Stunde, heute und vor einer Woche" {
                @for hour in 0..24_usize { @let x = hour * 32;
                    rect.then x=(x) y=(110 - height(then[hour])) width="13" height=(height(then[hour])) {}
                    rect.now x=(x + 14) y=(110 - height(now[hour])) width="13" height=(height(now[hour])) {}
                    text x=(x + 13) y="130" text-anchor="middle" { (hour) }
                }
            }
            figcaption { small { "Tonnen je Stunde, heute (grün) und vor einer Woche (grau). Höchster Balken: " (tonnes(most)) " t." } }
        }
    }
}

/// How many documents of each type have today's date.
fn documents(ask: &Ask, seen: &Seen<'_>, today: Day) -> Result<Vec<(&'static str, String)>> {
    let mut found = Vec::new();
    for typ in BelegTyp::ALL {
        let path = format!("/api/v1/belege?typ={}&von={today}&bis={today}&limit=1", typ.as_str());
        let count = ask.get(seen, &path)?["count"].as_i64().unwrap_or(0);
        if count > 0 {
            found.push((typ.as_str(), number(&count.to_string())));
        }
    }
    Ok(found)
}

const ERROR: [Column; 4] = [
    Column("Wann", false),
    Column("Schlüssel", false),
    Column("Anfrage", false),
    Column("Warum abgelehnt", false),
];

/// The last requests of keys of this company that were refused or failed.
fn errors_of(ask: &Ask, seen: &Seen<'_>) -> Result<Vec<Cells>> {
    let since = Day::of_number(Day::in_utc(ask.now).number() - 1);
    let tenant_id = ask.firma.as_ref().map(|firma| firma.id);
    let selection =
        Selection { tenant_id, since: Some(since), limit: Some(WEIGHINGS), ..Selection::default() };
    let mut rows = Vec::new();
    let mut keep = |entry: Entry| {
        if entry.status >= 400 && entry.key_id.is_some() && (rows.len() as i64) < ERRORS {
            let code = entry.code.unwrap_or_default();
            let why = (ask.house.meaning)(&code);
            let key = entry.key_label.or(entry.key_id).unwrap_or_default();
            let what = format!("{} {}", entry.method, entry.path);
            rows.push(Cells(String::new(), vec![moment(entry.at), key, what, format!("{code}: {why}")]));
        }
        Ok(())
    };
    // What is shown never complains.
    let _ = entries(seen.connection, &selection, &mut keep)?;
    Ok(rows)
}
