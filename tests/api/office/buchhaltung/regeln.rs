//! Rules for batches that no worked document covers (D31 to D33).

use serde_json::{Value, json};

use super::{BELEGE, KONTEN, STAPEL, advised, files, kunde, re, stapel};
use crate::datev;
use crate::harness::{Answer, Client, Server};

fn item(artikel: &str, menge: i64, ep_netto: &str) -> Value {
    json!({"artikelnr": artikel, "menge": menge, "ep_netto": ep_netto})
}

fn post(mill: &Client, typ: &str, kunde: &str, items: Value, more: Value) -> Answer {
    let mut body = json!({"beleg_typ": typ, "kunden_id": kunde, "beleg_datum": "2026-10-05", "items": items});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let made = mill.post(BELEGE, body);
    made.is(201);
    made
}

fn nummer(beleg: &Answer) -> Value {
    beleg.body["beleg_nummer"].clone()
}

/// These fields of each booking of a batch.
fn booked<const N: usize>(mill: &Client, made: &Answer, felder: [usize; N]) -> Vec<[String; N]> {
    made.is(201);
    let files = files(mill, &made.id());
    let bookings = files.iter().filter(|(name, _)| name.contains("Buchungsstapel"));
    let of_file = |(_, bytes): &(String, Vec<u8>)| {
        let file = datev::check(bytes, &[]).unwrap();
        file.records.iter().map(|record| felder.map(|feld| record.get(feld).to_owned())).collect::<Vec<_>>()
    };
    bookings.flat_map(of_file).collect()
}

/// The documents named by a hint.
fn hinted(made: &Answer, code: &str) -> Vec<Value> {
    let hints = made.body["hinweise"].as_array().unwrap().iter();
    hints.filter(|hint| hint["code"] == code).map(|hint| hint["feld"].clone()).collect()
}

#[test]
fn a_credit_of_two_invoices_settles_neither_and_is_an_open_item_of_its_own() {
    let server = Server::start_at("2026-10-28T10:00:00Z");
    let mill = advised(&server);
    let kunde = kunde(&mill, json!({}));
    let sold = [(); 2].map(|()| post(&mill, "RE", &kunde, json!([item("A", 2, "100")]), json!({})));
    let back = sold
        .each_ref()
        .map(|sold| json!({"artikelnr": "A", "menge": -1, "ep_netto": "100", "bezug_beleg_id": sold.id()}));
    let one = post(&mill, "RE", &kunde, json!([back[0]]), json!({}));
    let both = post(&mill, "RE", &kunde, json!(back), json!({}));
    server.set_clock("2026-11-02T10:00:00Z");
    let made = stapel(&mill, "2026-10-31");
    let [first, second, both] =
        [&sold[0], &sold[1], &both].map(|beleg| nummer(beleg).as_str().unwrap().to_owned());
    assert!(one.body["summe_brutto"].as_str().unwrap().starts_with('-'));
    assert_eq!(booked(&mill, &made, [11]), [[first.clone()], [second], [first], [both]]);
}

#[test]
fn belegfeld_1_is_named_where_a_supplier_has_it_twice_and_no_credit_is() {
    let server = Server::start_at("2026-10-28T10:00:00Z");
    let mill = advised(&server);
    let [one, other] = [(); 2].map(|()| kunde(&mill, json!({})));
    let bought = |kunde: &str, ep_netto: &str, theirs: &str| {
        let items = json!([{"bezeichnung": "Papier", "menge": 1, "ep_netto": ep_netto, "mwst_satz": 19}]);
        post(&mill, "ER", kunde, items, json!({"fremdbelegnummer": theirs}))
    };
    bought(&one, "10", "R1");
    let twice = bought(&one, "10", "R 1");
    bought(&one, "-10", "R.1");
    bought(&other, "10", "R1");
    server.set_clock("2026-11-02T10:00:00Z");
    let made = stapel(&mill, "2026-10-31");
    assert_eq!(booked(&mill, &made, [11]), [["R1"]; 4]);
    assert_eq!(hinted(&made, "BELEGFELD_DOPPELT"), [nummer(&twice)]);
}

#[test]
fn late_is_what_is_dated_up_to_the_last_day_that_any_live_batch_reaches() {
    let server = Server::start_at("2026-11-02T10:00:00Z");
    let mill = advised(&server);
    let kunde = kunde(&mill, json!({}));
    re(&mill, &kunde, "2026-10-05", "100");
    mill.post(STAPEL, json!({"bis": "2026-10-31", "von": "2026-10-01", "nur": true})).is(201);
    re(&mill, &kunde, "2026-09-05", "100");
    let september = stapel(&mill, "2026-09-30");
    assert!(september.hint_codes().contains(&"NACHZUEGLER".to_owned()), "{}", september.body);
    re(&mill, &kunde, "2026-10-20", "100");
    let late = stapel(&mill, "2026-10-31");
    assert!(late.hint_codes().contains(&"NACHZUEGLER".to_owned()), "{}", late.body);
    // A hand-over contains nothing of a discarded batch.
    for nr in [3, 2, 1] {
        let id = mill.get(STAPEL).is(200)["data"][3 - nr]["id"].as_str().unwrap().to_owned();
        mill.post(&format!("{STAPEL}/{id}/verwerfen"), json!({"grund": "Probe"})).is(200);
    }
    let again = stapel(&mill, "2026-10-31");
    assert_eq!((again.is(201)["belege"].clone(), again.hint_codes().len()), (json!(3), 0), "{}", again.body);
}

#[test]
fn an_account_computes_what_the_newest_year_up_to_that_of_the_document_says() {
    let server = Server::start_at("2026-10-28T10:00:00Z");
    let mill = advised(&server);
    let ranges = "rahmen;von;bis;ab_jahr;art;satz\n\
                  03;8300;8300;2026;umsatzsteuer;19\n\
                  03;8300;8300;2027;umsatzsteuer;8\n";
    server.import(&mill, "kontenfunktionen", ranges);
    let konto = |satz: &str| {
        mill.put(KONTEN, json!({"fall": "erloes", "satz": satz, "artikelgruppe": "B", "konto": 8300}))
    };
    konto("19").is(200);
    for satz in ["7", "8"] {
        konto(satz).refused(400, "KONTO_SATZ_PASST_NICHT");
    }
}

#[test]
fn the_vat_id_of_an_invoice_is_the_one_that_it_had() {
    let server = Server::start_at("2026-10-28T10:00:00Z");
    let mill = advised(&server);
    let kunde = kunde(&mill, json!({"staat": "AT", "ust_id": "ATU13585627"}));
    let items =
        json!([{"artikelnr": "A", "menge": 1, "ep_netto": "100", "mwst_satz": 0, "steuer_kategorie": "K"}]);
    post(&mill, "RE", &kunde, items, json!({}));
    mill.put(&format!("/api/v1/kunden/{kunde}"), json!({"ust_id": "ATU66889218"})).is(200);
    server.set_clock("2026-11-02T10:00:00Z");
    let made = stapel(&mill, "2026-10-31");
    assert_eq!(booked(&mill, &made, [40]), [["ATU13585627"]]);
    assert!(hinted(&made, "UST_ID_UEBERNOMMEN").is_empty(), "{}", made.body);
}

#[test]
fn with_a_cost_centre_each_account_has_a_gross_line_and_the_cent_is_named() {
    let server = Server::start_at("2026-10-28T10:00:00Z");
    let mill = advised(&server);
    let kunde = kunde(&mill, json!({}));
    let mut of_centre = item("A", 1, "10.10");
    of_centre["kostenstelle"] = json!("K1");
    let beleg = post(&mill, "RE", &kunde, json!([of_centre, item("B", 1, "20.25")]), json!({}));
    server.set_clock("2026-11-02T10:00:00Z");
    let made = stapel(&mill, "2026-10-31");
    let booked = booked(&mill, &made, [1, 8, 9, 37]);
    assert_eq!(booked, [["10,81", "8300", "", "K1"], ["21,66", "8301", "", ""]]);
    assert_eq!(hinted(&made, "STEUER_CENT"), [nummer(&beleg)]);
}

#[test]
fn nothing_from_before_the_first_day_is_handed_over_whatever_von_says() {
    let server = Server::start_at("2026-11-02T10:00:00Z");
    let mill = advised(&server);
    let kunde = kunde(&mill, json!({}));
    server.set(&mill, &[("datev_ab", "2026-10-10")]);
    re(&mill, &kunde, "2026-10-05", "100");
    re(&mill, &kunde, "2026-10-15", "100");
    let made = mill.post(STAPEL, json!({"bis": "2026-10-31", "von": "2026-10-01", "nur": true}));
    assert_eq!(booked(&mill, &made, [10]), [["1510"]]);
}

#[test]
fn the_record_of_a_partner_goes_again_when_it_is_another_than_the_one_that_went_last() {
    let server = Server::start_at("2026-11-02T10:00:00Z");
    let mill = advised(&server);
    let kunde = kunde(&mill, json!({}));
    for (ort, files) in [("Ulm", 2), ("Bonn", 2), ("Bonn", 1), ("Ulm", 2)] {
        mill.put(&format!("/api/v1/kunden/{kunde}"), json!({"ort": ort})).is(200);
        re(&mill, &kunde, "2026-10-05", "100");
        let made = stapel(&mill, "2026-10-31");
        assert_eq!(made.is(201)["dateien"].as_array().unwrap().len(), files, "{ort}: {}", made.body);
    }
}

#[test]
fn the_number_of_a_suppliers_invoice_stands_beside_ours_and_no_customers_does() {
    let server = Server::start_at("2026-10-28T10:00:00Z");
    let mill = advised(&server);
    let kunde = kunde(&mill, json!({}));
    let theirs = json!({"fremdbelegnummer": "B 9"});
    let bought = post(&mill, "ER", &kunde, json!([item("P", 1, "10")]), theirs.clone());
    let sold = post(&mill, "RE", &kunde, json!([item("A", 1, "10")]), theirs);
    server.set_clock("2026-11-02T10:00:00Z");
    let made = stapel(&mill, "2026-10-31");
    let [bought, sold] = [&bought, &sold].map(|beleg| nummer(beleg).as_str().unwrap().to_owned());
    let mut booked = booked(&mill, &made, [11, 48, 49, 50, 51]);
    booked.sort();
    let of_supplier = ["B9", "Belegnummer", &bought, "Lieferanten-Nr.", "B 9"];
    assert_eq!(booked, [of_supplier, [&sold, "", "", "", ""]]);
}
