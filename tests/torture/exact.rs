//! P19: a number sent by a client comes back from the database exact to the last digit.
//!
//! Each is read from JSON like a field of a body, written to a table of SQLite, read back and written as
//! JSON; the expected value is computed from its text alone ([`exactly`]).

use partnerd::platform::http::json::Json;
use partnerd::platform::http::wire::{At, FromJson};
use partnerd::rules::error::Hints;
use partnerd::rules::fixed::{Fixed, Money, Percent, Price, Quantity};
use rusqlite::{Connection, params};

use crate::dice::Dice;
use crate::exactly::{self, Exact, exact};
use crate::experiment::{Case, Experiment};

/// Numbers per seed.
const NUMBERS: u64 = 10_000;

pub const EXPERIMENT: Experiment = Experiment {
    promise: "P19",
    what: "random decimals from JSON to the database to JSON",
    needs: &[],
    seeds: 10,
    case: numbers,
    fault: "one value in a thousand loses its last digit in the database",
    control_seeds: 1,
};

fn numbers(case: &mut Case) -> Result<u64, String> {
    let database = Connection::open_in_memory().unwrap();
    database.execute_batch("create table zahl (nr integer primary key, wert integer) strict; begin").unwrap();
    for nr in 0..NUMBERS {
        let text = number(&mut case.dice);
        let loses = case.has_fault && case.dice.once_in(1_000);
        let trial = Trial { database: &database, nr, text: &text, loses };
        match case.dice.below(4) {
            0 => trial.runs::<2, 2>(Money::from_json),
            1 => trial.runs::<6, 3>(Quantity::from_json),
            2 => trial.runs::<6, 4>(Price::from_json),
            _ => trial.runs::<6, 2>(Percent::from_json),
        }
        .map_err(|wrong| format!("{text}: {wrong}"))?;
    }
    Ok(NUMBERS)
}

struct Trial<'t> {
    database: &'t Connection,
    nr: u64,
    text: &'t str,
    /// Whether the database loses one of its digits.
    loses: bool,
}

type Reads<F> = fn(&Json<'_>, &mut At<'_>) -> Result<F, Box<partnerd::rules::error::Refusal>>;

impl Trial<'_> {
    /// Sends it as a number or as a text; returns what comes back, and whether the client was told about rounding.
    fn runs<const SCALE: u32, const SHOWN: usize>(
        &self,
        read: Reads<Fixed<SCALE, SHOWN>>,
    ) -> Result<(), String> {
        let body = if self.nr.is_multiple_of(2) { self.text.to_owned() } else { format!("{:?}", self.text) };
        let json = Json::parse(body.as_bytes())?;
        let mut hints = Hints::default();
        let value = read(&json, &mut At::top(&mut hints, true));
        let is_percent = SCALE == 6 && SHOWN == 2;
        let expected = match exact(self.text, SCALE) {
            Exact::Units(units, rounded) if !is_percent || (0..=100_000_000).contains(&units) => {
                Some((exactly::shown(units, SCALE, SHOWN as u32), rounded))
            }
            _ => None,
        };
        let found = match value {
            Ok(value) => Some((self.stored(value)?, hints.iter().next().is_some())),
            Err(_) => None,
        };
        if found == expected { Ok(()) } else { Err(format!("{found:?} instead of {expected:?}")) }
    }

    /// The value in an answer after it was stored.
    fn stored<const SCALE: u32, const SHOWN: usize>(
        &self,
        value: Fixed<SCALE, SHOWN>,
    ) -> Result<String, String> {
        let failed = |error: rusqlite::Error| error.to_string();
        let nr = self.nr as i64;
        self.database.execute("insert into zahl values (?1, ?2)", params![nr, value]).map_err(failed)?;
        if self.loses {
            self.database
                .execute("update zahl set wert = wert / 10 * 10 where nr = ?1", [nr])
                .map_err(failed)?;
        }
        let read = "select wert from zahl where nr = ?1";
        let value: Fixed<SCALE, SHOWN> =
            self.database.query_row(read, [nr], |row| row.get(0)).map_err(failed)?;
        let answer = serde_json::to_string(&value).map_err(|error| error.to_string())?;
        serde_json::from_str(&answer).map_err(|error| error.to_string())
    }
}

/// A number in JSON's grammar: near a limit, near a half, long, short, with and without an exponent.
fn number(dice: &mut Dice) -> String {
    let sign = if dice.once_in(4) { "-" } else { "" };
    let length = dice.below(14);
    let whole = digits(dice, length);
    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    let fraction = match dice.below(8) {
        0 => String::new(),
        // Just below, at and above half of the last decimal, and typical errors of floats.
        1 => digits(dice, 2) + "5",
        2 => digits(dice, 6) + "5",
        3 => digits(dice, 2) + &"9".repeat(1 + dice.below(12)),
        4 => digits(dice, 6) + "4" + &"9".repeat(1 + dice.below(30)),
        5 => digits(dice, 6) + &"0".repeat(1 + dice.below(8)) + "1",
        _ => {
            let length = dice.below(25);
            digits(dice, length)
        }
    };
    let point = if fraction.is_empty() { "" } else { "." };
    let exponent = match dice.below(6) {
        0 => format!("{}{}{}", ["e", "E"][dice.below(2)], ["", "+", "-"][dice.below(3)], dice.below(15)),
        _ => String::new(),
    };
    format!("{sign}{whole}{point}{fraction}{exponent}")
}

fn digits(dice: &mut Dice, count: usize) -> String {
    (0..count).map(|_| char::from(b'0' + dice.below(10) as u8)).collect()
}
