//! Papers for the farmer: the sheet, with everything needed to recompute it, and the e-invoice.

use serde_json::{Value, json};

use super::{A, B, Hof, sums};
use crate::harness::{Answer, Server};
use crate::programs::needs;
use crate::trade::ausfertigung::{keep, pdf, text, xml};

fn sheet(hof: &Hof<'_>, beleg: &Value) -> String {
    let path = format!("/api/v1/belege/{}/pdf", beleg.as_str().unwrap());
    let drawn = pdf(&hof.mill.client, &path);
    drawn.is(200);
    text(&drawn.bytes)
}

fn written(hof: &Hof<'_>, made: &Answer, name: &str) -> String {
    let xml = xml(&hof.mill.client, made.body["beleg_id"].as_str().unwrap());
    keep(name, &xml);
    xml
}

#[test]
fn the_sheet_has_all_rows_of_each_lorry() {
    needs!("pdftotext");
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::with_scheme(&server, json!({}));
    let notes = [hof.with_el(24_860, A, json!({})), hof.with_el(12_140, B, json!({}))];
    let made = hof.settle("end", &[&notes[0], &notes[1]], json!({}));
    let told = sheet(&hof, &made.body["beleg_id"]);
    for expected in [
        "Gutschrift ER-2026-00001",
        "AS-2026-00001 · vom 20.07.2026 · Weizen · Schema WEIZEN, Version 1",
        "Anlieferung 24.860 kg",
        "besatz über 2 % 2,8 0,8 % 24.860 kg −199 24.661 kg",
        "feuchte über 14.5 % 16,2 2,21 % 24.661 kg −545 24.116 kg",
        "Abrechnungsgewicht 24.116 kg",
        "Grundpreis 210,00 €/t",
        "Protein (Zeile 11 bis 11,9) 11,6 −6 €/t −6,00 204,00 €/t",
        "Ware: 24.116 kg × 204,00 €/t 4.919,66 €",
        "Betrag netto 4.919,66 €",
        "AS-2026-00002 · vom 20.07.2026",
        "Zusammen, 2 Anlieferungen",
        "Abrechnungsgewicht 36.256 kg",
    ] {
        assert!(told.contains(expected), "{expected} is missing in {told}");
    }
    // The paper of the receipt names the document that settled it.
    let drawn = pdf(&hof.mill.client, &format!("{}/{}/pdf", super::NOTES, notes[0]));
    drawn.is(200);
    let told = text(&drawn.bytes);
    assert!(told.contains("Abgerechnet mit ER-2026-00001: 24.116 kg."), "{told}");
    assert!(told.contains("feuchte über 14.5 % 16,2 2,21 % 24.661 kg −545 24.116 kg"), "{told}");
}

/// The advance of a pool, whose price nobody knows yet, and one on the value of the goods.
#[test]
fn the_sheet_of_an_advance_says_what_it_is_and_on_what() {
    needs!("pdftotext");
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::with_scheme(&server, json!({}));
    let pool = hof.note(24_860, A, json!({"preis_je_t": null, "geraet": "GT-7"}));
    let made = hof.settle("abschlag", &[&pool], json!({"abschlag": {"preis_je_t": 160}}));
    let is_advance = "Abschlag auf gelieferte Rohware; abgerechnet wird sie später";
    let told = sheet(&hof, &made.is(201)["beleg_id"]);
    for expected in [
        is_advance,
        "Abschlag auf Weizen, 24.116 kg × 160,00 €/t",
        "Schema WEIZEN, Version 1 · Gerät GT-7",
        "Abrechnungsgewicht 24.116 kg",
        "Abschlag: 24.116 kg × 160,00 €/t 3.858,56 €",
    ] {
        assert!(told.contains(expected), "{expected} is missing in {told}");
    }
    assert!(
        !told.contains("Protein (Zeile") && !told.contains("Betrag netto"),
        "its price does not count: {told}"
    );
    // Each value is shown with the device that measured it last.
    let valued = hof.note(24_860, "besatz=2.80 feuchte=19", json!({"geraet": "GT-7"}));
    let later =
        json!({"werte": super::werte("protein=11.6 feuchte=16.2"), "geraet": "NIR", "quelle": "labor"});
    hof.post(&format!("{}/{valued}/analysen", super::NOTES), later).is(201);
    let made = hof.settle("abschlag", &[&valued], json!({"abschlag": {"prozent": "62.5"}}));
    let told = sheet(&hof, &made.is(201)["beleg_id"]);
    for expected in [
        is_advance,
        "Abschlag auf Weizen, 24.116 kg, 62,5 % von 4.919,66 €",
        "Gerät GT-7 (besatz), NIR (feuchte, protein)",
        "Ware: 24.116 kg × 204,00 €/t 4.919,66 €",
        "Wert nach dieser Analyse, netto 4.919,66 €",
        "Abschlag: 24.116 kg, 62,5 % von 4.919,66 € 3.074,79 €",
    ] {
        assert!(told.contains(expected), "{expected} is missing in {told}");
    }
    let made = hof.settle("end", &[&valued], json!({}));
    let told = sheet(&hof, &made.is(201)["beleg_id"]);
    assert!(told.contains("Endabrechnung gelieferter Rohware") && !told.contains(is_advance), "{told}");
    assert!(told.contains("abzüglich Abschläge −3.074,79 €"), "{told}");
    let drawn = pdf(&hof.mill.client, &format!("{}/{valued}/pdf", super::NOTES));
    let told = text(&drawn.bytes);
    assert!(told.contains("Gerät GT-7 (besatz), NIR"), "{told}");
}

#[test]
fn a_storno_and_a_later_scheme_leave_the_rows_as_they_were_printed() {
    needs!("pdftotext");
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::with_scheme(&server, json!({}));
    let note = hof.with_el(24_860, A, json!({}));
    let made = hof.settle("end", &[&note], json!({}));
    let before = sheet(&hof, &made.body["beleg_id"]);
    let id = hof.mill.client.get(super::SCHEMES).is(200)["data"][0]["id"].as_str().unwrap().to_owned();
    let other = super::wheat(json!({"schritte": [], "gueltig_von": "2026-07-21"}));
    hof.post(&format!("{}/{id}/versionen", super::SCHEMES), other).is(201);
    assert_eq!(sheet(&hof, &made.body["beleg_id"]), before);
    let cancelled = hof.storno(&made);
    let counter = sheet(&hof, &cancelled.is(200)["storno_beleg_id"]);
    assert!(counter.contains("−545 24.116 kg"), "{counter}");
}

/// An advance, a final of zero, a negative one, a supplement, forty lorries: each is checked by the validators.
#[test]
fn the_e_invoice_names_values_rows_and_what_went_before() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::with_scheme(&server, json!({}));
    let note = hof.with_el(24_860, A, json!({}));
    let advance = hof.settle("abschlag", &[&note], json!({"abschlag": {"prozent": 100}}));
    written(&hof, &advance, "abschlag");
    let made = hof.settle("end", &[&note], json!({}));
    assert_eq!(sums(made.is(201))[2], "0.00");
    let zero = written(&hof, &made, "end-null");
    let attribute = |name: &str, wert: &str| {
        format!("<ram:Description>{name}</ram:Description><ram:Value>{wert}</ram:Value>")
    };
    let flat: String = zero.lines().map(str::trim).collect();
    for (name, wert) in [
        ("Annahmeschein", "AS-2026-00001"),
        ("Anlieferung", "24.860 kg"),
        ("feuchte", "16,2"),
        ("Grundpreis", "210,00 EUR/t"),
        ("besatz über 2 %", "−199 kg"),
        ("Protein", "−6,00 EUR/t"),
        ("Schema", "WEIZEN, Version 1"),
    ] {
        assert!(flat.contains(&attribute(name, wert)), "{name}: {wert} in {flat}");
    }
    assert!(flat.contains("<ram:TypeCode>389<"), "{flat}");
    let referenced = "<ram:InvoiceReferencedDocument><ram:IssuerAssignedID>ER-2026-00001<";
    assert!(flat.contains(referenced), "the advance is named in {flat}");
    let supplement = hof.settle("nachverguetung", &[&note], json!({"zuschlag_je_t": 10}));
    let more = written(&hof, &supplement, "nachverguetung");
    assert!(more.contains("ER-2026-00002"), "the final settlement is named in {more}");
    let second = hof.note(24_860, A, json!({}));
    hof.settle("abschlag", &[&second], json!({"abschlag": {"preis_je_t": 215}})).is(201);
    let below = hof.settle("end", &[&second], json!({"negativ_zulassen": true}));
    assert!(sums(below.is(201))[0].starts_with('-'));
    written(&hof, &below, "end-negativ");
    let lorries: Vec<String> = (0..40).map(|at| hof.note(20_000 + at * 20, A, json!({}))).collect();
    let lorries: Vec<&String> = lorries.iter().collect();
    let many = hof.settle("end", &lorries, json!({}));
    assert_eq!(hof.beleg(&many)["positionen"].as_array().map(Vec::len), Some(40));
    written(&hof, &many, "vierzig");
    assert_eq!(many.body["annahmescheine"].as_array().map(Vec::len), Some(40));
    assert_eq!(hof.beleg(&many)["erechnung_fehlt"], Value::Null);
}
