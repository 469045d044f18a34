//! Corrections of a batch and their history (D8).

use serde_json::{Value, json};

use super::CHARGEN;
use crate::harness::{Answer, Server};
use crate::trade::lager::{Mill, and, buy, sell};

fn path(id: &str) -> String {
    format!("{CHARGEN}/{id}")
}

fn correct(mill: &Mill<'_>, id: &str, body: Value) -> Answer {
    mill.client.put(&path(id), body)
}

#[test]
fn a_batch_is_corrected_after_goods_have_left_it_and_its_history_is_kept() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let id = mill.receive("C1", 100);
    let delivery = mill.post("LS", sell(30, &id)).id();
    mill.finalise(&delivery);
    let first = mill.client.get(&path(&id)).is(200).clone();
    assert_eq!(first, mill.batches()[0], "as in the list");
    let empty = json!({"data": [], "count": 0});
    assert_eq!(mill.client.get(&format!("{}/verlauf", path(&id))).is(200), &empty);

    server.set_clock("2026-07-11T10:00:00Z");
    let body = json!({"fremde_charge_nr": " C-1 ", "mhd": "2027-01-31", "herkunftsland": "Österreich"});
    let answer = correct(&mill, &id, body.clone());
    let expected = and(
        first.clone(),
        json!({"fremde_charge_nr": "C-1", "mhd": "2027-01-31T00:00:00.000Z",
        "herkunftsland": "AT"}),
    );
    assert_eq!(answer.is(200), &and(expected.clone(), json!({"hinweise": []})));
    assert_eq!(mill.client.get(&path(&id)).is(200), &expected);
    // Repeating the request changes nothing; absent fields stay, null clears.
    correct(&mill, &id, body).is(200);
    correct(&mill, &id, json!({"mhd": null})).is(200);
    let last = mill.client.get(&path(&id)).is(200).clone();
    assert_eq!(last, and(expected.clone(), json!({"mhd": null})));
    let history = mill.client.get(&format!("{}/verlauf", path(&id))).is(200).clone();
    let key = mill.client.key.as_ref().unwrap().split('_').nth(1).unwrap().to_owned();
    let entry = |version: i64, charge: &Value| {
        json!({"version": version, "am": "2026-07-11T10:00:00.000Z",
        "key_id": key, "charge": charge})
    };
    assert_eq!(history, json!({"data": [entry(1, &first), entry(2, &expected)], "count": 2}));
    // Documents still name the same batch, and finalised ones are unchanged.
    assert_eq!(mill.charge_id(&delivery), id);
    assert_eq!(mill.stock("C-1"), "70.000");
    for statement in ["update charge_verlauf set version = 9", "delete from charge_verlauf"] {
        let connection = partnerd::platform::db::file::connection::open_writer(&server.database).unwrap();
        assert!(connection.execute_batch(statement).unwrap_err().to_string().contains("append-only"));
    }
}

#[test]
fn a_correction_is_based_on_the_version_that_was_read() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let id = mill.receive("C1", 100);
    let etag = mill.client.get(&path(&id)).headers["etag"].clone();
    let put = |mhd: &str| {
        let body = json!({"mhd": mhd}).to_string();
        mill.client.send("PUT", &path(&id), &[("if-match", &etag)], Some(body.as_bytes()))
    };
    assert_eq!(mill.client.send("GET", &path(&id), &[("if-none-match", &etag)], None).status, 304);
    // Stock movements do not change the version of a batch.
    mill.post("LS", sell(1, &id)).is(201);
    put("2027-01-31").is(200);
    put("2027-02-28").refused(412, "ZWISCHENZEITLICH_GEAENDERT");
    assert_eq!(mill.client.get(&path(&id)).is(200)["mhd"], "2027-01-31T00:00:00.000Z");
    // Fields that only the service sets are ignored, so that GET, edit, PUT works; and named where they differ.
    let mut body = mill.client.get(&path(&id)).body;
    assert_eq!(correct(&mill, &id, body.clone()).is(200)["hinweise"], json!([]));
    body["bestand"] = json!("1.000");
    let hint = correct(&mill, &id, body).is(200)["hinweise"].clone();
    assert_eq!((&hint[0]["feld"], &hint[1]), (&json!("bestand"), &Value::Null));
}

#[test]
fn a_number_that_another_batch_has_is_refused() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let (first, second) = (mill.receive("C1", 10), mill.receive("C2", 10));
    let code = "FREMDE_CHARGE_NR_BEREITS_VERGEBEN";
    let answer = correct(&mill, &second, json!({"fremde_charge_nr": " c1 "}));
    assert_eq!(answer.refused(409, code)["feld"], "fremde_charge_nr");
    assert_eq!(mill.client.get(&path(&second)).is(200)["fremde_charge_nr"], "C2");
    // Its own number in another spelling, that of another supplier, or none.
    correct(&mill, &first, json!({"fremde_charge_nr": "c1"})).is(200);
    mill.post_for("Gut", "EL", buy(10, "G1")).is(201);
    correct(&mill, &first, json!({"fremde_charge_nr": "G1"})).is(200);
    correct(&mill, &second, json!({"fremde_charge_nr": "C1"})).is(200);
    correct(&mill, &second, json!({"fremde_charge_nr": null})).is(200);
    correct(&mill, &first, json!({"fremde_charge_nr": null})).is(200);
}

#[test]
fn what_an_import_changes_is_in_the_history_too() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let import = |mhd: &str| {
        let file = format!("artikelnummer;charge_nr;mhd;bestand\nW;ALT;{mhd};5\n");
        server.import(&mill.client, "chargen", &file)
    };
    assert_eq!(import("2027-01-31"), "1 neu, 0 geändert, 0 unverändert\n");
    assert_eq!(import("2027-01-31"), "0 neu, 0 geändert, 1 unverändert\n");
    assert_eq!(import("2027-02-28"), "0 neu, 1 geändert, 0 unverändert\n");
    let id = mill.batches()[0]["id"].as_str().unwrap().to_owned();
    let history = mill.client.get(&format!("{}/verlauf", path(&id))).is(200).clone();
    assert_eq!((&history["count"], &history["data"][0]["key_id"]), (&json!(1), &Value::Null));
    assert_eq!(history["data"][0]["charge"]["mhd"], "2027-01-31T00:00:00.000Z");
}
