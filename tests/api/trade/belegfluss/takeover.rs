//! What a position takes over from the one that it names.

use serde_json::{Value, json};

use super::{naming, net, position, sacks};
use crate::harness::Server;
use crate::trade::lager::{Mill, and};

fn field(mill: &Mill<'_>, id: &str, at: usize, name: &str) -> Value {
    mill.get(id)["positionen"][at][name].clone()
}

#[test]
fn a_name_is_a_whole_item() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let order = json!({"artikelnr": "S", "menge": 10, "einheit": "Stk", "ep_netto": "12.99", "rabatt_prozent": 10,
        "bezeichnung": "Sack, bedruckt", "bezeichnung2": "blau", "langtext": "wie besprochen", "mwst_satz": 7,
        "kostenstelle": "K1", "niederlassung_id": 2, "lagerhalle_id": 3});
    let order = mill.post("AU", order);
    let delivery = naming(&mill, "LS", &[position(order.is(201), 0)]);
    let delivery_id = delivery.id();
    let invoice = naming(&mill, "RE", &[position(&delivery.body, 0)]).id();
    for id in [delivery_id.as_str(), &invoice] {
        for (name, value) in [
            ("menge", json!("10.000")),
            ("ep_netto", json!("12.9900")),
            ("rabatt_prozent", json!("10.00")),
            ("bezeichnung", json!("Sack, bedruckt")),
            ("bezeichnung2", json!("blau")),
            ("langtext", json!("wie besprochen")),
            ("mwst_satz", json!("7.00")),
            ("kostenstelle", json!("K1")),
            ("niederlassung_id", json!(2)),
            ("lagerhalle_id", json!(3)),
        ] {
            assert_eq!(field(&mill, id, 0, name), value, "{name}");
        }
    }
    let credit = naming(&mill, "RE", &[position(&mill.get(&invoice), 0)]);
    assert_eq!(net(&mill, &credit), "-116.91");
    assert_eq!(field(&mill, &credit.id(), 0, "mwst_satz"), "7.00");
}

#[test]
fn what_an_item_sends_itself_wins() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let order =
        mill.post("AU", sacks(&[(10, json!({"ep_netto": "8", "rabatt_prozent": 10, "kostenstelle": "K1"}))]));
    let line = position(order.is(201), 0);
    let named = |more: Value| {
        let answer = mill.post("LS", and(json!({"bezug_position_id": line}), more));
        mill.get(&answer.id())["positionen"][0].clone()
    };
    let shown = named(json!({"menge": 1, "ep_netto": 9, "kostenstelle": "K2"}));
    let of = |name: &str| shown[name].as_str().unwrap().to_owned();
    assert_eq!(["ep_netto", "rabatt_prozent", "kostenstelle"].map(of), ["9.0000", "0.00", "K2"]);
    let shown = named(json!({"menge": 1, "rabatt_prozent": 5}));
    assert_eq!((&shown["ep_netto"], &shown["rabatt_prozent"]), (&json!("8.0000"), &json!("5.00")));
    // Another article is none that it could name; what says what it is itself needs none.
    let other = json!({"bezug_position_id": line, "artikelnr": "W", "menge": 1});
    mill.post("LS", other).refused(400, "BEZUG_PASST_NICHT");
}

#[test]
fn a_unit_is_converted_and_free_goods_stay_free() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let charge = mill.receive("A", 10_000);
    let delivery = json!([
        {"artikelnr": "W", "menge": 5_000, "charge_id": charge, "ep_netto": "0.65"},
        {"artikelnr": "W", "menge": 100, "charge_id": charge, "ep_netto": 0}]);
    let delivery = mill.post("LS", delivery);
    let (paid, free) = (position(delivery.is(201), 0), position(&delivery.body, 1));
    let in_t = json!([{"bezug_position_id": paid, "einheit": "t"}, {"bezug_position_id": free}]);
    let invoice = mill.post("RE", in_t);
    assert_eq!(net(&mill, &invoice), "3250.00");
    let id = invoice.id();
    assert_eq!(
        (field(&mill, &id, 0, "menge"), field(&mill, &id, 0, "ep_netto")),
        (json!("5.000"), json!("650.0000"))
    );
    assert_eq!(field(&mill, &id, 1, "ep_netto"), "0.0000");
}

/// An order without a price does not make its invoice free.
#[test]
fn a_price_that_nobody_knew_is_none() {
    let server = Server::start();
    let mill = Mill::of(&server);
    server.import(
        &mill.client,
        "artikel",
        r#"[{"artikelnummer": "N", "bezeichnung": "Neu", "einheit": "Stk"}]"#,
    );
    let order = mill.post("AU", json!({"artikelnr": "N", "menge": 1}));
    order.hints("PREIS_FEHLT");
    naming(&mill, "RE", &[position(&order.body, 0)]).refused(400, "PREIS_FEHLT");
    let gift = mill.post("AU", json!({"artikelnr": "N", "menge": 1, "ep_netto": 0}));
    assert_eq!(net(&mill, &naming(&mill, "RE", &[position(&gift.body, 0)])), "0.00");
}

#[test]
fn what_is_left_is_the_quantity_that_is_not_sent() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let order = mill.post("AU", sacks(&[(100, json!({"ep_netto": 2}))]));
    let line = position(order.is(201), 0);
    let part = |typ: &str, menge: i64| mill.post(typ, json!({"bezug_position_id": line, "menge": menge}));
    let menge = |answer: &crate::harness::Answer| field(&mill, &answer.id(), 0, "menge");
    let first = part("LS", 40);
    assert_eq!(menge(&naming(&mill, "LS", std::slice::from_ref(&line))), "60.000", "less what was delivered");
    naming(&mill, "LS", std::slice::from_ref(&line)).refused(400, "BEZUG_OHNE_MENGE");
    let invoice = naming(&mill, "RE", &[position(&first.body, 0)]);
    assert_eq!(menge(&invoice), "40.000");
    naming(&mill, "RE", &[position(&first.body, 0)]).refused(400, "BEZUG_OHNE_MENGE");
    let billed = position(&invoice.body, 0);
    mill.post("RE", json!({"bezug_position_id": billed, "menge": -15})).is(201);
    assert_eq!(menge(&naming(&mill, "RE", &[billed])), "-25.000", "less what was credited");
    // Two items of one request share what is left.
    let second = mill.post("AU", sacks(&[(10, json!({}))]));
    let line = position(second.is(201), 0);
    let two = json!([{"bezug_position_id": line}, {"bezug_position_id": line, "menge": 4}]);
    let two = mill.post("LS", two);
    assert_eq!(menge(&two), "6.000");
}

#[test]
fn a_credit_takes_back_what_it_names() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let two = |mill: &Mill<'_>| {
        let invoice = mill.post("RE", sacks(&[(10, json!({"ep_netto": 10})), (5, json!({"ep_netto": 12}))]));
        [position(invoice.is(201), 0), position(&invoice.body, 1)]
    };
    assert_eq!(net(&mill, &naming(&mill, "RE", &two(&mill))), "-160.00");
    let gross = |rows: &[(i64, Value)], back: &dyn Fn(&str) -> Value| {
        let invoice = mill.post("RE", sacks(rows));
        let items: Value = (0..rows.len()).map(|at| back(&position(invoice.is(201), at))).collect();
        mill.get(&mill.post("RE", items).id())["summe_brutto"].clone()
    };
    let whole = |id: &str| json!({"bezug_position_id": id});
    let free = [(10, json!({"ep_netto": "12.99"})), (1, json!({"ep_netto": "12.99", "rabatt_prozent": 100}))];
    assert_eq!(gross(&free, &whole), "-154.58");
    let rates = [(10, json!({"ep_netto": 1, "mwst_satz": 7})), (10, json!({"ep_netto": 1, "mwst_satz": 19}))];
    assert_eq!(gross(&rates, &whole), "-22.60");
}

/// LS 5,000 kg at a price of its own, its invoice, a return that names the delivery, and the credit of that.
#[test]
fn a_credit_of_a_return_takes_what_was_invoiced_for_it() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let charge = mill.receive("A", 10_000);
    let deliver = |price: &str| {
        let item = json!({"artikelnr": "W", "menge": 5_000, "charge_id": charge, "ep_netto": price});
        position(&mill.post("LS", item).body, 0)
    };
    let back = |delivery: &str| {
        let returned = json!({"bezug_position_id": delivery, "menge": -100, "charge_id": charge});
        let returned = mill.post("LS", returned);
        naming(&mill, "RE", &[position(returned.is(201), 0)])
    };
    let delivery = deliver("0.65");
    naming(&mill, "RE", std::slice::from_ref(&delivery)).is(201);
    assert_eq!(net(&mill, &back(&delivery)), "-65.00");
    // The delivery was free of charge, its invoice was not.
    let delivery = deliver("0");
    mill.post("RE", json!({"bezug_position_id": delivery, "ep_netto": 3})).is(201);
    assert_eq!(net(&mill, &back(&delivery)), "-300.00");
    // Never invoiced: the price of the delivery.
    assert_eq!(net(&mill, &back(&deliver("0.40"))), "-40.00");
}

#[test]
fn tax_that_is_asked_anew_is_said_where_it_differs() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let order = mill.post("AU", sacks(&[(2, json!({}))]));
    let line = position(order.is(201), 0);
    let same = naming(&mill, "LS", std::slice::from_ref(&line));
    assert!(!same.hint_codes().contains(&"SATZ_GEAENDERT".to_owned()), "{}", same.body);
    let id = mill.artikel_id("S");
    mill.client.put(&format!("/api/v1/artikel/{id}"), json!({"mwst_satz": 7})).is(200);
    let other = mill.post("LS", json!({"bezug_position_id": line, "menge": 1}));
    let said = other.hints("SATZ_GEAENDERT").to_string();
    assert!(said.contains("7.00 %") && said.contains("19.00 %"), "{said}");
    let sent = mill.post("AU", sacks(&[(2, json!({"mwst_satz": 19}))]));
    let kept = naming(&mill, "LS", &[position(&sent.body, 0)]);
    assert_eq!(field(&mill, &kept.id(), 0, "mwst_satz"), "19.00");
    assert!(!kept.hint_codes().contains(&"SATZ_GEAENDERT".to_owned()), "{}", kept.body);
}
