//! Worked examples of settlements, to the cent and the kilogram.

use serde_json::{Value, json};

use super::{A, B, Hof, SCHEMES, items, sums, werte, wheat};
use crate::harness::Server;
use crate::trade::lager::and;

fn paid(answer: &Value) -> Vec<String> {
    let notes = answer["annahmescheine"].as_array().unwrap();
    let kg =
        |note: &Value| note["rechnung"]["netto_kg"].as_str().unwrap().trim_end_matches(".000").to_owned();
    notes.iter().map(|note| format!("{} {}", kg(note), note["betrag"].as_str().unwrap())).collect()
}

/// Wheat by the RPL conditions of 2015, with costs: price steps change the price, costs become items.
#[test]
fn the_steps_of_the_price_are_in_it_and_costs_are_items() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::of(&server);
    let schritte = json!([
        {"nr": 1, "code": "asp", "text": "Aspiration 1 : 1", "wirkung": "menge", "regel": "faktor",
         "merkmal": "aspiration", "richtung": "ueber", "basis": "0", "satz": "1", "bezug": "brutto"},
        {"nr": 2, "code": "protein", "text": "Protein", "wirkung": "preis", "regel": "faktor", "merkmal": "protein",
         "richtung": "unter", "basis": "13", "schritt": "0.1", "satz": "-1", "einheit": "EUR/t"},
        {"nr": 3, "code": "hl", "text": "hl", "wirkung": "preis", "regel": "faktor", "merkmal": "hl_gewicht",
         "richtung": "unter", "basis": "77", "satz": "-1", "einheit": "%"},
        {"nr": 4, "code": "bruch", "text": "Bruchkorn", "wirkung": "preis", "regel": "faktor", "merkmal": "bruchkorn",
         "richtung": "ueber", "basis": "5", "schritt": "0.1", "satz": "-0.05", "einheit": "EUR/t"},
        {"nr": 5, "code": "korn", "text": "Mutterkorn: Reinigung", "wirkung": "kosten", "regel": "tabelle",
         "merkmal": "mutterkorn", "einheit": "EUR/t", "bezug": "netto",
         "zeilen": [{"von": "0", "bis": "0.05", "satz": "0"}, {"von": "0.06", "bis": "0.10", "satz": "-5"},
             {"von": "0.11", "bis": "5", "satz": "-25"}]},
    ]);
    hof.post(SCHEMES, wheat(json!({"schritte": schritte}))).is(201);
    let of = "aspiration=0.4 protein=12.9 hl_gewicht=76.0 bruchkorn=5.6 mutterkorn=0.06";
    let note = hof.with_el(24_860, of, json!({"preis_je_t": 200}));
    let made = hof.settle("end", &[&note], json!({}));
    assert_eq!(sums(made.is(201))[0], "4746.68");
    let beleg = hof.beleg(&made);
    assert_eq!(items(&beleg), ["24.761 196.7000 4870.49", "1.000 -123.8100 -123.81"]);
    assert_eq!(
        (beleg["rechnungsart"].as_str(), hof.state(&note).as_str()),
        (Some("gutschrift"), "abgerechnet")
    );
}

/// Example 10.
#[test]
fn two_lorries_each_by_its_own_or_by_their_mean() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    for (mittelung, expected) in [
        ("je_anlieferung", ["24116 4919.66", "12140 2646.52"]),
        ("partie", ["24510 5147.10", "11969 2513.49"]),
    ] {
        let hof = Hof::named(&server, mittelung);
        hof.post(SCHEMES, wheat(json!({"mittelung": mittelung}))).is(201);
        let notes = [hof.note(24_860, A, json!({})), hof.note(12_140, B, json!({}))];
        let seen = hof.preview("end", &[&notes[0], &notes[1]], json!({}));
        assert_eq!(paid(seen.is(200)), expected, "{mittelung}");
        let made = hof.settle("end", &[&notes[0], &notes[1]], json!({}));
        assert_eq!(paid(made.is(201)), expected, "{mittelung}");
        assert_eq!(sums(&made.body), sums(&seen.body), "the preview says what comes");
    }
}

/// Example 11.
#[test]
fn a_contract_is_over_delivered_and_the_rest_has_the_price_of_the_day() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::of(&server);
    let kontrakt = hof.post(
        "/api/v1/kontrakte",
        json!({"kontrakt_nr": "K-1", "kontrakt_typ": "EK", "partner_id": hof.mill.partner_id("Hof"),
            "gesamtmenge": 100, "gesamtmenge_einheit": "t",
            "positionen": [{"position": 1, "artikelnr": "W", "menge": 100, "preis": 210}]}),
    );
    let more = |day: &str| json!({"kontrakt_id": kontrakt.id(), "preis_je_t": null, "lieferdatum": day});
    let notes = [
        hof.note(26_120, "", more("2026-07-22")),
        hof.note(41_240, "", more("2026-07-20")),
        hof.note(39_772, "", more("2026-07-21")),
    ];
    let notes = [&notes[0], &notes[1], &notes[2]];
    let refused = hof.settle("end", &notes, json!({}));
    assert_eq!(refused.refused(400, "KONTRAKT_UEBERLIEFERT")["feld"], "rest_preis_je_t");
    let made = hof.settle("end", &notes, json!({"rest_preis_je_t": "195.5"}));
    assert_eq!(sums(made.is(201))[0], "22394.31");
    let beleg = hof.beleg(&made);
    assert_eq!(
        items(&beleg),
        [
            "41.240 210.0000 8660.40",
            "39.772 210.0000 8352.12",
            "18.988 210.0000 3987.48",
            "7.132 195.5000 1394.31"
        ]
    );
    let on_contract: Vec<bool> =
        beleg["positionen"].as_array().unwrap().iter().map(|item| !item["kontrakt_id"].is_null()).collect();
    assert_eq!(on_contract, [true, true, true, false]);
    let settled =
        || hof.mill.client.get(&format!("/api/v1/kontrakte/{}", kontrakt.id())).body["abgerechnet"].clone();
    assert_eq!(settled(), "100.000");
    // Quantities paid at the contract price count in the next settlement, until that payment is cancelled.
    let fourth = hof.note(1_000, "", more("2026-07-23"));
    hof.settle("end", &[&fourth], json!({})).refused(400, "KONTRAKT_UEBERLIEFERT");
    hof.storno(&made).is(200);
    assert_eq!(settled(), "0.000");
    // An advance uses up nothing of the contract.
    hof.settle("abschlag", &[&fourth], json!({"abschlag": {"preis_je_t": 100}})).is(201);
    assert_eq!(settled(), "0.000");
    assert_eq!(sums(hof.settle("end", &[&fourth], json!({})).is(201))[0], "110.00");
    assert_eq!(settled(), "1.000");
}

/// Example 13.
#[test]
fn nothing_is_left_and_less_than_nothing() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::of(&server);
    let schritte = json!([
        {"nr": 1, "code": "schwund", "text": "Schwund", "wirkung": "menge", "regel": "faktor", "merkmal": "feuchte",
         "richtung": "ueber", "basis": "14", "satz": "1.3"},
        {"nr": 2, "code": "trocknung", "text": "Trocknung", "wirkung": "kosten", "regel": "fest", "satz": "-55",
         "einheit": "EUR/t", "bezug": "brutto"},
        {"nr": 3, "code": "pauschal", "text": "Pauschale", "wirkung": "kosten", "regel": "fest", "satz": "-90",
         "einheit": "EUR"},
    ]);
    hof.post(SCHEMES, wheat(json!({"schritte": schritte}))).is(201);
    let wet = hof.note(640, "feuchte=34.0", json!({"preis_je_t": "194.51"}));
    let refused = hof.settle("end", &[&wet], json!({}));
    assert_eq!(refused.refused(400, "ABRECHNUNG_NEGATIV")["feld"], "negativ_zulassen");
    let made = hof.settle("end", &[&wet], json!({"negativ_zulassen": true}));
    assert_eq!(sums(made.is(201))[0], "-33.00");
    made.hints("ABSCHLAG_UEBERSTEIGT");
    let all = json!([{"nr": 1, "code": "alles", "text": "Alles", "wirkung": "menge", "regel": "fest", "satz": "100"}]);
    hof.post(SCHEMES, wheat(json!({"nummer": "NICHTS", "artikel": ["R"], "schritte": all}))).is(201);
    let nothing = hof.note(640, "", json!({"artikelnr": "R"}));
    hof.settle("end", &[&nothing], json!({})).refused(400, "ABRECHNUNG_LEER");
}

/// Example 14: 7.8 % of § 24, cents included.
#[test]
fn an_advance_is_taken_off_at_the_end() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::with_scheme(&server, json!({}));
    let note = hof.with_el(24_860, A, json!({}));
    let advance = hof.settle("abschlag", &[&note], json!({"abschlag": {"preis_je_t": 160}}));
    assert_eq!(sums(advance.is(201)), ["3858.56", "300.97", "4159.53"]);
    assert_eq!((hof.state(&note).as_str(), hof.stock().as_str()), ("offen", "24116.000"));
    let made = hof.settle("end", &[&note], json!({}));
    assert_eq!(sums(made.is(201)), ["1061.10", "82.77", "1143.87"]);
    assert_eq!(items(&hof.beleg(&made)), ["24.116 204.0000 4919.66", "1.000 -3858.5600 -3858.56"]);
    let text = &hof.beleg(&made)["positionen"][1]["bezeichnung"];
    assert_eq!(text.as_str(), Some("abzüglich Abschlag ER-2026-00001 vom 25.07.2026"));
    assert_eq!(hof.beleg(&made)["positionen"][1]["bezeichnung2"], "netto 3.858,56, USt 300,97");
    // Later settlements must be cancelled first; then the advance is free again, and is deducted again.
    hof.storno(&advance).refused(400, "ABRECHNUNG_HAT_FOLGE");
    hof.storno(&made).is(200);
    assert_eq!(hof.state(&note), "offen");
    assert_eq!(sums(hof.settle("end", &[&note], json!({})).is(201)), ["1061.10", "82.77", "1143.87"]);
}

/// Example 15: the advance was higher than the final.
#[test]
fn an_advance_that_was_too_high_is_paid_back() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::of(&server);
    let note = hof.note(24_860, "", json!({"sonstige_abzuege_kg": 1756, "preis_je_t": 195}));
    // By D23: 23,104 kg; the advance is 4,972.00 of 4,505.28.
    let advance = hof.settle("abschlag", &[&note], json!({"abschlag": {"preis_je_t": "215.2008"}}));
    assert_eq!(sums(advance.is(201))[0], "4972.00");
    hof.settle("end", &[&note], json!({})).refused(400, "ABRECHNUNG_NEGATIV");
    let made = hof.settle("end", &[&note], json!({"negativ_zulassen": true}));
    assert_eq!(sums(made.is(201)), ["-466.72", "-36.40", "-503.12"]);
    made.hints("ABSCHLAG_UEBERSTEIGT");
    assert_eq!(hof.beleg(&made)["rechnungsart"], "gutschrift");
}

/// Example 16: a pool.
#[test]
fn a_pool_is_ended_by_its_advance_and_gets_a_supplement() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::of(&server);
    let note = hof.with_el(62_340, "", json!({"preis_je_t": 250}));
    hof.settle("nachverguetung", &[&note], json!({"zuschlag_je_t": 10}))
        .refused(400, "ANNAHMESCHEIN_NICHT_ABGERECHNET");
    let advance = hof.settle("abschlag", &[&note], json!({"abschlag": {"prozent": 100}}));
    assert_eq!(sums(advance.is(201))[0], "15585.00");
    let made = hof.settle("end", &[&note], json!({}));
    assert_eq!(sums(made.is(201)), ["0.00", "0.00", "0.00"]);
    let supplement = hof.settle("nachverguetung", &[&note], json!({"zuschlag_je_t": 10}));
    assert_eq!(sums(supplement.is(201))[0], "623.40");
    assert_eq!(
        (supplement.body["lagerbewegungen"].as_array().unwrap().len(), hof.stock().as_str()),
        (0, "62340.000")
    );
    hof.storno(&made).refused(400, "ABRECHNUNG_HAT_FOLGE");
    let less = json!({"zuschlag_je_t": -1});
    hof.settle("nachverguetung", &[&note], less.clone()).refused(400, "ABRECHNUNG_NEGATIV");
    let less = hof.settle("nachverguetung", &[&note], and(less, json!({"negativ_zulassen": true})));
    assert_eq!(sums(less.is(201))[0], "-62.34");
}

/// Example 17: a new analysis after the final settlement.
#[test]
fn a_correction_takes_the_newest_values() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let hof = Hof::with_scheme(&server, json!({}));
    let note = hof.with_el(24_860, A, json!({}));
    let made = hof.settle("end", &[&note], json!({}));
    assert_eq!(sums(made.is(201))[0], "4919.66");
    let body = json!({"quelle": "nachanalyse", "werte": werte("feuchte=15.7 protein=12.1")});
    let later = hof.post(&format!("{}/{note}/analysen", super::NOTES), body);
    later.is(201);
    later.hints("ABRECHNUNG_VERALTET");
    let path = format!("{}/{}", super::PATH, made.id());
    assert_eq!(hof.mill.client.get(&path).is(200)["veraltet"], true);
    let corrected = hof.post(&format!("{path}/korrektur"), json!({"grund": "Nachanalyse"}));
    assert_eq!((sums(corrected.is(201))[0].as_str(), hof.stock().as_str()), ("5097.96", "24116.000"));
    assert_eq!(corrected.body["storniert"], "ER-2026-00002");
    let shown = hof.mill.client.get(&format!("{}/{}", super::PATH, corrected.id()));
    assert_eq!(
        (&shown.is(200)["korrektur_von"], &shown.body["veraltet"]),
        (&json!(made.id()), &json!(false))
    );
    assert_eq!(hof.mill.client.get(&path).is(200)["status"], "storniert");
    assert_eq!(hof.state(&note), "abgerechnet");
    hof.post(&format!("{path}/korrektur"), json!({"grund": "x"})).refused(400, "BELEG_NICHT_STORNIERBAR");
}

/// Example 18: a rate changes between two deliveries.
#[test]
fn the_rate_is_that_of_each_day_of_delivery() {
    let server = Server::start_at("2025-01-05T10:00:00Z");
    let hof = Hof::of(&server);
    let day = |day: &str, kg: i64| hof.note(kg, "", json!({"lieferdatum": day, "preis_je_t": 205}));
    let notes = [day("2024-12-30", 24_000), day("2025-01-02", 25_500)];
    let made = hof.settle("end", &[&notes[0], &notes[1]], json!({}));
    assert_eq!(sums(made.is(201)), ["10147.50", "821.03", "10968.53"]);
    let beleg = hof.beleg(&made);
    let rates: Vec<&str> = beleg["positionen"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["mwst_satz"].as_str().unwrap())
        .collect();
    assert_eq!(rates, ["8.40", "7.80"]);
    assert_eq!(
        (&beleg["leistung_von"], &beleg["leistung_bis"]),
        (&json!("2024-12-30T00:00:00.000Z"), &json!("2025-01-02T00:00:00.000Z"))
    );
}

/// Example 20: effects on the stock.
#[test]
fn a_settlement_moves_nothing_that_a_delivery_has_brought() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    // How the goods come in, a later analysis, the stock, and the items.
    let table: [(&str, &str, &str, &[&str]); 4] = [
        ("netto", "", "24116.000", &["24.116 204.0000 4919.66"]),
        ("brutto", "", "24860.000", &["24.116 204.0000 4919.66", "0.744 0.0000 0.00"]),
        ("netto", "feuchte=15.934", "24116.000", &["24.116 204.0000 4919.66", "1.000 19.5900 19.59"]),
        ("netto", "feuchte=16.6", "24116.000", &["23.988 204.0000 4893.55", "0.128 0.0000 0.00"]),
    ];
    for (at, (bestand, later, stock, expected)) in table.into_iter().enumerate() {
        let hof = Hof::named(&server, &format!("Mühle {at}"));
        hof.post(SCHEMES, wheat(json!({"bestand": bestand}))).is(201);
        let note = hof.with_el(24_860, A, json!({}));
        if !later.is_empty() {
            let body = json!({"werte": werte(later)});
            hof.post(&format!("{}/{note}/analysen", super::NOTES), body).is(201);
        }
        let made = hof.settle("end", &[&note], json!({}));
        assert_eq!(made.is(201)["lagerbewegungen"], json!([]), "{bestand} {later}");
        assert_eq!(
            (items(&hof.beleg(&made)), hof.stock().as_str()),
            (expected.iter().map(|line| line.to_string()).collect(), stock),
            "{bestand} {later}"
        );
        assert_eq!(hof.state(&note), "abgerechnet");
        // After cancelling and settling again, everything is as before.
        hof.storno(&made).is(200);
        assert_eq!((hof.state(&note).as_str(), hof.stock().as_str()), ("offen", stock));
        let again = hof.settle("end", &[&note], json!({}));
        assert_eq!((items(&hof.beleg(&again)), hof.stock().as_str()), (items(&hof.beleg(&made)), stock));
        let checked = server.cli(&["check"]);
        assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));
    }
}
