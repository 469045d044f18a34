//! Hints of finalising, the hints of a trial, and which documents became final without the e-invoice they should have.

use serde_json::{Value, json};

use super::{BELEGE, beleg, document, erechnung, finished, firma, partner};
use crate::harness::{Client, Server};
use crate::leitstand::person;
use crate::trade::lager::and;

const CODE: &str = "ERECHNUNG_UNVOLLSTAENDIG";

fn finalise(client: &Client, id: &str, query: &str) -> crate::harness::Answer {
    client.post(&format!("{BELEGE}/{id}/abschliessen{query}"), json!({}))
}

/// A document whose sheet lacks a letter, whose address does not fit, and whose required e-invoice cannot be written.
fn troubled(mill: &Client) -> Value {
    let long = "Genossenschaft der Müller und Bäcker im Landkreis ".repeat(5);
    let kunde = partner(mill, json!({"name": long.trim(), "plz": null, "ort": null}));
    and(
        document("RE", &kunde, "1000", json!({})),
        json!({"notizen": "Reis 米", "kontaktperson": long.trim()}),
    )
}

const TROUBLES: [&str; 4] = ["ANSCHRIFT_GEKUERZT", CODE, "LIEFERDATUM_ANGENOMMEN", "ZEICHEN_FEHLT"];

fn of_sheet(answer: &crate::harness::Answer) -> Vec<String> {
    let mut codes = answer.hint_codes();
    codes.retain(|code| TROUBLES.contains(&code.as_str()));
    codes.sort();
    codes
}

#[test]
fn finalising_says_all_that_sheet_and_e_invoice_lack() {
    let server = Server::start();
    let mill = firma(&server, "Mühle", &[]);
    let at_once = mill.post(BELEGE, and(troubled(&mill), json!({"abschliessen": true})));
    at_once.is(201);
    assert_eq!(of_sheet(&at_once), TROUBLES);
    let open = mill.post(BELEGE, troubled(&mill));
    open.is(201);
    assert_eq!(of_sheet(&open), [""; 0], "an open document is not drawn");
    let finalised = finalise(&mill, &open.id(), "");
    finalised.is(200);
    assert_eq!(of_sheet(&finalised), TROUBLES);
    let uploaded = mill.post(BELEGE, troubled(&mill)).id();
    let uploaded = mill.post(&format!("{BELEGE}/{uploaded}/pdf"), json!({}));
    assert_eq!(of_sheet(&uploaded), TROUBLES);
    // A delivery note has only a sheet.
    let note = and(troubled(&mill), json!({"beleg_typ": "LS", "abschliessen": true}));
    assert_eq!(of_sheet(&mill.post(BELEGE, note)), ["ANSCHRIFT_GEKUERZT", "ZEICHEN_FEHLT"]);
}

/// Everything that a request could have written, except the log of all requests.
fn state(server: &Server) -> Vec<i64> {
    let tables = ["beleg_verlauf", "ausfertigung", "nachweis", "aenderung", "idempotenz"];
    let rows = tables.map(|table| server.sql(&format!("select count(*) from {table}")));
    let sums =
        ["sum(version)", "sum(geaendert_am)", "count(ereignis_am)", "count(kunden_name)", "count(blatt_am)"];
    let sums = sums.map(|sum| server.sql(&format!("select {sum} from beleg")));
    [&rows[..], &sums].concat()
}

#[test]
fn what_finalising_would_say_changes_nothing() {
    let server = Server::start();
    let mill = firma(&server, "Mühle", &[]);
    let id = mill.post(BELEGE, troubled(&mill)).id();
    let (before, shown) = (state(&server), beleg(&mill, &id));
    let key = [("idempotency-key", "abschluss-1"), ("content-type", "application/json")];
    let path = format!("{BELEGE}/{id}/abschliessen");
    for _ in 0..2 {
        let tried = mill.send("POST", &format!("{path}?pruefen=true"), &key, Some(b"{}"));
        let said = tried.is(200);
        assert_eq!((&said["status"], &said["ablehnungen"]), (&json!("offen"), &json!([])));
        assert_eq!(of_sheet(&tried), TROUBLES);
        assert_eq!((state(&server), beleg(&mill, &id)), (before.clone(), shown.clone()));
    }
    // The key was not used up: with it the document becomes final, and later trials see it as final.
    let done = mill.send("POST", &path, &key, Some(b"{}"));
    assert_eq!(done.is(200)["status"], "abgeschlossen");
    assert!(done.body.get("ablehnungen").is_none() && !done.headers.contains_key("idempotency-replayed"));
    assert_eq!(of_sheet(&done), TROUBLES);
    assert_ne!(state(&server), before, "the control");
    let after = mill.send("POST", &format!("{path}?pruefen=true"), &key, Some(b"{}"));
    assert_eq!((&after.is(200)["status"], &after.body["hinweise"]), (&json!("abgeschlossen"), &json!([])));
}

#[test]
fn what_would_be_refused_is_said_as_well() {
    let server = Server::start();
    let mill = firma(&server, "Mühle", &[("e_rechnung", "pflicht")]);
    let id = mill.post(BELEGE, troubled(&mill)).id();
    let before = state(&server);
    let tried = finalise(&mill, &id, "?pruefen=true");
    let refusals = tried.is(200)["ablehnungen"].as_array().unwrap();
    assert_eq!(refusals.len(), 1);
    let refused = finalise(&mill, &id, "");
    refused.refused(400, CODE);
    for field in ["error", "message"] {
        assert_eq!(refusals[0][field], refused.body[field], "{field}");
    }
    assert_eq!(of_sheet(&tried), ["ANSCHRIFT_GEKUERZT", "LIEFERDATUM_ANGENOMMEN", "ZEICHEN_FEHLT"]);
    assert_eq!(state(&server), before);
    mill.post(&format!("{BELEGE}/{id}/storno"), json!({"grund": "Versehen"})).is(200);
    assert_eq!(finalise(&mill, &id, "?pruefen=true").is(200)["ablehnungen"][0]["error"], "BELEG_STORNIERT");
    // Errors that do not concern the document itself are refused as always.
    finalise(&mill, &id, "?pruefen=vielleicht").refused(400, "PARAMETER_UNGUELTIG");
    finalise(&mill, "0197f3a0-0000-7000-8000-000000000000", "?pruefen=true").refused(404, "NICHT_GEFUNDEN");
    let path = format!("{BELEGE}/{id}/abschliessen?pruefen=true");
    let bad = [("Idempotency-Key", "×ø-4499")];
    mill.send_unchecked("POST", &path, &bad, Some(b"{}")).refused(400, "ANFRAGE_UNGUELTIG");
}

#[test]
fn where_the_tax_depends_on_both_parties_a_missing_e_invoice_says_why_whatever_the_sum() {
    let server = Server::start();
    let mill = firma(&server, "Mühle", &[("steuer_ausland_automatik", "false")]);
    let item = |kategorie: &str| {
        let satz = if kategorie == "S" { 7 } else { 0 };
        json!([{"bezeichnung": "Kleie", "menge": 1, "ep_netto": 20, "mwst_satz": satz, "steuer_kategorie": kategorie}])
    };
    // Partners abroad need none, and neither does an invoice over 20 EUR.
    let kunde = partner(&mill, json!({"staat": "AT", "plz": null, "ort": null, "ust_id": null}));
    for (kategorie, is_said) in
        [("K", true), ("AE", true), ("G", true), ("O", true), ("S", false), ("E", false), ("Z", false)]
    {
        let body = document("RE", &kunde, "1", json!({"items": item(kategorie), "abschliessen": true}));
        let created = mill.post(BELEGE, body);
        created.is(201);
        assert_eq!(created.hint_codes().contains(&CODE.to_owned()), is_said, "{kategorie}");
        if is_said {
            let said = created.hints(CODE)["hinweise"].to_string();
            assert!(said.contains("Kunde: ort"), "{said}");
        }
        erechnung(&mill, &created.id()).refused(404, "KEINE_ERECHNUNG");
    }
    // It is not refused either if e-invoices are mandatory.
    server.set(&mill, &[("e_rechnung", "pflicht")]);
    let body = document("RE", &kunde, "1", json!({"items": item("K"), "abschliessen": true}));
    mill.post(BELEGE, body).hints(CODE);
}

#[test]
fn what_the_end_of_the_day_left_without_its_e_invoice_is_listed() {
    let mut server = Server::start_at("2026-07-10T10:00:00Z");
    let mill = firma(&server, "Mühle", &[]);
    let nowhere = partner(&mill, json!({"plz": null, "ort": null}));
    let lacking = mill.post(BELEGE, document("RE", &nowhere, "1000", json!({}))).id();
    let whole = mill.post(BELEGE, document("RE", &partner(&mill, json!({})), "1000", json!({}))).id();
    let (tenant, key) = (mill.tenant, mill.key);
    server.set_clock("2026-07-11T09:00:00Z");
    server.restart();
    let mill = server.client(tenant, key);
    let shown = beleg(&mill, &lacking);
    assert_eq!(shown["status"], "abgeschlossen");
    let missing = shown["erechnung_fehlt"].as_array().unwrap();
    assert!(missing.iter().any(|field| field.as_str().unwrap().starts_with("Kunde: plz")), "{missing:?}");
    assert!(beleg(&mill, &whole).get("erechnung_fehlt").is_none(), "it has one");
    let listed = mill.get(&format!("{BELEGE}?beleg_nummer={}", shown["beleg_nummer"].as_str().unwrap()));
    assert_eq!(listed.is(200)["data"][0]["erechnung_fehlt"], shown["erechnung_fehlt"]);
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    let home = browser.get("/leitstand/f/1").is(200).text.clone();
    let number = |beleg: &Value| beleg["beleg_nummer"].as_str().unwrap().to_owned();
    let (_, list) = home.split_once("Ohne E-Rechnung abgeschlossen").expect("the list");
    let (list, _) = list.split_once("<h2>").unwrap();
    assert!(list.contains(&number(&shown)) && list.contains("Kunde: plz"), "{list}");
    assert!(!list.contains(&number(&beleg(&mill, &whole))), "{list}");
    // Cancelling resolves it; the storno document lacks the same.
    let counter = super::storno(&mill, &lacking);
    mill.put(&format!("/api/v1/kunden/{nowhere}"), json!({"plz": "86650", "ort": "Wemding"})).is(200);
    let home = browser.get("/leitstand/f/1").is(200).text.clone();
    let (_, list) = home.split_once("Ohne E-Rechnung abgeschlossen").expect("the counter document");
    let (list, _) = list.split_once("<h2>").unwrap();
    assert!(list.contains(&number(&beleg(&mill, &counter))) && !list.contains(&number(&shown)), "{list}");
    let new = finished(&mill, document("RE", &nowhere, "1000", json!({})));
    assert!(beleg(&mill, &new).get("erechnung_fehlt").is_none());
}
