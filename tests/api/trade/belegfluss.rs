//! Belegfluss: positions know where they come from (D38).

mod back;
mod beyond;
mod credits;
mod desk;
mod ids;
mod names;
mod pages;
mod proposals;
mod released;
mod rest;
mod takeover;
mod ties;

use serde_json::{Value, json};

use super::lager::{Mill, and};
use crate::harness::Answer;

/// The id of a position of a confirmation or a document, by its place.
fn position(body: &Value, at: usize) -> String {
    body["positionen"][at]["id"].as_str().unwrap().to_owned()
}

/// Items of sacks, each with its quantity and further fields.
fn sacks(rows: &[(i64, Value)]) -> Value {
    let item = |(menge, more): &(i64, Value)| and(json!({"artikelnr": "S", "menge": menge}), more.clone());
    rows.iter().map(item).collect()
}

/// Creates a document whose items only name positions.
fn naming(mill: &Mill<'_>, typ: &str, positions: &[String]) -> Answer {
    let items: Value = positions.iter().map(|id| json!({"bezug_position_id": id})).collect();
    mill.post(typ, items)
}

fn net(mill: &Mill<'_>, answer: &Answer) -> String {
    mill.get(&answer.id())["summe_netto"].as_str().unwrap().to_owned()
}
