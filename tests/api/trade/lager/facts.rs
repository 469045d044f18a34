//! The delivery determines the batch (D8): what it names is final, and what others had assumed follows.

use serde_json::{Value, json};

use super::{Mill, and, buy, moves, plain, sell};
use crate::harness::{Answer, Server};

/// The messages of the hints with a code.
fn sentences(answer: &Answer, code: &str) -> Vec<String> {
    let hints = answer.body["hinweise"].as_array().unwrap();
    let of_code = hints.iter().filter(|hint| hint["code"] == code);
    of_code.map(|hint| hint["message"].as_str().unwrap().to_owned()).collect()
}

fn number(mill: &Mill<'_>, id: &str) -> String {
    mill.get(id)["beleg_nummer"].as_str().unwrap().to_owned()
}

/// The hint if 10 kg move from one batch to another.
fn rebooked(mill: &Mill<'_>, invoice: &str, [from, to]: [&str; 2]) -> [String; 1] {
    let nummer = |fremde| mill.batch(fremde)["charge_nr"].as_str().unwrap().to_owned();
    let invoice = number(mill, invoice);
    [format!("{invoice}: 10.000 kg umgebucht, von Charge {} nach Charge {}.", nummer(from), nummer(to))]
}

/// The recipients of a batch with their quantities.
fn recipients(mill: &Mill<'_>, fremde: &str) -> Vec<Value> {
    let id = mill.batch(fremde)["id"].as_str().unwrap().to_owned();
    let path = format!("/api/v1/chargen/{id}/herkunft?richtung=vorwaerts");
    let found = mill.client.get(&path).is(200)["empfaenger"].as_array().unwrap().clone();
    found.into_iter().map(|entry| entry["menge"].clone()).collect()
}

#[test]
fn an_invoice_follows_the_batch_of_its_delivery() {
    for is_final in [false, true] {
        let server = Server::start();
        let mill = Mill::of(&server);
        let [a, b] = ["A", "B"].map(|fremde| mill.receive(fremde, 100));
        let delivery = mill.post("LS", sell(10, &a)).id();
        let invoice = mill.post("RE", plain(10)).id();
        if is_final {
            mill.finalise(&invoice);
        }
        let changed = mill.put(&delivery, sell(10, &b));
        assert_eq!(sentences(&changed, "CHARGE_UMGEBUCHT"), rebooked(&mill, &invoice, ["A", "B"]));
        let named = sentences(&changed, "BELEG_NENNT_ALTES");
        let said = named.iter().any(|sentence| sentence.contains(&number(&mill, &invoice)));
        assert_eq!((named.len(), said), (usize::from(is_final), is_final), "{named:?}");
        assert_eq!((mill.stock("A"), mill.stock("B")), ("100.000".to_owned(), "90.000".to_owned()));
        assert_eq!((recipients(&mill, "A"), recipients(&mill, "B")), (vec![], vec![json!("10.000")]));
        let noted = if is_final { &a } else { &b };
        assert_eq!(mill.charge_id(&invoice), json!(noted), "a final position never changes");

        assert_eq!(sentences(&mill.storno(&delivery), "BELEG_NENNT_ALTES").len(), usize::from(is_final));
        let again = mill.post("LS", sell(10, &a));
        assert_eq!(sentences(&again, "CHARGE_UMGEBUCHT"), rebooked(&mill, &invoice, ["B", "A"]));
        assert_eq!((recipients(&mill, "A"), recipients(&mill, "B")), (vec![json!("10.000")], vec![]));
    }
}

#[test]
fn what_fefo_chose_gives_way_to_what_was_sent() {
    let server = Server::start();
    let mill = Mill::with(&server, "Mühle", &[("charge_automatik", "fefo")]);
    let [_, b] = ["A", "B"].map(|fremde| mill.receive(fremde, 100));
    let invoice = mill.post("RE", plain(10)).id();
    let delivery = mill.post("LS", sell(10, &b));
    assert_eq!(moves(&delivery), ["10.000", "-10.000"], "of the invoice and of the delivery");
    assert_eq!(sentences(&delivery, "CHARGE_UMGEBUCHT"), rebooked(&mill, &invoice, ["A", "B"]));
    assert_eq!(mill.charge_id(&invoice), json!(b));

    let chosen = mill.post("LS", plain(10)).id();
    let invoice = mill.post("RE", sell(10, &b));
    assert_eq!(sentences(&invoice, "CHARGE_UMGEBUCHT"), rebooked(&mill, &invoice.id(), ["A", "B"]));
    assert_eq!((mill.stock("A"), mill.stock("B")), ("100.000".to_owned(), "80.000".to_owned()));
    assert_eq!(mill.charge_id(&chosen), json!(b), "the delivery lies where its invoice says");
}

#[test]
fn a_supplier_delivery_says_its_batch_whatever_it_says_of_it() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let dated = |menge: i64, mhd: &str| json!({"artikelnr": "W", "menge": menge, "mhd": mhd});
    mill.post("ER", dated(10, "2027-03-31")).is(201);
    let delivery = mill.post("EL", buy(10, "L-1"));
    assert_eq!(mill.stock("L-1"), "10.000");
    assert_eq!(sentences(&delivery, "CHARGE_UMGEBUCHT").len(), 1);

    mill.post("EL", dated(7, "2027-04-30")).is(201);
    mill.post("ER", buy(7, "L-2")).hints("CHARGE_UMGEBUCHT");
    assert_eq!(mill.stock("L-2"), "7.000", "a lot names more than a best-before date");
    let stock: Vec<_> = mill
        .batches()
        .into_iter()
        .filter(|b| b["fremde_charge_nr"].is_null())
        .map(|b| b["bestand"].clone())
        .collect();
    assert_eq!(stock, ["0.000", "0.000"]);
}

#[test]
fn facts_that_contradict_each_other_do_not_meet() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let [a, b] = ["A", "B"].map(|fremde| mill.receive(fremde, 100));
    let first = mill.post("RE", sell(10, &a)).id();
    let bound = and(sell(10, &b), json!({"bezug_beleg_id": first}));
    let refused = mill.post("LS", bound);
    assert_eq!(refused.refused(400, "CHARGE_WIDERSPRUCH")["feld"], "items[0].bezug_beleg_id");
    mill.post("LS", and(sell(4, &a), json!({"bezug_beleg_id": first}))).is(201);

    let second = mill.post("RE", sell(10, &a)).id();
    let delivery = mill.post("LS", sell(10, &b));
    assert_eq!(moves(&delivery), ["-10.000"]);
    let said = sentences(&delivery, "CHARGE_WIDERSPRUCH");
    let expected = format!("{} und ein weiterer Beleg", number(&mill, &first));
    assert!(said[0].contains(&expected), "{said:?}");
    for invoice in [&first, &second] {
        mill.storno(invoice).is(200);
    }
    let alone = mill.post("LS", sell(10, &a));
    assert_eq!(alone.hint_codes(), [""; 0]);
    let met = mill.post("RE", json!([sell(10, &b), sell(10, &a)]));
    assert_eq!((moves(&met), met.hint_codes()), (vec![], vec![]), "nothing is left that contradicts");
}

#[test]
fn what_was_read_and_sent_back_is_inherited() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let [a, b] = ["A", "B"].map(|fremde| mill.receive(fremde, 100));
    let delivery = mill.post("LS", sell(10, &a)).id();
    let invoice = mill.post("RE", plain(10)).id();
    let read = mill.get(&invoice)["positionen"].clone();
    mill.client.put(&format!("/api/v1/belege/{invoice}"), json!({"items": read})).is(200);
    mill.put(&delivery, sell(10, &b)).hints("CHARGE_UMGEBUCHT");
    assert_eq!((mill.stock("A"), mill.stock("B")), ("100.000".to_owned(), "90.000".to_owned()));

    let read = and(mill.get(&invoice)["positionen"][0].clone(), json!({"menge": 12}));
    assert_eq!(moves(&mill.put(&invoice, read)), ["-2.000"], "what is not covered takes that batch");
    assert_eq!(mill.stock("B"), "88.000");

    let lot = mill.post("EL", buy(10, "L-1")).id();
    let read = and(mill.get(&lot)["positionen"][0].clone(), json!({"fremde_charge_nr": "L-2"}));
    mill.put(&lot, read).is(200);
    assert_eq!((mill.stock("L-1"), mill.stock("L-2")), ("0.000".to_owned(), "10.000".to_owned()));
}

#[test]
fn a_credit_that_names_a_batch_takes_back_what_moved_in_it() {
    let server = Server::start();
    let mill = Mill::with(&server, "Mühle", &[("charge_automatik", "fefo")]);
    let [a, b] = ["A", "B"].map(|fremde| mill.receive(fremde, 100));
    let invoice = mill.post("RE", plain(10)).id();
    let credit = mill.post("RE", sell(-10, &b));
    assert_eq!(moves(&credit), [""; 0]);
    let said = sentences(&credit, "CHARGE_WIDERSPRUCH");
    assert!(said[0].contains(&number(&mill, &invoice)), "{said:?}");
    let credit = mill.post("RE", sell(-4, &a));
    assert_eq!(
        (moves(&credit), credit.hint_codes()),
        (vec!["4.000".to_owned()], ["BEZUG_FEHLT", "RUECKNAHME_GEBUCHT"].map(str::to_owned).to_vec())
    );
}

#[test]
fn a_receipt_that_is_used_leaves_its_batch_by_no_request() {
    let server = Server::start();
    let mill = Mill::of(&server);
    mill.post("ER", json!({"artikelnr": "W", "menge": 10, "mhd": "2027-03-31"})).is(201);
    let batch = mill.batches()[0]["id"].as_str().unwrap().to_owned();
    mill.post("LS", sell(6, &batch)).is(201);
    let refused = mill.post("EL", buy(10, "L-1"));
    let message = refused.refused(400, "CHARGE_BEREITS_VERWENDET")["message"].as_str().unwrap().to_owned();
    assert!(message.contains("PUT /api/v1/chargen/{id}"), "{message}");
    // A new return to the supplier takes no receipt out of the batch, so it is allowed.
    mill.post("EL", json!({"artikelnr": "W", "menge": -10, "charge_id": batch})).hints("BESTAND_NEGATIV");
}

#[test]
fn what_contradicts_is_judged_by_the_whole_document() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let [a, b] = ["A", "B"].map(|fremde| mill.receive(fremde, 100));
    let invoice = mill.post("RE", json!([sell(5, &a), sell(5, &b)])).id();
    let bound = |item: Value| and(item, json!({"bezug_beleg_id": invoice}));
    let delivery = mill.post("LS", json!([bound(sell(6, &b)), bound(sell(5, &a))]));
    assert_eq!(moves(&delivery), ["-1.000"]);
    mill.post("RE", sell(1, &b)).is(201);

    mill.post("RE", sell(10, &a)).is(201);
    let delivery = mill.post("LS", json!([sell(10, &b), sell(10, &a)]));
    assert_eq!(delivery.hint_codes(), [""; 0], "the other item has met the invoice");
}

#[test]
fn no_document_that_could_not_be_met_contradicts() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let [a, b] = ["A", "B"].map(|fremde| mill.receive(fremde, 100));
    let closed = mill.post("LS", sell(10, &a)).id();
    mill.finalise(&closed);
    let path = format!("/api/v1/belege/{closed}/erledigen");
    mill.client.post(&path, json!({"ohne_gegenbeleg": true})).is(200);
    let old =
        json!({"beleg_typ": "LS", "kundennummer": "Kd", "beleg_datum": "2020-01-31", "items": [sell(1, &a)]});
    mill.client.post("/api/v1/belege", old).is(201);
    let invoice = mill.post("RE", sell(10, &b));
    assert_eq!(invoice.hint_codes(), [""; 0]);
}

#[test]
fn what_was_rebooked_names_the_invoice_that_says_the_batch() {
    let server = Server::start();
    let mill = Mill::with(&server, "Mühle", &[("charge_automatik", "fefo")]);
    let [_, b] = ["A", "B"].map(|fremde| mill.receive(fremde, 100));
    let delivery = mill.post("LS", plain(10)).id();
    let first = mill.post("RE", and(plain(10), json!({"bezug_beleg_id": delivery}))).id();
    let second = mill.post("RE", sell(10, &b)).id();
    let cancelled = mill.storno(&first);
    assert_eq!(sentences(&cancelled, "CHARGE_UMGEBUCHT"), rebooked(&mill, &second, ["A", "B"]));
    // Also if the request is a delivery.
    let other = mill.post("LS", sell(10, &b)).id();
    let third = mill.post("RE", sell(10, &b)).id();
    mill.post("LS", plain(10)).is(201);
    let cancelled = mill.storno(&other);
    assert_eq!(sentences(&cancelled, "CHARGE_UMGEBUCHT"), rebooked(&mill, &third, ["A", "B"]));
}

#[test]
fn a_return_of_another_batch_than_its_delivery_stands_for_itself() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let [a, b] = ["A", "B"].map(|fremde| mill.receive(fremde, 100));
    let delivery = mill.post("LS", sell(10, &a)).id();
    let back = mill.post("LS", and(sell(-4, &b), json!({"bezug_beleg_id": delivery})));
    assert_eq!(
        (moves(&back), back.hint_codes()),
        (vec!["4.000".to_owned()], ["PREIS_UEBERNOMMEN", "BEZUG_OHNE_MENGE"].map(str::to_owned).to_vec())
    );
}

#[test]
fn each_invoice_is_said_to_follow_its_delivery() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let [a, b] = ["A", "B"].map(|fremde| mill.receive(fremde, 100));
    let delivery = mill.post("LS", sell(20, &a)).id();
    let invoices = [(); 2].map(|()| mill.post("RE", plain(10)).id());
    let changed = mill.put(&delivery, sell(20, &b));
    let expected: Vec<_> = invoices.iter().flat_map(|invoice| rebooked(&mill, invoice, ["A", "B"])).collect();
    assert_eq!(sentences(&changed, "CHARGE_UMGEBUCHT"), expected);
}

#[test]
fn a_final_invoice_that_only_names_a_delivery_names_it_as_it_was() {
    let server = Server::start();
    let mill = Mill::with(&server, "Mühle", &[("lagerbuchung", "lieferung")]);
    let a = mill.receive("A", 100);
    let delivery = mill.post("LS", sell(10, &a)).id();
    let invoice = mill.post("RE", and(plain(10), json!({"bezug_beleg_id": delivery}))).id();
    mill.finalise(&invoice);
    let path = format!("/api/v1/belege/{delivery}");
    let changed = mill.client.put(&path, json!({"lieferdatum": "2026-07-01"}));
    for answer in [changed, mill.storno(&delivery)] {
        let said = sentences(&answer, "BELEG_NENNT_ALTES");
        assert!(said.len() == 1 && said[0].contains(&number(&mill, &invoice)), "{said:?}");
    }
}
