//! Settlement schemes in the browser: the list, and one scheme in words.

use serde_json::{Value, json};

use super::person;
use crate::harness::Server;
use crate::trade::abrechnungen::{A, Hof, SCHEMES, wheat};

/// All kinds of steps and limits.
fn schritte() -> Value {
    let row = |von: &str, bis: &str, satz: &str| json!({"von": von, "bis": bis, "satz": satz});
    json!([
        {"nr": 1, "code": "besatz", "text": "Besatz", "wirkung": "menge", "regel": "faktor", "merkmal": "besatz",
         "richtung": "ueber", "basis": "2", "satz": "1", "bezug": "brutto"},
        {"nr": 2, "code": "schwund", "text": "Schwund", "wirkung": "menge", "regel": "standardgewicht",
         "merkmal": "feuchte", "richtung": "ueber", "basis": "15", "zaehlt_ab": "14.5", "satz": "0.5"},
        {"nr": 3, "code": "protein", "text": "Protein laut Liste", "wirkung": "preis", "regel": "tabelle",
         "merkmal": "protein", "einheit": "EUR/t",
         "zeilen": [row("11.0", "11.9", "-6"), row("12.0", "12.9", "0"), row("13.0", "14.9", "8.5")]},
        {"nr": 4, "code": "hl", "text": "Naturalgewicht", "wirkung": "preis", "regel": "faktor", "einheit": "%",
         "merkmal": "hl_gewicht", "richtung": "unter", "basis": "77", "grenzwert": "70", "satz": "-1",
         "bezug": "vorher", "fehlt": "keine"},
        {"nr": 5, "code": "trocknung", "text": "Trocknung", "wirkung": "kosten", "regel": "faktor", "einheit": "EUR/t",
         "merkmal": "feuchte", "richtung": "ueber", "basis": "14.5", "schritt": "0.5", "angefangen": true,
         "satz": "-1.75", "bezug": "nach:besatz"},
        {"nr": 6, "code": "labor", "text": "Labor", "wirkung": "kosten", "regel": "fest", "einheit": "EUR",
         "satz": "-12.5"},
        {"nr": 7, "code": "mutterkorn", "text": "Reinigung", "wirkung": "kosten", "regel": "staffel",
         "einheit": "EUR/t", "merkmal": "mutterkorn", "richtung": "ueber", "basis": "0.02", "bezug": "netto",
         "gestaffelt": true, "fehlt": "keine",
         "zeilen": [{"bis": "0.05", "satz": "-5"}, {"bis": "0.1", "satz": "-25"}]},
    ])
}

#[test]
fn a_scheme_is_read_in_words_with_its_versions_and_its_sheet() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::of(&server);
    let grenzen = json!([
        {"merkmal": "fallzahl", "richtung": "unter", "wert": "220", "aktion": "hinweis", "text": "weich"},
        {"merkmal": "schaedlinge", "richtung": "ueber", "wert": "0", "aktion": "abweisen", "text": "Schädlinge"},
    ]);
    let first = wheat(
        json!({"schritte": schritte(), "grenzen": grenzen, "mittelung": "partie", "bestand": "brutto"}),
    );
    let id = hof.post(SCHEMES, first).id();
    hof.post(SCHEMES, wheat(json!({"nummer": "ROGGEN<b>", "artikel": ["R"], "gueltig_von": "2026-08-01"})))
        .is(201);
    let mut browser = person(hof.mill.server, &["Erika", "--role", "buero"]);
    let firma = format!("/leitstand/f/{}", hof.mill.client.tenant);
    let list = format!("{firma}/annahme/schemata");
    assert!(browser.get(&format!("{firma}/annahme")).is(200).text.contains(&list));
    let shown = browser.get(&list);
    for text in ["WEIZEN", "ab 01.01.2000", "ROGGEN&lt;b&gt;", "ab 01.08.2026", &format!("{list}/{id}")] {
        assert!(shown.is(200).text.contains(text), "{text}: {}", shown.text);
    }
    assert!(!shown.text.contains(">ja<"), "nothing follows them yet: {}", shown.text);
    let held = browser.get(&format!("{list}?gueltig_am=2026-07-25"));
    assert!(held.is(200).text.contains("WEIZEN") && !held.text.contains("ROGGEN"), "{}", held.text);
    let page = format!("{list}/{id}");
    let shown = browser.get(&page);
    for text in [
        "Besatz (%)",
        "über 2 %",
        "1 % je 1 %",
        "angeliefertes Gewicht",
        "über 15 %, gezählt ab 14,5 %",
        "(Wert − Basis) / (100 − Basis) + 0,5 %",
        "Gewicht davor",
        "laut Tabelle, in €/t",
        "Protein laut Liste",
        "11 bis 11,9 %",
        "−6",
        "8,5",
        "Satz in €/t",
        "Naturalgewicht (entfällt, wo nicht gemessen wird)",
        "unter 77 kg/hl, höchstens bis 70 kg/hl",
        "−1 % je 1 kg/hl",
        "Preis davor",
        "−1,75 €/t je angefangene 0,5 %",
        "Gewicht nach Besatz",
        "−12,5 €",
        "je Anlieferung",
        "Reinigung: jede Stufe mit ihrem Satz",
        "bis 0,05 %",
        "über 0,05 bis 0,1 %",
        "Abrechnungsgewicht",
        "unter 220 s",
        "Hinweis",
        "Lebende Schädlinge (0 oder 1)",
        "über 0<",
        "wird nicht angenommen",
        "ein gemeinsames Mittel",
        "das gewogene Gewicht",
        "annahme/rechner?schema=",
    ] {
        assert!(shown.is(200).text.contains(text), "{text}: {}", shown.text);
    }
    assert!(!shown.text.contains("Biozertifikat"), "{}", shown.text);
    let drawn = browser.get(&format!("{page}/pdf?version=1"));
    assert!(drawn.is(200).text.starts_with("%PDF"), "{}", drawn.text);
    // A further version; the old one can still be read.
    let next = wheat(json!({"gueltig_von": "2026-07-01", "bio": true}));
    hof.post(&format!("{SCHEMES}/{id}/versionen"), next).is(201);
    hof.note(24_860, A, json!({}));
    let shown = browser.get(&page);
    for text in ["Protein", "Biozertifikat", "?version=1", "01.01.2000 bis 30.06.2026", "<dd>ja</dd>"] {
        assert!(shown.is(200).text.contains(text), "{text}: {}", shown.text);
    }
    let old = browser.get(&format!("{page}?version=1"));
    assert!(
        old.is(200).text.contains("Protein laut Liste") && old.text.contains("<dd>nein</dd>"),
        "{}",
        old.text
    );
    assert!(browser.get(&list).text.contains(">ja<"));
    browser.get(&format!("{page}?version=3")).is(404);
    browser.get(&format!("{page}?version=viel")).is(200);
    browser.get(&format!("{page}/pdf?version=3")).is(404);
    browser.get(&format!("{list}/{}", hof.mill.partner_id("Hof"))).is(404);
    browser.get(&format!("{list}/nichts")).is(404);
    browser.post(&page, &[]).is(405);
}
