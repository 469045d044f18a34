//! What takes something back counts for the contract of what it takes back (D21g).

use serde_json::{Value, json};

use super::contract;
use super::paare::{codes, mill};
use super::wahl::{id_of, post};
use crate::harness::{Client, Server};
use crate::trade::lager::and;

/// Creates a contract over 0.6 t of wheat; returns its id.
fn agreed(mill: &Client, side: &str, partner: &str) -> String {
    let body = json!({"kontrakt_nr": "C", "kontrakt_typ": side, "partner_id": id_of(mill, "kunden", partner),
        "gesamtmenge": "0.6", "gesamtmenge_einheit": "t",
        "positionen": [{"artikelnr": "W", "menge": "0.6", "preis": 640}]});
    mill.post("/api/v1/kontrakte", body).id()
}

/// 0.6 t are delivered on a contract and billed, 0.1 t come back and are credited, in either order: 0.1 t are open again.
#[test]
fn returns_and_credits_in_either_order_open_the_contract_again() {
    let server = Server::start();
    let sides = [("LS", "RE", "verkauf", "K-1"), ("EL", "ER", "einkauf", "L-1")];
    for (delivery, invoice, side, partner) in sides {
        for credit_first in [false, true] {
            let what = format!("{side} {credit_first}");
            let mill = mill(&server, &what);
            let id = agreed(&mill, side, partner);
            let of = |menge: i64, more: Value| json!([and(json!({"artikelnr": "W", "menge": menge}), more)]);
            let came = post(&mill, delivery, of(600, json!({"kontrakt_id": id}))).id();
            let billed = post(&mill, invoice, of(600, json!({}))).id();
            let mut back = [(delivery, &came), (invoice, &billed)];
            if credit_first {
                back.reverse();
            }
            for (typ, named) in back {
                assert_eq!(
                    codes(&post(&mill, typ, of(-100, json!({"bezug_beleg_id": named})))),
                    [""; 0],
                    "{what}"
                );
            }
            let shown = contract(&mill, "C");
            assert_eq!(json!([shown["geliefert"], shown["offen"]]), json!(["0.500", "0.100"]), "{what}");
            let again = post(&mill, delivery, of(100, json!({"kontrakt_id": id})));
            assert_eq!(codes(&again), [""; 0], "{what}");
            assert_eq!(contract(&mill, "C")["geliefert"], "0.600", "{what}");
        }
    }
}

/// A return that names the contract alone is of the position that it takes back from.
#[test]
fn a_return_of_a_contract_is_of_the_position_that_it_takes_back_from() {
    let server = Server::start();
    let mill = mill(&server, "Mühle");
    let of = |menge: i64| json!({"artikelnr": "W", "menge": menge, "preis": 180});
    let body = json!({"kontrakt_nr": "T", "kontrakt_typ": "einkauf", "partner_id": id_of(&mill, "kunden", "L-1"),
        "gesamtmenge_einheit": "t", "positionen": [of(20), of(20)]});
    let id = mill.post("/api/v1/kontrakte", body).id();
    let first = contract(&mill, "T")["positionen"][0]["id"].clone();
    let item = |menge: i64, more: Value| {
        json!([and(json!({"artikelnr": "W", "menge": menge, "einheit": "t"}), more)])
    };
    let named = |menge: i64| post(&mill, "EL", item(menge, json!({"kontrakt_position_id": first})));
    let came = named(20).id();
    post(&mill, "EL", item(-5, json!({"kontrakt_id": id, "bezug_beleg_id": came})));
    assert_eq!(codes(&named(5)), [""; 0], "20 of 20 t on the first position");
    assert_eq!(codes(&named(1)), ["KONTRAKT_UEBERLIEFERT"]);
}
