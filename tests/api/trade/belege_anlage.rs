//! New documents: type, partner, articles, dates, numbers, idempotency; then list and single answer
//! (specification, POST and GET /belege; D1, D3, D4, D5, D6, D9, D10, D15, D16, D18, D19).

mod partner;

use serde_json::{Value, json};

use crate::harness::{Answer, Client, Server, data};

const BELEGE: &str = "/api/v1/belege";
const NOBODY: &str = "01890000-0000-7000-8000-000000000000";

fn kunde(mill: &Client, nummer: &str, fields: Value) -> String {
    let id = mill.post("/api/v1/kunden", json!({"name": "Bäcker", "kundennr": nummer})).id();
    mill.put(&format!("/api/v1/kunden/{id}"), fields).is(200);
    id
}

/// Starts a server with a company whose customer 1 is D1.
fn mill() -> (Server, Client) {
    let server = Server::start();
    let mill = server.company("Mühle");
    kunde(&mill, "D1", json!({}));
    (server, mill)
}

/// Posts a document of customer 1 with one item of 10 €, unless the fields override that.
fn post(mill: &Client, typ: &str, fields: Value) -> Answer {
    let item = json!({"bezeichnung": "Fracht", "menge": 1, "ep_netto": 10});
    let mut body = json!({"beleg_typ": typ, "items": [item]});
    if fields.get("kundennummer").is_none() {
        body["kunden_id"] = json!(1);
    }
    fields.as_object().unwrap().iter().for_each(|(name, value)| body[name] = value.clone());
    mill.post(BELEGE, body)
}

fn read(mill: &Client, created: &Answer) -> Value {
    mill.get(&format!("{BELEGE}/{}", created.id())).is(200).clone()
}

fn assert_fields(found: &Value, expected: Value) {
    expected.as_object().unwrap().iter().for_each(|(name, value)| assert_eq!(found[name], *value, "{name}"));
}

/// The rows of a table of pairs.
fn pairs(table: &Value) -> impl Iterator<Item = (&Value, &Value)> {
    table.as_array().unwrap().iter().map(|row| (&row[0], &row[1]))
}

/// The numbers in a list, and its count.
fn numbers(mill: &Client, query: &str) -> (Vec<String>, Value) {
    let list = mill.get(&format!("{BELEGE}{query}"));
    let data = list.is(200)["data"].as_array().unwrap();
    let numbers = data.iter().map(|beleg| beleg["beleg_nummer"].as_str().unwrap().to_owned()).collect();
    (numbers, list.body["count"].clone())
}

/// The fields of hints with this code, sorted.
fn hinted_fields(answer: &Answer, code: &str) -> Vec<String> {
    let hints = answer.body["hinweise"].as_array().unwrap().iter().filter(|hint| hint["code"] == code);
    let mut fields: Vec<String> = hints.map(|hint| hint["feld"].as_str().unwrap().to_owned()).collect();
    fields.sort_unstable();
    fields
}

#[test]
fn types_are_read_in_any_case_and_by_alias() {
    let (_server, mill) = mill();
    let sent_and_canonical = ["AN AN", "au AU", "Ls LS", "RE RE", "bS BS", "EL EL", "er ER"];
    let aliases = ["VR RE", "vr RE", "Vr RE", "VL LS", "vl LS"];
    for (sent, typ) in sent_and_canonical.iter().chain(&aliases).filter_map(|row| row.split_once(' ')) {
        let created = post(&mill, sent, json!({}));
        let number = created.is(201)["beleg_nummer"].as_str().unwrap();
        assert!(number.starts_with(&format!("{typ}-2026-")), "{sent}: {number}");
        assert_eq!(read(&mill, &created)["beleg_typ"], typ, "{sent}");
    }
    let refusals = json!([
        [{"beleg_typ": "XX"}, "WERT_UNGUELTIG"], [{"beleg_typ": 5}, "FELD_UNGUELTIG"],
        [{"beleg_typ": null}, "FELD_FEHLT"], [{"beleg_typ": " "}, "FELD_FEHLT"],
        [{"items": null}, "FELD_FEHLT"], [{"items": []}, "FELD_FEHLT"], [{"items": {}}, "FELD_UNGUELTIG"],
    ]);
    for (fields, code) in pairs(&refusals) {
        let feld = fields.as_object().unwrap().keys().next().unwrap();
        let refused = post(&mill, "RE", fields.clone());
        assert_eq!(refused.refused(400, code.as_str().unwrap())["feld"], *feld, "{fields}");
    }
    mill.post(BELEGE, json!({"kunden_id": 1})).refused(400, "FELD_FEHLT");
}

#[test]
fn the_partner_is_named_by_integer_uuid_or_number() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let first = kunde(&mill, "K-1001", json!({}));
    let second = kunde(&mill, "4711", json!({}));
    let table = json!([
        [{"kunden_id": 1}, first], [{"kunden_id": 2.0}, second], [{"kunden_id": "2"}, second],
        [{"kunden_id": first}, first], [{"kundennummer": "4711"}, second],
        [{"kundennummer": "  k-1001 "}, first], [{"kunden_id": 1, "kundennummer": "K-1001"}, first],
        [{"kunden_id": null, "kundennummer": "4711"}, second],
    ]);
    for (fields, expected) in pairs(&table) {
        assert_eq!(read(&mill, &post(&mill, "AN", fields.clone()))["kunde_id"], *expected, "{fields}");
    }
    // kundennummer is never taken for a kunden_id.
    let refusals = json!([
        [{"kunden_id": null}, "KUNDE_FEHLT"], [{"kundennummer": "  "}, "KUNDE_FEHLT"],
        [{"kunden_id": 3}, "KUNDE_NICHT_GEFUNDEN"], [{"kunden_id": 4711}, "KUNDE_NICHT_GEFUNDEN"],
        [{"kunden_id": "1001"}, "KUNDE_NICHT_GEFUNDEN"], [{"kunden_id": NOBODY}, "KUNDE_NICHT_GEFUNDEN"],
        [{"kundennummer": "2"}, "KUNDE_NICHT_GEFUNDEN"], [{"kunden_id": true}, "FELD_UNGUELTIG"],
        [{"kunden_id": 1, "kundennummer": "4711"}, "KUNDE_WIDERSPRUCH"],
        [{"kunden_id": second, "kundennummer": "K-1001"}, "KUNDE_WIDERSPRUCH"],
    ]);
    for (fields, code) in pairs(&refusals) {
        post(&mill, "AN", fields.clone()).refused(400, code.as_str().unwrap());
    }
}

fn import_articles(server: &Server, mill: &Client) {
    let rows = "artikelnummer;artikelnr;status;bezeichnung;einheit;preis;mwst_satz
        A-1;77;aktiv;Mehl;kg;2.5;7
        A-2;A-1;aktiv;Mehl;kg;2.5;7
        A-3;99;aktiv;Mehl;kg;2.5;7
        A-4;99;aktiv;Mehl;kg;2.5;7
        A-5;5;inaktiv;Mehl;kg;2.5;7
        A-6;6;auslauf;Mehl;kg;2.5;7";
    server.import(mill, "artikel", &rows.replace("        ", ""));
}

/// The id of an article by its artikelnummer.
fn artikel_id(mill: &Client, artikelnummer: &str) -> String {
    let list = mill.get("/api/v1/artikel");
    let rows = list.is(200)["data"].as_array().unwrap();
    let row = rows.iter().find(|row| row["artikelnummer"] == artikelnummer).unwrap();
    row["id"].as_str().unwrap().to_owned()
}

#[test]
fn articles_are_named_by_id_or_number() {
    let (server, mill) = mill();
    import_articles(&server, &mill);
    let (first, third) = (artikel_id(&mill, "A-1"), artikel_id(&mill, "A-3"));
    let table = json!([
        [{"artikelnr": "A-1", "menge": 1}, first], [{"artikelnr": "  a-1 ", "menge": 1}, first],
        [{"artikelnr": "77", "menge": 1}, first], [{"artikel_id": first, "menge": 1}, first],
        [{"artikel_id": first, "artikelnr": "a-1", "menge": 1}, first],
        [{"artikel_id": first, "artikelnr": "77", "menge": 1}, first],
        [{"artikelnr": "A-3", "menge": 1}, third], [{"bezeichnung": "x", "ep_netto": 1, "menge": 1}, null],
    ]);
    for (item, expected) in pairs(&table) {
        let beleg = read(&mill, &post(&mill, "RE", json!({"items": [item]})));
        assert_eq!(beleg["positionen"][0]["artikel_id"], *expected, "{item}");
    }
    post(&mill, "RE", json!({"items": [{"artikelnr": "A-6", "menge": 1}]})).is(201);
    let refusals = json!([
        [{"artikelnr": "99", "menge": 1}, "ARTIKEL_MEHRDEUTIG"],
        [{"artikelnr": "A-9", "menge": 1}, "ARTIKEL_NICHT_GEFUNDEN"],
        [{"artikel_id": NOBODY, "menge": 1}, "ARTIKEL_NICHT_GEFUNDEN"],
        [{"artikel_id": third, "artikelnr": "A-1", "menge": 1}, "ARTIKEL_WIDERSPRUCH"],
        [{"artikelnr": "A-5", "menge": 1}, "ARTIKEL_INAKTIV"], [{"menge": 1}, "ARTIKEL_FEHLT"],
        [{"bezeichnung": " ", "menge": 1}, "ARTIKEL_FEHLT"], [{"artikel_id": "A-1"}, "FELD_UNGUELTIG"],
    ]);
    for (item, code) in pairs(&refusals) {
        let refused = post(&mill, "RE", json!({"items": [item]}));
        refused.refused(400, code.as_str().unwrap());
    }
}

#[test]
fn all_errors_of_all_positions_are_listed() {
    let (server, mill) = mill();
    import_articles(&server, &mill);
    let good = json!({"bezeichnung": "x", "menge": 1, "ep_netto": 1});
    let rules = json!([{"artikelnr": "X", "menge": 1}, good, {"artikelnr": "A-1", "menge": 0}, {"menge": 1}]);
    let types = json!([{"bezeichnung": "x", "menge": "viel"}, good, {"bezeichnung": "x", "menge": "1,5"}]);
    let table = [
        (rules, vec![(0, "ARTIKEL_NICHT_GEFUNDEN"), (2, "MENGE_UNGUELTIG"), (3, "ARTIKEL_FEHLT")]),
        (types, vec![(0, "FELD_UNGUELTIG"), (2, "FELD_UNGUELTIG")]),
    ];
    for (items, expected) in table {
        let refused = post(&mill, "RE", json!({"items": items}));
        let fehler = refused.refused(400, expected[0].1)["details"]["fehler"].as_array().unwrap();
        assert_eq!(fehler.len(), expected.len(), "{}", refused.body);
        for (row, (index, code)) in fehler.iter().zip(expected) {
            assert_eq!(row["error"], code, "{}", refused.body);
            let feld = row["feld"].as_str().unwrap();
            assert!(feld.starts_with(&format!("items[{index}]")), "{}", refused.body);
            assert!(row["message"].is_string(), "{}", refused.body);
        }
    }
    let many = |count: usize| json!({"items": vec![good.clone(); count]});
    post(&mill, "AN", many(1_001)).refused(400, "WERT_UNGUELTIG");
    assert_eq!(post(&mill, "AN", many(1_000)).is(201)["summe_netto"], "1000.00");
}

#[test]
fn dates_follow_the_golden_table() {
    let (_server, mill) = mill();
    let others = ["lieferdatum", "leistung_von", "leistung_bis", "liefertermin"];
    for row in data("golden.json")["datum"].as_array().unwrap() {
        let expected = row["tag"].as_str().unwrap();
        for field in ["beleg_datum"].iter().chain(&others) {
            let answer = post(&mill, "AN", json!({*field: row["eingabe"]}));
            match expected.strip_prefix("FEHLER ") {
                Some(code) => assert_eq!(answer.refused(400, code)["feld"], *field, "{row}"),
                None => assert_eq!(read(&mill, &answer)[field], format!("{expected}T00:00:00.000Z"), "{row}"),
            }
        }
    }
    let bad = Some("DATUM_UNGUELTIG");
    let range = [("1999-12-31", bad), ("2000-01-01", None), ("2027-07-10", None), ("2027-07-11", bad)];
    for (day, error) in range {
        let answer = post(&mill, "AN", json!({"beleg_datum": day}));
        assert_eq!(answer.body["error"].as_str(), error, "{day}");
    }
}

#[test]
fn a_document_without_a_date_is_dated_today_in_berlin() {
    let server = Server::start_at("2026-07-10T21:59:59Z");
    let mill = server.company("Mühle");
    kunde(&mill, "D1", json!({}));
    let table = [
        ("2026-07-10T21:59:59Z", "2026-07-10", "AN-2026-00001"),
        ("2026-07-10T22:00:00Z", "2026-07-11", "AN-2026-00002"),
        ("2026-12-31T22:59:59Z", "2026-12-31", "AN-2026-00003"),
        ("2026-12-31T23:00:00Z", "2027-01-01", "AN-2027-00001"),
    ];
    for (now, day, number) in table {
        server.set_clock(now);
        let created = post(&mill, "AN", json!({"beleg_datum": null}));
        assert_eq!(created.is(201)["beleg_nummer"], number, "{now}");
        assert_eq!(read(&mill, &created)["beleg_datum"], format!("{day}T00:00:00.000Z"), "{now}");
    }
}

#[test]
fn numbers_run_per_type_and_year_without_gaps() {
    let (server, mill) = mill();
    let valid = |day: &str| json!({"beleg_datum": day});
    let unpriced = json!({"items": [{"bezeichnung": "x", "menge": 1}]});
    let table = [
        ("RE", valid("2026-07-10"), Some("RE-2026-00001")),
        ("RE", unpriced.clone(), None),
        ("RE", valid("2026-01-01"), Some("RE-2026-00002")),
        ("AN", valid("2026-07-10"), Some("AN-2026-00001")),
        ("RE", valid("2025-12-31"), Some("RE-2025-00001")),
        ("RE", unpriced, None),
        ("VR", valid("2026-12-31"), Some("RE-2026-00003")),
        ("RE", valid("2027-01-01"), Some("RE-2027-00001")),
    ];
    for (typ, fields, number) in table {
        let answer = post(&mill, typ, fields.clone());
        assert_eq!(answer.body["beleg_nummer"].as_str(), number, "{fields}");
        assert_eq!(answer.status, if number.is_some() { 201 } else { 400 }, "{fields}");
    }
    let neighbour = server.company("Nachbar");
    kunde(&neighbour, "D1", json!({}));
    assert_eq!(post(&neighbour, "RE", json!({})).is(201)["beleg_nummer"], "RE-2026-00001");
}

#[test]
fn a_repeated_external_ref_gives_the_document_that_is_there() {
    let (server, mill) = mill();
    import_articles(&server, &mill);
    let item = json!({"artikelnr": "A-1", "menge": 12.5, "einheit": "kg"});
    let first = json!({"kunden_id": 1, "external_ref": "shop/1", "items": [item]});
    let created = post(&mill, "RE", first.clone());
    assert_eq!(created.is(201)["idempotent"], Value::Null);
    let single = read(&mill, &created);
    let id = single["kunde_id"].as_str().unwrap();
    let by_id = json!({"artikel_id": artikel_id(&mill, "A-1"), "menge": "12.50", "einheit": " kg ",
        "lager_buchen": true, "rabatt_prozent": 0});
    // Checked before required fields and the rules of the trade.
    let fields = json!([
        [{}, false], [{"beleg_typ": "vr"}, false], [{"kunden_id": id}, false], [{"items": [by_id]}, false],
        [{"items": [{"artikelnr": "a-1", "menge": "12.50", "einheit": "kg"}]}, false],
        [{"kunden_id": null, "kundennummer": " d1"}, false],
        [{"notizen": null, "farbe": "rot", "external_ref": " shop/1 "}, false],
        [{"items": [{"artikelnr": "A-1", "menge": 12.51, "einheit": "kg"}]}, true], [{"items": [item, item]}, true],
        [{"notizen": "eilig"}, true], [{"beleg_typ": "AN"}, true], [{"kunden_id": 99}, true],
        [{"kunden_id": null, "items": null, "beleg_typ": null}, true],
    ]);
    for (changed, different) in pairs(&fields) {
        let mut again = first.clone();
        changed.as_object().unwrap().iter().for_each(|(name, value)| again[name] = value.clone());
        let repeated = post(&mill, "RE", again);
        let answer = repeated.is(200);
        assert_eq!(answer["idempotent"], true, "{changed}");
        assert_eq!(json!(answer["inhalt_abweichend"] == true), *different, "{changed}: {answer}");
        assert_eq!(json!(repeated.hint_codes() == ["INHALT_ABWEICHEND"]), *different, "{changed}");
        for (name, value) in single.as_object().unwrap() {
            assert_eq!(&answer[name], value, "{changed}: {name}");
        }
    }
    mill.put(&format!("/api/v1/kunden/{id}"), json!({"status": "gesperrt"})).is(200);
    assert_eq!(mill.post(BELEGE, json!({"external_ref": "shop/1"})).is(200)["idempotent"], true);
    let malformed = json!({"external_ref": "shop/1", "items": [{"menge": "viel"}]});
    mill.post(BELEGE, malformed).refused(400, "FELD_UNGUELTIG");
    assert_eq!(numbers(&mill, ""), (vec!["RE-2026-00001".to_owned()], json!(1)));
}

#[test]
fn an_external_ref_is_stored_on_success_only() {
    let (server, mill) = mill();
    let ref_of = |external_ref: &str| json!({"external_ref": external_ref});
    let refused = json!({"external_ref": "r", "items": [{"bezeichnung": "x", "menge": 1}]});
    post(&mill, "RE", refused).refused(400, "PREIS_FEHLT");
    assert_eq!(post(&mill, "RE", ref_of("r")).is(201)["beleg_nummer"], "RE-2026-00001");
    assert_eq!(post(&mill, "RE", ref_of("r")).is(200)["beleg_nummer"], "RE-2026-00001");
    for none in ["", "  "] {
        let created = post(&mill, "AN", ref_of(none));
        assert_eq!(read(&mill, &created)["external_ref"], Value::Null);
    }
    assert_eq!(post(&mill, "AN", json!({})).is(201)["beleg_nummer"], "AN-2026-00003");
    post(&mill, "AN", ref_of(&"ü".repeat(256))).refused(400, "TEXT_ZU_LANG");
    post(&mill, "AN", ref_of(&"ü".repeat(255))).is(201);
    let neighbour = server.company("Nachbar");
    kunde(&neighbour, "D1", json!({}));
    post(&neighbour, "RE", ref_of("r")).is(201);
}

#[test]
fn settings_lock_a_period_and_finalise_at_once() {
    let server = Server::start();
    let mill = server.company_with("Mühle", &[("gesperrt_bis", "2026-06-30")]);
    server.set(&mill, &[("abschluss_bei_anlage", "LS,ER")]);
    kunde(&mill, "D1", json!({}));
    let on = |day: &str| json!({"beleg_datum": day});
    post(&mill, "RE", on("2026-06-30")).refused(400, "ZEITRAUM_GESPERRT");
    post(&mill, "RE", on("2026-07-01")).is(201);
    let table = json!([
        [{"beleg_typ": "RE"}, "offen"], [{"beleg_typ": "RE", "abschliessen": false}, "offen"],
        [{"beleg_typ": "RE", "abschliessen": true}, "abgeschlossen"],
        [{"beleg_typ": "AN", "abschliessen": true}, "abgeschlossen"],
        [{"beleg_typ": "LS"}, "abgeschlossen"], [{"beleg_typ": "ER"}, "abgeschlossen"],
        [{"beleg_typ": "EL"}, "offen"],
    ]);
    for (fields, status) in pairs(&table) {
        assert_eq!(read(&mill, &post(&mill, "", fields.clone()))["status"], *status, "{fields}");
    }
}

#[test]
fn sales_representatives_and_payment_terms_are_resolved() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let rows = json!([{"id": 7, "name": "Jörg Weiß"}, {"id": 8, "name": "42"}, {"id": 9, "name": "Eva"},
        {"id": 10, "name": "Eva"}]);
    server.import(&mill, "vertriebler", &rows.to_string());
    let terms = json!({"zahlungsziel_tage": 14, "skonto_tage": 7, "skonto_prozent": "2.5"});
    kunde(&mill, "D1", terms);
    let table = json!([
        [{"vb_id": 7}, 7], [{"vb_id": "7"}, 7], [{"vb_id": "42"}, 8], [{"vb_id": " JOERG WEISS "}, 7],
        [{"vb_id": 42}, 8], [{"vb_id": "Jörg"}, null], [{"vb_id": "Eva"}, null], [{"vb_id": 11}, null],
    ]);
    for (sent, found) in pairs(&table) {
        let created = post(&mill, "AN", sent.clone());
        assert_eq!(read(&mill, &created)["vb_id"], *found, "{sent}");
        let unknown = created.hint_codes().contains(&"VERTRIEBLER_UNBEKANNT".to_owned());
        assert_eq!(unknown, found.is_null(), "{sent}");
    }
    let of_partner = json!({"zahlungsziel_tage": 14, "skonto_tage": 7, "skonto_prozent": "2.50"});
    assert_fields(&read(&mill, &post(&mill, "RE", json!({}))), of_partner);
    let own = json!({"zahlungsziel_tage": 0, "skonto_tage": 3, "skonto_prozent": "1.00"});
    assert_fields(&read(&mill, &post(&mill, "RE", own.clone())), own);
}

#[test]
fn unknown_and_read_only_fields_are_ignored_with_a_hint() {
    let (_server, mill) = mill();
    let item = json!({"bezeichnung": "x", "menge": 1, "ep_netto": 2, "sorte": 1, "gesamtpreis": "99.00",
        "einzelpreis": 9, "id": NOBODY, "position": 5, "artikel_name": "y", "beleg_id": NOBODY});
    let fields = json!({"farbe": "rot", "items": [item], "id": NOBODY, "beleg_nummer": "X",
        "status": "erledigt", "summe_netto": "99.00", "summe_mwst": 1, "summe_brutto": 1,
        "kunde_id": NOBODY, "kunden_name": "Z", "ist_gutschrift": true, "pdf_url": "u",
        "created_at": "x", "updated_at": "x", "lieferadresse_id": NOBODY});
    let created = post(&mill, "AN", fields);
    created.is(201);
    assert_eq!(hinted_fields(&created, "UNBEKANNTES_FELD"), ["farbe", "items[0].sorte"]);
    assert_eq!(hinted_fields(&created, "FELD_IGNORIERT").len(), 6 + 13, "{}", created.body);
    let beleg = read(&mill, &created);
    let header = json!({"beleg_nummer": "AN-2026-00001", "status": "offen", "summe_netto": "2.00",
        "kunden_name": "Bäcker", "ist_gutschrift": false, "lieferadresse_id": null});
    assert_fields(&beleg, header);
    let position = json!({"position": 1, "gesamtpreis": "2.00", "beleg_id": beleg["id"]});
    assert_fields(&beleg["positionen"][0], position);
}

#[test]
fn documents_are_listed_by_date_and_creation_and_filtered() {
    let (server, mill) = mill();
    let second = kunde(&mill, "D2", json!({}));
    let rows = [("RE", 1, "01"), ("RE", 2, "03"), ("AN", 1, "02"), ("LS", 2, "03"), ("ER", 2, "02")];
    for (at, (typ, partner, day)) in rows.iter().enumerate() {
        server.set_clock(&format!("2026-07-10T10:00:0{at}Z"));
        let fields = json!({"kunden_id": partner, "beleg_datum": format!("2026-07-{day}")});
        post(&mill, typ, fields).is(201);
    }
    let by_uuid = format!("?kunden_id={second}");
    let table = [
        ("", "LS1 RE2 ER1 AN1 RE1"),
        ("?typ=RE", "RE2 RE1"),
        ("?typ=re,AN", "RE2 AN1 RE1"),
        ("?typ=VR,vl", "LS1 RE2 RE1"),
        ("?status=offen&typ=AN", "AN1"),
        ("?von=2026-07-02&bis=2026-07-02", "ER1 AN1"),
        ("?von=2026-07-03", "LS1 RE2"),
        ("?bis=2026-07-01", "RE1"),
        ("?kunden_id=1", "AN1 RE1"),
        (by_uuid.as_str(), "LS1 RE2 ER1"),
        ("?kunden_id=99", ""),
        ("?kunden_id=01890000-0000-7000-8000-000000000000", ""),
    ];
    for (query, expected) in table {
        let (found, count) = numbers(&mill, query);
        assert_eq!(count, found.len(), "{query}");
        assert_eq!(found.join(" ").replace("-2026-0000", ""), expected, "{query}");
    }
    for query in ["typ=XX", "typ=RE,XX", "kunden_id=abc", "kunden_id=D1", "von=gestern", "bis=2026-02-30"] {
        mill.get(&format!("{BELEGE}?{query}")).is(400);
    }
}

#[test]
fn a_page_has_fifty_documents_without_positions() {
    let (_server, mill) = mill();
    (0..51).for_each(|_| drop(post(&mill, "AN", json!({})).id()));
    for (query, rows) in [("", 50), ("?limit=60", 51), ("?limit=10&offset=45", 6), ("?limit=0", 0)] {
        let list = mill.get(&format!("{BELEGE}{query}"));
        let data = list.is(200)["data"].as_array().unwrap();
        assert_eq!((data.len(), &list.body["count"]), (rows, &json!(51)), "{query}");
        let bare = |beleg: &Value| beleg.get("positionen").is_none() && beleg["kunden_name"] == "Bäcker";
        assert!(data.iter().all(bare), "{query}");
    }
}

#[test]
fn a_single_document_shows_every_field_and_its_positions() {
    let (server, mill) = mill();
    import_articles(&server, &mill);
    let header = json!({"zahlungsbedingung": "netto", "kontaktperson": "Eva", "niederlassung_id": 3,
        "lagerhalle_id": 4, "external_ref": "r", "fremdbelegnummer": "F", "notizen": "a"});
    let mut fields = header.clone();
    fields["items"] = json!([
        {"artikelnr": "A-1", "menge": 2, "rabatt_prozent": 10, "kostenstelle": "KS", "lagerhalle_id": 6},
        {"bezeichnung": "Fracht", "menge": 1, "ep_netto": 5}]);
    let created = post(&mill, "RE", fields);
    let path = format!("{BELEGE}/{}", created.id());
    let beleg = read(&mill, &created);
    let names = "id beleg_nummer beleg_typ status beleg_datum lieferdatum leistung_von leistung_bis
        summe_mwst summe_brutto kunde_id zahlungsziel_tage skonto_tage skonto_prozent ist_gutschrift rechnungsart
        lieferadresse_id liefertermin pdf_url updated_at kunden_name";
    names.split_whitespace().for_each(|name| assert!(beleg.get(name).is_some(), "{name}"));
    assert_fields(&beleg, header);
    assert_fields(&beleg, json!({"created_at": "2026-07-10T10:00:00.000Z", "summe_netto": "9.50"}));
    let positions = beleg["positionen"].as_array().unwrap();
    let names = "id beleg_id artikel_id bezeichnung bezeichnung2 langtext menge einheit einzelpreis ep_netto
        mwst_satz steuer_kategorie gesamtpreis rabatt_prozent position charge_id kontrakt_id \
        kontrakt_position_id kostenstelle
        niederlassung_id lagerhalle_id artikel_name";
    names.split_whitespace().for_each(|name| assert!(positions[0].get(name).is_some(), "{name}"));
    let first = json!({"menge": "2.000", "ep_netto": "2.5000", "gesamtpreis": "4.50", "position": 1,
        "rabatt_prozent": "10.00", "kostenstelle": "KS", "lagerhalle_id": 6, "mwst_satz": "7.00"});
    assert_fields(&positions[0], first);
    assert_eq!((positions.len(), &positions[1]["artikel_id"]), (2, &Value::Null));
    assert!(mill.get(&path).headers["etag"].contains('"'));
    assert_eq!(mill.get(&path).headers["etag"], mill.get(&path).headers["etag"]);
    for id in [NOBODY, "1", "AN-2026-00001"] {
        mill.get(&format!("{BELEGE}/{id}")).refused(404, "NICHT_GEFUNDEN");
    }
}
