//! Editing articles and their price tiers in the Leitstand.

use serde_json::json;

use super::partner::{EVIL, at_field, mill, shows};
use super::person;
use crate::harness::Server;

const TIERS: [(&str, &str); 2] = [("staffelpreise[0].ab_menge", "1.000"), ("staffelpreise[0].preis", "0,29")];

#[test]
fn an_article_is_written_with_german_numbers_and_changed_with_who_did_it() {
    let server = Server::start();
    let (mill, mut browser, firma) = mill(&server);
    let new = format!("{firma}/artikel/neu");
    let typed = [("artikelnummer", "W"), ("bezeichnung", "Weizen"), ("preis", "1.234,5"), ("mwst_satz", "7")];
    let led = browser.fill(&new, &[&typed[..], &TIERS].concat());
    let one = led.is(303).header("location").to_owned();
    shows(&browser.get(&one).is(200).text, &["Weizen", "1.234,50", "1.000", "0,29", "<dd>7</dd>"]);
    let id = one.rsplit('/').next().unwrap();
    let api = format!("/api/v1/artikel/{id}");
    let shown = mill.get(&api);
    assert_eq!(
        (&shown.is(200)["preis"], &shown.body["chargenpflichtig"]),
        (&json!("1234.5000"), &json!(false))
    );
    assert_eq!(shown.body["staffelpreise"], json!([{"ab_menge": "1000.000", "preis": "0.2900"}]));

    // The form shows numbers as people type them; sending it back unchanged changes nothing.
    let form = browser.get(&format!("{one}/aendern"));
    shows(at_field(&form.is(200).text, "preis"), &["value=\"1234,50\""]);
    shows(at_field(&form.text, "staffelpreise[0].ab_menge"), &["value=\"1000\""]);
    let change = |browser: &mut super::Browser, fields: &[(&str, &str)]| {
        browser.fill(&format!("{one}/aendern"), &[&typed[..], fields].concat()).is(303);
    };
    change(&mut browser, &TIERS);
    assert_eq!(mill.get(&format!("{api}/verlauf")).body["count"], 0);
    change(
        &mut browser,
        &[("bezeichnung2", "Futter"), ("staffelpreise[0].ab_menge", ""), ("staffelpreise[0].preis", "")],
    );
    let shown = mill.get(&api);
    assert_eq!(
        (&shown.is(200)["bezeichnung2"], &shown.body["staffelpreise"]),
        (&json!("Futter"), &json!([]))
    );
    assert_eq!(mill.get(&format!("{api}/verlauf")).body["data"][0]["geaendert_von"], "person 1");
    shows(&browser.get(&one).is(200).text, &["Erika"]);
}

#[test]
fn what_is_refused_stands_at_its_field_and_what_was_typed_stays() {
    let server = Server::start();
    let (mill, mut browser, firma) = mill(&server);
    let new = format!("{firma}/artikel/neu");
    let named = [("artikelnummer", EVIL), ("bezeichnung", "Weizen")];
    for (fields, at, why) in [
        (&[("preis", "-5")][..], "preis", "nicht negativ"),
        (&[("preis", "zwölf")], "preis", "value=\"zwölf\""),
        (&[("bezeichnung", "")], "bezeichnung", "fehlt"),
        (
            &[
                ("staffelpreise[0].ab_menge", ""),
                ("staffelpreise[0].preis", ""),
                ("staffelpreise[1].ab_menge", "5"),
                ("staffelpreise[1].preis", ""),
            ],
            "staffelpreise[0].preis",
            "fehlt",
        ),
    ] {
        let shown = browser.fill(&new, &[fields, &named].concat());
        shows(at_field(&shown.is(400).text, at), &[why, "role=\"alert\""]);
        assert!(!shown.text.contains(EVIL), "{}", shown.text);
    }
    assert_eq!(mill.get("/api/v1/artikel").body["count"], 0);
    // An unknown tax rate is stored, with a hint.
    let stored = browser.fill(&new, &[("artikelnummer", "H"), ("bezeichnung", "Hafer"), ("mwst_satz", "12")]);
    let shown = browser.get(stored.is(303).header("location"));
    shows(&shown.is(200).text, &["Den Steuersatz 12", "Bitte prüfen"]);
}

#[test]
fn who_reads_has_no_form_and_a_form_of_an_older_state_is_refused() {
    let server = Server::start();
    let (mill, mut browser, firma) = mill(&server);
    let id = mill.post("/api/v1/artikel", json!({"artikelnummer": "W", "bezeichnung": "Weizen"})).id();
    let one = format!("{firma}/artikel/{id}");
    let form = browser.get(&format!("{one}/aendern"));
    let hidden = ["token", "version"].map(|name| (name, form.hidden(name).unwrap()));
    mill.put(&format!("/api/v1/artikel/{id}"), json!({"preis": 1})).is(200);
    let fields = [(hidden[0].0, hidden[0].1.as_str()), (hidden[1].0, hidden[1].1.as_str()), ("preis", "2")];
    let late = browser.post(&format!("{one}/aendern"), &fields);
    shows(&late.is(412).text, &["inzwischen geändert"]);
    let mut reader = person(&server, &["Rita"]);
    for (path, offer) in [(format!("{firma}/artikel"), "Neuer Artikel"), (one.clone(), "/aendern")] {
        assert!(!reader.get(&path).is(200).text.contains(offer), "{path}");
        shows(&browser.get(&path).is(200).text, &[offer]);
    }
    let token = reader.get("/leitstand/abmelden").hidden("token").unwrap();
    reader
        .post(&format!("{one}/aendern"), &[("token", token.as_str()), ("version", "2"), ("preis", "2")])
        .is(403);
    assert_eq!(mill.get(&format!("/api/v1/artikel/{id}")).body["preis"], "1.0000");
}
