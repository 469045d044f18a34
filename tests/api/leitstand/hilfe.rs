//! The handbook as help: each page links to its section, and no link within it is broken.

use std::collections::{HashMap, VecDeque};

use partnerd::leitstand::PAGES;
use partnerd::leitstand::kit::page::{Page, Take};

use super::{Browser, address, person};
use crate::harness::Server;

/// All values of an attribute in the text.
fn attributes<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
    text.split(&format!(" {name}=\"")).skip(1).map(|rest| rest.split('"').next().unwrap()).collect()
}

#[test]
fn each_page_leads_to_what_the_handbook_says_of_it() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    let chapter = browser.get("/leitstand/hilfe/seiten").is(200).text.clone();
    let known = attributes(&chapter, "id");
    let mut seen = 0;
    for page in PAGES.iter().filter(|page| !page.pattern.contains("{id}")) {
        let path = address(page, mill.tenant, "");
        let shown = browser.get(&path);
        if shown.status != 200 || !shown.header("content-type").starts_with("text/html") {
            continue;
        }
        let links = attributes(&shown.text, "href");
        let help = links.iter().find(|link| link.starts_with("/leitstand/hilfe"));
        let help = help.unwrap_or_else(|| panic!("{path} leads to no help"));
        let section = help.split_once('#').map(|(_, section)| section);
        assert_eq!(section.is_none(), path == "/leitstand/hilfe", "{path}: {help}");
        assert!(section.is_none_or(|section| known.contains(&section)), "{path}: there is no {help}");
        seen += 1;
    }
    assert!(seen > 25, "only {seen} pages were looked at");
    // Pages of a record or of a form link to the section of their list.
    for page in PAGES.iter().filter(|page| !page.pattern.contains("/hilfe")) {
        let place = |page: &Page| {
            let rest = page.pattern.trim_start_matches("/leitstand").trim_start_matches("/f/{firma}");
            rest.split('/').nth(1).unwrap_or_default().to_owned()
        };
        // The section is named like the menu entry that leads there.
        let entry = PAGES.iter().filter(|&other| place(other) == place(page)).find_map(|other| other.menu);
        let section = entry.map_or(place(page), |entry| {
            entry.to_lowercase().replace(' ', "-").replace('ä', "ae").replace('ö', "oe").replace('ü', "ue")
        });
        let is_page = !matches!(page.take, Take::Nothing) || page.menu.is_some();
        assert!(!is_page || known.contains(&&*section), "docs/handbuch/seiten.md has no section {section}");
    }
}

#[test]
fn whoever_cannot_log_in_reads_the_handbook_and_its_links_lead_somewhere() {
    let server = Server::start();
    let mut browser = Browser::on(&server);
    assert!(browser.get("/leitstand/anmelden").is(200).text.contains("/leitstand/hilfe/seiten#anmelden"));
    let mut pages: HashMap<String, String> = HashMap::new();
    let (mut todo, mut links) = (VecDeque::from(["/leitstand/hilfe".to_owned()]), Vec::new());
    while let Some(path) = todo.pop_front() {
        if pages.contains_key(&path) {
            continue;
        }
        let shown = browser.get(&path);
        assert!(shown.is(200).text.contains("<html lang=\"de\">") && !shown.text.contains("<img"), "{path}");
        assert!(!shown.text.contains("<!-- ") && !shown.text.contains("<p></p>"), "{path}: {}", shown.text);
        assert_eq!(shown.text.matches("<h1>").count(), 1, "{path}");
        for link in attributes(&shown.text, "href") {
            let (to, section) = link.split_once('#').unwrap_or((link, ""));
            let to = if to.is_empty() { path.clone() } else { to.to_owned() };
            assert!(!to.contains(".md"), "{path}: {link}");
            if to.starts_with("/leitstand/hilfe") {
                todo.push_back(to.clone());
                links.push((to, section.to_owned()));
            }
        }
        pages.insert(path, shown.text);
    }
    assert_eq!(pages.len(), 16, "{:?}", pages.keys());
    for (to, section) in &links {
        let is_there = section.is_empty() || attributes(&pages[to], "id").contains(&section.as_str());
        assert!(is_there, "{to} has no {section}");
    }
    assert!(links.len() > 60, "only {} links were found", links.len());
    // Tables scroll by themselves and can be reached by keyboard.
    let text = &pages["/leitstand/hilfe/stoerungen"];
    assert_eq!(text.matches("<table>").count(), text.matches("class=\"scroll\" tabindex=\"0\"").count());
    browser.get("/leitstand/hilfe/gibt-es-nicht").is(404);
    browser.get("/leitstand/hilfe/..%2f..%2fsecret").is(404);
}
