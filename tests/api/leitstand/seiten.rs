//! What the pages show and do.

use partnerd::leitstand::PAGES;
use partnerd::leitstand::access::Access;
use partnerd::leitstand::kit::page::Take;
use serde_json::json;

use super::{Browser, PASSWORD, Shown, address, link, of_companies, person};
use crate::harness::{COMPLETE, NOON, Server};
use crate::interface::aenderungen::warten::until_waiting;

#[test]
fn a_document_is_found_finalised_and_cancelled() {
    let server = Server::start();
    let mill = server.company_with("Mühle", COMPLETE);
    mill.post("/api/v1/kunden", json!({"name": "Huber"})).is(201);
    let items = json!([{"bezeichnung": "Fracht", "menge": 1234.5, "ep_netto": 5, "mwst_satz": 19}]);
    let body = json!({"beleg_typ": "RE", "kundennummer": "K-1001", "items": items});
    let created = mill.post("/api/v1/belege", body);
    let (id, number) = (created.id(), created.body["beleg_nummer"].as_str().unwrap().to_owned());
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    let firma = format!("/leitstand/f/{}", mill.tenant);
    assert_eq!(browser.get("/leitstand").is(303).header("location"), firma);
    let to = browser.get(&format!("{firma}/suche?suche={number}")).is(303).header("location").to_owned();
    let found = browser.get(&to);
    let one = format!("{firma}/belege/{id}");
    assert!(found.is(200).text.contains(&one) && found.text.contains("7.345,28"), "{}", found.text);
    let shown = browser.get(&one);
    assert!(shown.is(200).text.contains(">1.234,5</td>"), "{}", shown.text);
    let draft = browser.get(&format!("{one}/pdf"));
    assert_eq!(draft.is(200).header("content-type"), "application/pdf");

    let finalise = format!("{one}/abschliessen");
    let page = browser.get(&finalise);
    let (token, version) = (page.hidden("token").unwrap(), page.hidden("version").unwrap());
    mill.put(&format!("/api/v1/belege/{id}"), json!({"external_ref": "X-1"})).is(200);
    // The document was changed while the form was open.
    browser.post(&finalise, &[("token", &token), ("version", &version)]).is(412);
    browser.fill(&finalise, &[]).is(303);
    assert!(browser.get(&one).is(200).text.contains("Der Beleg ist abgeschlossen."));
    assert!(!browser.get(&one).text.contains("Der Beleg ist abgeschlossen."), "said twice");
    let stored = mill.get(&format!("/api/v1/belege/{id}/verlauf"));
    assert!(stored.body.to_string().contains("person 1"), "{}", stored.body);

    // Or it was finalised in another window.
    let late = browser.post(&finalise, &[("token", &token), ("version", &version)]);
    let said = format!("{number} ist inzwischen abgeschlossen");
    assert!(late.is(412).text.contains(&said) && late.text.contains("Seite neu laden"), "{}", late.text);

    let cancel = format!("{one}/storno");
    let refused = browser.fill(&cancel, &[("grund", "")]);
    assert!(refused.is(400).text.contains("id=\"fehler-grund\""), "{}", refused.text);
    browser.fill(&cancel, &[("grund", "falscher Partner")]).is(303);
    assert_eq!(mill.get(&format!("/api/v1/belege/{id}")).body["status"], "storniert");
}

#[test]
fn a_page_offers_no_paper_that_a_document_does_not_have() {
    let server = Server::start();
    let complete = server.company_with("Mühle", COMPLETE);
    let bare = server.company("Ohne Angaben");
    let mut browser = person(&server, &["Erika"]);
    let buttons = ["Vorschau (PDF)", "Blatt (PDF)", "E-Rechnung (XML)"];
    for (mill, typ, is_final, offered, why) in [
        (&complete, "RE", false, vec![buttons[0]], None),
        (&complete, "RE", true, vec![buttons[1]], Some("Keine E-Rechnung: ")),
        (&complete, "ER", true, vec![], Some("Kein Blatt: Eine Eingangsrechnung schreibt der Lieferant.")),
        (&complete, "LS", true, vec![buttons[1]], None),
        (&bare, "LS", true, vec![], Some("Kein Blatt: Als der Beleg abgeschlossen wurde, fehlten")),
    ] {
        let typen = json!(["kunde", "lieferant"]);
        mill.post(
            "/api/v1/kunden",
            json!({"name": format!("Huber {typ} {is_final}"), "partner_typen": typen}),
        );
        let items = json!([{"bezeichnung": "Fracht", "menge": 1, "ep_netto": 5, "mwst_satz": 19}]);
        let body =
            json!({"beleg_typ": typ, "kundennummer": "K-1001", "items": items, "abschliessen": is_final});
        let id = mill.post("/api/v1/belege", body).id();
        let page = browser.get(&format!("/leitstand/f/{}/belege/{id}", mill.tenant));
        let shown: Vec<_> = buttons.into_iter().filter(|text| page.is(200).text.contains(text)).collect();
        assert_eq!(shown, offered, "{typ} {is_final}");
        assert_eq!(why.is_none(), !page.text.contains("<p>Kein"), "{typ} {is_final}: {}", page.text);
        assert!(why.is_none_or(|why| page.text.contains(why)), "{typ} {is_final}: {}", page.text);
    }
}

#[test]
fn a_long_history_of_a_document_begins_with_the_newest() {
    let server = Server::start();
    let mill = server.company("Mühle");
    mill.post("/api/v1/kunden", json!({"name": "Huber"})).is(201);
    let items = json!([{"bezeichnung": "Fracht", "menge": 1, "ep_netto": 5, "mwst_satz": 19}]);
    let body = json!({"beleg_typ": "RE", "kundennummer": "K-1001", "items": items});
    let id = mill.post("/api/v1/belege", body).id();
    let path = format!("/api/v1/belege/{id}");
    for turn in 0..51 {
        mill.put(&path, json!({"notizen": turn.to_string()})).is(200);
    }
    mill.post(&format!("{path}/abschliessen"), json!({})).is(200);
    let mut browser = person(&server, &["Erika"]);
    let page = browser.get(&format!("/leitstand/f/{}/belege/{id}", mill.tenant));
    assert_eq!(page.is(200).text.matches(">geändert</td>").count(), 49, "{}", page.text);
    assert_eq!(page.text.matches(">abgeschlossen</td>").count(), 1, "{}", page.text);
    let older = browser.get(&format!("/leitstand/f/{}/belege/{id}?seite=2", mill.tenant));
    assert_eq!(older.is(200).text.matches(">geändert</td>").count(), 2, "{}", older.text);
}

#[test]
fn whoever_sees_several_companies_searches_from_pages_of_none() {
    let server = Server::start();
    let (first, second) = (server.company("Mühle"), server.company("Handel <b>"));
    server.company("Fremde");
    let partner = second.post("/api/v1/kunden", json!({"name": "Huber & Sohn"})).id();
    let mut erika = person(&server, &["Erika", "--role", "verwalten"]);
    let of_no_company = PAGES
        .iter()
        .filter(|page| page.menu.is_some() && matches!(page.access, Access::Haus | Access::Person));
    for path in of_no_company.map(|page| page.pattern).chain(["/leitstand/firmen"]) {
        let shown = erika.get(path);
        assert!(shown.is(200).text.contains("role=\"search\" action=\"/leitstand/suche\""), "{path}");
        for (id, name) in [(first.tenant, "Mühle"), (second.tenant, "Handel &lt;b&gt;"), (3, "Fremde")] {
            assert!(shown.text.contains(&format!("<option value=\"{id}\">{name}</option>")), "{path}");
        }
    }
    let mut paul = person(&server, &["Paul", "--tenant", "Mühle", "--tenant", "Handel <b>"]);
    let shown = paul.get("/leitstand/konto");
    assert!(shown.is(200).text.contains("<option value=\"2\">") && !shown.text.contains("Fremde"));
    let chosen = format!("/leitstand/suche?firma={}&suche=Huber+%26+Sohn", second.tenant);
    let search = paul.get(&chosen).is(303).header("location").to_owned();
    let found = paul.get(&search).is(303).header("location").to_owned();
    assert_eq!(found, format!("/leitstand/f/{}/partner/{partner}", second.tenant));
    for firma in ["3", "99", "x", ""] {
        paul.get(&format!("/leitstand/suche?firma={firma}&suche=x")).is(404);
    }
    // On pages of a company the search covers that company, and so it does everywhere for a person with only one.
    let own = format!("role=\"search\" action=\"/leitstand/f/{}/suche\"", first.tenant);
    assert!(erika.get(&format!("/leitstand/f/{}", first.tenant)).is(200).text.contains(&own));
    let mut anna = person(&server, &["Anna", "--tenant", "Mühle"]);
    let shown = anna.get("/leitstand/konto");
    assert!(shown.is(200).text.contains(&own) && !shown.text.contains("<option"), "{}", shown.text);
}

#[test]
fn every_page_of_an_empty_company_says_how_it_gets_filled() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let mut browser = person(&server, &["Paul"]);
    let lists = of_companies().filter(|page| page.menu.is_some() && matches!(page.take, Take::Nothing));
    for page in lists {
        let shown = browser.get(&address(page, mill.tenant, ""));
        assert!(shown.is(200).text.contains("class=\"empty\""), "{}", page.pattern);
        assert!(shown.text.contains("<html lang=\"de\">") && shown.text.contains("href=\"#inhalt\""));
    }
}

#[test]
fn the_first_page_counts_what_was_weighed_today() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let partner = mill.post("/api/v1/kunden", json!({"name": "Huber"})).id();
    let weigh = |first: i64| {
        let body =
            json!({"waage_id": 1, "gewicht_erst_kg": first, "partner_id": partner, "kennzeichen": "DON-X 1"});
        mill.post("/api/v1/wiegungen", body).id()
    };
    let second = |id: &str, weight: i64| {
        let path = format!("/api/v1/wiegungen/{id}/zweitwiegung");
        mill.put(&path, json!({"gewicht_zweit_kg": weight})).is(200);
    };
    second(&weigh(40_000), 15_000);
    second(&weigh(12_000), 24_340);
    weigh(38_000);
    mill.get("/api/v1/kunden?gibt_es_nicht=1").is(400);
    // Rows of refusals reach the log a little later; a restart moves them there at once.
    let mut server = server;
    server.restart();
    let mut browser = person(&server, &["Paul"]);
    let shown = browser.get(&format!("/leitstand/f/{}", mill.tenant));
    for text in ["25,0", "12,3", "DON-X 1", "38.000", "<svg", "/abgelehnt\">Anfragen"] {
        assert!(shown.is(200).text.contains(text), "{text}: {}", shown.text);
    }
}

#[test]
fn the_first_person_begins_with_a_link() {
    let server = Server::start();
    let connection = partnerd::platform::db::file::connection::open_writer(&server.database).unwrap();
    let now = partnerd::rules::day::Instant::parse(NOON).unwrap();
    let begin_at = |now| partnerd::leitstand::access::people::first_link(&connection, now).unwrap();
    let begin = || begin_at(now);
    let hour = partnerd::rules::day::Instant::from_millis(now.millis() + 60 * 60 * 1_000);
    let (name, old) = begin().unwrap();
    let (again, none) = begin().unwrap();
    assert_eq!((name.name.as_str(), again.name.as_str()), ("Leitung", "Leitung"));
    assert_eq!(none, None, "the first one still holds");
    let (_, secret) = begin_at(hour).unwrap();
    let mut browser = Browser::on(&server);
    browser.get(&format!("/leitstand/passwort?link={}", old.unwrap())).is(404);
    let path = format!("/leitstand/passwort?link={}", secret.unwrap());
    browser.fill(&path, &[("passwort", PASSWORD), ("wiederholung", PASSWORD)]).is(303);
    assert!(begin().is_none(), "somebody has a password already");
    assert!(browser.get("/leitstand/firmen").is(200).text.contains("class=\"empty\""));
    server.company("Mühle");
    assert_eq!(browser.get("/leitstand").is(303).header("location"), "/leitstand/f/1");
    browser.get("/leitstand/f/1").is(200);
}

#[test]
fn a_page_learns_of_a_change_while_it_waits() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let mut browser = person(&server, &["Paul"]);
    let home = format!("/leitstand/f/{}", mill.tenant);
    let known =
        |shown: &str| shown.split("data-seit=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let seit = known(&browser.get(&home).is(200).text);
    let path = format!("{home}/neues?seit={seit}");
    let said = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| browser.get(&path).is(200).text.clone());
        until_waiting(&server, 1);
        mill.post("/api/v1/kunden", json!({"name": "Huber"})).is(201);
        waiting.join().unwrap()
    });
    assert_ne!(said, seit);
    assert_eq!(known(&browser.get(&home).text), said);
    // A request whose version is outdated is answered at once; a person not logged in learns nothing.
    assert_eq!(browser.get(&path).is(200).text, said);
    let login = Browser::on(&server).get(&path).is(303).header("location").to_owned();
    assert_eq!(login, "/leitstand/anmelden");
    let script = browser.get("/leitstand/live.js");
    assert!(script.is(200).header("content-type").starts_with("text/javascript"));
}

#[test]
fn what_a_form_says_is_said_on_the_page_that_it_leads_to() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let path = link(&server, &["create", "Erika", "--role", "verwalten"]);
    let mut browser = Browser::on(&server);
    browser.fill(&path, &[("passwort", PASSWORD), ("wiederholung", PASSWORD)]).is(303);
    // Also if that page redirects to another.
    let home = browser.get("/leitstand").is(303).header("location").to_owned();
    assert!(browser.get(&home).is(200).text.contains("Das Passwort ist gesetzt."));

    let mut create = |name: &str| {
        let fields = [("nachname_firma", name), ("ort", "Ulm")];
        browser.fill(&format!("{home}/partner/neu"), &fields).is(303).header("location").to_owned()
    };
    create("Huber");
    // Two windows.
    let (again, other) = (create("Huber"), create("Meier"));
    let (hint, done) = ("mit diesem Namen", "class=\"note\"");
    let says = |shown: &Shown| [hint, done].map(|text| shown.is(200).text.contains(text));
    assert_eq!(says(&browser.get(&home)), [false, false]);
    // Fetches by the script of a live page do not count as seen, except for a part.
    assert_eq!(says(&browser.send("GET", &again, &[("x-leitstand-live", "1")], "")), [false, false]);
    assert_eq!(browser.get("/leitstand/live.js").text.matches("\"x-leitstand-live\"").count(), 1);
    assert_eq!(says(&browser.get(&other)), [false, true]);
    assert_eq!(says(&browser.get(&again)), [true, true]);
    assert_eq!(says(&browser.get(&again)), [false, false]);
    // The message is for this browser alone.
    let mine = format!("{again}/aendern");
    browser.fill(&mine, &[("nachname_firma", "Huber"), ("ort", "Ulm"), ("plz", "89073")]).is(303);
    let mut paul = person(&server, &["Paul"]);
    assert_eq!(says(&paul.get(&again)), [false, false]);
    assert!(says(&browser.get(&again))[1]);
    assert_eq!(home, format!("/leitstand/f/{}", mill.tenant));
}

#[test]
fn a_page_that_waited_for_nothing_leaves_no_row_in_the_log() {
    let mut server = Server::start();
    let mill = server.company("Mühle");
    mill.post("/api/v1/kunden", json!({"name": "Huber"})).is(201);
    let mut browser = person(&server, &["Paul"]);
    let path = format!("/leitstand/f/{}/neues", mill.tenant);
    let newest = browser.get(&format!("{path}?seit=0")).is(200).text.clone();
    browser.get("/leitstand/live.js").is(200);
    let told = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| browser.get(&format!("{path}?seit={newest}")).is(200).text.clone());
        until_waiting(&server, 1);
        // A stop answers waiting requests.
        server.restart();
        waiting.join().unwrap()
    });
    assert_eq!(told, newest);
    let rows =
        |path: &str| -> i64 { server.sql(&format!("select count(*) from audit where pfad = '{path}'")) };
    assert_eq!([path.as_str(), "/leitstand/live.js"].map(rows), [1, 0]);
}

#[test]
fn whoever_is_locked_while_a_page_waits_is_shown_out() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let mut browser = person(&server, &["Paul"]);
    let path = format!("/leitstand/f/{}/neues?seit=0", mill.tenant);
    let status = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| browser.get(&path).status);
        until_waiting(&server, 1);
        assert!(server.cli(&["user", "deactivate", "Paul"]).status.success());
        mill.post("/api/v1/kunden", json!({"name": "Huber"})).is(201);
        waiting.join().unwrap()
    });
    assert_eq!(status, 303);
}

/// Of many pages one is reached by its number, with the search and the order that were chosen.
#[test]
fn a_page_of_many_is_reached_by_its_number() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let rows: Vec<_> =
        (0..151).map(|at| json!({"artikelnummer": format!("A{at:03}"), "bezeichnung": "Korn"})).collect();
    server.import(&mill, "artikel", &json!(rows).to_string());
    let mut browser = person(&server, &["Erika", "--role", "ansehen"]);
    let list = format!("/leitstand/f/{}/artikel", mill.tenant);
    let shown = browser.get(&format!("{list}?suche=korn&sortierung=-artikelnummer&seite=2"));
    let jump = shown.is(200).text.rsplit("<form ").next().unwrap().split("</form>").next().unwrap();
    for part in [
        &format!("action=\"{list}\""),
        "name=\"suche\" value=\"korn\"",
        "name=\"sortierung\" value=\"-artikelnummer\"",
        "max=\"4\" value=\"2\"",
    ] {
        assert!(jump.contains(part), "{part}: {jump}");
    }
    let last = browser.get(&format!("{list}?suche=korn&sortierung=-artikelnummer&seite=4"));
    assert!(last.is(200).text.contains("A000") && !last.text.contains("A001"), "{}", last.text);
    // Of three pages each is near.
    let few = browser.get(&format!("{list}?suche=A1")).is(200).text.clone();
    assert!(!few.contains("name=\"seite\""), "{few}");
}
