//! Pages that make a document from a document offer what is left, name each position, and are gone with the last of it.

use serde_json::{Value, json};

use super::{position, sacks};
use crate::harness::Server;
use crate::leitstand::{Browser, person, press};
use crate::trade::lager::{Mill, and, sell};

/// The document that a form makes where it is saved as it comes.
pub fn made(mill: &Mill<'_>, browser: &mut Browser, query: &str) -> Value {
    let path = format!("/leitstand/f/{}/belege/neu?{query}", mill.client.tenant);
    let shown = browser.get(&path);
    let sent = press(browser, &path, &shown, &[], "");
    let id = sent.is(303).header("location").rsplit('/').next().unwrap().to_owned();
    mill.get(id.split(['?', '#']).next().unwrap())
}

fn quantities(document: &Value) -> Vec<&str> {
    document["positionen"].as_array().unwrap().iter().map(|line| line["menge"].as_str().unwrap()).collect()
}

/// Whether the page of a document offers this.
fn offers(mill: &Mill<'_>, browser: &mut Browser, id: &str, words: &str) -> bool {
    let page = browser.get(&format!("/leitstand/f/{}/belege/{id}", mill.client.tenant));
    page.is(200).text.contains(&format!(">{words}</a>"))
}

#[test]
fn a_document_made_from_another_has_what_is_left_at_its_terms() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let mut browser = person(&server, &["Erika", "--role", "buero"]);
    let browser = &mut browser;
    // An order of 100, of which 40 are delivered, and freight.
    let freight = json!({"bezeichnung": "Fracht", "menge": 1, "ep_netto": 50, "mwst_satz": 19});
    let goods = json!({"artikelnr": "S", "menge": 100, "ep_netto": "12.99", "rabatt_prozent": 10});
    let order = mill.post("AU", json!([goods, freight]));
    let line = position(order.is(201), 0);
    mill.post("LS", json!({"bezug_position_id": line, "menge": 40})).is(201);
    let delivery = made(&mill, browser, &format!("typ=LS&aus={}", order.id()));
    assert_eq!(quantities(&delivery), ["60.000", "1.000"]);
    assert_eq!(delivery["positionen"][0]["bezug_position_id"], line);
    assert_eq!(delivery["positionen"][0]["ep_netto"], "12.9900");
    assert_eq!(delivery["positionen"][0]["rabatt_prozent"], "10.00");
    assert!(!offers(&mill, browser, &order.id(), "Lieferschein daraus"), "nothing is left");
    // Free goods stay free.
    let delivery = mill.post("LS", sacks(&[(10, json!({"ep_netto": "12.99"})), (1, json!({"ep_netto": 0}))]));
    let invoice = made(&mill, browser, &format!("typ=RE&aus={}", delivery.id()));
    assert_eq!(invoice["summe_brutto"], "154.58");
    assert!(!offers(&mill, browser, &delivery.id(), "Rechnung daraus"));
    assert!(offers(&mill, browser, invoice["id"].as_str().unwrap(), "Gutschrift dazu"));
}

#[test]
fn what_came_back_is_not_offered_and_units_are_converted() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let mut browser = person(&server, &["Erika", "--role", "buero"]);
    let browser = &mut browser;
    let charge = mill.receive("A", 100_000);
    let deliver = |menge: i64| mill.post("LS", sell(menge, &charge));
    let back = |delivery: &Value, menge: i64| {
        let named = json!({"bezug_position_id": position(delivery, 0)});
        mill.post("LS", and(sell(-menge, &charge), named)).is(201).clone()
    };
    let delivery = deliver(10);
    back(&delivery.body, 4);
    assert_eq!(quantities(&made(&mill, browser, &format!("typ=RE&aus={}", delivery.id()))), ["6.000"]);
    let delivery = deliver(5);
    back(&delivery.body, 5);
    assert!(!offers(&mill, browser, &delivery.id(), "Rechnung daraus"));
    let in_t = json!({"artikelnr": "W", "menge": 25, "einheit": "t", "charge_id": charge});
    let delivery = mill.post("LS", in_t).id();
    mill.post("RE", json!({"artikelnr": "W", "menge": 10, "einheit": "t", "bezug_beleg_id": delivery}))
        .is(201);
    let rest = made(&mill, browser, &format!("typ=RE&aus={delivery}"));
    assert_eq!((quantities(&rest), &rest["positionen"][0]["einheit"]), (vec!["15.000"], &json!("t")));
    let two = json!({"artikelnr": "W", "menge": 2, "einheit": "t", "charge_id": charge});
    let invoice = mill.post("RE", two);
    let half = json!({"bezug_position_id": position(&invoice.body, 0), "menge": "-0.5"});
    mill.post("RE", half).is(201);
    let credit = made(&mill, browser, &format!("typ=RE&art=korrektur&aus={}", invoice.id()));
    assert_eq!(quantities(&credit), ["-1.500"]);
}

/// The form of an open document sends nothing that its position has only to show.
#[test]
fn a_form_to_change_a_document_ignores_nothing() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let mut browser = person(&server, &["Erika", "--role", "buero"]);
    let order = mill.post("AU", sacks(&[(2, json!({}))]));
    let delivery = mill.post("LS", json!({"bezug_position_id": position(&order.body, 0)})).id();
    let path = format!("/leitstand/f/{}/belege/{delivery}/aendern", mill.client.tenant);
    let shown = browser.get(&path);
    let tried = press(&mut browser, &path, &shown, &[], "pruefen");
    assert!(!tried.is(200).text.contains("wurde nicht übernommen"), "{}", tried.text);
    press(&mut browser, &path, &tried, &[], "").is(303);
    assert_eq!(mill.get(&delivery)["positionen"][0]["bezug_position_id"], position(&order.body, 0));
}
