//! Links, passwords and sessions.

use partnerd::platform::db::file::connection::open_writer;

use super::{Browser, PASSWORD, link, person};
use crate::harness::Server;

#[test]
fn a_link_holds_once_and_is_spent_by_the_password_not_by_opening_it() {
    let server = Server::start();
    let path = link(&server, &["create", "Erika", "--role", "verwalten"]);
    let mut browser = Browser::on(&server);
    for _ in 0..3 {
        browser.get(&path).is(200);
    }
    for (password, again, why) in [
        ("kurz", "kurz", "10 bis 200 Zeichen"),
        ("passwort123", "passwort123", "wird oft benutzt"),
        (PASSWORD, "anders als eben", "sind verschieden"),
    ] {
        let shown = browser.fill(&path, &[("passwort", password), ("wiederholung", again)]);
        assert!(shown.is(400).text.contains(why), "{}", shown.text);
        assert!(!shown.text.contains(password), "a password is shown again");
    }
    browser.fill(&path, &[("passwort", PASSWORD), ("wiederholung", PASSWORD)]).is(303);
    Browser::on(&server).get(&path).is(404);
    let mut other = Browser::on(&server);
    other.log_in("erika", PASSWORD).is(303);
    other.get("/leitstand/konto").is(200);
}

/// The command line uses the clock of this machine, so the link is stored here with the server's clock.
#[test]
fn a_link_holds_for_an_hour() {
    let server = Server::start();
    let path = link(&server, &["create", "Erika"]);
    let bis = "2026-07-10T11:00:00Z";
    let millis = partnerd::rules::day::Instant::parse(bis).unwrap().millis();
    let connection = open_writer(&server.database).unwrap();
    connection.execute("update person_link set bis = ?1", [millis]).unwrap();
    server.set_clock("2026-07-10T10:59:59Z");
    Browser::on(&server).get(&path).is(200);
    server.set_clock(bis);
    Browser::on(&server).get(&path).is(404);
}

#[test]
fn a_session_ends_with_log_out_deactivation_change_of_password_and_twelve_hours() {
    let server = Server::start();
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    let stolen = browser.cookie.clone();
    let with = |cookie: &Option<String>| Browser { cookie: cookie.clone(), ..Browser::on(&server) };
    with(&stolen).get("/leitstand/konto").is(200);

    browser.fill("/leitstand/abmelden", &[]).is(303);
    assert_eq!(with(&stolen).get("/leitstand/konto").is(303).header("location"), "/leitstand/anmelden");

    browser.log_in("Erika", PASSWORD).is(303);
    let old = browser.cookie.clone();
    let fields = [
        ("bisher", PASSWORD),
        ("passwort", "Hafer am Ende des Hofs"),
        ("wiederholung", "Hafer am Ende des Hofs"),
    ];
    let wrong = [("bisher", "nicht dieses hier"), fields[1], fields[2]];
    assert!(
        browser.fill("/leitstand/konto", &wrong).is(400).text.contains("bisherige Passwort stimmt nicht")
    );
    browser.fill("/leitstand/konto", &fields).is(303);
    with(&old).get("/leitstand/konto").is(303);
    browser.get("/leitstand/konto").is(200);

    assert!(server.cli(&["user", "deactivate", "Erika"]).status.success());
    browser.get("/leitstand/konto").is(303);
    Browser::on(&server).log_in("Erika", "Hafer am Ende des Hofs").is(400);
    assert!(server.cli(&["user", "activate", "Erika"]).status.success());
    browser.get("/leitstand/konto").is(303);

    browser.log_in("Erika", "Hafer am Ende des Hofs").is(303);
    server.set_clock("2026-07-10T21:59:59Z");
    browser.get("/leitstand/konto").is(200);
    server.set_clock("2026-07-10T22:00:00Z");
    browser.get("/leitstand/konto").is(303);
}

#[test]
fn the_audit_log_names_the_person() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    let firma = mill.tenant;
    browser.get(&format!("/leitstand/f/{firma}/belege")).is(200);
    browser.fill("/leitstand/zugaenge/neu", &[("name", "Paul"), ("rolle", "ansehen")]).is(200);
    browser.fill("/leitstand/abmelden", &[]).is(303);
    drop(mill);
    let mut server = server;
    server.restart();
    let count = |path: &str, status: u16| -> i64 {
        server.sql(&format!(
            "select count(*) from audit where person = '1' and pfad = '{path}' and status = {status}"
        ))
    };
    assert_eq!(count(&format!("/leitstand/f/{firma}/belege"), 200), 1);
    for written in ["/leitstand/passwort", "/leitstand/zugaenge/neu", "/leitstand/abmelden"] {
        assert_eq!(count(written, 303), 1, "{written}");
    }
    let secrets: i64 = server.sql("select count(*) from audit where pfad like '%link=%'");
    assert_eq!(secrets, 0);
}

#[test]
fn the_audit_log_names_who_was_refused() {
    let mut server = Server::start();
    let mill = server.company("Mühle");
    let other = server.company("Andere");
    let mut browser = person(&server, &["Paul", "--tenant", "Mühle"]);
    let (own, foreign) = (format!("/leitstand/f/{}", mill.tenant), format!("/leitstand/f/{}", other.tenant));
    let settings = format!("{own}/einstellungen");
    browser.post(&settings, &[]).is(403);
    browser.send("POST", &format!("{own}/firma"), &[("origin", "https://evil.example")], "").is(403);
    browser.post(&format!("{own}/belege"), &[]).is(405);
    browser.send("PUT", &format!("{own}/kontrakte"), &[], "").is(405);
    browser.get(&format!("{own}/gibt-es-nicht")).is(404);
    browser.get(&format!("{own}/kasse?suche=%FF")).is(400);
    browser.get(&format!("{foreign}/belege")).is(404);
    browser.get("/leitstand/sicherung").is(403);
    // A person not logged in counts as a stranger, and so does one who uses a host name that is not this machine's.
    Browser::on(&server).post(&settings, &[]).is(401);
    browser.send("GET", "/leitstand/konto", &[("host", "evil.example")], "").is(421);
    server.restart();
    let rows = |path: &str, status: u16| -> String {
        server.sql(&format!(
            "select coalesce(group_concat(coalesce(person, '-') || coalesce(' ' || tenant_id, '')), '')
             from audit where pfad = '{path}' and status = {status}"
        ))
    };
    for (path, status, expected) in [
        (settings.clone(), 403, "1 1"),
        (format!("{own}/firma"), 403, "1 1"),
        (format!("{own}/belege"), 405, "1 1"),
        (format!("{own}/kontrakte"), 405, "1 1"),
        (format!("{own}/gibt-es-nicht"), 404, "1 1"),
        (format!("{own}/kasse"), 400, "1 1"),
        (format!("{foreign}/belege"), 404, "1"),
        ("/leitstand/sicherung".to_owned(), 403, "1"),
        (settings, 401, "-"),
        ("/leitstand/konto".to_owned(), 421, "-"),
    ] {
        assert_eq!(rows(&path, status), expected, "{path}");
    }
}

#[test]
fn a_form_that_finds_no_place_is_in_the_audit_log() {
    const FORMS: usize = 60;
    let mut server = Server::start();
    let mill = server.company("Mühle");
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    let new_key = format!("/leitstand/f/{}/schluessel/neu", mill.tenant);
    let token = browser.get(&new_key).hidden("token").unwrap();
    let form = format!("token={token}&bezeichnung=Waage&zweck=waage");
    let headers = [("content-type", "application/x-www-form-urlencoded")];
    // Passwords are hashed one after the other in one thread; at most 32 forms may wait for it.
    let (tell, told) = std::sync::mpsc::channel();
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        for _ in 0..FORMS {
            let (tell, form, new_key) = (tell.clone(), form.clone(), new_key.clone());
            let mut window = Browser { cookie: browser.cookie.clone(), ..Browser::on(&server) };
            scope.spawn(move || {
                let shown = window.send_unchecked("POST", &new_key, &headers, form.into_bytes());
                tell.send(shown.status).unwrap();
            });
        }
        drop(tell);
        told.into_iter().collect()
    });
    server.restart();
    let rows = |of: &str| -> i64 {
        let path = format!("pfad = '{new_key}' and methode = 'POST'");
        server.sql(&format!(
            "select count(*) from audit where person = '1' and tenant_id = 1 and {path} and {of}"
        ))
    };
    let refused = statuses.iter().filter(|status| **status == 503).count();
    assert!(refused > 0, "there was room for all");
    assert_eq!((rows("status = 503"), rows("status < 500")), (refused as i64, (FORMS - refused) as i64));
}

#[test]
fn the_page_of_a_person_names_their_companies_and_their_last_log_in() {
    let server = Server::start_at("2026-07-10T10:00:00Z");
    for name in ["Mühle", "Ölwerk", "Trocknung"] {
        server.company(name);
    }
    let mut erika = person(&server, &["Erika", "--role", "verwalten"]);
    let mut paul = person(&server, &["Paul", "--tenant", "Mühle", "--tenant", "Trocknung"]);
    link(&server, &["create", "Neu"]);
    let facts = |browser: &mut Browser, id: i64| {
        let shown = browser.get(&format!("/leitstand/zugaenge/{id}"));
        let value = |name: &str| {
            let after = shown.is(200).text.split(&format!("<dt>{name}</dt><dd>")).nth(1).unwrap();
            after.split('<').next().unwrap().to_owned()
        };
        [value("Firmen"), value("Zuletzt angemeldet"), value("Stand")]
    };
    assert_eq!(facts(&mut erika, 1), ["alle", "10.07.2026, 12:00", "aktiv"]);
    assert_eq!(facts(&mut erika, 2), ["Mühle, Trocknung", "10.07.2026, 12:00", "aktiv"]);
    assert_eq!(facts(&mut erika, 3), ["alle", "noch nie", "noch ohne Passwort"]);
    // Also if no session is left.
    server.set_clock("2026-07-10T11:30:00Z");
    paul.log_in("Paul", PASSWORD).is(303);
    paul.fill("/leitstand/abmelden", &[]).is(303);
    assert_eq!(facts(&mut erika, 2)[1], "10.07.2026, 13:30");
}

#[test]
fn doctor_says_whether_anybody_can_log_in() {
    let server = Server::start();
    let people = || {
        let output = server.cli(&["--json", "doctor"]);
        let findings: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let look = findings.as_array().unwrap().iter().find(|finding| finding["look"] == "people").unwrap();
        ["state", "finding"].map(|name| look[name].as_str().unwrap().to_owned())
    };
    let create = "partnerd user create NAME --role verwalten";
    let says = |state: &str, words: &[&str]| {
        let [found, finding] = people();
        assert_eq!(found, state, "{finding}");
        assert!(words.iter().all(|word| finding.contains(word)), "{words:?}: {finding}");
    };
    says("warning", &["niemand kann sich anmelden", create]);
    let path = link(&server, &["create", "Erika \"Ö\"", "--role", "verwalten"]);
    says("warning", &["noch niemand hat ein Passwort gesetzt", "partnerd user link \"Erika \\\"Ö\\\"\""]);
    person(&server, &["Paul"]);
    says("warning", &["1 können sich anmelden", "niemand davon", create]);
    Browser::on(&server).fill(&path, &[("passwort", PASSWORD), ("wiederholung", PASSWORD)]).is(303);
    says("ok", &["2 können sich anmelden", "1 davon"]);
    for name in ["Erika \"Ö\"", "Paul"] {
        assert!(server.cli(&["user", "deactivate", name]).status.success());
    }
    says("warning", &["niemand kann sich anmelden", create]);
}
