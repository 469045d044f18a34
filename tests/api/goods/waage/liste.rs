//! The list of weighings, and the fields that only a single weighing shows (specification; D12, D16).

use serde_json::{Value, json};

use super::{UNKNOWN, first, get, second, storno};
use crate::harness::{Answer, Server};
use crate::trade::lager::Mill;

fn list(mill: &Mill<'_>, query: &str) -> Answer {
    mill.client.get(&format!("/api/v1/wiegungen?{query}"))
}

fn slips(answer: &Answer) -> Vec<i64> {
    let rows = answer.is(200).as_array().unwrap();
    rows.iter().map(|row| row["wiegeschein_nr"].as_str().unwrap()[8..].parse().unwrap()).collect()
}

#[test]
fn days_are_berlin_days_of_the_first_weight() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let instants = [
        "2026-07-09T21:59:59.999Z",
        "2026-07-09T22:00:00Z",
        "2026-07-10T21:59:59.999Z",
        "2026-07-10T22:00:00Z",
        "2026-10-24T22:00:00Z",
        "2026-10-25T22:59:59.999Z",
        "2026-10-25T23:00:00Z",
    ];
    for instant in instants {
        server.set_clock(instant);
        let id = first(&mill, 100, json!({})).id();
        server.set_clock("2026-10-30T12:00:00Z");
        second(&mill, &id, 40, json!({})).is(200);
    }
    let rows = [
        ("", vec![7, 6, 5, 4, 3, 2, 1]),
        ("von=2026-07-10&bis=2026-07-10", vec![3, 2]),
        ("bis=2026-07-09", vec![1]),
        ("bis=2026-07-10", vec![3, 2, 1]),
        ("von=2026-07-11", vec![7, 6, 5, 4]),
        ("von=2026-10-25&bis=2026-10-25", vec![6, 5]),
        ("von=2026-10-26", vec![7]),
        ("von=2026-07-11&bis=2026-07-10", vec![]),
    ];
    for (query, expected) in rows {
        let answer = list(&mill, query);
        assert_eq!(slips(&answer), expected, "{query}");
        assert_eq!(answer.headers["x-total-count"], expected.len().to_string(), "{query}");
    }
    assert_eq!(list(&mill, "von=gestern").status, 400);
}

#[test]
fn the_slip_has_the_year_of_the_day_in_berlin() {
    let server = Server::start_at("2026-12-31T22:30:00Z");
    let mill = Mill::of(&server);
    let number = || first(&mill, 100, json!({})).is(201)["wiegeschein_nr"].clone();
    assert_eq!(number(), "WS-2026-00001");
    server.set_clock("2026-12-31T23:00:00Z");
    assert_eq!((number(), number()), (json!("WS-2027-00001"), json!("WS-2027-00002")));
}

#[test]
fn status_and_partner_select() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let (hof, gut) = (mill.partner_id("Hof"), mill.partner_id("Gut"));
    let ids: Vec<String> = [&hof, &gut, &hof, &gut, &hof]
        .map(|partner| first(&mill, 100, json!({"partner_id": partner})).id())
        .to_vec();
    for id in &ids[1..4] {
        second(&mill, id, 40, json!({})).is(200);
    }
    storno(&mill, &ids[3]).is(200);
    let rows = [
        (String::new(), vec![5, 4, 3, 2, 1]),
        ("status=offen".to_owned(), vec![5, 1]),
        ("status=fertig".to_owned(), vec![3, 2]),
        ("status=storno".to_owned(), vec![4]),
        (format!("partner_id={gut}"), vec![4, 2]),
        (format!("partner_id={hof}&status=offen"), vec![5, 1]),
        (format!("partner_id={UNKNOWN}"), vec![]),
        ("limit=2&offset=1".to_owned(), vec![4, 3]),
    ];
    for (query, expected) in rows {
        assert_eq!(slips(&list(&mill, &query)), expected, "{query}");
    }
    for query in ["status=kaputt", "partner_id=Hof", "limit=-1", "limit=viele"] {
        assert_eq!(list(&mill, query).status, 400, "{query}");
    }
    list(&mill, "waage_id=1").refused(400, "UNBEKANNTER_PARAMETER");
    let other = Mill::with(&server, "Andere", &[]);
    assert_eq!(slips(&list(&other, "")), [0; 0]);
}

#[test]
fn a_page_has_100_rows_unless_told_otherwise() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let body = json!({"waage_id": 1, "gewicht_erst_kg": 100, "partner_id": mill.partner_id("Hof")});
    for _ in 0..101 {
        mill.client.post("/api/v1/wiegungen", body.clone()).is(201);
    }
    for (query, rows) in [("", 100), ("limit=101", 101), ("limit=0", 0), ("limit=7", 7), ("offset=100", 1)] {
        let answer = list(&mill, query);
        assert_eq!(slips(&answer).len(), rows, "{query}");
        assert_eq!(answer.headers["x-total-count"], "101", "{query}");
    }
}

#[test]
fn only_the_single_weighing_shows_the_number_of_the_batch() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let charge = mill.receive("C1", 5);
    let id = first(&mill, 100, json!({"artikel_id": mill.artikel_id("W"), "charge_id": charge})).id();
    let shown = get(&mill, &id);
    assert_eq!((&shown["charge_id"], &shown["charge_nr"]), (&json!(charge), &mill.batch("C1")["charge_nr"]));
    let mut expected = shown;
    expected.as_object_mut().unwrap().remove("charge_nr");
    assert_eq!(list(&mill, "").is(200), &json!([expected]), "a bare array of the same fields otherwise");
    let later = mill.receive("C2", 5);
    second(&mill, &id, 40, json!({"charge_id": later})).is(200);
    assert_eq!(get(&mill, &id)["charge_id"], Value::String(later));
}
