//! What a partner was on the day of the goods counts (D29).

use serde_json::{Value, json};

use super::{Hof, PATH, items, sums};
use crate::harness::{Answer, Server};
use crate::trade::lager::and;

fn partner(hof: &Hof<'_>) -> String {
    format!("/api/v1/kunden/{}", hof.mill.partner_id("Hof"))
}

/// The rate of each item, as "7.80".
fn rates(beleg: &Value) -> Vec<String> {
    let items = beleg["positionen"].as_array().unwrap().iter();
    items.map(|item| item["mwst_satz"].as_str().unwrap().to_owned()).collect()
}

fn message(answer: &Answer, code: &str) -> String {
    let hints = answer.body["hinweise"].as_array().unwrap();
    let hint = hints.iter().find(|hint| hint["code"] == code);
    hint.unwrap_or_else(|| panic!("no {code} in {}", answer.body))["message"].as_str().unwrap().to_owned()
}

#[test]
fn a_change_holds_from_its_day_on_and_needs_one() {
    let server = Server::start_at("2026-12-10T10:00:00Z");
    let hof = Hof::of(&server);
    let (client, path) = (&hof.mill.client, partner(&hof));
    let by_day = |path: &str| client.get(path).is(200)["besteuerungen"].clone();
    assert_eq!(by_day(&path), json!([{"ab": null, "steuerart": "pauschal_24"}]));
    // As long as nothing lies before today the first one can be mended for all days.
    client.put(&path, json!({"steuerart": "regel"})).is(200);
    assert_eq!(by_day(&path), json!([{"ab": null, "steuerart": "regel"}]));
    client.put(&path, json!({"steuerart": "pauschal_24"})).is(200);
    hof.note(1_000, "", json!({"lieferdatum": "2026-12-09"}));
    let refused = client.put(&path, json!({"steuerart": "regel"}));
    assert_eq!(refused.refused(400, "FELD_FEHLT")["feld"], "steuerart_ab");
    let refused = client.put(&path, json!({"steuerart_ab": "2027-01-01"}));
    assert_eq!(refused.refused(400, "FELD_FEHLT")["feld"], "steuerart");
    let changed = client.put(&path, json!({"steuerart": "regel", "steuerart_ab": "2027-01-01"}));
    let both = json!([{"ab": null, "steuerart": "pauschal_24"}, {"ab": "2027-01-01", "steuerart": "regel"}]);
    assert_eq!(changed.is(200)["besteuerungen"], both);
    assert_eq!(changed.body["steuerart"], "pauschal_24", "that of today");
    // Sending back what GET shows changes nothing and says nothing.
    let shown = client.get(&path).is(200).clone();
    assert_eq!(client.put(&path, shown.clone()).is(200)["hinweise"], json!([]));
    assert_eq!(client.get(&path).is(200), &shown);
    server.set_clock("2027-01-01T00:30:00+01:00");
    assert_eq!(client.get(&path).is(200)["steuerart"], "regel");
    assert_eq!(client.get("/api/v1/kunden?kundennr=Hof").is(200)["data"][0]["steuerart"], "regel");
    // The entry of the same day is replaced.
    client.put(&path, json!({"steuerart": "pauschal_24", "steuerart_ab": "2027-01-01"})).is(200);
    assert_eq!(by_day(&path), json!([{"ab": null, "steuerart": "pauschal_24"}]));
    // An import is changed by the same way.
    let file = "kundennr;nachname_firma;steuerart;steuerart_ab\nHof;Hof;regel;01.03.2027\n";
    server.import(client, "kunden", file);
    assert_eq!(by_day(&path)[1], json!({"ab": "2027-03-01", "steuerart": "regel"}));
    // Of a new partner the first one holds for all days.
    let made = client.post(
        "/api/v1/kunden",
        json!({"nachname_firma": "Neu", "steuerart": "regel", "steuerart_ab": "2027-01-01"}),
    );
    assert!(message(&made, "FELD_IGNORIERT").contains("alle Tage"));
    assert_eq!(by_day(&format!("/api/v1/kunden/{}", made.id())), json!([{"ab": null, "steuerart": "regel"}]));
}

#[test]
fn december_is_flat_and_january_regular_in_advance_final_and_correction() {
    let server = Server::start_at("2026-12-10T10:00:00Z");
    let hof = Hof::of(&server);
    let december = hof.with_el(10_000, "", json!({"lieferdatum": "2026-12-10", "preis_je_t": 200}));
    let advance = hof.settle("abschlag", &[&december], json!({"abschlag": {"prozent": 50}}));
    assert_eq!(sums(advance.is(201)), ["1000.00", "78.00", "1078.00"]);
    let change = json!({"steuerart": "regel", "steuerart_ab": "2027-01-01"});
    let changed = hof.mill.client.put(&partner(&hof), change);
    assert_eq!(changed.is(200)["hinweise"], json!([]), "nothing reaches back");
    server.set_clock("2027-01-15T10:00:00Z");
    let january = json!({"lieferdatum": "2027-01-12", "preis_je_t": 200, "fremde_charge_nr": "C2"});
    let january = hof.with_el(10_000, "", january);
    let end = hof.settle("end", &[&december, &january], json!({}));
    assert_eq!(sums(end.is(201)), ["3000.00", "218.00", "3218.00"], "{}", end.body);
    assert_eq!(rates(&hof.beleg(&end)), ["7.80", "7.00", "7.80"]);
    assert!(!end.hint_codes().contains(&"STEUERART_GEWECHSELT".to_owned()));
    assert!(!end.hint_codes().contains(&"STEUERAUSWEIS_PRUEFEN".to_owned()));
    let id = end.body["beleg_id"].as_str().unwrap();
    let xml = hof.mill.client.get(&format!("/api/v1/belege/{id}/erechnung"));
    assert!(String::from_utf8_lossy(&xml.bytes).contains("Durchschnittssatz"), "the words of § 24");
    let abrechnung = end.body["id"].as_str().unwrap();
    let corrected = hof.post(&format!("{PATH}/{abrechnung}/korrektur"), json!({"grund": "x"}));
    assert_eq!(sums(corrected.is(201)), ["3000.00", "218.00", "3218.00"]);
    assert_eq!(rates(&hof.beleg(&corrected)), ["7.80", "7.00", "7.80"]);
}

#[test]
fn an_option_declared_in_january_reaches_back_a_year() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::of(&server);
    let (client, path) = (&hof.mill.client, partner(&hof));
    let mut finals = Vec::new();
    for charge in ["C1", "C2", "C3"] {
        let more = json!({"preis_je_t": 200, "fremde_charge_nr": charge});
        let note = hof.with_el(10_000, "", more);
        finals.push(hof.settle("end", &[&note], json!({})));
    }
    // Another year is not touched.
    server.set_clock("2025-07-25T10:00:00Z");
    let before = hof.with_el(1_000, "", json!({"lieferdatum": "2025-07-20", "fremde_charge_nr": "C4"}));
    let before = hof.settle("end", &[&before], json!({}));
    server.set_clock("2027-01-08T10:00:00Z");
    let said = client.put(&path, json!({"steuerart": "regel", "steuerart_ab": "2026-01-01"}));
    let said = message(&said, "STEUERART_RUECKWIRKEND");
    for end in &finals {
        assert!(said.contains(end.is(201)["beleg_nummer"].as_str().unwrap()), "{said}");
    }
    assert!(!said.contains(before.is(201)["beleg_nummer"].as_str().unwrap()), "{said}");
    // 3 × 2,000.00 at 7.0 % instead of 7.8 %.
    assert!(said.contains("-48,00 EUR") || said.contains("−48,00 EUR"), "{said}");
    for end in &finals {
        let abrechnung = end.body["id"].as_str().unwrap();
        let corrected = hof.post(&format!("{PATH}/{abrechnung}/korrektur"), json!({"grund": "Option"}));
        assert_eq!(sums(corrected.is(201)), ["2000.00", "140.00", "2140.00"]);
        assert_eq!(items(&hof.beleg(&corrected)).len(), 1);
    }
    let repeated = client.put(&path, json!({"steuerart": "regel", "steuerart_ab": "2026-01-01"}));
    assert_eq!(repeated.is(200)["hinweise"], json!([]));
}

#[test]
fn goods_and_advance_of_different_besteuerung_are_named() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::of(&server);
    let note = hof.with_el(10_000, "", json!({"preis_je_t": 200}));
    let advance = hof.settle("abschlag", &[&note], json!({"abschlag": {"prozent": 50}}));
    let change = json!({"steuerart": "regel", "steuerart_ab": "2026-01-01"});
    let said = message(&hof.mill.client.put(&partner(&hof), change), "STEUERART_RUECKWIRKEND");
    assert!(said.contains(advance.is(201)["beleg_nummer"].as_str().unwrap()), "{said}");
    let end = hof.settle("end", &[&note], json!({}));
    assert_eq!(rates(&hof.beleg(&end)), ["7.00", "7.80"]);
    let said = message(&end, "STEUERART_GEWECHSELT");
    assert!(said.contains("7.8") && said.contains(advance.body["beleg_nummer"].as_str().unwrap()), "{said}");
    assert!(
        hof.preview("nachverguetung", &[&note], json!({"zuschlag_je_t": 5})).is(200)["summe_mwst"] == "3.50"
    );
}

#[test]
fn a_partner_made_at_noon_is_taxed_so_for_the_lorry_of_the_morning() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::of(&server);
    let neu = json!({"nachname_firma": "Neu", "kundennr": "Neu", "steuerart": "pauschal_24",
        "gutschrift_vereinbart_am": "2020-01-01"});
    hof.post("/api/v1/kunden", neu).is(201);
    let more = json!({"kundennummer": "Neu", "lieferdatum": "2026-07-24", "preis_je_t": 200});
    let note = hof.with_el(10_000, "", more);
    assert_eq!(sums(hof.settle("end", &[&note], json!({})).is(201)), ["2000.00", "156.00", "2156.00"]);
}

#[test]
fn a_gutschrift_to_somebody_of_unknown_besteuerung_waits_for_a_person() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::of(&server);
    let code = "BESTEUERUNG_UNBEKANNT";
    let note = hof.with_el(10_000, "", json!({"kundennummer": "Gut", "preis_je_t": 200}));
    let has = |answer: &Answer| answer.hint_codes().contains(&code.to_owned());
    assert!(has(&hof.preview("end", &[&note], json!({}))));
    let end = hof.settle("end", &[&note], json!({"abschliessen": false}));
    assert!(has(&end), "{}", end.body);
    let path = format!("/api/v1/belege/{}", end.body["beleg_id"].as_str().unwrap());
    assert!(has(&hof.mill.client.put(&path, json!({"notizen": "x"}))));
    assert!(has(&hof.post(&format!("{path}/abschliessen?pruefen=true"), json!({}))));
    // A document by hand, too, and no invoice that the supplier wrote.
    let item =
        json!({"artikelnr": "W", "menge": 1, "einheit": "t", "ep_netto": 200, "fremde_charge_nr": "C9"});
    let er = |more: Value| {
        hof.post(
            "/api/v1/belege",
            and(json!({"beleg_typ": "ER", "kundennummer": "Gut", "items": [item]}), more),
        )
    };
    assert!(has(&er(json!({"gutschrift": true}))) && !has(&er(json!({}))));
    // "regel" said outright silences it, for the days before, too.
    let gut = format!("/api/v1/kunden/{}", hof.mill.partner_id("Gut"));
    hof.mill.client.put(&gut, json!({"steuerart": "regel"})).is(200);
    assert!(!has(&hof.preview(
        "abschlag",
        &[&hof.with_el(1_000, "", json!({"kundennummer": "Gut", "fremde_charge_nr": "C8"}))],
        json!({"abschlag": {"prozent": 50}})
    )));
    assert!(!has(&hof.post(&format!("{path}/abschliessen"), json!({}))));
}
