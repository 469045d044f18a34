//! The order in which what names nothing is met, and that a guess is never printed.

use serde_json::{Value, json};

use super::{position, sacks};
use crate::harness::{COMPLETE, Server};
use crate::trade::ausfertigung::xml;
use crate::trade::lager::{Mill, and};

/// The numbers of the documents that a position has met, each with how.
fn met(position: &Value) -> Vec<[&str; 2]> {
    let met = position["gegenbelege"].as_array().unwrap();
    met.iter().map(|met| ["beleg_nummer", "art"].map(|field| met[field].as_str().unwrap())).collect()
}

fn one(mill: &Mill<'_>, typ: &str, menge: i64) -> Value {
    mill.post(typ, sacks(&[(menge, json!({}))])).is(201)["positionen"][0].clone()
}

#[test]
fn exactly_the_quantity_comes_first_then_what_is_untouched() {
    let server = Server::start();
    let mill = Mill::of(&server);
    for menge in [100, 40, 50, 40] {
        one(&mill, "LS", menge);
    }
    assert_eq!(met(&one(&mill, "RE", 50)), [["LS-2026-00003", "genau"]]);
    assert_eq!(met(&one(&mill, "RE", 40)), [["LS-2026-00002", "genau"]], "the oldest of those");
    assert_eq!(met(&one(&mill, "RE", 10)), [["LS-2026-00001", "vorgeschlagen"]], "the oldest");
    assert_eq!(met(&one(&mill, "RE", 30)), [["LS-2026-00004", "vorgeschlagen"]], "of which nothing was met");
    assert_eq!(met(&one(&mill, "RE", 90)), [["LS-2026-00001", "vorgeschlagen"]], "exactly what is left");
    // A return lowers in the same order, the newest first each time.
    for menge in [30, 20, 30] {
        one(&mill, "LS", menge);
    }
    assert_eq!(met(&one(&mill, "LS", -20))[0][0], "LS-2026-00006", "exactly");
    assert_eq!(met(&one(&mill, "LS", -5))[0][0], "LS-2026-00007", "the newest that is untouched");
    assert_eq!(met(&one(&mill, "LS", -5))[0][0], "LS-2026-00005", "before what was touched");
}

/// LS 100.5 in June, RE 100; LS 50 in November, RE 50: the second invoice is that of November's delivery alone.
#[test]
fn an_invoice_prints_the_delivery_that_it_certainly_bills() {
    let server = Server::start_at("2026-11-20T10:00:00Z");
    let mill = Mill::with(&server, "Mühle", COMPLETE);
    let address =
        json!({"strasse": "Am Anger 3", "plz": "86650", "ort": "Wemding", "email": "r@hof.example"});
    mill.client.put(&format!("/api/v1/kunden/{}", mill.partner_id("Kd")), address).is(200);
    let deliver = |day: &str, menge: &str| {
        let item = json!([{"artikelnr": "S", "menge": menge}]);
        let body = json!({"beleg_typ": "LS", "kundennummer": "Kd", "beleg_datum": day, "lieferdatum": day, "items": item});
        mill.client.post("/api/v1/belege", body).id()
    };
    let june = deliver("2026-06-10", "100.5");
    let guessed = mill.post("RE", sacks(&[(100, json!({}))]));
    let hint = guessed.hints("LIEFERUNG_VERMUTET")["hinweise"].to_string();
    assert!(hint.contains("LS-2026-00001 vom 10.06.2026"), "{hint}");
    deliver("2026-11-12", "50");
    let exact = mill.post("RE", sacks(&[(50, json!({}))]));
    assert!(!exact.hint_codes().contains(&"LIEFERUNG_VERMUTET".to_owned()), "{}", exact.body);
    assert_eq!(met(&exact.body["positionen"][0]), [["LS-2026-00002", "genau"]]);
    let named =
        mill.post("RE", and(json!({"artikelnr": "S", "menge": "0.5"}), json!({"bezug_beleg_id": june})));
    assert!(!named.hint_codes().contains(&"LIEFERUNG_VERMUTET".to_owned()), "{}", named.body);
    let path = format!("/api/v1/belege/{}/abschliessen?pruefen=true", guessed.id());
    mill.client.post(&path, json!({})).hints("LIEFERUNG_VERMUTET");
    let printed = |id: &str| {
        mill.finalise(id);
        let written = xml(&mill.client, id);
        ["LS-2026-00001", "LS-2026-00002"].map(|number| written.contains(number))
    };
    assert_eq!(printed(&guessed.id()), [false, false]);
    assert_eq!(printed(&exact.id()), [false, true]);
    assert_eq!(printed(&named.id()), [true, false]);
    assert_eq!(met(&mill.get(&exact.id())["positionen"][0])[0][1], "genannt", "what is printed stays");
}

/// Who names an order meets what was made from it before all else, whichever of the two comes first.
#[test]
fn what_was_made_from_the_same_order_is_met_first_and_counts_as_named() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let one = |typ: &str, menge: i64| mill.post(typ, sacks(&[(menge, json!({}))])).is(201).clone();
    for (first, second) in [("LS", "RE"), ("RE", "LS")] {
        let order = one("AU", 100);
        let of_order = json!({"bezug_position_id": position(&order, 0), "menge": 40});
        one(first, 40);
        let made = mill.post(first, of_order.clone()).is(201).clone();
        let late = mill.post(second, json!({"bezug_position_id": position(&order, 0), "menge": 30}));
        assert!(!late.hint_codes().contains(&"LIEFERUNG_VERMUTET".to_owned()), "{}", late.body);
        let late = late.body;
        let ties = |body: &Value| mill.get(body["id"].as_str().unwrap())["positionen"][0].clone();
        let (invoice, delivery) = if first == "LS" { (&late, &made) } else { (&made, &late) };
        let before = &ties(invoice)["vorgaenger"];
        let names: Vec<_> =
            before.as_array().unwrap().iter().map(|tie| [&tie["beleg_nummer"], &tie["art"]]).collect();
        let genannt = json!("genannt");
        assert_eq!(
            names,
            [[&delivery["beleg_nummer"], &genannt], [&order["beleg_nummer"], &genannt]],
            "{before}"
        );
        assert_eq!(late["lagerbewegungen"], json!([]));
        let rest = one(second, 40);
        assert_eq!(rest["lagerbewegungen"], json!([]), "the other one is still there");
    }
}
