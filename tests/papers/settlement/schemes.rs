//! Schemes written briefly: omitted fields have their defaults.

use std::collections::BTreeMap;

use partnerd::rules::error::Checked;
use partnerd::rules::fixed::{Price, Quantity, Zahl};
use partnerd::rules::settlement::{
    Groesse, Lieferung, Merkmal, Rechnung, SHIPPED, Schema, Werte, check, compute, rounded,
};
use serde_json::{Value, json};

pub fn zahl(text: &str) -> Zahl {
    Zahl::parse(text).unwrap().value
}

pub fn merkmale() -> BTreeMap<String, Merkmal> {
    let merkmal = |&(code, bezeichnung, einheit, stellen, mittel): &(&str, &str, &str, i64, _)| Merkmal {
        code: code.to_owned(),
        bezeichnung: bezeichnung.to_owned(),
        einheit: einheit.to_owned(),
        stellen,
        mittel,
    };
    SHIPPED.iter().map(merkmal).map(|merkmal| (merkmal.code.clone(), merkmal)).collect()
}

/// A scheme as it would be stored: omitted fields of a step are null, empty or false.
pub fn unchecked(grenzen: Value, schritte: Value) -> Schema {
    let steps = schritte.as_array().unwrap().iter().enumerate().map(|(index, said)| {
        let mut step = json!({
            "nr": index + 1, "code": format!("s{}", index + 1), "text": "Schritt", "merkmal": null, "richtung": null,
            "basis": null, "zaehlt_ab": null, "grenzwert": null, "schritt": null, "angefangen": false, "satz": null,
            "einheit": "%", "bezug": null, "zeilen": [], "gestaffelt": false, "fehlt": "sperren"
        });
        for (key, value) in said.as_object().unwrap() {
            step[key] = value.clone();
        }
        step
    });
    let steps: Vec<Value> = steps.collect();
    serde_json::from_value(json!({
        "bestand": "netto", "preis_stellen": 2, "mittelung": "je_anlieferung", "bio": false,
        "grenzen": grenzen, "schritte": steps
    }))
    .unwrap()
}

pub fn scheme(schritte: Value) -> Schema {
    check(unchecked(json!([]), schritte), &merkmale()).unwrap()
}

pub fn with_limits(grenzen: Value, schritte: Value) -> Schema {
    check(unchecked(grenzen, schritte), &merkmale()).unwrap()
}

/// Rows of a table from "von bis satz".
pub fn rows(rows: &[(&str, &str, &str)]) -> Value {
    rows.iter().map(|(von, bis, satz)| json!({"von": von, "bis": bis, "satz": satz})).collect()
}

/// Measured values with the decimals of their Merkmal, as stored.
pub fn werte(said: &[(&str, &str)]) -> Werte {
    let merkmale = merkmale();
    said.iter()
        .map(|(code, wert)| ((*code).to_owned(), rounded(zahl(wert), merkmale[*code].stellen)))
        .collect()
}

pub fn settle(schema: &Schema, kg: &str, preis: &str, said: &[(&str, &str)]) -> Checked<Rechnung> {
    let grundpreis = (!preis.is_empty()).then(|| Price::parse(preis).unwrap().value);
    let menge = Quantity::parse(kg).unwrap().value;
    compute(schema, &Lieferung { menge, grundpreis, werte: &werte(said) })
}

/// The printed parts of each row: rate, reference, result, remainder.
pub fn printed(abrechnung: &Rechnung) -> Vec<String> {
    let shown = |groesse: Option<Groesse>| match groesse {
        None => "-".to_owned(),
        Some(Groesse::Kg(kg)) => format!("{} kg", kg.to_string().trim_end_matches(".000")),
        Some(Groesse::JeTonne(price)) => format!("{}/t", price.to_string().strip_suffix("00").unwrap()),
        Some(Groesse::Euro(money)) => format!("{money} €"),
    };
    let rows = abrechnung.zeilen.iter();
    rows.map(|row| {
        let rate = row.satz.clone().or(row.rechnung.clone()).unwrap();
        format!("{rate} | {} | {} | {}", shown(row.bezug), shown(Some(row.ergebnis)), shown(row.danach))
    })
    .collect()
}

/// Net weight, price and sum; "-" if unknown.
pub fn sums(abrechnung: &Rechnung) -> String {
    let kg =
        abrechnung.netto_kg.map_or("-".to_owned(), |kg| kg.to_string().trim_end_matches(".000").to_owned());
    let preis = abrechnung
        .preis_je_t
        .map_or("-".to_owned(), |preis| preis.to_string().strip_suffix("00").unwrap().to_owned());
    format!("{kg} {preis} {}", abrechnung.summe.map_or("-".to_owned(), |summe| summe.to_string()))
}

/// The reasons why a receipt is locked.
pub fn locks(abrechnung: &Rechnung) -> Vec<String> {
    let lock = |befund: &partnerd::rules::settlement::Befund| {
        let number = |zahl: Option<Zahl>| zahl.map_or("-".to_owned(), |zahl| zahl.to_string());
        let merkmal = befund.merkmal.as_deref().unwrap_or_default();
        format!("{} {merkmal} {} {}", befund.code.as_str(), number(befund.wert), number(befund.grenze))
    };
    abrechnung.befunde.iter().map(lock).collect()
}
