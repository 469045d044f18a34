//! P20: a day is a day in Berlin, on every day from 2015 to 2040 and whatever time zone the machine has.
//!
//! A trial is a question to the program's own functions: the day of an instant, the beginning of a day, a
//! date some days or months later, the instant at which a clock in Berlin showed a time. The expected answer
//! is computed here only from calendar days and the EU's rule (`calendar.rs`), without the library that the
//! program uses. Each seed goes through all days, with other instants on each.
//!
//! The same seed asks the executable with an odd setting of TZ, without time zones on the disk: the cash days
//! of imported receipts, and the default day of a document.

mod calendar;

use partnerd::rules::day::{Day, Instant};
use serde_json::json;

use crate::dice::Dice;
use crate::experiment::{Case, Experiment};
use crate::mills::{Mills, done};
use crate::process::Running;
use calendar::{Berlin, Civil};

pub const EXPERIMENT: Experiment = Experiment {
    promise: "P20",
    what: "instants and days of 2015 to 2040 against the calendar and the EU's rule; receipts under an odd TZ",
    needs: &[],
    seeds: 2,
    case,
    fault: "summer time is expected to begin and end at 02:00 UTC",
    control_seeds: 1,
};

const FIRST: Civil = Civil { year: 2015, month: 1, day: 1 };
const LAST: Civil = Civil { year: 2040, month: 12, day: 31 };

const DAY: i64 = 86_400_000;
const HOUR: i64 = 3_600_000;

/// Receipts imported in one seed.
const RECEIPTS: usize = 300;

const ZONES: &[&str] = &[
    "",
    "Pacific/Kiritimati",
    "Pacific/Pago_Pago",
    ":/nowhere",
    "CET-1CEST,M3.5.0/5,M10.5.0/5",
    "XXX+23:59",
    "\u{1}",
];

fn case(case: &mut Case) -> Result<u64, String> {
    let berlin = Berlin { change_hour: if case.has_fault { 2 } else { 1 } };
    let mut trials = 0;
    for number in FIRST.number()..=LAST.number() {
        trials += of_day(number, &berlin, &mut case.dice)?;
    }
    let zone = ZONES[case.dice.below(ZONES.len())];
    trials += under(zone, &berlin, &mut case.dice).map_err(|wrong| format!("TZ={zone:?}: {wrong}"))?;
    Ok(trials)
}

/// Compares a value with the expected one.
fn same<T: PartialEq + std::fmt::Debug>(what: &str, found: T, expected: T) -> Result<(), String> {
    match found == expected {
        true => Ok(()),
        false => Err(format!("{what}: {found:?}, must be {expected:?}")),
    }
}

/// Asks about one day; returns the number of questions.
fn of_day(number: i64, berlin: &Berlin, dice: &mut Dice) -> Result<u64, String> {
    let (day, civil) = (Day::of_number(number), Civil::of(number));
    let text = civil.to_string();
    same("the day with a number", day.to_string(), text.clone())?;
    same("its number", Day::parse(&text).map(Day::number), Some(number))?;
    same("as Germans write it", day.german(), format!("{:02}.{:02}.{}", civil.day, civil.month, civil.year))?;
    same("the day after", day.tomorrow().number(), number + 1)?;
    let days = dice.below(400) as i64;
    same("a due day", Day::of_number(day.number() + days).to_string(), Civil::of(number + days).to_string())?;
    let months = dice.below(60) as i32 - 30;
    same(
        "months later",
        day.plus_months(i64::from(months)).to_string(),
        civil.plus_months(months).to_string(),
    )?;
    let begin = berlin.instant(number * DAY);
    same(&format!("the beginning of {text}"), day.begin_in_berlin().millis(), begin)?;
    let mut instants = vec![begin - 1, begin, begin + 2 * HOUR - 1, begin + 2 * HOUR, begin + 3 * HOUR];
    instants.extend((0..3).map(|_| begin + dice.below(DAY as usize) as i64));
    for millis in instants {
        let (instant, local) = (Instant::from_millis(millis), berlin.local(millis));
        same(&format!("the day of {instant}"), Day::in_berlin(instant).number(), local.div_euclid(DAY))?;
        let minute = local.rem_euclid(DAY) / 60_000;
        same(&format!("the minute of {instant}"), i64::from(instant.minute_in_berlin()), minute)?;
    }
    let minute = dice.below(24 * 60) as i64;
    let clock = format!("{text}T{:02}:{:02}:00", minute / 60, minute % 60);
    let instant = Instant::parse_or_in_berlin(&clock).map(Instant::millis);
    same(&format!("{clock} in Berlin"), instant, Some(berlin.instant(number * DAY + minute * 60_000)))?;
    Ok(24)
}

/// Asks the executable with this time zone of the machine.
fn under(zone: &str, berlin: &Berlin, dice: &mut Dice) -> Result<u64, String> {
    let own = &Mills::get().own;
    let folder = Mills::get().copy();
    let days = (LAST.number() - FIRST.number()) as usize;
    let millis: Vec<i64> = (0..RECEIPTS)
        .map(|_| {
            berlin.instant((FIRST.number() + dice.below(days) as i64) * DAY)
                + dice.below(2 * 3_600) as i64 * 1_000
                - HOUR
        })
        .collect();
    let receipts = millis.iter().enumerate().map(|(nr, millis)| {
        let at = Instant::from_millis(*millis).to_string();
        json!({"bon_nr": format!("T{nr}"), "kassiert_at": at, "bezeichnung": "x", "menge": 1, "einzelpreis": 1,
            "mwst_satz": 7})
    });
    let file = folder.write("bons.json", &json!(receipts.collect::<Vec<_>>()).to_string());
    let odd = |arguments: &[&str]| {
        let mut command = folder.command(arguments);
        command.env("TZ", zone).env("TZDIR", "/nowhere");
        command
    };
    let output = odd(&["import", "barverkaeufe", &file, "--tenant", own.name]).output().unwrap();
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let database = folder.database();
    for (nr, millis) in millis.iter().enumerate() {
        let select = "select datum from bon where bon_nr = ?1";
        let found: String = database.query_row(select, [format!("T{nr}")], |row| row.get(0)).unwrap();
        let expected = Civil::of(berlin.local(*millis).div_euclid(DAY)).to_string();
        same(&format!("the cash day of {}", Instant::from_millis(*millis)), found, expected)?;
    }
    let server = Running::start(odd(&["serve", "--listen", "127.0.0.1:0"]));
    let client = server.client(&own.key);
    let today = || {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        Civil::of(berlin.local(now.as_millis() as i64).div_euclid(DAY)).to_string()
    };
    let before = today();
    let item = json!({"artikel_id": own.ids["artikel_ohne"], "menge": 1});
    let made = json!({"beleg_typ": "AN", "kunden_id": own.ids["kunde"], "items": [item]});
    let id = done(client.post("/api/v1/belege", &made))["id"].clone();
    let shown = done(client.get(&format!("/api/v1/belege/{}", id.as_str().unwrap())));
    let found = shown["beleg_datum"].as_str().unwrap_or_default();
    match found.get(..10).is_some_and(|day| day == before || day == today()) {
        true => Ok(millis.len() as u64 + 1),
        false => Err(format!("a document of today has the day {found}, must be {before}")),
    }
}
