//! Weighings in documents: an item references a weighing by wiegung_id (D12).

use serde_json::{Value, json};

use super::{UNKNOWN, first, get, storno, weigh};
use crate::goods::kontrakte;
use crate::harness::{Answer, Server};
use crate::trade::lager::{Mill, and};

/// An item with the values of a weighing.
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
    // A document that drops the weighing releases it.
    mill.put(&again, json!({"artikelnr": "W", "fremde_charge_nr": "C1", "menge": 60})).is(200);
    mill.post("EL", item(&wiegung, json!({}))).is(201);
}

#[test]
fn positions_share_the_weight_of_a_weighing() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let shares = |typ: &str, menge: [Value; 2]| {
        let wiegung = weigh(&mill, 100, 40, json!({}));
        let items = menge.map(|menge| item(&wiegung, json!({"menge": menge})));
        mill.post(typ, json!(items))
    };
    let of = |id: &str| [0, 1].map(|at| mill.get(id)["positionen"][at]["menge"].clone());
    for typ in ["EL", "ER", "BS"] {
        let both = shares(typ, [json!(40), json!(20)]);
        assert!(!both.hint_codes().contains(&"GEWICHT_WIDERSPRUCH".to_owned()), "{typ}");
        shares(typ, [json!(40), json!(21)]).refused(400, "WIEGUNG_BEREITS_VERWENDET");
        assert_eq!(of(&shares(typ, [Value::Null, json!(20)]).id()), ["40.000", "20.000"], "{typ}");
        shares(typ, [Value::Null, json!(60)]).refused(400, "WIEGUNG_BEREITS_VERWENDET");
        shares(typ, [Value::Null, Value::Null]).refused(400, "WIEGUNG_BEREITS_VERWENDET");
    }
    let wiegung = weigh(&mill, 100, 40, json!({}));
    mill.post("EL", item(&wiegung, json!({"menge": 45}))).is(201);
    let rest = mill.post("EL", item(&wiegung, json!({}))).id();
    assert_eq!(mill.get(&rest)["positionen"][0]["menge"], "15.000", "of another document, too");
    mill.post("EL", item(&wiegung, json!({"menge": "0.001"}))).refused(400, "WIEGUNG_BEREITS_VERWENDET");
    mill.post("ER", item(&wiegung, json!({"menge": "0.05", "einheit": "t"}))).is(201);
    mill.post("ER", item(&wiegung, json!({"menge": 11}))).refused(400, "WIEGUNG_BEREITS_VERWENDET");

    let alone = weigh(&mill, 100, 40, json!({}));
    mill.post("EL", item(&alone, json!({"menge": 61}))).hints("GEWICHT_WIDERSPRUCH");
    let wiegung = weigh(&mill, 100, 40, json!({}));
    let beside = [
        item(&wiegung, json!({})),
        item(&wiegung, json!({"menge": 60, "lager_buchen": false})),
        item(&wiegung, json!({"ep_netto": -1})),
        item(&wiegung, json!({"menge": -5})),
    ];
    assert_eq!(mill.get(&mill.post("ER", json!(beside)).id())["positionen"][2]["menge"], "60.000");
}

#[test]
fn what_moves_anyway_takes_its_share_whatever_lager_buchen_says() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let used = |answer: Answer| answer.refused(400, "WIEGUNG_BEREITS_VERWENDET")["feld"].clone();
    let wiegung = weigh(&mill, 100, 40, json!({}));
    let declined = item(&wiegung, json!({"lager_buchen": false}));
    used(mill.post("EL", json!([declined, and(declined.clone(), json!({"menge": 60}))])));
    mill.post("EL", declined.clone()).is(201);
    assert_eq!(used(mill.post("EL", declined)), "items[0].wiegung_id");
    assert_eq!(mill.stock("C1"), "60.000");

    let ordered = weigh(&mill, 100, 40, json!({}));
    mill.post("BS", item(&ordered, json!({"menge": 40}))).is(201);
    let rest = mill.post("BS", item(&ordered, json!({"menge": 20}))).id();
    let shown = mill.get(&rest)["positionen"][0].clone();
    mill.put(&rest, shown.clone()).is(200);
    used(mill.put(&rest, and(shown, json!({"menge": 60}))));

    server.set(&mill.client, &[("lagerbuchung", "lieferung")]);
    let billed = weigh(&mill, 100, 40, json!({}));
    let declined = item(&billed, json!({"menge": 60, "lager_buchen": false}));
    used(mill.post("ER", json!([declined, declined])));
    mill.post("ER", declined.clone()).is(201);
    used(mill.post("ER", declined));
}

#[test]
fn what_names_no_article_takes_no_share() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let wiegung = weigh(&mill, 100, 40, json!({}));
    let service = |more: Value| {
        and(json!({"bezeichnung": "Verladung", "ep_netto": 5, "wiegung_id": wiegung, "mwst_satz": 19}), more)
    };
    let items = json!([
        item(&wiegung, json!({})),
        service(json!({"menge": 1})),
        service(json!({"einheit": "t"})),
        service(json!({"einheit": "kg"}))
    ]);
    for typ in ["EL", "ER", "BS"] {
        let id = mill.post(typ, items.clone()).id();
        let shown = mill.get(&id)["positionen"].clone();
        assert_eq!([0, 2].map(|at| &shown[at]["menge"]), ["60.000", "0.060"], "{typ}");
        mill.post(typ, service(json!({"menge": 60, "einheit": "kg"}))).is(201);
        mill.put(&id, items.clone()).is(200);
    }
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

#[test]
fn another_quantity_and_the_other_direction_are_hints() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let charge = mill.receive("C1", 1_000);
    let sale = |more: Value| and(json!({"artikelnr": "W", "charge_id": charge}), more);
    let purchase = |more: Value| and(json!({"artikelnr": "W", "fremde_charge_nr": "C1"}), more);
    let (weight, direction) = ("GEWICHT_WIDERSPRUCH", "RICHTUNG_WIDERSPRUCH");
    // Weights for 60 kg coming in, or going out.
    let rows: [(&str, [i64; 2], Value, &[&str]); 12] = [
        ("EL", [100, 40], purchase(json!({})), &[]),
        ("EL", [100, 40], purchase(json!({"menge": 60})), &[]),
        ("EL", [100, 40], purchase(json!({"menge": "0.06", "einheit": "t"})), &[]),
        ("EL", [100, 40], purchase(json!({"menge": 61})), &[weight]),
        ("EL", [100, 40], purchase(json!({"menge": 60, "einheit": "t"})), &[weight]),
        ("EL", [40, 100], purchase(json!({})), &[direction]),
        ("LS", [40, 100], sale(json!({})), &[]),
        ("LS", [100, 40], sale(json!({"menge": 50})), &[weight, direction]),
        // Returned goods go in the opposite direction.
        ("LS", [100, 40], sale(json!({"menge": -60})), &[]),
        ("LS", [40, 100], sale(json!({"menge": -60})), &[direction]),
        ("ER", [40, 100], and(purchase(json!({"menge": -60})), json!({"lager_buchen": false})), &[]),
        // Sacks are not weighed.
        ("EL", [100, 40], json!({"artikelnr": "S", "menge": 3}), &[]),
    ];
    for (typ, [erst, zweit], item, expected) in rows {
        let wiegung = weigh(
            &mill,
            erst,
            zweit,
            json!({"partner_id": mill.partner_id(if typ == "LS" { "Kd" } else { "Hof" })}),
        );
        let answer = mill.post(typ, and(item.clone(), json!({"wiegung_id": wiegung})));
        answer.is(201);
        assert_eq!(answer.hint_codes(), *expected, "{typ} {erst} {zweit} {item}: {}", answer.body);
    }
}

#[test]
fn batch_and_contract_of_the_weighing_hold_where_the_item_sends_none() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let (first, second) = (mill.receive("C1", 1_000), mill.receive("C2", 1_000));
    let positions = |number: &str| {
        json!({"kontrakt_nr": number, "partner": "Kd", "positionen": [
        {"artikelnummer": "W", "menge": 1000}, {"artikelnummer": "W", "menge": 2000}]})
    };
    server.import(&mill.client, "kontrakte", &json!([positions("V-1"), positions("V-2")]).to_string());
    let [own, other] = ["V-1", "V-2"].map(|number| kontrakte::contract(&mill.client, number));
    let position = own["positionen"][1]["id"].clone();
    let weighed = || {
        let more = json!({"partner_id": mill.partner_id("Kd"), "charge_id": first, "kontrakt_position_id": position});
        weigh(&mill, 40, 100, more)
    };
    let fields = ["charge_id", "kontrakt_id", "kontrakt_position_id"];
    let rows = [
        (json!({}), json!([first, own["id"], position])),
        (json!({"charge_id": null, "kontrakt_id": null}), json!([first, own["id"], position])),
        (json!({"charge_id": second}), json!([second, own["id"], position])),
        (json!({"kontrakt_id": own["id"]}), json!([first, own["id"], position])),
        // Of another contract it takes the first position of which something is left.
        (json!({"kontrakt_id": other["id"]}), json!([first, other["id"], other["positionen"][0]["id"]])),
        (
            json!({"kontrakt_position_id": other["positionen"][0]["id"]}),
            json!([first, other["id"], other["positionen"][0]["id"]]),
        ),
    ];
    for (more, expected) in rows {
        let item = and(json!({"artikelnr": "W", "wiegung_id": weighed()}), more.clone());
        let answer = mill.post("LS", item);
        let is_chosen = more["kontrakt_id"] == other["id"];
        let expected_hints: &[&str] = if is_chosen { &["KONTRAKT_POSITION_GEWAEHLT"] } else { &[] };
        assert_eq!(answer.hint_codes(), expected_hints, "{more}");
        let shown = mill.get(&answer.id())["positionen"][0].clone();
        assert_eq!(json!(fields.map(|field| &shown[field])), expected, "{more}");
        assert_eq!(answer.body["lagerbewegungen"][0]["charge_id"], expected[0], "{more}");
    }
    // A batch of another article is refused; so is any batch without an article.
    let unfit = json!({"artikelnr": "R", "wiegung_id": weighed(), "menge": 60});
    mill.post("LS", unfit).refused(400, "CHARGE_PASST_NICHT");
    let text = json!({"bezeichnung": "Verladung", "wiegung_id": weighed(), "menge": 1, "ep_netto": 5});
    let id = mill.post("LS", text).id();
    assert_eq!(mill.get(&id)["positionen"][0]["charge_id"], Value::Null);
    // As if the batch had been sent: the item matches only a delivery of its batch, and a repeated request
    // has the same content.
    let body = json!({"beleg_typ": "RE", "kundennummer": "Kd", "external_ref": "w-1",
        "items": [{"artikelnr": "W", "wiegung_id": weighed()}]});
    mill.client.post("/api/v1/belege", body.clone()).is(201);
    let again = mill.client.post("/api/v1/belege", body);
    assert_eq!((&again.is(200)["idempotent"], again.body.get("inhalt_abweichend")), (&json!(true), None));
}

#[test]
fn the_contract_of_the_weighing_holds_for_a_goods_receipt_note_too() {
    let server = Server::start();
    let mill = Mill::of(&server);
    server.import(
        &mill.client,
        "kontrakte",
        r#"[{"kontrakt_nr": "V-1", "partner": "Hof", "gesamtmenge": 100,
        "gesamtmenge_einheit": "t", "positionen": [{"artikelnummer": "W"}]}]"#,
    );
    let kontrakt = kontrakte::contract(&mill.client, "V-1")["id"].clone();
    let wiegung =
        weigh(&mill, 40_000, 10_000, json!({"artikel_id": mill.artikel_id("W"), "kontrakt_id": kontrakt}));
    let body = json!({"wiegung_id": wiegung, "besatz_prozent": 2, "basisbesatz_prozent": 1,
        "fremde_charge_nr": "C1", "preis_je_t": 200, "el_erzeugen": true});
    let answer = mill.client.post("/api/v1/annahmescheine", body);
    answer.is(201);
    // A net quantity that differs from the weighed one is no contradiction.
    assert_eq!(answer.hint_codes(), [""; 0]);
    let note = mill.client.get("/api/v1/annahmescheine").is(200)["data"][0].clone();
    let el = mill.get(answer.body["el_id"].as_str().unwrap())["positionen"][0].clone();
    assert_eq!((&note["kontrakt_id"], &el["kontrakt_id"]), (&kontrakt, &kontrakt));
    assert_eq!(kontrakte::contract(&mill.client, "V-1")["geliefert"], "29.700");
}
