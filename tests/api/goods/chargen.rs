//! Batches: creating and listing them, and decimals as in the golden table.

mod berichtigung;
mod inventur;
mod nummern;
mod sperre;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::harness::{Answer, Client, Server};

const CHARGEN: &str = "/api/v1/chargen";
const NOWHERE: &str = "01900000-0000-7000-8000-000000000001";

/// Creates two articles, W with the number 1001 and R; returns their ids.
fn articles(server: &Server, mill: &Client) -> [String; 2] {
    let rows = r#"[{"artikelnummer": "W", "artikelnr": "1001", "bezeichnung": "Weizen", "einheit": "kg",
        "chargenpflichtig": true}, {"artikelnummer": "R", "bezeichnung": "Roggen", "einheit": "kg"}]"#;
    server.import(mill, "artikel", rows);
    ["weizen", "roggen"].map(|name| {
        let found = mill.get(&format!("/api/v1/artikel?suche={name}"));
        found.is(200)["data"][0]["id"].as_str().unwrap().to_owned()
    })
}

fn partner(mill: &Client, name: &str) -> String {
    mill.post("/api/v1/kunden", json!({"name": name, "partner_typen": ["lieferant"]})).id()
}

/// Finds the batch with an id in the list.
fn charge(mill: &Client, id: &str) -> Value {
    let list = mill.get(&format!("{CHARGEN}?limit=5000"));
    let mut rows = list.is(200).as_array().unwrap().iter();
    rows.find(|row| row["id"] == id).unwrap().clone()
}

fn numbers(answer: &Answer) -> String {
    let rows = answer.is(200).as_array().unwrap();
    rows.iter().map(|row| row["charge_nr"].as_str().unwrap()).collect::<Vec<_>>().join(" ")
}

#[derive(Deserialize)]
struct Golden<'g> {
    #[serde(borrow)]
    dezimal: Vec<Dezimal<'g>>,
}

#[derive(Deserialize)]
struct Dezimal<'g> {
    /// Kept as text, since a binary float would change the digits.
    #[serde(borrow)]
    eingabe: &'g RawValue,
    ergebnis: String,
    mindest_nachkommastellen: u32,
    hinweis: Option<String>,
}

#[test]
fn decimals_follow_the_golden_table() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let [artikel, _] = articles(&server, &mill);
    let kunde = format!("/api/v1/kunden/{}", partner(&mill, "A"));
    let golden: Golden<'_> = serde_json::from_str(include_str!("../../data/golden.json")).unwrap();
    for row in golden.dezimal {
        let raw = row.eingabe.get();
        let above_100 = row.ergebnis.parse().is_ok_and(|value: f64| value > 100.0);
        let (field, answer) = match row.mindest_nachkommastellen {
            2 if !above_100 => {
                let body = format!(r#"{{"skonto_prozent": {raw}}}"#);
                ("skonto_prozent", mill.send("PUT", &kunde, &[], Some(body.as_bytes())))
            }
            places => {
                let field = if places == 3 { "eingang_menge" } else { "eingang_ep" };
                let body = format!(r#"{{"artikel_id": "{artikel}", "{field}": {raw}}}"#);
                (field, mill.send("POST", CHARGEN, &[], Some(body.as_bytes())))
            }
        };
        if let Some(code) = row.ergebnis.strip_prefix("FEHLER ") {
            assert_eq!(answer.refused(400, code)["feld"], field, "{raw}");
            continue;
        }
        let id = answer.id();
        let shown =
            if field == "skonto_prozent" { mill.get(&kunde).body.clone() } else { charge(&mill, &id) };
        assert_eq!(shown[field], row.ergebnis, "{raw}");
        let mut hints = answer.hint_codes();
        hints.retain(|code| code != "BESTAND_NICHT_GEBUCHT");
        assert_eq!(hints, Vec::from_iter(row.hinweis), "{raw}");
    }
}

#[test]
fn a_batch_without_a_number_gets_the_next_of_its_year() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let [artikel, _] = articles(&server, &mill);
    let create = |body: Value| mill.post(CHARGEN, body);
    let first = create(json!({"artikel_id": artikel}));
    assert_eq!(first.is(201)["charge_nr"], "CH-2026-00001");
    assert_eq!(first.hints("BESTAND_NICHT_GEBUCHT")["bestand"], "0.000");
    // A refused request, or one with its own number, uses up no number of the series.
    create(json!({"artikel_id": artikel, "partner_id": NOWHERE})).refused(400, "PARTNER_NICHT_GEFUNDEN");
    assert_eq!(create(json!({"artikel_id": artikel, "charge_nr": " L 1 "})).is(201)["charge_nr"], "L 1");
    let second = create(json!({"artikel_id": artikel, "charge_nr": " "}));
    assert_eq!(second.is(201)["charge_nr"], "CH-2026-00002");
    // The year of the number is the one in Berlin.
    server.set_clock("2026-12-31T23:30:00Z");
    assert_eq!(create(json!({"artikel_id": artikel})).is(201)["charge_nr"], "CH-2027-00001");
    let movements: i64 = server.sql("select count(*) from lagerbewegung");
    assert_eq!(movements, 0);
}

#[test]
fn every_field_of_a_batch_is_shown_again() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let [artikel, roggen] = articles(&server, &mill);
    let hof = partner(&mill, "Hof");
    let body = json!({"artikel_id": artikel, "charge_nr": "L1", "fremde_charge_nr": "F 9",
        "mhd": "2027-03-31", "herkunftsland": "AT", "eingang_menge": 1000, "eingang_ep": "0.2455",
        "einheit": "kg",
        "niederlassung_id": 3, "lagerhalle_id": 4, "partner_id": hof, "eingang_quelle": "produktion"});
    let id = mill.post(CHARGEN, body).id();
    let expected = json!({"id": id, "artikel_id": artikel, "charge_nr": "L1", "fremde_charge_nr": "F 9",
        "mhd": "2027-03-31T00:00:00.000Z", "herkunftsland": "AT", "eingang_menge": "1000.000",
        "eingang_ep": "0.2455", "einheit": "kg", "niederlassung_id": 3, "lagerhalle_id": 4,
        "partner_id": hof, "eingang_quelle": "produktion", "eingang_beleg_id": null, "bestand": "0.000",
        "artikel_bezeichnung": "Weizen", "artikelnr": "1001", "partner_name": "Hof"});
    let shown = charge(&mill, &id);
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&shown[field], value, "{field}");
    }
    let bare = charge(&mill, &mill.post(CHARGEN, json!({"artikel_id": roggen})).id());
    assert_eq!(bare["eingang_quelle"], "manuell");
    for field in ["mhd", "partner_id", "partner_name", "eingang_menge", "eingang_ep", "fremde_charge_nr"] {
        assert_eq!(bare[field], Value::Null, "{field}");
    }
    let hinted = mill.post(CHARGEN, json!({"artikel_id": roggen, "bestand": "5", "farbe": 1}));
    assert_eq!(hinted.hints("FELD_IGNORIERT")["bestand"], "0.000");
    hinted.hints("UNBEKANNTES_FELD");
}

#[test]
fn a_batch_that_breaks_a_rule_is_refused() {
    let server = Server::start();
    let (mill, other) = (server.company("Mühle"), server.company("Andere"));
    let [artikel, _] = articles(&server, &mill);
    let (foreign_artikel, foreign_partner) = (articles(&server, &other)[0].clone(), partner(&other, "F"));
    let with = |field: &str, value: Value| {
        let mut body = json!({"artikel_id": artikel});
        body[field] = value;
        body
    };
    let table = [
        (json!({"charge_nr": "X"}), "FELD_FEHLT", "artikel_id"),
        (with("artikel_id", Value::Null), "FELD_FEHLT", "artikel_id"),
        (with("artikel_id", json!("W")), "FELD_UNGUELTIG", "artikel_id"),
        (with("artikel_id", json!(NOWHERE)), "ARTIKEL_NICHT_GEFUNDEN", "artikel_id"),
        (with("artikel_id", json!(foreign_artikel)), "ARTIKEL_NICHT_GEFUNDEN", "artikel_id"),
        (with("partner_id", json!(NOWHERE)), "PARTNER_NICHT_GEFUNDEN", "partner_id"),
        (with("partner_id", json!(foreign_partner)), "PARTNER_NICHT_GEFUNDEN", "partner_id"),
        (with("biozertifikat_id", json!(77)), "BIOZERTIFIKAT_NICHT_GEFUNDEN", "biozertifikat_id"),
        (with("charge_nr", json!("CH-2026-00007")), "NUMMER_RESERVIERT", "charge_nr"),
        (with("charge_nr", json!(" CH-1999-12345 ")), "NUMMER_RESERVIERT", "charge_nr"),
        (with("charge_nr", json!("x".repeat(256))), "TEXT_ZU_LANG", "charge_nr"),
        (with("mhd", json!("2026-02-30")), "DATUM_UNGUELTIG", "mhd"),
        (with("eingang_quelle", json!("gefunden")), "WERT_UNGUELTIG", "eingang_quelle"),
        (with("eingang_menge", json!("1,5")), "FELD_UNGUELTIG", "eingang_menge"),
        (with("lagerhalle_id", json!(1.5)), "FELD_UNGUELTIG", "lagerhalle_id"),
    ];
    for (body, code, feld) in table {
        assert_eq!(mill.post(CHARGEN, body.clone()).refused(400, code)["feld"], feld, "{body}");
    }
    mill.post(CHARGEN, with("herkunftsland", json!("Narnia"))).is(400);
    assert_eq!(mill.get(CHARGEN).is(200), &json!([]));
    // Numbers similar to the reserved form are allowed.
    for free in ["CH-2026-007", "CH-26-00007", "XCH-2026-00007", "CH-2026-00007a"] {
        mill.post(CHARGEN, with("charge_nr", json!(free))).is(201);
    }
}

#[test]
fn a_number_is_unique_for_its_article() {
    let server = Server::start();
    let (mill, other) = (server.company("Mühle"), server.company("Andere"));
    let [weizen, roggen] = articles(&server, &mill);
    let elsewhere = articles(&server, &other)[0].clone();
    let body = |artikel: &str| json!({"artikel_id": artikel, "charge_nr": "L1"});
    mill.post(CHARGEN, body(&weizen)).is(201);
    let taken = mill.post(CHARGEN, body(&weizen));
    assert_eq!(taken.refused(409, "CHARGE_NR_BEREITS_VERGEBEN")["feld"], "charge_nr");
    mill.post(CHARGEN, body(&roggen)).is(201);
    other.post(CHARGEN, body(&elsewhere)).is(201);
    assert_eq!(numbers(&mill.get(CHARGEN)), "L1 L1");
}

#[test]
fn an_imported_number_never_stands_in_the_way_of_the_series() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let [artikel, _] = articles(&server, &mill);
    let file = server.database.with_file_name("chargen.json");
    std::fs::write(&file, r#"[{"artikelnummer": "W", "charge_nr": "CH-2026-00001"}]"#).unwrap();
    // The import may take the number or be refused; the client must get its number either way (D5).
    server.cli(&["import", "chargen", file.to_str().unwrap(), "--tenant", &mill.tenant.to_string()]);
    let created = mill.send_unchecked(
        "POST",
        CHARGEN,
        &[],
        Some(json!({"artikel_id": artikel}).to_string().as_bytes()),
    );
    assert!(created.is(201)["charge_nr"].as_str().unwrap().starts_with("CH-2026-"));
    // charge_nr is unique per tenant and article (D8).
    let shown = numbers(&mill.get(CHARGEN));
    assert_eq!(shown.matches("CH-2026-00001").count(), 1, "{shown}");
}

#[test]
fn the_list_filters_by_article_partner_and_stock() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let [weizen, _] = articles(&server, &mill);
    let hof = partner(&mill, "Hof");
    let stock = "artikelnummer;charge_nr;partner;bestand\nW;D;K-1001;\nR;C;K-1001;\nW;B;;\nW;A;K-1001;5\n\
        R;E;;0,001\n";
    server.import(&mill, "chargen", stock);
    let table = [
        (String::new(), "D C B A E"),
        (format!("?artikel_id={weizen}"), "D B A"),
        (format!("?partner_id={hof}"), "D C A"),
        (format!("?partner_id={hof}&artikel_id={weizen}"), "D A"),
        ("?mit_bestand=true".to_owned(), "A E"),
        ("?mit_bestand=false".to_owned(), "D C B A E"),
        (format!("?mit_bestand=true&artikel_id={weizen}"), "A"),
        (format!("?artikel_id={NOWHERE}"), ""),
    ];
    for (query, expected) in table {
        let found = mill.get(&format!("{CHARGEN}{query}"));
        assert_eq!(numbers(&found), expected, "{query}");
        let count = expected.split_whitespace().count().to_string();
        assert_eq!(found.headers["x-total-count"], count, "{query}");
    }
    for (query, code) in [
        ("artikel_id=W", "PARAMETER_UNGUELTIG"),
        ("partner_id=1", "PARAMETER_UNGUELTIG"),
        ("mit_bestand=vielleicht", "PARAMETER_UNGUELTIG"),
        ("bestand=true", "UNBEKANNTER_PARAMETER"),
    ] {
        mill.get(&format!("{CHARGEN}?{query}")).refused(400, code);
    }
    assert_eq!(server.company("Andere").get(CHARGEN).is(200), &json!([]));
}

#[test]
fn the_list_comes_in_pages_of_two_hundred() {
    let server = Server::start();
    let mill = server.company("Mühle");
    articles(&server, &mill);
    let rows = (0..210).map(|n| json!({"artikelnummer": "W", "charge_nr": format!("L{n}")}));
    server.import(&mill, "chargen", &Value::Array(rows.collect()).to_string());
    let all: Vec<_> = (0..210).map(|n| format!("L{n}")).collect();
    let table = [
        ("", 0..200),
        ("?limit=210", 0..210),
        ("?limit=2&offset=9", 9..11),
        ("?offset=205", 205..210),
        ("?limit=0", 0..0),
        ("?limit=5001", 0..210),
    ];
    for (query, range) in table {
        let page = mill.get(&format!("{CHARGEN}{query}"));
        assert_eq!(numbers(&page), all[range].join(" "), "{query}");
        assert_eq!(page.headers["x-total-count"], "210", "{query}");
        let cut = (query == "?limit=5001").then_some("5000");
        assert_eq!(page.headers.get("x-limit").map(String::as_str), cut, "{query}");
    }
}
