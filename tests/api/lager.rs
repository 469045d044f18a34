//! Stock and batches: every quantity moves once (D8).

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::harness::{Answer, Client, Server, data};

const ARTIKEL: &str = r#"[
 {"artikelnummer": "W", "bezeichnung": "Weizen", "einheit": "kg", "preis": 0.32, "ep_netto": 0.2,
  "mwst_satz": 7, "chargenpflichtig": true},
 {"artikelnummer": "R", "bezeichnung": "Roggen", "einheit": "kg", "preis": 0.3, "ep_netto": 0.18,
  "mwst_satz": 7, "chargenpflichtig": true},
 {"artikelnummer": "S", "bezeichnung": "Sack", "einheit": "Stk", "preis": 33.5, "ep_netto": 20,
  "mwst_satz": 19}]"#;

/// A company with two suppliers (Hof, Gut), two customers (Kd, Kd2), the articles W and R that are
/// tracked by batch, in kg, and S that is not, in Stk.
pub struct Mill<'s> {
    pub server: &'s Server,
    pub client: Client,
}

impl Mill<'_> {
    pub fn of(server: &Server) -> Mill<'_> {
        Mill::with(server, "Mühle", &[])
    }

    pub fn with<'s>(server: &'s Server, name: &str, settings: &[(&str, &str)]) -> Mill<'s> {
        let client = server.company_with(name, settings);
        server.import(&client, "artikel", ARTIKEL);
        for (number, role) in [("Hof", "lieferant"), ("Gut", "lieferant"), ("Kd", "kunde"), ("Kd2", "kunde")]
        {
            let body = json!({"name": number, "kundennr": number, "partner_typen": [role]});
            client.post("/api/v1/kunden", body).is(201);
        }
        Mill { server, client }
    }

    /// Creates a document: purchases from Hof, sales to Kd.
    pub fn post(&self, typ: &str, items: Value) -> Answer {
        self.post_for(if ["BS", "EL", "ER"].contains(&typ) { "Hof" } else { "Kd" }, typ, items)
    }

    pub fn post_for(&self, partner: &str, typ: &str, items: Value) -> Answer {
        let body = json!({"beleg_typ": typ, "kundennummer": partner, "items": list(items)});
        self.client.post("/api/v1/belege", body)
    }

    pub fn put(&self, id: &str, items: Value) -> Answer {
        self.client.put(&format!("/api/v1/belege/{id}"), json!({"items": list(items)}))
    }

    pub fn get(&self, id: &str) -> Value {
        self.client.get(&format!("/api/v1/belege/{id}")).is(200).clone()
    }

    pub fn storno(&self, id: &str) -> Answer {
        self.client.post(&format!("/api/v1/belege/{id}/storno"), json!({"grund": "Versehen"}))
    }

    pub fn finalise(&self, id: &str) {
        self.client.post(&format!("/api/v1/belege/{id}/abschliessen"), json!({})).is(200);
    }

    pub fn artikel_id(&self, nummer: &str) -> String {
        let list = self.client.get("/api/v1/artikel").is(200)["data"].as_array().unwrap().clone();
        let found = list.iter().find(|artikel| artikel["artikelnummer"] == nummer);
        found.unwrap()["id"].as_str().unwrap().to_owned()
    }

    pub fn partner_id(&self, nummer: &str) -> String {
        let list = self.client.get("/api/v1/kunden").is(200)["data"].as_array().unwrap().clone();
        let found = list.iter().find(|kunde| kunde["kundennr"] == nummer);
        found.unwrap()["id"].as_str().unwrap().to_owned()
    }

    pub fn batches(&self) -> Vec<Value> {
        self.client.get("/api/v1/chargen").is(200).as_array().unwrap().clone()
    }

    /// The one batch with this number of the supplier.
    pub fn batch(&self, fremde: &str) -> Value {
        let all = self.batches();
        let mut found = all.iter().filter(|batch| batch["fremde_charge_nr"] == fremde);
        let batch = found.next().unwrap_or_else(|| panic!("no batch {fremde}")).clone();
        assert!(found.next().is_none(), "several batches {fremde}");
        batch
    }

    pub fn stock(&self, fremde: &str) -> String {
        self.batch(fremde)["bestand"].as_str().unwrap().to_owned()
    }

    /// Brings goods in; the id of the batch.
    pub fn receive(&self, fremde: &str, menge: i64) -> String {
        self.post("EL", buy(menge, fremde)).is(201);
        self.batch(fremde)["id"].as_str().unwrap().to_owned()
    }

    /// The batch of the only position of a document.
    pub fn charge_id(&self, id: &str) -> Value {
        self.get(id)["positionen"][0]["charge_id"].clone()
    }

    /// The sum of all movements of documents of a partner, in whole units.
    fn moved(&self, partner: &str) -> i64 {
        self.server.sql(&format!(
            "select coalesce(sum(m.menge), 0) / 1000000 from lagerbewegung m
               join beleg b on b.tenant_id = m.tenant_id and b.id = m.beleg_id
               join kunde k on k.tenant_id = b.tenant_id and k.id = b.kunde_id
             where m.tenant_id = {} and k.kundennr = '{partner}'",
            self.client.tenant
        ))
    }
}

fn list(items: Value) -> Value {
    if items.is_array() { items } else { json!([items]) }
}

pub fn plain(menge: i64) -> Value {
    json!({"artikelnr": "W", "menge": menge})
}

pub fn buy(menge: i64, fremde: &str) -> Value {
    json!({"artikelnr": "W", "menge": menge, "fremde_charge_nr": fremde})
}

pub fn sell(menge: i64, charge: &str) -> Value {
    json!({"artikelnr": "W", "menge": menge, "charge_id": charge})
}

/// An object with some fields more.
pub fn and(mut base: Value, more: Value) -> Value {
    base.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    base
}

/// The quantities that a confirmation lists.
pub fn moves(answer: &Answer) -> Vec<String> {
    let moves = answer.body["lagerbewegungen"].as_array().unwrap();
    moves.iter().map(|bewegung| bewegung["menge"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn stock_follows_the_golden_sequences() {
    let server = Server::start();
    for (at, sequence) in data("golden.json")["bestand"].as_array().unwrap().iter().enumerate() {
        let mill = Mill::with(&server, &format!("Mühle {at}"), &[]);
        let mut done: Vec<(String, String)> = Vec::new();
        for (step, row) in sequence.as_array().unwrap().iter().enumerate() {
            let name = format!("sequence {at}, row {step}: {row}");
            let (batch, expected) = golden_step(&mill, row, &mut done, &name);
            if let Some(expected) = expected {
                assert_eq!(mill.stock(&batch), format!("{expected}.000"), "{name}");
            }
        }
    }
}

/// Carries out a row; the batch it concerns and the stock expected of it, if it succeeds.
fn golden_step(
    mill: &Mill<'_>,
    row: &Value,
    done: &mut Vec<(String, String)>,
    name: &str,
) -> (String, Option<String>) {
    if row[0] == "STORNO" {
        let (id, batch) = done[row[1].as_u64().unwrap() as usize].clone();
        let (answer, expected) = (mill.storno(&id), row[2].as_str().unwrap());
        if let Some(code) = expected.strip_prefix("FEHLER ") {
            assert_eq!(answer.refused(400, code)["error"], code, "{name}");
            return (batch, None);
        }
        assert_eq!(answer.status, 200, "{name}: {}", answer.body);
        return (batch, Some(expected.to_owned()));
    }
    let typ = row[0].as_str().unwrap();
    let mut item = json!({"artikelnr": row[2], "menge": row[3]});
    match row[4].as_str() {
        Some(batch) if ["EL", "ER"].contains(&typ) => item["fremde_charge_nr"] = json!(batch),
        Some(batch) => item["charge_id"] = mill.batch(batch)["id"].clone(),
        None => {}
    }
    let answer = mill.post_for(row[1].as_str().unwrap(), typ, item);
    assert_eq!(answer.status, 201, "{name}: {}", answer.body);
    let batch = row[4].as_str().map_or_else(|| done.last().unwrap().1.clone(), str::to_owned);
    done.push((answer.id(), batch.clone()));
    (batch, Some(row[5].as_str().unwrap().to_owned()))
}

#[test]
fn in_all_ten_move_once() {
    let server = Server::start();
    let first = Mill::with(&server, "RE LS", &[]);
    let charge = first.receive("C1", 100);
    let invoice = first.post("RE", sell(10, &charge)).id();
    first.post("LS", sell(10, &charge)).is(201);
    first.storno(&invoice).is(200);
    assert_eq!((first.moved("Kd"), first.stock("C1").as_str()), (-10, "90.000"), "RE 10, LS 10, storno RE");

    let second = Mill::with(&server, "LS RE", &[]);
    let charge = second.receive("C1", 100);
    let delivery = second.post("LS", sell(10, &charge)).id();
    second.post("RE", sell(10, &charge)).is(201);
    second.storno(&delivery).is(200);
    second.post("LS", sell(10, &charge)).is(201);
    assert_eq!((second.moved("Kd"), second.stock("C1").as_str()), (-10, "90.000"), "LS, RE, storno LS, LS");
}

#[test]
fn a_batch_is_required_where_the_table_says_so() {
    let server = Server::start();
    let mill = Mill::of(&server);
    for typ in ["AN", "AU"] {
        assert_eq!(moves(&mill.post(typ, plain(10))), [""; 0], "{typ}");
    }
    for typ in ["BS", "EL", "ER", "LS", "RE"] {
        let refusal = mill.post(typ, plain(10)).refused(400, "CHARGE_FEHLT").clone();
        assert!(refusal["message"].as_str().unwrap().contains("Charge"), "{typ}: {refusal}");
    }
    assert_eq!(mill.batches().len(), 0, "a refusal leaves no batch");
    let charge = mill.receive("C1", 100);
    // Deliveries need one always, even where an invoice has moved the goods already.
    mill.post("ER", buy(10, "C2")).is(201);
    mill.post("EL", plain(10)).refused(400, "CHARGE_FEHLT");
    mill.post("RE", sell(10, &charge)).is(201);
    mill.post("LS", plain(10)).refused(400, "CHARGE_FEHLT");
    // Invoices need one unless they are fully covered.
    mill.post_for("Kd2", "LS", sell(10, &charge)).is(201);
    mill.post_for("Kd2", "RE", plain(11)).refused(400, "CHARGE_FEHLT");
    assert_eq!(moves(&mill.post_for("Kd2", "RE", plain(10))), [""; 0]);
    mill.post_for("Gut", "EL", buy(10, "G")).is(201);
    mill.post_for("Gut", "ER", plain(11)).refused(400, "CHARGE_FEHLT");
    assert_eq!(moves(&mill.post_for("Gut", "ER", plain(10))), [""; 0]);
    // An article without batches needs none.
    for typ in ["BS", "EL", "ER", "LS", "RE"] {
        mill.post(typ, json!({"artikelnr": "S", "menge": 1})).is(201);
    }
}

#[test]
fn each_batch_information_alone_is_enough_for_a_purchase() {
    let server = Server::start();
    let mill = Mill::of(&server);
    server.import(&mill.client, "biozertifikate", r#"[{"id": 7, "nummer": "DE-ÖKO-006-7"}]"#);
    let charge = mill.receive("C1", 100);
    let rows = [
        ("fremde_charge_nr", json!("X")),
        ("mhd", json!("2027-01-31")),
        ("herkunftsland", json!("AT")),
        ("biozertifikat_id", json!(7)),
        ("charge_id", json!(charge)),
    ];
    for typ in ["BS", "EL", "ER"] {
        for (field, value) in &rows {
            let mut item = json!({"artikelnr": "W", "menge": 10});
            item[*field] = value.clone();
            let answer = mill.post_for(if typ == "ER" { "Gut" } else { "Hof" }, typ, item);
            assert_eq!(answer.status, 201, "{typ} with {field}: {}", answer.body);
        }
    }
}

#[test]
fn a_purchase_order_makes_a_batch_without_stock_that_the_delivery_reuses() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let order = mill.post("BS", and(buy(100, "C1"), json!({"mhd": "2027-01-31", "ep_netto": "0.19"})));
    assert_eq!(moves(&order), [""; 0]);
    let batch = mill.batch("C1");
    assert_eq!((&batch["bestand"], &batch["eingang_menge"]), (&json!("0.000"), &json!("0.000")));
    assert_eq!(batch["mhd"], "2027-01-31T00:00:00.000Z");
    assert_eq!(mill.charge_id(&order.id()), batch["id"]);
    let delivery = mill.post("EL", and(buy(90, "c1"), json!({"ep_netto": "0.21"})));
    let again = mill.batch("C1");
    assert_eq!((&again["id"], &again["bestand"]), (&batch["id"], &json!("90.000")));
    assert_eq!((&again["eingang_menge"], &again["eingang_ep"]), (&json!("90.000"), &json!("0.2100")));
    assert_eq!(again["eingang_beleg_id"], delivery.id(), "the first receipt, not the order");

    server.set(&mill.client, &[("bestellung_ohne_charge", "true")]);
    let order = mill.post("BS", plain(5));
    assert_eq!(order.is(201)["lagerbewegungen"], json!([]));
    assert_eq!((mill.batches().len(), mill.charge_id(&order.id())), (1, Value::Null));
}

#[test]
fn a_batch_is_reused_when_article_partner_number_and_mhd_agree() {
    let server = Server::start();
    let mill = Mill::of(&server);
    mill.post("EL", buy(10, "Los-Ä1")).is(201);
    let rye = json!({"artikelnr": "R", "menge": 10, "fremde_charge_nr": "Los-Ä1"});
    let unnamed = json!({"artikelnr": "W", "menge": 10, "mhd": "2027-01-31"});
    let dated = |number: &str, mhd: &str| and(buy(10, number), json!({"mhd": mhd}));
    let rows = [
        ("trimmed and folded", "Hof", buy(10, "  los-ä1 "), 1),
        ("mhd on one side only", "Hof", dated("LOS-Ä1", "2027-01-31"), 1),
        ("the same mhd", "Hof", dated("Los-Ä1", "2027-01-31"), 1),
        ("without mhd again", "Hof", buy(10, "Los-Ä1"), 1),
        ("another mhd", "Hof", dated("Los-Ä1", "2027-02-28"), 2),
        ("another number", "Hof", buy(10, "Los-A1"), 3),
        ("another supplier", "Gut", buy(10, "Los-Ä1"), 4),
        ("another article", "Hof", rye, 5),
        ("no number", "Hof", unnamed.clone(), 6),
        ("no number again", "Hof", unnamed, 7),
    ];
    for (name, partner, item, expected) in rows {
        mill.post_for(partner, "EL", item).is(201);
        assert_eq!(mill.batches().len(), expected, "{name}");
    }
    assert_eq!(mill.batches()[0]["bestand"], "50.000");
    assert_eq!(mill.batches()[0]["fremde_charge_nr"], "Los-Ä1");
}

#[test]
fn a_reused_batch_takes_over_what_it_lacked_and_keeps_what_it_had() {
    let server = Server::start();
    let mill = Mill::of(&server);
    mill.receive("C1", 10);
    mill.post("EL", and(buy(10, "C1"), json!({"mhd": "2027-01-31", "herkunftsland": "AT"}))).is(201);
    mill.post("EL", and(buy(10, "C1"), json!({"herkunftsland": "FR"}))).is(201);
    let batch = mill.batch("C1");
    assert_eq!((&batch["mhd"], &batch["herkunftsland"]), (&json!("2027-01-31T00:00:00.000Z"), &json!("AT")));
}

#[test]
fn a_charge_id_must_exist_and_be_of_the_article() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let charge = mill.receive("C1", 100);
    let stranger = "0197f3a0-0000-7000-8000-000000000000";
    for typ in ["AN", "AU", "LS", "RE", "BS", "EL", "ER"] {
        let rye = json!({"artikelnr": "R", "menge": 1, "charge_id": charge});
        assert_eq!(
            mill.post(typ, rye).refused(400, "CHARGE_PASST_NICHT")["error"],
            "CHARGE_PASST_NICHT",
            "{typ}"
        );
        mill.post(typ, sell(1, stranger)).refused(400, "CHARGE_NICHT_GEFUNDEN");
    }
    let other = Mill::with(&server, "Andere", &[]);
    other.post("LS", sell(1, &charge)).refused(400, "CHARGE_NICHT_GEFUNDEN");
    assert_eq!(mill.stock("C1"), "100.000");
}

#[test]
fn purchase_fields_on_sales_are_ignored_with_a_hint() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let charge = mill.receive("C1", 100);
    for typ in ["AN", "AU", "LS", "RE"] {
        for (field, value) in [("fremde_charge_nr", "C9"), ("mhd", "2027-01-31"), ("herkunftsland", "AT")] {
            let mut item = sell(1, &charge);
            item[field] = json!(value);
            let answer = mill.post(typ, item);
            assert_eq!(answer.hint_codes(), ["FELD_IGNORIERT"], "{typ} {field}: {}", answer.body);
        }
    }
    mill.post_for("Kd2", "LS", buy(1, "C1")).refused(400, "CHARGE_FEHLT");
    assert_eq!(mill.batches().len(), 1);
    assert_eq!(mill.batch("C1")["mhd"], Value::Null);
}

#[test]
fn an_invoice_item_that_does_not_book_stays_out_of_pairing() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let charge = mill.receive("C1", 100);
    mill.post("LS", sell(10, &charge)).is(201);
    let silent = and(plain(10), json!({"lager_buchen": false}));
    assert_eq!(moves(&mill.post("RE", silent.clone())), [""; 0], "it needs no batch");
    assert_eq!(moves(&mill.post("RE", plain(10))), [""; 0], "the delivery is still open for this one");
    assert_eq!(moves(&mill.post("ER", silent)), [""; 0]);
    for (typ, item, expected) in [("LS", sell(3, &charge), "-3.000"), ("EL", buy(3, "C1"), "3.000")] {
        let answer = mill.post(typ, and(item, json!({"lager_buchen": false})));
        assert_eq!(moves(&answer), [expected], "{typ}: ignored");
        answer.hints("FELD_IGNORIERT");
    }
}

#[test]
fn with_lagerbuchung_lieferung_only_deliveries_move_stock() {
    let server = Server::start();
    let mill = Mill::of(&server);
    let charge = mill.receive("C1", 100);
    let before = mill.post("RE", sell(10, &charge));
    assert_eq!(moves(&before), ["-10.000"]);
    server.set(&mill.client, &[("lagerbuchung", "lieferung")]);
    for (typ, item) in [("RE", sell(10, &charge)), ("RE", plain(10)), ("ER", plain(10)), ("ER", buy(9, "C1"))]
    {
        assert_eq!(moves(&mill.post(typ, item)), [""; 0], "{typ}");
    }
    assert_eq!(moves(&mill.post("LS", sell(10, &charge))), [""; 0], "pairs with what was written before");
    assert_eq!(moves(&mill.post("LS", sell(10, &charge))), ["-10.000"]);
    assert_eq!(moves(&mill.post("EL", buy(10, "C1"))), ["10.000"]);
    assert_eq!(mill.stock("C1"), "90.000");
}
