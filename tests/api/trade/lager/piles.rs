//! A document shares goods with a bounded number of others, so that neither it nor its storno occupies the
//! writer for long (D8, P6).

use serde_json::{Value, json};

use super::Mill;
use crate::harness::Server;

/// Maximum number of quantities that a document shares with others.
const SHARED: i64 = 750;

/// Maximum number of documents it shares them with.
const DOCUMENTS: i64 = 500;

/// Creates a company whose invoices and deliveries of S name no batch.
fn mill(server: &Server) -> Mill<'_> {
    Mill::with(server, "Mühle", &[("paarung_monate", "0")])
}

fn items(number: i64, menge: i64) -> Value {
    json!(vec![json!({"artikelnr": "S", "menge": menge}); usize::try_from(number).unwrap()])
}

fn stock(mill: &Mill<'_>) -> i64 {
    mill.moved("Kd")
}

#[test]
fn an_invoice_meets_so_many_goods_and_not_one_more() {
    let server = Server::start();
    let mill = mill(&server);
    let deliveries = [SHARED / 2, SHARED / 2, 1].map(|number| mill.post("LS", items(number, 1)).id());
    assert_eq!(stock(&mill), -(SHARED + 1));

    let refused = mill.post("RE", items(1, SHARED + 1));
    let error = refused.refused(400, "ZU_VIELE_GEGENBELEGE");
    assert!(error["message"].as_str().unwrap().contains("bezug_beleg_id"), "{error}");
    assert_eq!(stock(&mill), -(SHARED + 1), "nothing is kept of it");

    let invoice = mill.post("RE", items(1, SHARED)).id();
    assert_eq!(stock(&mill), -(SHARED + 1));
    mill.put(&invoice, items(1, SHARED + 1)).refused(400, "ZU_VIELE_GEGENBELEGE");
    mill.put(&invoice, items(1, SHARED)).is(200);
    let met = mill.get(&invoice)["positionen"][0]["gegenbelege"].as_array().unwrap().clone();
    let documents: std::collections::BTreeSet<_> =
        met.iter().map(|met| met["beleg_id"].to_string()).collect();
    assert_eq!((met.len() as i64, documents.len()), (SHARED, 2), "each position");

    let credit = mill.post("RE", items(1, -SHARED)).id();
    let again = mill.post("RE", items(1, SHARED)).id();
    assert_eq!(stock(&mill), -(SHARED + 1), "the deliveries were open again");
    for id in [&credit, &again, &invoice] {
        mill.storno(id).is(200);
    }
    let credit = mill.post("LS", items(1, -SHARED)).id();
    mill.post("RE", items(1, 1)).is(201);
    mill.storno(&credit).is(200);
    assert_eq!(stock(&mill), -(SHARED + 1), "the invoice has met the delivery of one");
    for delivery in deliveries {
        mill.storno(&delivery).is(200);
    }
    assert_eq!(stock(&mill), -1);
    assert!(server.cli(&["check"]).status.success());
}

#[test]
fn a_delivery_is_met_by_so_many_goods_and_not_one_more() {
    let server = Server::start();
    let mill = mill(&server);
    let delivery = mill.post("LS", items(1, SHARED + 1)).id();
    mill.post("RE", items(SHARED, 1)).is(201);
    let refused = mill.post("RE", items(1, 1));
    let error = refused.refused(400, "ZU_VIELE_GEGENBELEGE");
    assert!(error["message"].as_str().unwrap().starts_with("LS-"), "{error}");
    let half = json!({"artikelnr": "S", "menge": "-0.5"});
    mill.post("RE", half).is(201);
    let other = mill.post("LS", items(1, 1)).id();
    mill.post("RE", json!({"artikelnr": "S", "menge": 1, "bezug_beleg_id": other})).is(201);
    assert_eq!(stock(&mill), -(SHARED + 2));
    mill.storno(&delivery).is(200);
    assert_eq!(
        stock(&mill),
        -SHARED,
        "its invoices move their goods themselves, but for what the credit took back"
    );
    assert!(server.cli(&["check"]).status.success());
}

#[test]
fn an_invoice_meets_so_many_documents_and_not_one_more() {
    let server = Server::start();
    let mill = mill(&server);
    let deliveries: Vec<_> = (0..=DOCUMENTS).map(|_| mill.post("LS", items(1, 1)).id()).collect();
    let all = DOCUMENTS;
    mill.post("RE", items(1, all + 1)).refused(400, "ZU_VIELE_GEGENBELEGE");
    let invoice = mill.post("RE", items(all, 1)).id();
    assert_eq!(stock(&mill), -all - 1, "each delivery is met by an item");
    mill.put(&invoice, items(all, 1)).is(200);
    mill.put(&invoice, items(1, all + 1)).refused(400, "ZU_VIELE_GEGENBELEGE");

    let credit = mill.post("RE", items(1, -all)).id();
    mill.post("RE", items(1, all)).is(201);
    mill.storno(&credit).is(200);
    mill.storno(&invoice).is(200);
    for delivery in deliveries {
        mill.storno(&delivery).is(200);
    }
    assert_eq!(stock(&mill), -all);
    assert!(server.cli(&["check"]).status.success());
}

#[test]
fn a_delivery_is_met_by_so_many_documents_and_not_one_more() {
    let server = Server::start();
    let mill = mill(&server);
    let delivery = mill.post("LS", items(1, SHARED)).id();
    let other = mill.post("LS", items(1, 1)).id();
    let of_it = |menge: i64| json!({"artikelnr": "S", "menge": menge, "bezug_beleg_id": delivery});
    let invoices: Vec<_> = (0..DOCUMENTS).map(|_| mill.post("RE", of_it(1)).id()).collect();
    let refused = mill.post("RE", of_it(1));
    let error = refused.refused(400, "ZU_VIELE_GEGENBELEGE");
    assert!(error["message"].as_str().unwrap().starts_with("LS-"), "{error}");
    mill.put(&invoices[0], of_it(2)).is(200);
    mill.post("RE", json!({"artikelnr": "S", "menge": 1, "bezug_beleg_id": other})).is(201);
    mill.post("RE", items(1, -1)).is(201);
    assert_eq!(stock(&mill), -SHARED - 1);
    mill.storno(&delivery).is(200);
    assert_eq!(stock(&mill), -DOCUMENTS - 1, "its invoices move their goods themselves, less the credit");
    assert!(server.cli(&["check"]).status.success());
}

#[test]
fn a_storno_is_never_refused_and_says_what_it_leaves_open() {
    let server = Server::start();
    let mill = mill(&server);
    let delivery = mill.post("LS", items(1, SHARED + 1)).id();
    let invoice = mill.post("RE", items(1, SHARED + 1)).id();
    let others = [SHARED, 1].map(|number| mill.post("RE", items(number, 1)).id());
    assert_eq!(stock(&mill), -2 * (SHARED + 1));

    let answer = mill.storno(&invoice);
    let hints = answer.is(200)["hinweise"].as_array().unwrap();
    let hint = hints.iter().find(|hint| hint["code"] == "ZU_VIELE_GEGENBELEGE");
    assert!(hint.unwrap()["message"].as_str().unwrap().contains("LS-"), "{hints:?}");
    assert_eq!(stock(&mill), -(SHARED + 2), "the delivery has met all but one");

    mill.storno(&delivery).is(200);
    for other in others {
        mill.storno(&other).is(200);
    }
    assert_eq!(stock(&mill), 0);
    assert!(server.cli(&["check"]).status.success());
}

#[test]
fn a_sale_comes_from_so_many_batches_and_not_one_more() {
    let server = Server::start();
    let mill = Mill::with(&server, "Mühle", &[("charge_automatik", "fefo")]);
    let batch = |nr| json!({"artikelnummer": "W", "charge_nr": format!("C{nr}"), "bestand": 1});
    let batches: Vec<_> = (0..SHARED + 2).map(batch).collect();
    server.import(&mill.client, "chargen", &json!(batches).to_string());
    let sell = |menge| mill.post("LS", json!({"artikelnr": "W", "menge": menge}));
    sell(SHARED + 2).refused(400, "ZU_VIELE_GEGENBELEGE");
    let delivery = sell(SHARED + 1);
    assert_eq!(delivery.is(201)["lagerbewegungen"].as_array().unwrap().len(), 751);
    mill.storno(&delivery.id()).is(200);
    assert_eq!(stock(&mill), 0);
}
