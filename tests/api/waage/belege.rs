//! Weighings in documents: an item names a weighing by wiegung_id (D12).

use serde_json::{Value, json};

use super::{UNKNOWN, first, get, storno, weigh};
use crate::harness::Server;
use crate::lager::{Mill, and};

/// An item over what a weighing says.
fn item(wiegung: &str, more: Value) -> Value {
    and(json!({"artikelnr": "W", "fremde_charge_nr": "C1", "wiegung_id": wiegung}), more)
}

#[test]
fn the_quantity_is_the_net_weight_in_the_unit_of_the_item_unless_it_is_sent() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let rows = [
        (json!({}), "24860.000", "kg"),
        (json!({"einheit": "t"}), "24.860", "t"),
        (json!({"einheit": "dt"}), "248.600", "dt"),
        (json!({"menge": 24_000}), "24000.000", "kg"),
    ];
    for (more, menge, einheit) in rows {
        let wiegung = weigh(&mill, 40_120, 15_260, json!({"artikel_id": mill.artikel_id("W")}));
        let id = mill.post("EL", item(&wiegung, more.clone())).id();
        let position = mill.get(&id)["positionen"][0].clone();
        assert_eq!((&position["menge"], &position["einheit"]), (&json!(menge), &json!(einheit)), "{more}");
        assert_eq!(get(&mill, &wiegung)["beleg_id"], id, "{more}");
    }
    assert_eq!(mill.stock("C1"), "98580.000");
    let sacks = weigh(&mill, 40_120, 15_260, json!({}));
    let unfit = json!({"artikelnr": "S", "wiegung_id": sacks});
    mill.post("EL", unfit).refused(400, "EINHEIT_NICHT_UMRECHENBAR");
    mill.post("EL", json!({"artikelnr": "W", "fremde_charge_nr": "C1"})).refused(400, "FELD_FEHLT");
}

#[test]
fn a_weighing_must_be_there_finished_and_of_the_article() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let open = first(&mill, 100, json!({})).id();
    let rye = weigh(&mill, 100, 40, json!({"artikel_id": mill.artikel_id("R")}));
    let other = Mill::with(&server, "Andere", &[]);
    let foreign = weigh(&other, 100, 40, json!({}));
    let rows = [
        (UNKNOWN, "WIEGUNG_NICHT_GEFUNDEN"),
        (foreign.as_str(), "WIEGUNG_NICHT_GEFUNDEN"),
        (open.as_str(), "WIEGUNG_NICHT_FERTIG"),
        (rye.as_str(), "WIEGUNG_PASST_NICHT"),
    ];
    for (wiegung, code) in rows {
        for more in [json!({}), json!({"menge": 5})] {
            assert_eq!(mill.post("EL", item(wiegung, more)).refused(400, code)["error"], code);
        }
    }
    assert_eq!(get(&mill, &rye)["beleg_id"], Value::Null);
}

#[test]
fn a_weighing_stands_in_one_live_document_of_each_type() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let wiegung = weigh(&mill, 100, 40, json!({}));
    let delivery = mill.post("EL", item(&wiegung, json!({}))).id();
    mill.post("EL", item(&wiegung, json!({}))).refused(400, "WIEGUNG_BEREITS_VERWENDET");
    mill.put(&delivery, item(&wiegung, json!({}))).is(200);
    mill.post("ER", item(&wiegung, json!({}))).is(201);
    mill.post("ER", item(&wiegung, json!({}))).refused(400, "WIEGUNG_BEREITS_VERWENDET");
    mill.storno(&delivery).is(200);
    let again = mill.post("EL", item(&wiegung, json!({}))).id();
    // A document that drops it leaves it free.
    mill.put(&again, json!({"artikelnr": "W", "fremde_charge_nr": "C1", "menge": 60})).is(200);
    mill.post("EL", item(&wiegung, json!({}))).is(201);
}

#[test]
fn another_partner_is_a_hint() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let own = weigh(&mill, 100, 40, json!({}));
    assert_eq!(mill.post("EL", item(&own, json!({}))).hint_codes(), [""; 0]);
    let of_gut = weigh(&mill, 100, 40, json!({"partner_id": mill.partner_id("Gut")}));
    let answer = mill.post("EL", item(&of_gut, json!({})));
    answer.is(201);
    answer.hints("WIEGUNG_ANDERER_PARTNER");
}

#[test]
fn a_weighing_in_a_live_document_cannot_be_cancelled() {
    let server = Server::start();
    let mill = Mill::of(&server);
    for finalised in [false, true] {
        let wiegung = weigh(&mill, 100, 40, json!({}));
        let invoice = mill.post("ER", item(&wiegung, json!({}))).id();
        if finalised {
            mill.finalise(&invoice);
        }
        let nummer = mill.get(&invoice)["beleg_nummer"].as_str().unwrap().to_owned();
        let refused = storno(&mill, &wiegung);
        let message = refused.refused(400, "WIEGUNG_ABGERECHNET")["message"].as_str().unwrap();
        assert!(message.contains(&nummer), "{message}");
        assert_eq!(get(&mill, &wiegung)["status"], "fertig");
        mill.storno(&invoice).is(200);
        assert_eq!(get(&mill, &wiegung)["beleg_id"], Value::Null, "no live document names it");
        assert_eq!(storno(&mill, &wiegung).is(200)["status"], "storno", "finalised: {finalised}");
    }
}
