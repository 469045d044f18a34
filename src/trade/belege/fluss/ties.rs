//! What a position is tied to, and what is left of it, as answers show it.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::left::{Left, left};
use super::name::Next;
use super::sql::{self, Tie};
use crate::master::artikel;
use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::rules::document::{BelegStatus, BelegTyp, Lagerrolle, VerknuepfungArt};
use crate::rules::fixed::Quantity;
use crate::rules::unit::Conversion;
use crate::trade::belege::model::{Beleg, BelegPosition, Gegenbeleg, Verknuepfung};
use crate::trade::belege::sql::{nachfolger, named_positions, positions, vorgaenger};

/// Adds to the positions of a document what they are tied to, and what is left of them; `has_met_nothing`: it is new, and
/// no goods were paired.
pub fn add_ties(
    tx: &Tx<'_>,
    beleg: &Beleg,
    positions: &mut [BelegPosition],
    has_met_nothing: bool,
) -> Result<()> {
    let is_alone = has_met_nothing && positions.iter().all(|position| position.bezug_beleg_id.is_none());
    let mut ties: BTreeMap<i64, Vec<Tie>> = BTreeMap::new();
    let mut left = None;
    if !is_alone {
        for tie in ties_of(tx, beleg)? {
            ties.entry(tie.own_position).or_default().push(tie);
        }
        let next = if beleg.beleg_typ.ist_rechnung() { Next::Credit } else { Next::Forward };
        left = Some(left_of(tx, beleg, next)?);
    }
    for position in positions {
        let conversion = to_own_unit(tx, position)?;
        let own = ties.remove(&position.position).unwrap_or_default();
        position.gegenbelege = Some(counterparts(beleg, position, own.iter()));
        let (before, after): (Vec<_>, Vec<_>) = own.iter().partition(|tie| tie.is_before(beleg.id));
        let shown = |ties: Vec<&Tie>| {
            let shown = ties.into_iter().map(|tie| tie.shown(beleg, position, conversion));
            shown.collect::<Result<Vec<_>>>()
        };
        let (before, after) = (shown(before)?, shown(after)?);
        (position.vorgaenger, position.nachfolger) = (Some(before), Some(after));
        position.offen = Some(match (&left, position.menge.is_negative()) {
            (_, true) => None,
            (None, false) => Some(position.menge),
            (Some(left), false) => {
                let left = left.get(&position.position).copied().unwrap_or_default();
                Some(conversion.quantity(left)?)
            }
        });
    }
    Ok(())
}

/// Returns what is left of each position of a document for a document of a type, in the unit of the position.
pub fn left_for(
    tx: &Tx<'_>,
    beleg: &Beleg,
    positions: &[BelegPosition],
    typ: BelegTyp,
    takes_back: bool,
) -> Result<Left> {
    let left = left_of(tx, beleg, Next::of(typ, takes_back))?;
    let in_own_unit = |position: &BelegPosition| {
        let left = left.get(&position.position).copied().unwrap_or_default();
        Ok((position.position, to_own_unit(tx, position)?.quantity(left)?))
    };
    positions.iter().map(in_own_unit).collect()
}

/// Adds to a document its positions with their ties, and the documents before and after it.
pub fn with_positions(tx: &Tx<'_>, beleg: Beleg) -> Result<Beleg> {
    let mut positionen = positions(tx, beleg.id)?;
    add_ties(tx, &beleg, &mut positionen, false)?;
    with_neighbours(tx, beleg, positionen)
}

/// The same, but of the ties only what the positions have met: that is what a history keeps, for the others are those of
/// today.
pub fn with_counterparts(tx: &Tx<'_>, beleg: Beleg) -> Result<Beleg> {
    let mut positionen = positions(tx, beleg.id)?;
    let ties = paired_of(tx, &beleg)?;
    for position in &mut positionen {
        let own = ties.iter().filter(|tie| tie.own_position == position.position);
        position.gegenbelege = Some(counterparts(&beleg, position, own));
    }
    with_neighbours(tx, beleg, positionen)
}

fn with_neighbours(tx: &Tx<'_>, beleg: Beleg, positionen: Vec<BelegPosition>) -> Result<Beleg> {
    let (vorgaenger, nachfolger) = (vorgaenger(tx, &beleg)?, Some(nachfolger(tx, beleg.id)?));
    Ok(Beleg { positionen: Some(positionen), vorgaenger, nachfolger, ..beleg })
}

fn left_of(tx: &Tx<'_>, beleg: &Beleg, next: Next) -> Result<Left> {
    left(tx, beleg, &named_positions(tx, beleg.id)?, next, Uuid::nil())
}

/// Returns the positions that those of a document are tied to.
pub fn ties_of(tx: &Tx<'_>, beleg: &Beleg) -> Result<Vec<Tie>> {
    Ok([paired_of(tx, beleg)?, sql::named_with(tx, beleg.id)?].concat())
}

fn paired_of(tx: &Tx<'_>, beleg: &Beleg) -> Result<Vec<Tie>> {
    match beleg.beleg_typ.lagerrolle() {
        Lagerrolle::Keine => Ok(Vec::new()),
        Lagerrolle::Lieferung => sql::paired_with(tx, beleg.id, ["lieferung", "rueckgabe"]),
        Lagerrolle::Rechnung => sql::paired_with(tx, beleg.id, ["rechnung", "gutschrift"]),
    }
}

/// The conversion from the unit of its article to that of the position.
pub fn to_own_unit(tx: &Tx<'_>, position: &BelegPosition) -> Result<Conversion> {
    let Some(id) = position.artikel_id.filter(|_| position.lager_menge != Some(position.menge)) else {
        return Ok(Conversion::NONE);
    };
    Ok(artikel::must_have(tx, id)?.conversion_from(position.einheit.as_deref())?.reversed())
}

fn counterparts<'t>(
    beleg: &Beleg,
    position: &BelegPosition,
    ties: impl Iterator<Item = &'t Tie>,
) -> Vec<Gegenbeleg> {
    let counterpart = |tie: &Tie| Gegenbeleg {
        beleg_id: tie.beleg_id,
        beleg_nummer: tie.beleg_nummer.clone(),
        beleg_typ: tie.beleg_typ,
        position_id: Some(tie.position_id),
        position: Some(tie.position),
        menge: tie.menge,
        art: Some(tie.art(beleg, whole(position))),
    };
    ties.filter(|tie| tie.is_paired).map(counterpart).collect()
}

/// All that a position says, positive, in the unit of its article.
pub fn whole(position: &BelegPosition) -> Quantity {
    position.lager_menge.unwrap_or(position.menge).abs()
}

impl Tie {
    /// Whether the other position comes before that of the document `own`: the one that is named, else the older one.
    pub fn is_before(&self, own: Uuid) -> bool {
        match (self.is_named, self.names_own) {
            (true, _) => true,
            (_, true) => false,
            _ => self.beleg_id < own,
        }
    }

    /// How it was tied. What a final invoice shows of its deliveries stays with it, as if it had been named.
    pub fn art(&self, own: &Beleg, own_menge: Quantity) -> VerknuepfungArt {
        let (is_own, is_other) = (self.menge == own_menge, self.menge == self.whole);
        let invoice = if own.beleg_typ.ist_rechnung() { own.status } else { self.status };
        let delivery = if own.beleg_typ.ist_rechnung() { is_other } else { is_own };
        match () {
            _ if self.is_named || self.names_own => VerknuepfungArt::Genannt,
            _ if delivery && invoice != BelegStatus::Offen => VerknuepfungArt::Genannt,
            _ if is_own && is_other => VerknuepfungArt::Genau,
            _ => VerknuepfungArt::Vorgeschlagen,
        }
    }

    fn shown(&self, own: &Beleg, position: &BelegPosition, conversion: Conversion) -> Result<Verknuepfung> {
        Ok(Verknuepfung {
            beleg_id: self.beleg_id,
            beleg_nummer: self.beleg_nummer.clone(),
            beleg_typ: self.beleg_typ,
            position_id: self.position_id,
            position: self.position,
            menge: conversion.quantity(self.menge)?,
            art: self.art(own, whole(position)),
        })
    }
}

/// Whether anything is left of a document for a document of a type.
pub fn is_left(left: &Left) -> bool {
    left.values().any(|left| *left > Quantity::ZERO)
}
