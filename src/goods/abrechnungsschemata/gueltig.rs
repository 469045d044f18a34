//! Reads the version of a scheme to compute with, and the Merkmale that can be measured.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::model::{Auswahl, Kopf, WertEingabe};
use super::sql;
use crate::platform::db::list::Page;
use crate::platform::db::tx::Tx;
use crate::platform::failure::{Failure, Result};
use crate::rules::day::Day;
use crate::rules::error::{Code, HintCode, Hints, Refusal, refuse_if, required};
use crate::rules::fixed::Zahl;
use crate::rules::settlement::{Merkmal, SHIPPED, Schema, Werte, rounded};

/// A version of a scheme with its computation.
pub struct Gueltig {
    pub kopf: Kopf,
    pub schema: Schema,
}

impl Gueltig {
    pub fn read(tx: &Tx<'_>, kopf: Kopf) -> Result<Gueltig> {
        let schema = serde_json::from_str(&sql::inhalt(tx, &kopf)?)?;
        Ok(Gueltig { kopf, schema })
    }
}

/// Finds the version of a scheme that is valid on a day of delivery.
pub fn on_day(tx: &Tx<'_>, id: Uuid, day: Day) -> Result<Option<Gueltig>> {
    sql::find_valid(tx, id, day)?.map(|kopf| Gueltig::read(tx, kopf)).transpose()
}

/// Returns the version that a receipt was computed with.
pub fn of_version(tx: &Tx<'_>, id: Uuid, version: i64) -> Result<Gueltig> {
    let gone = || Failure::Broken(format!("version {version} of the scheme {id} is gone"));
    Gueltig::read(tx, sql::find(tx, id, Some(version))?.ok_or_else(gone)?)
}

/// Finds the scheme for a delivery of an article (D29b): the named one, else the only one valid on that day.
pub fn of_delivery(tx: &Tx<'_>, artikel: Uuid, day: Day, nummer: Option<&str>) -> Result<Option<Gueltig>> {
    let Some(nummer) = nummer else { return only(tx, artikel, day) };
    let kopf = sql::find_valid(tx, named(tx, nummer)?, day)?;
    let articles = kopf.as_ref().map(|kopf| sql::articles(tx, kopf)).transpose()?.unwrap_or_default();
    let fits = kopf.filter(|_| articles.iter().any(|(id, _)| *id == artikel));
    let does_not_fit = || {
        let message = format!(
            "Das Schema {nummer} gilt am {} nicht für diesen Artikel. Bitte ein anderes nennen.",
            day.german()
        );
        Refusal::field(Code::SchemaPasstNicht, "schema", message)
    };
    Gueltig::read(tx, fits.ok_or_else(does_not_fit)?).map(Some)
}

/// Returns the id of the scheme with this number, as other records give it in `schema`.
pub fn named(tx: &Tx<'_>, nummer: &str) -> Result<Uuid> {
    let unknown = || {
        let message = format!("Das Schema {nummer} gibt es nicht. Bitte die Nummer prüfen.");
        Refusal::field(Code::SchemaNichtGefunden, "schema", message)
    };
    Ok(sql::id_of(tx, nummer)?.ok_or_else(unknown)?)
}

/// Maximum number of schemes that a refusal lists.
const NAMED_MAX: u32 = 10;

fn only(tx: &Tx<'_>, artikel: Uuid, day: Day) -> Result<Option<Gueltig>> {
    let page = Page { limit: Some(NAMED_MAX), offset: 0 };
    let mut valid = sql::list(tx, &Auswahl { am: Some(day), artikel: Some(artikel) }, page)?.rows;
    if valid.len() > 1 {
        let numbers: Vec<&str> = valid.iter().map(|kopf| kopf.nummer.as_str()).collect();
        let message = format!(
            "Am {} gelten für diesen Artikel mehrere Schemata ({}). Bitte schema angeben.",
            day.german(),
            numbers.join(", ")
        );
        return Err(Refusal::field(Code::SchemaMehrdeutig, "schema", message).into());
    }
    valid.pop().map(|kopf| Gueltig::read(tx, kopf)).transpose()
}

/// Returns the Merkmale that can be measured: the built-in ones and those the company added.
pub fn merkmale(tx: &Tx<'_>) -> Result<BTreeMap<String, Merkmal>> {
    let shipped = SHIPPED.iter().map(|&(code, bezeichnung, einheit, stellen, mittel)| Merkmal {
        code: code.to_owned(),
        bezeichnung: bezeichnung.to_owned(),
        einheit: einheit.to_owned(),
        stellen,
        mittel,
    });
    let all = shipped.chain(sql::merkmale(tx)?);
    Ok(all.map(|merkmal| (merkmal.code.clone(), merkmal)).collect())
}

/// Converts sent values to stored ones: rounded to the decimals of their Merkmal, no Merkmal twice (D29a).
pub fn measured(tx: &Tx<'_>, sent: &[WertEingabe], hints: &mut Hints) -> Result<Werte> {
    let merkmale = merkmale(tx)?;
    let mut werte = Werte::new();
    for (index, sent) in sent.iter().enumerate() {
        let path = format!("werte[{index}]");
        let code = required(sent.merkmal.clone(), "merkmal").map_err(|refusal| refusal.below(&path))?;
        let wert = required(sent.wert, "wert").map_err(|refusal| refusal.below(&path))?;
        let message = format!("Das Merkmal {code} gibt es nicht. Bitte den Code prüfen.");
        let unknown = || Refusal::field(Code::MerkmalNichtGefunden, format!("{path}.merkmal"), message);
        let merkmal = merkmale.get(&code).ok_or_else(unknown)?;
        let stellen = merkmal.stellen;
        let feld = format!("{path}.wert");
        refuse_if(wert.is_negative(), Code::WertUngueltig, &feld, "Ein Messwert ist nicht kleiner als 0.")?;
        let is_too_much = merkmal.einheit == "%" && wert > Zahl::whole(100);
        refuse_if(is_too_much, Code::WertUngueltig, &feld, "Mehr als 100 % gibt es nicht.")?;
        let stored = rounded(wert, stellen);
        if stored != wert {
            let message = format!("{code} wurde auf {stellen} Nachkommastellen gerundet: {stored}.");
            hints.add_field(HintCode::Gerundet, feld, message);
        }
        let message = format_args!("{code} steht zweimal da. Bitte einen Wert weglassen.");
        let is_double = werte.insert(code.clone(), stored).is_some();
        refuse_if(is_double, Code::FeldWiderspruch, &path, message)?;
    }
    Ok(werte)
}
