//! Which positions must state their batch (D8).

use crate::master::artikel;
use crate::master::tenants::{ChargeAutomatik, Einstellungen};
use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::rules::document::{BelegTyp, Lagerrolle, Seite};
use crate::rules::error::Refusals;
use crate::trade::belege::lager::batch_missing;
use crate::trade::belege::model::{BelegPosition, Source};

/// Whether an item of a tracked article must state its batch, regardless of how it is paired (D8).
pub fn must_state_batch(typ: BelegTyp, einstellungen: &Einstellungen, takes_back: bool, moves: bool) -> bool {
    match (typ.seite(), typ.lagerrolle()) {
        (Seite::Einkauf, Lagerrolle::Keine) => !einstellungen.bestellung_ohne_charge,
        (Seite::Einkauf, Lagerrolle::Lieferung) => moves,
        (Seite::Verkauf, Lagerrolle::Lieferung) => {
            moves && (takes_back || einstellungen.charge_automatik == ChargeAutomatik::Aus)
        }
        // Invoices are checked when they are paired.
        (Seite::Verkauf, Lagerrolle::Keine) | (_, Lagerrolle::Rechnung) => false,
    }
}

/// Refuses unchanged positions that move to another partner without a batch that they must state (D8): one
/// that was chosen or created for the old partner no longer applies.
pub fn check_batches(
    tx: &Tx<'_>,
    typ: BelegTyp,
    einstellungen: &Einstellungen,
    positions: &[BelegPosition],
) -> Result<()> {
    let mut errors = Refusals::default();
    for position in positions.iter().filter(|p| !p.charge_gesendet && !p.states_batch()) {
        let Some(artikel_id) = position.artikel_id else { continue };
        let must_state_batch =
            must_state_batch(typ, einstellungen, position.menge.is_negative(), position.lager_buchen);
        if must_state_batch && artikel::must_have(tx, artikel_id)?.chargenpflichtig {
            errors.keep::<()>(Err(batch_missing(typ).below(&Source::Items.path(position.position))));
        }
    }
    Ok(errors.into_result()?)
}
