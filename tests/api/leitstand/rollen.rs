//! What each role may open and send, page by page (D27): every new page must say here whom it is for.

use std::collections::BTreeSet;
use std::time::Duration;

use partnerd::leitstand::PAGES;
use partnerd::leitstand::kit::page::{Page, Take};
use serde_json::json;

use super::{Browser, address, person};
use crate::harness::Server;

/// Pages beyond the everyday work of a company, by their path below it: buero neither opens them nor sends
/// their form, ansehen opens them.
const MANAGEMENT: &[&str] = &[
    "/partner/{id}/vergessen",
    "/import",
    "/import/speichern",
    "/import/vorlage/{id}",
    "/import/{id}",
    "/schluessel",
    "/schluessel/neu",
    "/schluessel/{id}",
    "/schluessel/{id}/aendern",
    "/schluessel/{id}/sperren",
    "/schluessel/{id}/freigeben",
    "/abgelehnt",
    "/protokoll",
    "/protokoll/{id}",
    "/betriebspruefung",
    "/betriebspruefung/{id}/datei",
    "/firma",
    "/postausgang",
    "/postausgang/test",
    "/firma/logo",
    "/einstellungen",
    "/steuerberater/konten",
    "/steuerberater/konten/fehlende",
    "/steuerberater/konten/entfernen",
    "/steuerberater/konten/vorschlag",
    "/steuerberater/{id}/verwerfen",
];

/// Everyday work of a company, by its path below it: ansehen opens it, buero and verwalten also send its form.
const WORK: &[&str] = &[
    "",
    "/neues",
    "/suche",
    "/wiegungen",
    "/wiegungen/neu",
    "/wiegungen/{id}",
    "/wiegungen/{id}/zweitwiegung",
    "/wiegungen/{id}/pdf",
    "/wiegungen/{id}/storno",
    "/belege",
    "/belege/neu",
    "/belege/sammelrechnung",
    "/belege/{id}/aendern",
    "/offen",
    "/belege/{id}",
    "/belege/{id}/pdf",
    "/belege/{id}/erechnung",
    "/belege/{id}/email",
    "/belege/{id}/abschliessen",
    "/belege/{id}/erledigen",
    "/belege/{id}/storno",
    "/belege/{id}/anhaenge/{id}",
    "/bestand",
    "/bestand/inventur",
    "/bestand/{id}",
    "/chargen",
    "/chargen/{id}",
    "/chargen/{id}/berichtigen",
    "/chargen/{id}/sperren",
    "/chargen/{id}/freigeben",
    "/chargen/{id}/inventur",
    "/chargen/{id}/herkunft",
    "/chargen/{id}/herkunft.csv",
    "/partner",
    "/partner/neu",
    "/partner/{id}",
    "/partner/{id}/aendern",
    "/partner/{id}/anhaenge",
    "/partner/{id}/anhaenge/{id}",
    "/artikel",
    "/artikel/neu",
    "/artikel/{id}",
    "/artikel/{id}/aendern",
    "/artikel/{id}/inventur",
    "/artikel/{id}/anhaenge",
    "/artikel/{id}/anhaenge/{id}",
    "/kontrakte",
    "/kontrakte/neu",
    "/kontrakte/{id}",
    "/kontrakte/{id}/aendern",
    "/annahme",
    "/annahme/abrechnen",
    "/annahme/rechner",
    "/annahme/schemata",
    "/annahme/schemata/{id}",
    "/annahme/schemata/{id}/pdf",
    "/annahme/{id}",
    "/annahme/{id}/analyse",
    "/annahme/{id}/freigabe",
    "/annahme/{id}/korrektur",
    "/annahme/{id}/pdf",
    "/annahme/{id}/storno",
    "/produktion",
    "/produktion/{id}",
    "/produktion/{id}/status",
    "/kasse",
    "/steuerberater",
    "/steuerberater/{id}",
    "/steuerberater/{id}/datei",
    "/umsatzsteuer",
    "/umsatzsteuer/belege",
];

/// Pages without a company that only people who manage all companies open and send, by their path below `/leitstand`.
const HOUSE: &[&str] = &[
    "/firmen/neu",
    "/sicherung",
    "/sicherung/pruefen",
    "/sicherung/{id}",
    "/sicherung/{id}/datei",
    "/sicherung/{id}/pruefen",
    "/sicherung/{id}/loeschen",
    "/sicherung/{id}/zurueckspielen",
    "/protokoll",
    "/protokoll/pruefen",
    "/protokoll/{id}",
    "/zugaenge",
    "/zugaenge/neu",
    "/zugaenge/{id}",
    "/zugaenge/{id}/link",
    "/zugaenge/{id}/sperren",
    "/zugaenge/{id}/freigeben",
];

/// Pages for everybody logged in, and for everybody.
const OF_EVERYBODY: &[&str] = &[
    "",
    "/anmelden",
    "/passwort",
    "/abmelden",
    "/firmen",
    "/suche",
    "/arbeit",
    "/arbeit/{id}",
    "/konto",
    "/hilfe",
    "/hilfe/{id}",
];

/// The tables a page can be in, in this order: everybody, work, management, house.
fn tables() -> [(&'static str, &'static [&'static str]); 4] {
    let firma = "/leitstand/f/{firma}";
    [("/leitstand", OF_EVERYBODY), (firma, WORK), (firma, MANAGEMENT), ("/leitstand", HOUSE)]
}

#[test]
fn every_page_says_whom_it_is_for() {
    let decided: Vec<_> = tables()
        .iter()
        .flat_map(|(before, paths)| paths.iter().map(move |path| format!("{before}{path}")))
        .collect();
    let there: BTreeSet<_> = PAGES.iter().map(|page| page.pattern.to_owned()).collect();
    assert_eq!(decided.iter().cloned().collect::<BTreeSet<_>>(), there);
    assert_eq!(decided.len(), there.len(), "a page stands in two tables");
}

#[test]
fn each_role_opens_and_sends_what_is_for_it() {
    let server = Server::start();
    let mill = server.company("Mühle");
    mill.post("/api/v1/kunden", json!({"name": "Huber"})).is(201);
    // For everybody, work, management, house: whether the role opens the pages, and whether it sends their forms.
    for (name, arguments, opens, sends) in [
        ("Anna", &["--role", "ansehen"][..], [true, true, true, false], [true, false, false, false]),
        ("Bert", &["--role", "buero"], [true, true, false, false], [true, true, false, false]),
        ("Carl", &["--role", "verwalten"], [true; 4], [true; 4]),
        (
            "Dora",
            &["--role", "verwalten", "--tenant", "Mühle"],
            [true, true, true, false],
            [true, true, true, false],
        ),
    ] {
        let mut browser = person(&server, &[&[name], arguments].concat());
        let token = browser.get("/leitstand/abmelden").hidden("token").unwrap();
        let all = tables().into_iter().zip(opens).zip(sends);
        for (((before, paths), opens), sends) in all {
            for pattern in paths.iter().map(|path| format!("{before}{path}")) {
                let page = page_of(&pattern);
                // A record that nobody has: if the role is let in, nothing is found.
                let path = address(page, mill.tenant, "99");
                let status = browser.get(&path).status;
                assert_eq!(status != 403, opens, "{name} opens {path}: {status}");
                let is_log_out = pattern.ends_with("/abmelden");
                if matches!(page.take, Take::Nothing) || is_log_out {
                    continue;
                }
                let status = browser.post(&path, &[("token", &token)]).status;
                assert_eq!(status != 403, sends, "{name} sends {path}: {status}");
            }
        }
    }
}

fn page_of(pattern: &str) -> &'static Page {
    PAGES.iter().find(|page| page.pattern == pattern).unwrap()
}

/// The targets of the links of a page.
fn links(text: &str) -> BTreeSet<String> {
    let found = text.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    found.filter(|to| to.starts_with("/leitstand")).map(|to| to.replace("&amp;", "&")).collect()
}

#[test]
fn no_page_leads_to_one_that_is_not_for_its_reader() {
    let server = Server::start();
    let mill = server.company("Mühle");
    mill.post("/api/v1/kunden", json!({"name": "Huber"})).is(201);
    mill.get("/api/v1/kunden/0197f3a0-0000-7000-8000-000000000000").is(404);
    let first = format!("/leitstand/f/{}", mill.tenant);
    for (role, is_managing) in [("ansehen", true), ("buero", false), ("verwalten", true)] {
        let mut browser = person(&server, &[role, "--role", role, "--tenant", "Mühle"]);
        // The row of the refused request is written a moment later.
        let mut overview = browser.get(&first);
        for _ in 0..100 {
            if overview.text.contains("Abgelehnte Anfragen") || !is_managing {
                break;
            }
            std::thread::sleep(Duration::from_millis(100));
            overview = browser.get(&first);
        }
        assert_eq!(overview.text.contains("Abgelehnte Anfragen"), is_managing, "{role}");
        assert_eq!(overview.text.contains(">Schlüssel</a>"), is_managing, "{role}");
        let seen = crawl(&mut browser, &first);
        assert!(seen > 20, "{role} saw {seen} pages");
    }
}

/// Opens everything reachable by links from here; returns how many pages.
fn crawl(browser: &mut Browser, first: &str) -> usize {
    let (mut seen, mut next) = (BTreeSet::new(), vec![first.to_owned()]);
    while let Some(path) = next.pop() {
        if !seen.insert(path.clone()) || seen.len() > 150 {
            continue;
        }
        let shown = browser.get(&path);
        assert_ne!(shown.status, 403, "{path}");
        next.extend(links(&shown.text));
    }
    seen.len()
}
