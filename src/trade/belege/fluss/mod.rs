//! The flow of documents by position: what may name what, what is left of it, and the names over which no goods are
//! paired (D38).

mod name;
mod sql;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use uuid::Uuid;

pub use name::{Next, may_name};
pub use sql::invoiced;

use super::model::{Beleg, BelegPosition};
use super::sql::{NamedPosition, find, named_positions};
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::Result;
use crate::rules::document::Lagerrolle;
use crate::rules::error::{HintCode, Hints};
use crate::rules::fixed::{Quantity, sums};

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
    let taken = sums(paired.into_iter().chain(sql::named(tx, beleg.id, next, except)?))?;
    let rest = |position: &NamedPosition| {
        let taken = taken.get(&position.position).copied().unwrap_or_default();
        Ok((position.position, position.menge.abs().minus(taken)?.max(Quantity::ZERO)))
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

/// A document that positions name, with its positions, and what is left of them for what these do with it.
struct Named {
    beleg: Beleg,
    lines: Vec<NamedPosition>,
    left: Left,
}

/// Stores which quantities the positions of a document name where no goods are paired over it, in place of what stood
/// there before.
pub fn store(tx: &WriteTx<'_>, beleg: &Beleg, positions: &[BelegPosition], had_any: bool) -> Result<()> {
    if had_any {
        sql::delete(tx, beleg.id)?;
    }
    let mut known: BTreeMap<(Uuid, Next), Option<Named>> = BTreeMap::new();
    for position in positions {
        let Some(id) = position.bezug_beleg_id else { continue };
        let next = Next::of(beleg.beleg_typ, position.menge.is_negative());
        let named = match known.entry((id, next)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(Named::of(tx, id, next, beleg.id)?),
        };
        if let Some(named) = named {
            store_name(tx, beleg, position, named)?;
        }
    }
    Ok(())
}

impl Named {
    fn of(tx: &Tx<'_>, id: Uuid, next: Next, except: Uuid) -> Result<Option<Named>> {
        let Some(beleg) = find(tx, id)?.filter(Beleg::is_live) else { return Ok(None) };
        let lines = named_positions(tx, id)?;
        let left = left(tx, &beleg, &lines, next, except)?;
        Ok(Some(Named { beleg, lines, left }))
    }
}

fn store_name(tx: &WriteTx<'_>, beleg: &Beleg, position: &BelegPosition, named: &mut Named) -> Result<()> {
    let Named { beleg: of, lines, left } = named;
    if position.lager_buchen && of.beleg_typ.lagerrolle() != Lagerrolle::Keine {
        return Ok(());
    }
    let takes_back = position.menge.is_negative();
    let is_meant = |line: &&NamedPosition| match position.bezug_position_id {
        Some(id) => line.id == id,
        None => {
            let is_same = line.artikel_id == position.artikel_id;
            is_same && may_name(beleg.beleg_typ, takes_back, of.beleg_typ, line.menge.is_negative())
        }
    };
    let meant: Vec<_> = lines.iter().filter(is_meant).collect();
    let menge = position.lager_menge.unwrap_or(position.menge).abs();
    for (line, part) in allocated(&meant, left, menge)? {
        take(left, line, part)?;
        if !part.is_zero() {
            sql::insert(tx, (of.id, line.id), (beleg.id, position.id), part)?;
        }
    }
    Ok(())
}

/// Sets names of other documents free whose position is gone from a document that was written again, with a hint for each
/// of these documents.
pub fn release_gone(tx: &WriteTx<'_>, beleg: &Beleg, hints: &mut Hints) -> Result<()> {
    for nummer in sql::naming_what_is_gone(tx, beleg.id)? {
        let message =
            format!("{nummer} nennt eine Position, die es hier nicht mehr gibt; der Bezug ist gelöst.");
        hints.add(HintCode::BezugGeloest, message);
    }
    sql::delete_gone(tx, beleg.id)
}
