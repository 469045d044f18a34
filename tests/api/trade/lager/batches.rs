//! Batches in documents: which are required, created, reused, chosen, overdrawn (D8).

use serde_json::{Value, json};

use super::{Mill, and, buy, moves, plain, sell};
use crate::harness::Server;

#[test]
fn a_batch_is_required_where_the_table_says_so() {
    let server = Server::start();
    let mill = Mill::of(&server);
    for typ in ["AN", "AU"] {
        assert_eq!(moves(&mill.post(typ, plain(10))), [""; 0], "{typ}");
    }
    for typ in ["BS", "EL", "ER", "LS", "RE"] {
        let refusal = mill.post(typ, plain(10)).refused(400, "CHARGE_FEHLT").clone();
        assert!(refusal["message"].as_str().unwrap().contains("Charge"), "{typ}: {refusal}");
    }
    assert_eq!(mill.batches().len(), 0, "a refusal leaves no batch");
    let charge = mill.receive("C1", 100);
    // Deliveries always need one, even if an invoice has moved the goods already.
    mill.post("ER", buy(10, "C2")).is(201);
    mill.post("EL", plain(10)).refused(400, "CHARGE_FEHLT");
    mill.post("RE", sell(10, &charge)).is(201);
    mill.post("LS", plain(10)).refused(400, "CHARGE_FEHLT");
    mill.post("LS", plain(-10)).refused(400, "CHARGE_FEHLT");
    // Invoices need one unless deliveries cover them fully.
    mill.post_for("Kd2", "LS", sell(10, &charge)).is(201);
    mill.post_for("Kd2", "RE", plain(11)).refused(400, "CHARGE_FEHLT");
    assert_eq!(moves(&mill.post_for("Kd2", "RE", plain(10))), [""; 0]);
    mill.post_for("Gut", "EL", buy(10, "G")).is(201);
    mill.post_for("Gut", "ER", plain(11)).refused(400, "CHARGE_FEHLT");
    assert_eq!(moves(&mill.post_for("Gut", "ER", plain(10))), [""; 0]);
    // An article without batches needs none.
    for typ in ["BS", "EL", "ER", "LS", "RE"] {
        mill.post(typ, json!({"artikelnr": "S", "menge": 1})).is(201);
    }
}

#[test]
fn each_position_notes_its_own_batch() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let items = json!([buy(1, "C1"), {"artikelnr": "S", "menge": 1}, buy(2, "C2"), buy(3, "C1")]);
    let positions = mill.get(&mill.post("EL", items).id())["positionen"].clone();
    let noted: Vec<_> = positions.as_array().unwrap().iter().map(|p| p["charge_id"].clone()).collect();
    let [first, second] = ["C1", "C2"].map(|fremde| mill.batch(fremde)["id"].clone());
    assert_eq!(noted, [first.clone(), Value::Null, second, first]);
}

#[test]
fn each_batch_information_alone_is_enough_for_a_purchase() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let charge = mill.receive("C1", 100);
    let rows = [
        ("fremde_charge_nr", json!("X")),
        ("mhd", json!("2027-01-31")),
        ("herkunftsland", json!("AT")),
        ("charge_id", json!(charge)),
    ];
    for typ in ["BS", "EL", "ER"] {
        for (field, value) in &rows {
            let mut item = json!({"artikelnr": "W", "menge": 10});
            item[*field] = value.clone();
            let answer = mill.post_for(if typ == "ER" { "Gut" } else { "Hof" }, typ, item);
            assert_eq!(answer.status, 201, "{typ} with {field}: {}", answer.body);
        }
    }
}

#[test]
fn an_organic_certificate_is_batch_information_too() {
    let server = Server::start();
    let mill = Mill::of(&server);
    server.import(&mill.client, "biozertifikate", r#"[{"id": 7, "nummer": "DE-ÖKO-006-7"}]"#);
    let certified = |id: i64| and(plain(10), json!({"biozertifikat_id": id}));
    mill.post("EL", certified(8)).refused(400, "BIOZERTIFIKAT_NICHT_GEFUNDEN");
    mill.post("EL", certified(7)).is(201);
    assert_eq!(mill.batches().len(), 1);
}

#[test]
fn a_purchase_order_makes_a_batch_without_stock_that_the_delivery_reuses() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let order = mill.post("BS", and(buy(100, "C1"), json!({"mhd": "2027-01-31", "ep_netto": "0.19"})));
    assert_eq!(moves(&order), [""; 0]);
    let batch = mill.batch("C1");
    assert_eq!((&batch["bestand"], &batch["eingang_menge"]), (&json!("0.000"), &json!("0.000")));
    assert_eq!(batch["mhd"], "2027-01-31T00:00:00.000Z");
    assert_eq!(mill.charge_id(&order.id()), batch["id"]);
    let delivery = mill.post("EL", and(buy(90, "c1"), json!({"ep_netto": "0.21"})));
    let again = mill.batch("C1");
    assert_eq!((&again["id"], &again["bestand"]), (&batch["id"], &json!("90.000")));
    assert_eq!((&again["eingang_menge"], &again["eingang_ep"]), (&json!("90.000"), &json!("0.2100")));
    assert_eq!(again["eingang_beleg_id"], delivery.id(), "the first receipt, not the order");

    server.set(&mill.client, &[("bestellung_ohne_charge", "true")]);
    let order = mill.post("BS", plain(5));
    assert_eq!(order.is(201)["lagerbewegungen"], json!([]));
    assert_eq!((mill.batches().len(), mill.charge_id(&order.id())), (1, Value::Null));
}

#[test]
fn a_batch_is_reused_when_article_partner_number_and_mhd_agree() {
    let server = Server::start();
    let mill = Mill::of(&server);
    mill.post("EL", buy(10, "Los-Ä1")).is(201);
    let rye = json!({"artikelnr": "R", "menge": 10, "fremde_charge_nr": "Los-Ä1"});
    let unnamed = json!({"artikelnr": "W", "menge": 10, "mhd": "2027-01-31"});
    let dated = |number: &str, mhd: &str| and(buy(10, number), json!({"mhd": mhd}));
    let rows = [
        ("trimmed and folded", "Hof", buy(10, "  los-ä1 "), 1),
        ("mhd on one side only", "Hof", dated("LOS-Ä1", "2027-01-31"), 1),
        ("the same mhd", "Hof", dated("Los-Ä1", "2027-01-31"), 1),
        ("without mhd again", "Hof", buy(10, "Los-Ä1"), 1),
        ("another mhd", "Hof", dated("Los-Ä1", "2027-02-28"), 2),
        ("another number", "Hof", buy(10, "Los-A1"), 3),
        ("another supplier", "Gut", buy(10, "Los-Ä1"), 4),
        ("another article", "Hof", rye, 5),
        ("no number", "Hof", unnamed.clone(), 6),
        ("no number again", "Hof", unnamed, 7),
    ];
    for (name, partner, item, expected) in rows {
        mill.post_for(partner, "EL", item).is(201);
        assert_eq!(mill.batches().len(), expected, "{name}");
    }
    assert_eq!(mill.batches()[0]["bestand"], "50.000");
    assert_eq!(mill.batches()[0]["fremde_charge_nr"], "Los-Ä1");
}

#[test]
fn a_reused_batch_takes_over_what_it_lacked_and_keeps_what_it_had() {
    let server = Server::start();
    let mill = Mill::of(&server);
    mill.receive("C1", 10);
    mill.post("EL", and(buy(10, "C1"), json!({"mhd": "2027-01-31", "herkunftsland": "AT"}))).is(201);
    mill.post("EL", and(buy(10, "C1"), json!({"herkunftsland": "FR"}))).is(201);
    let batch = mill.batch("C1");
    assert_eq!((&batch["mhd"], &batch["herkunftsland"]), (&json!("2027-01-31T00:00:00.000Z"), &json!("AT")));
}

#[test]
fn a_charge_id_must_exist_and_be_of_the_article() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let charge = mill.receive("C1", 100);
    let stranger = "0197f3a0-0000-7000-8000-000000000000";
    for typ in ["AN", "AU", "LS", "RE", "BS", "EL", "ER"] {
        let rye = json!({"artikelnr": "R", "menge": 1, "charge_id": charge});
        assert_eq!(
            mill.post(typ, rye).refused(400, "CHARGE_PASST_NICHT")["error"],
            "CHARGE_PASST_NICHT",
            "{typ}"
        );
        mill.post(typ, sell(1, stranger)).refused(400, "CHARGE_NICHT_GEFUNDEN");
    }
    let other = Mill::with(&server, "Andere", &[]);
    other.post("LS", sell(1, &charge)).refused(400, "CHARGE_NICHT_GEFUNDEN");
    assert_eq!(mill.stock("C1"), "100.000");
}

#[test]
fn purchase_fields_on_sales_are_ignored_with_a_hint() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let charge = mill.receive("C1", 100);
    for typ in ["AN", "AU", "LS", "RE"] {
        for (field, value) in [("fremde_charge_nr", "C9"), ("mhd", "2027-01-31"), ("herkunftsland", "AT")] {
            let mut item = sell(1, &charge);
            item[field] = json!(value);
            let answer = mill.post(typ, item);
            assert_eq!(answer.hint_codes(), ["FELD_IGNORIERT"], "{typ} {field}: {}", answer.body);
        }
    }
    mill.post_for("Kd2", "LS", buy(1, "C1")).refused(400, "CHARGE_FEHLT");
    assert_eq!(mill.batches().len(), 1);
    assert_eq!(mill.batch("C1")["mhd"], Value::Null);
}

#[test]
fn fefo_takes_batches_by_mhd_then_age_and_the_last_takes_what_is_missing() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let with = |number: &str, mhd: &str| and(buy(10, number), json!({"mhd": mhd}));
    let items =
        json!([buy(10, "old"), with("late", "2026-12-01"), with("soon", "2026-08-01"), buy(10, "new")]);
    mill.post("EL", items).is(201);
    mill.post("LS", plain(5)).refused(400, "CHARGE_FEHLT");
    server.set(&mill.client, &[("charge_automatik", "fefo")]);
    let rows = [
        ("one batch", "LS", 5, vec![("soon", "-5.000")], Some("soon")),
        ("split", "RE", 17, vec![("soon", "-5.000"), ("late", "-10.000"), ("old", "-2.000")], None),
        ("the last takes the rest", "LS", 30, vec![("old", "-8.000"), ("new", "-22.000")], None),
    ];
    for (at, (name, typ, menge, expected, single)) in rows.into_iter().enumerate() {
        let partner = if at == 1 { "Kd2" } else { "Kd" };
        let answer = mill.post_for(partner, typ, plain(menge));
        answer.hints("CHARGE_AUTOMATISCH");
        let by_batch = |(number, menge): &(&str, &str)| (mill.batch(number)["id"].clone(), json!(menge));
        let mut expected: Vec<_> = expected.iter().map(by_batch).collect();
        let movements = answer.body["lagerbewegungen"].as_array().unwrap();
        let mut listed: Vec<_> =
            movements.iter().map(|m| (m["charge_id"].clone(), m["menge"].clone())).collect();
        expected.sort_by_key(|(id, _)| id.to_string());
        listed.sort_by_key(|(id, _)| id.to_string());
        assert_eq!(listed, expected, "{name}");
        let single = single.map_or(Value::Null, |number| mill.batch(number)["id"].clone());
        assert_eq!(mill.charge_id(&answer.id()), single, "{name}");
        assert_eq!(answer.hint_codes().contains(&"BESTAND_NEGATIV".to_owned()), at == 2, "{name}");
    }
    assert_eq!(mill.stock("new"), "-12.000");
}

#[test]
fn more_than_the_stock_is_sold_with_a_hint_or_refused_by_setting() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let charge = mill.receive("C1", 10);
    assert_eq!(mill.post("LS", sell(10, &charge)).hint_codes(), [""; 0], "down to 0 is no overdraft");
    mill.post("RE", sell(15, &charge)).hints("BESTAND_NEGATIV");
    assert_eq!(mill.stock("C1"), "-5.000");

    server.set(&mill.client, &[("negativbestand", "ablehnen")]);
    let other = mill.receive("C2", 10);
    for typ in ["LS", "RE"] {
        mill.post_for("Kd2", typ, sell(11, &other)).refused(400, "BESTAND_NICHT_AUSREICHEND");
    }
    assert_eq!(mill.stock("C2"), "10.000");
    let number = mill.post_for("Kd2", "LS", sell(10, &other)).is(201)["beleg_nummer"].clone();
    assert_eq!(number, "LS-2026-00002", "a refusal uses no number");
    assert_eq!(moves(&mill.post_for("Kd2", "RE", sell(10, &other))), [""; 0], "moves nothing more");
}

#[test]
fn a_receipt_that_is_used_cannot_be_withdrawn() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let receipt = mill.post("EL", buy(100, "C1")).id();
    let charge = mill.batch("C1")["id"].as_str().unwrap().to_owned();
    mill.post("LS", sell(60, &charge)).is(201);
    mill.put(&receipt, buy(59, "C1")).refused(400, "CHARGE_BEREITS_VERWENDET");
    mill.put(&receipt, buy(100, "C2")).refused(400, "CHARGE_BEREITS_VERWENDET");
    mill.storno(&receipt).refused(400, "CHARGE_BEREITS_VERWENDET");
    assert_eq!((mill.stock("C1").as_str(), mill.batches().len()), ("40.000", 1));
    assert_eq!(moves(&mill.put(&receipt, buy(60, "C1"))), ["-40.000"], "down to 0 is allowed");
    // The result of the whole request counts: the invoice takes over what the delivery had booked.
    mill.post("ER", buy(60, "C1")).is(201);
    mill.storno(&receipt).is(200);
    assert_eq!(mill.stock("C1"), "0.000");
}

#[test]
fn the_receipt_of_a_batch_is_the_sum_of_its_receipt_movements() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let at = |menge: i64, price: &str| and(buy(menge, "C1"), json!({"ep_netto": price}));
    let first = mill.post("ER", at(100, "0.21")).id();
    mill.post_for("Hof", "EL", at(120, "0.22")).is(201);
    let third = mill.post("EL", at(50, "0.23")).id();
    let charge = mill.batch("C1")["id"].as_str().unwrap().to_owned();
    let receipt = |name: &str, expected: &str| {
        let batch = mill.batch("C1");
        assert_eq!(batch["eingang_menge"], expected, "{name}");
        assert_eq!(
            (&batch["eingang_ep"], &batch["eingang_beleg_id"]),
            (&json!("0.2100"), &json!(first)),
            "{name}"
        );
        assert_eq!((&batch["eingang_quelle"], &batch["einheit"]), (&json!("beleg"), &json!("kg")), "{name}");
    };
    receipt("100 + the 20 that were not invoiced + 50", "170.000");
    mill.post("LS", sell(30, &charge)).is(201);
    receipt("sales are no receipts", "170.000");
    mill.put(&third, at(40, "0.24")).is(200);
    receipt("a correction", "160.000");
    mill.storno(&third).is(200);
    receipt("a reversal", "120.000");
    assert_eq!(mill.stock("C1"), "90.000");
}

#[test]
fn movements_are_only_ever_added() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let receipt = mill.post("EL", buy(100, "C1")).id();
    let count = |sign: &str| -> i64 {
        server
            .sql(&format!("select coalesce(sum(menge), 0) / 1000000 from lagerbewegung where menge {sign} 0"))
    };
    mill.put(&receipt, buy(80, "C1")).is(200);
    assert!(count(">") >= 100 && count("<") <= -20, "the first movement stands, a reversal follows");
    assert_eq!(count("<>"), 80);
    mill.storno(&receipt).is(200);
    assert!(count(">") >= 100);
    assert_eq!((count("<>"), mill.stock("C1").as_str()), (0, "0.000"));
}
