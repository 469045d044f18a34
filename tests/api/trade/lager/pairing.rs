//! Deliveries and invoices are matched: whichever comes first moves the goods (D8).

use serde_json::{Value, json};

use super::{Mill, and, buy, moves, plain, sell};
use crate::harness::{Answer, Server};

#[test]
fn an_invoice_item_that_does_not_book_stays_out_of_pairing() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let charge = mill.receive("C1", 100);
    mill.post("LS", sell(10, &charge)).is(201);
    let silent = and(plain(10), json!({"lager_buchen": false}));
    assert_eq!(moves(&mill.post("RE", silent.clone())), [""; 0], "it needs no batch");
    assert_eq!(moves(&mill.post("RE", plain(10))), [""; 0], "the delivery is still open for this one");
    assert_eq!(moves(&mill.post("ER", silent)), [""; 0]);
    for (typ, item, expected) in [("LS", sell(3, &charge), "-3.000"), ("EL", buy(3, "C1"), "3.000")] {
        let answer = mill.post(typ, and(item, json!({"lager_buchen": false})));
        assert_eq!(moves(&answer), [expected], "{typ}: ignored");
        answer.hints("FELD_IGNORIERT");
    }
}

#[test]
fn with_lagerbuchung_lieferung_only_deliveries_move_stock() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let charge = mill.receive("C1", 100);
    let before = mill.post("RE", sell(10, &charge));
    assert_eq!(moves(&before), ["-10.000"]);
    server.set(&mill.client, &[("lagerbuchung", "lieferung")]);
    for (typ, item) in [("RE", sell(10, &charge)), ("RE", plain(10)), ("ER", plain(10)), ("ER", buy(9, "C1"))]
    {
        assert_eq!(moves(&mill.post(typ, item)), [""; 0], "{typ}");
    }
    assert_eq!(moves(&mill.post("LS", sell(10, &charge))), [""; 0], "pairs with what was written before");
    assert_eq!(moves(&mill.post("LS", sell(10, &charge))), ["-10.000"]);
    assert_eq!(moves(&mill.post("EL", buy(10, "C1"))), ["10.000"]);
    assert_eq!(mill.stock("C1"), "90.000");
}

#[test]
fn an_item_that_names_a_document_pairs_with_it_alone() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let (b1, b2) = (mill.receive("B1", 100), mill.receive("B2", 100));
    let first = mill.post("LS", sell(10, &b1)).id();
    let second = mill.post("LS", sell(10, &b2)).id();
    let bound = |menge, beleg: &str| and(plain(menge), json!({"bezug_beleg_id": beleg}));
    let invoice = mill.post("RE", bound(10, &second));
    assert_eq!((moves(&invoice), mill.charge_id(&invoice.id())), (vec![], json!(b2)));
    let more = mill.post("RE", bound(1, &second));
    more.hints("BEZUG_OHNE_MENGE");
    assert_eq!(moves(&more), [""; 0], "nothing beyond the delivery that it names");
    let free = mill.post("RE", plain(10));
    assert_eq!((moves(&free), mill.charge_id(&free.id())), (vec![], json!(b1)), "{first} is left");
    let early = mill.post("RE", sell(5, &b1)).id();
    let later = mill.post("RE", sell(5, &b1)).id();
    let delivery = mill.post("LS", and(sell(8, &b1), json!({"bezug_beleg_id": later})));
    assert_eq!(moves(&delivery), ["-3.000"], "only {later} covers it, not {early}");
}

#[test]
fn a_bezug_must_be_the_counterpart_of_the_same_partner() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let charge = mill.receive("C1", 100);
    let id = |answer: Answer| answer.id();
    let ls = id(mill.post("LS", sell(1, &charge)));
    let re = id(mill.post("RE", sell(1, &charge)));
    let au = id(mill.post("AU", plain(1)));
    let el = id(mill.post("EL", buy(1, "C1")));
    let other = id(mill.post_for("Kd2", "LS", sell(1, &charge)));
    let unknown = "0197f3a0-0000-7000-8000-000000000000".to_owned();
    let rows = [
        ("unknown", "RE", &unknown, "BELEG_NICHT_GEFUNDEN"),
        ("an invoice names an invoice", "RE", &re, "BEZUG_PASST_NICHT"),
        ("an order names an order", "AU", &au, "BEZUG_PASST_NICHT"),
        ("a sale names a purchase", "RE", &el, "BEZUG_PASST_NICHT"),
        ("a delivery names a delivery", "LS", &ls, "BEZUG_PASST_NICHT"),
        ("another partner", "RE", &other, "BEZUG_PASST_NICHT"),
        ("a purchase names a sale", "ER", &ls, "BEZUG_PASST_NICHT"),
    ];
    for (name, typ, bezug, code) in rows {
        let answer = mill.post(typ, and(sell(1, &charge), json!({"bezug_beleg_id": bezug})));
        assert_eq!((answer.status, &answer.body["error"]), (400, &json!(code)), "{name}");
    }
}

#[test]
fn price_credits_negative_prices_and_texts_never_move() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let charge = mill.receive("C1", 100);
    mill.post("LS", sell(10, &charge)).is(201);
    let rows = [
        ("a price credit", "RE", plain(-5)),
        ("a price credit of a purchase", "ER", plain(-5)),
        ("a discount line", "RE", and(sell(5, &charge), json!({"ep_netto": -1}))),
        ("a discount line of a purchase", "EL", and(buy(5, "C1"), json!({"ep_netto": -1}))),
        ("a discount line of a delivery", "LS", and(sell(5, &charge), json!({"ep_netto": -1}))),
        ("freight", "RE", json!({"bezeichnung": "Fracht", "menge": 1, "ep_netto": 50})),
        ("freight of a delivery", "LS", json!({"bezeichnung": "Fracht", "menge": 1})),
        ("an order", "AU", sell(5, &charge)),
    ];
    for (name, typ, item) in rows {
        let answer = mill.post(typ, item);
        assert_eq!(answer.is(201)["lagerbewegungen"], json!([]), "{name}");
    }
    assert_eq!(moves(&mill.post("RE", plain(10))), [""; 0], "none of them took part in pairing");
    assert_eq!(mill.stock("C1"), "90.000");
}

#[test]
fn returns_move_back_and_lower_what_is_open_but_not_what_is_invoiced() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let charge = mill.receive("C1", 100);
    let rows = [
        ("Kd", "LS", sell(10, &charge), vec!["-10.000"]),
        ("Kd", "LS", sell(-4, &charge), vec!["4.000"]),
        ("Kd", "RE", sell(10, &charge), vec!["-4.000"]),
        ("Kd2", "LS", sell(10, &charge), vec!["-10.000"]),
        ("Kd2", "RE", plain(10), vec![]),
        ("Kd2", "LS", sell(-4, &charge), vec!["4.000"]),
        ("Kd2", "RE", sell(4, &charge), vec!["-4.000"]),
        ("Gut", "EL", buy(10, "G"), vec!["10.000"]),
        ("Gut", "EL", buy(-4, "G"), vec!["-4.000"]),
        ("Gut", "ER", buy(10, "G"), vec!["4.000"]),
    ];
    for (at, (partner, typ, item, expected)) in rows.into_iter().enumerate() {
        let answer = mill.post_for(partner, typ, item);
        assert_eq!(answer.status, 201, "row {at}: {}", answer.body);
        assert_eq!(moves(&answer), expected, "row {at}");
    }
    assert_eq!((mill.stock("C1").as_str(), mill.stock("G").as_str()), ("80.000", "10.000"));
}

#[test]
fn documents_pair_in_one_batch_only_where_both_name_one() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let (b1, b2) = (mill.receive("B1", 100), mill.receive("B2", 100));
    mill.post("LS", sell(6, &b1)).is(201);
    mill.post("LS", sell(4, &b2)).is(201);
    assert_eq!(moves(&mill.post_for("Kd2", "RE", sell(3, &b2))), ["-3.000"], "another partner");
    let both = mill.post("RE", plain(8)).id();
    assert_eq!(mill.charge_id(&both), Value::Null, "two batches cover it");
    let rest = mill.post("RE", plain(2)).id();
    assert_eq!(mill.charge_id(&rest), json!(b2), "inherited from the only batch");
    mill.post("LS", sell(5, &b1)).is(201);
    assert_eq!(moves(&mill.post("RE", sell(5, &b2))), ["-5.000"], "named another batch");
    assert_eq!(moves(&mill.post("RE", plain(5))), [""; 0], "names none");
    assert_eq!((mill.stock("B1").as_str(), mill.stock("B2").as_str()), ("89.000", "88.000"));
}

#[test]
fn a_storno_of_the_delivery_moves_the_invoice_and_lists_both() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let charge = mill.receive("C1", 100);
    let delivery = mill.post("LS", sell(10, &charge));
    let invoice = mill.post("RE", plain(10));
    mill.finalise(&invoice.id());
    let mut position = mill.get(&invoice.id())["positionen"].clone();
    let answer = mill.storno(&delivery.id());
    let batch = mill.batch("C1");
    let expected = |beleg: &Answer, menge: &str| {
        json!({"beleg_id": beleg.id(), "beleg_nummer": beleg.body["beleg_nummer"],
            "artikel_id": batch["artikel_id"], "charge_id": charge, "charge_nr": batch["charge_nr"],
            "menge": menge, "einheit": "kg"})
    };
    let mut listed = answer.is(200)["lagerbewegungen"].as_array().unwrap().clone();
    listed.sort_by_key(|bewegung| bewegung["menge"].as_str().unwrap().to_owned());
    assert_eq!(listed, [expected(&invoice, "-10.000"), expected(&delivery, "10.000")]);
    (position[0]["gegenbelege"], position[0]["vorgaenger"]) = (json!([]), json!([]));
    assert_eq!(
        mill.get(&invoice.id())["positionen"],
        position,
        "a finalised position keeps all but its pairs"
    );
    assert_eq!(mill.stock("C1"), "90.000");
}

#[test]
fn movements_are_in_the_unit_of_the_article() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let item = and(buy(0, "C1"), json!({"menge": "1.5", "einheit": "t", "ep_netto": "245.50"}));
    let answer = mill.post("EL", item);
    let bewegung = &answer.is(201)["lagerbewegungen"][0];
    assert_eq!((&bewegung["menge"], &bewegung["einheit"]), (&json!("1500.000"), &json!("kg")));
    let batch = mill.batch("C1");
    assert_eq!((&batch["eingang_menge"], &batch["eingang_ep"]), (&json!("1500.000"), &json!("0.2455")));
    let charge = batch["id"].as_str().unwrap();
    let dt = and(sell(2, charge), json!({"einheit": "dt"}));
    assert_eq!(moves(&mill.post("LS", dt)), ["-200.000"]);
    mill.post("RE", plain(201)).refused(400, "CHARGE_FEHLT");
    let tons = and(plain(0), json!({"menge": "0.2", "einheit": "T"}));
    assert_eq!(moves(&mill.post("RE", tons)), [""; 0]);
}

#[test]
fn articles_without_batches_move_without_a_batch() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let sacks = |menge: i64| json!({"artikelnr": "S", "menge": menge});
    for (typ, expected) in [("EL", vec!["5.000"]), ("ER", vec![]), ("LS", vec!["-5.000"]), ("RE", vec![])] {
        let answer = mill.post(typ, sacks(5));
        assert_eq!(moves(&answer), expected, "{typ}");
        for bewegung in answer.body["lagerbewegungen"].as_array().unwrap() {
            assert_eq!(
                (&bewegung["charge_id"], &bewegung["einheit"]),
                (&Value::Null, &json!("Stk")),
                "{typ}"
            );
        }
    }
    assert_eq!(mill.batches().len(), 0);
}

#[test]
fn purchases_pair_first_and_only_the_remainder_makes_a_batch() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let dated = |menge: i64| and(plain(menge), json!({"mhd": "2027-01-31"}));
    let rows = [
        ("EL", buy(10, "C1"), vec!["10.000"], 1),
        ("ER", buy(10, "C2"), vec!["10.000"], 2),
        ("ER", dated(10), vec![], 2),
        ("EL", buy(10, "c2"), vec![], 2),
        ("EL", buy(10, "C1"), vec!["10.000"], 2),
        ("ER", dated(12), vec!["2.000"], 3),
        ("ER", and(buy(5, "C1"), json!({"lager_buchen": false})), vec![], 3),
    ];
    for (at, (typ, item, expected, batches)) in rows.into_iter().enumerate() {
        let answer = mill.post(typ, item);
        assert_eq!(answer.status, 201, "row {at}: {}", answer.body);
        assert_eq!(moves(&answer), expected, "row {at}");
        assert_eq!(mill.batches().len(), batches, "row {at}");
    }
    assert_eq!((mill.stock("C1").as_str(), mill.stock("C2").as_str()), ("20.000", "10.000"));
    assert_eq!(mill.moved("Hof"), 32);
}

#[test]
fn a_counter_document_takes_no_part() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let charge = mill.receive("C1", 100);
    let invoice = mill.post("RE", sell(10, &charge)).id();
    mill.finalise(&invoice);
    mill.post("LS", sell(10, &charge)).is(201);
    let counter = mill.storno(&invoice).is(200)["storno_beleg_id"].as_str().unwrap().to_owned();
    assert_eq!((mill.moved("Kd"), mill.stock("C1").as_str()), (-10, "90.000"));
    let again = mill.post("RE", sell(10, &charge));
    assert_eq!(moves(&again), [""; 0], "the delivery is open again");
    assert_eq!(mill.get(&counter)["positionen"][0]["menge"], "-10.000");
    assert_eq!(mill.moved("Kd"), -10);
}

#[test]
fn an_invoice_of_several_positions_stands_alone_when_its_deliveries_go() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let (c1, c2) = (mill.receive("C1", 100), mill.receive("C2", 100));
    let first = mill.post("LS", sell(8, &c1)).id();
    let second = mill.post("LS", sell(12, &c2)).id();
    let invoice = mill.post("RE", json!([plain(6), plain(14)]));
    assert_eq!(moves(&invoice), [""; 0]);
    for delivery in [second, first] {
        mill.storno(&delivery).is(200);
        assert_eq!(mill.moved("Kd"), -20);
    }
}

#[test]
fn an_invoice_takes_over_the_batch_of_the_delivery_that_goes() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let (c1, c2) = (mill.receive("C1", 100), mill.receive("C2", 100));
    let stock = || (mill.stock("C1"), mill.stock("C2"));
    let first = mill.post("LS", sell(8, &c1)).id();
    let second = mill.post("LS", sell(12, &c2)).id();
    mill.post("RE", plain(20)).is(201);
    let before = stock();
    assert_eq!(before, ("92.000".to_owned(), "88.000".to_owned()));
    for delivery in [second, first] {
        mill.storno(&delivery).is(200);
        assert_eq!(stock(), before, "what was moved once is not moved again");
    }
}
