//! Positions of a contract in goods receipts and settlements: which price pays which quantity, and what is left (D29g).

use serde_json::{Value, json};

use super::{Hof, NOTES, items, sums};
use crate::harness::{Answer, Server};
use crate::leitstand::person;
use crate::programs::needs;
use crate::trade::ausfertigung::{pdf, text};
use crate::trade::lager::and;

/// Creates a contract with Hof over wheat of these quantities and prices; returns its id and those of its positions.
fn contract(hof: &Hof<'_>, number: &str, of: &[(i64, i64)]) -> (Value, Vec<Value>) {
    let of: Vec<_> =
        of.iter().map(|(menge, preis)| json!({"artikelnr": "W", "menge": menge, "preis": preis})).collect();
    let body = json!({"kontrakt_nr": number, "kontrakt_typ": "EK", "partner_id": hof.mill.partner_id("Hof"),
        "gesamtmenge_einheit": "t", "positionen": of});
    let id = hof.post("/api/v1/kontrakte", body).id();
    let shown = hof.mill.client.get(&format!("/api/v1/kontrakte/{id}"));
    let positions = shown.is(200)["positionen"].as_array().unwrap();
    (json!(id), positions.iter().map(|position| position["id"].clone()).collect())
}

fn note(hof: &Hof<'_>, kg: i64, more: Value) -> String {
    hof.note(kg, "", and(json!({"preis_je_t": null}), more))
}

/// Weighs wheat in.
fn weigh(hof: &Hof<'_>, kg: i64, more: Value) -> Value {
    let first = json!({"waage_id": 1, "gewicht_erst_kg": kg + 10_000, "partner_id": hof.mill.partner_id("Hof"),
        "artikel_id": hof.mill.artikel_id("W")});
    let id = hof.post("/api/v1/wiegungen", and(first, more)).id();
    let path = format!("/api/v1/wiegungen/{id}/zweitwiegung");
    hof.mill.client.put(&path, json!({"gewicht_zweit_kg": 10_000})).is(200);
    json!(id)
}

fn netto(answer: &Answer) -> String {
    sums(answer.is(201))[0].clone()
}

#[test]
fn a_note_has_the_position_of_its_weighing_and_is_paid_at_its_price() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::of(&server);
    let (id, positions) = contract(&hof, "T", &[(20, 180), (20, 200)]);
    let weighing = weigh(&hof, 15_000, json!({"kontrakt_id": id, "kontrakt_position_id": positions[1]}));
    let body = json!({"wiegung_id": weighing, "lieferdatum": "2026-07-20", "fremde_charge_nr": "C1", "el_erzeugen": true});
    let made = hof.post(NOTES, body);
    // The contract gives the price of the EL, so none is missing.
    assert!(!made.hint_codes().contains(&"PREIS_FEHLT".to_owned()), "{}", made.body);
    let shown = hof.schein(&made.id());
    assert_eq!((&shown["kontrakt_id"], &shown["kontrakt_position_id"]), (&id, &positions[1]));
    let el = hof.mill.get(made.body["el_id"].as_str().unwrap())["positionen"][0].clone();
    assert_eq!((&el["kontrakt_position_id"], &el["ep_netto"]), (&positions[1], &json!("200.0000")));
    let settled = hof.settle("end", &[&made.id()], json!({}));
    assert_eq!(netto(&settled), "3000.00");
    let part = &settled.body["annahmescheine"][0]["teile"][0];
    assert_eq!(part["kontrakt_position_id"], positions[1]);
    assert_eq!(hof.beleg(&settled)["positionen"][0]["kontrakt_position_id"], positions[1]);
    assert!(!settled.hint_codes().iter().any(|code| code.starts_with("KONTRAKT")), "{}", settled.body);
    // What another note has left: 20 t of the first, 5 t of the second.
    let rest = note(&hof, 25_000, json!({"kontrakt_id": id}));
    let settled = hof.settle("end", &[&rest], json!({}));
    assert_eq!(items(&hof.beleg(&settled)), ["20.000 180.0000 3600.00", "5.000 200.0000 1000.00"]);
}

#[test]
fn the_page_and_the_paper_of_a_note_name_its_position_of_the_contract() {
    needs!("pdftotext");
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::of(&server);
    let (id, positions) = contract(&hof, "T", &[(20, 180), (20, 200)]);
    let client = &hof.mill.client;
    let mut browser = person(&server, &["Erika", "--role", "ansehen"]);
    for (more, expected) in
        [(json!({"kontrakt_position_id": positions[1]}), "T, Position 2"), (json!({"kontrakt_id": id}), "T")]
    {
        let note = note(&hof, 1_000, more);
        let page = browser.get(&format!("/leitstand/f/{}/annahme/{note}", client.tenant));
        let shown = format!("<dt>Kontrakt</dt><dd>{expected}</dd>");
        assert!(page.is(200).text.contains(&shown), "{expected}: {}", page.text);
        let drawn = pdf(client, &format!("{NOTES}/{note}/pdf"));
        drawn.is(200);
        let told = text(&drawn.bytes);
        assert!(told.contains(&format!("Kontrakt {expected} Hof Süd")), "{told}");
    }
}

#[test]
fn a_note_sends_a_position_of_its_contract_alone() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::of(&server);
    let (id, positions) = contract(&hof, "T", &[(20, 180), (20, 200)]);
    let (other, foreign) = contract(&hof, "U", &[(20, 170), (20, 175)]);
    let shown = |more: Value| {
        let shown = hof.schein(&note(&hof, 1_000, more));
        json!([shown["kontrakt_id"], shown["kontrakt_position_id"]])
    };
    assert_eq!(shown(json!({"kontrakt_position_id": positions[0]})), json!([id, positions[0]]));
    assert_eq!(shown(json!({"kontrakt_id": id})), json!([id, null]));
    let body = json!({"kundennummer": "Hof", "artikelnr": "W", "anliefermenge_kg": 1_000});
    let mixed = and(body, json!({"kontrakt_id": id, "kontrakt_position_id": foreign[0]}));
    let refused = hof.post(NOTES, mixed);
    assert_eq!(refused.refused(400, "KONTRAKT_NICHT_GEFUNDEN")["feld"], "kontrakt_position_id");
    // The position of a weighing holds for its own contract alone.
    let weighed = |more: Value| {
        let weighing = weigh(&hof, 1_000, json!({"kontrakt_position_id": positions[1]}));
        shown(and(json!({"wiegung_id": weighing}), more))
    };
    assert_eq!(weighed(json!({})), json!([id, positions[1]]));
    assert_eq!(weighed(json!({"kontrakt_id": id})), json!([id, positions[1]]));
    assert_eq!(weighed(json!({"kontrakt_id": other})), json!([other, null]));
    assert_eq!(weighed(json!({"kontrakt_position_id": foreign[1]})), json!([other, foreign[1]]));
}

#[test]
fn an_import_brings_the_position_of_a_contract_and_an_export_leaves_it() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::of(&server);
    let (id, positions) = contract(&hof, "T", &[(20, 180), (20, 200)]);
    let (other, _) = contract(&hof, "U", &[(20, 170)]);
    let import = |row: Value| {
        let row = and(json!({"belegnummer": "S-1"}), row);
        server.import(&hof.mill.client, "annahmescheine", &json!([row]).to_string())
    };
    let shown = || {
        let shown = hof.mill.client.get(NOTES).is(200)["data"][0].clone();
        json!([shown["kontrakt_id"], shown["kontrakt_position_id"]])
    };
    import(
        json!({"partner": "Hof", "artikelnummer": "W", "anliefermenge_kg": 900, "kontrakt_position_id": positions[1]}),
    );
    assert_eq!(shown(), json!([id, positions[1]]));
    let file = String::from_utf8(hof.mill.client.get(&format!("{NOTES}?format=csv")).bytes).unwrap();
    assert_eq!(
        server.import(&hof.mill.client, "annahmescheine", &file),
        "0 neu, 0 geändert, 1 unverändert\n"
    );
    import(json!({"kontrakt_id": id}));
    assert_eq!(shown(), json!([id, positions[1]]));
    import(json!({"kontrakt_id": other}));
    assert_eq!(shown(), json!([other, null]));
}

#[test]
fn notes_without_a_position_fill_what_others_leave() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::of(&server);
    let (id, _) = contract(&hof, "T", &[(20, 180), (20, 200)]);
    // The ELs have no position of their own among several: the settlement says which.
    let notes = [0, 1].map(|_| hof.with_el(15_000, "", json!({"kontrakt_id": id, "preis_je_t": null})));
    let made = hof.settle("end", &[&notes[0], &notes[1]], json!({}));
    assert_eq!(netto(&made), "5600.00");
    assert_eq!(
        items(&hof.beleg(&made)),
        ["15.000 180.0000 2700.00", "5.000 180.0000 900.00", "10.000 200.0000 2000.00"]
    );
    assert!(!made.hint_codes().iter().any(|code| code.starts_with("KONTRAKT")), "{}", made.body);
    // One that names its position goes before an earlier one that names none.
    let (id, positions) = contract(&hof, "U", &[(20, 180), (20, 200)]);
    let any = note(&hof, 20_000, json!({"kontrakt_id": id, "lieferdatum": "2026-07-01"}));
    let first =
        note(&hof, 20_000, json!({"kontrakt_position_id": positions[0], "lieferdatum": "2026-07-02"}));
    let made = hof.settle("end", &[&any, &first], json!({}));
    assert_eq!(items(&hof.beleg(&made)), ["20.000 200.0000 4000.00", "20.000 180.0000 3600.00"]);
    // A position takes no more than its quantity, whatever is left of the others.
    let (_, positions) = contract(&hof, "V", &[(20, 180), (20, 200)]);
    let over = note(&hof, 21_000, json!({"kontrakt_position_id": positions[0]}));
    hof.settle("end", &[&over], json!({})).refused(400, "KONTRAKT_UEBERLIEFERT");
    let paid = hof.settle("end", &[&over], json!({"rest_preis_je_t": 150}));
    assert_eq!(items(&hof.beleg(&paid)), ["20.000 180.0000 3600.00", "1.000 150.0000 150.00"]);
}

#[test]
fn a_contract_has_one_remainder_for_documents_and_settlements() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::of(&server);
    let (id, _) = contract(&hof, "T", &[(20, 180)]);
    let by_hand = |typ: &str, menge: i64, more: Value| {
        let item = json!({"artikelnr": "W", "menge": menge, "einheit": "t", "kontrakt_id": id, "fremde_charge_nr": "H"});
        let body = json!({"beleg_typ": typ, "kundennummer": "Hof", "items": [and(item, more)]});
        hof.post("/api/v1/belege", body)
    };
    let el = by_hand("EL", 20, json!({})).id();
    let late = hof.with_el(15_000, "", json!({"kontrakt_id": id, "preis_je_t": null}));
    let refused = || {
        let refused = hof.settle("end", &[&late], json!({}));
        refused.refused(400, "KONTRAKT_UEBERLIEFERT");
    };
    refused();
    let er = by_hand("ER", 20, json!({"bezug_beleg_id": el}));
    refused();
    hof.mill.storno(&er.id()).is(200);
    refused();
    // What was taken back is left again, before it is settled and after.
    let five = by_hand("EL", -5, json!({"bezug_beleg_id": el})).id();
    let preview = hof.preview("end", &[&late], json!({"rest_preis_je_t": 100}));
    assert_eq!(preview.is(200)["summe_netto"], "1900.00", "5 t at 180 and 10 t at 100");
    hof.mill.storno(&five).is(200);
    hof.mill.storno(&el).is(200);
    let made = hof.settle("end", &[&late], json!({}));
    assert_eq!(netto(&made), "2700.00");
    let left = note(&hof, 20_000, json!({"kontrakt_id": id}));
    let asked =
        || hof.preview("end", &[&left], json!({"rest_preis_je_t": 100})).is(200)["summe_netto"].clone();
    assert_eq!(asked(), "2400.00", "5 t at 180 and 15 t at 100");
    let delivery = hof.schein(&late)["el_id"].clone();
    by_hand("EL", -15, json!({"bezug_beleg_id": delivery})).is(201);
    assert_eq!(asked(), "3600.00", "what was settled and came back is left again");
    // A note whose EL an invoice of the supplier billed is no longer settled, and its goods are gone from the contract.
    let (id, _) = contract(&hof, "U", &[(20, 180)]);
    let billed = hof.with_el(15_000, "", json!({"kontrakt_id": id, "preis_je_t": null}));
    let item = json!({"bezug_beleg_id": hof.schein(&billed)["el_id"], "artikelnr": "W", "menge": 15, "einheit": "t"});
    hof.post("/api/v1/belege", json!({"beleg_typ": "ER", "kundennummer": "Hof", "items": [item]})).is(201);
    let left = note(&hof, 20_000, json!({"kontrakt_id": id}));
    let seen = hof.preview("end", &[&left], json!({"rest_preis_je_t": 100}));
    assert_eq!(seen.is(200)["summe_netto"], "2400.00");
}

#[test]
fn a_contract_over_circa_a_quantity_pays_its_price_within_the_tolerance() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::of(&server);
    let agreed = |number: &str, mengenart: &str, whole: Value| {
        let (id, positions) = contract(&hof, number, &[(100, 200)]);
        let path = format!("/api/v1/kontrakte/{}", id.as_str().unwrap());
        hof.mill.client.put(&path, json!({"mengenart": mengenart, "gesamtmenge": whole})).is(200);
        (id, positions[0].clone())
    };
    let over = "KONTRAKT_UEBERLIEFERT";
    // Of 106 t on circa 100 t 105 are paid at its price.
    for (at, mengenart) in ["circa", "CIRCA", "Ca.", " ca "].into_iter().enumerate() {
        let (id, _) = agreed(&format!("C-{at}"), mengenart, if at == 0 { json!(null) } else { json!(100) });
        let all = note(&hof, 106_000, json!({"kontrakt_id": id}));
        let refused = hof.settle("end", &[&all], json!({}));
        let message = refused.refused(400, over)["message"].as_str().unwrap();
        assert!(message.contains("um 1.000 kg"), "{mengenart}: {message}");
        let made = hof.preview("end", &[&all], json!({"rest_preis_je_t": 100}));
        assert_eq!(made.is(200)["summe_netto"], "21100.00", "{mengenart}");
        // In two settlements as in one.
        let notes = [102_000, 4_000].map(|kg| note(&hof, kg, json!({"kontrakt_id": id})));
        assert_eq!(netto(&hof.settle("end", &[&notes[0]], json!({}))), "20400.00", "{mengenart}");
        let rest = hof.settle("end", &[&notes[1]], json!({"rest_preis_je_t": 100}));
        assert_eq!(items(&hof.beleg(&rest)), ["3.000 200.0000 600.00", "1.000 100.0000 100.00"]);
    }
    let (id, position) = agreed("F", "fix", json!(100));
    let all = note(&hof, 106_000, json!({"kontrakt_id": id, "kontrakt_position_id": position}));
    let paid = || hof.preview("end", &[&all], json!({"rest_preis_je_t": 100})).is(200)["summe_netto"].clone();
    assert_eq!(paid(), "20600.00");
    let path = format!("/api/v1/kontrakte/{}", id.as_str().unwrap());
    hof.mill.client.put(&path, json!({"mengenart": "circa"})).is(200);
    assert_eq!(paid(), "21100.00", "a note that names the position");
    server.set(&hof.mill.client, &[("kontrakt_toleranz_prozent", "2")]);
    assert_eq!(paid(), "20800.00");
    // The hint of documents has the same bounds, of the position and of the whole.
    let (id, _) = agreed("H", "circa", json!(100));
    let deliver = |menge: i64| {
        let item = json!({"artikelnr": "W", "menge": menge, "einheit": "t", "kontrakt_id": id, "fremde_charge_nr": "H"});
        hof.post("/api/v1/belege", json!({"beleg_typ": "EL", "kundennummer": "Hof", "items": [item]}))
    };
    assert!(!deliver(102).hint_codes().contains(&over.to_owned()));
    let more = deliver(1);
    let hints = more.hints(over)["hinweise"].to_string();
    assert!(hints.contains("3.000 t mehr geliefert als vereinbart"), "{hints}");
    // Each position keeps its price up to its quantity; what goes beyond all of them is spread over their tolerances.
    server.set(&hof.mill.client, &[("kontrakt_toleranz_prozent", "5")]);
    let (id, _) = contract(&hof, "P", &[(50, 200), (50, 210)]);
    let path = format!("/api/v1/kontrakte/{}", id.as_str().unwrap());
    hof.mill.client.put(&path, json!({"mengenart": "circa"})).is(200);
    for (kg, expected) in [(80_000, "16300.00"), (105_000, "21525.00")] {
        let all = note(&hof, kg, json!({"kontrakt_id": id}));
        assert_eq!(hof.preview("end", &[&all], json!({})).is(200)["summe_netto"], expected);
    }
}
