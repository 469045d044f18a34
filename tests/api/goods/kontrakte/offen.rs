//! Goods that name no contract although their partner has an open one (D21g).

use serde_json::{Value, json};

use super::paare::{codes, mill};
use super::wahl::{id_of, post, wheat};
use crate::harness::{Answer, Client, Server};
use crate::trade::lager::and;

const OPEN: &str = "KONTRAKT_OFFEN";

/// Creates a contract over 20 t of wheat at 180 per t.
fn contract(mill: &Client, number: &str, more: Value) -> String {
    let body = json!({"kontrakt_nr": number, "kontrakt_typ": "einkauf", "partner_id": id_of(mill, "kunden", "L-1"),
        "gesamtmenge_einheit": "t", "positionen": [{"artikelnr": "W", "menge": 20, "preis": 180}]});
    mill.post("/api/v1/kontrakte", and(body, more)).id()
}

/// The field and the message of the only hint of an open contract.
fn said(answer: &Answer) -> (String, String) {
    let hints = answer.hints(OPEN)["hinweise"].as_array().unwrap().iter();
    let of: Vec<_> = hints.filter(|hint| hint["code"] == OPEN).collect();
    assert_eq!(of.len(), 1, "{}", answer.body);
    let text = |field: &str| of[0][field].as_str().unwrap_or_default().to_owned();
    (text("feld"), text("message"))
}

fn has(answer: &Answer) -> bool {
    assert!(answer.status < 300, "{}", answer.body);
    answer.hint_codes().contains(&OPEN.to_owned())
}

#[test]
fn each_kind_of_goods_says_it_for_the_contract_that_ends_first() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let mill = mill(&server, "Mühle");
    let id = contract(&mill, "LATE", json!({"gueltig_bis": "2026-12-31"}));
    contract(&mill, "ENDLESS", json!({}));
    contract(&mill, "SOON", json!({"gueltig_bis": "2026-08-31"}));
    let sold = json!({"kontrakt_typ": "verkauf", "partner_id": id_of(&mill, "kunden", "K-1")});
    contract(&mill, "SOLD", sold);
    for (typ, number) in
        [("AU", "SOLD"), ("LS", "SOLD"), ("RE", "SOLD"), ("BS", "SOON"), ("EL", "SOON"), ("ER", "SOON")]
    {
        let expected = format!("den offenen Kontrakt {number} (180.0000 EUR je t, davon offen 20.000 t)");
        let (feld, message) = said(&post(&mill, typ, json!([wheat(1, json!({}))])));
        assert_eq!(feld, "items[0].kontrakt_id", "{typ}");
        assert!(
            message.contains(&expected) && message.contains("bitte kontrakt_id angeben"),
            "{typ}: {message}"
        );
    }
    assert!(!has(&post(&mill, "AN", json!([wheat(1, json!({}))]))));
    // One for each item that names none, and none for what takes back, has no article, or names one.
    let freight = json!({"bezeichnung": "Fracht", "menge": 1, "ep_netto": 5});
    let items =
        json!([wheat(1, json!({})), wheat(1, json!({"kontrakt_id": id})), freight, wheat(2, json!({}))]);
    let several = post(&mill, "EL", items);
    assert_eq!(codes(&several), [OPEN, OPEN]);
    assert!(!has(&post(&mill, "EL", json!([wheat(-1, json!({}))]))));
    // A weighing says it once its direction is known; a note with and without an EL says it once.
    let weighing = json!({"waage_id": 1, "gewicht_erst_kg": 3_000, "partner_id": id_of(&mill, "kunden", "L-1"),
        "artikel_id": id_of(&mill, "artikel", "W")});
    let first = mill.post("/api/v1/wiegungen", weighing.clone());
    assert!(!has(&first));
    let path = format!("/api/v1/wiegungen/{}/zweitwiegung", first.id());
    assert_eq!(said(&mill.put(&path, json!({"gewicht_zweit_kg": 1_000}))).0, "kontrakt_id");
    said(&mill.post("/api/v1/wiegungen", and(weighing.clone(), json!({"richtung": "eingang"}))));
    assert!(!has(&mill.post("/api/v1/wiegungen", and(weighing, json!({"richtung": "ausgang"})))));
    for el_erzeugen in [false, true] {
        let note = json!({"kundennummer": "L-1", "artikelnr": "W", "anliefermenge_kg": 1_000, "preis_je_t": 200,
            "el_erzeugen": el_erzeugen});
        assert_eq!(
            said(&mill.post("/api/v1/annahmescheine", note.clone())).0,
            "kontrakt_id",
            "{el_erzeugen}"
        );
        let named = and(note, json!({"kontrakt_id": id}));
        assert!(!has(&mill.post("/api/v1/annahmescheine", named)), "{el_erzeugen}");
    }
}

#[test]
fn a_contract_that_is_not_for_the_goods_or_has_nothing_left_is_not_proposed() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let bought = |mill: &Client| post(mill, "EL", json!([wheat(1, json!({}))]));
    let rows = [
        json!({"erledigt": true}),
        json!({"gueltig_bis": "2026-07-24"}),
        json!({"gueltig_von": "2026-07-26"}),
        json!({"kontrakt_typ": "verkauf"}),
        json!({"partner_id": null}),
        json!({"positionen": [{"artikelnr": "S", "menge": 20}]}),
        json!({"positionen": null}),
    ];
    for (row, more) in rows.into_iter().enumerate() {
        let mill = mill(&server, &format!("Mühle {row}"));
        contract(&mill, "C", more.clone());
        assert!(!has(&bought(&mill)), "{more}");
    }
    let mill = mill(&server, "Mühle");
    let id = contract(&mill, "FIRST", json!({"gueltig_bis": "2026-08-31"}));
    contract(&mill, "NEXT", json!({}));
    post(&mill, "EL", json!([wheat(15, json!({"kontrakt_id": id}))]));
    assert!(said(&bought(&mill)).1.contains("FIRST (180.0000 EUR je t, davon offen 5.000 t)"));
    let full = post(&mill, "EL", json!([wheat(5, json!({"kontrakt_id": id}))])).id();
    assert!(said(&bought(&mill)).1.contains("NEXT"));
    // The invoice of a delivery that names a contract counts for it.
    let billed = post(&mill, "ER", json!([wheat(5, json!({"bezug_beleg_id": full}))]));
    assert!(!has(&billed), "{}", billed.body);
}

#[test]
fn a_long_history_is_not_walked_over() {
    let server = Server::start_at("2026-07-25T10:00:00Z");
    let mill = mill(&server, "Mühle");
    let id = contract(&mill, "C", json!({"positionen": [{"artikelnr": "W", "menge": 9_000, "preis": 180}]}));
    let items: Vec<_> = (0..200).map(|_| wheat(1, json!({"kontrakt_id": id}))).collect();
    let bought = || said(&post(&mill, "EL", json!([wheat(1, json!({}))]))).1;
    post(&mill, "EL", json!(items));
    assert!(bought().contains("davon offen 8800.000 t"));
    post(&mill, "BS", json!([wheat(1, json!({"kontrakt_id": id}))]));
    assert!(bought().contains("(180.0000 EUR je t; was offen ist, zeigt der Kontrakt)"));
}
