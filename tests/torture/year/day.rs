//! The work of a mill on one day.

use serde_json::{Value, json};

use crate::dice::Dice;
use crate::process::{Answer, Client};

/// The number of records of each kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub deliveries: i64,
    pub invoices: i64,
    pub weighings: i64,
}

impl Counts {
    pub fn documents(&self) -> i64 {
        self.deliveries + self.invoices
    }
}

pub fn partner(client: &Client, number: &str, typ: &str) -> Result<(), String> {
    let partner = json!({"name": "Hof", "kundennr": number, "partner_typen": [typ]});
    done(client, "POST", "/api/v1/kunden", partner).map(drop)
}

/// A lorry brings wheat into a new batch and is weighed twice; some of it is sold. `name` is unique to this load.
pub fn load(client: &Client, dice: &mut Dice, name: &str, counts: &mut Counts) -> Result<(), String> {
    let partner = client.get("/api/v1/kunden?suche=L-100");
    let partner = partner.body["data"][0]["id"].clone();
    let gross = 20_000 + dice.below(20_000);
    let weighing = json!({"waage_id": 1, "gewicht_erst_kg": gross, "partner_id": partner});
    let weighing = id(&done(client, "POST", "/api/v1/wiegungen", weighing)?);
    let second = format!("/api/v1/wiegungen/{weighing}/zweitwiegung");
    done(client, "PUT", &second, json!({"gewicht_zweit_kg": 9_000}))?;
    counts.weighings += 1;
    let item = json!({"artikelnr": "W", "menge": gross - 9_000, "fremde_charge_nr": name});
    let delivery = json!({"beleg_typ": "EL", "kundennummer": "L-100", "external_ref": name, "items": [item]});
    let delivery = done(client, "POST", "/api/v1/belege", delivery)?;
    counts.deliveries += 1;
    let charge = delivery.body["positionen"][0]["charge_id"].clone();
    let charge = if charge.is_null() { charge_of(client, &id(&delivery))? } else { charge };
    for nr in 0..1 + dice.below(3) {
        sale(client, dice, &format!("{name}-{nr}"), &charge, counts)?;
    }
    client.get("/api/v1/belege?limit=50");
    client.get("/api/v1/chargen?limit=50");
    client.get(&format!("/api/v1/belege/{}", id(&delivery)));
    Ok(())
}

/// Creates an invoice; sometimes it is changed, made final, or cancelled.
fn sale(
    client: &Client,
    dice: &mut Dice,
    name: &str,
    charge: &Value,
    counts: &mut Counts,
) -> Result<(), String> {
    let item = json!({"artikelnr": "W", "menge": 1 + dice.below(3_000), "charge_id": charge});
    let invoice = json!({"beleg_typ": "RE", "kundennummer": "K-1", "external_ref": name, "items": [item]});
    let path = format!("/api/v1/belege/{}", id(&done(client, "POST", "/api/v1/belege", invoice)?));
    counts.invoices += 1;
    match dice.below(6) {
        0 => done(client, "PUT", &path, json!({"notizen": "liegt beim Fahrer"})).map(drop),
        1 => done(client, "POST", &format!("{path}/abschliessen"), json!({})).map(drop),
        2 => {
            done(client, "POST", &format!("{path}/abschliessen"), json!({}))?;
            done(client, "POST", &format!("{path}/storno"), json!({"grund": "Irrtum"}))?;
            counts.invoices += 1;
            Ok(())
        }
        _ => Ok(()),
    }
}

fn charge_of(client: &Client, delivery: &str) -> Result<Value, String> {
    let answer = client.get(&format!("/api/v1/belege/{delivery}"));
    let charge = &answer.body["positionen"][0]["charge_id"];
    if charge.is_null() {
        Err(format!("a delivery without a batch: {}", answer.body))
    } else {
        Ok(charge.clone())
    }
}

/// Sends a request that must succeed, with its own Idempotency-Key.
pub fn done(client: &Client, method: &str, path: &str, body: Value) -> Result<Answer, String> {
    let key = uuid::Uuid::now_v7().to_string();
    let answer = client.send_text(method, path, &[("idempotency-key", &key)], Some(body.to_string()));
    let answer = answer.map_err(|error| format!("{method} {path}: {error}"))?;
    if answer.status < 300 {
        Ok(answer)
    } else {
        Err(format!("{method} {path}: {} {}", answer.status, answer.body))
    }
}

pub fn id(answer: &Answer) -> String {
    answer.body["id"].as_str().unwrap_or_default().to_owned()
}
