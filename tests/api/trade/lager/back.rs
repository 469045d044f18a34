//! Returned goods: returns and credits (D8).

use serde_json::{Value, json};

use super::{Mill, and, buy, moves, plain, sell};
use crate::harness::{Client, Server};

fn bound(item: Value, beleg: &str) -> Value {
    and(item, json!({"bezug_beleg_id": beleg}))
}

#[test]
fn a_credit_that_moves_goods_back_says_so() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let charge = mill.receive("C1", 100);
    mill.post("RE", sell(10, &charge)).is(201);
    let credit = mill.post("RE", json!([plain(-4), sell(2, &charge)]));
    assert_eq!(moves(&credit), ["2.000"], "4 back, 2 out of the same batch");
    assert_eq!(credit.hint_codes(), ["BEZUG_FEHLT", "RUECKNAHME_GEBUCHT"]);
    assert_eq!(credit.body["hinweise"][1]["feld"], "items[0].menge");
    mill.post("LS", sell(8, &charge)).is(201);
    let covered = mill.post("RE", plain(-8));
    assert_eq!(
        moves(&covered),
        ["6.000", "2.000", "-8.000"],
        "the delivery moves what the invoices had moved"
    );
    assert_eq!(covered.hint_codes(), ["BEZUG_FEHLT"]);
    assert_eq!(mill.stock("C1"), "92.000");
    let supplier = mill.post("ER", buy(10, "C2"));
    assert_eq!(moves(&supplier), ["10.000"]);
    let back = mill.post("ER", buy(-10, "C2"));
    assert_eq!(moves(&back), ["-10.000"]);
    back.hints("RUECKNAHME_GEBUCHT");
}

#[test]
fn credits_that_do_not_book_take_nothing_back() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let charge = mill.receive("C1", 100);
    let silent = |menge| and(plain(menge), json!({"lager_buchen": false}));
    mill.post("RE", sell(10, &charge)).is(201);
    assert_eq!(moves(&mill.post("RE", silent(-10))), [""; 0], "a refund without goods");
    assert_eq!(moves(&mill.post("LS", sell(10, &charge))), [""; 0], "the invoice is still open");
    assert_eq!(moves(&mill.post("RE", silent(-10))), [""; 0]);
    mill.post("RE", plain(10)).refused(400, "CHARGE_FEHLT");
    let back = mill.post("LS", and(sell(-10, &charge), json!({"lager_buchen": false})));
    assert_eq!(moves(&back), ["10.000"], "deliveries always book");
    back.hints("FELD_IGNORIERT");
    assert_eq!(mill.stock("C1"), "100.000");

    server.set(&mill.client, &[("lagerbuchung", "lieferung")]);
    let invoice = mill.post_for("Kd2", "RE", plain(10));
    assert_eq!(moves(&invoice), [""; 0]);
    assert_eq!(moves(&mill.post_for("Kd2", "LS", sell(10, &charge))), ["-10.000"]);
    assert_eq!(moves(&mill.post_for("Kd2", "RE", plain(-10))), [""; 0]);
    assert_eq!(moves(&mill.post_for("Kd2", "LS", sell(-10, &charge))), ["10.000"]);
    // Positions keep the setting they were written under, until they are written again.
    server.set(&mill.client, &[("lagerbuchung", "beleg")]);
    assert_eq!(moves(&mill.storno(&invoice.id())), [""; 0]);
    assert_eq!(mill.stock("C1"), "100.000");
}

/// A document of a separate company.
fn strangers_delivery(client: &Client) -> String {
    client.post("/api/v1/kunden", json!({"name": "X", "kundennr": "X"})).is(201);
    let item = json!({"bezeichnung": "Fracht", "menge": 1});
    client.post("/api/v1/belege", json!({"beleg_typ": "LS", "kundennummer": "X", "items": [item]})).id()
}

#[test]
fn what_comes_back_names_a_document_that_it_can_be_of() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let charge = mill.receive("C1", 100);
    let ls = mill.post("LS", sell(10, &charge)).id();
    let re = mill.post("RE", sell(10, &charge)).id();
    let el = mill.post("EL", buy(10, "C1")).id();
    let au = mill.post("AU", plain(1)).id();
    let other = mill.post_for("Kd2", "RE", sell(1, &charge)).id();
    let stranger = strangers_delivery(&server.company("Andere"));
    let rows = [
        ("a return names its own", "LS", &ls, None),
        ("a return names an invoice", "LS", &re, None),
        ("a credit names its own", "RE", &re, None),
        ("a return names an order", "LS", &au, Some("BEZUG_PASST_NICHT")),
        ("a credit names an order", "RE", &au, Some("BEZUG_PASST_NICHT")),
        ("a credit names a purchase", "RE", &el, Some("BEZUG_PASST_NICHT")),
        ("an order names a delivery", "AU", &ls, Some("BEZUG_PASST_NICHT")),
        ("a credit of another partner", "RE", &other, Some("BEZUG_PASST_NICHT")),
        ("a return of another company", "LS", &stranger, Some("BELEG_NICHT_GEFUNDEN")),
    ];
    for (name, typ, bezug, code) in rows {
        let answer = mill.post(typ, bound(sell(-1, &charge), bezug));
        match code {
            None => drop(mill.storno(&answer.id()).is(200).clone()),
            Some(code) => {
                assert_eq!((answer.status, &answer.body["error"]), (400, &json!(code)), "{name}");
            }
        }
    }
    let itself = mill.put(&ls, json!([sell(10, &charge), bound(sell(-2, &charge), &ls)]));
    itself.refused(400, "BEZUG_PASST_NICHT");
    mill.put(&re, bound(sell(10, &charge), &re)).refused(400, "BEZUG_PASST_NICHT");
}

#[test]
fn what_comes_back_is_of_the_document_that_it_names() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let (b1, b2) = (mill.receive("B1", 100), mill.receive("B2", 100));
    let older = mill.post("RE", sell(10, &b1)).id();
    mill.post("RE", sell(10, &b2)).is(201);
    let back = |answer: &crate::harness::Answer| {
        let moved = answer.body["lagerbewegungen"].as_array().unwrap().clone();
        moved.iter().map(|moved| (moved["charge_id"].clone(), moved["menge"].clone())).collect::<Vec<_>>()
    };
    let newest = mill.post("RE", plain(-1));
    assert_eq!(back(&newest), [(json!(b2), json!("1.000"))], "the newest");
    let named = mill.post("RE", bound(plain(-1), &older));
    assert_eq!(back(&named), [(json!(b1), json!("1.000"))], "that of the older one");
    // A return that references a credit matches that one, even if an older credit waits in its batch.
    let first = mill.post("RE", bound(plain(-2), &older)).id();
    let second = mill.post("RE", bound(plain(-2), &older)).id();
    let of_second = mill.post("LS", bound(sell(-2, &b1), &second));
    assert_eq!(moves(&of_second), [""; 0]);
    assert_eq!(
        moves(&mill.storno(&second)),
        ["-2.000"],
        "what the return named is gone: it takes the credit that waits, {first}"
    );
}

#[test]
fn a_cancelled_document_is_met_by_nothing() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let charge = mill.receive("C1", 100);
    let invoice = mill.post("RE", sell(10, &charge)).id();
    mill.finalise(&invoice);
    let counter = mill.storno(&invoice).is(200)["storno_beleg_id"].as_str().unwrap().to_owned();
    for menge in [10, -10] {
        mill.post("LS", bound(sell(menge, &charge), &invoice)).refused(400, "BEZUG_PASST_NICHT");
        mill.post("LS", bound(sell(menge, &charge), &counter)).refused(400, "BEZUG_PASST_NICHT");
    }
    assert_eq!(mill.stock("C1"), "100.000");
}

#[test]
fn a_bezug_is_never_ignored() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let charge = mill.receive("C1", 100);
    let invoice = mill.post("RE", sell(10, &charge)).id();
    let other_goods = json!({"artikelnr": "S", "menge": 1});
    mill.post("LS", bound(other_goods.clone(), &invoice)).refused(400, "BEZUG_PASST_NICHT");
    mill.post("AU", bound(sell(10, &charge), &invoice)).refused(400, "BEZUG_PASST_NICHT");

    let met = mill.post("LS", bound(sell(12, &charge), &invoice));
    assert_eq!(
        (moves(&met), met.hint_codes()),
        (vec!["-2.000".to_owned()], ["PREIS_UEBERNOMMEN", "MENGE_ABWEICHEND"].map(str::to_owned).to_vec())
    );
    let late = mill.post("LS", bound(sell(5, &charge), &invoice));
    assert_eq!(moves(&late), ["-5.000"]);
    let hint = &late.hints("BEZUG_OHNE_MENGE")["hinweise"][1];
    let nummer = mill.get(&invoice)["beleg_nummer"].as_str().unwrap().to_owned();
    assert!(
        hint["message"].as_str().unwrap().contains(&nummer) && hint["feld"] == "items[0].bezug_beleg_id",
        "{hint}"
    );

    // A refund has nothing that a delivery could be of.
    let refund = mill.post("RE", and(sell(-1, &charge), json!({"lager_buchen": false}))).id();
    mill.post("LS", bound(sell(5, &charge), &refund)).refused(400, "BEZUG_PASST_NICHT");
    // A credit references what it credits, or a return, but never a delivery.
    mill.post("RE", bound(sell(-1, &charge), &met.id())).refused(400, "BEZUG_PASST_NICHT");
    mill.post("RE", bound(sell(-1, &charge), &refund)).refused(400, "BEZUG_PASST_NICHT");

    // An item without an article, or with a negative price, references an invoice.
    let freight = json!({"bezeichnung": "Fracht", "menge": 1, "ep_netto": 50, "mwst_satz": 19});
    let deduction = and(sell(1, &charge), json!({"ep_netto": -3}));
    for item in [freight, deduction] {
        let fits = mill.post("RE", bound(item.clone(), &invoice));
        assert!(!fits.is(201)["hinweise"].to_string().contains("BEZUG_OHNE_MENGE"), "{}", fits.body);
    }
    let freight = json!({"bezeichnung": "Fracht", "menge": 1, "ep_netto": 50, "mwst_satz": 19});
    mill.post("RE", bound(freight, &met.id())).refused(400, "BEZUG_PASST_NICHT");
}
