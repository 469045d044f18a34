//! Partners as an import brings them (D22).

use super::change::{apply, create, name_missing};
use super::model::{Kunde, KundeEingabe};
use super::sql;
use crate::db::error::Result;
use crate::db::tx::WriteTx;
use crate::http::json::Json;
use crate::http::wire::{At, FromJson, Int, Sent, Text};
use crate::import::Upserted;
use crate::rules::error::{Code, Refusal};

/// Creates or changes a partner by its natural key: the number, else name, postcode and town (D22).
pub fn kunde(tx: &WriteTx<'_>, row: &Json<'_>, at: &mut At<'_>) -> Result<Upserted> {
    let mut eingabe = KundeEingabe::from_json(row, at)?;
    let hints = at.hints();
    let old = match eingabe.kundennr.get() {
        Some(Text(kundennr)) => sql::find_by_kundennr(tx, kundennr)?,
        None => find_by_address(tx, &eingabe)?,
    };
    let Some(old) = old else {
        create(tx, eingabe, hints)?;
        return Ok(Upserted::Created);
    };
    if let Some(Int(kunden_id)) = eingabe.kunden_id.get()
        && *kunden_id != old.kunden_id
    {
        let message = format!("Der Kunde {} hat schon die kunden_id {}.", old.kundennr, old.kunden_id);
        return Err(Refusal::field(Code::FeldWiderspruch, "kunden_id", message).into());
    }
    // The number is the key; only its spelling could differ.
    eingabe.kundennr = Sent::Absent;
    let after = apply(tx, old.clone(), eingabe, hints)?;
    if after == old {
        return Ok(Upserted::Unchanged);
    }
    sql::update(tx, &Kunde { version: old.version + 1, updated_at: tx.now(), ..after })?;
    Ok(Upserted::Changed)
}

fn find_by_address(tx: &WriteTx<'_>, eingabe: &KundeEingabe) -> Result<Option<Kunde>> {
    let text = |sent: &Sent<Text>| sent.get().map(|Text(text)| text.clone());
    let Some(name) = text(&eingabe.nachname_firma).or_else(|| text(&eingabe.name)) else {
        return Err(name_missing("nachname_firma"));
    };
    let mut found = sql::find_by_address(tx, &name, text(&eingabe.plz), text(&eingabe.ort))?;
    if found.len() > 1 {
        let message = format!("{name} gibt es mehrfach am selben Ort. Bitte die kundennr angeben.");
        return Err(Refusal::field(Code::FeldFehlt, "kundennr", message).into());
    }
    Ok(found.pop())
}
