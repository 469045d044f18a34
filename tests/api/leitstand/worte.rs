//! The words on pages for what programs read as codes: document types and events.

use serde_json::json;

use super::person;
use crate::harness::{COMPLETE, Server};
use crate::trade::lager::{Mill, buy, plain, sell};

#[test]
fn documents_are_called_by_what_they_are() {
    let server = Server::start();
    let mill = Mill::with(&server, "Mühle", COMPLETE);
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    let firma = format!("/leitstand/f/{}", mill.client.tenant);
    let batch = mill.receive("H1", 100);
    mill.post("AN", plain(1)).is(201);
    mill.post("LS", sell(10, &batch)).is(201);
    let invoice = mill.post("RE", plain(1)).id();
    mill.finalise(&invoice);
    mill.storno(&invoice).is(200);

    let home = browser.get(&firma);
    for tile in ["Angebot (1), netto", "Lieferschein (1), netto", "Einkaufslieferschein (1), netto"] {
        assert!(home.is(200).text.contains(tile), "{tile}: {}", home.text);
    }
    // A cancelled document counts as zero, and so does the one that cancels it.
    assert!(!home.text.contains("Rechnung (1)"), "{}", home.text);
    let list = browser.get(&format!("{firma}/belege"));
    let called = |page: &str, what: &str| page.contains(&format!(r#"<td data-head="Art">{what}</td>"#));
    for what in ["Angebot", "Lieferschein", "Rechnung", "Stornorechnung", "Einkaufslieferschein"] {
        assert!(called(&list.is(200).text, what), "{what}: {}", list.text);
    }
    assert!(list.text.contains(r#"<option value="ER">Eingangsrechnung</option>"#), "{}", list.text);
    let quotes = browser.get(&format!("{firma}/belege?typ=AN"));
    assert!(called(&quotes.is(200).text, "Angebot") && !called(&quotes.text, "Rechnung"), "{}", quotes.text);
    let found = browser.get(&format!("{firma}/suche?suche=LS-"));
    // A single hit opens by itself.
    assert_eq!(found.status, 303, "{}", found.text);
    assert!(browser.get(found.header("location")).text.contains("<dd>Lieferschein</dd>"));
    assert!(called(&browser.get(&format!("{firma}/suche?suche=Kd")).text, "Stornorechnung"));

    let one = browser.get(&format!("{firma}/chargen/{batch}"));
    for what in ["Einkaufslieferschein", "Lieferschein"] {
        let cell = format!(r#"<td data-head="Was">{what}</td>"#);
        assert!(one.is(200).text.contains(&cell), "{what}: {}", one.text);
    }
    assert!(one.text.contains("<dt>Entstanden durch</dt><dd>Beleg</dd>"), "{}", one.text);
    let way = browser.get(&format!("{firma}/chargen/{batch}/herkunft"));
    for what in ["Lieferant, Einkaufslieferschein", "Empfänger, Lieferschein"] {
        assert!(way.is(200).text.contains(what), "{what}: {}", way.text);
    }
}

#[test]
fn histories_say_what_happened() {
    let server = Server::start();
    let mill = Mill::with(&server, "Mühle", COMPLETE);
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    let id = mill.post("RE", json!({"artikelnr": "S", "menge": 1})).id();
    mill.client.put(&format!("/api/v1/belege/{id}"), json!({"notizen": "eilt"})).is(200);
    mill.finalise(&id);
    mill.storno(&id).is(200);
    let shown = browser.get(&format!("/leitstand/f/{}/belege/{id}", mill.client.tenant));
    for what in ["geändert", "abgeschlossen", "storniert"] {
        let cell = format!(r#"<td data-head="Was geschah">{what}</td>"#);
        assert!(shown.is(200).text.contains(&cell), "{what}: {}", shown.text);
    }
}

#[test]
fn a_purchase_price_is_written_like_every_other_price() {
    let server = Server::start();
    let mill = Mill::of(&server);
    mill.post("EL", buy(100, "H1")).is(201);
    let id = mill.batch("H1")["id"].as_str().unwrap().to_owned();
    let mut browser = person(&server, &["Erika"]);
    let one = browser.get(&format!("/leitstand/f/{}/chargen/{id}", mill.client.tenant));
    assert!(one.is(200).text.contains("<dt>Einkaufspreis (EUR)</dt><dd>0,20</dd>"), "{}", one.text);
}
