//! A version as it is computed with, and what of a delivery is measured.

use std::collections::BTreeMap;

use super::model::{Kopf, WertEingabe};
use super::sql;
use crate::db::tx::Tx;
use crate::failure::Result;
use crate::rules::error::{Code, HintCode, Hints, Refusal, refuse_if, required};
use crate::rules::settlement::{Merkmal, SHIPPED, Schema, Werte, rounded};

/// A version of a scheme with what it computes.
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

/// What can be measured: what is shipped, and what the company added.
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

/// Values as they are stored: at the decimals of their Merkmal, none twice (D29a).
pub fn measured(tx: &Tx<'_>, sent: &[WertEingabe], hints: &mut Hints) -> Result<Werte> {
    let merkmale = merkmale(tx)?;
    let mut werte = Werte::new();
    for (index, sent) in sent.iter().enumerate() {
        let path = format!("werte[{index}]");
        let code = required(sent.merkmal.clone(), "merkmal").map_err(|refusal| refusal.below(&path))?;
        let wert = required(sent.wert, "wert").map_err(|refusal| refusal.below(&path))?;
        let message = format!("Das Merkmal {code} gibt es nicht. Bitte den Code prüfen.");
        let unknown = || Refusal::field(Code::MerkmalNichtGefunden, format!("{path}.merkmal"), message);
        let stellen = merkmale.get(&code).ok_or_else(unknown)?.stellen;
        let feld = format!("{path}.wert");
        refuse_if(wert.is_negative(), Code::WertUngueltig, &feld, "Ein Messwert ist nicht kleiner als 0.")?;
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
