//! Input lines split over several batches: sent again, referenced by their parts, and replaced (D13: each
//! part becomes its own input line).

use partnerd::platform::db::file::connection::open_writer;
use serde_json::{Value, json};

use super::{assert_fields, flour, ground, id_of, miller, order, put, recipe, show};
use crate::harness::{Answer, Server};
use crate::trade::lager::{Mill, moves};

/// Creates an order of recipe 1 whose only input is split over C1 and C2; returns it as shown, and the two
/// parts as sent.
fn split(mill: &Mill<'_>) -> (Value, Value) {
    let charges = [mill.receive("C1", 500), mill.receive("C2", 500)];
    let teile: Vec<Value> =
        charges.iter().map(|charge| json!({"charge_id": charge, "ist_menge": 50})).collect();
    let new = order(mill, 1);
    let inputs = json!([{"id": new["inputs"][0]["id"], "teile": teile}]);
    put(mill, id_of(&new), "in_bearbeitung", json!({"inputs": inputs})).is(200);
    let shown = show(mill, id_of(&new));
    assert_eq!(shown["inputs"].as_array().unwrap().len(), 2);
    (shown, json!(teile))
}

/// Finishes an order with these inputs.
fn end(mill: &Mill<'_>, order: &Value, inputs: Value) -> Answer {
    let mut body = ground(order, "", [0, 80, 20]);
    body["inputs"] = inputs;
    put(mill, id_of(order), "erledigt", body)
}

#[test]
fn the_same_parts_sent_again_are_booked_once() {
    let server = Server::start();
    let mill = miller(&server);
    let (split, teile) = split(&mill);
    let answer = end(&mill, &split, json!([{"id": split["inputs"][0]["id"], "teile": teile}]));
    answer.is(200);
    assert_eq!(moves(&answer), ["-50.000", "-50.000", "80.000", "20.000"]);
    assert_eq!([mill.stock("C1"), mill.stock("C2")], ["450.000", "450.000"]);
    let done = show(&mill, id_of(&split));
    let lines = done["inputs"].as_array().unwrap();
    assert_eq!((lines.len(), flour(&mill).len()), (2, 1), "{lines:?}");
    for (line, soll) in lines.iter().zip(["100.000", "0.000"]) {
        assert_fields(line, json!({"ist_menge": "50.000", "soll_menge": soll}));
    }
}

#[test]
fn other_parts_take_the_place_of_those_before() {
    let server = Server::start();
    let mill = miller(&server);
    let (split, teile) = split(&mill);
    let third = json!({"charge_id": mill.receive("C3", 500), "ist_menge": 7});
    let answer = end(&mill, &split, json!([{"id": split["inputs"][0]["id"], "teile": [teile[1], third]}]));
    answer.is(200);
    assert_eq!(moves(&answer)[..2], ["-50.000", "-7.000"]);
    let stocks = ["C1", "C2", "C3"].map(|number| mill.stock(number));
    assert_eq!(stocks, ["500.000", "450.000", "493.000"]);
}

#[test]
fn the_id_of_a_part_that_was_replaced_is_never_used_again() {
    let server = Server::start();
    let mill = miller(&server);
    let new = order(&mill, 1);
    let first = &new["inputs"][0]["id"];
    let teil = json!({"charge_id": mill.receive("C1", 500), "ist_menge": 50});
    let lines_with = |status: &str, parts: usize| -> Vec<i64> {
        let teile = vec![teil.clone(); parts];
        put(&mill, id_of(&new), status, json!({"inputs": [{"id": first, "teile": teile}]})).is(200);
        let shown = show(&mill, id_of(&new));
        shown["inputs"].as_array().unwrap().iter().map(|line| line["id"].as_i64().unwrap()).collect()
    };
    let last = lines_with("geplant", 2)[1];
    assert_eq!(lines_with("in_bearbeitung", 1), [first.as_i64().unwrap()], "the last line is deleted");
    assert_eq!(order(&mill, 1)["inputs"][0]["id"], last + 1);
    let answer = end(&mill, &new, json!([{"id": last, "ist_menge": 3}]));
    assert_eq!(answer.refused(400, "PA_ZEILE_NICHT_GEFUNDEN")["feld"], "inputs[0].id");
    let connection = open_writer(&server.database).unwrap();
    let statements = [
        format!(
            "insert into pa_input (tenant_id, id, pa_id, position, artikel_id, soll_menge)
             select tenant_id, {last}, pa_id, position, artikel_id, soll_menge from pa_input where id = {first}"
        ),
        "delete from pa_output".to_owned(),
    ];
    for statement in &statements {
        let error = connection.execute(statement, []).expect_err(statement).to_string();
        assert!(error.contains("never"), "{statement}: {error}");
    }
}

#[test]
fn a_further_part_is_not_split_again() {
    let server = Server::start();
    let mill = miller(&server);
    let (split, teile) = split(&mill);
    let further = &split["inputs"][1]["id"];
    for teile in [teile.clone(), json!([teile[0]])] {
        let answer = end(&mill, &split, json!([{"id": further, "teile": teile}]));
        assert_eq!(answer.refused(400, "WERT_UNGUELTIG")["feld"], "inputs[0].teile");
        assert_eq!(show(&mill, id_of(&split)), split, "nothing is kept");
    }
    // A single part can still be corrected.
    let both = [0, 1].map(|at| json!({"id": split["inputs"][at]["id"], "ist_menge": 40 + at}));
    let answer = end(&mill, &split, json!(both));
    answer.is(200);
    assert_eq!(moves(&answer)[..2], ["-40.000", "-41.000"]);
}

#[test]
fn a_part_that_the_same_request_replaces_cannot_be_named() {
    let server = Server::start();
    let mill = miller(&server);
    let (split, teile) = split(&mill);
    let [first, further] = [0, 1].map(|at| split["inputs"][at]["id"].clone());
    let again = json!({"id": first, "teile": teile});
    let fewer = json!({"id": first, "teile": [teile[0]]});
    let part = json!({"id": further, "ist_menge": 3});
    for inputs in [json!([again, part]), json!([fewer, part]), json!([part, again]), json!([part, fewer])] {
        let answer = end(&mill, &split, inputs.clone());
        assert_eq!(answer.status, 400, "{inputs}: {}", answer.body);
        assert!(answer.body["feld"].as_str().unwrap().starts_with("inputs["), "{inputs}: {}", answer.body);
        assert_eq!(show(&mill, id_of(&split)), split, "nothing is kept: {inputs}");
    }
    assert_eq!([mill.stock("C1"), mill.stock("C2")], ["500.000", "500.000"]);
}

#[test]
fn an_order_has_at_most_two_thousand_lines_however_often_it_is_split() {
    let server = Server::start();
    let mill = miller(&server);
    let wheat = json!({"artikelnummer": "W", "menge": 1});
    recipe(&mill, json!({"id": 9, "bezeichnung": "Viele", "inputs": vec![wheat; 21]}));
    let new = order(&mill, 9);
    let teil = json!({"charge_id": mill.receive("C1", 10), "ist_menge": "0.001"});
    let split = |status: &str, parts: usize| {
        let lines = new["inputs"].as_array().unwrap().iter();
        let inputs: Vec<_> =
            lines.map(|line| json!({"id": line["id"], "teile": vec![teil.clone(); parts]})).collect();
        put(&mill, id_of(&new), status, json!({"inputs": inputs}))
    };
    assert_eq!(split("geplant", 96).refused(400, "WERT_UNGUELTIG")["feld"], "inputs");
    assert_eq!(show(&mill, id_of(&new)), new, "nothing is kept");
    // The sent parts replace the existing ones and are not added to them.
    for (status, parts) in [("geplant", 60), ("in_bearbeitung", 95), ("erledigt", 60)] {
        split(status, parts).is(200);
        let lines = show(&mill, id_of(&new))["inputs"].as_array().unwrap().len();
        assert_eq!(lines, 21 * parts, "{status}");
    }
    assert_eq!(mill.stock("C1"), "8.740");
}
