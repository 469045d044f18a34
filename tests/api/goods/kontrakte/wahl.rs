//! The position of a contract that an item takes which names the contract alone (D21g).

use serde_json::{Value, json};

use super::contract;
use super::paare::{codes, mill};
use crate::harness::{Answer, Client, Server};
use crate::trade::lager::and;

/// The id of the partner or article with a number.
pub fn id_of(mill: &Client, list: &str, nummer: &str) -> Value {
    let listed = mill.get(&format!("/api/v1/{list}"));
    let data = listed.is(200)["data"].as_array().unwrap().clone();
    let is_meant = |row: &&Value| row["kundennr"] == nummer || row["artikelnummer"] == nummer;
    data.iter().find(is_meant).unwrap()["id"].clone()
}

/// Creates a contract over wheat, 20 t at 180 and 20 t at 200 per t; returns its id and those of its positions.
fn tranches(mill: &Client, number: &str, typ: &str) -> (Value, [Value; 2]) {
    let partner = if typ == "einkauf" { "L-1" } else { "K-1" };
    let of = |menge: i64, preis: i64| json!({"artikelnr": "W", "menge": menge, "preis": preis});
    let body = json!({"kontrakt_nr": number, "kontrakt_typ": typ, "partner_id": id_of(mill, "kunden", partner),
        "gesamtmenge": 40, "gesamtmenge_einheit": "t", "positionen": [of(20, 180), of(20, 200)]});
    mill.post("/api/v1/kontrakte", body).is(201);
    let shown = contract(mill, number);
    (shown["id"].clone(), [0, 1].map(|at| shown["positionen"][at]["id"].clone()))
}

pub fn post(mill: &Client, typ: &str, items: Value) -> Answer {
    let partner = if ["BS", "EL", "ER"].contains(&typ) { "L-1" } else { "K-1" };
    let answer =
        mill.post("/api/v1/belege", json!({"beleg_typ": typ, "kundennummer": partner, "items": items}));
    assert_eq!(answer.status, 201, "{}", answer.body);
    answer
}

pub fn wheat(menge: i64, more: Value) -> Value {
    and(json!({"artikelnr": "W", "menge": menge, "einheit": "t"}), more)
}

/// The contract position and the price of each item of a document.
fn taken(mill: &Client, beleg: &str) -> Vec<(Value, String)> {
    let beleg = mill.get(&format!("/api/v1/belege/{beleg}"));
    let positions = beleg.is(200)["positionen"].as_array().unwrap().clone();
    let of =
        |item: &Value| (item["kontrakt_position_id"].clone(), item["ep_netto"].as_str().unwrap().to_owned());
    positions.iter().map(of).collect()
}

const CHOSEN: &str = "KONTRAKT_POSITION_GEWAEHLT";

#[test]
fn the_first_position_of_which_something_is_left_gives_the_price() {
    let server = Server::start();
    let mill = mill(&server, "Mühle");
    let (id, [first, second]) = tranches(&mill, "T", "einkauf");
    let any = json!({"kontrakt_id": id});
    let at = |position: &Value, preis: &str| vec![(position.clone(), preis.to_owned())];
    let delivered = |menge: i64| {
        let answer = post(&mill, "EL", json!([wheat(menge, any.clone())]));
        (taken(&mill, &answer.id()), answer)
    };
    let (shown, answer) = delivered(15);
    assert_eq!((shown, codes(&answer)), (at(&first, "180.0000"), vec![CHOSEN.to_owned()]));
    let hint = answer.hints(CHOSEN)["hinweise"].as_array().unwrap().iter();
    let hint = hint.clone().find(|hint| hint["code"] == CHOSEN).unwrap();
    assert_eq!(hint["feld"], "items[0].kontrakt_id");
    let message = hint["message"].as_str().unwrap();
    assert!(message.contains("T hat mehrere Positionen"), "{message}");
    assert!(message.contains("Position 1 (180.0000 EUR je t, davon offen 20.000 t)"), "{message}");
    // 5 t are left of it. The item has one price, and the contract takes it all.
    let (shown, answer) = delivered(15);
    assert_eq!((shown, codes(&answer)), (at(&first, "180.0000"), vec![CHOSEN.to_owned()]));
    let (shown, answer) = delivered(10);
    assert_eq!((shown, codes(&answer)), (at(&second, "200.0000"), vec![CHOSEN.to_owned()]));
    // Of the last 10 t are left by its own count, and nothing of the contract.
    let (shown, answer) = delivered(10);
    let over = [CHOSEN, "KONTRAKT_UEBERLIEFERT"].map(str::to_owned).to_vec();
    assert_eq!((shown, codes(&answer)), (at(&second, "200.0000"), over.clone()));
    let (shown, answer) = delivered(1);
    assert_eq!((shown, codes(&answer)), (at(&second, "200.0000"), over), "all are full: the last");
}

#[test]
fn items_of_one_request_take_positions_one_after_the_other() {
    let server = Server::start();
    let mill = mill(&server, "Mühle");
    for (number, of_first) in [("T", "kontrakt_id"), ("U", "kontrakt_position_id")] {
        let (id, [first, second]) = tranches(&mill, number, "einkauf");
        let named = if of_first == "kontrakt_id" { &id } else { &first };
        let items = json!([wheat(20, json!({of_first: named})), wheat(1, json!({"kontrakt_id": id}))]);
        let order = post(&mill, "BS", items.clone());
        let [low, high] = [(first.clone(), "180.0000".to_owned()), (second, "200.0000".to_owned())];
        assert_eq!(taken(&mill, &order.id()), [low.clone(), high], "{of_first}");
        // What a document brought itself does not move its items to other positions when it is changed.
        let path = format!(
            "/api/v1/belege/{}",
            post(&mill, "EL", json!([wheat(20, json!({"kontrakt_id": id}))])).id()
        );
        let sent = json!({"items": [wheat(20, json!({"kontrakt_id": id}))]});
        let changed = mill.put(&path, sent);
        assert_eq!(codes(&changed), [CHOSEN]);
        assert_eq!(taken(&mill, &changed.id()), [low]);
    }
}

#[test]
fn every_type_takes_it_and_the_only_position_says_nothing() {
    let server = Server::start();
    for (typ, side) in [
        ("AU", "verkauf"),
        ("LS", "verkauf"),
        ("RE", "verkauf"),
        ("BS", "einkauf"),
        ("EL", "einkauf"),
        ("ER", "einkauf"),
    ] {
        let mill = mill(&server, typ);
        let (id, [first, _]) = tranches(&mill, "T", side);
        let several = post(&mill, typ, json!([wheat(1, json!({"kontrakt_id": id}))]));
        assert_eq!(taken(&mill, &several.id()), [(first, "180.0000".to_owned())], "{typ}");
        assert_eq!(several.hint_codes().iter().filter(|code| *code == CHOSEN).count(), 1, "{typ}");
        let partner = id_of(&mill, "kunden", if side == "einkauf" { "L-1" } else { "K-1" });
        let body = json!({"kontrakt_nr": "E", "kontrakt_typ": side, "partner_id": partner, "gesamtmenge_einheit": "t",
            "positionen": [{"artikelnr": "W", "menge": 20, "preis": 190}]});
        mill.post("/api/v1/kontrakte", body).is(201);
        let only = contract(&mill, "E");
        let single = post(&mill, typ, json!([wheat(1, json!({"kontrakt_id": only["id"]}))]));
        let position = only["positionen"][0]["id"].clone();
        assert_eq!(taken(&mill, &single.id()), [(position, "190.0000".to_owned())], "{typ}");
        assert_eq!(codes(&single), [""; 0], "{typ}");
    }
}

#[test]
fn what_takes_back_and_what_the_contract_is_not_for_take_none() {
    let server = Server::start();
    let mill = mill(&server, "Mühle");
    let (id, [first, second]) = tranches(&mill, "T", "einkauf");
    let (sold, _) = tranches(&mill, "V", "verkauf");
    let none = |answer: &Answer| assert_eq!(taken(&mill, &answer.id())[0].0, Value::Null);
    let back = post(&mill, "EL", json!([wheat(-1, json!({"kontrakt_id": id}))]));
    none(&back);
    assert_eq!(codes(&back), [""; 0]);
    let other_way = post(&mill, "EL", json!([wheat(1, json!({"kontrakt_id": sold}))]));
    none(&other_way);
    assert_eq!(codes(&other_way), ["KONTRAKT_ANDERER_PARTNER", "KONTRAKT_ANDERE_RICHTUNG"]);
    // A return that names a delivery by its position has that one's, also where it repeats the contract.
    let came = post(&mill, "EL", json!([wheat(5, json!({"kontrakt_position_id": second}))]));
    let position = came.body["positionen"][0]["id"].clone();
    let back = json!({"bezug_position_id": position, "menge": -2, "einheit": "t", "kontrakt_id": id});
    let back = post(&mill, "EL", json!([back]));
    assert_eq!(taken(&mill, &back.id())[0].0, second);
    // A weighing brings the contract; the item takes its position.
    let weighing = json!({"waage_id": 1, "gewicht_erst_kg": 3_000, "partner_id": id_of(&mill, "kunden", "L-1"),
        "artikel_id": id_of(&mill, "artikel", "W"), "kontrakt_id": id});
    let weighing = mill.post("/api/v1/wiegungen", weighing).id();
    let second_weight = format!("/api/v1/wiegungen/{weighing}/zweitwiegung");
    mill.put(&second_weight, json!({"gewicht_zweit_kg": 1_000})).is(200);
    let weighed = post(&mill, "EL", json!([{"artikelnr": "W", "einheit": "t", "wiegung_id": weighing}]));
    assert_eq!(taken(&mill, &weighed.id()), [(first, "180.0000".to_owned())]);
    assert_eq!(codes(&weighed), [CHOSEN]);
}
