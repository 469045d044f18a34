//! Settlements of goods receipts (D29g to D29j): advance, final, supplement, and their effects on the stock,
//! the contract and the receipts.

mod beispiele;
mod besteuerung;
mod ehrlich;
mod ernte;
mod kontrakt;
mod lieferung;
mod papiere;
mod regeln;
mod tranchen;
mod wege;
mod zufall;

use serde_json::{Value, json};

use crate::harness::{Answer, COMPLETE, Server};
use crate::trade::lager::{Mill, and};

const PATH: &str = "/api/v1/abrechnungen";
const NOTES: &str = "/api/v1/annahmescheine";
pub const SCHEMES: &str = "/api/v1/abrechnungsschemata";

/// A mill with a farmer under § 24, who has agreed to receive Gutschriften.
pub struct Hof<'s> {
    pub mill: Mill<'s>,
}

/// Scheme for wheat by bands of protein, used in examples 10, 14 to 17 and 20.
pub fn wheat(more: Value) -> Value {
    let step = |nr: i64, merkmal: &str, basis: &str, satz: &str| {
        json!({"nr": nr, "code": merkmal, "text": format!("{merkmal} über {basis} %"), "wirkung": "menge",
            "regel": "faktor", "merkmal": merkmal, "richtung": "ueber", "basis": basis, "satz": satz})
    };
    let row = |von: &str, bis: &str, satz: &str| json!({"von": von, "bis": bis, "satz": satz});
    let protein = json!({"nr": 3, "code": "protein", "text": "Protein", "wirkung": "preis", "regel": "tabelle",
        "merkmal": "protein", "einheit": "EUR/t",
        "zeilen": [row("11.0", "11.9", "-6"), row("12.0", "12.9", "0"), row("13.0", "14.9", "8")]});
    let body = json!({"nummer": "WEIZEN", "bezeichnung": "Weizen", "artikel": ["W"], "gueltig_von": "2000-01-01",
        "schritte": [step(1, "besatz", "2", "1"), step(2, "feuchte", "14.5", "1.3"), protein]});
    and(body, more)
}

/// Values of example 10: lorry A.
pub const A: &str = "besatz=2.80 feuchte=16.2 protein=11.6";
/// Values of lorry B.
const B: &str = "besatz=1.10 feuchte=13.9 protein=13.3";

fn werte(text: &str) -> Value {
    let value = |pair: &str| {
        let (merkmal, wert) = pair.split_once('=').unwrap();
        json!({"merkmal": merkmal, "wert": wert})
    };
    text.split_whitespace().map(value).collect()
}

impl<'s> Hof<'s> {
    pub fn of(server: &'s Server) -> Hof<'s> {
        Hof::named(server, "Mühle")
    }

    fn named(server: &'s Server, company: &str) -> Hof<'s> {
        let mill = Mill::with(server, company, COMPLETE);
        let agreed = json!({"name": "Hof Süd", "steuerart": "pauschal_24", "steuernummer": "151/815/08150",
            "gutschrift_vereinbart_am": "2020-01-01", "strasse": "Am Anger 3", "plz": "86650", "ort": "Wemding",
            "email": "hof@hof.example", "iban": "DE89370400440532013000"});
        mill.client.put(&format!("/api/v1/kunden/{}", mill.partner_id("Hof")), agreed).is(200);
        Hof { mill }
    }

    fn with_scheme(server: &'s Server, more: Value) -> Hof<'s> {
        let hof = Hof::of(server);
        hof.mill.client.post(SCHEMES, wheat(more)).is(201);
        hof
    }

    pub fn post(&self, path: &str, body: Value) -> Answer {
        self.mill.client.post(path, body)
    }

    /// Creates a receipt of wheat from Hof, without an EL unless requested.
    pub fn note(&self, kg: i64, of: &str, more: Value) -> String {
        let body = json!({"kundennummer": "Hof", "artikelnr": "W", "anliefermenge_kg": kg, "werte": werte(of),
            "fremde_charge_nr": "C1", "preis_je_t": 210, "lieferdatum": "2026-07-20"});
        self.post(NOTES, and(body, more)).id()
    }

    pub fn with_el(&self, kg: i64, of: &str, more: Value) -> String {
        self.note(kg, of, and(json!({"el_erzeugen": true}), more))
    }

    /// Settles these receipts.
    fn settle(&self, art: &str, notes: &[&String], more: Value) -> Answer {
        let body = json!({"art": art, "annahmeschein_ids": notes, "abschliessen": true});
        self.post(PATH, and(body, more))
    }

    fn preview(&self, art: &str, notes: &[&String], more: Value) -> Answer {
        self.post(&format!("{PATH}/vorschau"), and(json!({"art": art, "annahmeschein_ids": notes}), more))
    }

    fn schein(&self, id: &str) -> Value {
        self.mill.client.get(&format!("{NOTES}/{id}")).is(200).clone()
    }

    fn state(&self, id: &str) -> String {
        self.schein(id)["status"].as_str().unwrap().to_owned()
    }

    fn beleg(&self, answer: &Answer) -> Value {
        self.mill.get(answer.body["beleg_id"].as_str().unwrap())
    }

    fn storno(&self, answer: &Answer) -> Answer {
        self.mill.storno(answer.body["beleg_id"].as_str().unwrap())
    }

    fn stock(&self) -> String {
        self.mill.stock("C1")
    }
}

/// Quantity, price and total of each item, as "24.116 204.0000 4919.66".
fn items(beleg: &Value) -> Vec<String> {
    let text = |item: &Value, field: &str| item[field].as_str().unwrap().to_owned();
    let line = |item: &Value| {
        format!("{} {} {}", text(item, "menge"), text(item, "ep_netto"), text(item, "gesamtpreis"))
    };
    beleg["positionen"].as_array().unwrap().iter().map(line).collect()
}

fn sums(answer: &Value) -> [String; 3] {
    ["summe_netto", "summe_mwst", "summe_brutto"].map(|field| answer[field].as_str().unwrap().to_owned())
}
