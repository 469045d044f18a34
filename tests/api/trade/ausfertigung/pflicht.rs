//! Who needs an e-invoice, and what happens if data are missing (D26).

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use super::{BELEGE, beleg, document, erechnung, finished, firma, partner, xml};
use crate::harness::{Answer, Client, Server};
use crate::trade::lager::and;

const CODE: &str = "ERECHNUNG_UNVOLLSTAENDIG";
const PDF: &str = "JVBERi0xLjQKJSVFT0YK";

/// Creates a German firm without a place.
fn incomplete(mill: &Client) -> String {
    partner(mill, json!({"plz": null, "ort": null}))
}

/// Makes a new document final in each possible way; returns its id and the answer.
fn ways(mill: &Client, kunde: &str) -> [(&'static str, String, Answer); 2] {
    let open = || mill.post(BELEGE, document("RE", kunde, "1000", json!({}))).id();
    let (by_itself, by_upload) = (open(), open());
    let finalised = mill.post(&format!("{BELEGE}/{by_itself}/abschliessen"), json!({}));
    let uploaded = mill.post(&format!("{BELEGE}/{by_upload}/pdf"), json!({"datei_base64": PDF}));
    [("abschliessen", by_itself, finalised), ("pdf", by_upload, uploaded)]
}

fn count(server: &Server, table: &str) -> i64 {
    server.sql(&format!("select count(*) from {table}"))
}

#[test]
fn the_company_chooses_what_follows_where_data_are_missing() {
    let server = Server::start();
    for (mode, hints) in [("aus", &[][..]), ("hinweis", &[CODE])] {
        let mill = firma(&server, mode, &[("e_rechnung", mode)]);
        let kunde = incomplete(&mill);
        let body = and(document("RE", &kunde, "1000", json!({})), json!({"abschliessen": true}));
        let created = mill.post(BELEGE, body);
        created.is(201);
        let mut all = vec![("POST", created.id(), created)];
        all.extend(ways(&mill, &kunde));
        for (way, id, answer) in all {
            let found: Vec<_> = answer.hint_codes().into_iter().filter(|code| code == CODE).collect();
            assert_eq!(found, hints, "{mode} {way}");
            assert_eq!(beleg(&mill, &id)["status"], "abgeschlossen", "{mode} {way}");
            erechnung(&mill, &id).refused(404, "KEINE_ERECHNUNG");
        }
    }
    let mill = firma(&server, "pflicht", &[("e_rechnung", "pflicht")]);
    let kunde = incomplete(&mill);
    let before = (count(&server, "beleg"), count(&server, "beleg_pdf"));
    let body = and(document("RE", &kunde, "1000", json!({})), json!({"abschliessen": true}));
    let refused = mill.post(BELEGE, body);
    let said = refused.refused(400, CODE)["message"].as_str().unwrap();
    assert!(said.contains("Kunde: plz") && said.contains("Kunde: ort"), "{said}");
    assert_eq!(count(&server, "beleg"), before.0, "nothing is created");
    for (way, id, answer) in ways(&mill, &kunde) {
        answer.refused(400, CODE);
        assert_eq!(beleg(&mill, &id)["status"], "offen", "{way}");
    }
    assert_eq!(count(&server, "beleg_pdf"), before.1, "nothing is archived");
    // The missing data are added.
    let open = mill.post(BELEGE, document("RE", &kunde, "1000", json!({}))).id();
    mill.put(&format!("/api/v1/kunden/{kunde}"), json!({"plz": "86650", "ort": "Wemding"})).is(200);
    mill.post(&format!("{BELEGE}/{open}/abschliessen"), json!({})).is(200);
    assert!(xml(&mill, &open).contains("Wemding"));
}

#[test]
fn a_company_without_its_own_data_is_told_which() {
    let server = Server::start();
    let mill = server.company_with("Mühle", &[("e_rechnung", "pflicht"), ("firma", "Mühle GmbH")]);
    let kunde = partner(&mill, json!({}));
    let body = and(document("RE", &kunde, "1000", json!({})), json!({"abschliessen": true}));
    let refused = mill.post(BELEGE, body);
    let said = refused.refused(400, CODE)["message"].as_str().unwrap();
    assert!(said.contains("Firma: strasse") && said.contains("Firma: ust_id oder steuernummer"), "{said}");
    assert!(!said.contains("Firma: firma"), "{said}");
}

#[test]
fn a_storno_is_never_refused() {
    let server = Server::start();
    let mill = firma(&server, "Mühle", &[]);
    let kunde = incomplete(&mill);
    let id = finished(&mill, document("RE", &kunde, "1000", json!({})));
    server.set(&mill, &[("e_rechnung", "pflicht")]);
    let answer = mill.post(&format!("{BELEGE}/{id}/storno"), json!({"grund": "Versehen"}));
    assert_eq!(answer.is(200)["status"], "storniert");
}

/// The kind of partner, the gross sum in cents, and whether missing data matter.
#[test]
fn who_needs_an_e_invoice() {
    let server = Server::start();
    let mill = firma(&server, "Mühle", &[("e_rechnung", "pflicht")]);
    let person = |more: Value| {
        and(json!({"plz": null, "ort": null, "ust_id": null, "anrede": "Frau", "name": "Huber"}), more)
    };
    let nowhere = |more: Value| and(json!({"plz": null, "ort": null}), more);
    let table = [
        (nowhere(json!({})), "1000", true),
        (nowhere(json!({"anrede": "Firma"})), "1000", true),
        (nowhere(json!({"ust_id": null})), "1000", true),
        (person(json!({})), "1000", false),
        (person(json!({"anrede": "Herr"})), "1000", false),
        (person(json!({"ust_id": "DE987654321"})), "1000", true),
        (person(json!({"steuernummer": "102/123/45678"})), "1000", true),
        (person(json!({"betriebsnummer": "276097680123456"})), "1000", true),
        (person(json!({"partner_typen": ["kunde", "lieferant"]})), "1000", true),
        (nowhere(json!({"staat": "AT", "ust_id": "ATU12345675"})), "1000", false),
        (nowhere(json!({"e_rechnung": "aus"})), "1000", false),
        // 233.64 and 7 % are 249.99, 233.65 and 7 % are 250.01; 250.00 at 0 % counts as up to 250.
        (nowhere(json!({})), "233.64", false),
        (nowhere(json!({})), "233.65", true),
        (nowhere(json!({})), "-233.64", false),
        (nowhere(json!({})), "-233.65", true),
    ];
    for (fields, amount, is_needed) in table {
        let kunde = partner(&mill, fields.clone());
        let body = and(document("RE", &kunde, amount, json!({})), json!({"abschliessen": true}));
        let answer = mill.post(BELEGE, body);
        assert_eq!(answer.status, if is_needed { 400 } else { 201 }, "{fields} {amount}: {}", answer.body);
        assert!(!answer.hint_codes().contains(&CODE.to_owned()), "{fields} {amount}");
    }
    // A sum of exactly 250 EUR.
    let item = json!([{"bezeichnung": "Porto", "menge": 1, "ep_netto": 250, "mwst_satz": 0,
        "steuer_kategorie": "E"}]);
    finished(&mill, document("RE", &incomplete(&mill), "1", json!({"items": item})));
    // A partner who needs none still gets one if nothing is missing.
    let id = finished(&mill, document("RE", &partner(&mill, json!({"anrede": "Herr"})), "10", json!({})));
    assert!(xml(&mill, &id).contains("Futterweizen"));
}

#[test]
fn a_gutschrift_in_germany_always_needs_one_and_a_kleinunternehmer_none() {
    let server = Server::start();
    let mill = firma(&server, "Mühle", &[("e_rechnung", "pflicht")]);
    let gutschrift = |more: Value| {
        let agreed = json!({"partner_typen": ["lieferant"], "gutschrift_vereinbart_am": "2026-01-01"});
        let hof = partner(&mill, and(agreed, more));
        let more = json!({"gutschrift": true, "abschliessen": true});
        mill.post(BELEGE, document("ER", &hof, "10", more))
    };
    gutschrift(json!({})).is(201);
    for missing in [json!({"plz": null}), json!({"plz": null, "e_rechnung": "aus"}), json!({"ust_id": null})]
    {
        gutschrift(missing).refused(400, CODE);
    }
    gutschrift(json!({"ort": null, "staat": "AT", "ust_id": "ATU12345675"})).is(201);
    let invoice = json!({"abschliessen": true});
    mill.post(BELEGE, document("ER", &incomplete(&mill), "1000", invoice.clone())).is(201);
    let klein = firma(&server, "Kleine Mühle", &[("e_rechnung", "pflicht"), ("kleinunternehmer", "true")]);
    let item = json!([{"bezeichnung": "Mehl", "menge": 1, "ep_netto": 1000}]);
    let body = document("RE", &incomplete(&klein), "1", and(invoice, json!({"items": item})));
    klein.post(BELEGE, body).is(201);
    let id = finished(&klein, document("RE", &partner(&klein, json!({})), "1", json!({"items": item})));
    assert!(xml(&klein, &id).contains("§ 19 Abs. 1 UStG"));
}

#[test]
fn the_end_of_the_day_leaves_open_what_lacks_something_and_goes_on() {
    let mut server = Server::start_at("2026-07-10T10:00:00Z");
    let (mill, open, last) = {
        let mill = firma(&server, "Mühle", &[("e_rechnung", "pflicht")]);
        let kunde = incomplete(&mill);
        // One call checks a hundred.
        let create = |kunde: &str| mill.post(BELEGE, document("RE", kunde, "1000", json!({}))).id();
        let open: Vec<_> = (0..103).map(|_| create(&kunde)).collect();
        let last = create(&partner(&mill, json!({})));
        (mill, open, last)
    };
    server.set_clock("2026-07-11T09:00:00Z");
    server.restart();
    let mill = server.client(mill.tenant, mill.key);
    assert_eq!(beleg(&mill, &last)["status"], "abgeschlossen");
    assert!(xml(&mill, &last).contains("1070.00"));
    let still = mill.get(&format!("{BELEGE}?status=offen&limit=1000"));
    assert_eq!(
        still
            .is(200)
            .as_array()
            .map_or_else(|| still.body["count"].as_u64().unwrap(), |all| all.len() as u64),
        open.len() as u64
    );
}

#[test]
fn the_command_line_says_what_is_missing_and_writes_the_files() {
    let server = Server::start_at("2020-07-10T10:00:00Z");
    let mill = firma(&server, "Mühle", &[("e_rechnung", "pflicht")]);
    let kunde = incomplete(&mill);
    let id = mill.post(BELEGE, document("RE", &kunde, "1000", json!({}))).id();
    let number = beleg(&mill, &id)["beleg_nummer"].as_str().unwrap().to_owned();
    let run = |command: &str, more: &[&str]| {
        server.cli(&[&["beleg", command, &number, "--tenant", "Mühle"], more].concat())
    };
    let checked = run("pruefen", &[]);
    let said = String::from_utf8(checked.stdout).unwrap();
    assert_eq!(checked.status.code(), Some(1));
    assert!(said.contains("Kunde: plz") && said.contains("Kunde: ort"), "{said}");
    let refused = run("abschliessen", &[]);
    let error = String::from_utf8(refused.stderr).unwrap();
    assert!(refused.status.code() == Some(1) && error.contains("Kunde: plz"), "{error}");
    let none = run("erechnung", &[]);
    let error = String::from_utf8(none.stderr).unwrap();
    assert!(none.status.code() == Some(1) && error.contains("noch offen"), "{error}");
    let draft = run("pdf", &[]);
    assert!(draft.status.success() && super::letters(&draft.stdout).contains("ENTWURF"));
    mill.put(&format!("/api/v1/kunden/{kunde}"), json!({"plz": "86650", "ort": "Wemding"})).is(200);
    let checked = run("prüfen", &[]);
    assert!(checked.status.success() && String::from_utf8(checked.stdout).unwrap().contains("nichts fehlt"));
    let note = mill.post(BELEGE, document("LS", &kunde, "1000", json!({}))).id();
    let note = beleg(&mill, &note)["beleg_nummer"].as_str().unwrap().to_owned();
    let none = server.cli(&["beleg", "pruefen", &note, "--tenant", "Mühle"]);
    assert!(none.status.success());
    assert!(String::from_utf8(none.stdout).unwrap().contains("bekommt keine E-Rechnung"));
    assert!(run("abschliessen", &[]).status.success());
    let file = server.database.with_file_name("rechnung.pdf");
    assert!(run("pdf", &["--out", file.to_str().unwrap()]).status.success());
    assert!(std::fs::read(&file).unwrap() == super::sheet(&mill, &id));
    let rights = std::fs::metadata(file).unwrap().permissions();
    assert_eq!(rights.mode() & 0o777, 0o600, "it is its owner's alone");
    assert!(run("erechnung", &[]).stdout == xml(&mill, &id).into_bytes());
}

#[test]
fn where_none_is_wanted_nothing_is_missing_whatever_the_category() {
    let server = Server::start();
    let mill = firma(&server, "Mühle", &[]);
    let off = firma(&server, "Aus", &[("e_rechnung", "aus")]);
    let abroad = |more: Value| and(json!({"staat": "AT", "ust_id": null, "plz": null, "ort": null}), more);
    let item = json!({"bezeichnung": "Weizen", "menge": 1, "ep_netto": 100, "steuer_kategorie": "K"});
    for (mill, more, expected) in
        [(&mill, json!({}), &[CODE][..]), (&mill, json!({"e_rechnung": "aus"}), &[]), (&off, json!({}), &[])]
    {
        let kunde = partner(mill, abroad(more.clone()));
        let id = mill.post(BELEGE, document("RE", &kunde, "1", json!({"items": [item]}))).id();
        let finalised = mill.post(&format!("{BELEGE}/{id}/abschliessen"), json!({}));
        finalised.is(200);
        let found: Vec<_> = finalised.hint_codes().into_iter().filter(|code| code == CODE).collect();
        assert_eq!(found, expected, "{more}");
        erechnung(mill, &id).refused(404, "KEINE_ERECHNUNG");
    }
}
