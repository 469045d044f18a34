//! Correcting a batch: its recorded data was wrong, the goods stay the same (D8).

use super::model::{Charge, ChargeChange};
use super::{sql, verlauf};
use crate::platform::db::tx::WriteTx;
use crate::platform::failure::Result;
use crate::rules::day::DayTime;
use crate::rules::error::{Code, HintCode, Hints, Refusal, required};
use crate::rules::text::case_key;

/// Changes the fields that were sent; null clears a field. Values equal to the current ones change nothing.
pub fn change(tx: &WriteTx<'_>, old: Charge, change: ChargeChange, hints: &mut Hints) -> Result<Charge> {
    let says_why = change.sperrgrund.get().is_some();
    let new = Charge {
        fremde_charge_nr: change.fremde_charge_nr.apply(old.fremde_charge_nr.clone()),
        mhd: change.mhd.map(DayTime).apply(old.mhd),
        herkunftsland: change.herkunftsland.apply(old.herkunftsland.clone()),
        gesperrt: change.gesperrt.apply(Some(old.gesperrt)).unwrap_or_default(),
        sperrgrund: change.sperrgrund.apply(old.sperrgrund.clone()),
        ..old.clone()
    };
    let new = Charge { sperrgrund: new.sperrgrund.filter(|_| new.gesperrt), ..new };
    if says_why && !old.gesperrt && !new.gesperrt {
        let message = "Die Charge ist nicht gesperrt. Zum Sperren bitte auch gesperrt angeben.";
        hints.add_field(HintCode::FeldIgnoriert, "sperrgrund", message);
    }
    if new.gesperrt {
        required(new.sperrgrund.as_ref(), "sperrgrund")?;
    }
    store(tx, &old, new)
}

/// Stores a changed batch and its previous version in the history; does nothing if nothing differs. Refuses a
/// supplier's number that another of the article's batches has.
pub fn store(tx: &WriteTx<'_>, old: &Charge, new: Charge) -> Result<Charge> {
    if new == *old {
        return Ok(new);
    }
    // Only for a changed number: batches that share a number but differ in their date stay correctable.
    let number = |charge: &Charge| charge.fremde_charge_nr.as_deref().map(case_key);
    if number(&new) != number(old)
        && let Some(other) = sql::other_with_fremde(tx, &new)?
    {
        let message = format!("Diese Nummer des Lieferanten hat schon die Charge {other}. Bitte prüfen.");
        return Err(Refusal::field(Code::FremdeChargeNrBereitsVergeben, "fremde_charge_nr", message).into());
    }
    verlauf::keep(tx, old)?;
    let new = Charge { version: old.version + 1, ..new };
    sql::update_master_data(tx, &new)?;
    Ok(new)
}
