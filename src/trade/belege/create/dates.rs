//! What the days of a document contradict: best-before dates, the terms of contracts, stocktakings (D4).

use crate::goods::chargen;
use crate::goods::kontrakte::KontraktBezug;
use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::rules::document::BelegTyp;
use crate::rules::error::Hints;
use crate::trade::belege::model::{Beleg, BelegPosition, Source};

/// Whether a change moves a day that decides on tax rates (D7), batches, contracts or stocktakings.
pub fn are_moved(old: &Beleg, new: &Beleg) -> bool {
    let days = |beleg: &Beleg| (beleg.beleg_datum, beleg.lieferdatum, beleg.leistung_bis);
    days(old) != days(new)
}

/// Adds the hints of [`hint_contradicted`] if a change moves a day.
pub fn hint_moved(
    tx: &Tx<'_>,
    old: &Beleg,
    new: &Beleg,
    positions: &[BelegPosition],
    hints: &mut Hints,
) -> Result<()> {
    if are_moved(old, new) { hint_contradicted(tx, new, positions, hints) } else { Ok(()) }
}

/// Adds the hints that creating the document with its days would give.
pub fn hint_contradicted(
    tx: &Tx<'_>,
    beleg: &Beleg,
    positions: &[BelegPosition],
    hints: &mut Hints,
) -> Result<()> {
    for position in positions {
        let mut own = Hints::default();
        let batch = position.charge_id.filter(|_| must_keep(beleg.beleg_typ, position));
        if let Some(charge) = batch.map(|id| chargen::find(tx, id)).transpose()?.flatten() {
            chargen::hint_expired(&charge, beleg.liefertag(), &mut own);
        }
        let BelegPosition { kontrakt_id, kontrakt_position_id, .. } = *position;
        let kontrakt = KontraktBezug { kontrakt_id, kontrakt_position_id };
        kontrakt.hint_over(tx, beleg.satz_datum(), &mut own)?;
        hints.extend(own.below(&Source::Items.path(position.position)));
    }
    chargen::hint_counted_since(tx, beleg.id, beleg.liefertag(), hints)
}

/// Whether the batch of a position has to keep until the day of its document: it leaves with a delivery, or an invoice names
/// it (D8).
pub fn must_keep(typ: BelegTyp, position: &BelegPosition) -> bool {
    let names_it = match typ {
        BelegTyp::Ls => true,
        BelegTyp::Re => position.charge_gesendet,
        _ => false,
    };
    names_it && !position.menge.is_negative()
}
