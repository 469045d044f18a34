//! Import of partners (D22).

use uuid::Uuid;

use super::change::{apply, create, name_missing, store};
use super::model::{Kunde, KundeChange};
use super::sql;
use crate::platform::db::tx::WriteTx;
use crate::platform::failure::{Failure, Result};
use crate::platform::http::json::Json;
use crate::platform::http::wire::{At, FromJson};
use crate::platform::import::{self, Upserted};
use crate::rules::change::Change;
use crate::rules::error::{Code, Hints, Refusal, refuse_if};
use crate::rules::felder::GeaendertesFeld;

/// Creates or changes a partner by its natural key: the number, else name, postcode and town (D22).
pub fn kunde(tx: &WriteTx<'_>, row: &Json<'_>, at: &mut At<'_>) -> Result<Upserted> {
    let mut change = KundeChange::from_json(row, at)?;
    let hints = at.hints();
    let old = match change.kundennr.get() {
        Some(kundennr) => sql::find_by_kundennr(tx, kundennr)?,
        None => find_by_address(tx, &change)?,
    };
    let Some(old) = old else {
        create(tx, change, hints)?;
        return Ok(Upserted::Created);
    };
    if let Some(kunden_id) = change.kunden_id.get()
        && *kunden_id != old.kunden_id
    {
        let message = format!("Der Kunde {} hat schon die kunden_id {}.", old.kundennr, old.kunden_id);
        return Err(Refusal::field(Code::FeldWiderspruch, "kunden_id", message).into());
    }
    // The number is the key, so only its spelling could differ.
    change.kundennr = Change::Keep;
    let after = apply(tx, old.clone(), change, hints)?;
    let is_changed = after != old;
    store(tx, &old, after)?;
    Ok(if is_changed { Upserted::Changed } else { Upserted::Unchanged })
}

fn find_by_address(tx: &WriteTx<'_>, change: &KundeChange) -> Result<Option<Kunde>> {
    let Some(name) = change.nachname_firma.get().or(change.name.get()) else {
        return Err(name_missing("nachname_firma"));
    };
    let mut found = sql::find_by_address(tx, name, change.plz.get().cloned(), change.ort.get().cloned())?;
    let message = format_args!("{name} gibt es mehrfach am selben Ort. Bitte die kundennr angeben.");
    refuse_if(found.len() > 1, Code::FeldFehlt, "kundennr", message)?;
    Ok(found.pop())
}

/// Restores fields to their values before a change, by an ordinary change (D22).
pub fn put_back(tx: &WriteTx<'_>, id: Uuid, felder: &[GeaendertesFeld]) -> Result<()> {
    // The days come back as a whole: steuerart alone would hold from a day on.
    let (by_day, others): (Vec<_>, Vec<_>) = felder
        .iter()
        .filter(|field| field.feld != "steuerart")
        .partition(|field| field.feld == "besteuerungen");
    let before = import::put_back::<KundeChange>(&others)?;
    let kunde = sql::find(tx, id)?.ok_or_else(|| Failure::not_found("Diesen Partner"))?;
    let mut changed = apply(tx, kunde.clone(), before, &mut Hints::default())?;
    if let Some(field) = by_day.first() {
        changed.besteuerungen = serde_json::from_str(field.alt.get())?;
        changed.steuerart = changed.besteuerungen.on(tx.today());
    }
    store(tx, &kunde, changed).map(drop)
}
