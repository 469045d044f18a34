//! A position keeps its id through a PUT, so that names that other documents have on it stay true.

use serde_json::{Value, json};

use crate::harness::Server;
use crate::trade::lager::{Mill, and};

fn ids(answer: &Value) -> Vec<String> {
    let positions = answer["positionen"].as_array().unwrap();
    positions.iter().map(|position| position["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_position_keeps_its_id_by_the_id_that_is_sent_else_by_its_place() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let sack = |menge: i64| json!({"artikelnr": "S", "menge": menge});
    let freight = json!({"bezeichnung": "Fracht", "menge": 1, "ep_netto": 10});
    let order = mill.post("AU", json!([sack(1), sack(2), freight]));
    let before = ids(&order.body);
    let id = order.id();

    let same = ids(mill.put(&id, json!([sack(1), sack(3), freight])).is(200));
    assert_eq!(same, before, "by place and article");

    let swapped = json!([and(sack(3), json!({"id": before[1]})), and(sack(1), json!({"id": before[0]}))]);
    let swapped = ids(mill.put(&id, swapped).is(200));
    assert_eq!(swapped, [before[1].clone(), before[0].clone()], "by id, wherever it stands");
    let shown = mill.get(&id);
    assert_eq!(ids(&shown), swapped);

    let added = ids(mill.put(&id, json!([freight, sack(1)])).is(200));
    assert_ne!(added[0], swapped[0], "another article at the same place is another position");
    assert_eq!(added[1], swapped[1]);
}

#[test]
fn an_id_that_is_sent_twice_is_refused_and_one_that_is_not_there_is_said() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let sack = json!({"artikelnr": "S", "menge": 1});
    let order = mill.post("AU", json!([sack, sack]));
    let (id, before) = (order.id(), ids(&order.body));
    let named = |id: &str| and(sack.clone(), json!({"id": id}));
    let twice = mill.put(&id, json!([named(&before[0]), named(&before[0])]));
    assert_eq!(twice.refused(400, "WERT_UNGUELTIG")["feld"], "items[1].id");

    let other = ids(&mill.post("AU", sack.clone()).body).remove(0);
    let put = mill.put(&id, json!([named(&other), sack]));
    assert_eq!(put.is(200)["hinweise"][0]["feld"], "items[0].id");
    assert_eq!(put.hint_codes(), ["FELD_IGNORIERT"]);
    assert_eq!(ids(&put.body), before);
    let posted = mill.post("AU", named(&other));
    assert_ne!(ids(posted.is(201)), [other]);
}
