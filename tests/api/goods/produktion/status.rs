//! State changes of a production order (D13): the transitions, requirements of the last one, If-Match.

use partnerd::platform::db::file::connection::open_writer;
use serde_json::{Value, json};

use super::{PATH, UNKNOWN, assert_fields, flour, ground, id_of, loose, miller, order, post, put, show};
use crate::harness::{Answer, Server};
use crate::trade::annahmescheine::at_once;
use crate::trade::lager::{Mill, and};

const STATES: [&str; 5] = ["schwebend", "geplant", "in_bearbeitung", "erledigt", "storniert"];

/// Creates an order without a recipe in this state.
fn order_in(mill: &Mill<'_>, state: &str) -> String {
    let id = post(mill, json!({})).id();
    if state != "schwebend" {
        put(mill, &id, state, json!({})).is(200);
    }
    assert_eq!(show(mill, &id)["status"], state);
    id
}

/// The errors of all lines, as `code feld`, sorted.
fn errors(answer: &Answer) -> Vec<String> {
    let errors = answer.body["details"]["fehler"].as_array().unwrap().iter();
    let mut errors: Vec<String> = errors
        .map(|error| format!("{} {}", error["error"].as_str().unwrap(), error["feld"].as_str().unwrap()))
        .collect();
    errors.sort();
    errors
}

#[test]
fn orders_go_forward_and_can_be_cancelled() {
    let server = Server::start();
    let mill = miller(&server);
    let table = [
        // Target states: schwebend, geplant, in_bearbeitung, erledigt, storniert.
        ("schwebend", [false, true, true, true, true]),
        ("geplant", [false, false, true, true, true]),
        ("in_bearbeitung", [false, false, false, true, true]),
        ("erledigt", [false, false, false, false, true]),
        ("storniert", [false; 5]),
    ];
    for (from, allowed) in table {
        for (to, allowed) in STATES.into_iter().zip(allowed) {
            let id = order_in(&mill, from);
            let before = show(&mill, &id);
            let answer = put(&mill, &id, to, json!({}));
            if allowed {
                let expected = json!({"id": id, "status": to, "pa_nummer": before["pa_nummer"]});
                assert_fields(answer.is(200), expected);
                assert_eq!(show(&mill, &id)["status"], to, "{from} to {to}");
            } else {
                assert_eq!(answer.refused(400, "PA_STATUS_UNGUELTIG")["error"], "PA_STATUS_UNGUELTIG");
                assert_eq!(show(&mill, &id), before, "{from} to {to}");
            }
        }
    }
}

#[test]
fn each_step_leaves_its_instant() {
    let server = Server::start();
    let mill = miller(&server);
    let id = post(&mill, json!({})).id();
    let steps = [("geplant", "geplant_am"), ("in_bearbeitung", "gestartet_am"), ("erledigt", "erledigt_am")];
    for (hour, (status, _)) in steps.iter().enumerate() {
        server.set_clock(&format!("2026-07-10T1{hour}:30:00Z"));
        put(&mill, &id, status, json!({})).is(200);
    }
    let shown = show(&mill, &id);
    for (hour, (_, field)) in steps.iter().enumerate() {
        assert_eq!(shown[field], format!("2026-07-10T1{hour}:30:00.000Z"), "{field}");
    }
}

#[test]
fn a_change_needs_a_state_that_there_is() {
    let server = Server::start();
    let mill = miller(&server);
    let id = post(&mill, json!({})).id();
    let path = format!("{PATH}/{id}/status");
    let rows = [
        (json!({}), "FELD_FEHLT"),
        (json!({"status": null}), "FELD_FEHLT"),
        (json!({"status": "fertig"}), "WERT_UNGUELTIG"),
        (json!({"status": 3}), "FELD_UNGUELTIG"),
    ];
    for (body, code) in rows {
        assert_eq!(mill.client.put(&path, body.clone()).refused(400, code)["feld"], "status", "{body}");
    }
    put(&mill, &id, "geplant", json!({"inputs": {}})).refused(400, "FELD_UNGUELTIG");
    mill.client.put(&path, json!([])).refused(400, "UNGUELTIGES_JSON");
    put(&mill, &id, "geplant", json!({"farbe": "rot"})).hints("UNBEKANNTES_FELD");
}

#[test]
fn the_end_needs_every_quantity_and_the_batch_of_tracked_inputs() {
    let server = Server::start();
    let mill = miller(&server);
    let charge = mill.receive("C1", 500);
    let new = order(&mill, 1);
    let id = id_of(&new);
    let full = ground(&new, &charge, [100, 80, 20]);
    let refused = put(&mill, id, "erledigt", json!({}));
    refused.refused(400, "FELD_FEHLT");
    let all = ["inputs[0].ist_menge", "outputs[0].ist_menge", "outputs[1].ist_menge"];
    assert_eq!(errors(&refused), all.map(|feld| format!("FELD_FEHLT {feld}")));
    let mut body = full.clone();
    body["inputs"][0]["charge_id"] = Value::Null;
    body["outputs"][1]["ist_menge"] = Value::Null;
    let refused = put(&mill, id, "erledigt", body);
    assert_eq!(refused.status, 400);
    assert_eq!(errors(&refused), ["CHARGE_FEHLT inputs[0].charge_id", "FELD_FEHLT outputs[1].ist_menge"]);
    let mut body = full.clone();
    body["inputs"][0].as_object_mut().unwrap().remove("charge_id");
    put(&mill, id, "erledigt", body).refused(400, "CHARGE_FEHLT");
    assert_eq!(show(&mill, id), new, "nothing of it is kept");
    assert_eq!((mill.stock("C1").as_str(), flour(&mill).len(), loose(&mill, "K")), ("500.000", 0, 0));
    put(&mill, id, "erledigt", full).is(200);
    assert_eq!(mill.stock("C1"), "400.000");
}

#[test]
fn quantities_may_be_noted_before_the_end() {
    let server = Server::start();
    let mill = miller(&server);
    let charge = mill.receive("C1", 500);
    let new = order(&mill, 1);
    let noted = put(&mill, id_of(&new), "in_bearbeitung", ground(&new, &charge, [100, 80, 20]));
    assert_eq!(noted.is(200)["lagerbewegungen"], json!([]));
    let shown = show(&mill, id_of(&new));
    let expected = json!({"ist_menge": "100.000", "charge_id": charge, "fremde_charge_nr": "C1",
        "charge_nr": mill.batch("C1")["charge_nr"]});
    assert_fields(&shown["inputs"][0], expected);
    assert_eq!(shown["outputs"][1]["ist_menge"], "20.000");
    assert_eq!(mill.stock("C1"), "500.000", "only the end books");
    put(&mill, id_of(&new), "erledigt", json!({})).is(200);
    assert_eq!(mill.stock("C1"), "400.000");
}

#[test]
fn lines_must_be_of_the_order_and_their_values_be_right() {
    let server = Server::start();
    let mill = miller(&server);
    let charge = mill.receive("C1", 500);
    let (new, other) = (order(&mill, 1), order(&mill, 1));
    let (input, output) = (&new["inputs"][0]["id"], &new["outputs"][0]["id"]);
    let rows = [
        (json!({"inputs": [{"id": other["inputs"][0]["id"], "ist_menge": 1}]}), "PA_ZEILE_NICHT_GEFUNDEN"),
        (json!({"outputs": [{"id": other["outputs"][0]["id"], "ist_menge": 1}]}), "PA_ZEILE_NICHT_GEFUNDEN"),
        (json!({"inputs": [{"id": 9_999, "ist_menge": 1}]}), "PA_ZEILE_NICHT_GEFUNDEN"),
        (json!({"inputs": [{"ist_menge": 1}]}), "FELD_FEHLT"),
        (json!({"inputs": [{"id": input, "ist_menge": 1}, {"id": input, "ist_menge": 1}]}), "WERT_UNGUELTIG"),
        (json!({"inputs": [{"id": input, "ist_menge": -1}]}), "MENGE_UNGUELTIG"),
        (json!({"outputs": [{"id": output, "ist_menge": -1}]}), "MENGE_UNGUELTIG"),
        (json!({"inputs": [{"id": input, "ist_menge": "1,5"}]}), "FELD_UNGUELTIG"),
        (json!({"inputs": [{"id": input, "charge_id": "C1"}]}), "FELD_UNGUELTIG"),
        (json!({"outputs": [{"id": output, "ist_menge": 1, "mhd": "bald"}]}), "DATUM_UNGUELTIG"),
        (json!({"inputs": [{"id": input, "teile": [{"charge_id": charge}]}]}), "FELD_FEHLT"),
    ];
    for (body, code) in rows {
        for status in ["geplant", "erledigt"] {
            let answer = put(&mill, id_of(&new), status, body.clone());
            assert!(answer.refused(400, code)["feld"].is_string(), "{status} {body}: {}", answer.body);
        }
    }
    assert_eq!((show(&mill, id_of(&new)), show(&mill, id_of(&other))), (new.clone(), other.clone()));
}

#[test]
fn an_order_that_is_cancelled_books_nothing() {
    let server = Server::start();
    let mill = miller(&server);
    let charge = mill.receive("C1", 500);
    let new = order(&mill, 1);
    put(&mill, id_of(&new), "in_bearbeitung", json!({})).is(200);
    let answer = put(&mill, id_of(&new), "storniert", ground(&new, &charge, [100, 80, 20]));
    assert_fields(answer.is(200), json!({"status": "storniert", "lagerbewegungen": []}));
    assert_eq!((mill.stock("C1").as_str(), flour(&mill).len(), loose(&mill, "K")), ("500.000", 0, 0));
    put(&mill, id_of(&new), "erledigt", ground(&new, &charge, [100, 80, 20]))
        .refused(400, "PA_STATUS_UNGUELTIG");
}

#[test]
fn a_change_may_name_the_version_it_is_based_on() {
    let server = Server::start();
    let mill = miller(&server);
    let id = post(&mill, json!({})).id();
    let (path, to) = (format!("{PATH}/{id}"), |status: &str| json!({"status": status}).to_string());
    let etag = || mill.client.get(&path).headers["etag"].clone();
    let old = etag();
    let cached = |etag: &str| mill.client.send("GET", &path, &[("if-none-match", etag)], None);
    assert_eq!((cached(&old).status, cached(&old).bytes.len()), (304, 0));
    let change = |etag: &str, status: &str| {
        let path = format!("{path}/status");
        mill.client.send("PUT", &path, &[("if-match", etag)], Some(to(status).as_bytes()))
    };
    change(&old, "geplant").is(200);
    assert_ne!(etag(), old);
    assert_eq!(cached(&old).is(200)["status"], "geplant");
    change(&old, "in_bearbeitung").refused(412, "ZWISCHENZEITLICH_GEAENDERT");
    // 404 is checked before 412, and 412 before the rules of the state (D19).
    change(&old, "schwebend").refused(412, "ZWISCHENZEITLICH_GEAENDERT");
    let unknown = format!("{PATH}/{UNKNOWN}/status");
    let body = to("geplant");
    let answer = mill.client.send("PUT", &unknown, &[("if-match", &old)], Some(body.as_bytes()));
    answer.refused(404, "NICHT_GEFUNDEN");
    assert_eq!(show(&mill, &id)["status"], "geplant");
    change(&etag(), "in_bearbeitung").is(200);
}

#[test]
fn an_order_that_is_over_cannot_be_changed_by_sql_either() {
    let server = Server::start();
    let mill = miller(&server);
    let charge = mill.receive("C1", 500);
    for status in ["erledigt", "storniert"] {
        let new = order(&mill, 1);
        put(&mill, id_of(&new), status, ground(&new, &charge, [100, 80, 20])).is(200);
        let before = show(&mill, id_of(&new));
        let connection = open_writer(&server.database).unwrap();
        let pa = id_of(&new).replace('-', "");
        let statements = [
            format!("update produktionsauftrag set status = 'schwebend' where id = x'{pa}'"),
            format!("update produktionsauftrag set bezeichnung = 'x' where id = x'{pa}'"),
            format!("update pa_input set ist_menge = 7 where pa_id = x'{pa}'"),
            format!("update pa_output set ist_menge = 7 where pa_id = x'{pa}'"),
            format!("delete from pa_input where pa_id = x'{pa}'"),
            format!("delete from pa_output where pa_id = x'{pa}'"),
            format!("delete from produktionsauftrag where id = x'{pa}'"),
        ];
        for statement in statements {
            let error = connection.execute(&statement, []).expect_err(&statement).to_string();
            assert!(error.contains("never"), "{status}: {statement}: {error}");
        }
        assert_eq!(show(&mill, id_of(&new)), before, "{status}");
    }
}

#[test]
fn no_line_comes_into_an_order_that_is_over_by_sql() {
    let server = Server::start();
    let mill = miller(&server);
    let charge = mill.receive("C1", 500);
    let open = order(&mill, 1);
    for status in ["erledigt", "storniert"] {
        let over = order(&mill, 1);
        put(&mill, id_of(&over), status, ground(&over, &charge, [100, 80, 20])).is(200);
        let before = (show(&mill, id_of(&over)), show(&mill, id_of(&open)));
        let connection = open_writer(&server.database).unwrap();
        let [pa, from] = [&over, &open].map(|order| id_of(order).replace('-', ""));
        for table in ["pa_input", "pa_output"] {
            let statements = [
                format!(
                    "insert into {table} (tenant_id, id, pa_id, position, artikel_id, soll_menge)
                     select tenant_id, id + 1000, x'{pa}', position, artikel_id, soll_menge from {table}
                     where pa_id = x'{from}'"
                ),
                format!("update {table} set pa_id = x'{pa}' where pa_id = x'{from}'"),
                format!("update {table} set pa_id = x'{from}' where pa_id = x'{pa}'"),
            ];
            for statement in statements {
                let error = connection.execute(&statement, []).expect_err(&statement).to_string();
                assert!(error.contains("never"), "{status}: {statement}: {error}");
            }
        }
        assert_eq!((show(&mill, id_of(&over)), show(&mill, id_of(&open))), before, "{status}");
    }
}

#[test]
fn of_many_completions_at_once_one_moves_the_stock() {
    let server = Server::start();
    let mill = miller(&server);
    let charge = mill.receive("C1", 500);
    let new = order(&mill, 1);
    let answers = at_once(8, |_| put(&mill, id_of(&new), "erledigt", ground(&new, &charge, [100, 80, 20])));
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1);
    for answer in answers.iter().filter(|answer| answer.status != 200) {
        answer.refused(400, "PA_STATUS_UNGUELTIG");
    }
    assert_eq!((mill.stock("C1").as_str(), loose(&mill, "K")), ("400.000", 20));
    let made: Vec<_> = flour(&mill).iter().map(|batch| batch["bestand"].clone()).collect();
    assert_eq!(made, ["80.000"]);
}

#[test]
fn many_new_orders_at_once_leave_no_gap() {
    let server = Server::start();
    let mill = miller(&server);
    let answers = at_once(20, |at| match at % 5 {
        0 => post(&mill, json!({"rezeptur_id": 1, "faktor": 0})),
        _ => post(&mill, and(json!({"rezeptur_id": 1}), json!({"bemerkung": "Schicht"}))),
    });
    let created = answers.iter().filter(|answer| answer.status == 201);
    let mut numbers: Vec<_> = created.map(|answer| answer.body["pa_nummer"].as_str().unwrap()).collect();
    numbers.sort();
    let expected: Vec<_> = (1..=16).map(|number| format!("PA-2026-{number:05}")).collect();
    assert_eq!(numbers, expected);
}
