//! Attachments of customers and articles (D21f).

use serde_json::{Value, json};

use crate::harness::{Client, Server};

/// Creates a company with a customer and an article; returns the paths of their attachments.
fn places(server: &Server) -> (Client, [String; 2]) {
    let mill = server.company("Mühle");
    server.import(&mill, "artikel", "artikelnummer;bezeichnung\nA;A\n");
    let kunde = mill.post("/api/v1/kunden", json!({"name": "Kunde"})).id();
    let artikel = mill.get("/api/v1/artikel").body["data"][0]["id"].as_str().unwrap().to_owned();
    (mill, [format!("/api/v1/kunden/{kunde}/dokumente"), format!("/api/v1/artikel/{artikel}/dokumente")])
}

fn without(value: &Value, field: &str) -> Value {
    let mut value = value.clone();
    value.as_object_mut().unwrap().remove(field);
    value
}

#[test]
fn attachments_are_listed_without_and_read_with_their_content() {
    let server = Server::start();
    let (mill, places) = places(&server);
    for path in &places {
        assert_eq!(*mill.get(path).is(200), json!([]));
        let body = json!({"dateiname": "Analyse.pdf", "inhalt_base64": "SGVsbG8=", "beschreibung": "Labor"});
        let created = mill.post(path, body);
        let expected = json!({"id": created.id(), "dateiname": "Analyse.pdf", "beschreibung": "Labor",
            "mime_type": "application/pdf", "groesse_bytes": 5, "erstellt_am": "2026-07-10T10:00:00.000Z",
            "sha256": "185f8db32271fe25f561a6fc938b2e264306ec304eda518007d1764826381969"});
        assert_eq!(without(created.is(201), "hinweise"), expected, "{path}");
        mill.post(path, json!({"dateiname": "zwei.txt", "inhalt_base64": "MA=="})).is(201);
        let listed = mill.get(path);
        assert_eq!((&listed.is(200)[0], &listed.body[1]["dateiname"]), (&expected, &json!("zwei.txt")));
        assert_eq!(listed.headers["x-total-count"], "2");
        assert_eq!(mill.get(&format!("{path}?limit=1&offset=1")).is(200)[0]["dateiname"], "zwei.txt");
        let single = mill.get(&format!("{path}/{}", created.id()));
        assert_eq!(single.is(200)["inhalt_base64"], "SGVsbG8=");
        assert_eq!(without(&single.body, "inhalt_base64"), expected);
    }
}

#[test]
fn an_attachment_is_found_with_its_owner_only() {
    let server = Server::start();
    let (mill, [kunde, artikel]) = places(&server);
    let body = json!({"dateiname": "a.txt", "inhalt_base64": "MA=="});
    let id = mill.post(&kunde, body.clone()).id();
    mill.get(&format!("{artikel}/{id}")).refused(404, "NICHT_GEFUNDEN");
    mill.get(&format!("{kunde}/nix")).refused(404, "NICHT_GEFUNDEN");
    let other = server.company("Andere");
    other.get(&kunde).refused(404, "NICHT_GEFUNDEN");
    other.get(&format!("{kunde}/{id}")).refused(404, "NICHT_GEFUNDEN");
    other.post(&artikel, body).refused(404, "NICHT_GEFUNDEN");
    mill.post(&artikel, json!({"inhalt_base64": "MA=="})).refused(400, "FELD_FEHLT");
    mill.post(&artikel, json!({"dateiname": "a.txt"})).refused(400, "FELD_FEHLT");
    mill.post(&artikel, json!({"dateiname": "a.txt", "inhalt_base64": "MA="})).refused(400, "FELD_UNGUELTIG");
    assert_eq!(server.sql::<i64>("select count(*) from anhang"), 1);
}

#[test]
fn of_a_path_the_last_part_is_the_name_and_what_windows_forbids_is_replaced() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let path = format!("/api/v1/kunden/{}/dokumente", mill.post("/api/v1/kunden", json!({"name": "A"})).id());
    for (sent, kept) in [
        ("../a.txt", "a.txt"),
        ("/etc/passwd", "passwd"),
        ("C:\\Briefe\\Müller 2026.pdf", "Müller 2026.pdf"),
        ("was? <neu>|*.txt", "was_ _neu___.txt"),
        ("12:30.txt", "12_30.txt"),
        ("a\nb.txt", "a_b.txt"),
        ("Rechnung_\u{202e}fdp.exe", "Rechnung__fdp.exe"),
        ("schon gut.txt", "schon gut.txt"),
    ] {
        let answer = mill.post(&path, json!({"dateiname": sent, "inhalt_base64": "Zm9v"}));
        assert_eq!(answer.is(201)["dateiname"], kept, "{sent}");
        let is_said = answer.hint_codes().iter().any(|code| code == "NAME_GEAENDERT");
        assert_eq!(is_said, sent != kept, "{sent}");
    }
}
