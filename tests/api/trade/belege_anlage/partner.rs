//! The partner of a new document: locked or inactive, and his own numbers (D3, D5).

use serde_json::json;

use super::{import_articles, kunde, mill, post};
use crate::harness::Server;

#[test]
fn a_locked_partner_gets_no_orders_and_an_inactive_one_a_hint() {
    let server = Server::start();
    let mill = server.company("Mühle");
    kunde(&mill, "G", json!({"status": "gesperrt"}));
    kunde(&mill, "I", json!({"status": "inaktiv"}));
    import_articles(&server, &mill);
    for typ in ["AN", "AU", "BS", "LS", "RE", "EL", "ER"] {
        let mut fields = json!({"kundennummer": "G"});
        if ["AN", "AU", "BS"].contains(&typ) {
            fields["items"] = json!([{"artikelnr": "77", "menge": 1}]);
        }
        let locked = post(&mill, typ, fields);
        assert_eq!(locked.status, if ["AN", "AU", "BS"].contains(&typ) { 400 } else { 201 }, "{typ}");
        assert!(locked.body.to_string().contains("KUNDE_GESPERRT"), "{typ}");
        post(&mill, typ, json!({"kundennummer": "I"})).hints("KUNDE_INAKTIV");
    }
}

#[test]
fn a_line_of_text_on_the_quote_of_a_locked_partner_is_no_order() {
    let server = Server::start();
    let mill = server.company("Mühle");
    import_articles(&server, &mill);
    let text = json!({"bezeichnung": "Wir melden uns", "menge": 1, "ep_netto": 0});
    let goods = json!({"artikelnr": "77", "menge": 1});
    let kunde = kunde(&mill, "G", json!({}));
    let quote = post(&mill, "AN", json!({"kundennummer": "G", "items": [goods]})).id();
    mill.put(&format!("/api/v1/kunden/{kunde}"), json!({"status": "gesperrt"})).is(200);
    post(&mill, "AN", json!({"kundennummer": "G", "items": [text]})).hints("KUNDE_GESPERRT");
    let both = json!({"kundennummer": "G", "items": [text, goods]});
    post(&mill, "AN", both).refused(400, "KUNDE_GESPERRT");
    let path = format!("/api/v1/belege/{quote}");
    mill.put(&path, json!({"items": [goods, text]})).is(200);
    mill.put(&path, json!({"items": [goods, goods]})).refused(400, "KUNDE_GESPERRT");
}

#[test]
fn a_suppliers_doubled_invoice_number_is_hinted() {
    let (_server, mill) = mill();
    kunde(&mill, "D2", json!({}));
    let rows = [
        ("ER 1 R-7", false),
        ("ER 2 R-7", false),
        ("RE 1 R-7", false),
        ("ER 1 R-8", false),
        ("EL 1 R-7", false),
        ("ER 1 R-7", true),
        ("ER 1 r 7", true),
        ("ER 1  R.7/", true),
        ("EL 1 R7", true),
        ("ER 1 --", false),
        ("ER 1 -/-", false),
    ];
    for (row, is_doubled) in rows {
        let (partner, nummer) = row[3..].split_once(' ').unwrap();
        let fields = json!({"kunden_id": partner, "fremdbelegnummer": nummer});
        let created = post(&mill, &row[..2], fields);
        created.is(201);
        let hints = created.body["hinweise"].as_array().unwrap();
        let doubled = hints.iter().find(|hint| hint["code"] == "FREMDBELEG_DOPPELT");
        assert_eq!(doubled.is_some(), is_doubled, "{row}");
        let first = format!("{}-2026-00001", &row[..2]);
        assert!(doubled.is_none_or(|hint| hint["message"].as_str().unwrap().contains(&first)), "{row}");
    }
    let loose = post(&mill, "EL", json!({"kunden_id": "1"})).id();
    let path = format!("/api/v1/belege/{loose}");
    mill.put(&path, json!({"fremdbelegnummer": "r7"})).hints("FREMDBELEG_DOPPELT");
}
