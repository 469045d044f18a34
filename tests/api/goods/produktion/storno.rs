//! Cancelling a finished order: its bookings are reversed (D13).

use serde_json::json;

use super::{assert_fields, flour, ground, id_of, loose, miller, miller_with, order, put, show};
use crate::harness::Server;
use crate::trade::lager::{Mill, moves};

/// Creates an order of recipe 1 that turned 100 kg of a batch into 80 kg of flour and 20 kg of bran; returns its id.
fn done(mill: &Mill<'_>, charge: &str) -> String {
    let new = order(mill, 1);
    put(mill, id_of(&new), "erledigt", ground(&new, charge, [100, 80, 20])).is(200);
    id_of(&new).to_owned()
}

fn sell_flour(mill: &Mill<'_>, menge: i64) -> String {
    let item = json!({"artikelnr": "M", "menge": menge, "ep_netto": 1, "charge_id": flour(mill)[0]["id"]});
    mill.post("LS", item).id()
}

#[test]
fn what_was_done_is_taken_back() {
    let server = Server::start();
    let mill = miller(&server);
    let charge = mill.receive("C1", 500);
    let id = done(&mill, &charge);
    let before = show(&mill, &id);
    let answer = put(&mill, &id, "storniert", json!({}));
    assert_fields(answer.is(200), json!({"status": "storniert", "pa_nummer": "PA-2026-00001"}));
    let mut moved = moves(&answer);
    moved.sort();
    assert_eq!(moved, ["-20.000", "-80.000", "100.000"]);
    assert_eq!((mill.stock("C1").as_str(), loose(&mill, "K")), ("500.000", 0));
    assert_fields(&flour(&mill)[0], json!({"bestand": "0.000", "eingang_menge": "0.000"}));
    let shown = show(&mill, &id);
    assert_eq!((&shown["inputs"], &shown["outputs"]), (&before["inputs"], &before["outputs"]));
    assert_eq!(shown["erledigt_am"], before["erledigt_am"]);
    put(&mill, &id, "storniert", json!({})).refused(400, "PA_STATUS_UNGUELTIG");
    assert_eq!(mill.stock("C1"), "500.000");
}

#[test]
fn nothing_is_taken_back_while_an_output_is_used() {
    let server = Server::start();
    let mill = miller(&server);
    let charge = mill.receive("C1", 500);
    let id = done(&mill, &charge);
    let sold = sell_flour(&mill, 30);
    let before = show(&mill, &id);
    let refused = put(&mill, &id, "storniert", json!({}));
    refused.refused(400, "CHARGE_BEREITS_VERWENDET");
    let message = refused.body["message"].as_str().unwrap();
    assert!(message.contains(flour(&mill)[0]["charge_nr"].as_str().unwrap()), "{message}");
    assert_eq!(show(&mill, &id), before);
    assert_eq!((mill.stock("C1").as_str(), loose(&mill, "K")), ("400.000", 20));
    mill.storno(&sold).is(200);
    put(&mill, &id, "storniert", json!({})).is(200);
    assert_eq!((mill.stock("C1").as_str(), loose(&mill, "K")), ("500.000", 0));
}

#[test]
fn what_has_no_batch_may_fall_below_zero() {
    let server = Server::start();
    let mill = miller_with(&server, "ablehnen", &[("negativbestand", "ablehnen")]);
    let charge = mill.receive("C1", 500);
    let id = done(&mill, &charge);
    mill.post("LS", json!({"artikelnr": "K", "menge": 5, "ep_netto": 1})).is(201);
    assert_eq!(put(&mill, &id, "storniert", json!({})).hint_codes(), [""; 0]);
    assert_eq!(loose(&mill, "K"), -5);
}

#[test]
fn the_way_of_a_batch_leads_through_no_cancelled_order() {
    let server = Server::start();
    let mill = miller(&server);
    let charge = mill.receive("C1", 500);
    let id = done(&mill, &charge);
    let meal = flour(&mill)[0]["id"].as_str().unwrap().to_owned();
    let way = |charge: &str| mill.client.get(&format!("/api/v1/chargen/{charge}/herkunft")).is(200).clone();
    assert_eq!(
        (way(&charge)["vorwaerts"][0]["charge_id"].as_str(), &way(&meal)["lieferanten"][0]["menge"]),
        (Some(meal.as_str()), &json!("500.000"))
    );
    put(&mill, &id, "storniert", json!({})).is(200);
    let (wheat, flour) = (way(&charge), way(&meal));
    assert_eq!((&wheat["vorwaerts"], &flour["rueckwaerts"]), (&json!([]), &json!([])));
    assert_eq!((&flour["lieferanten"], &wheat["empfaenger"]), (&json!([]), &json!([])));
    let balance = |eingang, bestand| {
        json!({"eingang": eingang, "abgang": "0.000", "korrektur": "0.000",
        "bestand": bestand})
    };
    assert_eq!(wheat["bilanz"], balance("500.000", "500.000"));
    assert_eq!(flour["bilanz"], balance("0.000", "0.000"));
}

#[test]
fn a_storno_of_what_was_done_is_a_row_of_the_feed() {
    let server = Server::start();
    let mill = miller(&server);
    let charge = mill.receive("C1", 500);
    let id = done(&mill, &charge);
    let cursor = mill.client.get("/api/v1/aenderungen").is(200)["cursor"].as_str().unwrap().to_owned();
    put(&mill, &id, "storniert", json!({})).is(200);
    let feed = mill.client.get(&format!("/api/v1/aenderungen?seit={cursor}")).is(200).clone();
    let rows: Vec<_> = feed["data"].as_array().unwrap().iter().collect();
    let of = |art: &str| rows.iter().filter(|row| row["art"] == art).count();
    assert_eq!((of("charge"), of("produktionsauftrag")), (2, 1), "{feed}");
    let order = rows.iter().find(|row| row["art"] == "produktionsauftrag").unwrap();
    assert_eq!((&order["aktion"], &order["version"]), (&json!("storniert"), &json!(3)));
}

#[test]
fn only_the_storno_changes_an_order_that_is_done() {
    let server = Server::start();
    let mill = miller(&server);
    let charge = mill.receive("C1", 500);
    let id = done(&mill, &charge);
    let connection = partnerd::platform::db::file::connection::open_writer(&server.database).unwrap();
    let pa = id.replace('-', "");
    for change in ["status = 'storniert'", "status = 'storniert', version = version + 1, bemerkung = 'x'"] {
        let statement = format!("update produktionsauftrag set {change} where id = x'{pa}'");
        let error = connection.execute(&statement, []).expect_err(&statement).to_string();
        assert!(error.contains("never"), "{statement}: {error}");
    }
}
