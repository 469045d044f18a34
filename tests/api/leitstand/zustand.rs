//! What needs attention, on the home page of a company.

use std::thread::sleep;
use std::time::{Duration, Instant};

use partnerd::platform::db::file::connection::open_writer;
use partnerd::platform::gate::{Policy, Zugang};
use rcgen::{CertificateParams, KeyPair, date_time_ymd};

use serde_json::json;

use super::partner::shows;
use super::schluessel::id;
use super::sicherung::carried_out;
use super::{Browser, Shown, person};
use crate::harness::{COMPLETE, NOON, Server};
use crate::trade::lager::and;

/// Opens the home page of the first company until these words appear: a thread looks at the disk.
pub fn home_with(browser: &mut Browser, words: &str) -> Shown {
    let until = Instant::now() + Duration::from_secs(50);
    loop {
        let shown = browser.get("/leitstand/f/1");
        if shown.is(200).text.contains(words) {
            return shown;
        }
        assert!(Instant::now() < until, "{words}: {}", shown.text);
        sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_certificate_that_ends_is_named_in_time_to_who_keeps_the_house() {
    let folder = tempfile::TempDir::new().unwrap();
    let file = folder.path().join("partnerd-cert.pem");
    // Its last instant is midnight UTC of this day, two in the morning in Berlin.
    for (year, month, day, expected) in [
        (2026, 8, 10, None),
        (2026, 8, 8, Some((false, "Das Zertifikat gilt nur noch bis 08.08.2026, 02:00."))),
        (2026, 7, 11, Some((false, "Das Zertifikat gilt nur noch bis 11.07.2026, 02:00."))),
        (2026, 7, 10, Some((true, "Das Zertifikat ist am 10.07.2026, 02:00 abgelaufen"))),
        (2025, 12, 31, Some((true, "Das Zertifikat ist am 31.12.2025, 01:00 abgelaufen"))),
    ] {
        let mut params = CertificateParams::new(vec!["muehle.local".to_owned()]).unwrap();
        (params.not_before, params.not_after) = (date_time_ymd(2025, 1, 1), date_time_ymd(year, month, day));
        std::fs::write(&file, params.self_signed(&KeyPair::generate().unwrap()).unwrap().pem()).unwrap();
        let leitstand = Zugang { certificate: Some(file.clone()), ..Zugang::default() };
        let server = Server::start_with(NOON, Policy { leitstand, ..Policy::default() });
        server.company("Mühle");
        let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
        let shown = home_with(&mut browser, "Letzte Sicherung: ");
        let lists =
            [" class=\"sorgen refused\"", " class=\"sorgen\""].map(|class| list(&shown.is(200).text, class));
        let said = [true, false].map(|is_urgent| expected.is_some_and(|(urgent, _)| urgent == is_urgent));
        assert_eq!(lists.map(|list| list.contains("Zertifikat")), said, "{day}.{month}.{year}: {lists:?}");
        if let Some((_, words)) = expected {
            assert!(lists.concat().contains(words), "{words}: {lists:?}");
        }
        // Hidden from people who could not fix it.
        let shown = person(&server, &["Paul"]).get("/leitstand/f/1");
        assert!(!shown.is(200).text.contains("Zertifikat"), "{}", shown.text);
    }
}

#[cfg(unix)]
#[test]
fn a_disk_that_hangs_holds_up_no_page() {
    let folder = tempfile::TempDir::new().unwrap();
    let certificate = folder.path().join("partnerd-cert.pem");
    // Opening it for reading blocks until somebody writes.
    assert!(std::process::Command::new("mkfifo").arg(&certificate).status().unwrap().success());
    let leitstand = Zugang { certificate: Some(certificate.clone()), ..Zugang::default() };
    let server = Server::start_with(NOON, Policy { leitstand, ..Policy::default() });
    server.company("Mühle");
    let shown = person(&server, &["Erika", "--role", "verwalten"]).get("/leitstand/f/1");
    assert!(
        shown.is(200).text.contains("partnerd 1.") && !shown.text.contains("Sicherung: "),
        "{}",
        shown.text
    );
    drop(std::fs::File::options().write(true).open(&certificate).unwrap());
}

#[test]
fn whoever_keeps_the_house_reads_whether_the_backup_ran() {
    let server = Server::start();
    server.company("Mühle");
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    let folder = server.database.parent().unwrap().display().to_string();
    let shown = browser.get("/leitstand/f/1");
    for words in
        [&format!("Letzte Sicherung: noch keine in {folder}"), "frei auf der Platte: ", "partnerd 1."]
    {
        assert!(shown.is(200).text.contains(words), "{words}: {}", shown.text);
    }
    carried_out(&mut browser, "/leitstand/sicherung", "/leitstand/sicherung");
    let shown = home_with(&mut browser, ", vor ").text;
    let line = shown.split("Letzte Sicherung: ").nth(1).unwrap().split('<').next().unwrap();
    assert!(line.ends_with(&format!(", in {folder}")) && line.contains(", vor "), "{line}");
    // Hidden from people who could not fix it.
    let shown = person(&server, &["Paul"]).get("/leitstand/f/1").text;
    assert!(!shown.contains("Sicherung") && shown.contains("partnerd 1."), "{shown}");
}

#[test]
fn weighings_that_stay_open_and_refused_requests_say_what_to_do() {
    let mut server = Server::start_at("2026-07-09T10:00:00Z");
    let mill = server.company("Mühle");
    let partner = mill.post("/api/v1/kunden", json!({"name": "Huber"})).id();
    let weighing = json!({"waage_id": 1, "gewicht_erst_kg": 40_000, "partner_id": partner});
    let weighing = mill.post("/api/v1/wiegungen", weighing).id();
    server.set_clock("2026-07-10T10:00:00Z");
    let later = json!({"waage_id": 1, "gewicht_erst_kg": 20_000, "partner_id": partner});
    let later = mill.post("/api/v1/wiegungen", later).id();
    let items = json!([{"bezeichnung": "Fracht", "menge": 2, "ep_netto": 5, "mwst_satz": 19}]);
    let unknown = json!({"beleg_typ": "AN", "kundennummer": "K-9", "items": items});
    mill.post("/api/v1/belege", unknown.clone()).refused(400, "KUNDE_NICHT_GEFUNDEN");
    mill.post("/api/v1/belege", unknown).refused(400, "KUNDE_NICHT_GEFUNDEN");
    // Rows of refusals reach the log a little later; a restart moves them there at once.
    server.restart();
    let mut browser = person(&server, &["Paul"]);
    let shown = browser.get("/leitstand/f/1");
    let soon = list(&shown.is(200).text, " class=\"sorgen\"");
    let link = soon.split("href=\"").find(|link| link.contains("wiegungen")).unwrap();
    let link = link.split('"').next().unwrap().replace("&amp;", "&");
    let open = browser.get(&link);
    assert!(open.is(200).text.contains(&weighing) && !open.text.contains(&later), "{link}: {}", open.text);
    // Refused requests of programs have their own page, by program and reason.
    let link = format!("/leitstand/f/{}/abgelehnt", mill.tenant);
    shows(&shown.text, &[&format!("<a href=\"{link}\">Anfragen von Programmen wurden abgelehnt")]);
    let refused = browser.get(&link);
    let advice = "Unter „Partner“ anlegen, oder im Programm die Nummer berichtigen.";
    shows(&refused.is(200).text, &["KUNDE_NICHT_GEFUNDEN: ", advice, "data-head=\"Wie oft\">2</td>"]);
    assert_eq!(refused.text.matches("KUNDE_NICHT_GEFUNDEN: ").count(), 1, "{}", refused.text);
    let rows = format!(
        "protokoll?wer=schluessel-{}&amp;code=KUNDE%5FNICHT%5FGEFUNDEN",
        id(mill.key.as_ref().unwrap())
    );
    shows(&refused.text, &[&rows]);
}

#[test]
fn what_the_end_of_the_day_left_open_is_listed_while_it_would_finalise_it() {
    let mut server = Server::start_at("2026-07-09T10:00:00Z");
    let mill = server.company("Mühle");
    let items = json!([{"bezeichnung": "Weizen", "menge": 1, "ep_netto": 5, "mwst_satz": 7}]);
    let partner = mill.post("/api/v1/kunden", json!({"name": "Hof Silbersee"})).id();
    let id = |gutschrift: bool| {
        let body = json!({"beleg_typ": "ER", "kunden_id": partner, "gutschrift": gutschrift, "items": items});
        mill.post("/api/v1/belege", body).id()
    };
    let (waits, of_supplier) = (id(true), id(false));
    let abroad = json!([{"bezeichnung": "Weizen", "menge": 1, "ep_netto": 5, "mwst_satz": 0, "steuer_kategorie": "K"}]);
    let sale =
        mill.post("/api/v1/belege", json!({"beleg_typ": "RE", "kunden_id": partner, "items": abroad})).id();
    let listed = |server: &Server, name: &str| {
        let text = person(server, &[name]).get("/leitstand/f/1").is(200).text.clone();
        let list = text.split("Rechnungen und Gutschriften zu prüfen").nth(1);
        list.map(|list| list.split("<h2>").next().unwrap().to_owned())
    };
    assert_eq!(listed(&server, "Paul"), None, "its day is not over");
    server.restart_at("2026-07-10T10:00:00Z");
    let list = listed(&server, "Anna").unwrap();
    let links = [&waits, &sale].map(|id| format!("belege/{id}"));
    for words in [
        "Diese 2 Rechnungen an Kunden und Gutschriften",
        "Hof Silbersee",
        "ER-2026-00001",
        &links[0],
        &links[1],
    ] {
        assert!(list.contains(words), "{words}: {list}");
    }
    assert!(!list.contains(&of_supplier), "{list}");
    let set = |kinds: &str| {
        server.set(&server.client(mill.tenant, mill.key.clone()), &[("abschluss_tagesende", kinds)]);
    };
    set("RE");
    let list = listed(&server, "Eva").unwrap();
    assert!(list.contains(&sale) && !list.contains(&waits), "{list}");
    set("LS");
    assert_eq!(listed(&server, "Udo"), None, "the company leaves them open");
}

#[test]
fn a_key_near_its_limit_is_named_with_the_time_at_which_it_is_accepted_again() {
    let mut server = Server::start();
    let mill = server.company("Mühle");
    mill.get("/api/v1/kunden").is(200);
    server.restart();
    assert!(
        server.cli(&["key", "change", id(mill.key.as_ref().unwrap()), "--daily-limit", "1"]).status.success()
    );
    let shown = person(&server, &["Paul"]).get("/leitstand/f/1");
    let urgent = list(&shown.is(200).text, " class=\"sorgen refused\"");
    assert!(urgent.contains("wird bis 02:00 Uhr abgewiesen"), "{urgent}");
}

#[test]
fn a_day_without_work_says_so_and_the_first_page_stays_small() {
    let mut server = Server::start_at("2026-07-09T10:00:00Z");
    let mill = server.company_with("Mühle", COMPLETE);
    let mut paul = person(&server, &["Paul"]);
    let home = format!("/leitstand/f/{}", mill.tenant);
    shows(&paul.get(&home).is(200).text, &["Es ist nichts zu erledigen."]);
    // Many records of everything that it shows.
    server.import(
        &mill,
        "kunden",
        "kundennr;name;partner_typen\nH;Hofgut zur langen Straße am Walde;lieferant,kunde\n",
    );
    server.import(
        &mill,
        "artikel",
        "artikelnummer;bezeichnung;einheit;ep_netto\nW;Weizen der langen Sorte;kg;0,2\n",
    );
    let contract = |nr: usize| {
        let agreed = if nr < 2 { 10 } else { 100_000 };
        json!({"kontrakt_nr": format!("V-{nr}"), "partner": "H", "gesamtmenge": agreed, "gesamtmenge_einheit": "kg"})
    };
    let contracts: Vec<_> = (0..20).map(contract).collect();
    server.import(&mill, "kontrakte", &json!(contracts).to_string());
    let partner = mill.get("/api/v1/kunden").is(200)["data"][0]["id"].clone();
    let listed = mill.get("/api/v1/kontrakte").is(200)["data"].as_array().unwrap().clone();
    for (at, delivered, mhd) in [(0, 9.0, "2026-08-09"), (1, 10.5, "2026-07-09"), (2, 89_999.0, "2026-08-10")]
    {
        let contract = listed.iter().find(|contract| contract["kontrakt_nr"] == format!("V-{at}")).unwrap();
        let item = json!({"artikelnr": "W", "menge": delivered, "ep_netto": 1, "mwst_satz": 7, "mhd": mhd,
            "fremde_charge_nr": format!("C{at}"), "kontrakt_id": contract["id"]});
        let body = json!({"beleg_typ": "EL", "kunden_id": partner, "items": [item]});
        mill.post("/api/v1/belege", body).is(201);
    }
    let items = json!([{"bezeichnung": "Weizen", "menge": 1, "ep_netto": 500, "mwst_satz": 7}]);
    let body = json!({"beleg_typ": "ER", "kunden_id": partner, "gutschrift": true, "items": items});
    for at in 0..40 {
        let lorry = json!({"waage_id": 1, "gewicht_erst_kg": 9_000 + at, "partner_id": partner});
        mill.post("/api/v1/wiegungen", lorry).is(201);
        mill.post("/api/v1/belege", body.clone()).is(201);
        mill.get("/api/v1/belege?von=gestern").is(400);
    }
    server.restart_at("2026-07-10T10:00:00Z");
    let mill = server.client(mill.tenant, mill.key);
    for _ in 0..40 {
        let invoice = json!({"beleg_typ": "RE", "gutschrift": false, "abschliessen": true});
        mill.post("/api/v1/belege", and(body.clone(), invoice)).is(201);
    }
    let mut paul = person(&server, &["Eva"]);
    let shown = paul.get(&home);
    for words in [
        "Kontrakt V-0 Hofgut zur langen Straße am Walde ist zu 90 % geliefert.",
        "Auf Kontrakt V-1 Hofgut zur langen Straße am Walde ist mehr geliefert als vereinbart: 105 %.",
        "1 Charge mit Bestand ist abgelaufen.",
        "1 Charge mit Bestand ist höchstens noch 30 Tage haltbar.",
        "neuesten 8 Belege",
        "Alle 40 offenen Wiegungen",
        "Rechnung (40), netto EUR<strong>20.000,00",
    ] {
        shows(&shown.is(200).text, &[words]);
    }
    assert!(!shown.text.contains("V-2"), "{}", shown.text);
    let assets =
        ["stil.css", "live.js"].map(|name| paul.get(&format!("/leitstand/{name}")).is(200).text.len());
    let all = shown.text.len() + assets.iter().sum::<usize>();
    assert!(all <= 40_000, "the first page has {all} bytes, {} of them its own", shown.text.len());
}

#[test]
fn where_too_much_happened_it_is_said_how_far_back_refused_requests_were_looked_for() {
    let server = Server::start();
    server.company("Mühle");
    let mut browser = person(&server, &["Paul"]);
    let write = |statement: &str| open_writer(&server.database).unwrap().execute_batch(statement).unwrap();
    // Yesterday at ten in Berlin: a refused request, and so many others behind it, before the existing rows.
    let page_with = |others: i64| {
        write(&format!(
            "delete from audit where nr <= 0;
             with recursive n (nr) as (select 0 union all select nr - 1 from n where nr > -{others})
             insert into audit (nr, am, request_id, tenant_id, key_id, adresse, methode, pfad, status, code, dauer_us,
               bytes_ein, bytes_aus, anzahl, pruefsumme)
             select nr, 20643 * 86400000 + 8 * 3600000, randomblob(16), 1, 'k', '::1', 'GET', '/refused',
               iif(nr = -{others}, 403, 200), iif(nr = -{others}, 'SCOPE_FEHLT', null), 1, 0, 0, 1, \
                    zeroblob(32) from n",
        ));
        browser.get("/leitstand/f/1/abgelehnt")
    };
    let [quiet, busy] = [100, 60_000].map(page_with);
    write("delete from audit where nr <= 0");
    assert!(quiet.is(200).text.contains("GET /refused") && !quiet.text.contains("gesucht"), "{}", quiet.text);
    let said = "nur bis zurück zum 09.07.2026, 10:00 gesucht";
    assert!(busy.is(200).text.contains(said) && !busy.text.contains("/refused"), "{}", busy.text);
    assert!(busy.text.contains("protokoll?wer=programme&amp;ergebnis=abgelehnt"), "{}", busy.text);
}

/// The list of this class; blank if there is none.
fn list<'t>(text: &'t str, class: &str) -> &'t str {
    let after = text.split(&format!("<ul{class}>")).nth(1);
    after.and_then(|list| list.split("</ul>").next()).unwrap_or_default()
}
