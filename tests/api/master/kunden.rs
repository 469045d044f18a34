//! Customers: the list and its search, creating, reading, changing, attaching files.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use crate::harness::{Answer, Client, Server, data};

pub const KUNDEN: &str = "/api/v1/kunden";

pub fn get(mill: &Client, id: &str) -> Value {
    mill.get(&format!("{KUNDEN}/{id}")).is(200).clone()
}

/// Creates a customer and reads it back.
fn created(mill: &Client, body: Value) -> Value {
    get(mill, &mill.post(KUNDEN, body).id())
}

/// The numbers on a page of the list.
fn numbers(answer: &Answer) -> Vec<&str> {
    let rows = answer.is(200)["data"].as_array().unwrap();
    rows.iter().map(|row| row["kundennr"].as_str().unwrap()).collect()
}

/// The fields that hints with a code refer to, sorted.
pub fn hinted(answer: &Answer, code: &str) -> Vec<String> {
    let hints = answer.body["hinweise"].as_array().unwrap().iter().filter(|hint| hint["code"] == code);
    let mut fields: Vec<_> = hints.map(|hint| hint["feld"].as_str().unwrap().to_owned()).collect();
    fields.sort();
    fields
}

#[test]
fn numbers_follow_the_golden_table() {
    for (at, row) in data("golden.json")["kundennr"].as_array().unwrap().iter().enumerate() {
        let server = Server::start();
        let mill = server.company("Mühle");
        for number in row["vorhanden"].as_array().unwrap() {
            mill.post(KUNDEN, json!({"name": "A", "kundennr": number})).is(201);
        }
        let created = mill.post(KUNDEN, json!({"name": "B"}));
        assert_eq!(created.is(201)["kundennr"], row["neu"], "row {at}");
    }
}

#[test]
fn a_search_folds_text_and_wants_every_word() {
    let server = Server::start();
    let mill = server.company("Mühle");
    mill.post(KUNDEN, json!({"kundennr": "1", "name": "Müller Mühle", "ort": "Dörrenbach"})).is(201);
    mill.post(KUNDEN, json!({"kundennr": "2", "name": "Café 100 % Bio", "ort": "Bergstraße"})).is(201);
    let person = json!({"kundennr": "3x", "nachname_firma": "Meier", "name": "Hof am Bach", "vorname": "Jörg",
        "email": "info@hof.example", "strasse": "Silogasse 9", "telefon": "0815", "notizen": "geheim"});
    mill.post(KUNDEN, person).is(201);
    let table = [
        ("1", "müller|MUELLER|muller|mühle müll|müller dorrenbach"),
        ("2", "strasse|STRASSE|straße|cafe|%"),
        ("3x", "meier|hof|joerg|jorg|hof.example|3X"),
        ("1 3x", "bach"),
        ("1 2 3x", "  "),
        ("", "_|M_ller|silogasse|0815|geheim|müller cafe"),
    ];
    for (expected, searches) in table {
        for suche in searches.split('|') {
            let encoded = utf8_percent_encode(suche, NON_ALPHANUMERIC);
            let found = mill.get(&format!("{KUNDEN}?suche={encoded}"));
            assert_eq!(numbers(&found).join(" "), expected, "{suche}");
            assert_eq!(found.body["count"], expected.split_whitespace().count(), "{suche}");
        }
    }
    // The search finds changed values.
    let id = mill.get(&format!("{KUNDEN}?suche=cafe")).body["data"][0]["id"].as_str().unwrap().to_owned();
    mill.put(&format!("{KUNDEN}/{id}"), json!({"name": "Kaffeehaus", "nachname_firma": "Kaffeehaus"}))
        .is(200);
    assert_eq!(numbers(&mill.get(&format!("{KUNDEN}?suche=cafe"))), [""; 0]);
    assert_eq!(numbers(&mill.get(&format!("{KUNDEN}?suche=KAFFEE"))), ["2"]);
}

#[test]
fn the_list_filters_by_role() {
    let server = Server::start();
    let mill = server.company("Mühle");
    server.import(
        &mill,
        "kunden",
        r#"[{"kundennr": "1", "name": "A", "partner_typen": ["kunde", "lieferant"]},
            {"kundennr": "2", "name": "B", "partner_typen": ["spediteur"]},
            {"kundennr": "3", "name": "C"}]"#,
    );
    for (typ, expected) in [("kunde", "1 3"), ("lieferant", "1"), ("spediteur", "2"), ("kunde&suche=c", "3")]
    {
        let found = mill.get(&format!("{KUNDEN}?partner_typ={typ}"));
        assert_eq!(numbers(&found).join(" "), expected, "{typ}");
    }
    let bad = mill.get(&format!("{KUNDEN}?partner_typ=bauer"));
    assert_eq!(bad.refused(400, "PARAMETER_UNGUELTIG")["feld"], "partner_typ");
    assert_eq!(server.company("Andere").get(KUNDEN).is(200), &json!({"data": [], "count": 0}));
}

#[test]
fn the_list_comes_in_pages_of_a_hundred() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let rows = (1..=120).map(|n| json!({"kundennr": format!("K-{n}"), "name": "A"}));
    server.import(&mill, "kunden", &Value::Array(rows.rev().collect()).to_string());
    let expected: Vec<String> = (1..=120).map(|n| format!("K-{n}")).collect();
    let table = [
        ("", 0..100),
        ("?limit=120", 0..120),
        ("?offset=100", 100..120),
        ("?limit=3&offset=8", 8..11),
        ("?limit=0", 0..0),
        ("?offset=120", 0..0),
        ("?offset=99999999999999999999999", 0..0),
        ("?limit=5000", 0..120),
        ("?limit=5001", 0..120),
    ];
    for (query, range) in table {
        let page = mill.get(&format!("{KUNDEN}{query}"));
        assert_eq!(numbers(&page), expected[range], "{query}");
        assert_eq!(page.body["count"], 120, "{query}");
        let cut = (query == "?limit=5001").then_some("5000");
        assert_eq!(page.headers.get("x-limit").map(String::as_str), cut, "{query}");
    }
    for query in ["limit=-1", "limit=abc", "limit=1.5", "offset=-1", "offset=abc"] {
        let refused = mill.get(&format!("{KUNDEN}?{query}"));
        let feld = query.split('=').next().unwrap();
        assert_eq!(refused.refused(400, "PARAMETER_UNGUELTIG")["feld"], feld, "{query}");
    }
}

#[test]
fn unknown_parameters_are_refused_or_named() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let id = mill.post(KUNDEN, json!({"name": "A"})).id();
    let one = format!("{KUNDEN}/{id}");
    for path in [KUNDEN, one.as_str()] {
        mill.get(&format!("{path}?such=a")).refused(400, "UNBEKANNTER_PARAMETER");
    }
    server.set(&mill, &[("unbekannte_parameter", "ignorieren")]);
    for path in [KUNDEN, one.as_str()] {
        let answer = mill.get(&format!("{path}?such=a"));
        answer.is(200);
        assert!(answer.headers["x-hinweise"].contains("such"), "{path}: {:?}", answer.headers);
    }
    assert!(!mill.get(KUNDEN).headers.contains_key("x-hinweise"));
}

#[test]
fn a_customer_without_name_is_refused() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let nulls = json!({"name": null, "nachname_firma": null});
    let blanks = json!({"name": "", "nachname_firma": "  \n"});
    for body in [json!({}), json!({"vorname": "Jörg"}), nulls, blanks] {
        mill.post(KUNDEN, body).refused(400, "NAME_FEHLT");
    }
    assert_eq!(mill.get(KUNDEN).body["count"], 0);
}

#[test]
fn what_nobody_said_has_its_default() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let confirmation = mill.post(KUNDEN, json!({"nachname_firma": "Müller", "vorname": "Jörg"}));
    let confirmed = confirmation.is(201);
    let kunde = get(&mill, &confirmation.id());
    for (field, expected) in [("kundennr", json!("K-1001")), ("kunden_id", json!(1))] {
        assert_eq!((&confirmed[field], &kunde[field]), (&expected, &expected), "{field}");
    }
    let expected = [
        ("name", json!("Jörg Müller")),
        ("staat", json!("DE")),
        ("zahlungsziel_tage", json!(30)),
        ("partner_typen", json!(["kunde"])),
        ("status", json!("aktiv")),
        ("anrede", Value::Null),
        ("ust_id", Value::Null),
        ("skonto_prozent", Value::Null),
    ];
    for (field, expected) in expected {
        assert_eq!(kunde[field], expected, "{field}");
    }
    // In a POST, null counts as absent (D18), and `name` stands in for nachname_firma.
    let nulls = json!({"name": "Alias", "nachname_firma": null, "staat": null, "zahlungsziel_tage": null,
        "partner_typen": null, "kundennr": " "});
    let kunde = created(&mill, nulls);
    assert_eq!((&kunde["name"], &kunde["nachname_firma"]), (&json!("Alias"), &json!("Alias")));
    assert_eq!((&kunde["staat"], &kunde["zahlungsziel_tage"]), (&json!("DE"), &json!(30)));
    assert_eq!((&kunde["partner_typen"], &kunde["kunden_id"]), (&json!(["kunde"]), &json!(2)));
    assert_eq!(kunde["kundennr"], "K-1002");
    let both = created(&mill, json!({"name": "Hof", "nachname_firma": "Meier", "vorname": "Eva"}));
    assert_eq!((&both["name"], &both["nachname_firma"]), (&json!("Hof"), &json!("Meier")));
}

#[test]
fn every_field_of_a_post_is_shown_again() {
    let server = Server::start();
    let mill = server.company("Mühle");
    server.import(&mill, "vertriebler", r#"[{"id": 4, "name": "Eva"}]"#);
    let body = json!({"nachname_firma": "Müller GmbH", "name": "Müller", "kundennr": "D-77",
        "vorname": "Jörg", "anrede": "Firma", "strasse": "Mühlenweg 1", "plz": "01234", 
        "ort": "Dörrenbach", "email": "a@b.example", "telefon": "+49 30 1", "telefon2": "+49 30 2",
        "staat": "AT", "zahlungsziel_tage": 14, "steuernummer": "12345", "ust_id": "ATU12345675",
        "betriebsnummer": "276 01", "iban": "DE02120300000000202051",
        "bic": "BYLADEM1001", "e_rechnung": "xrechnung", "kaeuferreferenz": "991-01234-56",
        "e_adresse": "0204:991-01234-56", "gutschrift_vereinbart_am": "2026-07-01", "vb_id": 4,
            "partner_typen": ["kunde", "lieferant"], "notizen": "Tor 3"});
    let answer = mill.post(KUNDEN, body.clone());
    assert_eq!(answer.hint_codes(), [""; 0]);
    let (kunde, listed) = (get(&mill, &answer.id()), mill.get(KUNDEN).body["data"][0].clone());
    for (field, value) in body.as_object().unwrap() {
        assert_eq!(&kunde[field], value, "{field}");
        assert_eq!(&listed[field], value, "{field} in the list");
    }
}

#[test]
fn a_number_is_trimmed_short_and_unique() {
    let server = Server::start();
    let mill = server.company("Mühle");
    assert_eq!(created(&mill, json!({"name": "A", "kundennr": "  Ab-1 "}))["kundennr"], "Ab-1");
    let longest = "ü".repeat(30);
    assert_eq!(created(&mill, json!({"name": "A", "kundennr": longest}))["kundennr"], json!(longest));
    let too_long = mill.post(KUNDEN, json!({"name": "A", "kundennr": "x".repeat(31)}));
    assert_eq!(too_long.refused(400, "TEXT_ZU_LANG")["feld"], "kundennr");
    for taken in ["Ab-1", "aB-1", " AB-1 ", &"Ü".repeat(30)] {
        let refused = mill.post(KUNDEN, json!({"name": "B", "kundennr": taken}));
        refused.refused(409, "KUNDENNR_BEREITS_VERGEBEN");
    }
    assert_eq!(mill.get(KUNDEN).body["count"], 2);
    // Another company has its own numbers.
    server.company("Andere").post(KUNDEN, json!({"name": "B", "kundennr": "Ab-1"})).is(201);
}

#[test]
fn wrong_types_and_values_are_named() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let table = [
        (json!({"name": 5}), "FELD_UNGUELTIG", "name"),
        (json!({"name": "A", "kundennr": 5}), "FELD_UNGUELTIG", "kundennr"),
        (json!({"name": "A", "strasse": ["x"]}), "FELD_UNGUELTIG", "strasse"),
        (json!({"name": "A", "zahlungsziel_tage": 30.5}), "FELD_UNGUELTIG", "zahlungsziel_tage"),
        (json!({"nachname_firma": "n".repeat(128), "vorname": "v".repeat(127)}), "TEXT_ZU_LANG", "vorname"),
        (
            json!({"name": "A", "gutschrift_vereinbart_am": "9999-12-31"}),
            "DATUM_UNGUELTIG",
            "gutschrift_vereinbart_am",
        ),
        (json!({"name": "A", "zahlungsziel_tage": "030"}), "FELD_UNGUELTIG", "zahlungsziel_tage"),
        (json!({"name": "A", "zahlungsziel_tage": true}), "FELD_UNGUELTIG", "zahlungsziel_tage"),
        (json!({"name": "A", "partner_typen": "kunde"}), "FELD_UNGUELTIG", "partner_typen"),
        (json!({"name": "A", "partner_typen": ["kunde", 1]}), "FELD_UNGUELTIG", "partner_typen[1]"),
        (json!({"name": "A", "partner_typen": ["bauer"]}), "WERT_UNGUELTIG", "partner_typen[0]"),
        (json!({"name": "A", "anrede": "Dr."}), "WERT_UNGUELTIG", "anrede"),
    ];
    for (body, code, feld) in table {
        assert_eq!(mill.post(KUNDEN, body.clone()).refused(400, code)["feld"], feld, "{body}");
    }
    // Carriers can only be imported (specification: items kunde or lieferant).
    mill.post(KUNDEN, json!({"name": "A", "partner_typen": ["spediteur"]})).refused(400, "WERT_UNGUELTIG");
    for anrede in ["Herr", "Frau", "Firma"] {
        assert_eq!(created(&mill, json!({"name": "A", "anrede": anrede}))["anrede"], anrede);
    }
    for days in ["30", "30.0", "\"30\""] {
        let body = format!("{{\"name\": \"A\", \"zahlungsziel_tage\": {days}}}");
        let kunde = get(&mill, &mill.send("POST", KUNDEN, &[], Some(body.as_bytes())).id());
        assert_eq!(kunde["zahlungsziel_tage"], 30, "{days}");
    }
}

#[test]
fn texts_are_trimmed_bounded_and_free_of_control_characters() {
    let server = Server::start();
    let mill = server.company("Mühle");
    for (field, most) in [("strasse", 255), ("notizen", 4_000)] {
        let (fits, too_long) = ("ü".repeat(most), "ü".repeat(most + 1));
        assert_eq!(created(&mill, json!({"name": "A", field: fits}))[field], json!(fits), "{field}");
        let refused = mill.post(KUNDEN, json!({"name": "A", field: too_long}));
        assert_eq!(refused.refused(400, "TEXT_ZU_LANG")["feld"], field);
    }
    let table = [
        (" \t Weg 1 \r\n", json!("Weg 1")),
        ("a\r\nb\r\n\r\nc", json!("a\nb\n\nc")),
        ("a\tb\nc", json!("a\tb\nc")),
        (" \r\n ", Value::Null),
        ("", Value::Null),
        ("100 % „Öko“ 🌾", json!("100 % „Öko“ 🌾")),
    ];
    for (sent, expected) in table {
        assert_eq!(created(&mill, json!({"name": "A", "notizen": sent}))["notizen"], expected, "{sent:?}");
    }
    for control in ["a\u{1}b", "a\u{7}b", "a\u{1b}b", "a\u{7f}b", "a\u{85}b", "a\rb"] {
        let refused = mill.post(KUNDEN, json!({"name": "A", "notizen": control}));
        assert_eq!(refused.is(400)["feld"], "notizen", "{control:?}");
    }
}

#[test]
fn a_representative_is_found_by_id_or_name() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let rows = r#"[{"id": 7, "name": "Jürgen Groß"}, {"id": 8, "name": "Doppelt"},
        {"id": 9, "name": "doppelt"}, {"id": 10, "name": "12"}, {"id": 11, "name": "7"}]"#;
    server.import(&mill, "vertriebler", rows);
    let table = [
        (json!(7), json!(7)),
        (json!("7"), json!(7)),
        (json!(7.0), json!(7)),
        (json!(12), json!(10)),
        (json!("12"), json!(10)),
        (json!("Jürgen Groß"), json!(7)),
        (json!("  JUERGEN gross "), json!(7)),
        (json!("jurgen gross"), json!(7)),
        (json!("Jürgen"), Value::Null),
        (json!("doppelt"), Value::Null),
        (json!(99), Value::Null),
        (json!("niemand"), Value::Null),
    ];
    for (sent, expected) in table {
        let answer = mill.post(KUNDEN, json!({"name": "A", "vb_id": sent}));
        assert_eq!(get(&mill, &answer.id())["vb_id"], expected, "{sent}");
        let unknown = hinted(&answer, "VERTRIEBLER_UNBEKANNT");
        assert_eq!(unknown.is_empty(), !expected.is_null(), "{sent}: {unknown:?}");
    }
    let elsewhere = server.company("Andere").post(KUNDEN, json!({"name": "A", "vb_id": 7}));
    elsewhere.hints("VERTRIEBLER_UNBEKANNT");
}

#[test]
fn fields_that_a_post_cannot_set_are_named() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let foreign = "01900000-0000-7000-8000-000000000001";
    let body = json!({"name": "A", "id": foreign, "kunden_id": 9, "created_at": "2020-01-01T00:00:00.000Z",
        "status": "gesperrt", "farbe": "rot", "Name": "B"});
    let answer = mill.post(KUNDEN, body.clone());
    let kunde = get(&mill, &answer.id());
    assert_eq!((&kunde["kunden_id"], &kunde["status"]), (&json!(1), &json!("gesperrt")));
    assert_ne!(kunde["id"], foreign);
    assert_eq!(hinted(&answer, "FELD_IGNORIERT"), ["created_at", "id", "kunden_id"]);
    assert_eq!(hinted(&answer, "UNBEKANNTES_FELD"), ["Name", "farbe"]);
    let strict = [("prefer", "handling=strict")];
    let refused = mill.send("POST", KUNDEN, &strict, Some(br#"{"name": "A", "farbe": "rot"}"#));
    assert_eq!(refused.refused(400, "UNBEKANNTES_FELD")["feld"], "farbe");
    mill.send("POST", KUNDEN, &strict, Some(br#"{"name": "A"}"#)).is(201);
    server.set(&mill, &[("unbekannte_felder", "ablehnen")]);
    mill.post(KUNDEN, body).refused(400, "UNBEKANNTES_FELD");
    assert_eq!(mill.get(KUNDEN).body["count"], 2);
}

#[test]
fn what_is_not_there_is_not_found() {
    let server = Server::start();
    let (mill, other) = (server.company("Mühle"), server.company("Andere"));
    let id = mill.post(KUNDEN, json!({"name": "A"})).id();
    let ids = [id.as_str(), "01900000-0000-7000-8000-000000000001", "K-1001", "1", &id[1..]];
    for id in ids {
        let path = format!("{KUNDEN}/{id}");
        other.get(&path).refused(404, "NICHT_GEFUNDEN");
        other.put(&path, json!({"ort": "Ulm"})).refused(404, "NICHT_GEFUNDEN");
        let file = json!({"dateiname": "a.txt", "inhalt_base64": "Zm9v"});
        other.post(&format!("{path}/dokumente"), file).refused(404, "NICHT_GEFUNDEN");
    }
    assert_eq!(get(&mill, &id)["ort"], Value::Null);
}

#[test]
fn an_attachment_is_strict_base64() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let path = format!("{KUNDEN}/{}/dokumente", mill.post(KUNDEN, json!({"name": "A"})).id());
    let vectors = data("base64.json");
    for row in vectors["rfc4648"].as_array().unwrap().iter().filter(|row| row["klartext"] != "") {
        let body = json!({"dateiname": "a.txt", "inhalt_base64": row["base64"], "beschreibung": "B"});
        mill.post(&path, body).is(201);
        let stored: Vec<u8> = server.sql("select inhalt from anhang order by id desc limit 1");
        assert_eq!(stored, row["klartext"].as_str().unwrap().as_bytes(), "{row}");
    }
    for row in vectors["grenzfaelle"].as_array().unwrap() {
        let answer = mill.post(&path, json!({"dateiname": "a.txt", "inhalt_base64": row["base64"]}));
        let valid = row["rfc4648_streng"] == "gültig";
        assert_eq!(answer.status, if valid { 201 } else { 400 }, "{row}: {}", answer.body);
        let length = server.sql::<i64>("select length(inhalt) from anhang order by id desc limit 1");
        assert!(!valid || row["laenge"] == length, "{row}: {length}");
    }
}

#[test]
fn an_attachment_needs_a_plain_name_and_a_content_that_is_not_too_large() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let path = format!("{KUNDEN}/{}/dokumente", mill.post(KUNDEN, json!({"name": "A"})).id());
    let table = [
        (json!({"inhalt_base64": "Zm9v"}), "FELD_FEHLT", "dateiname"),
        (json!({"dateiname": " ", "inhalt_base64": "Zm9v"}), "FELD_FEHLT", "dateiname"),
        (json!({"dateiname": "a.txt"}), "FELD_FEHLT", "inhalt_base64"),
        (json!({"dateiname": "a.txt", "inhalt_base64": ""}), "FELD_FEHLT", "inhalt_base64"),
        (json!({"dateiname": 1, "inhalt_base64": "Zm9v"}), "FELD_UNGUELTIG", "dateiname"),
        (json!({"dateiname": "x".repeat(256), "inhalt_base64": "Zm9v"}), "TEXT_ZU_LANG", "dateiname"),
    ];
    for (body, code, feld) in table {
        assert_eq!(mill.post(&path, body.clone()).refused(400, code)["feld"], feld, "{body}");
    }
    for name in ["..", ".", "a/", "C:\\", "x/..", "a\u{1}.txt"] {
        let refused = mill.post(&path, json!({"dateiname": name, "inhalt_base64": "Zm9v"}));
        assert_eq!(refused.is(400)["feld"], "dateiname", "{name:?}");
    }
    // 10 MiB decoded are 13,981,016 characters; one byte more needs no further group of four.
    let (most, more) = (format!("{}AA==", "AAAA".repeat(3_495_253)), "AAAA".repeat(3_495_254));
    mill.post(&path, json!({"dateiname": "ä b.pdf", "inhalt_base64": most})).is(201);
    assert_eq!(server.sql::<i64>("select max(length(inhalt)) from anhang"), 10 << 20);
    for inhalt in [more, "A".repeat(14 << 20)] {
        mill.post(&path, json!({"dateiname": "a.pdf", "inhalt_base64": inhalt})).refused(413, "ZU_GROSS");
    }
    mill.post(KUNDEN, json!({"name": "A".repeat(1 << 20)})).refused(413, "ZU_GROSS");
    assert_eq!(server.sql::<i64>("select count(*) from anhang"), 1);
}
