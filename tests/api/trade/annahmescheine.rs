//! Goods receipts (D21a): the net quantity (D23), and the way from a weighing to the stock.

mod abgerechnet;
mod analysen;
mod einfuhr;
mod lieferung;
mod liste;
mod refusals;
mod wiederholt;

use std::sync::Barrier;

use serde_json::{Value, json};

use crate::harness::{Answer, Server, data};
use crate::trade::lager::{Mill, and};

const PATH: &str = "/api/v1/annahmescheine";

const UNKNOWN: &str = "0197f3a0-0000-7000-8000-000000000000";

/// Posts a receipt of wheat from Hof.
fn post(mill: &Mill<'_>, more: Value) -> Answer {
    mill.client.post(PATH, and(json!({"kundennummer": "Hof", "artikelnr": "W"}), more))
}

/// All receipts, the latest delivery first.
fn notes(mill: &Mill<'_>) -> Vec<Value> {
    mill.client.get(PATH).is(200)["data"].as_array().unwrap().clone()
}

/// A weighing of Hof with only its first weight.
fn weigh_once(mill: &Mill<'_>, more: Value) -> String {
    let body = json!({"waage_id": 1, "gewicht_erst_kg": 40_120, "partner_id": mill.partner_id("Hof")});
    mill.client.post("/api/v1/wiegungen", and(body, more)).id()
}

/// A finished weighing of Hof: 40,120 kg in, 15,260 kg out.
fn weigh(mill: &Mill<'_>, more: Value) -> String {
    let id = weigh_once(mill, more);
    let path = format!("/api/v1/wiegungen/{id}/zweitwiegung");
    mill.client.put(&path, json!({"gewicht_zweit_kg": 15_260})).is(200);
    id
}

fn weighing(mill: &Mill<'_>, id: &str) -> Value {
    mill.client.get(&format!("/api/v1/wiegungen/{id}")).is(200).clone()
}

/// The numbers of receipts, documents and movements.
fn counts(server: &Server) -> [i64; 3] {
    ["annahmeschein", "beleg", "lagerbewegung"]
        .map(|table| server.sql(&format!("select count(*) from {table}")))
}

/// Runs `work` on this many threads that all start at once; returns the results in order.
pub fn at_once<T: Send>(threads: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let barrier = Barrier::new(threads);
    let (work, barrier) = (&work, &barrier);
    std::thread::scope(|scope| {
        let run = move |at: usize| {
            barrier.wait();
            work(at)
        };
        let handles: Vec<_> = (0..threads).map(|at| scope.spawn(move || run(at))).collect();
        handles.into_iter().map(|handle| handle.join().unwrap()).collect()
    })
}

#[track_caller]
fn assert_fields(shown: &Value, expected: Value) {
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&shown[field], value, "{field}: {shown}");
    }
}

#[test]
fn the_net_quantity_follows_the_golden_table() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let rows = data("golden.json")["annahme"].as_array().unwrap().clone();
    assert_eq!(rows.len(), 4);
    for row in &rows {
        let answer = post(
            &mill,
            json!({"anliefermenge_kg": row["anliefer"], "feuchte_prozent": row["feuchte"],
                "basisfeuchte_prozent": row["basisfeuchte"], "schwundfaktor": row["schwundfaktor"],
                "besatz_prozent": row["besatz"], "basisbesatz_prozent": row["basisbesatz"]}),
        );
        assert_eq!(answer.is(201)["netto_menge_kg"], row["netto_menge_kg"], "{row}");
        assert_eq!(answer.body["netto_betrag"], Value::Null, "no price, no amount: {row}");
    }
    let netto: Vec<_> = notes(&mill).iter().map(|note| note["netto_menge_kg"].clone()).collect();
    let expected: Vec<_> = rows.iter().map(|row| row["netto_menge_kg"].clone()).collect();
    assert_eq!(netto, expected, "of one day, in the order in which they were made");
}

#[test]
fn fifty_tonnes_of_wet_grain_are_42543_kg() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let laboratory = json!({"besatz_prozent": 0.6, "basisbesatz_prozent": 0, "feuchte_prozent": 25,
        "basisfeuchte_prozent": 13, "schwundfaktor": 1.2});
    let answer = post(&mill, and(laboratory, json!({"anliefermenge_kg": 50_000, "preis_je_t": "187.65"})));
    let expected = json!({"belegnummer": "AS-2026-00001", "anliefermenge_kg": "50000.000",
        "netto_menge_kg": "42543.000", "netto_betrag": "7983.19"});
    assert_fields(answer.is(201), expected);
}

#[test]
fn deductions_count_only_over_their_basis() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let rows = [
        (json!({}), "1000.000"),
        (json!({"feuchte_prozent": 16, "basisfeuchte_prozent": 14}), "980.000"),
        (json!({"feuchte_prozent": 16, "basisfeuchte_prozent": 14, "schwundfaktor": 1.3}), "974.000"),
        (json!({"feuchte_prozent": 16, "schwundfaktor": 1.3}), "1000.000"),
        (json!({"feuchte_prozent": 13.9, "basisfeuchte_prozent": 14}), "1000.000"),
        (json!({"besatz_prozent": 3, "basisbesatz_prozent": 2}), "990.000"),
        (json!({"besatz_prozent": 3}), "1000.000"),
        (json!({"besatz_prozent": 1, "basisbesatz_prozent": 2}), "1000.000"),
        (json!({"sonstige_abzuege_kg": 250}), "750.000"),
        (json!({"sonstige_abzuege_kg": 1000}), "0.000"),
        // 1000 × 0.99 × 0.98 − 12 = 958.2: impurities first, other deductions last, rounded once.
        (
            json!({"besatz_prozent": 3, "basisbesatz_prozent": 2, "feuchte_prozent": 16,
                "basisfeuchte_prozent": 14, "sonstige_abzuege_kg": 12}),
            "958.000",
        ),
        (json!({"sonstige_abzuege_kg": 0.5}), "1000.000"),
        (json!({"sonstige_abzuege_kg": 0.501}), "999.000"),
    ];
    for (more, expected) in rows {
        let answer = post(&mill, and(json!({"anliefermenge_kg": 1000}), more.clone()));
        assert_eq!(answer.is(201)["netto_menge_kg"], expected, "{more}");
        assert!(answer.hint_codes().iter().all(|code| code == "BASIS_FEHLT"), "{more}");
    }
    let too_much = [
        json!({"sonstige_abzuege_kg": 1001}),
        json!({"feuchte_prozent": 90, "basisfeuchte_prozent": 0, "schwundfaktor": 2}),
    ];
    for more in too_much {
        post(&mill, and(json!({"anliefermenge_kg": 1000}), more)).refused(400, "NETTO_NEGATIV");
    }
}

#[test]
fn the_delivery_note_comes_to_the_amount_of_the_receipt_note() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let rows = [
        (24_116, "213.455", "5147.68"),
        (24_860, "198.5", "4934.71"),
        (24_500, "198.53", "4863.99"),
        (12_345, "199.999999", "2469.00"),
        (33_333, "0.123456", "4.12"),
        (3, "333.333333", "1.00"),
        (1, "5", "0.01"),
        (1, "4.999999", "0.00"),
        (24_860, "0", "0.00"),
    ];
    for (kg, preis, expected) in rows {
        let body = json!({"anliefermenge_kg": kg, "preis_je_t": preis, "fremde_charge_nr": "C1",
            "el_erzeugen": true});
        let answer = post(&mill, body);
        assert_eq!(answer.is(201)["netto_betrag"], expected, "{kg} kg at {preis}");
        let el = mill.get(answer.body["el_id"].as_str().unwrap());
        assert_eq!(el["summe_netto"], expected, "{kg} kg at {preis}");
        assert_eq!(el["positionen"].as_array().unwrap().len(), 1);
        let position = &el["positionen"][0];
        let number = |field: &str| position[field].as_str().unwrap().parse::<f64>().unwrap();
        assert_eq!(position["einheit"], "t");
        assert_eq!(number("menge"), f64::from(kg) / 1000.0, "{kg} kg in t");
        assert_eq!(number("ep_netto"), preis.parse::<f64>().unwrap());
    }
    let sum: i32 = rows.iter().map(|(kg, ..)| kg).sum();
    assert_eq!(mill.stock("C1"), format!("{sum}.000"));
}

#[test]
fn a_weighing_becomes_note_delivery_and_batch_in_one_call() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let wiegung = weigh(&mill, json!({"artikel_id": mill.artikel_id("W")}));
    let body = json!({"wiegung_id": wiegung, "feuchte_prozent": "16.2", "basisfeuchte_prozent": "14.5",
        "schwundfaktor": "1.3", "besatz_prozent": "2.8", "basisbesatz_prozent": "2.0", "preis_je_t": 213.455,
        "fremde_charge_nr": "Hof 7", "herkunftsland": "DE", "el_erzeugen": true});
    let answer = post(&mill, body);
    let expected = json!({"belegnummer": "AS-2026-00001", "anliefermenge_kg": "24860.000",
        "netto_menge_kg": "24116.000", "netto_betrag": "5147.68", "el_beleg_nummer": "EL-2026-00001"});
    assert_fields(answer.is(201), expected);
    let batch = mill.batch("Hof 7");
    let el = mill.get(answer.body["el_id"].as_str().unwrap());
    let expected = json!({"id": answer.body["charge_id"], "bestand": "24116.000", "einheit": "kg",
        "eingang_menge": "24116.000", "eingang_beleg_id": el["id"], "partner_id": mill.partner_id("Hof"),
        "herkunftsland": "DE", "artikel_id": mill.artikel_id("W")});
    assert_fields(&batch, expected);
    let expected = json!({"beleg_nummer": "EL-2026-00001", "beleg_typ": "EL", "status": "offen",
        "summe_netto": "5147.68", "kunde_id": mill.partner_id("Hof")});
    assert_fields(&el, expected);
    let expected = json!({"menge": "24.116", "einheit": "t", "ep_netto": "213.4550", "wiegung_id": wiegung,
        "gesamtpreis": "5147.68", "charge_id": batch["id"]});
    assert_fields(&el["positionen"][0], expected);
    assert_eq!(weighing(&mill, &wiegung)["beleg_id"], el["id"]);
    let moved = &answer.body["lagerbewegungen"];
    assert_eq!((&moved[0]["menge"], &moved[1]), (&json!("24116.000"), &Value::Null));
    assert_eq!(counts(&server), [1, 1, 1]);
}

#[test]
fn the_batch_is_in_the_unit_of_the_article() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let artikel =
        "artikelnummer;bezeichnung;einheit;chargenpflichtig\nT;Tonne;t;true\nD;Doppelzentner;dt;true\n";
    server.import(&mill.client, "artikel", artikel);
    for (artikel, einheit, bestand) in [("T", "t", "24.860"), ("D", "dt", "248.600")] {
        let body = json!({"artikelnr": artikel, "anliefermenge_kg": 24_860, "preis_je_t": 200,
            "fremde_charge_nr": artikel, "el_erzeugen": true});
        assert_eq!(post(&mill, body).is(201)["netto_betrag"], "4972.00");
        assert_fields(&mill.batch(artikel), json!({"einheit": einheit, "bestand": bestand}));
    }
    let sacks = json!({"artikelnr": "S", "anliefermenge_kg": 10, "preis_je_t": 1, "el_erzeugen": true});
    post(&mill, sacks).refused(400, "EINHEIT_NICHT_UMRECHENBAR");
}

#[test]
fn without_el_erzeugen_nothing_is_booked() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let wiegung = weigh(&mill, json!({}));
    for more in [json!({"anliefermenge_kg": 500}), json!({"wiegung_id": wiegung, "el_erzeugen": false})] {
        let answer = post(&mill, and(json!({"fremde_charge_nr": "C1", "preis_je_t": 200}), more));
        for field in ["el_id", "el_beleg_nummer", "charge_id"] {
            assert_eq!(answer.is(201).get(field), None, "{field}");
        }
    }
    assert_eq!(counts(&server), [2, 0, 0]);
    assert_eq!(mill.batches(), [] as [Value; 0]);
    assert_eq!(weighing(&mill, &wiegung)["beleg_id"], Value::Null);
}

#[test]
fn a_weight_that_is_sent_wins_over_the_weighing() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let rows = [(json!(24_000), "24000.000", true), (json!("24860.000"), "24860.000", false)];
    for (sent, shown, hinted) in rows {
        let wiegung = weigh(&mill, json!({}));
        let body = json!({"wiegung_id": wiegung, "anliefermenge_kg": sent, "fremde_charge_nr": "C1",
            "preis_je_t": 200, "el_erzeugen": true});
        let answer = post(&mill, body);
        assert_fields(answer.is(201), json!({"anliefermenge_kg": shown, "netto_menge_kg": shown}));
        assert_eq!(answer.hint_codes().contains(&"GEWICHT_WIDERSPRUCH".to_owned()), hinted, "{sent}");
        let el = mill.get(answer.body["el_id"].as_str().unwrap());
        assert_eq!(el["positionen"][0]["menge"], shown.replace("000.000", ".000").replace("860.000", ".860"));
    }
    assert_eq!(mill.stock("C1"), "48860.000");
}

#[test]
fn what_is_not_sent_comes_from_the_weighing_and_another_partner_is_a_hint() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let of_weighing = json!({"artikel_id": mill.artikel_id("W")});
    let first = mill.client.post(PATH, json!({"wiegung_id": weigh(&mill, of_weighing.clone())}));
    let expected = json!({"partner_id": mill.partner_id("Hof"), "artikel_id": mill.artikel_id("W")});
    assert_fields(first.is(201), expected);
    assert_eq!(first.hint_codes(), [""; 0]);
    let wiegung = weigh(&mill, of_weighing);
    let body = json!({"kundennummer": "Gut", "wiegung_id": wiegung, "fremde_charge_nr": "C1",
        "preis_je_t": 200, "el_erzeugen": true});
    let other = mill.client.post(PATH, body);
    other.is(201);
    other.hints("WIEGUNG_ANDERER_PARTNER");
    assert_eq!(mill.batch("C1")["partner_id"], mill.partner_id("Gut"));
}

#[test]
fn the_number_has_the_year_of_the_day_in_berlin() {
    let server = Server::start_at("2026-12-31T22:30:00Z");
    let mill = Mill::of(&server);
    let number = || post(&mill, json!({"anliefermenge_kg": 1})).is(201)["belegnummer"].clone();
    assert_eq!((number(), number()), (json!("AS-2026-00001"), json!("AS-2026-00002")));
    server.set_clock("2026-12-31T23:00:00Z");
    assert_eq!(number(), "AS-2027-00001");
    let days: Vec<_> = notes(&mill).iter().map(|note| note["lieferdatum"].clone()).collect();
    let [new, old] = ["2027-01-01T00:00:00.000Z", "2026-12-31T00:00:00.000Z"].map(Value::from);
    assert_eq!(days, [new, old.clone(), old], "lieferdatum is today unless it is sent");
}
