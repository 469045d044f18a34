//! Contracts in the browser: written by people of the office, keeping earlier choices.

use serde_json::json;

use super::person;
use crate::harness::Server;

#[test]
fn a_contract_is_written_and_changed_in_the_browser() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let scheme = |nummer: &str, artikel: &str| {
        json!({"nummer": nummer, "bezeichnung": "Ernte",
        "artikel": [artikel], "gueltig_von": "2000-01-01"})
    };
    let partner = mill.post("/api/v1/kunden", json!({"name": "Hof Ahrens", "kundennr": "L-1"})).id();
    let wheat = json!({"artikelnummer": "W", "bezeichnung": "Weizen", "einheit": "kg", "ep_netto": "0.2"});
    let artikel = mill.post("/api/v1/artikel", wheat).id();
    let mut browser = person(&server, &["Bert", "--role", "buero"]);
    let firma = format!("/leitstand/f/{}", mill.tenant);
    mill.post("/api/v1/artikel", json!({"artikelnummer": "G", "bezeichnung": "Gerste", "einheit": "kg"}))
        .is(201);
    for (nummer, artikel) in [("WEIZEN", "W"), ("GERSTE", "G")] {
        mill.post("/api/v1/abrechnungsschemata", scheme(nummer, artikel)).is(201);
    }
    // Partner and article are chosen one after the other, and each step keeps the other choice.
    let new = format!("{firma}/kontrakte/neu");
    assert!(browser.get(&format!("{firma}/kontrakte")).is(200).text.contains(&new));
    let step = browser.get(&format!("{new}?waehlen=partner_id&suche=ahrens"));
    assert!(step.is(200).text.contains(&format!("href=\"?partner_id={partner}\"")), "{}", step.text);
    let step = browser.get(&format!("{new}?waehlen=artikel_id&partner_id={partner}&suche=weizen"));
    let chosen = format!("?artikel_id={artikel}&partner_id={partner}");
    let links = step.is(200).text.replace("%2D", "-").replace("&amp;", "&");
    assert!(links.contains(&chosen), "{links}");
    let chosen = format!("{new}{chosen}");
    let form = browser.get(&chosen);
    assert!(form.is(200).text.contains("<strong>Hof Ahrens</strong>"), "{}", form.text);
    assert!(
        form.text.contains("name=\"positionen[0].artikelnr\" type=\"text\" value=\"W\""),
        "{}",
        form.text
    );
    let mut fields = vec![
        ("partner_id", partner.as_str()),
        ("kontrakt_typ", "einkauf"),
        ("gesamtmenge", "1.000"),
        ("gesamtmenge_einheit", "dt"),
        ("gueltig_bis", "2026-12-31"),
        ("erledigt", "nein"),
        ("positionen[0].artikelnr", "W"),
        ("positionen[0].menge", "1.000"),
        ("positionen[0].preis", "-19,5"),
        ("positionen[1].artikelnr", ""),
        ("positionen[1].menge", ""),
        ("positionen[1].preis", ""),
    ];
    // Entered values stay, and mistakes are shown at their fields.
    fields.push(("kontrakt_nr", "V-26-1"));
    let refused = browser.fill(&chosen, &fields);
    assert!(refused.is(400).text.contains("id=\"fehler-positionen[0].preis\""), "{}", refused.text);
    assert!(refused.text.contains("value=\"-19,5\"") && refused.text.contains("value=\"V-26-1\""));
    fields[8].1 = "195,00";
    fields.push(("schema", "GERSTE"));
    let refused = browser.fill(&chosen, &fields);
    assert!(refused.is(400).text.contains("id=\"fehler-schema\""), "{}", refused.text);
    fields.last_mut().unwrap().1 = "WEIZEN";
    let made = browser.fill(&chosen, &fields);
    let page = made.is(303).header("location").to_owned();
    let shown = browser.get(&page);
    // 20 EUR/dt is usual.
    assert!(shown.is(200).text.contains("Bitte Preis und Einheit prüfen"), "{}", shown.text);
    let api = page.replace(&firma, "/api/v1");
    let stored = mill.get(&api).body;
    assert_eq!(
        json!([stored["partner_name"], stored["gesamtmenge"], stored["positionen"][0]["preis"]]),
        json!(["Hof Ahrens", "1000.000", "195.0000"])
    );
    assert_eq!(stored["positionen"].as_array().unwrap().len(), 1);
    assert_eq!(stored["schema"], "WEIZEN");
    assert!(
        shown.text.contains("<dt>Abrechnungsschema</dt>") && shown.text.contains("Zum Schema"),
        "{}",
        shown.text
    );
    // The existing position is kept, a further one is new.
    let id = stored["positionen"][0]["id"].as_str().unwrap().to_owned();
    let change = format!("{page}/aendern");
    let form = browser.get(&change);
    assert_eq!(form.is(200).hidden("positionen[0].id").as_deref(), Some(id.as_str()));
    assert_eq!(form.hidden("partner_id").as_deref(), Some(partner.as_str()));
    let fields = [
        ("positionen[0].id", id.as_str()),
        ("positionen[0].position", "1"),
        ("positionen[0].artikelnr", "W"),
        ("positionen[0].menge", "600"),
        ("positionen[0].preis", "19,50"),
        ("positionen[1].artikelnr", "W"),
        ("positionen[1].menge", "400"),
        ("positionen[1].preis", "20"),
    ];
    browser.fill(&change, &fields).is(303);
    let stored = mill.get(&api).body;
    assert_eq!(
        json!([
            stored["positionen"][0]["id"],
            stored["positionen"][0]["menge"],
            stored["positionen"][1]["position"]
        ]),
        json!([id, "600.000", 2])
    );
    assert_eq!(stored["gesamtmenge"], "1000.000", "what the form did not send stays");
    let shown = browser.get(&page);
    assert!(
        shown.is(200).text.contains("Nr. 1: 600 zu 19,50 EUR") && shown.text.contains(">Bert</td>"),
        "{}",
        shown.text
    );
    // Somebody else changed it in the meantime.
    let mut old = browser.get(&change);
    mill.put(&api, json!({"referenz": "R"})).is(200);
    let version = old.hidden("version").unwrap();
    let token = old.hidden("token").unwrap();
    old = browser.post(&change, &[("token", &token), ("version", &version), ("referenz", "S")]);
    old.is(412);
    assert_eq!(mill.get(&api).body["referenz"], "R");
}
