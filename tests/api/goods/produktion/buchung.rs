//! Bookings at the end of a production order: the inputs leave the stock (D8, D13).

use serde_json::{Value, json};

use super::{
    UNKNOWN, assert_fields, flour, ground, id_of, loose, miller, miller_with, order, put, recipe, show,
};
use crate::harness::Server;
use crate::trade::lager::{Mill, and, moves, sell};

/// Creates a batch of rye; returns its id.
fn rye(mill: &Mill<'_>) -> String {
    mill.post("EL", json!({"artikelnr": "R", "menge": 50, "fremde_charge_nr": "R1"})).is(201);
    mill.batch("R1")["id"].as_str().unwrap().to_owned()
}

#[test]
fn inputs_leave_and_outputs_enter_the_stock() {
    let server = Server::start();
    let mill = miller(&server);
    let charge = mill.receive("C1", 500);
    let new = order(&mill, 1);
    let answer = put(&mill, id_of(&new), "erledigt", ground(&new, &charge, [103, 81, 19]));
    assert_eq!((answer.is(200)["status"].as_str(), answer.hint_codes().len()), (Some("erledigt"), 0));
    assert_eq!(moves(&answer), ["-103.000", "81.000", "19.000"]);
    let moved = &answer.body["lagerbewegungen"];
    let wheat = json!({"artikel_id": mill.artikel_id("W"), "charge_id": charge, "einheit": "kg",
        "charge_nr": mill.batch("C1")["charge_nr"], "beleg_id": null});
    assert_fields(&moved[0], wheat);
    assert_fields(&moved[1], json!({"artikel_id": mill.artikel_id("M"), "charge_id": flour(&mill)[0]["id"]}));
    assert_fields(&moved[2], json!({"artikel_id": mill.artikel_id("K"), "charge_id": null}));
    assert_eq!((mill.stock("C1").as_str(), loose(&mill, "K")), ("397.000", 19));
    assert_eq!(flour(&mill)[0]["bestand"], "81.000");
    let lines = show(&mill, id_of(&new));
    assert_fields(&lines["inputs"][0], json!({"soll_menge": "100.000", "ist_menge": "103.000"}));
    assert_fields(&lines["outputs"][0], json!({"soll_menge": "80.000", "ist_menge": "81.000"}));
    // The flour is sold: a movement of an order is like any other.
    let sold = json!({"artikelnr": "M", "menge": 30, "charge_id": flour(&mill)[0]["id"]});
    mill.post("LS", and(sold, json!({"ep_netto": 1}))).is(201);
    assert_eq!(flour(&mill)[0]["bestand"], "51.000");
    assert_eq!(server.sql::<i64>("select count(*) from lagerbewegung where pa_id is not null"), 3);
}

#[test]
fn an_input_is_split_over_several_batches() {
    let server = Server::start();
    let mill = miller(&server);
    let charges = [mill.receive("C1", 500), mill.receive("C2", 500), mill.receive("C3", 500)];
    let new = order(&mill, 1);
    let mut body = ground(&new, &charges[0], [0, 80, 20]);
    let menge = ["60", "30.5", "12.25"];
    let teile: Vec<Value> = charges
        .iter()
        .zip(menge)
        .map(|(charge, menge)| json!({"charge_id": charge, "ist_menge": menge}))
        .collect();
    body["inputs"][0] = json!({"id": new["inputs"][0]["id"], "teile": teile});
    let answer = put(&mill, id_of(&new), "erledigt", body);
    answer.is(200);
    assert_eq!(moves(&answer), ["-60.000", "-30.500", "-12.250", "80.000", "20.000"]);
    let stocks = ["C1", "C2", "C3"].map(|number| mill.stock(number));
    assert_eq!(stocks, ["440.000", "469.500", "487.750"]);
    let shown = show(&mill, id_of(&new));
    let lines = shown["inputs"].as_array().unwrap();
    assert_eq!(lines.len(), 3, "each part is a line of its own");
    let soll: Vec<_> = lines.iter().map(|line| line["soll_menge"].clone()).collect();
    assert_eq!(soll, ["100.000", "0.000", "0.000"], "what should go in is said once");
    for ((line, charge), menge) in lines.iter().zip(&charges).zip(["60.000", "30.500", "12.250"]) {
        assert_fields(
            line,
            json!({"charge_id": charge, "ist_menge": menge, "artikel_bezeichnung": "Weizen"}),
        );
    }
}

#[test]
fn every_part_needs_a_batch_and_a_quantity() {
    let server = Server::start();
    let mill = miller(&server);
    let charge = mill.receive("C1", 500);
    let new = order(&mill, 1);
    let (good, rows) = (
        json!({"charge_id": charge, "ist_menge": 50}),
        [
            (json!({"ist_menge": 50}), "CHARGE_FEHLT"),
            (json!({"charge_id": charge}), "FELD_FEHLT"),
            (json!({"charge_id": UNKNOWN, "ist_menge": 50}), "CHARGE_NICHT_GEFUNDEN"),
            (json!({"charge_id": rye(&mill), "ist_menge": 50}), "CHARGE_PASST_NICHT"),
        ],
    );
    for (bad, code) in rows {
        let mut body = ground(&new, &charge, [0, 80, 20]);
        body["inputs"][0] = json!({"id": new["inputs"][0]["id"], "teile": [good, bad]});
        put(&mill, id_of(&new), "erledigt", body).refused(400, code);
        assert_eq!(show(&mill, id_of(&new)), new, "{code}");
    }
    assert_eq!(mill.stock("C1"), "500.000");
}

#[test]
fn a_batch_must_be_there_and_of_the_article() {
    let server = Server::start();
    let mill = miller(&server);
    let other = miller_with(&server, "Andere", &[]);
    let (foreign, wrong) = (other.receive("C1", 500), rye(&mill));
    let new = order(&mill, 1);
    let rows = [
        (UNKNOWN, "CHARGE_NICHT_GEFUNDEN"),
        (foreign.as_str(), "CHARGE_NICHT_GEFUNDEN"),
        (wrong.as_str(), "CHARGE_PASST_NICHT"),
    ];
    for (charge, code) in rows {
        for status in ["in_bearbeitung", "erledigt"] {
            let answer = put(&mill, id_of(&new), status, ground(&new, charge, [100, 80, 20]));
            assert_eq!(answer.refused(400, code)["feld"], "inputs[0].charge_id", "{status}");
            assert_eq!(answer.body["details"]["fehler"][0]["error"], code, "{status}");
        }
    }
    assert_eq!(show(&mill, id_of(&new)), new);
    assert_eq!((other.stock("C1"), mill.stock("R1")), ("500.000".to_owned(), "50.000".to_owned()));
}

#[test]
fn a_line_of_another_company_is_as_unknown_as_any() {
    let server = Server::start();
    let mill = miller(&server);
    let other = miller_with(&server, "Andere", &[]);
    let charge = mill.receive("C1", 500);
    let new = order(&mill, 1);
    // Creates enough orders that the line ids of the last one exist in no other company.
    let foreign = [(); 4].map(|()| order(&other, 1)).last().unwrap().clone();
    for lines in ["inputs", "outputs"] {
        let mut body = ground(&new, &charge, [100, 80, 20]);
        body[lines][0]["id"] = foreign[lines][0]["id"].clone();
        put(&mill, id_of(&new), "erledigt", body).refused(400, "PA_ZEILE_NICHT_GEFUNDEN");
    }
    assert_eq!(show(&mill, id_of(&new)), new);
    assert_eq!(show(&other, id_of(&foreign)), foreign);
}

#[test]
fn quantities_are_booked_in_the_unit_of_the_article() {
    let server = Server::start();
    let mill = miller(&server);
    let charge = mill.receive("C1", 5000);
    let wheat = json!([{"artikelnummer": "W", "menge": 1.5, "einheit": "t"}]);
    let made = json!([{"artikelnummer": "M", "menge": 12, "einheit": "dt"},
        {"artikelnummer": "K", "menge": 0.3, "einheit": "t"}]);
    recipe(&mill, json!({"id": 9, "bezeichnung": "Groß", "inputs": wheat, "outputs": made}));
    let new = order(&mill, 9);
    assert_fields(&new["inputs"][0], json!({"soll_menge": "1.500", "einheit": "t"}));
    let mut body = ground(&new, &charge, [0, 12, 0]);
    body["inputs"][0]["ist_menge"] = json!("1.4856");
    body["outputs"][1]["ist_menge"] = json!("0.28");
    let answer = put(&mill, id_of(&new), "erledigt", body);
    answer.is(200);
    assert_eq!(moves(&answer), ["-1485.600", "1200.000", "280.000"]);
    assert_eq!((mill.stock("C1").as_str(), loose(&mill, "K")), ("3514.400", 280));
    assert_fields(
        &flour(&mill)[0],
        json!({"bestand": "1200.000", "eingang_menge": "1200.000", "einheit": "kg"}),
    );
    assert_eq!(show(&mill, id_of(&new))["inputs"][0]["ist_menge"], "1.4856");
}

#[test]
fn articles_that_are_not_tracked_need_no_batch() {
    let server = Server::start();
    let mill = miller(&server);
    let new = order(&mill, 2);
    let line = |name: &str, menge: i64| json!([{"id": new[name][0]["id"], "ist_menge": menge}]);
    let body = json!({"inputs": line("inputs", 3), "outputs": line("outputs", 2)});
    let answer = put(&mill, id_of(&new), "erledigt", body);
    answer.is(200);
    assert_eq!(moves(&answer), ["-3.000", "2.000"]);
    assert_eq!((loose(&mill, "S"), mill.batches().len()), (-1, 0));
    assert_eq!(show(&mill, id_of(&new))["outputs"][0]["neue_charge_nr"], Value::Null);
}

#[test]
fn more_than_the_stock_goes_in_with_a_hint() {
    let server = Server::start();
    let mill = miller(&server);
    let charge = mill.receive("C1", 90);
    let new = order(&mill, 1);
    let answer = put(&mill, id_of(&new), "erledigt", ground(&new, &charge, [100, 80, 20]));
    answer.is(200);
    answer.hints("BESTAND_NEGATIV");
    assert_eq!(mill.stock("C1"), "-10.000");
}

#[test]
fn more_than_the_stock_is_refused_by_setting_and_nothing_is_kept() {
    let server = Server::start();
    let mill = miller_with(&server, "Mühle", &[("negativbestand", "ablehnen")]);
    let charge = mill.receive("C1", 100);
    mill.post("LS", sell(1, &charge)).is(201);
    let new = order(&mill, 1);
    let rows = server.sql::<i64>("select count(*) from lagerbewegung");
    let answer = put(&mill, id_of(&new), "erledigt", ground(&new, &charge, [100, 80, 20]));
    answer.refused(400, "BESTAND_NICHT_AUSREICHEND");
    assert_eq!(show(&mill, id_of(&new)), new);
    assert_eq!((mill.stock("C1").as_str(), flour(&mill).len()), ("99.000", 0));
    assert_eq!(server.sql::<i64>("select count(*) from lagerbewegung"), rows);
    // All of it can be removed, and the number of the new batch leaves no gap.
    put(&mill, id_of(&new), "erledigt", ground(&new, &charge, [99, 80, 20])).is(200);
    assert_eq!(mill.stock("C1"), "0.000");
    assert_eq!(flour(&mill)[0]["charge_nr"], "CH-2026-00002");
}

#[test]
fn a_yield_that_can_hardly_be_is_a_hint() {
    let server = Server::start();
    let mill = miller(&server);
    let charge = mill.receive("C1", 9_000);
    let rows = [([100, 85, 20], false), ([100, 86, 20], true), ([100, 40, 10], false), ([100, 40, 9], true)];
    for (quantities, expected) in rows {
        let new = order(&mill, 1);
        let answer = put(&mill, id_of(&new), "erledigt", ground(&new, &charge, quantities));
        answer.is(200);
        assert_eq!(answer.hint_codes().contains(&"AUSBEUTE_PRUEFEN".to_owned()), expected, "{quantities:?}");
    }
    // Masses are compared across units of mass; with any other unit there is no hint.
    server.import(&mill.client, "artikel", "artikelnummer;bezeichnung;einheit\nB;Beutel;Sack\nT;Treber;t\n");
    let line =
        |artikel: &str, einheit: &str| json!({"artikelnummer": artikel, "menge": 1, "einheit": einheit});
    let (wheat, bran, waste) = (line("W", "dt"), line("K", "kg"), line("T", "t"));
    let rows = [
        (json!([wheat]), json!([bran, waste]), [2, 3, 1], true),
        (json!([wheat]), json!([bran, waste]), [20, 900, 1], false),
        (json!([wheat]), json!([bran, line("B", "Sack")]), [20, 3, 1], false),
        (json!([wheat]), json!([bran, line("B", "Sack")]), [20, 3, 0], true),
        (json!([wheat]), json!([]), [20, 0, 0], false),
    ];
    for (at, (inputs, outputs, [wheat, first, second], expected)) in rows.into_iter().enumerate() {
        let id = 20 + at as i64;
        recipe(
            &mill,
            json!({"id": id, "bezeichnung": format!("R{at}"), "inputs": inputs, "outputs": outputs}),
        );
        let new = order(&mill, id);
        let input = json!({"id": new["inputs"][0]["id"], "ist_menge": wheat, "charge_id": charge});
        let made = new["outputs"].as_array().unwrap().iter().zip([first, second]);
        let outputs: Vec<_> =
            made.map(|(line, menge)| json!({"id": line["id"], "ist_menge": menge})).collect();
        let answer = put(&mill, id_of(&new), "erledigt", json!({"inputs": [input], "outputs": outputs}));
        answer.is(200);
        assert_eq!(answer.hint_codes().contains(&"AUSBEUTE_PRUEFEN".to_owned()), expected, "row {at}");
    }
}
