//! Weighings: first weight, second weight, storno (specification, transition table; D12).

mod belege;
mod liste;

use serde_json::{Value, json};

use crate::harness::{Answer, Server, data};
use crate::trade::lager::{Mill, and};

const UNKNOWN: &str = "0197f3a0-0000-7000-8000-000000000000";

/// The body of a first weighing of Hof on scale 1.
fn body(mill: &Mill<'_>, erst: impl Into<Value>, more: Value) -> Value {
    let body = json!({"waage_id": 1, "gewicht_erst_kg": erst.into(), "partner_id": mill.partner_id("Hof")});
    and(body, more)
}

fn first(mill: &Mill<'_>, erst: impl Into<Value>, more: Value) -> Answer {
    mill.client.post("/api/v1/wiegungen", body(mill, erst, more))
}

fn second(mill: &Mill<'_>, id: &str, zweit: impl Into<Value>, more: Value) -> Answer {
    let body = and(json!({"gewicht_zweit_kg": zweit.into()}), more);
    mill.client.put(&format!("/api/v1/wiegungen/{id}/zweitwiegung"), body)
}

/// Creates a finished weighing; returns its id.
pub fn weigh(mill: &Mill<'_>, erst: i64, zweit: i64, more: Value) -> String {
    let id = first(mill, erst, more).id();
    second(mill, &id, zweit, json!({})).is(200);
    id
}

fn storno(mill: &Mill<'_>, id: &str) -> Answer {
    mill.client.put(&format!("/api/v1/wiegungen/{id}/storno"), json!({"grund": "falsch"}))
}

fn get(mill: &Mill<'_>, id: &str) -> Value {
    mill.client.get(&format!("/api/v1/wiegungen/{id}")).is(200).clone()
}

/// Sends a body the way scale software does: pretty-printed, weights as doubles, with a charset.
fn send_as_scale(mill: &Mill<'_>, method: &str, path: &str, body: &Value) -> Answer {
    let mut body = body.clone();
    for field in ["gewicht_erst_kg", "gewicht_zweit_kg"] {
        if let Some(weight) = body.get(field).and_then(Value::as_f64) {
            body[field] = json!(weight);
        }
    }
    let text = serde_json::to_string_pretty(&body).unwrap();
    assert!(text.contains(".0"), "a double: {text}");
    let header = [("content-type", "application/json; charset=utf-8")];
    mill.client.send(method, path, &header, Some(text.as_bytes()))
}

#[test]
fn the_scenarios_of_the_scale_end_as_expected() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let scenarios = data("waage.json").as_array().unwrap().clone();
    assert_eq!(scenarios.len(), 22);
    for scenario in &scenarios {
        for as_scale in [false, true] {
            let (answers, last) = play(&mill, scenario, as_scale);
            check_outcome(scenario, &answers, &last);
        }
    }
}

/// Runs a scenario; returns the answers to the second weights in order, and the weighing afterwards.
fn play(mill: &Mill<'_>, scenario: &Value, as_scale: bool) -> (Vec<Answer>, Value) {
    let send = |method: &str, path: &str, body: &Value| match (as_scale, method) {
        (true, _) => send_as_scale(mill, method, path, body),
        (false, "POST") => mill.client.post(path, body.clone()),
        (false, _) => mill.client.put(path, body.clone()),
    };
    let (mut id, mut answers) = (String::new(), Vec::new());
    for step in scenario["schritte"].as_array().unwrap() {
        let path = format!("/api/v1/wiegungen/{id}/zweitwiegung");
        if let Some(post) = step.get("post") {
            let body = and(post.clone(), json!({"partner_id": mill.partner_id("Hof")}));
            id = send("POST", "/api/v1/wiegungen", &body).id();
        } else if let Some(put) = step.get("put") {
            answers.push(send("PUT", &path, put));
        } else {
            std::thread::scope(|scope| {
                let calls = step["parallel"].as_array().unwrap().iter();
                let calls: Vec<_> = calls
                    .map(|call| scope.spawn(|| mill.client.clone().put(&path, call["put"].clone())))
                    .collect();
                answers.extend(calls.into_iter().map(|call| call.join().unwrap()));
            });
        }
    }
    (answers, get(mill, &id))
}

fn check_outcome(scenario: &Value, answers: &[Answer], last: &Value) {
    let (name, expected) = (&scenario["name"], &scenario["erwartet"]);
    let mut codes: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
    let done = answers.iter().find(|answer| answer.status == 200).unwrap();
    if let Some(status) = expected.get("letzter_status") {
        assert_eq!(codes.last().map(|code| json!(code)).as_ref(), Some(status), "{name}");
    }
    codes.sort();
    if let Some(sorted) = expected.get("status_codes_sortiert") {
        assert_eq!(&json!(codes), sorted, "{name}");
    }
    for refused in answers.iter().filter(|answer| answer.status != 200) {
        refused.refused(400, "WIEGUNG_NICHT_OFFEN");
    }
    for field in ["status", "gewicht_netto_kg", "richtung"] {
        assert_eq!(done.body[field], last[field], "{name}: {field} is kept as confirmed");
    }
    assert_eq!(last["status"], "fertig", "{name}");
    if let Some(netto) = expected["netto"].as_str() {
        assert_eq!(last["gewicht_netto_kg"], format!("{netto}.000"), "{name}");
    }
    let sent = scenario["schritte"][0]["post"]["richtung"].as_str().filter(|sent| !sent.is_empty());
    let weight = |field: &str| last[field].as_str().unwrap().parse::<f64>().unwrap();
    let incoming = weight("gewicht_erst_kg") > weight("gewicht_zweit_kg");
    let computed = if incoming { "eingang" } else { "ausgang" };
    assert_eq!(last["richtung"], sent.unwrap_or(computed), "{name}");
    let contradicts = sent.is_some_and(|sent| sent != computed);
    let hints: &[&str] = if contradicts { &["RICHTUNG_WIDERSPRUCH"] } else { &[] };
    assert_eq!(done.hint_codes(), hints, "{name}");
}

#[test]
fn a_weighing_shows_what_was_sent_and_what_followed() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let sent = json!({"kennzeichen": "VER-LA 100", "fahrer": "Öztürk", "artikel_id": mill.artikel_id("W"),
        "niederlassung_id": 3, "lagerhalle_id": "4", "fremdwiegung": false, "bemerkung": "nass"});
    let created = first(&mill, 40_120, sent);
    let confirmation = created.is(201);
    let expected = json!({"wiegeschein_nr": "WS-2026-00001", "status": "offen", "gewicht_netto_kg": null,
        "richtung": null, "hinweise": []});
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&confirmation[field], value, "{field}");
    }
    server.set_clock("2026-07-10T10:30:00Z");
    let id = created.id();
    let done = second(&mill, &id, 15_260, json!({"lagerhalle_id": 5}));
    assert_eq!(
        (&done.is(200)["gewicht_netto_kg"], &done.body["richtung"]),
        (&json!("24860.000"), &json!("eingang"))
    );
    assert_eq!((&done.body["id"], &done.body["wiegeschein_nr"]), (&json!(id), &json!("WS-2026-00001")));
    let shown = get(&mill, &id);
    let expected = json!({"id": id, "wiegeschein_nr": "WS-2026-00001", "status": "fertig",
        "richtung": "eingang", "kennzeichen": "VER-LA 100", "fahrer": "Öztürk", "waage_id": 1,
        "gewicht_erst_kg": "40120.000", "gewicht_zweit_kg": "15260.000", "gewicht_netto_kg": "24860.000",
        "ts_erst": "2026-07-10T10:00:00.000Z", "ts_zweit": "2026-07-10T10:30:00.000Z",
        "partner_id": mill.partner_id("Hof"), "partner_name": "Hof", "artikel_id": mill.artikel_id("W"),
        "artikel_bezeichnung": "Weizen", "charge_id": null, "charge_nr": null, "niederlassung_id": 3,
        "lagerhalle_id": 5, "kontrakt_id": null, "beleg_id": null, "fremdwiegung": false,
        "bemerkung": "nass"});
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&shown[field], value, "{field}");
    }
    assert_eq!(server.sql::<i64>("select count(*) from lagerbewegung"), 0, "a weighing books no stock");
}

#[test]
fn the_direction_comes_from_the_second_body_the_first_or_the_weights() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let (eingang, ausgang, empty) = (json!("eingang"), json!("ausgang"), json!(""));
    let rows = [
        (json!(null), json!(null), 30, 10, "eingang", false),
        (json!(null), json!(null), 10, 30, "ausgang", false),
        (empty.clone(), empty.clone(), 30, 10, "eingang", false),
        (eingang.clone(), empty.clone(), 30, 10, "eingang", false),
        (eingang.clone(), json!(null), 10, 30, "eingang", true),
        (eingang.clone(), ausgang.clone(), 10, 30, "ausgang", false),
        (eingang.clone(), ausgang.clone(), 30, 10, "ausgang", true),
        (empty, eingang, 10, 30, "eingang", true),
        (ausgang.clone(), ausgang, 10, 30, "ausgang", false),
    ];
    for (at, (post, put, erst, zweit, expected, contradicts)) in rows.into_iter().enumerate() {
        let id = first(&mill, erst, json!({"richtung": post})).id();
        let answer = second(&mill, &id, zweit, json!({"richtung": put}));
        assert_eq!(answer.is(200)["richtung"], expected, "row {at}");
        assert_eq!(answer.hint_codes() == ["RICHTUNG_WIDERSPRUCH"], contradicts, "row {at}: {}", answer.body);
    }
    first(&mill, 10, json!({"richtung": "rein"})).refused(400, "WERT_UNGUELTIG");
    let id = first(&mill, 10, json!({})).id();
    second(&mill, &id, 5, json!({"richtung": "raus"})).refused(400, "WERT_UNGUELTIG");
}

#[test]
fn weights_are_above_0_and_at_most_200_t_and_keep_3_decimals() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let refused = [
        (json!(0), "WERT_UNGUELTIG"),
        (json!(-1), "WERT_UNGUELTIG"),
        (json!(200_000.001), "WERT_UNGUELTIG"),
        (json!("1,5"), "FELD_UNGUELTIG"),
        (json!(true), "FELD_UNGUELTIG"),
        (json!(1_000_000_000_000_i64), "FELD_UNGUELTIG"),
        (json!(null), "FELD_FEHLT"),
    ];
    let open = first(&mill, 100, json!({})).id();
    for (weight, code) in refused {
        assert_eq!(first(&mill, weight.clone(), json!({})).refused(400, code)["feld"], "gewicht_erst_kg");
        let answer = second(&mill, &open, weight.clone(), json!({}));
        assert_eq!(answer.refused(400, code)["feld"], "gewicht_zweit_kg", "{weight}");
    }
    second(&mill, &open, 100, json!({})).refused(400, "NETTO_NULL");
    second(&mill, &open, "100.0004", json!({})).refused(400, "NETTO_NULL");
    assert_eq!(
        (&get(&mill, &open)["status"], &get(&mill, &open)["gewicht_zweit_kg"]),
        (&json!("offen"), &json!(null))
    );
    let kept = [
        (json!(200_000), "200000.000", false),
        (json!("0.001"), "0.001", false),
        (json!(7.0), "7.000", false),
    ];
    let rounded = [(json!(12.3456), "12.346", true), (json!("12.3455"), "12.346", true)];
    for (weight, expected, hinted) in kept.into_iter().chain(rounded) {
        let answer = first(&mill, weight, json!({}));
        assert_eq!(answer.hint_codes() == ["GERUNDET"], hinted, "{expected}: {}", answer.body);
        assert_eq!(get(&mill, &answer.id())["gewicht_erst_kg"], expected);
    }
    assert_eq!(second(&mill, &open, "50.25", json!({})).is(200)["gewicht_netto_kg"], "49.750");
}

#[test]
fn only_a_weighing_from_elsewhere_may_have_a_second_weight_of_0() {
    let server = Server::start();
    let mill = Mill::of(&server);
    first(&mill, 0, json!({"fremdwiegung": true})).refused(400, "WERT_UNGUELTIG");
    let id = first(&mill, 24_860, json!({"fremdwiegung": true})).id();
    second(&mill, &id, -1, json!({})).refused(400, "WERT_UNGUELTIG");
    let answer = second(&mill, &id, 0, json!({}));
    assert_eq!(
        (&answer.is(200)["gewicht_netto_kg"], &answer.body["richtung"]),
        (&json!("24860.000"), &json!("eingang"))
    );
}

#[test]
fn what_a_weighing_needs_must_be_sent_and_what_it_names_must_exist() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let other = Mill::with(&server, "Andere", &[]);
    for field in ["waage_id", "gewicht_erst_kg", "partner_id"] {
        let mut sent = body(&mill, 10, json!({}));
        sent.as_object_mut().unwrap().remove(field);
        assert_eq!(mill.client.post("/api/v1/wiegungen", sent).refused(400, "FELD_FEHLT")["feld"], field);
    }
    let rows = [
        ("partner_id", other.partner_id("Hof"), "PARTNER_NICHT_GEFUNDEN"),
        ("artikel_id", other.artikel_id("W"), "ARTIKEL_NICHT_GEFUNDEN"),
        ("charge_id", other.receive("C1", 5), "CHARGE_NICHT_GEFUNDEN"),
        ("kontrakt_id", UNKNOWN.to_owned(), "KONTRAKT_NICHT_GEFUNDEN"),
    ];
    let open = first(&mill, 100, json!({})).id();
    for (field, foreign, code) in rows {
        for id in [foreign.as_str(), UNKNOWN] {
            assert_eq!(first(&mill, 10, json!({field: id})).refused(400, code)["feld"], field);
            if ["charge_id", "kontrakt_id"].contains(&field) {
                second(&mill, &open, 50, json!({field: id})).refused(400, code);
            }
        }
    }
    assert_eq!(get(&mill, &open)["status"], "offen");
    assert_eq!(
        first(&mill, 10, json!({})).is(201)["wiegeschein_nr"],
        "WS-2026-00002",
        "refusals use no number"
    );
}

#[test]
fn a_weighing_is_weighed_twice_and_no_more() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let (done, cancelled) = (weigh(&mill, 100, 40, json!({})), first(&mill, 100, json!({})).id());
    storno(&mill, &cancelled).is(200);
    for id in [&done, &cancelled] {
        let before = get(&mill, id);
        second(&mill, id, 30, json!({"niederlassung_id": 9})).refused(400, "WIEGUNG_NICHT_OFFEN");
        assert_eq!(&get(&mill, id), &before);
    }
    for id in [UNKNOWN, "keine-uuid"] {
        second(&mill, id, 30, json!({})).refused(404, "NICHT_GEFUNDEN");
        storno(&mill, id).refused(404, "NICHT_GEFUNDEN");
        mill.client.get(&format!("/api/v1/wiegungen/{id}")).refused(404, "NICHT_GEFUNDEN");
    }
    let other = Mill::with(&server, "Andere", &[]);
    other.client.get(&format!("/api/v1/wiegungen/{done}")).refused(404, "NICHT_GEFUNDEN");
}

#[test]
fn a_weighing_is_cancelled_from_offen_and_fertig_with_a_reason() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let open = first(&mill, 100, json!({})).id();
    for id in [open, weigh(&mill, 100, 40, json!({}))] {
        let before = get(&mill, &id);
        let path = format!("/api/v1/wiegungen/{id}/storno");
        mill.client.put(&path, json!({})).refused(400, "FELD_FEHLT");
        mill.client.put(&path, json!({"grund": " "})).refused(400, "FELD_FEHLT");
        assert_eq!(storno(&mill, &id).is(200)["status"], "storno");
        let after = get(&mill, &id);
        assert_eq!(after["status"], "storno");
        for field in ["gewicht_erst_kg", "gewicht_zweit_kg", "gewicht_netto_kg", "wiegeschein_nr"] {
            assert_eq!(after[field], before[field], "{field} stays");
        }
        storno(&mill, &id).refused(400, "WIEGUNG_NICHT_STORNIERBAR");
    }
}

#[test]
fn second_weight_and_storno_take_if_match() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let id = first(&mill, 100, json!({})).id();
    let path = format!("/api/v1/wiegungen/{id}");
    let etag = || mill.client.get(&path).headers["etag"].clone();
    let put = |what: &str, etag: &str, body: Value| {
        let body = body.to_string();
        mill.client.send("PUT", &format!("{path}/{what}"), &[("if-match", etag)], Some(body.as_bytes()))
    };
    let (old, weight) = (etag(), json!({"gewicht_zweit_kg": 40}));
    put("zweitwiegung", "\"other\"", weight.clone()).refused(412, "ZWISCHENZEITLICH_GEAENDERT");
    put("zweitwiegung", &old, weight.clone()).is(200);
    put("zweitwiegung", &old, weight).refused(412, "ZWISCHENZEITLICH_GEAENDERT");
    put("storno", &old, json!({"grund": "x"})).refused(412, "ZWISCHENZEITLICH_GEAENDERT");
    put("storno", &etag(), json!({"grund": "x"})).is(200);
}

#[test]
fn a_text_with_a_point_and_three_decimals_below_a_hundred_kilograms_is_doubtful() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let rows = [
        (json!("40.120"), true),
        (json!(" 99.999 "), true),
        (json!("0.500"), true),
        (json!("100.000"), false),
        (json!("24860.000"), false),
        (json!("40.12"), false),
        (json!("40"), false),
        (json!(40.125), false),
    ];
    let id = first(&mill, 50, json!({"fremdwiegung": true})).id();
    assert_eq!(
        second(&mill, &id, "0.000", json!({})).hint_codes(),
        [""; 0],
        "nothing is nothing in any reading"
    );
    for (weight, expected) in rows {
        let hinted = |answer: &Answer, feld: &str| {
            let hint = json!([{"code": "WERT_FRAGLICH", "feld": feld}]);
            let mut hints = answer.body["hinweise"].clone();
            for hint in hints.as_array_mut().unwrap() {
                hint.as_object_mut().unwrap().remove("message");
            }
            assert_eq!(hints, if expected { hint } else { json!([]) }, "{weight} {}", answer.body);
        };
        hinted(&first(&mill, weight.clone(), json!({})), "gewicht_erst_kg");
        let id = first(&mill, 50, json!({})).id();
        hinted(&second(&mill, &id, weight.clone(), json!({})), "gewicht_zweit_kg");
    }
}
