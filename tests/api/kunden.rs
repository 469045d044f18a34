//! Customers.

use serde_json::json;

use crate::harness::{Server, data};

#[test]
fn numbers_follow_the_golden_table() {
    for (at, row) in data("golden.json")["kundennr"].as_array().unwrap().iter().enumerate() {
        let server = Server::start();
        let mill = server.company("Mühle");
        for number in row["vorhanden"].as_array().unwrap() {
            mill.post("/api/v1/kunden", json!({"name": "A", "kundennr": number})).is(201);
        }
        let created = mill.post("/api/v1/kunden", json!({"name": "B"}));
        assert_eq!(created.is(201)["kundennr"], row["neu"], "row {at}");
    }
}
