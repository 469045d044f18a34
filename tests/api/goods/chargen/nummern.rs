//! The supplier's number of a batch, and which goods it refers to after a correction (D8).

use serde_json::{Value, json};

use super::CHARGEN;
use crate::harness::{Answer, Server};
use crate::trade::lager::{Mill, and, buy, moves};

fn correct(mill: &Mill<'_>, id: &str, body: Value) {
    mill.client.put(&format!("{CHARGEN}/{id}"), body).is(200);
}

fn renumber(mill: &Mill<'_>, id: &str, fremde: &str) {
    correct(mill, id, json!({"fremde_charge_nr": fremde}));
}

/// Sends the items of a document back as they were read.
fn put_as_read(mill: &Mill<'_>, id: &str) -> Answer {
    mill.put(id, mill.get(id)["positionen"].clone())
}

fn stocks<const N: usize>(mill: &Mill<'_>, expected: [(&str, &str); N]) {
    let known: Vec<_> = mill.batches().iter().map(|batch| batch["fremde_charge_nr"].clone()).collect();
    assert_eq!(known.len(), N, "{known:?}");
    for (fremde, bestand) in expected {
        assert_eq!(mill.stock(fremde), bestand, "{fremde}");
    }
}

/// The documents matched by the only position of a document.
fn met(mill: &Mill<'_>, id: &str) -> Vec<String> {
    let met = mill.get(id)["positionen"][0]["gegenbelege"].clone();
    met.as_array().unwrap().iter().map(|met| met["beleg_id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn goods_are_met_under_the_corrected_number_of_their_batch() {
    let server = Server::start();
    for by_id in [false, true] {
        let mill = Mill::with(&server, &format!("Mühle {by_id}"), &[]);
        let delivery = mill.post("EL", buy(20, "A")).id();
        let batch = mill.charge_id(&delivery).as_str().unwrap().to_owned();
        renumber(&mill, &batch, "B");
        let said = |menge: i64| match by_id {
            true => json!({"artikelnr": "W", "menge": menge, "charge_id": batch}),
            false => buy(menge, "B"),
        };
        assert_eq!(moves(&mill.post("EL", said(-5))), ["-5.000"], "it lowers the delivery");
        let invoice = mill.post("ER", said(10));
        assert_eq!((moves(&invoice), invoice.hint_codes()), (vec![], vec!["LIEFERUNG_VERMUTET".to_owned()]));
        let bound = mill.post("ER", and(said(5), json!({"bezug_beleg_id": delivery})));
        assert_eq!((moves(&bound), bound.hint_codes()), (vec![], vec!["PREIS_UEBERNOMMEN".to_owned()]));
        let credit = mill.post("ER", said(-5));
        assert_eq!(
            (moves(&credit), met(&mill, &credit.id()).len()),
            (vec![], 1),
            "and what it lowered waits"
        );
        stocks(&mill, [("B", "15.000")]);
    }
}

#[test]
fn goods_are_met_in_their_batch_though_its_number_is_gone() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let batch = mill.receive("A", 10);
    correct(&mill, &batch, json!({"fremde_charge_nr": null}));
    let invoice = mill.post("ER", json!({"artikelnr": "W", "menge": 10, "charge_id": batch}));
    assert_eq!((moves(&invoice), invoice.hint_codes()), (vec![], vec![]));
}

#[test]
fn batches_of_one_number_are_told_apart_by_their_date() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let dated = |menge: i64, mhd: &str| and(buy(menge, "A"), json!({"mhd": mhd}));
    let [first, second] = ["2027-01-31", "2027-06-30"].map(|mhd| mill.post("EL", dated(10, mhd)).id());
    let by_id = json!({"artikelnr": "W", "menge": 10, "charge_id": mill.charge_id(&second)});
    assert_eq!(met(&mill, &mill.post("ER", by_id).id()), [second]);
    assert_eq!(met(&mill, &mill.post("ER", dated(10, "2027-01-31")).id()), std::slice::from_ref(&first));
    let undated = mill.post("EL", buy(5, "A")).id();
    assert_eq!(mill.charge_id(&undated), mill.charge_id(&first), "without a date it is the oldest");
}

#[test]
fn a_delivery_keeps_its_batch_though_a_new_one_has_its_number() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let first = mill.post("EL", buy(10, "A")).id();
    let batch = mill.charge_id(&first);
    renumber(&mill, batch.as_str().unwrap(), "B");
    mill.post("EL", buy(5, "A")).hints("CHARGE_NR_FRUEHER");
    assert_eq!(moves(&put_as_read(&mill, &first)), [""; 0]);
    assert_eq!(moves(&mill.put(&first, buy(10, "A"))), [""; 0], "nor where it leaves out the batch");
    // Matched and then released, it is matched within its batch.
    let invoice = mill.post("ER", json!({"artikelnr": "W", "menge": 10, "charge_id": batch})).id();
    mill.storno(&invoice).is(200);
    assert_eq!(moves(&mill.post("ER", buy(10, "B"))), [""; 0]);
    stocks(&mill, [("B", "10.000"), ("A", "5.000")]);
}

#[test]
fn of_several_batches_that_had_a_number_each_delivery_finds_its_own() {
    let server = Server::start();
    let mill = Mill::of(&server);
    renumber(&mill, &mill.receive("A", 10), "B");
    let second = mill.post("EL", buy(5, "A")).id();
    renumber(&mill, mill.charge_id(&second).as_str().unwrap(), "C");
    assert_eq!(mill.put(&second, buy(12, "A")).hint_codes(), [""; 0]);
    stocks(&mill, [("B", "10.000"), ("C", "12.000")]);
}

#[test]
fn an_invoice_finds_a_former_number_only_where_it_meets_a_delivery() {
    let server = Server::start();
    let mill = Mill::of(&server);
    mill.post("ER", buy(10, "A")).is(201);
    renumber(&mill, mill.batch("A")["id"].as_str().unwrap(), "B");
    mill.post("ER", buy(10, "A")).hints("CHARGE_NR_FRUEHER");
    stocks(&mill, [("B", "10.000"), ("A", "10.000")]);
}

#[test]
fn a_date_that_was_added_makes_no_number_a_former_one() {
    for (typ, stock) in [("EL", "10.000"), ("ER", "10.000")] {
        let server = Server::start();
        let mill = Mill::of(&server);
        let dated = |mhd: &str| and(buy(10, "A"), json!({"mhd": mhd}));
        let batch = mill.receive("A", 10);
        correct(&mill, &batch, json!({"mhd": "2027-01-31"}));
        let other = mill.post(typ, dated("2027-06-30"));
        assert_eq!(other.hint_codes().iter().filter(|code| *code == "CHARGE_NR_FRUEHER").count(), 0);
        let bestand: Vec<_> = mill.batches().iter().map(|batch| batch["bestand"].clone()).collect();
        assert_eq!(bestand, [stock, stock], "{typ}: a batch of its own");
    }
}

#[test]
fn a_delivery_keeps_its_batch_though_the_date_was_corrected() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let delivery = mill.post("EL", and(buy(10, "A"), json!({"mhd": "2027-01-31"}))).id();
    correct(&mill, mill.charge_id(&delivery).as_str().unwrap(), json!({"mhd": "2027-06-30"}));
    assert_eq!(moves(&put_as_read(&mill, &delivery)), [""; 0]);
}

#[test]
fn a_new_partner_has_a_batch_of_his_own() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let delivery = mill.post("EL", json!({"artikelnr": "W", "menge": 10, "mhd": "2027-01-31"})).id();
    let items = mill.get(&delivery)["positionen"].clone();
    let body = json!({"kundennummer": "Gut", "items": items});
    mill.client.put(&format!("/api/v1/belege/{delivery}"), body).is(200);
    let batch = mill.charge_id(&delivery);
    let batch = mill.batches().into_iter().find(|of| of["id"] == batch).unwrap();
    assert_eq!((&batch["partner_name"], &batch["bestand"]), (&json!("Gut"), &json!("10.000")));
}

#[test]
fn an_order_that_says_another_number_names_that_batch() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let order = mill.post("BS", buy(10, "L-1")).id();
    assert_eq!(mill.charge_id(&order), mill.batch("L-1")["id"]);
    let item = and(mill.get(&order)["positionen"][0].clone(), json!({"fremde_charge_nr": "L-2"}));
    mill.put(&order, item).is(200);
    assert_eq!(mill.charge_id(&order), mill.batch("L-2")["id"]);
    renumber(&mill, mill.batch("L-2")["id"].as_str().unwrap(), "L-3");
    mill.post("BS", buy(10, "L-2")).hints("CHARGE_NR_FRUEHER");
}
