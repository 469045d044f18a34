//! The invoices that a correction references (UStDV § 31 Abs. 5), by what its positions name: an invoice, or a return of
//! invoiced goods (D38).

use crate::papers::erechnung::Bezug;
use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::rules::error::{HintCode, Hints};
use crate::trade::belege::model::{Beleg, BelegPosition};
use crate::trade::belege::{credited, sql};

/// Returns the invoices corrected by a negative invoice that is no storno, each once.
pub fn berichtigt(tx: &Tx<'_>, beleg: &Beleg, positionen: &[BelegPosition]) -> Result<Vec<Bezug>> {
    if corrects(beleg) { named(tx, positionen) } else { Ok(Vec::new()) }
}

/// Returns the advances that a settlement deducts, or the settlement to which a supplement belongs (D29i).
pub fn vorausgegangen(tx: &Tx<'_>, beleg: &Beleg, positionen: &[BelegPosition]) -> Result<Vec<Bezug>> {
    let goes_on = beleg.is_written_for_supplier() && !corrects(beleg) && beleg.storno_von_beleg_id.is_none();
    if goes_on { named(tx, positionen) } else { Ok(Vec::new()) }
}

/// Returns the invoices that positions reference, themselves or by a return, each once.
fn named(tx: &Tx<'_>, positionen: &[BelegPosition]) -> Result<Vec<Bezug>> {
    let mut found: Vec<Bezug> = Vec::new();
    for position in positionen {
        for named in invoices(tx, position)? {
            let bezug = Bezug { datum: named.datum(), nummer: named.beleg_nummer };
            if !found.contains(&bezug) {
                found.push(bezug);
            }
        }
    }
    Ok(found)
}

fn invoices(tx: &Tx<'_>, position: &BelegPosition) -> Result<Vec<Beleg>> {
    let Some(named) = position.bezug_beleg_id.map(|id| sql::find(tx, id)).transpose()?.flatten() else {
        return Ok(Vec::new());
    };
    if named.beleg_typ.ist_rechnung() {
        return Ok(vec![named]);
    }
    let mut invoices = Vec::new();
    for id in credited::invoices_of_return(tx, named.id, position.bezug_position_id)? {
        invoices.extend(sql::find(tx, id)?);
    }
    Ok(invoices)
}

fn corrects(beleg: &Beleg) -> bool {
    beleg.beleg_typ.ist_rechnung() && beleg.summe_netto.is_negative() && beleg.storno_von_beleg_id.is_none()
}

/// Adds a hint if a correction written by the company does not reference what it corrects.
pub fn hint_nothing_corrected(
    tx: &Tx<'_>,
    beleg: &Beleg,
    positionen: &[BelegPosition],
    hints: &mut Hints,
) -> Result<()> {
    let is_ours = !beleg.beleg_typ.ist_fremdrechnung() || beleg.is_written_for_supplier();
    if is_ours && corrects(beleg) && berichtigt(tx, beleg, positionen)?.is_empty() {
        let message = "Die Rechnungskorrektur nennt keine Rechnung, die sie berichtigt (§ 31 Abs. 5 UStDV). Bitte bei \
            den Positionen deren id als bezug_beleg_id senden.";
        hints.add_field(HintCode::BezugFehlt, "bezug_beleg_id", message);
    }
    Ok(())
}
