//! Settlement in the browser: values by hand, a lock ended, notes ticked, all rows before anything is stored.

use serde_json::{Value, json};

use super::{Browser, person};
use crate::abrechnungen::{A, Hof, SCHEMES, wheat};
use crate::harness::Server;

/// Who may settle, and where the pages of the company begin.
fn erika(hof: &Hof<'_>) -> (Browser, String) {
    let browser = person(hof.mill.server, &["Erika", "--role", "buero"]);
    (browser, format!("/leitstand/f/{}", hof.mill.client.tenant))
}

fn with_limit(server: &Server) -> Hof<'_> {
    let hof = Hof::of(server);
    let limit = json!([{"merkmal": "fallzahl", "richtung": "unter", "wert": "250", "aktion": "sperren",
        "text": "nicht als A-Weizen"}]);
    hof.post(SCHEMES, wheat(json!({"grenzen": limit}))).is(201);
    hof
}

fn documents(server: &Server) -> i64 {
    server.sql("select count(*) from beleg")
}

#[test]
fn values_are_entered_and_a_lock_is_ended_by_hand() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = with_limit(&server);
    let id = hof.note(24_860, "besatz=2.80 protein=11.6", json!({}));
    let (mut browser, firma) = erika(&hof);
    let note = format!("{firma}/annahme/{id}");
    let shown = browser.get(&note);
    for text in ["Gesperrt: ", "fehlt der Messwert feuchte", "Analyse eintragen", "Freigeben"] {
        assert!(shown.is(200).text.contains(text), "{text}: {}", shown.text);
    }
    let form = format!("{note}/analyse");
    assert!(browser.get(&form).is(200).text.contains("bisher 2,8"), "what was measured stands beside it");
    let refused = browser.fill(&form, &[("wert-feuchte", "viel"), ("geraet", "GT-7")]);
    assert!(refused.is(400).text.contains("GT-7"), "what was typed stays: {}", refused.text);
    browser.fill(&form, &[]).is(400);
    browser.fill(&form, &[("wert-feuchte", "16,2"), ("wert-fallzahl", "232"), ("quelle", "labor")]).is(303);
    let shown = browser.get(&note);
    for text in
        ["nicht als A-Weizen (fallzahl: 232, Grenze 250)", "24.116", "(labor) fallzahl 232, feuchte 16,2"]
    {
        assert!(shown.is(200).text.contains(text), "{text}: {}", shown.text);
    }
    let form = format!("{note}/freigabe");
    browser.fill(&form, &[("grund", "")]).is(400);
    browser.fill(&form, &[("grund", "Der Chef nimmt ihn")]).is(303);
    let shown = browser.get(&note);
    assert!(shown.is(200).text.contains("Freigabe: Der Chef nimmt ihn"), "{}", shown.text);
    assert!(!shown.text.contains("Gesperrt: "), "{}", shown.text);
}

#[test]
fn ticked_notes_are_tried_and_then_settled() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = with_limit(&server);
    let good = hof.with_el(24_860, &format!("{A} fallzahl=300"), json!({}));
    let locked = hof.note(1_000, &format!("{A} fallzahl=200"), json!({}));
    let (mut browser, firma) = erika(&hof);
    let list = format!("{firma}/annahme/abrechnen");
    let partner = hof.mill.partner_id("Hof");
    let form = format!("{list}?partner_id={partner}");
    let owed = browser.get(&list);
    for text in ["Hof Süd", "25.086", &*format!("?partner_id={partner}")] {
        assert!(owed.is(200).text.contains(text), "{text}: {}", owed.text);
    }
    let shown = browser.get(&form).is(200).text.clone();
    assert!(
        shown.contains(&format!(
            "name=\"schein-{good}\" value=\"ja\" aria-label=\"AS-2026-00001 abrechnen\" checked"
        )),
        "{shown}"
    );
    assert!(
        !shown.contains(&format!(
            "name=\"schein-{locked}\" value=\"ja\" aria-label=\"AS-2026-00002 abrechnen\" checked"
        )),
        "{shown}"
    );
    let before = documents(&server);
    browser.fill(&form, &[]).is(400);
    let (tick, both) = (format!("schein-{good}"), format!("schein-{locked}"));
    let refused = browser.fill(&form, &[(&*tick, "ja"), (&*both, "ja")]);
    assert!(refused.is(400).text.contains("AS-2026-00002 ist gesperrt"), "{}", refused.text);
    let seen = browser.fill(&form, &[(&*tick, "ja"), ("schritt", "pruefen")]);
    for text in [
        "noch ist nichts gespeichert",
        "4.919,66",
        "383,73",
        "5.303,39",
        "−545",
        "Protein (Zeile 11 bis 11,9)",
    ] {
        assert!(seen.is(200).text.contains(text), "{text}: {}", seen.text);
    }
    assert_eq!(documents(&server), before);
    let advance = format!("{form}&art=abschlag");
    browser.fill(&advance, &[(&*tick, "ja"), ("abschlag_prozent", "50"), ("abschliessen", "ja")]).is(303);
    assert!(browser.get(&list).is(200).text.contains("2.459,83"), "the advance stands in the list");
    let made = browser.fill(&form, &[(&*tick, "ja"), ("abschliessen", "ja")]);
    let to = made.is(303).header("location").to_owned();
    assert!(to.contains("/belege/"), "{to}");
    assert!(browser.get(&to).is(200).text.contains("Die Gutschrift ist angelegt."));
    let note = browser.get(&format!("{firma}/annahme/{good}"));
    assert!(
        note.is(200).text.contains("ER-2026-00002") && note.text.contains("Zur Gutschrift"),
        "{}",
        note.text
    );
    let more = format!("{form}&art=nachverguetung");
    browser.fill(&more, &[(&*tick, "ja"), ("zuschlag_je_t", "10")]).is(303);
    assert_eq!(documents(&server), before + 3);
}

#[test]
fn the_calculator_stores_nothing_and_says_what_is_wrong() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = with_limit(&server);
    let (mut browser, firma) = erika(&hof);
    let page = format!("{firma}/annahme/rechner");
    assert!(browser.get(&page).is(200).text.contains("WEIZEN – Weizen"));
    let id: Value = hof.mill.client.get(SCHEMES).is(200)["data"][0]["id"].clone();
    let schema = format!("{page}?schema={}", id.as_str().unwrap());
    assert!(browser.get(&schema).is(200).text.contains("Protein (%)"));
    let asked =
        format!("{schema}&menge_kg=24.860&preis_je_t=210&besatz=2,8&feuchte=16,2&protein=11,6&fallzahl=232");
    let shown = browser.get(&asked);
    for text in ["24.116", "204,00", "4.919,66", "nicht als A-Weizen (fallzahl: 232, Grenze 250)"] {
        assert!(shown.is(200).text.contains(text), "{text}: {}", shown.text);
    }
    for (more, expected) in
        [("menge_kg=-5", "über 0"), ("menge_kg=viel", "Zahl"), ("menge_kg=5&feuchte=101", "100 %")]
    {
        let shown = browser.get(&format!("{schema}&{more}"));
        assert!(shown.is(200).text.contains(expected), "{more}: {}", shown.text);
    }
    assert_eq!(documents(&server), 0);
}
