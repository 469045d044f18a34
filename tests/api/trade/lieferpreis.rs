//! Invoices at the article's price for goods that were delivered at another price (D6).

use serde_json::{Value, json};

use crate::harness::{Answer, Server};
use crate::trade::lager::{Mill, and};
use crate::trade::papiere::{post, sacks};

#[test]
fn an_invoice_at_the_price_of_the_article_says_what_was_delivered_at_another() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let said = |answer: &Answer| -> Vec<String> {
        assert!([200, 201].contains(&answer.status), "{}", answer.body);
        let hints = answer.body["hinweise"].as_array().unwrap().iter();
        let hints = hints.filter(|hint| hint["code"] == "PREIS_ABWEICHEND");
        hints.map(|hint| format!("{}: {}", hint["feld"], hint["message"]).replace('"', "")).collect()
    };
    let deliver = |typ: &str, item: Value| {
        let answer = post(&mill, typ, json!([item]), json!({}));
        assert_eq!(said(&answer), [""; 0], "the delivery itself says nothing");
        answer.id()
    };
    // The price and hints of an invoice with this item, which is deleted again.
    let billed = |typ: &str, item: Value| {
        let answer = post(&mill, typ, json!([item]), json!({}));
        mill.storno(&answer.id()).is(200);
        said(&answer)
    };

    let delivery = deliver("LS", and(sacks(10), json!({"ep_netto": 30})));
    let freight = json!({"bezeichnung": "Fracht", "menge": 1, "ep_netto": 5});
    let answer = post(&mill, "RE", json!([freight, sacks(10)]), json!({"lieferdatum": "2026-07-01"}));
    assert_eq!(
        said(&answer),
        [
            "items[1].ep_netto: Geliefert ist mit LS-2026-00001 zu 30.0000 je Stk, berechnet wird der Preis des \
             Artikels: 33.5000 je Stk. Gilt der von damals, bitte ep_netto angeben, einen Rabatt in rabatt_prozent."
        ]
    );
    let id = answer.id();
    assert_eq!(mill.get(&id)["positionen"][1]["ep_netto"], "33.5000", "as the specification says");
    assert_eq!(said(&mill.put(&id, sacks(10))).len(), 1, "a change says it, too");
    assert_eq!(
        said(&mill.put(&id, and(sacks(10), json!({"ep_netto": 33.5})))),
        [""; 0],
        "what is sent is meant"
    );
    let named = billed("RE", and(sacks(1), json!({"bezug_beleg_id": delivery})));
    assert_eq!(named, [""; 0], "what names its delivery has its price");

    deliver("LS", and(sacks(2), json!({"ep_netto": 31})));
    deliver("LS", and(sacks(2), json!({"rabatt_prozent": 3})));
    deliver("LS", sacks(2));
    let several = billed("RE", sacks(6));
    assert!(several[0].contains("LS-2026-00002 (und weiteren) zu 31.0000 je Stk, "), "{several:?}");
    mill.storno(&id).is(200);
    let delivery = deliver("EL", and(sacks(2), json!({"ep_netto": 20, "rabatt_prozent": 3})));
    assert_eq!(billed("ER", and(sacks(2), json!({"rabatt_prozent": 3}))), [""; 0]);
    let other = billed("ER", and(sacks(2), json!({"rabatt_prozent": 5})));
    assert!(other[0].contains("zu 20.0000 je Stk mit 3.00 % Rabatt, berechnet"), "{other:?}");
    assert!(other[0].contains("20.0000 je Stk mit 5.00 % Rabatt. Gilt"), "{other:?}");
    mill.storno(&delivery).is(200);

    let wheat =
        |einheit: &str, more: Value| and(json!({"artikelnr": "W", "menge": 1, "einheit": einheit}), more);
    deliver("EL", wheat("t", json!({"ep_netto": "200.0003", "fremde_charge_nr": "C1"})));
    let wheat_price = |price: &str| {
        let article = json!([{"artikelnummer": "W", "ep_netto": price}]);
        server.import(&mill.client, "artikel", &article.to_string());
    };
    for (price, differs) in [("0.200001", true), ("0.2", false)] {
        wheat_price(price);
        let hints = billed("ER", and(wheat("kg", json!({})), json!({"menge": 1000})));
        assert_eq!(hints.len(), usize::from(differs), "{price}: {hints:?}");
    }
    let barley =
        json!([{"artikelnummer": "G", "bezeichnung": "Gerste", "einheit": "t", "preis": "200.0003"}]);
    server.import(&mill.client, "artikel", &barley.to_string());
    let loose = |einheit: &str, menge: i64| json!({"artikelnr": "G", "menge": menge, "einheit": einheit});
    deliver("LS", loose("kg", 1000));
    assert_eq!(billed("RE", loose("t", 1)), [""; 0], "0.200000 per kg is rounded from the same price");
    let saffron =
        json!([{"artikelnummer": "F", "bezeichnung": "Safran", "einheit": "g", "preis": "20000000"}]);
    server.import(&mill.client, "artikel", &saffron.to_string());
    deliver("LS", json!({"artikelnr": "F", "menge": "0.001", "einheit": "t", "ep_netto": 1}));
    let too_large = billed("RE", json!({"artikelnr": "F", "menge": 1000, "einheit": "g"}));
    assert!(too_large[0].contains("zu 1.0000 je t"), "a hint refuses nothing: {too_large:?}");
}
