//! Setting up a working company from nothing, without a command.

use super::{Browser, PASSWORD, person};
use crate::harness::{COMPLETE, NOON, Server};

/// Logs in the first person, who used the link of a new database.
fn first(server: &Server) -> Browser {
    let connection = partnerd::platform::db::file::connection::open_writer(&server.database).unwrap();
    let now = partnerd::rules::day::Instant::parse(NOON).unwrap();
    let (_, secret) = partnerd::leitstand::access::people::first_link(&connection, now).unwrap().unwrap();
    let secret = secret.unwrap();
    let mut browser = Browser::on(server);
    let path = format!("/leitstand/passwort?link={secret}");
    browser.fill(&path, &[("passwort", PASSWORD), ("wiederholung", PASSWORD)]).is(303);
    browser
}

#[test]
fn a_company_is_made_and_gets_its_data_and_settings() {
    let server = Server::start();
    let mut browser = first(&server);
    assert_eq!(browser.get("/leitstand").is(303).header("location"), "/leitstand/firmen/neu");
    let refused = browser.fill("/leitstand/firmen/neu", &[("name", " ")]);
    assert!(refused.is(400).text.contains("id=\"fehler-name\""), "{}", refused.text);
    let made = browser.fill("/leitstand/firmen/neu", &[("name", "Mühle <b>Süd</b>")]);
    assert_eq!(made.is(303).header("location"), "/leitstand/f/1/firma");
    browser.fill("/leitstand/firmen/neu", &[("name", "Mühle <b>Süd</b>")]).is(400);
    let data = "/leitstand/f/1/firma";
    assert!(browser.get(data).text.contains("USt-IdNr. oder Steuernummer"));
    let entered: Vec<_> = COMPLETE.to_vec();
    let wrong: Vec<_> = [("iban", "DE00 1")].into_iter().chain(entered.iter().copied()).collect();
    let refused = browser.fill(data, &wrong);
    assert!(refused.is(400).text.contains("id=\"fehler-iban\""), "{}", refused.text);
    let right: Vec<_> = entered.iter().copied().chain([("rechnungstext", "Zeile 1\r\nZeile 2")]).collect();
    browser.fill(data, &right).is(303);
    let shown = browser.get(data);
    assert!(!shown.is(200).text.contains("ust_id oder steuernummer"), "{}", shown.text);
    assert!(shown.text.contains("Zeile 1\nZeile 2"), "{}", shown.text);

    let settings = "/leitstand/f/1/einstellungen";
    browser.fill(settings, &[("negativbestand", "vielleicht")]).is(400);
    browser.fill(settings, &[("negativbestand", "ablehnen"), ("abschluss_bei_anlage", "LS, RE")]).is(303);
    let shown = server.cli(&["tenant", "show", "1"]);
    let text = String::from_utf8(shown.stdout).unwrap();
    assert!(text.contains("ablehnen") && text.contains("LS,RE"), "{text}");
    let log = String::from_utf8(server.cli(&["audit", "changes"]).stdout).unwrap();
    for change in
        ["Firma Mühle <b>Süd</b> angelegt", "negativbestand: hinweis -> ablehnen", "plz: nichts -> "]
    {
        assert!(log.contains(change), "{change}: {log}");
    }
}

/// The options offered for a setting, with the selected one marked: `ja|nein*`.
fn offered(page: &str, name: &str) -> String {
    let select = page.split(&format!(r#"<select id="feld-{name}""#)).nth(1).expect(name);
    let options = select.split("</select>").next().unwrap().split("<option").skip(1);
    let option = |option: &str| {
        let (head, rest) = option.split_once('>').unwrap();
        let mark = if head.contains("selected") { "*" } else { "" };
        format!("{}{mark}", rest.split("</option>").next().unwrap())
    };
    options.map(option).collect::<Vec<_>>().join("|")
}

#[test]
fn settings_are_shown_and_offered_in_german_words() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    let settings = format!("/leitstand/f/{}/einstellungen", mill.tenant);
    browser.fill(&settings, &[("charge_automatik", "fefo"), ("gesperrt_bis", "2026-06-30")]).is(303);
    let page = browser.get(&settings).is(200).text.clone();
    for (name, shown) in [
        ("kleinunternehmer", "ja|nein*"),
        ("charge_automatik", "keine|die zuerst abläuft (FEFO)*"),
        ("negativbestand", "annehmen, mit Hinweis*|ablehnen"),
        ("lagerbuchung", "Lieferungen, und Rechnungen ohne Lieferung*|nur Lieferungen"),
    ] {
        assert_eq!(offered(&page, name), shown, "{name}");
    }
    for said in [
        "Üblich: keine. In Befehlen: <code>charge_automatik=fefo</code>",
        "value=\"30.06.2026\"",
        "value=\"Rechnung, Gutschrift an den Lieferanten\"",
        "Möglich: einige von AN (Angebot), ",
    ] {
        assert!(page.contains(said), "{said}: {page}");
    }
    // No option offered to people is a code for programs.
    for setting in partnerd::master::tenants::SETTINGS {
        for (value, words) in setting.choices().unwrap_or_default() {
            assert!(words != value || value == "ablehnen", "{}: {value}", setting.name);
        }
    }
    let refused = browser.fill(&settings, &[("negativbestand", "vielleicht")]);
    assert!(refused.is(400).text.contains("„annehmen, mit Hinweis“ oder „ablehnen“"), "{}", refused.text);
}

#[test]
fn settings_take_days_and_types_as_people_write_them() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    let settings = format!("/leitstand/f/{}/einstellungen", mill.tenant);
    let stored = |name: &str| -> String { server.sql(&format!("select {name} from tenant where id = 1")) };
    for (typed, day) in
        [("31.10.2025", "2025-10-31"), ("1.9.2025", "2025-09-01"), ("2026-07-10", "2026-07-10")]
    {
        browser.fill(&settings, &[("gesperrt_bis", typed)]).is(303);
        assert_eq!(stored("gesperrt_bis"), day);
    }
    for (typed, types) in [
        ("Lieferschein", "LS"),
        ("lieferschein, Angebot", "LS AN"),
        ("LS,re", "LS RE"),
        ("ls Rechnung", "LS RE"),
        ("", ""),
    ] {
        browser.fill(&settings, &[("abschluss_bei_anlage", typed)]).is(303);
        assert_eq!(stored("abschluss_bei_anlage"), types, "{typed}");
    }
    browser.fill(&settings, &[("abschluss_tagesende", "Gutschrift an den Lieferanten, RE")]).is(303);
    assert_eq!(stored("abschluss_tagesende"), "GS RE");
    // The value as shown is accepted unchanged.
    let page = browser.get(&settings);
    let shown = "value=\"Gutschrift an den Lieferanten, Rechnung\"";
    assert!(page.text.contains(shown) && page.text.contains("value=\"10.07.2026\""), "{}", page.text);
    // A lock that ends tomorrow would refuse each document of today.
    for (name, wrong) in [
        ("gesperrt_bis", "31.9.2026"),
        ("gesperrt_bis", "11.07.2026"),
        ("abschluss_bei_anlage", "Lieferschein, Brief"),
    ] {
        let refused = browser.fill(&settings, &[(name, wrong)]);
        assert!(refused.is(400).text.contains(&format!("id=\"fehler-{name}\"")), "{}", refused.text);
    }
}

#[test]
fn all_mistakes_of_a_form_are_said_at_once_and_a_wrong_check_digit_is_called_that() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    let data = format!("/leitstand/f/{}/firma", mill.tenant);
    let fields =
        [("ort", "Ulm"), ("iban", "DE89 3704 0044 0532 0130 01"), ("email", "keine"), ("ust_id", "DE1")];
    let refused = browser.upload(&data, &fields, ("logo", "logo.png", b"kein Bild"));
    for name in ["iban", "email", "ust_id", "logo"] {
        let mark = format!("id=\"fehler-{name}\"");
        assert_eq!(refused.is(400).text.matches(&mark).count(), 1, "{name}: {}", refused.text);
    }
    assert!(refused.text.contains("Die Prüfziffer dieser IBAN stimmt nicht"), "{}", refused.text);
    assert!(refused.text.contains("value=\"Ulm\"") && !refused.text.contains("id=\"fehler-ort\""));
    // A value without the form of an IBAN is not called one.
    let refused = browser.upload(&data, &[("iban", "DE89")], ("", "", b""));
    assert!(refused.is(400).text.contains("id=\"fehler-iban\"") && !refused.text.contains("Prüfziffer"));

    let key = format!("/leitstand/f/{}/schluessel/neu", mill.tenant);
    let refused = browser.fill(&key, &[("gueltig_bis", "gestern"), ("tageslimit", "viele")]);
    for name in ["bezeichnung", "scope", "gueltig_bis", "tageslimit"] {
        assert!(refused.is(400).text.contains(&format!("id=\"fehler-{name}\"")), "{name}: {}", refused.text);
    }
    // For a partner it is only a hint.
    let partner = format!("/leitstand/f/{}/partner/neu", mill.tenant);
    let fields = [("nachname_firma", "Huber"), ("iban", "DE89370400440532013001")];
    let to = browser.fill(&partner, &fields).is(303).header("location").to_owned();
    assert!(browser.get(&to).is(200).text.contains("Die Prüfziffer dieser IBAN stimmt nicht"));
}

#[test]
fn two_forms_of_the_same_state_do_not_undo_each_other() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    let settings = format!("/leitstand/f/{}/einstellungen", mill.tenant);
    let page = browser.get(&settings);
    let (token, stand) = (page.hidden("token").unwrap(), page.hidden("stand").unwrap());
    server.cli(&["tenant", "set", "1", "charge_automatik=fefo"]);
    let fields = [("token", token.as_str()), ("stand", &stand), ("charge_automatik", "aus")];
    browser.post(&settings, &fields).is(412);
    browser.fill(&settings, &[("charge_automatik", "aus")]).is(303);
}

#[test]
fn the_writer_reads_what_a_page_has_changed() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    let settings = format!("/leitstand/f/{}/einstellungen", mill.tenant);
    let unknown = || mill.post("/api/v1/kunden", serde_json::json!({"name": "Huber", "gibt_es_nicht": 1}));
    unknown().is(201);
    browser.fill(&settings, &[("unbekannte_felder", "ablehnen")]).is(303);
    unknown().is(400);
    browser.fill(&settings, &[("unbekannte_felder", "hinweis")]).is(303);
    unknown().is(201);
}

#[test]
fn a_logo_is_uploaded_shown_and_taken_away() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    let data = format!("/leitstand/f/{}/firma", mill.tenant);
    let png = std::fs::read("tests/data/logo/farbe.png").unwrap();
    browser.get(&format!("{data}/logo")).is(404);
    let refused = browser.upload(&data, &[], ("logo", "logo.png", b"GIF89a"));
    assert!(refused.is(400).text.contains("id=\"fehler-logo\""), "{}", refused.text);
    browser.upload(&data, &[], ("logo", "logo.png", &png)).is(303);
    let shown = browser.get(&format!("{data}/logo"));
    assert_eq!(shown.is(200).header("content-type"), "image/png");
    browser.upload(&data, &[("ohne_logo", "ja")], ("", "", b"")).is(303);
    browser.get(&format!("{data}/logo")).is(404);
}

#[test]
fn the_first_page_says_what_needs_a_hand_and_what_comes_first() {
    let server = Server::start();
    let mill = server.company_with("Mühle", COMPLETE);
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    let home = format!("/leitstand/f/{}", mill.tenant);
    let shown = super::zustand::home_with(&mut browser, "Es gibt noch keine Sicherung.");
    assert!(!shown.text.contains("kein Blatt") && !shown.text.contains("Erste Schritte"), "{}", shown.text);
    let partner = mill.post("/api/v1/kunden", serde_json::json!({"name": "Huber"})).id();
    let weighing = serde_json::json!({"waage_id": 1, "gewicht_erst_kg": 40_000, "partner_id": partner});
    mill.post("/api/v1/wiegungen", weighing).is(201);
    assert!(!browser.get(&home).text.contains("Wiegungen offen"));
    server.set_clock("2026-07-11T10:00:00Z");
    let mut browser = person(&server, &["Anna", "--role", "verwalten"]);
    assert!(browser.get(&home).text.contains("Wiegungen offen"));

    let folder = server.database.parent().unwrap();
    let stem = server.database.file_stem().unwrap().to_str().unwrap();
    server.cli(&["backup", folder.join(format!("{stem}-2026-07-11.db")).to_str().unwrap()]);
    // Once somebody opens the backups page, the home page shows what is there.
    browser.get("/leitstand/sicherung").is(200);
    let shown = super::zustand::home_with(&mut browser, ", vor ");
    assert!(!shown.text.contains("keine Sicherung"), "{}", shown.text);

    browser.fill("/leitstand/firmen/neu", &[("name", "Neue")]).is(303);
    let new = browser.get("/leitstand/f/2");
    assert!(new.is(200).text.contains("Erste Schritte") && new.text.contains("kein Blatt"), "{}", new.text);
    // Backups are only for people who manage all companies.
    let mut paul = person(&server, &["Paul", "--tenant", "2"]);
    let seen = paul.get("/leitstand/f/2");
    assert!(
        !seen.is(200).text.contains("Erste Schritte") && !seen.text.contains("Sicherung"),
        "{}",
        seen.text
    );
}
