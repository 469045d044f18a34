//! The invoices that a correction references (UStDV § 31 Abs. 5), by bezug_beleg_id of its positions.

use crate::papers::erechnung::Bezug;
use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::rules::error::{HintCode, Hints};
use crate::trade::belege::model::{Beleg, BelegPosition};
use crate::trade::belege::sql;

/// Returns the invoices corrected by a negative invoice that is no storno, each once.
pub fn berichtigt(tx: &Tx<'_>, beleg: &Beleg, positionen: &[BelegPosition]) -> Result<Vec<Bezug>> {
    if corrects(beleg) { named(tx, positionen) } else { Ok(Vec::new()) }
}

/// Returns the advances that a settlement deducts, or the settlement to which a supplement belongs (D29i).
pub fn vorausgegangen(tx: &Tx<'_>, beleg: &Beleg, positionen: &[BelegPosition]) -> Result<Vec<Bezug>> {
    let goes_on = beleg.is_written_for_supplier() && !corrects(beleg) && beleg.storno_von_beleg_id.is_none();
    if goes_on { named(tx, positionen) } else { Ok(Vec::new()) }
}

/// Returns the invoices that positions reference, each once.
fn named(tx: &Tx<'_>, positionen: &[BelegPosition]) -> Result<Vec<Bezug>> {
    let mut found: Vec<Bezug> = Vec::new();
    for id in positionen.iter().filter_map(|position| position.bezug_beleg_id) {
        let named = sql::find(tx, id)?.filter(|named| named.beleg_typ.ist_rechnung());
        let bezug = named.map(|named| Bezug { datum: named.datum(), nummer: named.beleg_nummer });
        found.extend(bezug.filter(|bezug| !found.contains(bezug)));
    }
    Ok(found)
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
    if !beleg.beleg_typ.ist_fremdrechnung()
        && corrects(beleg)
        && berichtigt(tx, beleg, positionen)?.is_empty()
    {
        let message = "Die Rechnungskorrektur nennt keine Rechnung, die sie berichtigt (§ 31 Abs. 5 UStDV). Bitte bei \
            den Positionen deren id als bezug_beleg_id senden.";
        hints.add_field(HintCode::BezugFehlt, "bezug_beleg_id", message);
    }
    Ok(())
}
