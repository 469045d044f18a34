//! The harvest of the handbook (docs/handbuch/ernte.md), from the first lorry to the supplement, and payments
//! beyond the delivered quantity.

use serde_json::{Value, json};

use super::{A, Hof, NOTES, PATH, items, sums, werte};
use crate::harness::{Answer, Server};
use crate::trade::lager::and;

#[test]
fn the_harvest_of_the_handbook() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let grenze = json!([{"merkmal": "fallzahl", "richtung": "unter", "wert": 220, "aktion": "sperren",
        "text": "dann Futterweizen"}]);
    let hof = Hof::with_scheme(&server, json!({"grenzen": grenze}));
    let note = hof.note(24_860, &format!("{A} fallzahl=212"), json!({}));
    let schein = hof.schein(&note);
    assert_eq!((&schein["gesperrt"], &schein["netto_menge_kg"]), (&json!(true), &json!("24116.000")));
    let advance = |hof: &Hof<'_>| hof.settle("abschlag", &[&note], json!({"abschlag": {"preis_je_t": 160}}));
    advance(&hof).refused(400, "ANNAHMESCHEIN_GESPERRT");
    let released = json!({"grund": "als Brotweizen übernommen"});
    hof.mill.client.put(&format!("{NOTES}/{note}/freigabe"), released).is(200);
    let numbered = |answer: &Answer, expected: [&str; 4]| {
        let nummer = answer.is(201)["beleg_nummer"].as_str().unwrap().to_owned();
        let shown: Vec<String> = [nummer].into_iter().chain(sums(&answer.body)).collect();
        assert_eq!(shown, expected);
    };
    numbered(&advance(&hof), ["ER-2026-00001", "3858.56", "300.97", "4159.53"]);
    let rows = hof.preview("end", &[&note], json!({})).is(200)["annahmescheine"][0].clone();
    let kg: Vec<&Value> =
        rows["rechnung"]["zeilen"].as_array().unwrap().iter().map(|row| &row["ergebnis"]).collect();
    assert_eq!(kg[..2], [&json!("-199.000"), &json!("-545.000")]);
    assert_eq!((&rows["teile"][0]["preis_je_t"], &rows["betrag"]), (&json!("204.0000"), &json!("4919.66")));
    let made = hof.settle("end", &[&note], json!({}));
    numbered(&made, ["ER-2026-00002", "1061.10", "82.77", "1143.87"]);
    let measured = json!({"werte": werte("feuchte=15.7 protein=12.1 fallzahl=231")});
    hof.post(&format!("{NOTES}/{note}/analysen"), measured).is(201);
    let corrected = hof.post(&format!("{PATH}/{}/korrektur", made.id()), json!({"grund": "Labor"}));
    numbered(&corrected, ["ER-2026-00004", "1239.40", "96.67", "1336.07"]);
    assert_eq!(corrected.body["storniert"], "ER-2026-00003");
    assert_eq!(
        items(&hof.beleg(&corrected)),
        ["24.116 210.0000 5064.36", "1.000 33.6000 33.60", "1.000 -3858.5600 -3858.56"]
    );
    let supplement = hof.settle("nachverguetung", &[&note], json!({"zuschlag_je_t": 10}));
    numbered(&supplement, ["ER-2026-00005", "242.76", "18.94", "261.70"]);
    hof.storno(&corrected).refused(400, "ABRECHNUNG_HAT_FOLGE");
    hof.storno(&supplement).is(200);
    hof.storno(&corrected).is(200);
    assert_eq!(hof.state(&note), "offen");
}

#[test]
fn what_is_paid_beyond_the_delivery_is_said() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::with_scheme(&server, json!({}));
    let note = hof.with_el(24_860, A, json!({}));
    assert_eq!(hof.preview("end", &[&note], json!({})).hint_codes(), Vec::<String>::new());
    let better = json!({"werte": werte("feuchte=15.7")});
    hof.post(&format!("{NOTES}/{note}/analysen"), better).hints("GEWICHT_WIDERSPRUCH");
    let seen = hof.preview("end", &[&note], json!({}));
    let message = seen.hints("MENGE_UEBER_EINGANG")["hinweise"][0]["message"].as_str().unwrap();
    assert!(message.contains("160 kg") && message.contains("EL-2026-00001"), "{message}");
}

/// Document fields of the request are stored in the document.
#[test]
fn the_document_takes_its_papers_from_the_request() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::with_scheme(&server, json!({}));
    let note = hof.note(1_000, A, json!({}));
    let papers = json!({"beleg_datum": "2026-07-24", "zahlungsziel_tage": 9, "notizen": "Ernte 2026",
        "external_ref": "erp-9"});
    let beleg = hof.beleg(&hof.settle("end", &[&note], papers.clone()));
    let shown = and(papers, json!({"beleg_datum": "2026-07-24T00:00:00.000Z"}));
    for (field, value) in shown.as_object().unwrap() {
        assert_eq!(beleg[field], *value, "{field}");
    }
}
