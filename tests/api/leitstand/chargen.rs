//! Stock, batches, and where a batch came from and went.

use serde_json::json;

use super::person;
use crate::harness::Server;
use crate::herkunft::{Scene, scene};

#[test]
fn stock_and_batches_are_found_and_a_batch_is_corrected() {
    let server = Server::start();
    let Scene { mill, hof, order, .. } = scene(&server);
    let firma = format!("/leitstand/f/{}", mill.client.tenant);
    let mut browser = person(&server, &["Erika", "--role", "verwalten"]);
    let stock = browser.get(&format!("{firma}/bestand?sortierung=-artikelnummer"));
    let batches = format!("{firma}/chargen?artikel_id={}&amp;mit_bestand=true", mill.artikel_id("W"));
    assert!(stock.is(200).text.contains(&batches), "{}", stock.text);
    let list = browser.get(&batches.replace("&amp;", "&"));
    assert!(list.is(200).text.contains(&hof) && list.text.contains("H1") && list.text.contains("G1"));
    assert!(!browser.get(&format!("{firma}/chargen?suche=H1")).is(200).text.contains(">G1<"));

    let one = format!("{firma}/chargen/{hof}");
    let shown = browser.get(&one);
    for text in
        ["40 kg", "EL-2026-00001", &order, "+100", "-60", "<polyline", "Am meisten: 100 kg, jetzt: 40 kg"]
    {
        assert!(shown.is(200).text.contains(text), "{text}: {}", shown.text);
    }
    let change = format!("{one}/aendern");
    let stale = browser.get(&change);
    let (token, version) = (stale.hidden("token").unwrap(), stale.hidden("version").unwrap());
    let refused = browser.fill(&change, &[("mhd", "gestern"), ("herkunftsland", "")]);
    assert!(refused.is(400).text.contains("id=\"fehler-mhd\""), "{}", refused.text);
    let fields = [("mhd", "2027-03-31"), ("herkunftsland", "AT"), ("fremde_charge_nr", "F-9")];
    browser.fill(&change, &fields).is(303);
    let stored = mill.client.get(&format!("/api/v1/chargen/{hof}")).body;
    assert_eq!((&stored["herkunftsland"], &stored["fremde_charge_nr"]), (&json!("AT"), &json!("F-9")));
    let shown = browser.get(&one);
    assert!(shown.text.contains("31.03.2027") && shown.text.contains("Erika"), "{}", shown.text);
    browser.post(&change, &[("token", &token), ("version", &version), ("mhd", "")]).is(412);
}

#[test]
fn the_way_of_a_batch_is_drawn_told_and_written_for_the_authority() {
    let server = Server::start();
    let Scene { mill, hof, gut, meal, order } = scene(&server);
    let firma = format!("/leitstand/f/{}", mill.client.tenant);
    mill.client
        .put(&format!("/api/v1/kunden/{}", mill.partner_id("Kd")), json!({"name": "=1+1 <i>Kd</i>"}))
        .is(200);
    let mut browser = person(&server, &["Paul"]);
    let way = browser.get(&format!("{firma}/chargen/{meal}/herkunft"));
    way.is(200);
    let drawing = way.text.split("<svg class=\"weg\"").nth(1).unwrap().split("</svg>").next().unwrap();
    for text in [&hof, &gut, "H1", "G1", "Hof", "Gut", "Kd2", "Kd3", "Bestand 30 kg", &order, "&lt;i&gt;Kd"] {
        assert!(drawing.contains(text), "{text}: {drawing}");
    }
    // Two suppliers, two batches of theirs, the meal and three customers: seven lines between them.
    assert_eq!((drawing.matches("<rect").count(), drawing.matches("<path").count()), (8, 7));
    assert!(!way.text.contains("<i>Kd"), "{}", way.text);
    let tables = way.text.split("</svg>").nth(1).unwrap();
    for text in ["LS-2026-00001", "EL-2026-00002", "09.07.2026", "30 kg", "60 kg"] {
        assert!(tables.contains(text), "{text}: {tables}");
    }
    let csv = browser.get(&format!("{firma}/chargen/{meal}/csv"));
    assert!(csv.is(200).header("content-disposition").starts_with("attachment"));
    assert!(csv.text.starts_with("\u{feff}abschnitt;") && csv.text.contains("'=1+1"), "{}", csv.text);
    // Of a single batch there is nothing to draw.
    let lonely = mill.client.post("/api/v1/chargen", json!({"artikel_id": mill.artikel_id("W")})).id();
    assert!(
        browser.get(&format!("{firma}/chargen/{lonely}/herkunft")).is(200).text.contains("class=\"empty\"")
    );
}

#[test]
fn a_picture_has_an_end_whatever_became_of_the_batch() {
    let server = Server::start();
    let Scene { mill, meal, .. } = scene(&server);
    // As many customers as a picture does not hold.
    for number in 0..200 {
        let name = format!("Viele {number}");
        mill.client.post("/api/v1/kunden", json!({"name": name, "kundennr": format!("V{number}")})).is(201);
        let item = json!({"artikelnr": "R", "menge": "0.1", "charge_id": meal});
        mill.post_for(&format!("V{number}"), "LS", item).is(201);
    }
    let mut browser = person(&server, &["Paul"]);
    let way = browser.get(&format!("/leitstand/f/{}/chargen/{meal}/herkunft", mill.client.tenant));
    assert_eq!(way.is(200).text.matches("<rect").count(), 150);
    assert!(way.text.contains("Das Bild zeigt die nächsten 150") && way.text.contains("Viele 199"));
}
