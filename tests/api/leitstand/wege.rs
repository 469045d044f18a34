//! Ways out of trouble: an expired session, a form sent twice, a link to pass on.

use serde_json::json;

use super::{Browser, PASSWORD, encoded, form_with_file, person};
use crate::harness::{NOON, Server};

/// The value of a hidden field, unescaped.
fn unescaped(text: &str) -> String {
    text.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

/// The hidden fields of a log-in page that keep the original request.
fn carried(shown: &super::Shown) -> (String, String) {
    let hidden = |name| unescaped(&shown.hidden(name).unwrap_or_default());
    (hidden("zurueck"), hidden("formular"))
}

#[test]
fn a_form_that_was_sent_after_the_session_ended_comes_back_behind_the_log_in() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    let path = format!("/leitstand/f/{}/partner/neu", mill.tenant);
    let token = browser.get(&path).hidden("token").unwrap();
    server.set_clock("2026-07-11T08:00:00Z");
    let name = "Mühle \"Süd\" & <b>Söhne</b>";
    let fields =
        [("token", token.as_str()), ("nachname_firma", name), ("ort", "Ulm"), ("notizen", "eins\r\nzwei")];
    let asked = browser.post(&path, &fields);
    assert!(asked.is(401).text.contains("Die Anmeldung ist abgelaufen"), "{}", asked.text);
    let (to, form) = carried(&asked);
    assert_eq!(to, path);
    assert!(!form.contains(&token), "{form}");

    // A wrong password keeps it, too.
    let mut log_in = |shown: &super::Shown, password: &str| {
        let (to, form) = carried(shown);
        let token = shown.hidden("token").unwrap();
        browser.post(
            "/leitstand/anmelden",
            &[
                ("token", &token),
                ("name", "Erika"),
                ("passwort", password),
                ("zurueck", &to),
                ("formular", &form),
            ],
        )
    };
    let wrong = log_in(&asked, "ein falsches Passwort");
    wrong.is(400);
    assert_eq!(log_in(&wrong, PASSWORD).is(303).header("location"), path);
    let again = browser.get(&path);
    for text in [
        "noch nicht gespeichert",
        "value=\"Mühle &quot;Süd&quot; &amp; &lt;b&gt;Söhne&lt;/b&gt;\"",
        "value=\"Ulm\"",
        "eins\nzwei</textarea>",
    ] {
        assert!(again.is(200).text.contains(text), "{text}: {}", again.text);
    }
    assert!(!browser.get(&path).text.contains("Ulm"), "it comes back once");
    assert_eq!(mill.get("/api/v1/kunden").body["count"], 0);
    let token = again.hidden("token").unwrap();
    browser.post(&path, &[("token", &token), ("nachname_firma", name), ("ort", "Ulm")]).is(303);
    assert_eq!(mill.get("/api/v1/kunden").body["count"], 1);
}

#[test]
fn what_was_changed_meanwhile_is_not_overwritten_by_a_form_from_before_a_log_in() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let id = mill.post("/api/v1/kunden", json!({"name": "Huber", "ort": "Ulm"})).id();
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    let path = format!("/leitstand/f/{}/partner/{id}/aendern", mill.tenant);
    let version = browser.get(&path).hidden("version").unwrap();
    browser.cookie = None;
    let asked = browser.post(&path, &[("version", &version), ("nachname_firma", "Huber"), ("ort", "Bonn")]);
    mill.put(&format!("/api/v1/kunden/{id}"), json!({"ort": "Köln"})).is(200);
    let (to, form) = carried(asked.is(401));
    let fields =
        [("name", "Erika"), ("passwort", PASSWORD), ("zurueck", to.as_str()), ("formular", form.as_str())];
    browser.fill("/leitstand/anmelden", &fields).is(303);
    let again = browser.get(&path);
    assert!(again.is(200).text.contains("value=\"Bonn\""), "{}", again.text);
    assert_eq!(again.hidden("version"), Some(version.clone()));
    let fields = [("token", again.hidden("token").unwrap()), ("version", version)];
    let fields: Vec<_> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
    browser.post(&path, &[&fields[..], &[("nachname_firma", "Huber"), ("ort", "Bonn")]].concat()).is(412);
}

#[test]
fn neither_passwords_nor_files_nor_too_much_go_through_the_log_in_and_it_leads_nowhere_else() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    browser.cookie = None;
    let secrets = [
        ("bisher", "geheim-1"),
        ("passwort", "geheim-2"),
        ("wiederholung", "geheim-3"),
        ("token", "geheim-4"),
    ];
    let asked = browser.post("/leitstand/konto", &[&secrets[..], &[("harmlos", "offen-5")]].concat());
    assert!(!asked.is(401).text.contains("geheim") && asked.text.contains("offen-5"), "{}", asked.text);

    let data = format!("/leitstand/f/{}/firma", mill.tenant);
    let (kind, body) = form_with_file(&[("ort", "Ulm")], ("logo", "logo.png", b"PNG-von-hier"));
    let asked = browser.send_unchecked("POST", &data, &[("content-type", kind)], body);
    assert!(asked.is(401).text.contains("Ulm") && !asked.text.contains("PNG-von-hier"), "{}", asked.text);

    for bytes in [21 << 10, 65 << 10] {
        let asked = browser.post(&data, &[("ort", &"x".repeat(bytes))]);
        assert!(asked.is(401).text.contains("zu lang, um es aufzuheben"), "{}", asked.text);
        assert!(asked.text.len() < 10_000 && asked.hidden("formular").is_none());
    }
    // Even a form of maximum size can be carried through the log-in.
    let widest = "ü".repeat(10_000);
    let asked = browser.post(&data, &[("ort", &widest)]);
    let (to, form) = carried(asked.is(401));
    let sent = encoded(&[("formular", &form), ("zurueck", &to)]);
    assert!(form.len() > 20_000 && sent.len() < 64 << 10, "{} {}", form.len(), sent.len());

    server.set_clock("2026-07-10T14:00:00Z");
    for elsewhere in [
        "https://evil.example/leitstand/konto",
        "//evil.example/leitstand/konto",
        "/api/v1/kunden",
        "/leitstand/f/1/neues",
        "/leitstand/gibt-es-nicht",
        "/leitstand/konto\r\nx: y",
        "",
    ] {
        let fields = [("name", "Erika"), ("passwort", PASSWORD), ("zurueck", elsewhere), ("formular", "[]")];
        let shown = browser.fill("/leitstand/anmelden", &fields);
        assert_eq!(shown.is(303).header("location"), "/leitstand", "{elsewhere}");
        browser.cookie = None;
    }
    for broken in ["", "{", "[[1]]", "{\"a\":1}"] {
        let fields = [
            ("name", "Erika"),
            ("passwort", PASSWORD),
            ("zurueck", "/leitstand/konto"),
            ("formular", broken),
        ];
        server.set_clock("2026-07-10T15:00:00Z");
        browser.fill("/leitstand/anmelden", &fields).is(303);
        browser.cookie = None;
    }
}

#[test]
fn a_form_that_is_sent_twice_makes_one_key_and_one_link_and_one_person() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    let twice = |browser: &mut Browser, path: &str, fields: &[(&str, &str)]| {
        let page = browser.get(path);
        let hidden = ["token", "stand"].map(|name| (name, page.hidden(name).unwrap_or_default()));
        let hidden = hidden.iter().map(|(name, value)| (*name, value.as_str()));
        let fields: Vec<_> = hidden.chain(fields.iter().copied()).collect();
        let first = browser.post(path, &fields);
        assert!(first.is(200).text.contains("data-kopiere"), "{}", first.text);
        (first.text, browser.post(path, &fields))
    };
    let path = format!("/leitstand/f/{}/schluessel/neu", mill.tenant);
    let keys = |server: &Server| server.sql::<i64>("select count(*) from api_key");
    let before = keys(&server);
    let fields = [("bezeichnung", "Waage Nord"), ("zweck", "waage")];
    let (first, second) = twice(&mut browser, &path, &fields);
    let key = first.split("ak_").nth(1).unwrap().split('<').next().unwrap();
    assert!(
        second.is(412).text.contains("zweimal gesendet") && !second.text.contains(key),
        "{}",
        second.text
    );
    assert!(second.text.contains("Seite neu laden"), "{}", second.text);
    assert_eq!(keys(&server), before + 1);
    // A form opened again makes another record, even with the same content.
    assert!(browser.fill(&path, &fields).is(200).text.contains("data-kopiere"));
    assert_eq!(keys(&server), before + 2);

    let (first, second) =
        twice(&mut browser, "/leitstand/zugaenge/neu", &[("name", "Paul Müller"), ("rolle", "ansehen")]);
    assert!(second.is(400).text.contains("nur einmal angelegt"), "{}", second.text);
    for text in ["Name zum Anmelden", "Paul Müller", "10.07.2026, 13:00"] {
        assert!(first.contains(text), "{text}: {first}");
    }
    let (first, second) = twice(&mut browser, "/leitstand/zugaenge/2/link", &[]);
    assert!(second.is(412).text.contains("Ein zweiter entstand nicht"), "{}", second.text);
    assert!(browser.get("/leitstand/zugaenge/2/link").text.contains("Ein Link gilt noch bis"));
    // The first link is still valid, and complete: with the host name that the browser used.
    let link = first.split("class=\"once\">").nth(1).unwrap().split('<').next().unwrap();
    let path = link.strip_prefix(&format!("http://{}", server.address)).unwrap_or_else(|| panic!("{link}"));
    let mut paul = Browser::on(&server);
    paul.fill(path, &[("passwort", PASSWORD), ("wiederholung", PASSWORD)]).is(303);
    assert!(paul.get("/leitstand/konto").is(200).text.contains("Paul Müller"));
}

#[test]
fn behind_a_proxy_a_link_begins_as_the_browser_calls_it() {
    use partnerd::platform::gate::{Modus, Policy, Zugang};
    let leitstand =
        Zugang { modus: Modus::Netz, hosts: vec!["muehle.local".to_owned()], ..Zugang::default() };
    let proxies = vec!["127.0.0.0/8".parse().unwrap()];
    let server = Server::start_with(NOON, Policy { proxies, leitstand, ..Policy::default() });
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    let by = [("host", "muehle.local"), ("x-forwarded-proto", "https"), ("x-forwarded-for", "192.0.2.7")];
    let token = browser.send("GET", "/leitstand/zugaenge/neu", &by, "").hidden("token").unwrap();
    let body = encoded(&[("token", &token), ("name", "Paul"), ("rolle", "ansehen")]);
    let made = browser.send("POST", "/leitstand/zugaenge/neu", &by, &body);
    assert!(made.is(200).text.contains(">https://muehle.local/leitstand/passwort?link="), "{}", made.text);
}

#[test]
fn the_log_in_page_says_by_whom_a_forgotten_password_is_renewed() {
    let server = Server::start();
    let shown = Browser::on(&server).get("/leitstand/anmelden");
    for text in ["Wer alles verwaltet", "Neuer Link", "partnerd user link"] {
        assert!(shown.is(200).text.contains(text), "{text}: {}", shown.text);
    }
}
