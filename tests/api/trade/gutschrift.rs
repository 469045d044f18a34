//! Credit notes that a company writes for its suppliers (D24).

use serde_json::{Value, json};

use crate::harness::{Answer, Client, Server};

const BELEGE: &str = "/api/v1/belege";
const NOT_AGREED: &str = "GUTSCHRIFT_NICHT_VEREINBART";

fn supplier(mill: &Client, agreed: Value) -> String {
    mill.post(
        "/api/v1/kunden",
        json!({"name": "Hof", "steuerart": "regel", "gutschrift_vereinbart_am": agreed}),
    )
    .id()
}

fn post(mill: &Client, typ: &str, supplier: &str, gutschrift: Value) -> Answer {
    let items = json!([{"bezeichnung": "Weizen", "menge": 10, "ep_netto": 20, "mwst_satz": 7}]);
    let body = json!({"beleg_typ": typ, "kunden_id": supplier, "gutschrift": gutschrift, "items": items});
    mill.post(BELEGE, body)
}

fn art(mill: &Client, id: &str) -> Value {
    mill.get(&format!("{BELEGE}/{id}")).is(200)["rechnungsart"].clone()
}

fn codes(answer: &Answer) -> Vec<String> {
    answer.hint_codes().into_iter().collect()
}

#[test]
fn an_er_can_be_a_gutschrift_and_no_other_document() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let (agreed, silent) = (supplier(&mill, json!("2026-07-01")), supplier(&mill, Value::Null));
    let none: [&str; 0] = [];
    let table = [
        ("ER", &agreed, json!(true), json!("gutschrift"), &none[..]),
        ("ER", &silent, json!(true), json!("gutschrift"), &[NOT_AGREED]),
        ("ER", &silent, json!(false), json!("rechnung"), &none),
        ("ER", &silent, Value::Null, json!("rechnung"), &none),
        ("RE", &silent, json!(false), json!("rechnung"), &none),
        ("RE", &silent, Value::Null, json!("rechnung"), &none),
        ("AN", &silent, Value::Null, Value::Null, &none),
        ("EL", &silent, json!(false), Value::Null, &none),
    ];
    for (typ, supplier, sent, expected, hints) in table {
        let created = post(&mill, typ, supplier, sent.clone());
        created.is(201);
        assert_eq!(
            (art(&mill, &created.id()), codes(&created)),
            (expected, hints.iter().map(|h| h.to_string()).collect()),
            "{typ} {sent}"
        );
    }
    for typ in ["AN", "AU", "LS", "RE", "BS", "EL"] {
        let refusal = post(&mill, typ, &agreed, json!(true));
        assert_eq!(refusal.refused(400, "FELD_WIDERSPRUCH")["feld"], "gutschrift", "{typ}");
    }
}

#[test]
fn an_open_er_becomes_a_gutschrift_and_none_again() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let (agreed, silent) = (supplier(&mill, json!("2026-07-01")), supplier(&mill, Value::Null));
    let id = post(&mill, "ER", &silent, Value::Null).id();
    let steps = [
        (json!({"gutschrift": true}), "gutschrift", &[NOT_AGREED][..]),
        (json!({"notizen": "bleibt"}), "gutschrift", &[NOT_AGREED]),
        (json!({"kunden_id": agreed}), "gutschrift", &[]),
        (json!({"gutschrift": null}), "rechnung", &[]),
        (json!({"gutschrift": true}), "gutschrift", &[]),
        (json!({"gutschrift": false}), "rechnung", &[]),
    ];
    for (change, expected, hints) in steps {
        let answer = mill.put(&format!("{BELEGE}/{id}"), change.clone());
        answer.is(200);
        assert_eq!(
            (art(&mill, &id), codes(&answer)),
            (json!(expected), hints.iter().map(|h| h.to_string()).collect()),
            "{change}"
        );
    }
    let sale = post(&mill, "RE", &silent, Value::Null).id();
    mill.put(&format!("{BELEGE}/{sale}"), json!({"gutschrift": true})).refused(400, "FELD_WIDERSPRUCH");
}

#[test]
fn finalising_a_gutschrift_that_is_not_agreed_says_so_again() {
    let server = Server::start();
    let mill = server.company("Mühle");
    for (agreed, expected) in [(Value::Null, &[NOT_AGREED][..]), (json!("2026-07-01"), &[])] {
        let id = post(&mill, "ER", &supplier(&mill, agreed), json!(true)).id();
        let mut said = codes(&mill.post(&format!("{BELEGE}/{id}/abschliessen"), json!({})));
        said.retain(|code| code == NOT_AGREED);
        assert_eq!(said, expected);
    }
}

#[test]
fn the_storno_of_a_gutschrift_is_one() {
    let server = Server::start();
    let mill = server.company("Mühle");
    let supplier = supplier(&mill, json!("2026-07-01"));
    for (sent, expected) in [(true, "gutschrift"), (false, "rechnung")] {
        let id = post(&mill, "ER", &supplier, json!(sent)).id();
        mill.post(&format!("{BELEGE}/{id}/abschliessen"), json!({})).is(200);
        let storno = mill.post(&format!("{BELEGE}/{id}/storno"), json!({"grund": "Versehen"}));
        let counter = storno.is(200)["storno_beleg_id"].as_str().unwrap().to_owned();
        assert_eq!((art(&mill, &id), art(&mill, &counter)), (json!(expected), json!(expected)));
    }
}
