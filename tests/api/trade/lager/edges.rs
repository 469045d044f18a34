//! Documents that affect others, in cases that once went wrong (D8).

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Mill, and, buy, moves, plain, sell};
use crate::harness::Server;

/// The stock of every batch, by the supplier's number.
fn stocks(mill: &Mill<'_>) -> Vec<(Value, Value)> {
    let batches = mill.batches();
    batches.iter().map(|batch| (batch["fremde_charge_nr"].clone(), batch["bestand"].clone())).collect()
}

/// Changes the notes of a document, which moves nothing and changes no batch.
fn note(mill: &Mill<'_>, id: &str) {
    let before = stocks(mill);
    for text in ["a", "b"] {
        let answer = mill.client.put(&format!("/api/v1/belege/{id}"), json!({"notizen": text}));
        assert_eq!((answer.is(200)["lagerbewegungen"].clone(), stocks(mill)), (json!([]), before.clone()));
    }
}

/// The recipients of a batch, with the total in kg.
fn recipients(mill: &Mill<'_>, charge: &str) -> Vec<(String, i64)> {
    let path = format!("/api/v1/chargen/{charge}/herkunft?richtung=vorwaerts");
    let mut kg: BTreeMap<String, i64> = BTreeMap::new();
    for entry in mill.client.get(&path).is(200)["empfaenger"].as_array().unwrap() {
        let whole = entry["menge"].as_str().unwrap().strip_suffix(".000").unwrap();
        *kg.entry(entry["kundennr"].as_str().unwrap().to_owned()).or_default() +=
            whole.parse::<i64>().unwrap();
    }
    kg.into_iter().collect()
}

#[test]
fn a_note_moves_nothing_of_what_another_document_took() {
    let server = Server::start();
    let fefo = Mill::with(&server, "Mühle", &[("charge_automatik", "fefo")]);
    let (b0, b1) = (fefo.receive("B0", 20), fefo.receive("B1", 20));
    let other = fefo.post("LS", sell(1, &b0)).id();
    let sold = fefo.post("LS", json!([sell(17, &b0), plain(15)])).id();
    fefo.finalise(&sold);
    let before = [recipients(&fefo, &b0), recipients(&fefo, &b1)];
    assert_eq!(before, [[("Kd".to_owned(), 20)], [("Kd".to_owned(), 13)]]);
    note(&fefo, &other);
    assert_eq!(
        [recipients(&fefo, &b0), recipients(&fefo, &b1)],
        before,
        "the recall still finds the customer"
    );

    let named = Mill::with(&server, "Müller", &[]);
    let [b0, b1, b2] = ["B0", "B1", "B2"].map(|fremde| named.receive(fremde, 100));
    let first = named.post("LS", sell(6, &b1)).id();
    named.post("LS", sell(4, &b2)).is(201);
    let invoice = named.post("RE", json!([plain(10), sell(5, &b0)])).id();
    named.finalise(&invoice);
    named.storno(&first).is(200);
    let last = named.post("LS", sell(1, &b2)).id();
    note(&named, &last);

    let purchases = Mill::with(&server, "Einkauf", &[]);
    purchases.receive("T-1", 100);
    purchases.post("ER", buy(10, "P-9")).is(201);
    let dated = and(plain(29), json!({"mhd": "2027-01-31"}));
    purchases.post("EL", json!([dated, buy(7, "T-1")])).is(201);
    let last = purchases.post("EL", buy(1, "X")).id();
    note(&purchases, &last);
    assert_eq!(purchases.stock("T-1"), "107.000");
}

#[test]
fn who_got_ten_is_listed_with_ten() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let charge = mill.receive("C1", 100);
    for (typ, menge) in [("RE", 10), ("LS", 10), ("RE", -10), ("RE", 10)] {
        mill.post(typ, sell(menge, &charge)).is(201);
    }
    assert_eq!(recipients(&mill, &charge), [("Kd".to_owned(), 10)]);
    for (typ, menge) in [("RE", 10), ("RE", -10), ("RE", 10)] {
        mill.post_for("Kd2", typ, sell(menge, &charge)).is(201);
    }
    assert_eq!(recipients(&mill, &charge), [("Kd".to_owned(), 10), ("Kd2".to_owned(), 10)]);
}

#[test]
fn a_corrected_invoice_needs_its_batch_too() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let charge = mill.receive("C1", 100);
    let invoice = mill.post("RE", sell(10, &charge)).id();
    mill.put(&invoice, plain(10)).refused(400, "CHARGE_FEHLT");
    mill.post("LS", sell(10, &charge)).is(201);
    let refused = mill.put(&invoice, json!([plain(10), plain(1)]));
    assert_eq!(refused.refused(400, "CHARGE_FEHLT")["feld"], "items[1].charge_id");
    assert_eq!((mill.stock("C1").as_str(), mill.charge_id(&invoice)), ("90.000", json!(charge)));
    mill.put(&invoice, plain(10)).is(200);
    assert_eq!((mill.stock("C1").as_str(), mill.charge_id(&invoice)), ("90.000", json!(charge)));
}

/// Without returns: a return that loses the delivery it was matched with takes back goods moved by an invoice
/// instead, and the delivery, entered last, moves as much more (D8, step 3).
#[test]
fn equal_items_leave_all_stock_as_it_was() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let charge = mill.receive("C1", 100);
    let items = [
        ("LS", json!([sell(10, &charge)])),
        ("RE", json!([plain(6)])),
        ("RE", json!([sell(7, &charge)])),
        ("LS", json!([sell(5, &charge), sell(2, &charge)])),
        ("EL", json!([buy(10, "C1")])),
        ("ER", json!([buy(8, "C1"), buy(3, "C1")])),
    ];
    let documents = items.map(|(typ, items)| (mill.post(typ, items.clone()).id(), items));
    let before = stocks(&mill);
    for _ in 0..3 {
        for (id, items) in &documents {
            mill.put(id, items.clone()).is(200);
            assert_eq!(stocks(&mill), before, "{items}");
        }
    }
    // After cancelling, nothing of them is left, except the goods that came first.
    documents.iter().for_each(|(id, _)| drop(mill.storno(id).is(200).clone()));
    assert_eq!(mill.stock("C1"), "100.000");
}

#[test]
fn a_quantity_that_rounds_to_nothing_stands_beside_a_split_one() {
    let server = Server::start();
    let mill = Mill::with(&server, "Mühle", &[("charge_automatik", "fefo")]);
    mill.receive("B0", 10);
    mill.receive("B1", 10);
    let nothing = json!({"artikelnr": "W", "menge": "0.0004", "einheit": "g"});
    let delivery = mill.post("LS", json!([plain(15), nothing.clone()]));
    assert_eq!(moves(&delivery), ["-10.000", "-5.000"]);
    assert_eq!(moves(&mill.post("RE", json!([plain(15), nothing.clone()]))), [""; 0]);
    mill.storno(&delivery.id()).is(200);
    for typ in ["LS", "RE"] {
        mill.post_for("Kd2", typ, json!([nothing])).is(201);
    }
    assert_eq!((mill.stock("B0").as_str(), mill.stock("B1").as_str()), ("0.000", "5.000"));
}

#[test]
fn a_partner_who_supplies_and_buys_has_two_sides() {
    let server = Server::start();
    let mill = Mill::of(&server);
    mill.post_for("Hof", "EL", buy(10, "C1")).is(201);
    let charge = mill.batch("C1")["id"].as_str().unwrap().to_owned();
    assert_eq!(moves(&mill.post_for("Hof", "LS", sell(4, &charge))), ["-4.000"]);
    mill.post_for("Hof", "RE", plain(5)).refused(400, "CHARGE_FEHLT");
    assert_eq!(moves(&mill.post_for("Hof", "RE", plain(4))), [""; 0]);
    assert_eq!(moves(&mill.post_for("Hof", "ER", plain(10))), [""; 0]);
    assert_eq!(moves(&mill.post_for("Hof", "LS", sell(-1, &charge))), ["1.000"]);
    assert_eq!(moves(&mill.post_for("Hof", "EL", buy(-2, "C1"))), ["-2.000"]);
    assert_eq!(moves(&mill.post_for("Hof", "ER", plain(-2))), [""; 0], "the credit of what went back");
    assert_eq!(moves(&mill.post_for("Hof", "RE", plain(-1))), [""; 0]);
    assert_eq!(mill.stock("C1"), "5.000");
}

#[test]
fn the_largest_quantities_are_paired_and_taken_back() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let sacks = |menge: &str| json!({"artikelnr": "S", "menge": menge, "ep_netto": 0});
    let most = "999999999999.999999";
    let delivery = mill.post("LS", sacks(most));
    assert_eq!(delivery.is(201)["lagerbewegungen"].as_array().unwrap().len(), 1);
    assert_eq!(moves(&mill.post("RE", sacks(most))), [""; 0]);
    mill.post_for("Kd2", "LS", sacks("1")).refused(400, "BETRAG_ZU_GROSS");
    let credit = mill.post("RE", sacks(&format!("-{most}")));
    assert_eq!(moves(&credit), [""; 0]);
    assert_eq!(moves(&mill.post("RE", sacks(most))), [""; 0]);
    mill.storno(&delivery.id()).is(200);
    mill.storno(&credit.id()).refused(400, "BETRAG_ZU_GROSS");
}

#[test]
fn as_many_positions_as_may_meet_are_paired_changed_and_cancelled() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let lines: Vec<_> = (0..750).map(|number| buy(1, &format!("C{number}"))).collect();
    let delivery = mill.post("EL", json!(lines));
    assert_eq!(moves(&delivery).len(), 750);
    let invoice = mill.post("ER", json!(vec![plain(1); 750]));
    assert_eq!(moves(&invoice), [""; 0]);
    assert_eq!(moves(&mill.put(&invoice.id(), json!(vec![plain(1); 750]))), [""; 0]);
    mill.finalise(&invoice.id());
    assert_eq!(moves(&mill.storno(&delivery.id())).len(), 1_500);
    assert_eq!(moves(&mill.storno(&invoice.id())).len(), 750);
    assert!(mill.batches().iter().all(|batch| batch["bestand"] == "0.000"));
}

#[test]
fn the_storno_of_an_invoice_in_a_locked_period_gives_back_its_goods() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let charge = mill.receive("C1", 100);
    let dated = |typ: &str| {
        let body = json!({"beleg_typ": typ, "kundennummer": "Kd", "beleg_datum": "2026-06-30",
            "items": [sell(10, &charge)]});
        mill.client.post("/api/v1/belege", body).id()
    };
    let (invoice, delivery) = (dated("RE"), dated("LS"));
    mill.finalise(&invoice);
    mill.finalise(&delivery);
    server.set(&mill.client, &[("gesperrt_bis", "2026-06-30")]);
    mill.storno(&delivery).refused(400, "ZEITRAUM_GESPERRT");
    let answer = mill.storno(&invoice);
    assert_eq!(
        moves(&answer),
        ["10.000", "-10.000"],
        "the delivery moves the goods now, that is from {delivery}"
    );
    assert_eq!(mill.stock("C1"), "90.000");
    assert_eq!(moves(&mill.post("RE", plain(10))), [""; 0], "and it is open again");
}

/// A delivery in three batches: the goods returned from it are released while an older credit makes it take
/// over goods that its invoice had moved.
#[test]
fn parts_of_a_delivery_that_come_free_together_stay_in_their_batches() {
    let server = Server::start();
    let mill = Mill::with(&server, "Mühle", &[("charge_automatik", "fefo")]);
    let (_, c2, c3) = (mill.receive("C1", 4), mill.receive("C2", 100), mill.receive("C3", 100));
    mill.post("RE", plain(-5)).is(201);
    mill.post("RE", sell(4, &c3)).is(201);
    mill.post("LS", plain(14)).is(201);
    mill.post("RE", plain(4)).is(201);
    let stocks = || ["C1", "C2", "C3"].map(|batch| mill.stock(batch));
    assert_eq!(stocks(), ["0.000", "94.000", "96.000"]);
    let back = mill.post("LS", json!([sell(-6, &c2), sell(-5, &c2)])).id();
    mill.storno(&back).is(200);
    assert_eq!(stocks(), ["0.000", "94.000", "96.000"]);
    let of_delivery = "select group_concat(part, ' ') from (
        select fremde_charge_nr || ':' || (o.menge / 1000000) as part from lager_offen o
          join charge c on c.tenant_id = o.tenant_id and c.id = o.charge_id
        where o.beleg_typ = 'LS' order by 1)";
    assert_eq!(server.sql::<String>(of_delivery), "C1:4 C2:6 C3:1");
}

/// A new partner's goods need a batch as in a new document, even if everything is covered.
#[test]
fn a_delivery_that_chose_its_batch_needs_one_when_it_goes_to_another_partner() {
    let server = Server::start();
    let mill = Mill::with(&server, "Mühle", &[("charge_automatik", "fefo")]);
    let charge = mill.receive("C1", 100);
    let delivery = mill.post("LS", plain(7)).id();
    mill.post_for("Kd2", "RE", sell(11, &charge)).is(201);
    server.set(&mill.client, &[("charge_automatik", "aus")]);
    let to = |partner: &str| {
        mill.client.put(&format!("/api/v1/belege/{delivery}"), json!({"kundennummer": partner}))
    };
    assert_eq!(to("Kd2").refused(400, "CHARGE_FEHLT")["feld"], "items[0].charge_id");
    assert_eq!(mill.stock("C1"), "82.000");
    server.set(&mill.client, &[("charge_automatik", "fefo")]);
    to("Kd2").is(200);
    assert_eq!(mill.stock("C1"), "89.000", "the invoice had moved them");
}
