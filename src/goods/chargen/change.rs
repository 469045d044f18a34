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
    store(tx, &old, new, hints)
}

/// Stores a changed batch and its previous version in the history; does nothing if nothing differs. Refuses a
/// supplier's number that another of the article's batches has.
pub fn store(tx: &WriteTx<'_>, old: &Charge, new: Charge, hints: &mut Hints) -> Result<Charge> {
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
    hint_in_documents(tx, old, &new, hints)?;
    Ok(new)
}

/// Maximum number of documents that a hint names.
const NAMED_MAX: usize = 10;

/// Adds a hint with the newest open documents that have a batch, if it is now locked or expired and was not before (D8).
fn hint_in_documents(tx: &WriteTx<'_>, old: &Charge, new: &Charge, hints: &mut Hints) -> Result<()> {
    let expires = new.mhd != old.mhd && new.is_expired(tx.today());
    let (feld, what) = match (new.gesperrt && !old.gesperrt, expires) {
        (true, _) => ("gesperrt", "ist jetzt gesperrt"),
        (false, true) => ("mhd", "ist jetzt abgelaufen"),
        (false, false) => return Ok(()),
    };
    let mut belege = sql::open_documents_of(tx, new.id, NAMED_MAX + 1)?;
    if belege.is_empty() {
        return Ok(());
    }
    let more = if belege.len() > NAMED_MAX { " und weitere" } else { "" };
    belege.truncate(NAMED_MAX);
    let message = format!(
        "Die Charge {} {what} und steht in offenen Belegen: {}{more}. Bitte diese Belege prüfen.",
        new.charge_nr,
        belege.join(", ")
    );
    hints.add_field(HintCode::ChargeInBelegen, feld, message);
    Ok(())
}
