//! Settlement in the browser: values entered by hand, a lock released, receipts ticked, all rows shown before
//! anything is stored.

use serde_json::{Value, json};

use super::{Browser, person};
use crate::harness::Server;
use crate::trade::abrechnungen::{A, Hof, SCHEMES, wheat};

/// Logs in a person who may settle; returns the browser and the path of the company's pages.
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
    assert!(refused.text.contains("id=\"fehler-wert-feuchte\""), "and why, at its field: {}", refused.text);
    let refused = browser.fill(&form, &[("wert-besatz", "1"), ("wert-protein", "101")]);
    assert!(refused.is(400).text.contains("id=\"fehler-wert-protein\""), "{}", refused.text);
    assert!(browser.fill(&form, &[]).is(400).text.contains("mindestens einen Messwert"));
    browser.fill(&form, &[("wert-feuchte", "16,2"), ("wert-fallzahl", "232"), ("quelle", "labor")]).is(303);
    let shown = browser.get(&note);
    for text in
        ["nicht als A-Weizen (fallzahl: 232, Grenze 250)", "24.116", "Labor: Fallzahl 232 s, Feuchte 16,2 %"]
    {
        assert!(shown.is(200).text.contains(text), "{text}: {}", shown.text);
    }
    let form = format!("{note}/freigabe");
    let refused = browser.fill(&form, &[("grund", "")]);
    assert!(refused.is(400).text.contains("id=\"fehler-grund\""), "{}", refused.text);
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
    browser.fill(&advance, &[(&*tick, "ja"), ("abschlag.prozent", "50"), ("abschliessen", "ja")]).is(303);
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

/// A refusal by field name is shown beside the field, or above the form, in the words of the form.
#[test]
fn what_is_wrong_with_a_settlement_is_said_in_words_of_the_form() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::of(&server);
    hof.post(SCHEMES, wheat(json!({}))).is(201);
    let kontrakt = hof.post(
        "/api/v1/kontrakte",
        json!({"kontrakt_nr": "K-1", "gesamtmenge": 1, "gesamtmenge_einheit": "t"}),
    );
    let priced = hof.note(24_860, A, json!({"kontrakt_id": kontrakt.id()}));
    let unpriced = hof.note(1_000, A, json!({"preis_je_t": null, "lieferdatum": "2026-07-01"}));
    let (mut browser, firma) = erika(&hof);
    let form = format!("{firma}/annahme/abrechnen?partner_id={}", hof.mill.partner_id("Hof"));
    let ticks = [&priced, &unpriced].map(|id| format!("schein-{id}"));
    let mut said = |form: &str, fields: &[(&str, &str)], expected: &[&str]| {
        let refused = browser.fill(form, fields);
        for text in expected {
            assert!(refused.is(400).text.contains(text), "{text}: {}", refused.text);
        }
        refused
    };
    let [one, other] = [0, 1].map(|at| (ticks[at].as_str(), "ja"));
    said(&form, &[other], &["id=\"fehler-preis_je_t\"", "keinen Preis. Bitte ihn hier eintragen."]);
    said(
        &form,
        &[one],
        &["id=\"fehler-rest_preis_je_t\"", "23.116 kg überliefert. Bitte hier einen Preis dafür eintragen."],
    );
    let locked = [1, 2].map(|_| format!("schein-{}", hof.note(1_000, "besatz=1", json!({}))));
    let both = [(locked[0].as_str(), "ja"), (locked[1].as_str(), "ja")];
    let both = said(
        &form,
        &both,
        &["Annahmeschein: AS-2026-00003 ist gesperrt", "Annahmeschein: AS-2026-00004 ist gesperrt"],
    );
    assert!(!both.text.contains("annahmeschein_ids"), "{}", both.text);
    let advance = format!("{form}&art=abschlag");
    said(&advance, &[one], &["prozent oder preis_je_t"]);
    said(&advance, &[one, ("abschlag.prozent", "0")], &["muss über 0 sein"]);
    said(&advance, &[one, ("abschlag.prozent", "viel")], &["id=\"fehler-abschlag.prozent\""]);
    said(&advance, &[other, ("abschlag.prozent", "50")], &["id=\"fehler-preis_je_t\""]);
    let supplement = format!("{form}&art=nachverguetung");
    said(&form, &[one, ("notizen", &"x".repeat(5_000))], &["id=\"fehler-notizen\""]);
    browser
        .fill(&advance, &[other, ("abschlag.prozent", "100"), ("preis_je_t", "210"), ("abschliessen", "ja")])
        .is(303);
    let less = [other, ("preis_je_t", "100"), ("abschliessen", "ja")];
    let refused = browser.fill(&form, &less);
    assert!(
        refused.is(400).text.contains("zurückzahlen. Soll das so sein, bitte unten ankreuzen."),
        "{}",
        refused.text
    );
    browser.fill(&form, &[&less[..], &[("negativ_zulassen", "ja")]].concat()).is(303);
    let refused = browser.fill(&supplement, &[other, ("zuschlag_je_t", "-1")]);
    assert!(refused.is(400).text.contains("bitte unten ankreuzen"), "{}", refused.text);
}

#[test]
fn notes_are_chosen_by_contract_and_days() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::of(&server);
    let kontrakt = hof.post("/api/v1/kontrakte", json!({"kontrakt_nr": "K-1"})).id();
    for (day, more) in [("2026-07-01", json!({"kontrakt_id": kontrakt})), ("2026-07-02", json!({}))] {
        hof.note(1_000, "", crate::trade::lager::and(json!({"lieferdatum": day}), more));
    }
    let (mut browser, firma) = erika(&hof);
    let list = format!("{firma}/annahme/abrechnen");
    let partner = hof.mill.partner_id("Hof");
    let mut shown = |query: &str| {
        let page = browser.get(&format!("{list}?partner_id={partner}{query}"));
        let has = |nummer: &str| page.is(200).text.contains(&format!("{nummer} abrechnen"));
        ([has("AS-2026-00001"), has("AS-2026-00002")], page.text.clone())
    };
    assert_eq!(shown("").0, [true, true]);
    assert_eq!(shown("&von=2026-07-02").0, [false, true]);
    assert_eq!(shown("&bis=2026-07-01").0, [true, false]);
    assert_eq!(shown("&von=2026-07-02&bis=2026-07-01").0, [false, false]);
    assert_eq!(shown("&von=morgen").0, [true, true]);
    let (found, text) = shown(&format!("&kontrakt_id={kontrakt}&von=2026-06-01"));
    assert_eq!(found, [true, false]);
    assert!(text.contains("Nur Annahmescheine auf den Kontrakt K-1"), "{text}");
    // The other kinds of settlement are offered for the same receipts.
    assert!(
        text.contains("art=abschlag&amp;partner%5Fid=") && text.contains("&amp;von=2026%2D06%2D01"),
        "{text}"
    );
    let owed = browser.get(&list).is(200).text.clone();
    assert!(owed.contains(&format!("kontrakt_id={kontrakt}")), "{owed}");
}

#[test]
fn a_settlement_is_corrected_from_the_page_of_its_note() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::of(&server);
    hof.post(SCHEMES, wheat(json!({}))).is(201);
    let note = hof.with_el(24_860, A, json!({}));
    let (mut browser, firma) = erika(&hof);
    let page = format!("{firma}/annahme/{note}");
    let form = format!("{page}/korrektur");
    assert!(!browser.get(&page).is(200).text.contains("korrigieren"));
    browser.get(&form).is(404);
    let body = json!({"art": "end", "annahmeschein_ids": [note], "abschliessen": true});
    hof.post("/api/v1/abrechnungen", body).is(201);
    browser.fill(&format!("{page}/analyse"), &[("wert-feuchte", "15,7"), ("wert-protein", "12,1")]).is(303);
    assert!(browser.get(&page).is(200).text.contains("Abrechnung korrigieren"));
    assert!(browser.get(&form).is(200).text.contains("ER-2026-00001 wird storniert"));
    let id = browser.get(&form).hidden("abrechnung").unwrap();
    let refused = browser.fill(&form, &[("abrechnung", &id), ("grund", "")]);
    assert!(refused.is(400).text.contains("id=\"fehler-grund\""), "{}", refused.text);
    browser.fill(&form, &[("abrechnung", "viel"), ("grund", "Labor")]).is(404);
    let to =
        browser.fill(&form, &[("abrechnung", &id), ("grund", "Labor")]).is(303).header("location").to_owned();
    let shown = browser.get(&to);
    for text in ["ER-2026-00003", "5.097,96", "Die neue Gutschrift ist angelegt."] {
        assert!(shown.is(200).text.contains(text), "{text}: {}", shown.text);
    }
}

#[test]
fn the_calculator_takes_a_scheme_that_does_not_hold_yet() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::of(&server);
    let id = hof.post(SCHEMES, wheat(json!({"gueltig_von": "2027-07-01"}))).id();
    let (mut browser, firma) = erika(&hof);
    let page = format!("{firma}/annahme/rechner");
    assert!(!browser.get(&page).is(200).text.contains("WEIZEN"));
    let shown = browser.get(&format!("{page}?schema={id}"));
    assert!(shown.is(200).text.contains("sobald ein Gewicht dasteht"), "{}", shown.text);
    let shown = browser.get(&format!(
        "{page}?schema={id}&menge_kg=24.860&preis_je_t=210&besatz=2,8&feuchte=16,2&protein=11,6"
    ));
    for text in ["4.919,66", "Weizen, Version 1 von WEIZEN"] {
        assert!(shown.is(200).text.contains(text), "{text}: {}", shown.text);
    }
    browser.get(&format!("{page}?schema={}", hof.mill.partner_id("Hof"))).is(404);
}

#[test]
fn sums_that_no_number_holds_are_refused_in_words() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::of(&server);
    for _ in 0..10 {
        hof.note(999_999_999_999, "", json!({}));
    }
    let (mut browser, firma) = erika(&hof);
    let list = browser.get(&format!("{firma}/annahme"));
    assert!(list.is(400).text.contains("Bitte Mengen und Preise prüfen."), "{}", list.text);
}
