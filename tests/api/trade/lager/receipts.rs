//! What a batch stores about its receipt, and how later documents use it (D8).

use serde_json::{Value, json};

use super::{Mill, and, buy, moves, plain, sell};
use crate::harness::Server;

/// Document and price of the receipt of a batch.
fn receipt(mill: &Mill<'_>, fremde: &str) -> (Value, Value) {
    let batch = mill.batch(fremde);
    (batch["eingang_beleg_id"].clone(), batch["eingang_ep"].clone())
}

fn priced(menge: i64, fremde: &str, ep_netto: &str) -> Value {
    and(buy(menge, fremde), json!({"ep_netto": ep_netto}))
}

#[test]
fn the_receipt_of_a_batch_follows_its_document_to_the_end() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let discounted = and(priced(10, "C1", "0.21"), json!({"rabatt_prozent": 10}));
    let first = mill.post("EL", discounted).id();
    let per_tonne = and(priced(1, "C1", "250"), json!({"einheit": "t"}));
    let second = mill.post("EL", per_tonne).id();
    assert_eq!(receipt(&mill, "C1"), (json!(first), json!("0.1890")), "after discount");
    mill.put(&first, priced(10, "C1", "0.3")).is(200);
    assert_eq!(receipt(&mill, "C1"), (json!(first), json!("0.3000")), "a correction");
    mill.put(&first, priced(10, "C2", "0.3")).is(200);
    assert_eq!(receipt(&mill, "C1"), (json!(second), json!("0.2500")), "the oldest that stands, per kg");
    assert_eq!(receipt(&mill, "C2"), (json!(first), json!("0.3000")));
    mill.put(&first, priced(10, "C1", "0.4")).is(200);
    assert_eq!(receipt(&mill, "C1"), (json!(first), json!("0.4000")), "it keeps its place");
    assert_eq!(receipt(&mill, "C2"), (Value::Null, Value::Null));
    mill.storno(&first).is(200);
    assert_eq!(receipt(&mill, "C1"), (json!(second), json!("0.2500")));
    mill.storno(&second).is(200);
    assert_eq!(receipt(&mill, "C1"), (Value::Null, Value::Null));
}

#[test]
fn a_receipt_without_a_price_takes_that_of_its_invoice() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let body =
        json!({"beleg_typ": "EL", "kundennummer": "Hof", "auto_price": false, "items": [buy(10, "C1")]});
    let delivery = mill.client.post("/api/v1/belege", body).id();
    assert_eq!(receipt(&mill, "C1"), (json!(delivery), json!("0.0000")));
    let discounted = and(plain(10), json!({"ep_netto": "0.25", "rabatt_prozent": 20}));
    let invoice = mill.post("ER", discounted).id();
    assert_eq!(receipt(&mill, "C1"), (json!(delivery), json!("0.2000")), "after discount");
    mill.put(&invoice, and(plain(10), json!({"ep_netto": "0.5"}))).is(200);
    let (_, price) = receipt(&mill, "C1");
    assert_eq!(price, "0.5000", "a correction of the invoice");
    mill.storno(&invoice).is(200);
    assert_eq!(receipt(&mill, "C1"), (json!(delivery), json!("0.0000")));
}

#[test]
fn the_price_of_a_batch_is_that_of_the_position_that_brought_it() {
    let server = Server::start();
    let mill = Mill::of(&server);
    mill.post("EL", buy(1, "X")).is(201);
    let told = json!({"artikelnr": "W", "menge": 10, "ep_netto": "0.03", "mhd": "2027-01-31"});
    mill.post("ER", json!([priced(5, "Y", "0.04"), told])).is(201);
    let batches = mill.batches();
    let made = batches.iter().find(|batch| batch["fremde_charge_nr"].is_null()).unwrap();
    assert_eq!((&made["bestand"], &made["eingang_ep"]), (&json!("9.000"), &json!("0.0300")));
}

#[test]
fn an_invoice_that_takes_goods_over_is_their_receipt() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let first = mill.post("EL", priced(5, "C1", "0.2")).id();
    let second = mill.post("EL", priced(5, "C2", "0.3")).id();
    let invoice = mill.post("ER", and(plain(10), json!({"ep_netto": "0.25"}))).id();
    mill.finalise(&invoice);
    mill.storno(&first).is(200);
    assert_eq!(
        receipt(&mill, "C1"),
        (json!(invoice), json!("0.2500")),
        "it covers two batches and notes none"
    );
    mill.storno(&second).is(200);
    assert_eq!(receipt(&mill, "C2"), (json!(invoice), json!("0.2500")));
    // A later receipt does not replace the first one.
    mill.post_for("Gut", "EL", buy(1, "G")).is(201);
    mill.post("EL", priced(1, "C1", "0.9")).is(201);
    assert_eq!(receipt(&mill, "C1"), (json!(invoice), json!("0.2500")));
}

#[test]
fn best_before_and_origin_reach_the_batch_whichever_document_tells_them() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let told = json!({"mhd": "2027-01-31", "herkunftsland": "AT"});
    let rows = [
        (
            "the delivery after its invoice",
            "C1",
            [("ER", buy(12, "C1")), ("EL", and(buy(12, "C1"), told.clone()))],
        ),
        (
            "the invoice after its delivery",
            "C2",
            [("EL", buy(12, "C2")), ("ER", and(buy(12, "C2"), told.clone()))],
        ),
        (
            "an invoice without the number",
            "C3",
            [("EL", buy(12, "C3")), ("ER", and(plain(12), told.clone()))],
        ),
        (
            "a delivery without the number",
            "C4",
            [("ER", buy(12, "C4")), ("EL", and(plain(12), told.clone()))],
        ),
    ];
    for (name, fremde, documents) in rows {
        for ((typ, item), expected) in documents.into_iter().zip([vec!["12.000"], vec![]]) {
            let answer = mill.post(typ, item);
            assert_eq!(moves(&answer), expected, "{name}");
            assert_eq!(answer.hint_codes(), [""; 0], "{name}");
        }
        let batch = mill.batch(fremde);
        let known = (&batch["mhd"], &batch["herkunftsland"], &batch["bestand"]);
        assert_eq!(known, (&json!("2027-01-31T00:00:00.000Z"), &json!("AT"), &json!("12.000")), "{name}");
    }
    let other = json!({"mhd": "2027-01-31", "herkunftsland": "FR"});
    let hint = mill.post("EL", and(buy(1, "C1"), other));
    assert_eq!(hint.is(201)["hinweise"][0]["feld"], "items[0].herkunftsland");
}

#[test]
fn another_partner_leaves_nothing_of_the_batch_that_the_old_one_had() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let [b1, b2, b3] = ["B1", "B2", "B3"].map(|fremde| mill.receive(fremde, 100));
    mill.post("LS", sell(10, &b1)).is(201);
    for batch in [&b2, &b3] {
        mill.post_for("Kd2", "LS", sell(5, batch)).is(201);
    }
    let invoice = mill.post("RE", plain(10)).id();
    assert_eq!(mill.charge_id(&invoice), json!(b1));
    let path = format!("/api/v1/belege/{invoice}");
    assert_eq!(moves(&mill.client.put(&path, json!({"kundennummer": "Kd2"}))), [""; 0]);
    assert_eq!(mill.charge_id(&invoice), Value::Null, "two batches cover it now");
    mill.client.put(&path, json!({"kundennummer": "Kd"})).is(200);
    assert_eq!(mill.charge_id(&invoice), json!(b1));
    let credit = mill.post("RE", plain(-10)).id();
    assert_eq!(mill.charge_id(&credit), json!(b1), "of the invoice that it took back");
    mill.client
        .put(&format!("/api/v1/belege/{credit}"), json!({"kundennummer": "Kd3"}))
        .refused(400, "KUNDE_NICHT_GEFUNDEN");
    mill.client.post("/api/v1/kunden", json!({"name": "Kd3", "kundennr": "Kd3"})).is(201);
    mill.client.put(&format!("/api/v1/belege/{credit}"), json!({"kundennummer": "Kd3"})).is(200);
    assert_eq!(mill.charge_id(&credit), Value::Null, "it waits, and has moved nothing");
}

#[test]
fn of_two_batches_with_one_number_each_can_be_corrected() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let dated = |mhd: &str| and(buy(10, "C1"), json!({"mhd": mhd}));
    let ids = ["2027-01-31", "2027-02-28"].map(|mhd| mill.charge_id(&mill.post("EL", dated(mhd)).id()));
    assert_ne!(ids[0], ids[1]);
    for id in &ids {
        let path = format!("/api/v1/chargen/{}", id.as_str().unwrap());
        let corrected = mill.client.put(&path, json!({"herkunftsland": "AT"}));
        assert_eq!(corrected.is(200)["herkunftsland"], "AT");
        mill.client.put(&path, json!({"fremde_charge_nr": "C1"})).is(200);
    }
}

#[test]
fn of_two_items_of_a_receipt_in_one_batch_the_first_says_its_price() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let priced = |price: i64| and(buy(5, "A"), json!({"ep_netto": price}));
    for typ in ["EL", "ER"] {
        let receipt = mill.post(typ, json!([priced(2), priced(3)])).id();
        assert_eq!(mill.batch("A")["eingang_ep"], "2.0000", "{typ}");
        mill.put(&receipt, json!([priced(4), priced(3)])).is(200);
        assert_eq!(mill.batch("A")["eingang_ep"], "4.0000", "{typ}");
        mill.storno(&receipt).is(200);
    }
}
