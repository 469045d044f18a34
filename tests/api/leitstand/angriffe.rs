//! Attacks: each is refused, on every form and address of the table of pages.

use partnerd::leitstand::PAGES;
use partnerd::leitstand::access::Access;
use partnerd::platform::gate::{Modus, Policy, Zugang};
use serde_json::json;

use super::{Browser, PASSWORD, address, forms, link, of_companies, person};
use crate::harness::{Client, NOON, Server};

const NOBODY: &str = "0197f3a0-0000-7000-8000-000000000000";

/// Creates an open document of a company; returns its id.
fn beleg(client: &Client) -> String {
    let items = json!([{"bezeichnung": "Fracht", "menge": 2, "ep_netto": 5, "mwst_satz": 19}]);
    client.post("/api/v1/kunden", json!({"name": "Huber"})).is(201);
    let body = json!({"beleg_typ": "AN", "kundennummer": "K-1001", "items": items});
    client.post("/api/v1/belege", body).id()
}

#[test]
fn a_cookie_that_somebody_else_chose_is_never_a_session() {
    let server = Server::start();
    let path = link(&server, &["create", "Erika"]);
    let chosen = "a".repeat(64);
    let mut victim = Browser { cookie: Some(chosen.clone()), ..Browser::on(&server) };
    victim.fill(&path, &[("passwort", PASSWORD), ("wiederholung", PASSWORD)]).is(303);
    assert_ne!(victim.cookie, Some(chosen.clone()));
    let mut again = Browser { cookie: Some(chosen.clone()), ..Browser::on(&server) };
    again.log_in("Erika", PASSWORD).is(303);
    assert_ne!(again.cookie, Some(chosen.clone()));
    let mut attacker = Browser { cookie: Some(chosen), ..Browser::on(&server) };
    attacker.get("/leitstand/konto").is(303);
}

#[test]
fn no_form_is_taken_from_elsewhere() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let id = beleg(&mill);
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    let mut stranger = Browser::on(&server);
    let token_of_stranger = stranger.get("/leitstand/anmelden").hidden("token").unwrap();
    let token = browser.get("/leitstand/abmelden").hidden("token").unwrap();
    let mut seen = 0;
    for page in forms() {
        let path = address(page, mill.tenant, if page.access.is_of_firma() { &id } else { "1" });
        if page.access != Access::Open {
            browser.post(&path, &[]).is(403);
            browser.post(&path, &[("token", "")]).is(403);
            browser.post(&path, &[("token", &token_of_stranger)]).is(403);
        }
        let body = format!("token={token}");
        for elsewhere in [
            ("origin", "https://evil.example"),
            ("origin", "null"),
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-site", "same-site"),
        ] {
            browser.send("POST", &path, &[elsewhere], &body).is(403);
        }
        seen += 1;
    }
    assert!(seen >= 10, "only {seen} forms were found");
    // Logging in somebody else by a foreign page is refused, too.
    browser.post("/leitstand/anmelden", &[("name", "Erika"), ("passwort", PASSWORD)]).is(403);
    browser.get("/leitstand/konto").is(200);
}

#[test]
fn another_company_is_as_one_that_is_not_there() {
    let server = Server::start();
    let (mill, other) = (server.company("Mühle"), server.company("Andere"));
    let (own, foreign) = (beleg(&mill), beleg(&other));
    let mut browser = person(&server, &["Erika", "--role", "verwalten", "--tenant", "Mühle"]);
    let token = browser.get("/leitstand/abmelden").hidden("token").unwrap();
    let mut seen = 0;
    for page in of_companies() {
        let unknown = browser.get(&address(page, 999, &foreign));
        let hidden = browser.get(&address(page, other.tenant, &foreign));
        assert_eq!(
            (hidden.is(404).status, &hidden.text),
            (unknown.status, &unknown.text),
            "{}",
            page.pattern
        );
        browser.post(&address(page, other.tenant, &foreign), &[("token", &token)]);
        seen += 1;
        if page.pattern.contains("{id}") {
            let path = address(page, mill.tenant, &foreign);
            let nobody = browser.get(&address(page, mill.tenant, NOBODY));
            assert_eq!(browser.get(&path).is(404).text, nobody.text, "{path}");
            let fields = [("token", token.as_str()), ("version", "1"), ("grund", "x")];
            let status = browser.post(&path, &fields).status;
            assert!([404, 405].contains(&status), "{path}: {status}");
            // The record is a document: for all other pages it does not exist either.
            if page.pattern.contains("/belege/") {
                assert_ne!(browser.get(&address(page, mill.tenant, &own)).text, nobody.text, "{path}");
            }
        }
    }
    assert!(seen >= 7, "only {seen} pages of companies were found");
    assert_eq!(other.get(&format!("/api/v1/belege/{foreign}")).body["status"], "offen");
    assert!(!browser.get("/leitstand/firmen").text.contains("Andere"));
    for page in PAGES.iter().filter(|page| page.access == Access::Haus) {
        browser.get(&address(page, 1, "1")).is(403);
    }
}

#[test]
fn who_may_only_look_changes_nothing() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let id = beleg(&mill);
    let mut browser = person(&server, &["Paul"]);
    let token = browser.get("/leitstand/abmelden").hidden("token").unwrap();
    let fields =
        [("token", token.as_str()), ("version", "1"), ("grund", "x"), ("name", "Neu"), ("rolle", "ansehen")];
    let mut seen = 0;
    for page in forms().filter(|page| page.access.is_of_firma() || page.access == Access::Haus) {
        let of_record = if page.access.is_of_firma() { id.as_str() } else { "1" };
        browser.post(&address(page, mill.tenant, of_record), &fields).is(403);
        seen += 1;
    }
    assert!(seen >= 6, "only {seen} forms were found");
    assert_eq!(mill.get(&format!("/api/v1/belege/{id}")).body["status"], "offen");
}

#[test]
fn guessing_is_slow_and_says_nothing() {
    let server = Server::start();
    person(&server, &["Erika"]);
    // Setting the password was one of the ten forms of this minute.
    server.set_clock("2026-07-10T10:02:00Z");
    let mut browser = Browser::on(&server);
    let mut messages = Vec::new();
    for name in ["Erika", "Niemand"] {
        for attempt in 0..4 {
            let shown = browser.log_in(name, "ein falsches Passwort");
            let expected = if attempt < 3 { 400 } else { 429 };
            messages.push(shown.is(expected).text.replace(name, "NAME"));
        }
    }
    assert_eq!(messages[..4], messages[4..], "a name that nobody has is answered otherwise");
    // Refused even with the right password.
    browser.log_in("Erika", PASSWORD).is(429);
    browser.log_in("Paul", PASSWORD).is(400);
    let too_many = browser.log_in("Erika", PASSWORD);
    assert!(too_many.is(429).text.contains("von dieser Adresse"), "{}", too_many.text);
    assert!(!too_many.header("retry-after").is_empty());
    // Keys have their own limit, and people logged in have none.
    server.client(0, None).get("/api/v1/kunden").refused(401, "API_KEY_FEHLT");
    server.set_clock("2026-07-10T10:03:30Z");
    browser.log_in("Erika", PASSWORD).is(303);
}

#[test]
fn who_guesses_elsewhere_keeps_nobody_out() {
    let proxies = vec!["127.0.0.0/8".parse().unwrap()];
    let leitstand = Zugang { modus: Modus::Netz, ..Zugang::default() };
    let server = Server::start_with(NOON, Policy { proxies, leitstand, ..Policy::default() });
    person(&server, &["Erika"]);
    server.set_clock("2026-07-10T12:02:00Z");
    let log_in = |from: &str, password: &str| {
        let mut browser = Browser { from: Some(from.to_owned()), ..Browser::on(&server) };
        browser.log_in("Erika", password).status
    };
    let wrong = |from: &str| log_in(from, "ein falsches Passwort");
    assert_eq!([(); 4].map(|()| wrong("192.0.2.1")), [400, 400, 400, 429]);
    assert_eq!(log_in("192.0.2.2", PASSWORD), 303);
}

#[test]
fn a_name_that_is_not_this_machine_shows_nothing() {
    let zugang = Zugang { hosts: vec!["muehle.local".to_owned()], ..Zugang::default() };
    let server = Server::start_with(NOON, Policy { leitstand: zugang, ..Policy::default() });
    let mut browser = Browser::on(&server);
    for host in [
        "evil.example",
        "evil.example:8080",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "192.0.2.1",
        "[2001:db8::1]:8080",
        "0.0.0.0",
    ] {
        browser.send("GET", "/leitstand/anmelden", &[("host", host)], "").is(421);
    }
    for host in
        ["localhost", "LOCALHOST:8080", "127.0.0.1:1", "[::1]:8080", "Muehle.local", "muehle.local:8443"]
    {
        browser.send("GET", "/leitstand/anmelden", &[("host", host)], "").is(200);
    }
}

#[test]
fn the_pages_are_for_this_machine_unless_the_setting_says_otherwise() {
    let status = |modus: Modus, proxy: &str| {
        let proxies = vec![proxy.parse().unwrap()];
        let leitstand = Zugang { modus, ..Zugang::default() };
        let server = Server::start_with(NOON, Policy { proxies, leitstand, ..Policy::default() });
        let from = [("x-forwarded-for", "192.0.2.7"), ("x-forwarded-proto", "https")];
        let mut browser = Browser::on(&server);
        let shown = browser.send("GET", "/leitstand/anmelden", &from, "");
        (shown.status, shown.header("set-cookie").contains("; Secure"))
    };
    let (ours, unnamed) = ("127.0.0.0/8", "192.0.2.1/32");
    assert_eq!(status(Modus::Lokal, ours), (403, false));
    assert_eq!(status(Modus::Lokal, unnamed), (403, false), "a proxy on this machine that nobody named");
    assert_eq!(status(Modus::Netz, ours), (200, true));
    assert_eq!(status(Modus::Aus, ours), (401, false));
}

#[test]
fn every_answer_keeps_to_itself() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let id = beleg(&mill);
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    for page in PAGES {
        let of_record = if page.access.is_of_firma() { id.as_str() } else { "1" };
        let shown = browser.get(&address(page, mill.tenant, of_record));
        let policy = shown.header("content-security-policy");
        assert!(policy.contains("frame-ancestors 'none'"), "{}: {policy}", page.pattern);
        assert!(!policy.contains("unsafe"), "{}: {policy}", page.pattern);
        let headers =
            ["x-content-type-options", "cache-control", "referrer-policy"].map(|name| shown.header(name));
        assert_eq!(headers, ["nosniff", "no-store", "same-origin"], "{}", page.pattern);
        let text = without_ours(&shown.text);
        assert!(!text.contains("style=") && !text.contains("<script"), "{}", page.pattern);
    }
    let mut stranger = Browser::on(&server);
    let set = stranger.get("/leitstand/anmelden");
    let cookie = set.header("set-cookie");
    for part in ["; HttpOnly", "; SameSite=Strict", "; Path=/leitstand"] {
        assert!(cookie.contains(part), "{cookie}");
    }
}

/// A page without our own scripts.
fn without_ours(text: &str) -> String {
    let ours =
        ["live", "rechnen"].map(|name| format!("<script src=\"/leitstand/{name}.js\" defer></script>"));
    ours.iter().fold(text.to_owned(), |text, script| text.replace(script, ""))
}

#[test]
fn markup_in_names_is_text() {
    let server = Server::start();
    const EVIL: &str = "<script>alert('1')</script>\"><img src=x onerror=alert(2)>";
    let mill = server.company(EVIL);
    let kunde = json!({"name": EVIL, "ort": EVIL});
    mill.post("/api/v1/kunden", kunde).is(201);
    let items = json!([{"bezeichnung": EVIL, "menge": 2, "ep_netto": 5, "mwst_satz": 19}]);
    let body = json!({"beleg_typ": "AN", "kundennummer": "K-1001", "external_ref": EVIL, "items": items});
    let id = mill.post("/api/v1/belege", body).id();
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    let name = "<b>Paul</b><script>";
    let made = browser.fill("/leitstand/zugaenge/neu", &[("name", name), ("rolle", "ansehen")]);
    assert!(!made.is(200).text.contains("<b>Paul"));
    let path = format!("/leitstand/f/{}/belege?suche=%3Cscript%3E", mill.tenant);
    assert!(!browser.get(&path).is(200).text.contains("<script"));
    for page in PAGES.iter().filter(|page| !page.is_heavy) {
        let of_record = if page.access.is_of_firma() { id.as_str() } else { "2" };
        let shown = browser.get(&address(page, mill.tenant, of_record));
        let text = without_ours(&shown.text);
        assert!(!text.contains("<script") && !text.contains("<img"), "{}", page.pattern);
    }
    let cancel = format!("/leitstand/f/{}/belege/{id}/storno", mill.tenant);
    browser.fill(&cancel, &[("grund", EVIL)]).is(303);
    let shown = browser.get(&format!("/leitstand/f/{}/belege/{id}", mill.tenant));
    assert!(shown.is(200).text.contains("&lt;script&gt;") && !shown.text.contains("<script"));
}
