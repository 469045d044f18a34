//! Previewing the sheet of a document before it is saved.

use serde_json::json;

use super::partner::{at_field, kunde, mill, shows};
use super::{Browser, Shown, press};
use crate::harness::{COMPLETE, Client, Server};
use crate::programs::needs;
use crate::trade::ausfertigung::{letters, text};

fn preview(browser: &mut Browser, path: &str, form: &Shown, typed: &[(&str, &str)]) -> String {
    let shown = press(browser, path, form, typed, "vorschau");
    assert_eq!(shown.is(200).header("content-type"), "application/pdf");
    assert!(letters(&shown.bytes).contains("ENTWURF"));
    text(&shown.bytes)
}

/// Everything that would differ after a document was written: documents, their numbers, the log, the feed.
fn kept(server: &Server) -> String {
    server.sql(
        "select (select count(*) from beleg) || ' ' || (select count(*) from nummernkreis) || ' '
           || (select count(*) from audit where pfad like '%/belege/%' and methode = 'POST')",
    )
}

fn number(mill: &Client, path: &str) -> String {
    let id = path.rsplit('/').next().unwrap();
    mill.get(&format!("/api/v1/belege/{id}")).is(200)["beleg_nummer"].as_str().unwrap().to_owned()
}

#[test]
fn the_sheet_of_what_is_typed_is_a_draft_of_which_nothing_is_kept() {
    needs!("pdftotext");
    let server = Server::start();
    let (mill, mut browser, firma) = mill(&server);
    kunde(&mill, json!({"name": "Huber Hof", "kundennr": "H1", "plz": "86650", "ort": "Wemding"}));
    let new = format!("{firma}/belege/neu?typ=RE");
    let typed = [
        ("partner", "H1"),
        ("items[0].bezeichnung", "Fracht nach Wemding"),
        ("items[0].menge", "2,5"),
        ("items[0].einheit", "Std"),
        ("items[0].ep_netto", "80"),
        ("items[0].mwst_satz", "19"),
    ];
    let form = browser.get(&new);
    assert!(form.is(200).text.contains("formtarget=\"_blank\""), "{}", form.text);
    let without = press(&mut browser, &new, &form, &typed, "vorschau");
    shows(&without.is(404).text, &["unter „Firma“", "value=\"2,5\""]);
    server.set(&mill, COMPLETE);

    let before = kept(&server);
    let said = preview(&mut browser, &new, &form, &typed);
    for words in ["Huber Hof", "Fracht nach Wemding", "2,5 Std", "80,00 €/Std", "238,00"] {
        assert!(said.contains(words), "{words} is not in {said}");
    }
    assert!(!said.contains("RE-2026") && !said.contains("Zahlen mit Code"), "{said}");
    assert_eq!(kept(&server), before);

    let refused = press(&mut browser, &new, &form, &typed[1..], "vorschau");
    shows(at_field(&refused.is(400).text, "partner"), &["role=\"alert\""]);
    shows(&refused.text, &["value=\"2,5\""]);

    // A document that would be final at once is previewed as a draft, too.
    server.set(&mill, &[("abschluss_bei_anlage", "RE")]);
    let said = preview(&mut browser, &new, &form, &typed);
    assert!(!said.contains("RE-2026"), "{said}");
    assert_eq!(kept(&server), before);
    server.set(&mill, &[("abschluss_bei_anlage", "")]);

    let saved = press(&mut browser, &new, &form, &typed, "").is(303).header("location").to_owned();
    assert_eq!(number(&mill, &saved), "RE-2026-00001", "the previews took no number");
    let change = format!("{saved}/aendern");
    let form = browser.get(&change);
    let said = preview(&mut browser, &change, &form, &[("items[0].menge", "4")]);
    assert!(said.contains("RE-2026-00001") && said.contains("320,00"), "{said}");
    let id = saved.rsplit('/').next().unwrap();
    assert_eq!(mill.get(&format!("/api/v1/belege/{id}")).is(200)["summe_netto"], "200.00");

    // A supplier's document has no sheet of ours; a Gutschrift has one.
    let is_offered = |page: &Shown| page.is(200).text.contains("Vorschau des Blatts");
    assert!(!is_offered(&browser.get(&format!("{firma}/belege/neu?typ=ER"))));
    assert!(is_offered(&browser.get(&format!("{firma}/belege/neu?typ=GS"))));
}

#[test]
fn a_step_that_finalising_does_not_know_makes_nothing_final() {
    let server = Server::start();
    let (mill, mut browser, firma) = mill(&server);
    let id = kunde(&mill, json!({"name": "Huber"}));
    let items = json!([{"bezeichnung": "Fracht", "menge": 1, "ep_netto": 5, "mwst_satz": 19}]);
    let beleg = mill.post("/api/v1/belege", json!({"beleg_typ": "AN", "kunden_id": id, "items": items})).id();
    for step in ["vorschau", "pruefen", "weiter"] {
        browser.fill(&format!("{firma}/belege/{beleg}/abschliessen"), &[("schritt", step)]).is(200);
        assert_eq!(mill.get(&format!("/api/v1/belege/{beleg}")).is(200)["status"], "offen", "{step}");
    }
}
