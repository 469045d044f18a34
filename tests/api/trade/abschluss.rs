//! What a final document stores, and what follows when it is settled (D4, D11).

use serde_json::{Value, json};

use crate::harness::{Answer, Server};
use crate::trade::lager::Mill;

fn create(mill: &Mill<'_>) -> String {
    mill.post("RE", json!({"artikelnr": "S", "menge": 1})).id()
}

fn settle(mill: &Mill<'_>, number: &str) -> bool {
    let tenant = mill.client.tenant.to_string();
    mill.server.cli(&["beleg", "erledigen", number, "--tenant", &tenant]).status.success()
}

fn numbers(answer: &Answer) -> Vec<Value> {
    answer.is(200).as_array().unwrap().iter().map(|row| row["beleg_nummer"].clone()).collect()
}

/// The history of a document in order: the change, and the status before it.
fn history(mill: &Mill<'_>, id: &str) -> Value {
    let history = mill.client.get(&format!("/api/v1/belege/{id}/verlauf"));
    let entries = history.is(200)["data"].as_array().unwrap();
    let told = |entry: &Value| json!([entry["version"], entry["aktion"], entry["beleg"]["status"]]);
    entries.iter().map(told).collect()
}

#[test]
fn settling_stands_in_the_history_and_in_the_polling_list() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let ids = [create(&mill), create(&mill)];
    assert!(!settle(&mill, "RE-2026-00001"), "only what is final is settled");
    assert_eq!(mill.get(&ids[0])["status"], "offen");
    ids.iter().for_each(|id| mill.finalise(id));
    let polled = mill.client.get("/api/v1/dokumente?since=2026-07-10");
    assert_eq!(numbers(&polled), ["RE-2026-00001", "RE-2026-00002"]);
    assert!(settle(&mill, "RE-2026-00001"));
    let since = &polled.headers["x-next-since"];
    let polled = mill.client.get(&format!("/api/v1/dokumente?since={since}"));
    assert_eq!(numbers(&polled), ["RE-2026-00002", "RE-2026-00001"], "settled is the last event");
    assert_eq!(polled.body[1]["status"], "erledigt");
    let settled = mill.client.get("/api/v1/dokumente?since=2026-07-10&status=erledigt");
    assert_eq!(numbers(&settled), ["RE-2026-00001"]);
    let expected = json!([[1, "abschliessen", "offen"], [2, "erledigen", "abgeschlossen"]]);
    assert_eq!(history(&mill, &ids[0]), expected);
    let path = format!("/api/v1/belege/{}", ids[0]);
    mill.client.put(&path, json!({"notizen": "x"})).refused(400, "BELEG_ABGESCHLOSSEN");
}

#[test]
fn a_pdf_that_finalises_writes_the_version_before_it_once() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let id = create(&mill);
    for content in ["JVBERi0xLjQgZWlucw==", "JVBERi0xLjQgendlaQ=="] {
        let path = format!("/api/v1/belege/{id}/pdf");
        mill.client.post(&path, json!({"datei_base64": content})).is(201);
        assert_eq!(history(&mill, &id), json!([[1, "abschliessen", "offen"]]));
    }
}

#[test]
fn what_an_e_invoice_says_of_the_partner_is_copied_when_a_document_is_finalised() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let partner = format!("/api/v1/kunden/{}", mill.partner_id("Kd"));
    let before = json!({"name": "Alt", "strasse": "Weg 1", "plz": "01234", "ort": "Ulm", "staat": "AT",
        "ust_id": "ATU12345675", "steuernummer": "12/345", "email": "alt@hof.example",
        "iban": "DE02120300000000202051", "bic": "BYLADEM1001", "kaeuferreferenz": "991-1",
        "e_adresse": "0204:991-1"});
    let after = json!({"name": "Neu", "strasse": "Weg 2", "plz": "99999", "ort": "Köln", "staat": "FR",
        "ust_id": "FR12345678901", "steuernummer": "99", "email": "neu@hof.example",
        "iban": "DE02500105170137075030", "bic": "INGDDEFF", "kaeuferreferenz": "2", "e_adresse": "0204:2"});
    mill.client.put(&partner, before).is(200);
    let id = create(&mill);
    mill.finalise(&id);
    mill.client.put(&partner, after).is(200);
    // No route shows the address yet; e-invoices will.
    let copy: String = server.sql(
        "select concat_ws('|', kunden_name, kunden_strasse, kunden_plz, kunden_ort, kunden_staat, kunden_ust_id,
           kunden_kundennr, kunden_steuernummer, kunden_email, kunden_iban, kunden_bic, kunden_kaeuferreferenz,
           kunden_e_adresse)
         from beleg",
    );
    let expected = "Alt|Weg 1|01234|Ulm|AT|ATU12345675|Kd|12345|alt@hof.example|DE02120300000000202051|\
        BYLADEM1001|991-1|0204:991-1";
    assert_eq!(copy, expected);
    assert_eq!(mill.get(&id)["kunden_name"], "Alt");
}
