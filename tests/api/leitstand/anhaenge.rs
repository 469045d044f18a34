//! Attachments in the Leitstand: uploaded by a form, listed, and downloaded.

use serde_json::json;

use super::partner::{EVIL, at_field, kunde, mill, shows, weizen};
use super::person;
use crate::harness::Server;
use crate::trade::einlesen::er_of;

const DATEI: &str = "datei";

/// Bytes that are no text, and that a guessing browser would take for markup.
const CONTENT: &[u8] = b"<script>\xff\x00\r\n--y</script>";

fn stored(server: &Server) -> i64 {
    server.sql("select count(*) from anhang")
}

#[test]
fn attachments_are_saved_as_they_are_and_never_shown() {
    let server = Server::start();
    let (mill, mut browser, firma) = mill(&server);
    let artikel = weizen(&server, &mill);
    let partner = kunde(&mill, json!({"name": "Huber"}));
    let elsewhere = kunde(&mill, json!({"name": "Meier"}));
    let file = json!({"dateiname": "Prüfung.html", "inhalt_base64": "PHNjcmlwdD4=", "beschreibung": EVIL});
    for (api, page) in [
        (format!("kunden/{partner}"), format!("partner/{partner}")),
        (format!("artikel/{artikel}"), format!("artikel/{artikel}")),
    ] {
        let id = mill.post(&format!("/api/v1/{api}/dokumente"), file.clone()).id();
        let path = format!("{firma}/{page}/anhaenge/{id}");
        let shown = browser.get(&format!("{firma}/{page}"));
        shows(&shown.is(200).text, &[&format!("href=\"{path}\""), "Prüfung.html", "&lt;script&gt;"]);
        assert!(!shown.text.contains("<script"), "{}", shown.text);
        let saved = browser.get(&path);
        assert_eq!(saved.is(200).text, "<script>");
        assert_eq!(saved.header("content-type"), "application/octet-stream");
        let disposition = saved.header("content-disposition");
        assert!(disposition.starts_with("attachment; filename=\"Pr_fung.html\""), "{disposition}");
        browser.get(&format!("{firma}/partner/{elsewhere}/anhaenge/{id}")).is(404);
    }
}

#[test]
fn a_file_is_attached_by_form_with_who_did_it() {
    let server = Server::start();
    let (mill, mut browser, firma) = mill(&server);
    let (artikel, partner) = (weizen(&server, &mill), kunde(&mill, json!({"name": "Huber"})));
    // A name with markup, and with characters that are removed when it is saved.
    let name = "a&lt;img src=x onerror=alert(1)&gt; 'Süd'.html";
    for (api, page) in [
        (format!("/api/v1/kunden/{partner}/dokumente"), format!("{firma}/partner/{partner}")),
        (format!("/api/v1/artikel/{artikel}/dokumente"), format!("{firma}/artikel/{artikel}")),
    ] {
        let form = format!("{page}/anhaenge");
        shows(&browser.get(&page).is(200).text, &[&format!("href=\"{form}\""), "Keine Anhänge."]);
        let sent = browser.upload(&form, &[("beschreibung", EVIL)], (DATEI, name, CONTENT));
        assert_eq!(sent.is(303).header("location"), page);
        let shown = browser.get(&page);
        shows(&shown.is(200).text, &["Die Datei ist angehängt.", "a&amp;lt;img src=x", "&lt;script&gt;"]);
        assert!(!shown.text.contains("<script") && !shown.text.contains("<img"), "{}", shown.text);
        let found = mill.get(&api).body[0].clone();
        assert_eq!((&found["dateiname"], &found["beschreibung"]), (&json!(name), &json!(EVIL)));
        let id = found["id"].as_str().unwrap();
        assert_eq!(browser.get_bytes(&format!("{form}/{id}")), CONTENT);
        let saved = browser.get(&format!("{form}/{id}"));
        assert_eq!(
            ["content-type", "x-content-type-options"].map(|name| saved.header(name)),
            ["application/octet-stream", "nosniff"]
        );
        assert!(saved.header("content-disposition").starts_with("attachment; "));
        let rows = format!(
            "pfad = '{form}' and person = '1' and status = 303 and lower(hex(subjekt)) = '{}'",
            id.replace('-', "")
        );
        assert_eq!(server.sql::<i64>(&format!("select count(*) from audit where {rows}")), 1, "{form}");
    }
    // Without a description; it is in the evidence like an attachment of a program.
    let again = browser.upload(
        &format!("{firma}/partner/{partner}/anhaenge"),
        &[("beschreibung", " ")],
        (DATEI, "b.pdf", b"%PDF"),
    );
    again.is(303);
    assert_eq!(mill.get(&format!("/api/v1/kunden/{partner}/dokumente")).body[1]["beschreibung"], json!(null));
    assert_eq!(server.sql::<i64>("select count(*) from nachweis where art = 'anhang'"), 3);
}

#[test]
fn what_the_interface_refuses_of_a_file_is_said_where_it_was_chosen() {
    let server = Server::start();
    let (mill, mut browser, firma) = mill(&server);
    let form = format!("{firma}/partner/{}/anhaenge", kunde(&mill, json!({"name": "Huber"})));
    let (fits, too_large) = (vec![b'x'; 10 << 20], vec![b'x'; (10 << 20) + 1]);
    for (field, file, status, why) in [
        (DATEI, ("", "", &b""[..]), 400, "Bitte eine Datei auswählen."),
        (DATEI, (DATEI, "..", b"x"), 400, "Hier fehlt der Name"),
        (DATEI, (DATEI, "gross.pdf", &too_large), 413, "größer als 10 MiB"),
        ("beschreibung", (DATEI, "a.pdf", b"x"), 400, ""),
    ] {
        let text = if field == DATEI { "Rechnung".to_owned() } else { "x".repeat(10_000) };
        let refused = browser.upload(&form, &[("beschreibung", &text)], file);
        let at = at_field(&refused.is(status).text, field);
        shows(at, &[&format!("id=\"fehler-{field}\""), why]);
        // The entered text is not lost.
        shows(at_field(&refused.text, "beschreibung"), &[&format!("value=\"{text}\"")]);
        assert!(!refused.text.contains("<img"), "{}", refused.text);
    }
    // A body larger than any form may be is refused before it is read.
    let refused = browser.upload(&form, &[], (DATEI, "gross.pdf", &vec![b'x'; 15 << 20]));
    shows(&refused.is(413).text, &["mehr als 14 MiB", "name=\"datei\""]);
    assert_eq!(stored(&server), 0);
    browser.upload(&form, &[], (DATEI, "gross.pdf", &fits)).is(303);
    assert_eq!(stored(&server), 1);
    // Characters that a file system would not accept are replaced, and the page says so.
    let to =
        browser.upload(&form, &[], (DATEI, "<img src=x>.html", b"x")).is(303).header("location").to_owned();
    shows(&browser.get(&to).is(200).text, &["unter dem Namen _img src=x_.html abgelegt"]);
}

#[test]
fn who_may_only_look_attaches_nothing() {
    let server = Server::start();
    let (mill, _, firma) = mill(&server);
    let id = kunde(&mill, json!({"name": "Huber"}));
    let file = json!({"dateiname": "Vertrag.pdf", "inhalt_base64": "MA=="});
    let anhang = mill.post(&format!("/api/v1/kunden/{id}/dokumente"), file).id();
    let mut looks = person(&server, &["Paul"]);
    let page = format!("{firma}/partner/{id}");
    let form = format!("{page}/anhaenge");
    let shown = looks.get(&page);
    shows(&shown.is(200).text, &["Vertrag.pdf", &format!("{form}/{anhang}")]);
    assert!(!shown.text.contains("Datei anhängen") && !shown.text.contains(&format!("{form}\"")));
    looks.get(&format!("{form}/{anhang}")).is(200);
    assert!(!looks.get(&form).is(403).text.contains("<form"));
    let token = looks.get("/leitstand/abmelden").hidden("token").unwrap();
    looks.post_file(&form, &[("token", &token)], (DATEI, "a.pdf", b"x")).is(403);
    assert_eq!(stored(&server), 1);
}

#[test]
fn nothing_is_attached_to_a_record_of_another_company_or_without_the_token() {
    let server = Server::start();
    let (own, mut browser, firma) = mill(&server);
    let other = server.company("Andere");
    let (foreign, partner) = (kunde(&other, json!({"name": "Huber"})), kunde(&own, json!({"name": "Meier"})));
    let artikel = weizen(&server, &other);
    let token = browser.get("/leitstand/abmelden").hidden("token").unwrap();
    for page in [format!("partner/{foreign}"), format!("artikel/{artikel}")] {
        let form = format!("{firma}/{page}/anhaenge");
        browser.get(&form).is(404);
        browser.post_file(&form, &[("token", &token)], (DATEI, "a.pdf", b"x")).is(404);
    }
    let form = format!("{firma}/partner/{partner}/anhaenge");
    browser.post_file(&form, &[], (DATEI, "a.pdf", b"x")).is(403);
    assert_eq!(stored(&server), 0);
    browser.post_file(&form, &[("token", &token)], (DATEI, "a.pdf", b"x")).is(303);
    assert_eq!(stored(&server), 1);
}

#[test]
fn a_document_shows_the_file_that_it_was_made_of() {
    let server = Server::start();
    let (mill, mut browser, firma) = mill(&server);
    let supplier = json!({"name": "Hof", "ust_id": "DE123456789", "partner_typen": ["lieferant"]});
    kunde(&mill, supplier);
    server.import(&mill, "artikel", "artikelnummer;bezeichnung;einheit\nN;Neu;kg\n");
    let mut body = er_of("N");
    body["dateiname"] = "Rechnung &lt;4711.xml".into();
    mill.post("/api/v1/belege/einlesen", body).is(201);
    let beleg = mill.get("/api/v1/belege").body["data"][0]["id"].as_str().unwrap().to_owned();
    let page = format!("{firma}/belege/{beleg}");
    let anhang =
        mill.get(&format!("/api/v1/belege/{beleg}/dokumente")).body[0]["id"].as_str().unwrap().to_owned();
    let path = format!("{page}/anhaenge/{anhang}");
    let shown = browser.get(&page);
    shows(
        &shown.is(200).text,
        &["Ursprüngliche Datei", "Rechnung &amp;lt;4711.xml", &format!("href=\"{path}\"")],
    );
    let saved = browser.get(&path);
    shows(&saved.is(200).text, &["R-4711"]);
    assert_eq!(saved.header("content-type"), "application/octet-stream");
    // A document that was typed has no file, and files of others are not found under it.
    let items = json!([{"bezeichnung": "Fracht", "menge": 2, "ep_netto": 5, "mwst_satz": 19}]);
    let typed = json!({"beleg_typ": "AN", "kundennummer": "K-1001", "items": items});
    let typed = format!("{firma}/belege/{}", mill.post("/api/v1/belege", typed).id());
    assert!(!browser.get(&typed).is(200).text.contains("Ursprüngliche Datei"));
    browser.get(&format!("{typed}/anhaenge/{anhang}")).is(404);
}
