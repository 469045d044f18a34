//! The delivery of a settled receipt stays as it was settled (D29h).

use serde_json::{Value, json};

use super::Hof;
use crate::harness::Server;
use crate::trade::lager::and;

fn path(el: &str) -> String {
    format!("/api/v1/belege/{el}")
}

#[test]
fn the_delivery_of_a_settled_note_is_neither_cancelled_nor_changed() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::of(&server);
    let note = hof.with_el(24_000, "", json!({}));
    let el = hof.schein(&note)["el_id"].as_str().unwrap().to_owned();
    let advance = hof.settle("abschlag", &[&note], json!({"abschlag": {"prozent": 50}}));
    let refused = hof.mill.storno(&el);
    let message = refused.refused(400, "ANNAHMESCHEIN_ABGERECHNET")["message"].as_str().unwrap();
    let number = advance.is(201)["beleg_nummer"].as_str().unwrap();
    assert!(message.contains("Abschlag") && message.contains(number), "{message}");
    let end = hof.settle("end", &[&note], json!({}));
    let number = end.is(201)["beleg_nummer"].as_str().unwrap();
    let item =
        |menge: i64| json!({"artikelnr": "W", "menge": menge, "einheit": "kg", "fremde_charge_nr": "C1"});
    let table = [
        (json!({"items": [item(20_000)]}), "items"),
        (json!({"items": [and(item(24_000), json!({"artikelnr": "R"}))]}), "items"),
        (json!({"kundennummer": "Gut"}), "kunden_id"),
        (json!({"lieferdatum": "2026-07-21"}), "lieferdatum"),
        (json!({"beleg_datum": "2026-07-24"}), "beleg_datum"),
    ];
    for (change, feld) in table {
        let refused = hof.mill.client.put(&path(&el), change.clone());
        let refused = refused.refused(400, "ANNAHMESCHEIN_ABGERECHNET");
        assert_eq!(refused["feld"], feld, "{change}");
        assert!(refused["message"].as_str().unwrap().contains(number), "{refused}");
    }
    hof.mill.storno(&el).refused(400, "ANNAHMESCHEIN_ABGERECHNET");
    // What says nothing of the goods may change, and the same goods may be sent again.
    hof.mill.client.put(&path(&el), json!({"notizen": "nass", "items": [item(24_000)]})).is(200);
    // The next lorry is not born settled.
    let next = hof.with_el(20_000, "", json!({"fremde_charge_nr": "C2"}));
    assert_eq!(hof.state(&next), "offen");
    // The settlement is cancelled first, the advance next, then the delivery is free.
    hof.storno(&end).is(200);
    hof.mill.storno(&el).refused(400, "ANNAHMESCHEIN_ABGERECHNET");
    hof.storno(&advance).is(200);
    hof.mill.storno(&el).is(200);
    assert!(server.cli(&["check"]).status.success());
}

#[test]
fn a_return_of_settled_goods_names_the_settlement() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::of(&server);
    let note = hof.with_el(24_000, "", json!({}));
    let el = hof.schein(&note)["el_id"].clone();
    let code = "ANNAHMESCHEIN_ABGERECHNET";
    let back = |more: Value| {
        let item = json!({"artikelnr": "W", "menge": -1_000, "einheit": "kg", "fremde_charge_nr": "C1"});
        hof.mill.post("EL", and(item, more))
    };
    let before = back(json!({"bezug_beleg_id": el}));
    assert!(!before.hint_codes().contains(&code.to_owned()), "{}", before.body);
    hof.mill.storno(&before.id()).is(200);
    let end = hof.settle("end", &[&note], json!({}));
    let number = end.is(201)["beleg_nummer"].as_str().unwrap();
    for named in [json!({"bezug_beleg_id": el}), json!({"bezug_beleg_id": end.body["beleg_id"]}), json!({})] {
        let returned = back(named.clone());
        let hints = returned.hints(code)["hinweise"].as_array().unwrap();
        let hint = hints.iter().find(|hint| hint["code"] == code).unwrap();
        assert!(hint["message"].as_str().unwrap().contains(number), "{named}: {hint}");
        hof.mill.storno(&returned.id()).is(200);
    }
}

#[test]
fn check_names_goods_that_were_settled_and_are_gone() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::of(&server);
    let note = hof.with_el(24_000, "", json!({}));
    let schein = hof.schein(&note);
    hof.settle("end", &[&note], json!({})).is(201);
    let said = || {
        let checked = server.cli(&["check"]);
        assert!(checked.status.success(), "{checked:?}");
        String::from_utf8(checked.stdout).unwrap()
    };
    let finding = format!("die Ware von {}, bezahlt mit", schein["belegnummer"].as_str().unwrap());
    assert!(!said().contains(&finding));
    // An older version let such a delivery be cancelled.
    let other =
        hof.mill.post("EL", json!({"artikelnr": "W", "menge": 24_000, "fremde_charge_nr": "C1"})).id();
    hof.mill.storno(&other).is(200);
    let database = rusqlite::Connection::open(&server.database).unwrap();
    let older = "update annahmeschein set el_beleg_id = (select id from beleg where status = 'storniert')";
    database.execute(older, []).unwrap();
    drop(database);
    let said = said();
    assert!(said.contains(&finding), "{said}");
}
