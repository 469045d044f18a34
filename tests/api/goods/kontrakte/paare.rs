//! Which contract a quantity counts for, and which terms of it apply (D21g).

use serde_json::{Value, json};

use super::{PATH, contract};
use crate::harness::{Answer, Client, Server};

/// Creates a mill with wheat (kg) and sacks (Stk), a supplier, a customer, and two contracts without
/// positions: A and B over 100 t each.
pub fn mill(server: &Server, name: &str) -> Client {
    let mill = server.company(name);
    let artikel = "artikelnummer;bezeichnung;einheit;preis;ep_netto\nW;Weizen;kg;0,3;0,2\nS;Sack;Stk;1;1\n";
    server.import(&mill, "artikel", artikel);
    server.import(&mill, "kunden", "kundennr;name;partner_typen\nL-1;Hof;lieferant\nK-1;Kunde;kunde\n");
    let over = |number: &str| json!({"kontrakt_nr": number, "gesamtmenge": 100, "gesamtmenge_einheit": "t"});
    server.import(&mill, "kontrakte", &json!([over("A"), over("B")]).to_string());
    mill
}

fn item(menge: i64, contract: Value) -> Value {
    json!({"artikelnr": "W", "menge": menge, "einheit": "t", "kontrakt_id": contract})
}

fn post(mill: &Client, typ: &str, item: Value) -> Answer {
    let partner = if ["EL", "ER"].contains(&typ) { "L-1" } else { "K-1" };
    let answer =
        mill.post("/api/v1/belege", json!({"beleg_typ": typ, "kundennummer": partner, "items": [item]}));
    assert_eq!(answer.status, 201, "{}", answer.body);
    answer
}

pub fn codes(answer: &Answer) -> Vec<String> {
    let mut codes = answer.hint_codes();
    codes.retain(|code| code.starts_with("KONTRAKT"));
    codes
}

#[test]
fn a_quantity_counts_where_either_side_of_its_pair_names_the_contract() {
    let server = Server::start();
    // Each step has type, quantity and contract. The expectation is the quantity delivered on A and B at the
    // end, and whether the last document contradicts its counterpart.
    type Step = (&'static str, i64, &'static str);
    let table: [(&[Step], [&str; 2], bool); 16] = [
        (&[("LS", 10, "A"), ("RE", 10, "")], ["10", "0"], false),
        (&[("LS", 10, ""), ("RE", 10, "A")], ["10", "0"], false),
        (&[("RE", 10, "A"), ("LS", 10, "")], ["10", "0"], false),
        (&[("RE", 10, ""), ("LS", 10, "A")], ["10", "0"], false),
        (&[("LS", 10, "A"), ("RE", 10, "A")], ["10", "0"], false),
        (&[("EL", 10, ""), ("ER", 7, "A")], ["7", "0"], false),
        (&[("EL", 10, "B"), ("ER", 7, "A")], ["0", "10"], true),
        (&[("RE", 10, "A"), ("LS", 7, "B")], ["3", "7"], true),
        (&[("LS", 10, ""), ("RE", 12, "A")], ["12", "0"], false),
        (&[("LS", 10, "A"), ("LS", -4, "")], ["6", "0"], false),
        (&[("LS", 10, "A"), ("LS", -4, "B")], ["10", "-4"], false),
        (&[("LS", -4, ""), ("RE", -4, "A")], ["-4", "0"], false),
        (&[("LS", -4, "B"), ("RE", -4, "A")], ["0", "-4"], true),
        (&[("RE", 10, "A"), ("RE", -4, "")], ["6", "0"], false),
        (&[("LS", 10, ""), ("RE", 10, "A"), ("RE", -4, "A")], ["6", "0"], false),
        (&[("LS", 10, "A"), ("RE", 10, ""), ("RE", -4, "")], ["10", "0"], false),
    ];
    for (row, (steps, expected, contradicts)) in table.into_iter().enumerate() {
        let mill = mill(&server, &format!("Mühle {row}"));
        let named = |number: &str| match number {
            "" => Value::Null,
            number => contract(&mill, number)["id"].clone(),
        };
        let answers: Vec<_> =
            steps.iter().map(|(typ, menge, number)| post(&mill, typ, item(*menge, named(number)))).collect();
        for (number, expected) in ["A", "B"].into_iter().zip(expected) {
            assert_eq!(
                contract(&mill, number)["geliefert"],
                format!("{expected}.000"),
                "{steps:?}: {number}"
            );
        }
        let last = answers.last().unwrap();
        let expected: &[&str] = if contradicts { &["KONTRAKT_WIDERSPRUCH"] } else { &[] };
        assert_eq!(codes(last), expected, "{steps:?}");
        if contradicts {
            let hint = &last.body["hinweise"].as_array().unwrap().iter();
            let hint = hint.clone().find(|hint| hint["code"] == "KONTRAKT_WIDERSPRUCH").unwrap();
            assert_eq!(hint["feld"], "items[0].kontrakt_id");
            let other = answers[0].body["beleg_nummer"].as_str().unwrap();
            assert!(hint["message"].as_str().unwrap().contains(other), "{hint}");
        }
    }
}

#[test]
fn a_pair_that_ends_counts_for_who_is_left() {
    let server = Server::start();
    let mill = mill(&server, "Mühle");
    let id = contract(&mill, "A")["id"].clone();
    let delivered = || contract(&mill, "A")["geliefert"].clone();
    post(&mill, "LS", item(10, Value::Null));
    let invoice = post(&mill, "RE", item(10, id)).id();
    assert_eq!(delivered(), "10.000");
    mill.post(&format!("/api/v1/belege/{invoice}/storno"), json!({"grund": "falsch"})).is(200);
    assert_eq!(delivered(), "0.000");
}

#[test]
fn what_was_agreed_is_judged_by_position() {
    let server = Server::start();
    let mill = mill(&server, "Mühle");
    let positions =
        json!([{"artikelnummer": "W", "menge": 40, "preis": 200}, {"artikelnummer": "S", "menge": 60}]);
    let wheat = json!([{"artikelnummer": "W", "menge": 40}, {"artikelnummer": "W", "menge": 60}]);
    let file = json!([
        {"kontrakt_nr": "P", "positionen": positions, "gesamtmenge": 100},
        {"kontrakt_nr": "T", "gesamtmenge_einheit": "t", "positionen": wheat},
    ]);
    server.import(&mill, "kontrakte", &file.to_string());
    let (id, two) = (contract(&mill, "P")["id"].clone(), contract(&mill, "T"));
    let of = |artikel: &str, menge: i64| {
        post(&mill, "EL", json!({"artikelnr": artikel, "menge": menge, "kontrakt_id": id}))
    };
    // Quantities in kg and in pieces: neither is compared with the sum of both.
    let unit = ["KONTRAKT_EINHEIT"];
    assert_eq!(codes(&of("W", 40)), unit);
    let over = of("W", 5);
    assert_eq!(codes(&over), [unit[0], "KONTRAKT_UEBERLIEFERT"]);
    let hints = over.body["hinweise"].as_array().unwrap();
    let message =
        hints.iter().find(|hint| hint["code"] == "KONTRAKT_UEBERLIEFERT").unwrap()["message"].clone();
    assert!(
        message.as_str().unwrap().contains("Position 1") && message.as_str().unwrap().contains("5.000 kg")
    );
    assert_eq!(codes(&of("S", 60)), unit);
    // Two positions of one article: an item that names none takes one and is compared with their sum, an item that names
    // one with that position.
    let (id, first) = (&two["id"], &two["positionen"][0]["id"]);
    let [any, named] = [json!({"kontrakt_id": id}), json!({"kontrakt_position_id": first})];
    let of = |more: &Value, menge: i64| {
        let item = json!({"artikelnr": "W", "menge": menge, "einheit": "t"});
        post(&mill, "EL", crate::trade::lager::and(item, more.clone()))
    };
    assert_eq!(codes(&of(&named, 30)), [""; 0]);
    let chosen = "KONTRAKT_POSITION_GEWAEHLT";
    assert_eq!(codes(&of(&any, 50)), [chosen]);
    assert_eq!(codes(&of(&named, 15)), ["KONTRAKT_UEBERLIEFERT"]);
    assert_eq!(codes(&of(&any, 10)), [chosen, "KONTRAKT_UEBERLIEFERT"]);
    // Matches deliveries on P and on its first position: two of them name another contract, one another position.
    let second = two["positionen"][1]["id"].clone();
    let item = json!({"artikelnr": "W", "menge": 1, "einheit": "t", "kontrakt_position_id": second});
    let expected = [&["KONTRAKT_UEBERLIEFERT"][..], &["KONTRAKT_WIDERSPRUCH"; 3]].concat();
    assert_eq!(codes(&post(&mill, "ER", item)), expected, "the whole contract is over-delivered");
    let shown = contract(&mill, "T");
    assert_eq!(json!([shown["geliefert"], shown["offen"]]), json!(["105.000", "-5.000"]));
}

#[test]
fn a_return_counts_for_its_contract_also_by_position() {
    let server = Server::start();
    let mill = mill(&server, "Mühle");
    let wheat = json!([{"artikelnummer": "W", "menge": 40}, {"artikelnummer": "W", "menge": 60}]);
    let file = json!([{"kontrakt_nr": "T", "gesamtmenge_einheit": "t", "positionen": wheat}]);
    server.import(&mill, "kontrakte", &file.to_string());
    let shown = contract(&mill, "T");
    let named = |at: usize| json!({"kontrakt_position_id": shown["positionen"][at]["id"]});
    let any = json!({"kontrakt_id": shown["id"]});
    let of = |typ: &str, menge: i64, more: &Value| {
        let item = json!({"artikelnr": "W", "menge": menge, "einheit": "t"});
        codes(&post(&mill, typ, crate::trade::lager::and(item, more.clone())))
    };
    let delivered = || contract(&mill, "T")["geliefert"].clone();
    // An unmatched return waits. It names no position, so it counts for the contract and contradicts nobody.
    assert_eq!((of("EL", -10, &any), delivered()), (vec![], json!("-10.000")));
    assert_eq!((of("ER", -10, &named(1)), delivered()), (vec![], json!("-10.000")));
    // A return that names another position counts for the position of the return it matches.
    assert_eq!((of("EL", -5, &named(0)), delivered()), (vec![], json!("-15.000")));
    let contradicts = vec!["KONTRAKT_WIDERSPRUCH".to_owned()];
    assert_eq!((of("ER", -5, &named(1)), delivered()), (contradicts, json!("-15.000")));
    assert_eq!((of("EL", 45, &named(0)), delivered()), (vec![], json!("30.000")));
    assert_eq!(of("EL", 1, &named(0)), ["KONTRAKT_UEBERLIEFERT"], "41 of 40 on the first position");
}

#[test]
fn a_contract_in_a_unit_that_cannot_be_compared_has_no_sum() {
    let server = Server::start();
    let mill = mill(&server, "Mühle");
    let file = json!([
        {"kontrakt_nr": "S", "gesamtmenge": 9, "gesamtmenge_einheit": "Sack", "positionen": [{"artikelnummer": "W"}]},
        {"kontrakt_nr": "O", "gesamtmenge": 9, "gesamtmenge_einheit": "Sack"},
    ]);
    server.import(&mill, "kontrakte", &file.to_string());
    let shown = |number: &str| {
        let shown = contract(&mill, number);
        json!([shown["geliefert"], shown["offen"]])
    };
    assert_eq!((shown("S"), shown("O")), (json!([null, null]), json!(["0.000", "9.000"])));
    for number in ["S", "O"] {
        let answer = post(&mill, "EL", item(1, contract(&mill, number)["id"].clone()));
        assert_eq!(codes(&answer), ["KONTRAKT_EINHEIT"], "{number}");
        assert_eq!(shown(number), json!([null, null]), "{number}");
    }
    // Items that the contract does not name, such as freight, are only left out of the sum.
    let id = contract(&mill, "A")["id"].clone();
    assert_eq!(codes(&post(&mill, "EL", item(1, id.clone()))), [""; 0]);
    let freight = post(&mill, "EL", json!({"artikelnr": "S", "menge": 1, "kontrakt_id": id}));
    assert_eq!((codes(&freight), shown("A")), (vec![], json!(["1.000", "99.000"])));
}

#[test]
fn naming_a_contract_that_is_over_or_settled_is_a_hint() {
    let server = Server::start();
    let mill = mill(&server, "Mühle");
    let file = "kontrakt_nr;gueltig_bis;erledigt\nX;09.07.2026;nein\nY;10.07.2026;nein\nZ;;ja\n";
    server.import(&mill, "kontrakte", file);
    let weigh = |id: &Value| {
        let partner = mill.get("/api/v1/kunden?suche=L-1").is(200)["data"][0]["id"].clone();
        let body = json!({"waage_id": 1, "gewicht_erst_kg": 900, "partner_id": partner, "kontrakt_id": id});
        mill.post("/api/v1/wiegungen", body)
    };
    for (number, expected) in [("X", true), ("Y", false), ("Z", true), ("A", false)] {
        let id = contract(&mill, number)["id"].clone();
        let hinted = |answer: &Answer| codes(answer).contains(&"KONTRAKT_ABGELAUFEN".to_owned());
        for typ in ["BS", "EL", "ER"] {
            assert_eq!(hinted(&post(&mill, typ, item(1, id.clone()))), expected, "{number} {typ}");
        }
        let weighed = weigh(&id);
        assert_eq!(hinted(&weighed), expected, "{number}");
        // The second weighing repeats the hint only if it names another contract.
        let second = |body| mill.put(&format!("/api/v1/wiegungen/{}/zweitwiegung", weighed.id()), body);
        assert!(!hinted(&second(json!({"gewicht_zweit_kg": 400}))), "{number}");
        let note = json!({"kundennummer": "L-1", "artikelnr": "W", "anliefermenge_kg": 5, "kontrakt_id": id});
        assert_eq!(hinted(&mill.post("/api/v1/annahmescheine", note)), expected, "{number}");
    }
    // The delivery date decides, not the document date.
    let [over, still] = ["X", "Y"].map(|number| contract(&mill, number)["id"].clone());
    for (id, day, expected) in [(over, "2026-07-09", 0), (still, "2026-07-11", 1)] {
        let body =
            json!({"beleg_typ": "EL", "kundennummer": "L-1", "lieferdatum": day, "items": [item(1, id)]});
        assert_eq!(codes(&mill.post("/api/v1/belege", body)).len(), expected, "{day}");
    }
    assert_eq!(mill.get(PATH).status, 200);
}
