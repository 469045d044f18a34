//! What is left of a position for the items that name it (D38).

use std::collections::BTreeMap;

use uuid::Uuid;

use super::name::Next;
use super::sql;
use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::rules::document::Lagerrolle;
use crate::rules::fixed::{Quantity, sums};
use crate::trade::belege::model::Beleg;
use crate::trade::belege::sql::NamedPosition;

/// What is left of each position of a document, by its number.
pub type Left = BTreeMap<i64, Quantity>;

/// Returns what is left of each position of a document for an item that does this with it, never below 0. What the
/// document `except` has of it counts as left: it is being written again.
pub fn left(
    tx: &Tx<'_>,
    beleg: &Beleg,
    positions: &[NamedPosition],
    next: Next,
    except: Uuid,
) -> Result<Left> {
    let paired = match beleg.beleg_typ.lagerrolle() {
        Lagerrolle::Keine => Vec::new(),
        Lagerrolle::Lieferung => sql::paired(tx, beleg.id, ["lieferung", "rueckgabe"], next, except)?,
        Lagerrolle::Rechnung => sql::paired(tx, beleg.id, ["rechnung", "gutschrift"], next, except)?,
    };
    let closed = match (beleg.beleg_typ.lagerrolle(), next) {
        (Lagerrolle::Lieferung, Next::Forward) => sql::closed(tx, beleg)?,
        _ => Vec::new(),
    };
    let named = sql::named(tx, beleg.id, next, except)?.into_iter().map(|name| (name.named, name.menge));
    let taken = sums(paired.into_iter().chain(named).chain(closed))?;
    let rest = |position: &NamedPosition| {
        let taken = taken.get(&position.position).copied().unwrap_or_default();
        Ok((position.position, position.menge.abs().minus(taken)?.max(Quantity::ZERO)))
    };
    positions.iter().map(rest).collect()
}

/// Returns what is left of each position of an order for documents of a type: less what others of this type name of it,
/// which no return and no credit took back.
pub fn open_for(tx: &Tx<'_>, order: &Beleg, positions: &[NamedPosition], own: &Beleg) -> Result<Left> {
    let named = sums(sql::named_by(tx, order.id, own)?)?;
    let rest = |position: &NamedPosition| {
        let named = named.get(&position.position).copied().unwrap_or_default();
        Ok((position.position, position.menge.abs().minus(named)?.max(Quantity::ZERO)))
    };
    positions.iter().map(rest).collect()
}

/// Divides a quantity among positions, each with what is left of it: the first of which exactly that is left, else one
/// after the other; the last takes what is too much. Of nothing left all goes to the first.
pub fn allocated<'p>(
    positions: &[&'p NamedPosition],
    left: &Left,
    menge: Quantity,
) -> Result<Vec<(&'p NamedPosition, Quantity)>> {
    let left_of = |position: &NamedPosition| left.get(&position.position).copied().unwrap_or_default();
    if let Some(exact) = positions.iter().find(|position| left_of(position) == menge) {
        return Ok(vec![(exact, menge)]);
    }
    let (mut parts, mut rest) = (Vec::new(), menge);
    for position in positions {
        let part = left_of(position).min(rest);
        if !part.is_zero() {
            parts.push((*position, part));
            rest = rest.minus(part)?;
        }
    }
    if rest.is_zero() {
        return Ok(parts);
    }
    match parts.last_mut() {
        Some((_, last)) => *last = last.plus(rest)?,
        None => parts.extend(positions.first().map(|first| (*first, rest))),
    }
    Ok(parts)
}

/// Takes a part of what is left of a position.
pub fn take(left: &mut Left, position: &NamedPosition, part: Quantity) -> Result<()> {
    let rest = left.entry(position.position).or_default();
    *rest = rest.minus(part)?.max(Quantity::ZERO);
    Ok(())
}
