//! Which price and tax a credit takes from the invoice that it names (D6): those of the position that it takes back, or
//! none, and it asks.

use serde_json::{Value, json};

use super::lager::{Mill, and};
use crate::harness::{Answer, Server};
use crate::leitstand::{person, press};

/// The answer to a credit of one position that names the invoice.
fn credit(mill: &Mill<'_>, typ: &str, invoice: &str, item: Value) -> Answer {
    mill.post(typ, and(item, json!({"bezug_beleg_id": invoice})))
}

fn net(mill: &Mill<'_>, answer: &Answer) -> String {
    mill.get(&answer.id())["summe_netto"].as_str().unwrap().to_owned()
}

fn sacks(menge: Value, ep_netto: Value, more: Value) -> Value {
    and(json!({"artikelnr": "S", "menge": menge, "ep_netto": ep_netto}), more)
}

#[test]
fn a_credit_takes_the_price_of_exactly_what_it_takes_back_or_asks() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let two = json!([sacks(json!(10), json!(10), json!({})), sacks(json!(5), json!(12), json!({}))]);
    let alike = json!([sacks(json!(10), json!(10), json!({})), sacks(json!(5), json!(10), json!({}))]);
    let rates =
        json!([sacks(json!(10), json!(1), json!({"mwst_satz": 7})), sacks(json!(10), json!(1), json!({}))]);
    let rebate = json!([
        sacks(json!(10), json!(10), json!({})),
        sacks(json!(5), json!(10), json!({"rabatt_prozent": 50}))
    ]);
    let asked = Err("BEZUG_MEHRDEUTIG");
    let cases = [
        (&two, json!({"menge": -10}), Ok("-100.00")),
        (&two, json!({"menge": -5}), Ok("-60.00")),
        (&two, json!({"menge": -15}), asked),
        (&two, json!({"menge": -1}), Ok("-10.00")),
        (&two, json!({"menge": -15, "ep_netto": 11}), Ok("-165.00")),
        (&alike, json!({"menge": -15}), Ok("-150.00")),
        (&alike, json!({"menge": -3}), Ok("-30.00")),
        // Both are of this quantity.
        (&rates, json!({"menge": -10}), asked),
        (&rates, json!({"menge": -10, "ep_netto": 1}), asked),
        (&rates, json!({"menge": -10, "mwst_satz": 7}), Ok("-10.00")),
        (&rebate, json!({"menge": -5}), Ok("-25.00")),
        (&rebate, json!({"menge": -2}), Ok("-20.00")),
        (&rebate, json!({"menge": -11}), asked),
        (&rebate, json!({"menge": -2, "ep_netto": 10}), Ok("-20.00")),
    ];
    for typ in ["RE", "ER"] {
        for (items, item, expected) in &cases {
            let invoice = mill.post(typ, (*items).clone()).id();
            let answer = credit(&mill, typ, &invoice, and(json!({"artikelnr": "S"}), item.clone()));
            match expected {
                Ok(sum) => assert_eq!(net(&mill, &answer), *sum, "{typ} {item} of {items}"),
                Err(code) => {
                    let refused = answer.refused(400, code);
                    assert_eq!(refused["feld"], "items[0].bezug_beleg_id", "{typ} {item}");
                    let message = refused["message"].as_str().unwrap();
                    assert!(message.contains("Position 1") && message.contains("Position 2"), "{message}");
                }
            }
        }
    }
}

#[test]
fn a_credit_of_a_batch_takes_the_price_of_that_batch() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let (a, b) = (mill.receive("A", 1_000), mill.receive("B", 1_000));
    let of = |charge: &str, menge: i64, more: Value| {
        and(json!({"artikelnr": "W", "menge": menge, "charge_id": charge}), more)
    };
    let items = json!([of(&a, 100, json!({"ep_netto": "0.30"})), of(&b, 100, json!({"ep_netto": "0.20"}))]);
    for (charge, menge, sum) in [(&a, -100, "-30.00"), (&a, -10, "-3.00"), (&b, -100, "-20.00")] {
        let invoice = mill.post("RE", items.clone()).id();
        let answer = credit(&mill, "RE", &invoice, of(charge, menge, json!({})));
        assert_eq!(net(&mill, &answer), sum, "{menge}: {}", answer.body);
    }
    let invoice = mill.post("RE", items).id();
    credit(&mill, "RE", &invoice, json!({"artikelnr": "W", "menge": -100})).refused(400, "BEZUG_MEHRDEUTIG");
}

/// "Gutschrift dazu" and "Berichtigung dazu", saved as they come, take back the whole invoice.
#[test]
fn what_the_page_offers_takes_back_the_whole_invoice() {
    let server = Server::start();
    let mill = Mill::of(&server);
    mill.client
        .put(
            &format!("/api/v1/kunden/{}", mill.partner_id("Hof")),
            json!({"gutschrift_vereinbart_am": "2026-07-01"}),
        )
        .is(200);
    let mut browser = person(&server, &["Erika", "--role", "buero"]);
    let price = json!("12.99");
    let tonnes = |ep: i64| json!({"artikelnr": "S", "menge": 10, "ep_netto": ep, "mwst_satz": 7});
    let cases = [
        (
            "RE",
            json!([
                sacks(json!(10), price.clone(), json!({})),
                sacks(json!(1), price.clone(), json!({"rabatt_prozent": 100}))
            ]),
            "RE",
            "summe_brutto",
            "-154.58",
        ),
        (
            "RE",
            json!([
                sacks(json!(10), json!(1), json!({"mwst_satz": 7})),
                sacks(json!(10), json!(1), json!({}))
            ]),
            "RE",
            "summe_brutto",
            "-22.60",
        ),
        (
            "RE",
            json!([sacks(json!(10), price, json!({})), sacks(json!(1), json!(-5), json!({}))]),
            "RE",
            "summe_brutto",
            "-148.63",
        ),
        ("ER", json!([tonnes(200), tonnes(150)]), "GS", "summe_netto", "-3500.00"),
    ];
    for (typ, items, form, sum, expected) in cases {
        let partner = if typ == "RE" { "Kd" } else { "Hof" };
        let body =
            json!({"beleg_typ": typ, "kundennummer": partner, "gutschrift": typ == "ER", "items": items});
        let invoice = mill.client.post("/api/v1/belege", body).id();
        let path =
            format!("/leitstand/f/{}/belege/neu?typ={form}&art=korrektur&aus={invoice}", mill.client.tenant);
        let shown = browser.get(&path);
        let sent = press(&mut browser, &path, &shown, &[], "");
        let made = sent.is(303).header("location").rsplit('/').next().unwrap().to_owned();
        let made = made.split(['?', '#']).next().unwrap();
        assert_eq!(mill.get(made)[sum], expected, "{items}");
    }
}

/// A cancelled invoice and its credit would give the credited part back twice.
#[test]
fn an_invoice_that_a_credit_names_is_not_cancelled() {
    let server = Server::start();
    let mill = Mill::of(&server);
    for typ in ["RE", "ER"] {
        let invoice = mill.post(typ, sacks(json!(12), json!(220), json!({"mwst_satz": 7}))).id();
        mill.finalise(&invoice);
        let item = json!({"artikelnr": "S", "menge": -1});
        let made = credit(&mill, typ, &invoice, item.clone());
        let (made, number) = (made.id(), made.body["beleg_nummer"].clone());
        let storno = |id: &str| mill.storno(id);
        let refused = storno(&invoice);
        let message = refused.refused(400, "BELEG_NICHT_STORNIERBAR")["message"].as_str().unwrap();
        assert!(message.contains(number.as_str().unwrap()), "{message}");
        assert_eq!(mill.get(&invoice)["status"], "abgeschlossen", "{typ}");
        storno(&made).is(200);
        // One that names nothing is tied by guess and holds nothing.
        let guessed = mill.post(typ, and(item, json!({"ep_netto": 220}))).id();
        storno(&invoice).is(200);
        storno(&guessed).is(200);
    }
}

/// Of two invoices that take back from each other, neither could be cancelled first.
#[test]
fn invoices_do_not_take_back_from_each_other() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let taking = |menge: i64, of: &str| {
        let sold = sacks(json!(menge), json!(10), json!({}));
        json!([sold, and(json!({"artikelnr": "S", "menge": -1}), json!({"bezug_beleg_id": of}))])
    };
    let first = mill.post("RE", sacks(json!(10), json!(10), json!({}))).id();
    let second = mill.post("RE", taking(5, &first)).id();
    let third = mill.post("RE", taking(5, &second)).id();
    for (from, of) in [(&first, &second), (&first, &third), (&first, &first), (&second, &third)] {
        let refused = mill.put(from, taking(10, of));
        let refused = refused.refused(400, "BEZUG_PASST_NICHT");
        assert_eq!(refused["feld"], "items[1].bezug_beleg_id");
    }
    for id in [&third, &second, &first] {
        mill.storno(id).is(200);
    }
}
