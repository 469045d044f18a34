//! Whether anything of a document is left to go on with, kept in its row: the list cannot compute it of a history (D38).

use uuid::Uuid;

use super::left::left;
use super::name::Next;
use super::sql;
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::Result;
use crate::rules::document::BelegTyp;
use crate::rules::fixed::Quantity;
use crate::trade::belege::model::{Beleg, BelegPosition};
use crate::trade::belege::sql::{find, named_positions};

/// Whether anything of a new document is left, of which nothing is tied yet.
pub fn has_rest(typ: BelegTyp, positions: &[BelegPosition]) -> bool {
    let stock = |position: &BelegPosition| position.lager_menge.unwrap_or(position.menge);
    !typ.ist_rechnung() && positions.iter().any(|position| stock(position) > Quantity::ZERO)
}

/// Computes it for the documents whose ties the request changed: triggers have marked them.
pub fn settle_rests(tx: &WriteTx<'_>) -> Result<()> {
    for id in sql::with_unclear_rest(tx)? {
        if let Some(beleg) = find(tx, id)? {
            sql::set_rest(tx, id, is_something_left(tx, &beleg)?)?;
        }
    }
    Ok(())
}

fn is_something_left(tx: &Tx<'_>, beleg: &Beleg) -> Result<bool> {
    if beleg.beleg_typ.ist_rechnung() || !beleg.is_live() {
        return Ok(false);
    }
    let positions = named_positions(tx, beleg.id)?;
    let left = left(tx, beleg, &positions, Next::Forward, Uuid::nil())?;
    let mut goes_on = positions.iter().filter(|position| position.menge > Quantity::ZERO);
    Ok(goes_on.any(|position| left.get(&position.position).is_some_and(|left| *left > Quantity::ZERO)))
}
