//! Stock and batches: every quantity is moved exactly once (D8).

mod back;
mod batches;
mod bestand;
mod closed;
mod edges;
mod facts;
mod gegenbelege;
mod invariants;
mod offen;
mod pairing;
mod piles;
mod receipts;

use serde_json::{Value, json};

use crate::harness::{Answer, Client, Server, data};

const ARTIKEL: &str = r#"[
 {"artikelnummer": "W", "bezeichnung": "Weizen", "einheit": "kg", "preis": 0.32, "ep_netto": 0.2,
  "mwst_satz": 7, "chargenpflichtig": true},
 {"artikelnummer": "R", "bezeichnung": "Roggen", "einheit": "kg", "preis": 0.3, "ep_netto": 0.18,
  "mwst_satz": 7, "chargenpflichtig": true},
 {"artikelnummer": "S", "bezeichnung": "Sack", "einheit": "Stk", "preis": 33.5, "ep_netto": 20,
  "mwst_satz": 19}]"#;

/// A company with two suppliers (Hof, Gut), two customers (Kd, Kd2), the articles W and R tracked by batch,
/// in kg, and S without batches, in Stk.
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

    /// The only batch with this number of the supplier.
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

    /// Receives goods; returns the id of the batch.
    pub fn receive(&self, fremde: &str, menge: i64) -> String {
        self.post("EL", buy(menge, fremde)).is(201);
        self.batch(fremde)["id"].as_str().unwrap().to_owned()
    }

    /// The batch of the only position of a document.
    pub fn charge_id(&self, id: &str) -> Value {
        self.get(id)["positionen"][0]["charge_id"].clone()
    }

    /// The sum of all movements of a partner's documents, in whole units.
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

/// A document without the ties of its positions, which a history leaves out.
pub fn without_ties(mut document: Value) -> Value {
    for position in document["positionen"].as_array_mut().unwrap() {
        for field in ["vorgaenger", "nachfolger", "offen"] {
            position.as_object_mut().unwrap().remove(field).unwrap_or_else(|| panic!("{field}"));
        }
    }
    document
}

/// An object with further fields.
pub fn and(mut base: Value, more: Value) -> Value {
    base.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    base
}

/// The quantities listed in a confirmation.
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

/// Carries out a row; returns its batch and the expected stock, if it succeeds.
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
fn goods_of_two_documents_move_once_even_if_one_is_cancelled() {
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
