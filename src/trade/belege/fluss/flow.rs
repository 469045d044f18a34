//! The flow around the positions of a document, as its page draws it: what each was made from and what was made from it,
//! and one step beyond on either side (D38).

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use uuid::Uuid;

use super::sql::Tie;
use super::ties::{ties_of, to_own_unit, whole};
use crate::platform::db::tx::Tx;
use crate::platform::failure::{Failure, Result};
use crate::rules::document::{BelegTyp, VerknuepfungArt};
use crate::rules::fixed::Quantity;
use crate::rules::unit::Conversion;
use crate::trade::belege::model::{Beleg, BelegPosition};
use crate::trade::belege::sql::find;

/// Most steps beyond another one; the page of that document shows all.
const BEYOND_MAX: usize = 5;

/// What is tied to a position.
pub struct Flow {
    pub position: i64,
    pub before: Vec<Step>,
    pub after: Vec<Step>,
}

/// A position that another one was made from, or that was made from it.
#[derive(Debug, Clone)]
pub struct Step {
    pub beleg_id: Uuid,
    pub beleg_nummer: String,
    pub beleg_typ: BelegTyp,
    position_id: Uuid,
    pub takes_back: bool,
    /// Shared with the step that it hangs on, in the unit of the position whose flow it is.
    pub menge: Quantity,
    pub art: VerknuepfungArt,
    pub beyond: Vec<Step>,
    /// Further steps beyond that are left out.
    pub more: usize,
}

/// The ties of a neighbour, read once for all of its positions.
struct Neighbour {
    beleg: Beleg,
    ties: Vec<Tie>,
}

/// Returns the flow of each position of a document that has any, and how many of its ties are left out: `most` are
/// followed.
pub fn flows(
    tx: &Tx<'_>,
    beleg: &Beleg,
    positions: &[BelegPosition],
    most: usize,
) -> Result<(Vec<Flow>, usize)> {
    let mut own: BTreeMap<i64, Vec<Tie>> = BTreeMap::new();
    let ties = ties_of(tx, beleg)?;
    let more = ties.len().saturating_sub(most);
    for tie in ties.into_iter().take(most) {
        own.entry(tie.own_position).or_default().push(tie);
    }
    let mut neighbours = BTreeMap::new();
    let mut flows = Vec::new();
    for position in positions {
        let Some(ties) = own.remove(&position.position) else { continue };
        let conversion = to_own_unit(tx, position)?;
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for tie in ties {
            let is_before = tie.is_before(beleg.id);
            let step = Step::of(&tie, beleg, whole(position), conversion)?;
            let step = step.with_beyond(tx, &tie, (position.id, is_before), conversion, &mut neighbours)?;
            if is_before { &mut before } else { &mut after }.push(step);
        }
        let position = position.position;
        flows.push(Flow { position, before: without_doubled(before)?, after: without_doubled(after)? });
    }
    Ok((flows, more))
}

impl Neighbour {
    fn of(tx: &Tx<'_>, id: Uuid) -> Result<Neighbour> {
        let gone = || Failure::Broken(format!("the document {id} that is tied is gone"));
        let beleg = find(tx, id)?.ok_or_else(gone)?;
        Ok(Neighbour { ties: ties_of(tx, &beleg)?, beleg })
    }
}

impl Step {
    fn of(tie: &Tie, own: &Beleg, own_menge: Quantity, conversion: Conversion) -> Result<Step> {
        Ok(Step {
            beleg_id: tie.beleg_id,
            beleg_nummer: tie.beleg_nummer.clone(),
            beleg_typ: tie.beleg_typ,
            position_id: tie.position_id,
            takes_back: tie.takes_back,
            menge: conversion.quantity(tie.menge)?,
            art: tie.art(own, own_menge),
            beyond: Vec::new(),
            more: 0,
        })
    }

    /// Adds what its own position is tied to on the same side.
    fn with_beyond(
        mut self,
        tx: &Tx<'_>,
        tie: &Tie,
        (from, is_before): (Uuid, bool),
        conversion: Conversion,
        neighbours: &mut BTreeMap<Uuid, Neighbour>,
    ) -> Result<Step> {
        let Neighbour { beleg, ties } = match neighbours.entry(self.beleg_id) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(Neighbour::of(tx, self.beleg_id)?),
        };
        let goes_on = |beyond: &&Tie| {
            beyond.own_position == tie.position
                && beyond.position_id != from
                && beyond.is_before(beleg.id) == is_before
        };
        for beyond in ties.iter().filter(goes_on) {
            match self.beyond.len() < BEYOND_MAX {
                true => self.beyond.push(Step::of(beyond, beleg, tie.whole, conversion)?),
                false => self.more += 1,
            }
        }
        Ok(self)
    }
}

/// Leaves out what is wholly reached through another step as well: an invoice that names an order, beyond the delivery of
/// that order.
fn without_doubled(steps: Vec<Step>) -> Result<Vec<Step>> {
    let mut beyond: BTreeMap<Uuid, Quantity> = BTreeMap::new();
    for step in steps.iter().flat_map(|step| &step.beyond) {
        let menge = beyond.entry(step.position_id).or_default();
        *menge = menge.plus(step.menge)?;
    }
    let is_doubled = |step: &Step| beyond.get(&step.position_id).is_some_and(|menge| *menge >= step.menge);
    Ok(steps.into_iter().filter(|step| !is_doubled(step)).collect())
}
