//! What is named beyond what is left of it, where no goods are paired over it, is said (D38).

use serde_json::{Value, json};

use super::position;
use crate::harness::{Answer, Server};
use crate::trade::lager::{Mill, and};

fn sack(menge: i64) -> Value {
    json!({"artikelnr": "S", "menge": menge, "ep_netto": 10})
}

/// Whether an answer says that nothing, or not all, was left of what it names.
fn said(answer: &Answer) -> Option<String> {
    assert!(answer.status < 300, "{}", answer.body);
    let codes = answer.hint_codes();
    codes.into_iter().find(|code| ["BEZUG_OHNE_MENGE", "MENGE_ABWEICHEND"].contains(&code.as_str()))
}

const NOTHING: Option<&str> = Some("BEZUG_OHNE_MENGE");
const MORE: Option<&str> = Some("MENGE_ABWEICHEND");

/// Of 100 each: first 60, then 50, then 10.
#[test]
fn an_order_is_delivered_and_invoiced_once() {
    let server = Server::start();
    let mill = Mill::of(&server);
    for (of, typ) in [("AN", "AU"), ("AN", "RE"), ("AU", "LS"), ("AU", "RE"), ("BS", "EL"), ("BS", "ER")] {
        let order = mill.post(of, sack(100)).is(201).clone();
        let by_position = json!({"bezug_position_id": position(&order, 0)});
        let by_document = json!({"bezug_beleg_id": order["id"]});
        let name = |menge: i64, bezug: &Value| mill.post(typ, and(sack(menge), bezug.clone()));
        let first = name(60, &by_position);
        assert_eq!(said(&first).as_deref(), None, "{typ} of {of}");
        let second = name(50, &by_document);
        assert_eq!(said(&second).as_deref(), MORE, "{typ} of {of}: {}", second.body);
        assert_eq!(said(&name(10, &by_position)).as_deref(), NOTHING, "{typ} of {of}");
        mill.storno(&second.id()).is(200);
        assert_eq!(said(&name(30, &by_position)).as_deref(), None, "{typ} of {of}");
    }
}

/// What was delivered of an order is left to be invoiced, and what was credited of it once more.
#[test]
fn what_a_delivery_took_of_an_order_is_left_for_its_invoice() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let order = mill.post("AU", sack(100)).is(201).clone();
    let of_order = json!({"bezug_position_id": position(&order, 0)});
    assert_eq!(said(&mill.post("LS", and(sack(100), of_order.clone()))).as_deref(), None);
    let invoice = mill.post("RE", and(sack(100), of_order.clone()));
    assert_eq!(said(&invoice).as_deref(), None, "{}", invoice.body);
    let again = mill.post("RE", and(sack(100), of_order.clone()));
    assert_eq!(said(&again).as_deref(), NOTHING);
    mill.storno(&again.id()).is(200);
    let credit = json!({"bezug_position_id": position(&invoice.body, 0), "menge": -100});
    mill.post("RE", credit).is(201);
    assert_eq!(said(&mill.post("RE", and(sack(100), of_order))).as_deref(), None);
}

#[test]
fn what_moves_no_goods_is_invoiced_once() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let freight = json!({"bezeichnung": "Fracht", "menge": 1, "ep_netto": 50, "mwst_satz": 19});
    for (of, typ) in [("LS", "RE"), ("EL", "ER")] {
        let delivery = mill.post(of, json!([sack(100), freight])).is(201).clone();
        let goods = json!({"bezug_position_id": position(&delivery, 0), "menge": 60, "lager_buchen": false});
        let freight = json!({"bezug_position_id": position(&delivery, 1), "menge": 1});
        for (line, expected) in
            [(&goods, None), (&freight, None), (&goods, MORE), (&goods, NOTHING), (&freight, NOTHING)]
        {
            let answer = mill.post(typ, line.clone());
            assert_eq!(said(&answer).as_deref(), expected, "{typ} {line}: {}", answer.body);
        }
    }
}

/// Where invoices move nothing, a delivery and its invoice know each other all the same.
#[test]
fn with_lagerbuchung_lieferung_names_count_both_ways() {
    let server = Server::start();
    let mill = Mill::with(&server, "Mühle", &[("lagerbuchung", "lieferung")]);
    for (first, then) in [("LS", "RE"), ("RE", "LS"), ("EL", "ER"), ("ER", "EL")] {
        let named = mill.post(first, sack(100)).is(201).clone();
        let line = |menge: i64| json!({"bezug_position_id": position(&named, 0), "menge": menge});
        let all = mill.post(then, line(100));
        assert_eq!(said(&all).as_deref(), None, "{then} of {first}: {}", all.body);
        assert_eq!(said(&mill.post(then, line(100))).as_deref(), NOTHING, "{then} of {first}");
        let shown = mill.get(named["id"].as_str().unwrap());
        assert_eq!(shown["positionen"][0]["nachfolger"][0]["menge"], "100.000", "{then} of {first}");
    }
    // A delivery that was invoiced in full is settled without a word.
    let delivery = mill.post("LS", sack(7)).is(201).clone();
    mill.post("RE", json!({"bezug_position_id": position(&delivery, 0), "menge": 7})).is(201);
    let id = delivery["id"].as_str().unwrap();
    mill.finalise(id);
    let settled = mill.client.post(&format!("/api/v1/belege/{id}/erledigen"), json!({}));
    assert!(!settled.hint_codes().contains(&"MENGE_OFFEN".to_owned()), "{}", settled.body);
}

/// A return that takes back more than its delivery brought.
#[test]
fn a_return_beyond_its_delivery_is_said() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let delivery = mill.post("LS", sack(10)).is(201).clone();
    let back =
        |menge: i64| mill.post("LS", json!({"bezug_position_id": position(&delivery, 0), "menge": -menge}));
    assert_eq!(said(&back(6)).as_deref(), None);
    let more = back(6);
    let hint = more.hints("MENGE_ABWEICHEND")["hinweise"].to_string();
    assert!(hint.contains("4.000") && hint.contains("2.000"), "{hint}");
    assert_eq!(said(&back(1)).as_deref(), NOTHING);
}
