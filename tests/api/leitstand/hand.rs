//! Work that people do by hand if no program does it: weighing, counting, settling.

use serde_json::json;

use super::partner::{at_field, kunde, mill, shows};
use crate::harness::Server;

/// The target of the first link with these words.
pub fn link(text: &str, words: &str) -> String {
    let before = text.split(&format!(">{words}<")).next().unwrap();
    assert!(before.len() < text.len(), "{words}: {text}");
    let begin = before.rfind("href=\"").unwrap() + 6;
    before[begin..].split('"').next().unwrap().replace("&amp;", "&")
}

#[test]
fn a_lorry_is_weighed_twice_in_the_browser() {
    let server = Server::start();
    let (mill, mut browser, firma) = mill(&server);
    kunde(&mill, json!({"name": "Huber", "ort": "Ulm"}));
    kunde(&mill, json!({"name": "Meier"}));
    mill.post("/api/v1/artikel", json!({"artikelnummer": "W", "bezeichnung": "Weizen"})).is(201);
    let new = link(&browser.get(&format!("{firma}/wiegungen")).is(200).text, "Fahrzeug wiegen");
    let found = browser.get(&format!("{new}?suche=hub"));
    assert!(!found.is(200).text.contains("Meier"), "{}", found.text);
    let of_huber = format!("{new}{}", link(&found.text, "Huber"));
    let form = browser.get(&of_huber);
    let what = browser.get(&format!("{new}{}", link(&form.is(200).text, "wählen")));
    let of_weizen = format!("{new}{}", link(&what.is(200).text, "Weizen"));

    let refused = browser
        .fill(&of_weizen, &[("gewicht_erst_kg", "viel"), ("waage_id", "1"), ("kennzeichen", "UL-A 1")]);
    shows(at_field(&refused.is(400).text, "gewicht_erst_kg"), &["value=\"viel\"", "role=\"alert\""]);
    shows(at_field(&refused.text, "kennzeichen"), &["value=\"UL-A 1\""]);
    let fields = [("gewicht_erst_kg", "27.500"), ("waage_id", "1"), ("kennzeichen", "UL-A 1")];
    let one = browser.fill(&of_weizen, &fields).is(303).header("location").to_owned();
    shows(&browser.get(&one).is(200).text, &["Huber", "Weizen", "27.500", "UL-A 1"]);
    let second = link(&browser.get(&one).text, "Zweite Wiegung");
    shows(
        at_field(&browser.fill(&second, &[("gewicht_zweit_kg", "27.500")]).is(400).text, "gewicht_zweit_kg"),
        &["gleich"],
    );
    browser.fill(&second, &[("gewicht_zweit_kg", "12.000")]).is(303);
    let done = browser.get(&one);
    shows(&done.is(200).text, &["15.500", "Wiegeschein (PDF)"]);
    assert!(!done.text.contains("Zweite Wiegung</a>"), "{}", done.text);
    assert_eq!(mill.get("/api/v1/wiegungen").is(200)[0]["gewicht_netto_kg"], "15500.000");
}

#[test]
fn what_was_counted_is_booked() {
    let server = Server::start();
    let (mill, mut browser, firma) = mill(&server);
    let article = |number: &str, tracked: bool| {
        let body = json!({"artikelnummer": number, "bezeichnung": number, "einheit": "kg",
            "chargenpflichtig": tracked});
        mill.post("/api/v1/artikel", body).id()
    };
    let (sack, weizen) = (article("Sack", false), article("Weizen", true));
    let charge = mill.post("/api/v1/chargen", json!({"artikel_id": weizen, "fremde_charge_nr": "F"})).id();
    for (page, api) in [
        (format!("artikel/{sack}"), format!("artikel/{sack}/bestand")),
        (format!("chargen/{charge}"), format!("chargen/{charge}")),
    ] {
        let form = link(&browser.get(&format!("{firma}/{page}")).is(200).text, "Bestand zählen");
        shows(
            at_field(&browser.fill(&form, &[("bestand", "1.250,5"), ("grund", "")]).is(400).text, "grund"),
            &["role=\"alert\""],
        );
        browser.fill(&form, &[("bestand", "1.250,5"), ("grund", "Inventur")]).is(303);
        assert_eq!(mill.get(&format!("/api/v1/{api}")).is(200)["bestand"], "1250.500", "{page}");
    }
    assert!(!browser.get(&format!("{firma}/artikel/{weizen}")).is(200).text.contains("Bestand zählen"));
}

#[test]
fn an_invoice_is_settled_and_what_has_no_counterpart_is_named() {
    let server = Server::start();
    let (mill, mut browser, firma) = mill(&server);
    kunde(&mill, json!({"name": "Huber", "kundennr": "H"}));
    mill.post(
        "/api/v1/artikel",
        json!({"artikelnummer": "S", "bezeichnung": "Sack", "einheit": "Stk", "mwst_satz": 7}),
    )
    .is(201);
    let body = json!({"beleg_typ": "RE", "kundennummer": "H",
        "items": [{"artikelnr": "S", "menge": 3, "ep_netto": 2}]});
    let id = mill.post("/api/v1/belege", body).id();
    let one = format!("{firma}/belege/{id}");
    assert!(!browser.get(&one).is(200).text.contains(">Erledigt<"), "an open one is not settled");
    mill.post(&format!("/api/v1/belege/{id}/abschliessen"), json!({})).is(200);
    let form = link(&browser.get(&one).is(200).text, "Erledigt");
    shows(&browser.get(&form).is(200).text, &["fehlt noch eine Lieferung", "3 Stk", "Sack"]);
    browser.fill(&form, &[("ohne_gegenbeleg", "ja")]).is(303);
    let shown = mill.get(&format!("/api/v1/belege/{id}"));
    assert_eq!(
        (&shown.is(200)["status"], &shown.body["ohne_gegenbeleg"]),
        (&json!("erledigt"), &json!(true))
    );
    assert!(!browser.get(&one).is(200).text.contains(">Erledigt<"));
}
