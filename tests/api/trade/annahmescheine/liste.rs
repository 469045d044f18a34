//! The list of goods receipts, and who may read and write them (specification; D3, D14, D16).

use partnerd::rules::scope::Scope;
use serde_json::{Value, json};

use super::{PATH, assert_fields, post, weigh};
use crate::harness::{Answer, Server};
use crate::trade::lager::Mill;

/// Receipts of three days, in the order of import.
const NOTES: &str = "belegnummer;status;lieferdatum;partner;artikelnummer;anliefermenge_kg\n\
    A;offen;2026-07-02;Hof;W;1\nB;abgerechnet;2026-07-03;Hof;W;1\nC;storniert;2026-07-02;Gut;R;1\n\
    D;offen;2026-07-01;Gut;R;1\nE;abgerechnet;2026-07-02;Hof;W;1\n";

fn list(mill: &Mill<'_>, query: &str) -> Answer {
    mill.client.get(&format!("{PATH}?{query}"))
}

fn numbers(answer: &Answer) -> String {
    let rows = answer.is(200)["data"].as_array().unwrap();
    rows.iter().map(|row| row["belegnummer"].as_str().unwrap()).collect()
}

#[test]
fn notes_are_filtered_and_the_latest_delivery_stands_first() {
    let server = Server::start();
    let mill = Mill::of(&server);
    server.import(&mill.client, "annahmescheine", NOTES);
    let rows = [
        ("", "BACED"),
        ("status=offen", "AD"),
        ("status=abgerechnet", "BE"),
        ("status=storniert", "C"),
        ("status=Offen,storniert", "ACD"),
        ("von=2026-07-02", "BACE"),
        ("bis=2026-07-02", "ACED"),
        ("von=2026-07-02&bis=2026-07-02", "ACE"),
        ("von=2026-07-03&bis=2026-07-02", ""),
        ("status=offen&bis=2026-07-01", "D"),
    ];
    for (query, expected) in rows {
        let answer = list(&mill, query);
        assert_eq!(numbers(&answer), expected, "{query}");
        assert_eq!(answer.body["count"], expected.len(), "{query}");
    }
    for (query, page) in [("limit=2", "BA"), ("limit=2&offset=3", "ED"), ("offset=4", "D"), ("limit=0", "")] {
        let answer = list(&mill, query);
        assert_eq!((numbers(&answer).as_str(), &answer.body["count"]), (page, &json!(5)), "{query}");
    }
    let cut = list(&mill, "limit=5001");
    assert_eq!((numbers(&cut).as_str(), cut.headers["x-limit"].as_str()), ("BACED", "5000"));
    list(&mill, "lieferant=x").refused(400, "UNBEKANNTER_PARAMETER");
    list(&mill, "von=gestern").refused(400, "DATUM_UNGUELTIG");
    for query in ["limit=-1", "limit=viele", "offset=-1"] {
        list(&mill, query).refused(400, "PARAMETER_UNGUELTIG");
    }
    let other = Mill::with(&server, "Andere", &[]);
    assert_eq!(list(&other, "").is(200), &json!({"data": [], "count": 0}));
}

#[test]
fn a_list_without_a_limit_gives_all() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let rows: Vec<Value> =
        (0..120).map(|at| json!({"belegnummer": format!("N{at}"), "anliefermenge_kg": 1})).collect();
    server.import(&mill.client, "annahmescheine", &json!(rows).to_string());
    let answer = list(&mill, "");
    assert_eq!(answer.is(200)["data"].as_array().unwrap().len(), 120);
    assert_eq!(answer.body["count"], 120);
}

#[test]
fn a_note_is_shown_with_what_was_sent_and_what_followed() {
    let server = Server::start();
    let mill = Mill::of(&server);
    server.import(&mill.client, "kontrakte", "kontrakt_nr\nV-1\n");
    server.import(&mill.client, "biozertifikate", "id;nummer\n5;DE-ÖKO-5\n");
    let kontrakt = mill.client.get("/api/v1/kontrakte").is(200)["data"][0]["id"].clone();
    let wiegung = weigh(&mill, json!({}));
    let body = json!({"wiegung_id": wiegung, "lieferdatum": "2026-07-09", "feuchte_prozent": 16.2,
        "basisfeuchte_prozent": "14.5", "schwundfaktor": 1.3, "besatz_prozent": 2.8, "basisbesatz_prozent": 2,
        "sonstige_abzuege_kg": 16, "preis_je_t": 200, "kontrakt_id": kontrakt, "fremde_charge_nr": " Hof 7 ",
        "herkunftsland": "Deutschland", "biozertifikat_id": 5, "bemerkung": "nass\r\nund kalt",
        "external_ref": "x-1", "el_erzeugen": true});
    let created = post(&mill, body);
    created.is(201);
    let shown = list(&mill, "").is(200)["data"][0].clone();
    let specified = json!({"id": created.id(), "belegnummer": "AS-2026-00001", "status": "offen",
        "lieferdatum": "2026-07-09T00:00:00.000Z", "anliefermenge_kg": "24860.000",
        "netto_menge_kg": "24100.000", "netto_betrag": "4820.00"});
    assert_fields(&shown, specified);
    let added = json!({"partner_id": mill.partner_id("Hof"), "artikel_id": mill.artikel_id("W"),
        "wiegung_id": wiegung, "feuchte_prozent": "16.20", "basisfeuchte_prozent": "14.50",
        "schwundfaktor": "1.300", "besatz_prozent": "2.80", "basisbesatz_prozent": "2.00",
        "sonstige_abzuege_kg": "16.000", "preis_je_t": "200.0000", "kontrakt_id": kontrakt,
        "fremde_charge_nr": "Hof 7", "herkunftsland": "DE", "biozertifikat_id": 5,
        "bemerkung": "nass\nund kalt", "external_ref": "x-1"});
    assert_fields(&shown, added);
    let made = mill.client.get("/api/v1/belege?typ=EL").is(200)["data"][0].clone();
    assert_eq!(made["lieferdatum"], "2026-07-09T00:00:00.000Z");
    let position = mill.get(made["id"].as_str().unwrap())["positionen"][0].clone();
    assert_fields(&position, json!({"kontrakt_id": kontrakt, "wiegung_id": wiegung}));
    let el = json!({"el_id": made["id"], "el_beleg_nummer": "EL-2026-00001",
        "charge_id": mill.batch("Hof 7")["id"],
        "partner_name": "Hof", "artikel_bezeichnung": "Weizen"});
    assert_fields(&shown, el);
}

#[test]
fn reading_and_writing_need_a_scope_each() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let tenant = mill.client.tenant;
    let read = server.key(tenant, &[Scope::RohwarenRead]);
    let write = server.key(tenant, &[Scope::RohwarenWrite]);
    let others: Vec<Scope> =
        [Scope::BelegeWrite, Scope::BelegeRead, Scope::WaageWrite, Scope::ChargenRead].into();
    let none = server.key(tenant, &others);
    let body = json!({"kundennummer": "Hof", "artikelnr": "W", "anliefermenge_kg": 100});
    read.get(PATH).is(200);
    read.post(PATH, body.clone()).refused(403, "SCOPE_FEHLT");
    write.post(PATH, body.clone()).is(201);
    write.get(PATH).refused(403, "SCOPE_FEHLT");
    none.get(PATH).refused(403, "SCOPE_FEHLT");
    none.post(PATH, body.clone()).refused(403, "SCOPE_FEHLT");
    server.client(tenant, None).post(PATH, body).refused(401, "API_KEY_FEHLT");
    assert_eq!(read.get(PATH).is(200)["count"], 1);
    for method in ["PUT", "DELETE"] {
        let answer = mill.client.send(method, PATH, &[], Some(b"{}"));
        answer.refused(405, "METHODE_NICHT_ERLAUBT");
    }
}
