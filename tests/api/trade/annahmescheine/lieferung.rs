//! The EL created by a goods receipt is a document like any other (D3, D4, D6, D8, D21a).

use serde_json::{Value, json};

use super::{counts, post, weigh};
use crate::harness::Server;
use crate::trade::lager::{Mill, and, buy, moves};

/// A delivery of wheat with its EL.
fn delivery(kg: Value, more: Value) -> Value {
    let body =
        json!({"anliefermenge_kg": kg, "preis_je_t": 200, "fremde_charge_nr": "C1", "el_erzeugen": true});
    and(body, more)
}

#[test]
fn the_invoice_of_the_supplier_does_not_bring_it_in_again() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let made = post(&mill, delivery(json!(24_860), json!({})));
    made.is(201);
    let invoice = mill.post("ER", and(buy(24_860, "C1"), json!({"ep_netto": 0.2})));
    invoice.is(201);
    assert_eq!((moves(&invoice), mill.stock("C1").as_str()), (Vec::new(), "24860.000"));
    let more = mill.post("ER", buy(140, "C1"));
    assert_eq!((moves(&more), mill.stock("C1").as_str()), (vec!["140.000".to_owned()], "25000.000"));
}

#[test]
fn the_storno_of_the_delivery_takes_the_goods_out_again() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let wiegung = weigh(&mill, json!({}));
    let made = post(&mill, delivery(Value::Null, json!({"wiegung_id": wiegung})));
    made.is(201);
    assert_eq!(mill.stock("C1"), "24860.000");
    mill.storno(made.body["el_id"].as_str().unwrap()).is(200);
    assert_eq!(mill.stock("C1"), "0.000");
    assert_eq!(super::weighing(&mill, &wiegung)["beleg_id"], Value::Null, "no live document names it");
}

#[test]
fn a_delivery_of_the_same_number_goes_into_the_same_batch() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let first = post(&mill, delivery(json!(1000), json!({})));
    let second = post(&mill, delivery(json!(500), json!({"fremde_charge_nr": " c1 "})));
    assert_eq!(second.is(201)["charge_id"], first.is(201)["charge_id"]);
    let other = post(&mill, delivery(json!(70), json!({"kundennummer": "Gut"})));
    assert_ne!(other.is(201)["charge_id"], first.body["charge_id"], "of another partner it is another one");
    let stocks: Vec<_> = mill.batches().iter().map(|batch| batch["bestand"].clone()).collect();
    assert_eq!(stocks, ["1500.000", "70.000"]);
    // A country alone is batch information, too.
    let land = delivery(json!(5), json!({"fremde_charge_nr": null, "herkunftsland": "AT"}));
    assert!(post(&mill, land).is(201)["charge_id"].is_string());
}

#[test]
fn an_article_that_is_not_tracked_needs_no_batch() {
    let server = Server::start();
    let mill = Mill::of(&server);
    server.import(&mill.client, "artikel", "artikelnummer;bezeichnung;einheit\nG;Gras;kg\n");
    let answer = post(&mill, delivery(json!(900), json!({"artikelnr": "G", "fremde_charge_nr": null})));
    assert_eq!((answer.is(201).get("charge_id"), moves(&answer)), (None, vec!["900.000".to_owned()]));
    assert_eq!(counts(&server), [1, 1, 1]);
}

#[test]
fn the_settings_for_documents_hold_for_it() {
    let server = Server::start();
    let mill = Mill::with(&server, "Mühle", &[("abschluss_bei_anlage", "EL")]);
    let made = post(&mill, delivery(json!(10), json!({})));
    let el = mill.get(made.is(201)["el_id"].as_str().unwrap());
    assert_eq!(el["status"], "abgeschlossen");
    server.set(&mill.client, &[("gesperrt_bis", "2026-07-10")]);
    let before = counts(&server);
    post(&mill, delivery(json!(10), json!({}))).refused(400, "ZEITRAUM_GESPERRT");
    assert_eq!(counts(&server), before);
    server.set_clock("2026-07-11T10:00:00Z");
    assert_eq!(post(&mill, delivery(json!(10), json!({}))).is(201)["belegnummer"], "AS-2026-00002");
}

#[test]
fn the_delivery_gives_the_hints_of_the_note() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let path = format!("/api/v1/kunden/{}", mill.partner_id("Hof"));
    mill.client.put(&path, json!({"status": "inaktiv"})).is(200);
    let answer = post(&mill, delivery(json!(10), json!({})));
    answer.is(201);
    answer.hints("KUNDE_INAKTIV");
}

#[test]
fn an_amount_beyond_all_bounds_is_refused() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let huge = json!({"preis_je_t": 999_999_999_999_i64});
    for el_erzeugen in [true, false] {
        let more = and(huge.clone(), json!({"el_erzeugen": el_erzeugen}));
        let answer = post(&mill, delivery(json!(999_999_999_999_i64), more));
        assert_eq!(answer.status, 400, "{}", answer.body);
    }
    assert_eq!(counts(&server), [0, 0, 0]);
}

#[test]
fn a_note_is_cancelled_after_its_delivery_note_and_frees_its_weighing() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let wiegung = weigh(&mill, json!({"artikel_id": mill.artikel_id("W")}));
    let body =
        json!({"wiegung_id": wiegung, "fremde_charge_nr": "C1", "preis_je_t": 200, "el_erzeugen": true});
    let note = mill.client.post("/api/v1/annahmescheine", body.clone());
    let (id, el) = (note.id(), note.body["el_id"].as_str().unwrap().to_owned());
    let cancel =
        || mill.client.put(&format!("/api/v1/annahmescheine/{id}/storno"), json!({"grund": "falsch"}));
    cancel().refused(400, "ANNAHMESCHEIN_NICHT_STORNIERBAR");
    mill.storno(&el).is(200);
    mill.client.post("/api/v1/annahmescheine", body.clone()).refused(400, "WIEGUNG_BEREITS_VERWENDET");
    assert_eq!(cancel().is(200)["status"], "storniert");
    cancel().refused(400, "ANNAHMESCHEIN_NICHT_STORNIERBAR");
    let again = mill.client.post("/api/v1/annahmescheine", body);
    assert_eq!(again.is(201)["belegnummer"], "AS-2026-00002");
}

#[test]
fn without_a_price_it_stands_at_that_of_the_article_and_that_is_said() {
    let server = Server::start();
    let mill = Mill::of(&server);
    for (more, hints) in [(json!({"preis_je_t": null}), &["PREIS_FEHLT"][..]), (json!({}), &[])] {
        let answer = post(&mill, delivery(json!(1000), more.clone()));
        answer.is(201);
        assert_eq!(answer.hint_codes(), hints, "{more}");
        let el = mill.get(answer.body["el_id"].as_str().unwrap());
        assert_eq!(el["summe_netto"], "200.00", "1,000 kg at 0.2 for a kg, or at 200 for a t");
        if !hints.is_empty() {
            assert_eq!(answer.body["hinweise"][0]["feld"], "preis_je_t");
        }
    }
    let without_el = post(&mill, json!({"anliefermenge_kg": 1000}));
    assert_eq!((without_el.is(201)["netto_betrag"].clone(), without_el.hint_codes()), (Value::Null, vec![]));
}
