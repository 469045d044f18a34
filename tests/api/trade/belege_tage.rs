//! What the days of a document contradict is said when they change, too, and when it becomes final (D4).

use serde_json::{Value, json};

use crate::harness::{Answer, Server};
use crate::trade::lager::{Mill, and, buy, sell};

/// A batch that keeps until 15.07., counted today (10.07.), and a contract until 20.07.
struct Dated {
    charge: String,
    kontrakt: Value,
}

fn dated(mill: &Mill<'_>) -> Dated {
    mill.post("EL", and(buy(100, "A"), json!({"mhd": "2026-07-15"}))).is(201);
    let charge = mill.batch("A")["id"].as_str().unwrap().to_owned();
    let counted = json!({"bestand": 100, "grund": "Zählung"});
    mill.client.post(&format!("/api/v1/chargen/{charge}/inventur"), counted).is(201);
    let contract = json!({"kontrakt_nr": "V-1", "gueltig_bis": "2026-07-20"});
    let kontrakt = mill.client.post("/api/v1/kontrakte", contract).is(201)["id"].clone();
    Dated { charge, kontrakt }
}

/// The hints about days of an answer, each with its field.
fn said(answer: &Answer) -> Vec<String> {
    assert!(answer.status < 300, "{}", answer.body);
    let codes = ["MHD_ABGELAUFEN", "KONTRAKT_ABGELAUFEN", "INVENTUR_UEBERHOLT"];
    let hints = answer.body["hinweise"].as_array().unwrap().iter();
    let about_days = hints.filter(|hint| codes.iter().any(|code| hint["code"] == *code));
    let mut said: Vec<_> = about_days
        .map(|hint| format!("{} {}", hint["code"].as_str().unwrap(), hint["feld"].as_str().unwrap_or("-")))
        .collect();
    said.sort();
    said
}

const MHD: &str = "MHD_ABGELAUFEN items[0].charge_id";
const KONTRAKT: &str = "KONTRAKT_ABGELAUFEN items[0].kontrakt_id";
const INVENTUR: &str = "INVENTUR_UEBERHOLT -";

#[test]
fn a_day_that_is_moved_says_what_a_new_document_of_that_day_says() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let Dated { charge, kontrakt } = dated(&mill);
    let item = and(sell(1, &charge), json!({"kontrakt_id": kontrakt}));
    let new = |days: &Value| {
        let body = json!({"beleg_typ": "LS", "kundennummer": "Kd", "items": [item]});
        mill.client.post("/api/v1/belege", and(body, days.clone()))
    };
    let rows: [(Value, &[&str]); 7] = [
        (json!({"lieferdatum": "2026-07-15"}), &[]),
        (json!({"lieferdatum": "2026-07-16"}), &[MHD]),
        (json!({"lieferdatum": "2026-07-21"}), &[KONTRAKT, MHD]),
        (json!({"leistung_von": "2026-07-01", "leistung_bis": "2026-07-21"}), &[KONTRAKT]),
        (json!({"beleg_datum": "2026-07-21"}), &[KONTRAKT, MHD]),
        (json!({"beleg_datum": "2026-07-09"}), &[INVENTUR]),
        (json!({"lieferdatum": "2026-07-09"}), &[INVENTUR]),
    ];
    for (days, expected) in rows {
        assert_eq!(said(&new(&days)), expected, "new: {days}");
        let id = new(&json!({})).id();
        let path = format!("/api/v1/belege/{id}");
        assert_eq!(said(&mill.client.put(&path, days.clone())), expected, "moved: {days}");
        assert_eq!(said(&mill.client.put(&path, json!({"notizen": "x"}))), [""; 0], "no day moves: {days}");
        let trial = mill.client.post(&format!("{path}/abschliessen?pruefen=true"), json!({}));
        assert_eq!(said(&trial), expected, "pruefen: {days}");
        let done = mill.client.post(&format!("{path}/abschliessen"), json!({}));
        assert_eq!(said(&done), expected, "abschliessen: {days}");
    }
}

#[test]
fn items_that_come_along_and_a_document_that_is_final_at_once_say_it_once() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let Dated { charge, kontrakt } = dated(&mill);
    let item = and(sell(1, &charge), json!({"kontrakt_id": kontrakt}));
    let early =
        json!({"beleg_typ": "LS", "kundennummer": "Kd", "lieferdatum": "2026-07-09", "items": [item]});
    assert_eq!(said(&mill.client.post("/api/v1/belege", early)), [INVENTUR]);
    let late = json!({"beleg_typ": "LS", "kundennummer": "Kd", "lieferdatum": "2026-07-21", "items": [item],
        "abschliessen": true});
    assert_eq!(said(&mill.client.post("/api/v1/belege", late)), [KONTRAKT, MHD]);
    // The same goods are not booked anew, but belong before the count now.
    let id = mill.post("LS", item.clone()).id();
    let with_items = json!({"lieferdatum": "2026-07-09", "items": [item]});
    assert_eq!(said(&mill.client.put(&format!("/api/v1/belege/{id}"), with_items)), [INVENTUR]);
}

#[test]
fn what_was_moved_before_the_count_or_is_inherited_says_nothing() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let charge = mill.receive("A", 100);
    let counted_later = mill.post("LS", sell(10, &charge)).id();
    let count = json!({"bestand": 90, "grund": "Zählung"});
    mill.client.post(&format!("/api/v1/chargen/{charge}/inventur"), count).is(201);
    let path = format!("/api/v1/belege/{counted_later}");
    assert_eq!(said(&mill.client.put(&path, json!({"lieferdatum": "2026-07-01"}))), [""; 0]);
    mill.client.put(&format!("/api/v1/chargen/{charge}"), json!({"mhd": "2026-07-15"})).is(200);
    let invoice =
        mill.post("RE", json!({"artikelnr": "W", "menge": 10, "bezug_beleg_id": counted_later})).id();
    let path = format!("/api/v1/belege/{invoice}");
    assert_eq!(said(&mill.client.put(&path, json!({"beleg_datum": "2026-07-20"}))), [""; 0], "inherited");
}
