//! What each side shows: where a position comes from, what came from it, and what is left of it.

use serde_json::{Value, json};

use super::{naming, position, sacks};
use crate::harness::Server;
use crate::trade::lager::{Mill, plain};

/// Number, quantity and kind of each tie of a position.
fn ties(position: &Value, field: &str) -> Vec<[String; 3]> {
    let ties = position[field].as_array().unwrap_or_else(|| panic!("{field}: {position}"));
    let of = |tie: &Value, name: &str| tie[name].as_str().unwrap().to_owned();
    ties.iter().map(|tie| ["beleg_nummer", "menge", "art"].map(|name| of(tie, name))).collect()
}

fn shown(mill: &Mill<'_>, id: &str, at: usize) -> Value {
    mill.get(id)["positionen"][at].clone()
}

fn one(nummer: &str, menge: &str, art: &str) -> Vec<[String; 3]> {
    vec![[nummer, menge, art].map(str::to_owned)]
}

#[test]
fn an_order_its_deliveries_and_their_invoice_know_each_other() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let order = mill.post("AU", sacks(&[(100, json!({"ep_netto": 2})), (5, json!({}))]));
    let (order_id, line) = (order.id(), position(order.is(201), 0));
    assert_eq!(order.body["positionen"][0]["offen"], "100.000");
    let part = |menge: i64| mill.post("LS", json!({"bezug_position_id": line, "menge": menge}));
    let (first, second) = (part(40), part(35));
    assert_eq!(ties(&first.body["positionen"][0], "vorgaenger"), one("AU-2026-00001", "40.000", "genannt"));
    let after = ties(&shown(&mill, &order_id, 0), "nachfolger");
    let deliveries = [["LS-2026-00001", "40.000", "genannt"], ["LS-2026-00002", "35.000", "genannt"]];
    assert_eq!(after, deliveries.map(|tie| tie.map(str::to_owned)));
    assert_eq!(shown(&mill, &order_id, 0)["offen"], "25.000");
    assert_eq!(shown(&mill, &order_id, 1)["offen"], "5.000");

    let invoice = naming(&mill, "RE", &[position(&first.body, 0)]);
    let invoice_id = invoice.id();
    let tie = &invoice.body["positionen"][0]["vorgaenger"][0];
    assert_eq!(tie["position_id"], position(&first.body, 0));
    assert_eq!((&tie["position"], &tie["beleg_typ"]), (&json!(1), &json!("LS")));
    assert_eq!(shown(&mill, &first.id(), 0)["offen"], "0.000");
    assert_eq!(shown(&mill, &second.id(), 0)["offen"], "35.000");
    assert_eq!(shown(&mill, &order_id, 0)["offen"], "25.000", "a delivery and its invoice count once");
    assert_eq!(shown(&mill, &invoice_id, 0)["offen"], "40.000", "what may be credited");

    let credit = mill.post("RE", json!({"bezug_position_id": position(&invoice.body, 0), "menge": -15}));
    assert_eq!(credit.is(201)["positionen"][0]["offen"], Value::Null);
    assert_eq!(shown(&mill, &invoice_id, 0)["offen"], "25.000");
    mill.storno(&credit.id()).is(200);
    assert_eq!(shown(&mill, &invoice_id, 0)["offen"], "40.000");
    // Returned goods are to be delivered again.
    mill.post("LS", json!({"bezug_position_id": position(&second.body, 0), "menge": -5})).is(201);
    assert_eq!(shown(&mill, &second.id(), 0)["offen"], "30.000");
    assert_eq!(shown(&mill, &order_id, 0)["offen"], "30.000");
    mill.storno(&order_id).is(200);
    assert_eq!(
        ties(&shown(&mill, &second.id(), 0), "vorgaenger").len(),
        0,
        "what is cancelled is named no more"
    );
}

#[test]
fn what_met_by_itself_says_so_and_quantities_are_in_the_unit_of_the_position() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let charge = mill.receive("A", 100_000);
    let delivery =
        mill.post("LS", json!({"artikelnr": "W", "menge": 25, "einheit": "t", "charge_id": charge})).id();
    let exact = mill.post("RE", plain(25_000));
    assert_eq!(ties(&exact.body["positionen"][0], "vorgaenger"), one("LS-2026-00001", "25000.000", "genau"));
    assert_eq!(ties(&shown(&mill, &delivery, 0), "nachfolger"), one("RE-2026-00001", "25.000", "genau"));
    mill.storno(&exact.id()).is(200);
    let part = mill.post("RE", plain(10_000));
    assert_eq!(
        ties(&part.body["positionen"][0], "vorgaenger"),
        one("LS-2026-00001", "10000.000", "vorgeschlagen")
    );
    assert_eq!(shown(&mill, &delivery, 0)["offen"], "15.000");
    let met = &part.body["positionen"][0]["gegenbelege"][0];
    assert_eq!((&met["position"], &met["art"]), (&json!(1), &json!("vorgeschlagen")));
    assert_eq!(met["position_id"], shown(&mill, &delivery, 0)["id"]);
    // Who came first is before, whatever it is.
    let prepaid = mill.post("RE", sacks(&[(7, json!({}))])).id();
    let late = mill.post("LS", json!({"artikelnr": "S", "menge": 7, "bezug_beleg_id": prepaid}));
    assert_eq!(ties(&late.body["positionen"][0], "vorgaenger"), one("RE-2026-00003", "7.000", "genannt"));
}

/// Freight, and what an invoice names without booking goods, is tied, too.
#[test]
fn a_name_ties_whatever_moves() {
    let server = Server::start();
    let mill = Mill::with(&server, "Nur Lieferung", &[("lagerbuchung", "lieferung")]);
    let freight = json!({"bezeichnung": "Fracht", "menge": 1, "ep_netto": 50, "mwst_satz": 19});
    let sack = json!({"artikelnr": "S", "menge": 10});
    let delivery = mill.post("LS", json!([sack, freight]));
    let lines = [position(delivery.is(201), 0), position(&delivery.body, 1)];
    let invoice = naming(&mill, "RE", &lines);
    for at in 0..2 {
        let menge = ["10.000", "1.000"][at];
        assert_eq!(
            ties(&invoice.body["positionen"][at], "vorgaenger"),
            one("LS-2026-00001", menge, "genannt")
        );
        assert_eq!(shown(&mill, &delivery.id(), at)["offen"], "0.000");
    }
    naming(&mill, "RE", &lines).refused(400, "BEZUG_OHNE_MENGE");
    let credit = naming(&mill, "RE", &[position(&invoice.body, 1)]);
    assert_eq!(ties(&credit.body["positionen"][0], "vorgaenger"), one("RE-2026-00001", "1.000", "genannt"));
    assert_eq!(shown(&mill, &invoice.id(), 1)["offen"], "0.000");
    mill.storno(&credit.id()).is(200);
    mill.storno(&invoice.id()).is(200);
    naming(&mill, "RE", &lines).is(201);
}
