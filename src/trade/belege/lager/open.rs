//! Open portions of a document, kept in memory until its end so that its other positions need no query for
//! them.

use rusqlite::named_params;
use uuid::Uuid;

use super::change::{Gruppe, Rebooking};
use super::sql;
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::Result;
use crate::rules::fixed::{Quantity, sums};
use crate::rules::pairing::{Portion, PositionKey, Stage};
use crate::trade::belege::model::BelegPosition;

/// Open portions of a document.
#[derive(Default)]
pub struct Unmet {
    /// Only for a document that takes nothing back and names nothing: no position searches its own portions.
    keeps: bool,
    /// Whether nothing is open that the document could be paired with.
    pub meets_nothing: bool,
    /// Whether some of the document is paired.
    is_met: bool,
    portions: Vec<(Gruppe, Portion)>,
}

impl Unmet {
    /// Returns the state before these positions of a document, with article and quantity, are entered.
    pub fn before(
        tx: &Tx<'_>,
        change: Rebooking<'_>,
        positions: &[(&BelegPosition, (Uuid, Quantity))],
    ) -> Result<Unmet> {
        let beleg = change.beleg;
        let Some(counterpart) = beleg.beleg_typ.gegenstueck().filter(|_| !positions.is_empty()) else {
            return Ok(Unmet::default());
        };
        // What takes back, or names what a proposal has, may set goods of its own document free.
        let sets_free = |(position, (_, menge)): &(&BelegPosition, (Uuid, Quantity))| {
            menge.is_negative() || position.bezug_beleg_id.is_some()
        };
        if positions.iter().any(sets_free) {
            return Ok(Unmet::default());
        }
        // One query instead of one per article: usually nothing is open.
        let open =
            "select 1 from lager_offen where tenant_id = :tenant and kunde_id = :kunde and beleg_typ = :typ";
        let meets_nothing =
            !tx.exists(open, named_params! {":kunde": beleg.kunde_id, ":typ": counterpart})?;
        Ok(Unmet { keeps: true, meets_nothing, ..Unmet::default() })
    }

    /// Whether nothing of the document is paired.
    pub fn is_all(&self) -> bool {
        self.keeps && !self.is_met
    }

    /// Returns the batches of the portions kept for a position. Positions are entered in order.
    pub fn batches_of(&self, place: PositionKey) -> Vec<Option<Uuid>> {
        let before = self.portions.partition_point(|(_, portion)| portion.leading().1 < place);
        let portions = self.portions[before..].iter().map(|(_, portion)| portion);
        portions.take_while(|portion| portion.leading().1 == place).map(|portion| portion.charge).collect()
    }

    /// Keeps an open portion of the document; returns a portion that must be stored immediately.
    pub fn keep(&mut self, gruppe: Gruppe, portion: Portion) -> Option<Portion> {
        let is_open = sql::is_open(portion.kind()) && portion.nr.is_none();
        if !self.keeps || !is_open {
            self.is_met = true;
            return Some(portion);
        }
        self.portions.push((gruppe, portion));
        None
    }

    pub fn store(mut self, tx: &WriteTx<'_>) -> Result<()> {
        let mut last = None;
        let whole = sums(self.portions.iter().map(|(_, portion)| (portion.leading().1, portion.menge)))?;
        for (gruppe, portion) in &mut self.portions {
            let (role, place) = portion.leading();
            let (nr, stage) = match last {
                Some((before, nr, stage)) if before == place => (nr + 1, stage),
                _ if self.is_met => match sql::last_nr(tx, *gruppe, role, place)? {
                    Some(last) => (last + 1, Stage::Begun),
                    None => (0, Stage::Untouched),
                },
                _ => (0, Stage::Untouched),
            };
            last = Some((place, nr, stage));
            (portion.nr, portion.stage) = (Some(nr), stage);
            portion.whole = whole.get(&place).copied().unwrap_or_default();
        }
        sql::insert_open(tx, &self.portions)
    }
}
