//! P14: a record of another company is treated exactly like one that does not exist.
//!
//! A trial is a place of the interface that takes a value (in a path, a query, anywhere in a body, as the
//! executable describes it) and an id, a number or a name of a record of another company. The same request is
//! sent with this value, and to a second server on a copy of the database with an unused value of the same
//! shape, so that changes by one request do not affect the other. Both answers must be equal, byte for byte
//! with their headers, except for the value itself and what differs in every request; if something was
//! created, except for ids, numbers and instants. No answer may contain a text of the other company.
//!
//! A new route is tried as soon as it is described; one that takes a body requires an entry in `bodies.rs`.

mod bodies;
mod place;

use serde_json::Value;

use crate::described::operations;
use crate::experiment::{Case, Experiment};
use crate::mills::{CANARY, MARK, Mills};
use crate::wire::{Heard, Talk, request};
use place::Place;

pub use bodies::body;

pub const EXPERIMENT: Experiment = Experiment {
    promise: "P14",
    what: "places that take a value × values of another company: answered as if nobody had it, and no text of it shown",
    needs: &[],
    seeds: 3,
    case,
    fault: "one request in ten is sent with the key of the other company",
    control_seeds: 1,
};

/// Trials per seed.
const TRIALS: u64 = 300;

/// Headers that differ in every request.
const OWN_HEADERS: [&str; 5] = ["x-request-id", "date", "x-ratelimit", "content-length", "etag"];

fn case(case: &mut Case) -> Result<u64, String> {
    let mills = Mills::get();
    let folders = [mills.copy(), mills.copy()];
    let servers = folders
        .each_ref()
        .map(|folder| folder.serve(&["--config", &folder.write("torture.toml", "log_level = \"warn\"\n")]));
    let mut talks = servers.each_ref().map(Talk::with);
    let places: Vec<Place> =
        operations().iter().filter(|operation| operation.scope.is_some()).flat_map(Place::all).collect();
    let bearing: Vec<Place> = places.iter().filter(|place| place.is_named_like_an_id()).cloned().collect();
    // One stand-in for each value, so that a value stored by now in an own record is known to both servers,
    // or to neither.
    let values: Vec<(&str, &str, String)> =
        mills.other.ids.iter().map(|(kind, value)| (*kind, value.as_str(), unknown(value))).collect();
    let dice = &mut case.dice;
    for _ in 0..TRIALS {
        let from = if dice.once_in(2) { &places } else { &bearing };
        let place = &from[dice.below(from.len())];
        let (kind, value, nobodys) = &values[dice.below(values.len())];
        let is_foreign_key = case.has_fault && dice.once_in(10);
        let mut asked = |server: usize, value: &str, key: &str| -> Result<(Heard, String), String> {
            let (method, path, body) = place.request(&mills.own, value)?;
            let body = body.map(|body| body.to_string().into_bytes());
            let bytes = request(&method, &path, key, &[], body.as_deref());
            Ok((talks[server].ask(&method, &bytes)?, String::from_utf8_lossy(&bytes).into_owned()))
        };
        let (unknown, _) = asked(0, nobodys, &mills.own.key)?;
        let key = if is_foreign_key { &mills.other.key } else { &mills.own.key };
        let (heard, sent) = asked(1, value, key)?;
        alike(&unknown, nobodys, &heard, value)
            .map_err(|wrong| format!("{kind} of the other company at {}: {wrong}\n{sent}", place.named()))?;
    }
    Ok(TRIALS)
}

/// An unused value of the same shape and length.
fn unknown(value: &str) -> String {
    if uuid::Uuid::parse_str(value).is_ok() {
        return uuid::Uuid::now_v7().to_string();
    }
    value.replace(MARK, "KN8").replace("55501", "77701").replace("2019", "2018")
}

/// Checks that two answers are equal except for the value in the request, and that neither contains anything
/// of the other company.
fn alike(unknown: &Heard, nobodys: &str, heard: &Heard, value: &str) -> Result<(), String> {
    let shown = |heard: &Heard, value: &str| {
        let head = heard.head.lines().filter(|line| {
            let line = line.to_lowercase();
            !OWN_HEADERS.iter().any(|own| line.starts_with(own))
        });
        let text = heard.text().replace(value, "@");
        let request = heard.header("x-request-id").unwrap_or("-");
        let text = text.replace(request, "REQUEST");
        let text = if heard.status == 200 || heard.status == 201 { shape(&text) } else { text };
        format!("{}\n\n{text}", head.collect::<Vec<_>>().join("\n"))
    };
    let (expected, found) = (shown(unknown, nobodys), shown(heard, value));
    if expected != found {
        return Err(format!("it is told apart from one that nobody has:\n{expected}\n--\n{found}"));
    }
    match heard.text().to_lowercase().contains(&CANARY.to_lowercase()) {
        true => Err(format!("its text is shown: {}", heard.text())),
        false => Ok(()),
    }
}

/// Created records without the differences between the two: digits of ids, numbers and instants.
fn shape(text: &str) -> String {
    fn masked(value: &mut Value) {
        match value {
            Value::String(text) if text.contains(|letter: char| letter.is_ascii_digit()) => {
                *text = "#".to_owned()
            }
            Value::Number(_) => *value = Value::Null,
            Value::Array(values) => values.iter_mut().for_each(masked),
            Value::Object(fields) => fields.values_mut().for_each(masked),
            _ => {}
        }
    }
    match serde_json::from_str::<Value>(text) {
        Ok(mut value) => {
            masked(&mut value);
            value.to_string()
        }
        Err(_) => format!("{} bytes", text.len()),
    }
}
