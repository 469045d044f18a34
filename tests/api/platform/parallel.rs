//! Many requests at the same instant: each rule holds as if they had come one after the other.

use std::collections::BTreeSet;
use std::sync::Barrier;

use serde_json::{Value, json};

use crate::harness::{Answer, Client, Server};

/// Runs `work` on this many threads that all start at once; returns the results in order.
fn at_once<T: Send>(threads: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
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

/// How many of the answers have this status.
fn count(answers: &[Answer], status: u16) -> usize {
    answers.iter().filter(|answer| answer.status == status).count()
}

/// The values of a field in the answers with this status.
fn values(answers: &[Answer], status: u16, field: &str) -> BTreeSet<String> {
    let answers = answers.iter().filter(|answer| answer.status == status);
    answers.map(|answer| answer.body[field].as_str().unwrap().to_owned()).collect()
}

/// `RE-2026-00001` and so on.
fn numbers(series: &str, last: usize) -> BTreeSet<String> {
    (1..=last).map(|number| format!("{series}-2026-{number:05}")).collect()
}

/// Creates customer 1 and a batch of 1,000 kg of wheat from him; returns the id of the batch.
fn stock(server: &Server, mill: &Client) -> String {
    let wheat = json!([{"artikelnummer": "W", "bezeichnung": "Weizen", "einheit": "kg", "preis": "0.30",
        "ep_netto": "0.20", "mwst_satz": 7, "chargenpflichtig": true}]);
    server.import(mill, "artikel", &wheat.to_string());
    mill.post("/api/v1/kunden", json!({"name": "Hof"})).is(201);
    mill.post("/api/v1/kunden", json!({"name": "Bäcker"})).is(201);
    let item = json!({"artikelnr": "W", "menge": 1000, "fremde_charge_nr": "C1"});
    let delivery = mill.post("/api/v1/belege", json!({"beleg_typ": "EL", "kunden_id": 1, "items": [item]}));
    delivery.is(201)["lagerbewegungen"][0]["charge_id"].as_str().unwrap().to_owned()
}

/// The stock of the only batch.
fn left(mill: &Client) -> Value {
    mill.get("/api/v1/chargen").is(200)[0]["bestand"].clone()
}

fn invoice(menge: Value, batch: &str) -> Value {
    let item = json!({"artikelnr": "W", "menge": menge, "charge_id": batch});
    json!({"beleg_typ": "RE", "kunden_id": 2, "items": [item]})
}

#[test]
fn fifty_new_customers_get_fifty_numbers() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let answers = at_once(50, |at| mill.post("/api/v1/kunden", json!({"name": format!("Hof {at}")})));
    let expected: BTreeSet<String> = (1001..=1050).map(|number| format!("K-{number}")).collect();
    assert_eq!(values(&answers, 201, "kundennr"), expected);
    let ids: BTreeSet<i64> =
        answers.iter().map(|answer| answer.body["kunden_id"].as_i64().unwrap()).collect();
    assert_eq!(ids, (1..=50).collect());
}

#[test]
fn one_manual_number_is_given_once() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let answers = at_once(32, |at| {
        let number = if at % 2 == 0 { "L-7" } else { " l-7 " };
        mill.post("/api/v1/kunden", json!({"name": "Hof", "kundennr": number}))
    });
    assert_eq!((count(&answers, 201), count(&answers, 409)), (1, 31));
    assert_eq!(values(&answers, 409, "error"), BTreeSet::from(["KUNDENNR_BEREITS_VERGEBEN".to_owned()]));
    assert_eq!(mill.get("/api/v1/kunden").is(200)["count"], 1);
}

#[test]
fn refused_invoices_leave_no_gap() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let batch = stock(&server, &mill);
    let answers = at_once(50, |at| {
        let body = match at % 5 {
            0 if at % 2 == 0 => invoice(json!(0), &batch),
            0 => json!({"beleg_typ": "RE", "kunden_id": 2, "items": [{"artikelnr": "nichts", "menge": 1}]}),
            _ => invoice(json!(2), &batch),
        };
        mill.post("/api/v1/belege", body)
    });
    assert_eq!((count(&answers, 201), count(&answers, 400)), (40, 10));
    assert_eq!(values(&answers, 201, "beleg_nummer"), numbers("RE", 40));
    assert_eq!(left(&mill), "920.000");
    let next = mill.post("/api/v1/belege", invoice(json!(1), &batch));
    assert_eq!(next.is(201)["beleg_nummer"], "RE-2026-00041");
}

#[test]
fn invoices_refused_after_they_were_written_leave_nothing() {
    let server = Server::start();
    let mill = server.company_with("Mühle", &[("negativbestand", "ablehnen")]);
    let batch = stock(&server, &mill);
    // An unknown field is recorded once, however often the writer runs the request.
    let mut body = invoice(json!(100), &batch);
    body["unbekannt"] = json!(1);
    let body = body.to_string();
    let key = |at: usize| format!("k-{at}");
    let send =
        |at| mill.send("POST", "/api/v1/belege", &[("idempotency-key", &key(at))], Some(body.as_bytes()));
    let answers = at_once(50, send);
    assert_eq!((count(&answers, 201), count(&answers, 400)), (10, 40));
    assert_eq!(values(&answers, 201, "beleg_nummer"), numbers("RE", 10));
    assert_eq!(values(&answers, 400, "error"), BTreeSet::from(["BESTAND_NICHT_AUSREICHEND".to_owned()]));
    assert_eq!(left(&mill), "0.000");
    for (at, answer) in answers.iter().enumerate().filter(|(_, answer)| answer.status == 201) {
        assert_eq!(answer.hint_codes(), ["UNBEKANNTES_FELD"]);
        assert_eq!(send(at).body, answer.body);
    }
    let kept: i64 = server.sql(
        "select count(*) from beleg_position p join beleg b on b.id = p.beleg_id
        join lagerbewegung l on l.beleg_id = b.id where b.beleg_typ = 'RE'",
    );
    assert_eq!(kept, 10);
}

#[test]
fn one_of_many_second_weighings_counts() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let partner = mill.post("/api/v1/kunden", json!({"name": "Hof"})).id();
    let first = json!({"waage_id": 1, "gewicht_erst_kg": 40120, "partner_id": partner});
    let id = mill.post("/api/v1/wiegungen", first).id();
    let path = format!("/api/v1/wiegungen/{id}/zweitwiegung");
    let answers = at_once(64, |at| mill.put(&path, json!({"gewicht_zweit_kg": 15000 + at})));
    assert_eq!((count(&answers, 200), count(&answers, 400)), (1, 63));
    assert_eq!(values(&answers, 400, "error"), BTreeSet::from(["WIEGUNG_NICHT_OFFEN".to_owned()]));
    let winner = answers.iter().position(|answer| answer.status == 200).unwrap();
    let weighing = mill.get(&format!("/api/v1/wiegungen/{id}"));
    let expected = [format!("{}.000", 15000 + winner), format!("{}.000", 25120 - winner)];
    let stored = ["gewicht_zweit_kg", "gewicht_netto_kg"].map(|field| weighing.is(200)[field].clone());
    assert_eq!(stored, expected.map(Value::String));
    assert_eq!(answers[winner].body["gewicht_netto_kg"], weighing.body["gewicht_netto_kg"]);
}

#[test]
fn one_external_ref_makes_one_document() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let batch = stock(&server, &mill);
    let mut body = invoice(json!(10), &batch);
    body["external_ref"] = json!("shop-4711");
    let answers = at_once(64, |_| mill.post("/api/v1/belege", body.clone()));
    assert_eq!((count(&answers, 201), count(&answers, 200)), (1, 63));
    let ids: BTreeSet<_> = answers.iter().map(Answer::id).collect();
    assert_eq!(ids.len(), 1);
    for repeated in answers.iter().filter(|answer| answer.status == 200) {
        assert_eq!(repeated.body["idempotent"], json!(true));
        assert_eq!(repeated.body.get("inhalt_abweichend"), None);
    }
    assert_eq!(mill.get("/api/v1/belege?typ=RE").is(200)["count"], 1);
    assert_eq!(left(&mill), "990.000");
}

#[test]
fn finalising_at_once_finalises_once() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let batch = stock(&server, &mill);
    let id = mill.post("/api/v1/belege", invoice(json!(1), &batch)).id();
    let path = format!("/api/v1/belege/{id}");
    let answers = at_once(32, |_| mill.send("POST", &format!("{path}/abschliessen"), &[], None));
    assert_eq!(count(&answers, 200), 32);
    assert_eq!(values(&answers, 200, "status"), BTreeSet::from(["abgeschlossen".to_owned()]));
    let history = mill.get(&format!("{path}/verlauf"));
    assert_eq!(history.is(200)["count"], 1);
    assert_eq!(history.body["data"][0]["aktion"], "abschliessen");
}

#[test]
fn finalising_and_cancelling_at_once_end_in_one_state() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let batch = stock(&server, &mill);
    for round in 0..8 {
        let id = mill.post("/api/v1/belege", invoice(json!(10), &batch)).id();
        let path = format!("/api/v1/belege/{id}");
        let answers = at_once(4, |at| match at {
            0 => mill.send("POST", &format!("{path}/abschliessen"), &[], None),
            _ => mill.post(&format!("{path}/storno"), json!({"grund": "falsch"})),
        });
        let (finalised, cancelled) = answers.split_first().unwrap();
        assert_eq!((count(cancelled, 200), count(cancelled, 400)), (1, 2), "round {round}");
        let refusals = BTreeSet::from(["BELEG_NICHT_STORNIERBAR".to_owned()]);
        assert_eq!(values(cancelled, 400, "error"), refusals, "round {round}");
        let cancelled = cancelled.iter().find(|answer| answer.status == 200).unwrap();
        // D4: only a finalised invoice gets a storno document.
        match finalised.status {
            200 => {
                assert!(cancelled.body["storno_beleg_id"].is_string(), "round {round}: {}", cancelled.body)
            }
            _ => {
                finalised.refused(400, "BELEG_STORNIERT");
                assert_eq!(cancelled.body["storno_beleg_id"], Value::Null, "round {round}");
            }
        }
        assert_eq!(mill.get(&path).is(200)["status"], "storniert", "round {round}");
        assert_eq!(left(&mill), "1000.000", "round {round}");
    }
}

#[test]
fn of_many_changes_to_one_version_one_is_made() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let id = mill.post("/api/v1/kunden", json!({"name": "Hof"})).id();
    let path = format!("/api/v1/kunden/{id}");
    let etag = mill.get(&path).headers["etag"].clone();
    let answers = at_once(24, |at| {
        let body = json!({"ort": format!("Ort {at}")}).to_string();
        mill.send("PUT", &path, &[("if-match", &etag)], Some(body.as_bytes()))
    });
    assert_eq!((count(&answers, 200), count(&answers, 412)), (1, 23));
    let winner = answers.iter().position(|answer| answer.status == 200).unwrap();
    assert_eq!(mill.get(&path).is(200)["ort"], json!(format!("Ort {winner}")));
}

#[test]
fn deliveries_and_invoices_at_once_move_every_quantity_once() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let batch = stock(&server, &mill);
    let answers = at_once(64, |at| {
        let item = json!({"artikelnr": "W", "menge": 5, "charge_id": batch});
        let typ = if at % 2 == 0 { "LS" } else { "RE" };
        mill.post("/api/v1/belege", json!({"beleg_typ": typ, "kunden_id": 2, "items": [item]}))
    });
    assert_eq!(count(&answers, 201), 64);
    let expected: BTreeSet<String> = numbers("LS", 32).union(&numbers("RE", 32)).cloned().collect();
    assert_eq!(values(&answers, 201, "beleg_nummer"), expected);
    // D8: 160 kg delivered and the same 160 kg invoiced, in any order.
    assert_eq!(left(&mill), "840.000");
}

#[test]
fn one_weighing_goes_into_one_document_of_a_type() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let batch = stock(&server, &mill);
    let partner = mill.get("/api/v1/kunden").is(200)["data"][1]["id"].clone();
    let first = json!({"waage_id": 1, "gewicht_erst_kg": 100, "partner_id": partner});
    let id = mill.post("/api/v1/wiegungen", first).id();
    mill.put(&format!("/api/v1/wiegungen/{id}/zweitwiegung"), json!({"gewicht_zweit_kg": 160})).is(200);
    let item = json!({"artikelnr": "W", "charge_id": batch, "wiegung_id": id});
    let body = json!({"beleg_typ": "LS", "kunden_id": 2, "items": [item]});
    let answers = at_once(24, |_| mill.post("/api/v1/belege", body.clone()));
    assert_eq!((count(&answers, 201), count(&answers, 400)), (1, 23));
    assert_eq!(values(&answers, 400, "error"), BTreeSet::from(["WIEGUNG_BEREITS_VERWENDET".to_owned()]));
    assert_eq!(left(&mill), "940.000");
}
