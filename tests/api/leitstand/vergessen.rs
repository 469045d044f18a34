//! Forgetting a person in the Leitstand (D27); what is erased and what is kept is tested with the command.

use serde_json::json;

use super::person;
use crate::harness::Server;

#[track_caller]
fn shows(text: &str, expected: &[&str]) {
    for part in expected {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_person_is_forgotten_after_one_question() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    let firma = format!("/leitstand/f/{}", mill.tenant);
    let body = json!({"nachname_firma": "Huber", "telefon": "0171-4711", "ort": "Ulm"});
    let id = mill.post("/api/v1/kunden", body).id();
    let (one, page) = (format!("{firma}/partner/{id}"), format!("{firma}/partner/{id}/vergessen"));
    browser.fill(&format!("{one}/aendern"), &[("telefon", "0171-4712")]).is(303);
    shows(&browser.get(&page).is(200).text, &["alle Stammdaten außer der Nummer", "K-1001 wird inaktiv"]);
    let token = browser.get(&page).hidden("token").unwrap();
    let items = json!([{"bezeichnung": "Fracht", "menge": 1, "ep_netto": "85.00", "mwst_satz": 19}]);
    let beleg = mill.post("/api/v1/belege", json!({"beleg_typ": "RE", "kunden_id": id, "items": items})).id();
    // The form shown before comes too late, and there is no other.
    let late = browser.post(&page, &[("token", &token)]);
    assert!((400..500).contains(&late.status), "{}", late.status);
    shows(&late.text, &["Offen: 1 Belege"]);
    assert!(!browser.get(&page).text.contains("K-1001 wird inaktiv"));
    mill.post(&format!("/api/v1/belege/{beleg}/abschliessen"), json!({})).is(200);
    let shown = browser.get(&page);
    shows(&shown.is(200).text, &["Name und Anschrift bleiben", "Belege", "31.12.2034"]);
    browser.fill(&page, &[]).is(303);
    let shown = browser.get(&one);
    shows(&shown.is(200).text, &["Huber", "Ulm", "inaktiv", "gelöscht"]);
    assert!(!shown.text.contains("0171"), "{}", shown.text);
    let log = browser.get(&format!("{firma}/protokoll?ergebnis=aenderungen"));
    shows(&log.is(200).text, &["Partner vergessen (DSGVO)", &format!("href=\"{one}\"")]);
}
