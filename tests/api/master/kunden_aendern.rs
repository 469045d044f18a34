//! Changing customers: what a PUT sets, clears, leaves and says nothing of.

use serde_json::{Value, json};

use super::kunden::{KUNDEN, get, hinted};
use crate::harness::Server;

#[test]
fn a_put_changes_what_was_sent_and_clears_null() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let body = json!({"nachname_firma": "Müller", "ort": "Ulm", "email": "a@b.example", "notizen": "x",
        "zahlungsziel_tage": 14, "anrede": "Firma"});
    let id = mill.post(KUNDEN, body).id();
    let (path, before) = (format!("{KUNDEN}/{id}"), get(&mill, &id));
    let change = json!({"name": "Neuer Name", "email": null, "notizen": " ", "anrede": null,
        "zahlungsziel_tage": null, "kundennr": "X-1", "kunden_id": 77, "farbe": 1});
    let answer = mill.put(&path, change);
    let (answered, after) = (answer.is(200), get(&mill, &id));
    let expected = json!({"name": "Neuer Name", "nachname_firma": "Neuer Name", "email": null, "notizen": null,
        "anrede": null,
        "zahlungsziel_tage": null});
    for (field, value) in before.as_object().unwrap() {
        let expected = expected.get(field).unwrap_or(value);
        if field != "updated_at" {
            assert_eq!((&after[field], &answered[field]), (expected, expected), "{field}");
        }
    }
    assert_eq!(hinted(&answer, "FELD_IGNORIERT"), ["kunden_id", "kundennr"]);
    assert_eq!(hinted(&answer, "UNBEKANNTES_FELD"), ["farbe"]);
    let fields = json!({"status": "gesperrt", "steuerart": "pauschal_24", "skonto_tage": 10,
        "skonto_prozent": 2, "partner_typen": ["lieferant"], "iban": "DE02", "telefon2": "1"});
    mill.put(&path, fields).is(200);
    let after = get(&mill, &id);
    let expected = json!({"status": "gesperrt", "steuerart": "pauschal_24", "skonto_tage": 10,
        "skonto_prozent": "2.00", "partner_typen": ["lieferant"], "iban": "DE02", "telefon2": "1"});
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&after[field], value, "{field}");
    }
    for bad in [json!({"status": "weg"}), json!({"steuerart": "x"}), json!({"skonto_prozent": 100.01})] {
        mill.put(&path, bad).refused(400, "WERT_UNGUELTIG");
    }
    assert_eq!(get(&mill, &id), after);
}

/// D39: a form or a spreadsheet program sends "" for a number or a day that is empty.
#[test]
fn a_blank_number_or_day_is_absent_in_a_new_record_and_clears_in_a_change() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let blank =
        json!({"name": "A", "zahlungsziel_tage": "", "skonto_prozent": " ", "gutschrift_vereinbart_am": ""});
    let id = mill.post(KUNDEN, blank.clone()).id();
    let of = |kunde: &Value| {
        ["zahlungsziel_tage", "skonto_prozent", "gutschrift_vereinbart_am"].map(|f| kunde[f].clone())
    };
    assert_eq!(of(&get(&mill, &id)), [json!(30), Value::Null, Value::Null]);
    let filled =
        json!({"zahlungsziel_tage": 7, "skonto_prozent": 2, "gutschrift_vereinbart_am": "2026-07-01"});
    mill.put(&format!("{KUNDEN}/{id}"), filled).is(200);
    mill.put(&format!("{KUNDEN}/{id}"), blank).is(200);
    assert_eq!(of(&get(&mill, &id)), [const { Value::Null }; 3]);
}

#[test]
fn get_edit_put_changes_only_what_was_edited() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let row = r#"[{"kundennr": "S-1", "kunden_id": 40, "name": "Spedition", "partner_typen": ["spediteur"],
        "status": "inaktiv", "steuerart": "regel", "skonto_prozent": "2.5", "notizen": "a\nb"}]"#;
    server.import(&mill, "kunden", row);
    let before = mill.get(KUNDEN).body["data"][0].clone();
    let path = format!("{KUNDEN}/{}", before["id"].as_str().unwrap());
    let mut edited = before.clone();
    edited["ort"] = json!("Ulm");
    let answer = mill.put(&path, edited.clone());
    answer.is(200);
    assert_eq!(
        answer.hint_codes(),
        [""; 0],
        "what is repeated as it stands there is no attempt to change it"
    );
    let mut after = mill.get(&path).is(200).clone();
    after["updated_at"] = before["updated_at"].clone();
    assert_eq!(after, edited);
}

#[test]
fn a_change_may_name_the_version_it_is_based_on() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let path = format!("{KUNDEN}/{}", mill.post(KUNDEN, json!({"name": "A"})).id());
    let put = |etag: &str, body: &[u8]| mill.send("PUT", &path, &[("if-match", etag)], Some(body));
    let first = mill.get(&path).headers["etag"].clone();
    assert_eq!(mill.get(&path).headers["etag"], first);
    put(&first, br#"{"ort": "Ulm"}"#).is(200);
    put(&first, br#"{"ort": "Aalen"}"#).refused(412, "ZWISCHENZEITLICH_GEAENDERT");
    let second = mill.get(&path);
    assert_eq!(second.body["ort"], "Ulm");
    assert_ne!(second.headers["etag"], first);
    put(&second.headers["etag"], br#"{"ort": "Aalen"}"#).is(200);
    put("*", br#"{"plz": "73430"}"#).is(200);
    // What proxies make of it: a weak tag, a word of its own, one of a list.
    let changes: [fn(&str) -> String; 2] =
        [|tag| format!("W/{tag}"), |tag| format!("{}-gzip\"", tag.trim_end_matches('"'))];
    for change in changes {
        let tag = || change(&mill.get(&path).headers["etag"]);
        let before = tag();
        put(&before, br#"{"plz": "73431"}"#).is(200);
        put(&before, br#"{"plz": "73432"}"#).refused(412, "ZWISCHENZEITLICH_GEAENDERT");
        put(&format!("\"999-0\", {}", tag()), br#"{"plz": "73430"}"#).is(200);
        assert_eq!(mill.send("GET", &path, &[("if-none-match", &tag())], None).status, 304);
    }
    // Types are checked before the version (D19).
    put(&first, br#"{"ort": 5}"#).refused(400, "FELD_UNGUELTIG");
    assert_eq!(mill.get(&path).body["ort"], "Aalen");
}

/// What a body repeats is compared as it was read, whatever else stands there.
#[test]
fn a_number_that_no_answer_has_is_no_fault_of_the_comparison() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let id = mill.post(KUNDEN, json!({"name": "A"})).id();
    for odd in ["1e999", "1e400", "-0.0", "123456789012345678901234567890", "[1e999]"] {
        let body = format!(r#"{{"id": "{id}", "kunden_id": 1, "created_at": {odd}, "farbe": {odd}}}"#);
        let answer = mill.send("PUT", &format!("{KUNDEN}/{id}"), &[], Some(body.as_bytes()));
        answer.is(200);
        assert_eq!(hinted(&answer, "FELD_IGNORIERT"), ["created_at"], "{odd}");
    }
}
