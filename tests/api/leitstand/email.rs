//! Documents by e-mail: a mail server in the test, which speaks SMTP like a real one, and everything that can
//! go wrong.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::mailserver::{Mailserver, Way};
use super::partner::{at_field, kunde, mill, shows};
use super::{Browser, Shown, person, press};
use crate::harness::{COMPLETE, Client, Server};
use crate::trade::lager::and;

const PASSWORD: &str = "Geheim-im-Silo";

/// Creates a final document of a partner with an e-mail address; returns its id and the address of its page.
fn document(mill: &Client, firma: &str, more: Value) -> (String, String) {
    let partner = kunde(
        mill,
        and(
            json!({"name": "Huber Hof", "strasse": "Am Anger 3", "plz": "86650", "ort": "Wemding",
                "staat": "DE", "ust_id": "DE987654321", "email": "rechnung@huber.example"}),
            more,
        ),
    );
    let items =
        json!([{"bezeichnung": "Fracht", "menge": 2, "einheit": "Std", "ep_netto": 500, "mwst_satz": 19}]);
    let body = json!({"beleg_typ": "RE", "kunden_id": partner, "items": items, "abschliessen": true});
    (format!("{firma}/belege/{}", mill.post("/api/v1/belege", body).id()), partner)
}

/// The settings for a mail server of a test: `more` overrides the defaults.
fn settings<'s>(server: &'s Mailserver, more: &[(&'s str, &'s str)]) -> Vec<(&'s str, &'s str)> {
    let usual = [
        ("server", "localhost"),
        ("port", server.port.as_str()),
        ("verschluesselung", server.way.as_str()),
        ("benutzer", "buero"),
        ("mailpasswort", PASSWORD),
        ("absender", "buero@muehle.example"),
        ("zertifikat", server.certificate.as_str()),
        ("betreff", "{art} {nummer} von {firma}"),
        ("text", "Anbei {nummer} vom {datum} über {betrag}."),
    ];
    let others = usual.iter().filter(|(name, _)| !more.iter().any(|(known, _)| known == name));
    more.iter().chain(others).copied().collect()
}

fn enter(browser: &mut Browser, firma: &str, server: &Mailserver, more: &[(&str, &str)]) {
    let page = format!("{firma}/postausgang");
    browser.fill(&page, &settings(server, more)).is(303);
}

fn send(browser: &mut Browser, page: &str, typed: &[(&str, &str)]) -> Shown {
    let form = browser.get(page);
    form.is(200);
    press(browser, page, &form, typed, "")
}

#[test]
fn a_document_goes_out_with_its_pdf_and_it_is_kept_what_became_of_it() {
    let server = Server::start();
    let (mill, mut erika, firma) = mill(&server);
    server.set(&mill, COMPLETE);
    let (document, partner) = document(&mill, &firma, json!({}));
    for way in [Way::Plain, Way::Starttls, Way::Tls] {
        let mails = Mailserver::start(way, &[]);
        enter(&mut erika, &firma, &mails, &[("antwort_an", "chef@muehle.example")]);
        erika.fill(&format!("{firma}/postausgang/test"), &[]).is(303);
        shows(&erika.get(&format!("{firma}/postausgang")).is(200).text, &["Testmail angenommen"]);
        let got = mails.got();
        assert_eq!(
            (got.len(), got[0].to.as_slice()),
            (1, &["buero@muehle.example".to_owned()][..]),
            "{way:?}"
        );
        assert_eq!(got[0].user, format!("\0buero\0{PASSWORD}"), "{way:?}");
        assert_eq!(got[0].is_encrypted, way != Way::Plain, "{way:?}");

        let mut bert = person(&server, &[&format!("Bert {way:?}"), "--role", "buero"]);
        let page = format!("{document}/email");
        let form = bert.get(&page);
        shows(
            &form.is(200).text,
            &[
                "value=\"rechnung@huber.example\"",
                "Rechnung RE-2026-00001 von Mühle Beispiel GmbH",
                "Anbei RE-2026-00001 vom 10.07.2026 über 1.190,00 €.",
                "Im Anhang: das PDF<",
            ],
        );
        let typed = [("an", "a@huber.example, b@huber.example"), ("text", "Guten Tag,\nanbei.\n.\nGrüße")];
        let sent = press(&mut bert, &page, &form, &typed, "");
        assert_eq!(sent.is(303).header("location"), document);
        let got = mails.got();
        assert_eq!(got.len(), 2, "{way:?}");
        assert_eq!(got[1].to, ["a@huber.example", "b@huber.example"]);
        let data = &got[1].data;
        for words in
            ["Reply-To: chef@muehle.example", "<buero@muehle.example>", "filename=\"RE-2026-00001.pdf\""]
        {
            assert!(data.contains(words), "{words} is not in {data}");
        }
        let encoded: String = data
            .split("application/pdf")
            .nth(1)
            .unwrap()
            .split("\r\n\r\n")
            .nth(1)
            .unwrap()
            .split("--")
            .next()
            .unwrap()
            .split_whitespace()
            .collect();
        assert!(STANDARD.decode(encoded).unwrap() == bert.get_bytes(&format!("{document}/pdf")), "its sheet");

        // The same form again is refused: it would send the same mail twice.
        let again = press(&mut bert, &page, &form, &typed, "");
        shows(&again.is(412).text, &["schon abgeschickt"]);
        assert_eq!(mails.got().len(), 2, "{way:?}");
        let kept = bert.get(&document);
        shows(
            &kept.is(200).text,
            &["a@huber.example, b@huber.example", "gesendet", &format!("Bert {way:?}")],
        );
    }

    // A person who may only look may not send.
    let mut anna = person(&server, &["Anna", "--role", "ansehen"]);
    let token = anna.get("/leitstand/abmelden").hidden("token").unwrap();
    anna.post(&format!("{document}/email"), &[("token", &token), ("an", "a@b.example")]).is(403);
    assert!(!anna.get(&document).is(200).text.contains("Per E-Mail senden"));

    // Forgetting a partner also erases the mails.
    erika.fill(&format!("{firma}/partner/{partner}/vergessen"), &[]).is(303);
    let shown = erika.get(&document);
    shows(&shown.is(200).text, &["(vergessen)"]);
    assert!(!shown.text.contains("huber.example"), "{}", shown.text);
    assert_eq!(server.sql::<i64>("select count(*) from versand where an || betreff || text is not null"), 0);
}

#[test]
fn an_e_invoice_that_the_recipient_wants_as_a_file_goes_along() {
    let server = Server::start();
    let (mill, mut erika, firma) = mill(&server);
    server.set(&mill, COMPLETE);
    let contact =
        [("kontakt_name", "Jan"), ("kontakt_telefon", "+49 906 1234"), ("email", "re@muehle.example")];
    server.set(&mill, &contact);
    let mails = Mailserver::start(Way::Plain, &[]);
    enter(&mut erika, &firma, &mails, &[]);
    let wants = json!({"e_rechnung": "xrechnung", "kaeuferreferenz": "991-01234-56"});
    let (document, _) = document(&mill, &firma, wants);
    let page = format!("{document}/email");
    shows(&erika.get(&page).is(200).text, &["das PDF und RE-2026-00001.xml"]);
    send(&mut erika, &page, &[]).is(303);
    let data = mails.got()[0].data.clone();
    assert!(data.contains("filename=\"RE-2026-00001.xml\"") && data.contains("application/xml"), "{data}");
}

/// A mail server, settings that differ from the default, and the expected message.
type Row = (Mailserver, Vec<(&'static str, &'static str)>, &'static str);

#[test]
fn what_goes_wrong_on_the_way_is_said_in_german_and_kept() {
    let server = Server::start();
    let (mill, mut erika, firma) = mill(&server);
    server.set(&mill, COMPLETE);
    let (document, _) = document(&mill, &firma, json!({}));
    let page = format!("{document}/email");
    let own = Mailserver::start(Way::Tls, &[]);
    let other = Mailserver::start(Way::Tls, &[]);
    let starttls = Mailserver::start(Way::Starttls, &[]);
    let plain = |says: &[(&'static str, &'static str)]| Mailserver::start(Way::Plain, says);
    let gone = plain(&[]);
    gone.stop();
    let table: Vec<Row> = vec![
        (gone, vec![], "nimmt auf Port"),
        (
            plain(&[]),
            vec![("server", "nirgends.invalid"), ("verschluesselung", "starttls")],
            "nicht zu finden",
        ),
        (
            plain(&[("RCPT", "550 5.1.1 Empfaenger unbekannt")]),
            vec![],
            "nimmt die E-Mail nicht an: „550 5.1.1 Empfaenger unbekannt“.",
        ),
        (plain(&[("RCPT", "451 4.7.1 Greylisting")]), vec![], "Bitte später noch einmal senden."),
        (plain(&[(".", "552 5.3.4 Zu gross")]), vec![], "Zu gross"),
        (plain(&[("AUTH", "535 5.7.8 falsch")]), vec![], "Benutzer und Passwort"),
        (plain(&[("hello", "554 kein Zutritt")]), vec![], "weist diesen Rechner ab: „554 kein Zutritt“."),
        (plain(&[("hello", "HTTP/1.1 400 Bad Request")]), vec![], "antwortet kein Mailserver"),
        (plain(&[(".", "")]), vec![], "Bitte beim Empfänger nachfragen"),
        (plain(&[]), vec![("verschluesselung", "starttls")], "keine Verschlüsselung (STARTTLS) an"),
        (plain(&[]), vec![("verschluesselung", "tls")], "keine verschlüsselte Verbindung"),
        (own, vec![("zertifikat", "")], "niemand vertraut"),
        (other, vec![("server", "127.0.0.1")], "gehört zu einem anderen Namen"),
        (starttls, vec![("zertifikat", "")], "niemand vertraut"),
    ];
    let all = table.len();
    for (mails, more, expected) in table {
        enter(&mut erika, &firma, &mails, &more);
        let shown = send(&mut erika, &page, &[("text", "So war es getippt.")]);
        let to = shown.is(303).header("location").to_owned();
        let shown = erika.get(&to);
        shows(&shown.is(200).text, &[expected]);
        let is_unknown = expected.contains("nachfragen");
        assert_eq!(to, if is_unknown { document.clone() } else { page.clone() }, "{expected}");
        assert!(is_unknown || shown.text.contains("So war es getippt."), "{}", shown.text);
        shows(&erika.get(&document).text, &[expected]);
        assert!(mails.got().is_empty(), "{expected}");
        // A server with an untrusted certificate gets no password.
        let heard = mails.heard();
        assert!(
            !expected.contains("vertraut") && !expected.contains("anderen Namen") || !heard.contains("AUTH"),
            "{heard}"
        );
    }
    let kept = "select count(*) from versand where ergebnis in ('nicht_gesendet', 'ungewiss') and meldung is not null";
    assert_eq!(server.sql::<i64>(kept), all as i64);
}

#[test]
fn a_mail_server_that_never_answers_holds_up_nobody() {
    let server = Arc::new(Server::start());
    let (mill, mut erika, firma) = mill(&server);
    server.set(&mill, COMPLETE);
    let (document, _) = document(&mill, &firma, json!({}));
    let page = format!("{document}/email");
    let silent = Mailserver::start(Way::Plain, &[("hello", "")]);
    silent.hold();
    enter(&mut erika, &firma, &silent, &[]);
    let waiting: Vec<_> = ["Anna", "Bert"]
        .map(|name| {
            let mut own = person(&server, &[name, "--role", "buero"]);
            let page = page.clone();
            thread::spawn(move || {
                let to = send(&mut own, &page, &[]).is(303).header("location").to_owned();
                own.get(&to).text
            })
        })
        .into();
    while silent.connections() < 2 {
        thread::sleep(Duration::from_millis(20));
    }
    // Both mails are being sent: pages can be read and documents written meanwhile, and a third mail of the
    // company has to wait.
    shows(&erika.get(&document).is(200).text, &["unterwegs"]);
    let items = json!([{"bezeichnung": "Fracht", "menge": 1, "ep_netto": 5, "mwst_satz": 19}]);
    mill.post("/api/v1/belege", json!({"beleg_typ": "AN", "kundennummer": "K-1001", "items": items})).is(201);
    let form = erika.get(&page);
    let token = form.hidden("token").unwrap();
    let typed = super::encoded(&[("token", &token), ("an", "a@b.example"), ("betreff", "x"), ("text", "")]);
    let kind = [("content-type", "application/x-www-form-urlencoded")];
    assert_eq!(erika.send_unchecked("POST", &page, &kind, typed.into_bytes()).status, 503);
    for mail in waiting {
        shows(&mail.join().unwrap(), &["antwortet nicht"]);
    }
    assert_eq!(silent.connections(), 2);
}

#[test]
fn the_settings_say_all_mistakes_and_never_the_password() {
    let server = Server::start();
    let (mill, mut erika, firma) = mill(&server);
    let page = format!("{firma}/postausgang");
    let mails = Mailserver::start(Way::Starttls, &[]);
    let long = "x".repeat(4_001);
    for (field, wrong) in [
        ("server", "mail server"),
        ("server", "mail.firma.de\u{e4}"),
        ("port", "0"),
        ("port", "65536"),
        ("port", "smtp"),
        ("verschluesselung", "ssl"),
        ("absender", "buero"),
        ("absender", "a@b.example, c@d.example"),
        ("antwort_an", "chef@"),
        ("benutzer", &long),
        ("benutzer", ""),
        ("betreff", "{kunde}"),
        ("betreff", &long),
        ("text", "{"),
        ("text", &long),
        ("zertifikat", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"),
        ("zertifikat", "nichts"),
    ] {
        let refused = erika.fill(&page, &settings(&mails, &[(field, wrong)]));
        shows(at_field(&refused.is(400).text, field), &["role=\"alert\""]);
        assert!(!refused.text.contains(PASSWORD), "{field}");
    }
    let refused = erika.fill(
        &page,
        &settings(&mails, &[("server", "mail.firma.example"), ("verschluesselung", "keine"), ("port", "x")]),
    );
    shows(at_field(&refused.is(400).text, "verschluesselung"), &["nur zu diesem Rechner"]);
    shows(at_field(&refused.text, "port"), &["role=\"alert\""]);

    enter(&mut erika, &firma, &mails, &[]);
    // The password is kept only as long as nothing else of the connection changes.
    erika.fill(&page, &settings(&mails, &[("mailpasswort", ""), ("betreff", "Neu {nummer}")])).is(303);
    assert_eq!(server.sql::<String>("select passwort from postausgang"), PASSWORD);
    let thief = Mailserver::start(Way::Starttls, &[]);
    for (field, other) in [
        ("server", "127.0.0.1"),
        ("port", thief.port.as_str()),
        ("benutzer", "x"),
        ("zertifikat", thief.certificate.as_str()),
        ("verschluesselung", "tls"),
    ] {
        let refused = erika.fill(&page, &settings(&mails, &[("mailpasswort", ""), (field, other)]));
        shows(at_field(&refused.is(400).text, "mailpasswort"), &["role=\"alert\""]);
    }
    for shown in [
        erika.get(&page),
        erika.get(&format!("{firma}/protokoll")),
        erika.get(&format!("{firma}/einstellungen")),
    ] {
        assert!(!shown.is(200).text.contains(PASSWORD));
    }
    shows(
        &erika.get(&format!("{firma}/protokoll?ergebnis=aenderungen")).text,
        &["Passwort des Mailservers", "Mailserver"],
    );
    let logged = "select count(*) from verwaltung where vorher || nachher like '%' || ?1 || '%'"
        .replace("?1", &format!("'{PASSWORD}'"));
    assert_eq!(server.sql::<i64>(&logged), 0);

    // Two windows: the second one gets a message.
    let form = erika.get(&page);
    erika.fill(&page, &settings(&mails, &[("betreff", "Anders {nummer}")])).is(303);
    let stale = press(&mut erika, &page, &form, &settings(&mails, &[]), "");
    shows(&stale.is(412).text, &["jemand anderes"]);

    erika.fill(&page, &settings(&mails, &[("server", "")])).is(303);
    assert_eq!(server.sql::<i64>("select count(*) from postausgang"), 0, "nor the password");
    let token = erika.get(&page).hidden("token").unwrap();
    erika.post(&format!("{page}/test"), &[("token", &token)]).is(404);
    let mut bert = person(&server, &["Bert", "--role", "buero"]);
    bert.get(&page).is(403);
    drop(mill);
}

#[test]
fn without_a_mail_server_the_program_of_the_machine_writes_and_what_is_open_goes_nowhere() {
    let server = Server::start();
    let (mill, mut erika, firma) = mill(&server);
    server.set(&mill, COMPLETE);
    let (document, partner) = document(&mill, &firma, json!({}));
    let page = format!("{document}/email");
    let shown = erika.get(&page);
    shows(
        &shown.is(200).text,
        &[
            "href=\"mailto:rechnung@huber.example?subject=Rechnung%20RE%2D2026%2D00001",
            "%0D%0A",
            &format!("href=\"{document}/pdf\""),
        ],
    );
    let token = erika.get("/leitstand/abmelden").hidden("token").unwrap();
    let sent = erika.post(&page, &[("token", &token), ("an", "a@b.example"), ("betreff", "x")]);
    shows(&sent.is(412).text, &["kein Mailserver"]);

    let mails = Mailserver::start(Way::Plain, &[]);
    enter(&mut erika, &firma, &mails, &[]);
    for (field, wrong) in [
        ("an", ""),
        ("an", "huber"),
        ("an", "a@b.c d@e.f g@h.i j@k.l m@n.o p@q.r"),
        ("betreff", ""),
        ("betreff", &"x".repeat(201)),
        ("text", &"x".repeat(4_001)),
    ] {
        let refused = send(&mut erika, &page, &[(field, wrong)]);
        shows(at_field(&refused.is(400).text, field), &["role=\"alert\""]);
    }
    let items = json!([{"bezeichnung": "Fracht", "menge": 1, "ep_netto": 5, "mwst_satz": 19}]);
    let open =
        mill.post("/api/v1/belege", json!({"beleg_typ": "RE", "kunden_id": partner, "items": items})).id();
    let open = format!("{firma}/belege/{open}");
    assert!(!erika.get(&open).is(200).text.contains("Per E-Mail senden"));
    erika.get(&format!("{open}/email")).is(400);
    erika
        .post(&format!("{open}/email"), &[("token", &token), ("an", "a@b.example"), ("betreff", "x")])
        .is(400);
    erika.fill(&format!("{document}/storno"), &[("grund", "Versehen")]).is(303);
    erika.post(&page, &[("token", &token), ("an", "a@b.example"), ("betreff", "x")]).is(400);
    assert!(mails.got().is_empty() && server.sql::<i64>("select count(*) from versand") == 0);
}
