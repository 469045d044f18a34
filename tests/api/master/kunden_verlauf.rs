//! The history of a customer: who changed which field, from what to what.

use serde_json::{Value, json};

use crate::harness::{Client, Server};

const KUNDEN: &str = "/api/v1/kunden";

/// Creates a customer with the fields of `body` and the number K-7; returns its id.
fn kunde(mill: &Client, body: Value) -> String {
    let mut kunde = json!({"kundennr": "K-7", "name": "Hof", "telefon": "1"});
    kunde.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
    mill.post(KUNDEN, kunde).id()
}

fn history(mill: &Client, id: &str) -> Vec<Value> {
    let answer = mill.get(&format!("{KUNDEN}/{id}/verlauf"));
    let rows = answer.is(200)["data"].as_array().unwrap().clone();
    assert_eq!(answer.body["count"], rows.len());
    rows
}

#[test]
fn an_iban_that_a_key_changed_is_seen() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let id = kunde(&mill, json!({"iban": "DE89370400440532013000"}));
    assert_eq!(history(&mill, &id), [] as [Value; 0], "it was not changed yet");
    let path = format!("{KUNDEN}/{id}");
    mill.put(&path, json!({"iban": "DE02120300000000202051", "telefon": null, "name": "Hof"})).is(200);
    let rows = history(&mill, &id);
    assert_eq!(rows.len(), 1);
    assert_eq!(
        rows[0]["felder"],
        json!([
            {"feld": "iban", "alt": "DE89370400440532013000", "neu": "DE02120300000000202051"},
            {"feld": "telefon", "alt": "1", "neu": null},
        ])
    );
    let label: String = server.sql("select bezeichnung from api_key where tenant_id = 1");
    let key: String = server.sql("select id from api_key where tenant_id = 1");
    assert_eq!((&rows[0]["geaendert_von"], &rows[0]["key_id"]), (&json!(label), &json!(key)));
    assert_eq!((&rows[0]["version"], &rows[0]["am"]), (&json!(2), &mill.get(&path).body["updated_at"]));
}

#[test]
fn what_changes_nothing_leaves_no_row_and_figures_keep_their_texts() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let id = kunde(&mill, json!({"notizen": "ruft vorher an"}));
    let path = format!("{KUNDEN}/{id}");
    mill.put(&path, json!({"telefon": "1"})).is(200);
    mill.put(&path, json!({})).is(200);
    assert_eq!(history(&mill, &id).len(), 0);
    mill.put(&path, json!({"skonto_prozent": "2.5", "partner_typen": ["lieferant"]})).is(200);
    let shown = mill.get(&path).body.clone();
    let rows = history(&mill, &id);
    let field = |name: &str| {
        let fields = rows[0]["felder"].as_array().unwrap();
        fields
            .iter()
            .find(|field| field["feld"] == name)
            .unwrap_or_else(|| panic!("{name}: {fields:?}"))
            .clone()
    };
    assert_eq!(field("skonto_prozent")["neu"], shown["skonto_prozent"]);
    assert_eq!(field("partner_typen")["neu"], shown["partner_typen"]);
    // A request that changed nothing made no version.
    assert_eq!(rows[0]["version"], 2);
}

#[test]
fn an_import_is_a_change_by_the_command_line() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let id = kunde(&mill, json!({}));
    let table = "kundennr;name;telefon\nK-7;Hof;2\nK-8;Neu;3\n";
    server.import(&mill, "kunden", table);
    server.import(&mill, "kunden", table);
    let rows = history(&mill, &id);
    assert_eq!(rows.len(), 1, "the second import changed nothing");
    assert_eq!((&rows[0]["key_id"], &rows[0]["geaendert_von"]), (&Value::Null, &json!("Kommandozeile")));
    assert_eq!(rows[0]["felder"], json!([{"feld": "telefon", "alt": "1", "neu": "2"}]));
}

#[test]
fn a_long_history_comes_in_pages_of_bounded_bytes() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let id = kunde(&mill, json!({}));
    for turn in 0..200 {
        let notes = format!("{turn} {}", "ä".repeat(3_900));
        mill.put(&format!("{KUNDEN}/{id}"), json!({"notizen": notes})).is(200);
    }
    let (mut versions, mut pages) = (Vec::new(), 0);
    while versions.len() < 200 {
        let answer = mill.get(&format!("{KUNDEN}/{id}/verlauf?offset={}", versions.len()));
        assert!(answer.bytes.len() < (1 << 20) + 40_000, "{} bytes", answer.bytes.len());
        let rows = answer.is(200)["data"].as_array().unwrap();
        assert!(!rows.is_empty(), "after {}", versions.len());
        versions.extend(rows.iter().map(|row| row["version"].as_i64().unwrap()));
        pages += 1;
    }
    assert!(pages > 1, "{pages} pages");
    assert_eq!(versions, (2..=201).collect::<Vec<_>>());
}
