//! What credits take back of an invoice, beside what was invoiced, and which of them keep it from being cancelled (D4, D38).

use serde_json::{Value, json};

use super::{position, sacks};
use crate::harness::{Answer, COMPLETE, Server};
use crate::trade::ausfertigung::xml;
use crate::trade::lager::{Mill, and};

const CODE: &str = "GUTSCHRIFT_UEBER_RECHNUNG";

/// An invoice of 10 at 10.00.
fn invoice(mill: &Mill<'_>) -> Answer {
    mill.post("RE", sacks(&[(10, json!({"ep_netto": "10.00"}))]))
}

/// The sentence of the hint, if there is one.
fn said(answer: &Answer) -> Option<String> {
    let hints = answer.body["hinweise"].as_array().unwrap();
    let hint = hints.iter().find(|hint| hint["code"] == CODE)?;
    Some(hint["message"].as_str().unwrap().to_owned())
}

#[test]
fn more_than_was_invoiced_is_said_by_quantity_and_by_amount() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let of = |invoice: &Answer, menge: i64, more: Value| {
        let named = json!({"bezug_position_id": position(&invoice.body, 0), "menge": menge});
        mill.post("RE", and(named, more))
    };
    let first = invoice(&mill);
    assert_eq!(said(&of(&first, -4, json!({}))), None);
    assert_eq!(said(&of(&first, -6, json!({}))), None, "all of it is no more than all");
    let more = said(&of(&first, -1, json!({}))).unwrap();
    for part in [
        "RE-2026-00001",
        "berechnet 10.000 für 100.00",
        "davor gutgeschrieben 10.000 für 100.00",
        "hier 1.000 für 10.00",
    ] {
        assert!(more.contains(part), "{part}: {more}");
    }
    let second = invoice(&mill);
    let dear = of(&second, -1, json!({"ep_netto": "150.00", "lager_buchen": false}));
    assert!(said(&dear).unwrap().contains("hier 1.000 für 150.00"), "{}", dear.body);
    let third = invoice(&mill);
    let whole = mill.post("RE", sacks(&[(-11, json!({"bezug_beleg_id": third.id(), "ep_netto": "1.00"}))]));
    assert!(said(&whole).unwrap().contains("hier 11.000 für 11.00"), "{}", whole.body);
    let freight = mill.post("RE", json!({"bezeichnung": "Fracht", "menge": 1, "ep_netto": "80.00"}));
    assert_eq!(said(&of(&freight, -1, json!({}))), None);
    assert!(said(&of(&freight, -1, json!({}))).is_some(), "freight, too");
}

#[test]
fn an_invoice_that_is_changed_to_less_than_was_credited_says_so() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let billed = invoice(&mill);
    let named = json!({"bezug_position_id": position(&billed.body, 0), "menge": -4});
    mill.post("RE", named).is(201);
    let put = |menge: i64, price: &str| mill.put(&billed.id(), sacks(&[(menge, json!({"ep_netto": price}))]));
    assert_eq!(said(&put(5, "10.00")), None);
    assert!(said(&put(5, "7.00")).unwrap().contains("davor gutgeschrieben 4.000 für 40.00"));
    assert!(said(&put(3, "20.00")).unwrap().contains("berechnet 3.000 für 60.00"));
}

/// A credit that names the return corrects the invoice of the delivery; one that was tied by guess is proposed anew.
#[test]
fn an_invoice_is_not_cancelled_beside_a_credit_that_names_it_or_its_return() {
    let server = Server::start();
    let mill = Mill::with(&server, "Mühle", COMPLETE);
    let address =
        json!({"strasse": "Am Anger 3", "plz": "86650", "ort": "Wemding", "email": "r@hof.example"});
    mill.client.put(&format!("/api/v1/kunden/{}", mill.partner_id("Kd")), address).is(200);
    let delivery = mill.post("LS", sacks(&[(10, json!({}))]));
    let billed = mill.post("RE", json!({"bezug_position_id": position(&delivery.body, 0)}));
    let back = json!({"bezug_position_id": position(&delivery.body, 0), "menge": -4});
    let back = mill.post("LS", back);
    let credit = mill.post("RE", json!({"bezug_position_id": position(&back.body, 0)}));
    assert!(!credit.hint_codes().contains(&"BEZUG_FEHLT".to_owned()), "{}", credit.body);
    mill.finalise(&billed.id());
    mill.finalise(&credit.id());
    assert!(
        xml(&mill.client, &credit.id())
            .contains("<ram:IssuerAssignedID>RE-2026-00001</ram:IssuerAssignedID>")
    );
    let refused = mill.storno(&billed.id());
    assert_eq!((refused.status, &refused.body["error"]), (400, &json!("BELEG_NICHT_STORNIERBAR")));
    assert!(refused.body.to_string().contains("RE-2026-00002"), "{}", refused.body);
    mill.storno(&credit.id()).is(200);
    mill.storno(&billed.id()).is(200);
    let other = invoice(&mill).id();
    mill.post("RE", sacks(&[(-4, json!({}))])).is(201);
    mill.storno(&other).is(200);
}

/// A credit that names nothing has the article's price: where what it takes back had another one, it says so.
#[test]
fn a_credit_at_the_price_of_the_article_says_what_was_invoiced() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let billed = invoice(&mill);
    let guessed = mill.post("RE", sacks(&[(-1, json!({}))]));
    let hint = guessed.hints("PREIS_ABWEICHEND")["hinweise"].to_string();
    assert!(
        hint.contains("Berechnet wurde mit RE-2026-00001 zu 10.0000 je Stk, gutgeschrieben wird"),
        "{hint}"
    );
    let said = mill.post("RE", sacks(&[(-1, json!({"ep_netto": "3.00"}))]));
    let named = mill.post("RE", sacks(&[(-1, json!({"bezug_beleg_id": billed.id()}))]));
    for answer in [said, named] {
        answer.is(201);
        assert!(!answer.hint_codes().contains(&"PREIS_ABWEICHEND".to_owned()), "{}", answer.body);
    }
}
