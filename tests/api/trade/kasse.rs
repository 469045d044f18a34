//! Cash receipts (specification, Barverkauf and Kasse; D7, D14, D15, D16, D22).

mod dsfinvk;
mod import;
mod liste;
mod volumen;

use partnerd::rules::day::{Day, Instant};
use partnerd::rules::fixed::{Money, Percent};
use partnerd::rules::tax::contained_tax;
use serde_json::{Value, json};

use crate::harness::{Client, data};
use crate::platform::import::Import;

const PATH: &str = "/api/v1/barverkaeufe";

/// The rows of a query.
fn list(client: &Client, query: &str) -> Vec<Value> {
    let answer = client.get(&format!("{PATH}?{query}"));
    answer.is(200)["data"].as_array().unwrap().clone()
}

/// One field of all rows of a query.
fn column(client: &Client, query: &str, field: &str) -> Value {
    list(client, query).iter().map(|row| row[field].clone()).collect()
}

/// A row of an import: a receipt of one litre of beer at 3.80, with differing fields.
fn row(different: Value) -> Value {
    let mut row = json!({"bon_nr": "1", "kassiert_at": "2026-07-01T12:00:00Z", "bezeichnung": "Bier", "menge": 1,
        "einzelpreis": "3.80", "mwst_satz": 19});
    for (field, value) in different.as_object().unwrap() {
        row[field] = value.clone();
    }
    row
}

/// A file of such rows.
fn rows(different: &[Value]) -> String {
    Value::Array(different.iter().cloned().map(row).collect()).to_string()
}

/// Asserts the counts of an import.
#[track_caller]
fn counts(import: &Import, expected: [u64; 3]) {
    assert_eq!(import.counts(), expected, "{}", import.said());
}

fn decimal<const SCALE: u32, const SHOWN: usize>(
    value: &Value,
) -> partnerd::rules::fixed::Fixed<SCALE, SHOWN> {
    partnerd::rules::fixed::Fixed::parse(value.as_str().unwrap()).unwrap().value
}

#[test]
fn the_tax_contained_in_a_gross_amount_follows_the_golden_table() {
    let golden = data("golden.json")["brutto"].clone();
    let printed = data("kasse/steuer_enthalten_vektoren.json");
    let vectors = golden.as_array().unwrap().iter().chain(printed.as_array().unwrap());
    let mut seen = 0;
    for vector in vectors {
        let gesamt: Money = decimal(&vector["gesamt"]);
        let satz: Percent = decimal(&vector["mwst_satz"]);
        let steuer = contained_tax(gesamt, satz);
        let netto = gesamt.minus(steuer).unwrap();
        assert_eq!(json!([steuer, netto]), json!([vector["steuer"], vector["netto"]]), "{vector}");
        seen += 1;
    }
    assert_eq!(seen, 16);
}

#[test]
fn the_cash_day_is_the_day_in_berlin() {
    let vectors = data("kasse/kassentag_vektoren.json");
    let vectors = vectors.as_array().unwrap();
    assert_eq!(vectors.len(), 296);
    for vector in vectors {
        let instant = Instant::parse(vector["kassiert_at"].as_str().unwrap()).unwrap();
        assert_eq!(json!(Day::in_berlin(instant)), vector["datum"], "{vector}");
    }
    let change = Instant::parse("2026-10-24T22:30:00Z").unwrap();
    assert_eq!(Day::in_berlin(change).to_string(), "2026-10-25");
}
