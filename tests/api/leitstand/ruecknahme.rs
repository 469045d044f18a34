//! Taking an import back in the Leitstand (D22); what can be taken back is tested with the command.

use serde_json::json;

use super::importe::{imported, looked_at};
use super::partner::shows;
use super::person;
use crate::harness::Server;

#[test]
fn an_import_is_taken_back_after_one_look() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    let id = mill.post("/api/v1/kunden", json!({"name": "Huber", "kundennr": "K-1", "plz": "86609"})).id();
    server.set_clock("2026-07-10T10:01:00Z");
    let seen =
        looked_at(&mut browser, "kunden", "<b>.csv", b"kundennr;name;plz\nK-1;Huber;99999\nK-2;Meier;\n");
    shows(&imported(&mut browser, &seen).text, &["ist importiert"]);
    let list = browser.get("/leitstand/f/1/import");
    shows(&list.is(200).text, &["Bisherige Importe", "&lt;b&gt;.csv", ">Erika</td>"]);
    let to = list.text.split("href=\"").find(|rest| rest.starts_with("/leitstand/f/1/import/")).unwrap();
    let to = to.split('"').next().unwrap().to_owned();
    let number = to.rsplit('/').next().unwrap();
    // The trial changes nothing.
    let tried = browser.fill(&to, &[("schritt", "pruefen")]);
    shows(
        &tried.is(200).text,
        &["Gelöscht würden</dt><dd>1<", "Zurückgestellt würden</dt><dd>1<", ">Zurücknehmen</button>"],
    );
    assert_eq!(mill.get("/api/v1/kunden").body["count"], 2);
    // Somebody writes a document for the new partner in the meantime.
    let token = tried.hidden("token").unwrap();
    let items = json!([{"bezeichnung": "Fracht", "menge": 1, "ep_netto": "85.00", "mwst_satz": 19}]);
    let beleg = json!({"beleg_typ": "AN", "kundennummer": "K-2", "items": items});
    mill.post("/api/v1/belege", beleg).is(201);
    let late = browser.post(&to, &[("token", &token)]);
    shows(&late.is(400).text, &["Es wurde nichts zurückgenommen", "Partner K-2: Wird genannt: Beleg."]);
    let tried = browser.fill(&to, &[("schritt", "pruefen")]);
    shows(&tried.is(200).text, &["alles oder nichts", "Partner K-2: Wird genannt: Beleg."]);
    assert!(!tried.text.contains(">Zurücknehmen</button>"), "{}", tried.text);
    assert_eq!(mill.get(&format!("/api/v1/kunden/{id}")).body["plz"], "99999");
    // Another import is taken back.
    server.set_clock("2026-07-10T10:02:00Z");
    let seen = looked_at(&mut browser, "kunden", "k.csv", b"kundennr;telefon\nK-1;1\n");
    imported(&mut browser, &seen);
    let second = format!("/leitstand/f/1/import/{}", number.parse::<i64>().unwrap() + 1);
    let after = browser.fill(&second, &[]);
    shows(
        &browser.get(after.is(303).header("location")).text,
        &["Zurückgenommen: 0 gelöscht, 1 zurückgestellt.", ">zurückgenommen</td>"],
    );
    assert_eq!(mill.get(&format!("/api/v1/kunden/{id}")).body["telefon"], json!(null));
    shows(&browser.get(&second).is(200).text, &["ist schon zurückgenommen"]);
    shows(&browser.get(&format!("/leitstand/f/1/partner/{id}")).is(200).text, &[">Erika</td>"]);
    let log = browser.get("/leitstand/f/1/protokoll?ergebnis=aenderungen");
    shows(&log.is(200).text, &["Import kunden aus „k.csv“ zurückgenommen"]);
    let mut anna = person(&server, &["Anna"]);
    let seen = anna.get(&to).is(200).text.clone();
    assert!(seen.contains("Zurücknehmen darf, wer") && !seen.contains("schritt"), "{seen}");
    for nowhere in ["9999", "x", "-1"] {
        browser.get(&format!("/leitstand/f/1/import/{nowhere}")).is(404);
    }
    server.company("Hof");
    browser.get(&format!("/leitstand/f/2/import/{number}")).is(404);
}
