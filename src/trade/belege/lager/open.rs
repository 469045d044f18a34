//! What a document leaves open is kept until its end: what its other positions ask of it is answered without the tables.

use rusqlite::named_params;
use uuid::Uuid;

use super::change::{Gruppe, Rebooking};
use super::sql;
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::Result;
use crate::rules::fixed::Quantity;
use crate::rules::pairing::{Portion, PositionKey};
use crate::trade::belege::model::BelegPosition;

/// Open portions of a document.
#[derive(Default)]
pub struct Unmet {
    /// Only for a document that takes nothing back, whose own portions nobody looks for.
    keeps: bool,
    /// Nothing is open that the document could meet.
    pub meets_nothing: bool,
    /// Some of the document is not open.
    is_met: bool,
    portions: Vec<(Gruppe, Portion)>,
}

impl Unmet {
    /// Before these positions of a document, by article and quantity, are entered.
    pub fn before(
        tx: &Tx<'_>,
        change: Rebooking<'_>,
        positions: &[(&BelegPosition, (Uuid, Quantity))],
    ) -> Result<Unmet> {
        let beleg = change.beleg;
        let Some(counterpart) = beleg.beleg_typ.gegenstueck().filter(|_| !positions.is_empty()) else {
            return Ok(Unmet::default());
        };
        if positions.iter().any(|(_, (_, menge))| menge.is_negative()) {
            return Ok(Unmet::default());
        }
        // Asked once instead of for each article: as a rule nothing is open.
        let open =
            "select 1 from lager_offen where tenant_id = :tenant and kunde_id = :kunde and beleg_typ = :typ";
        let meets_nothing =
            !tx.exists(open, named_params! {":kunde": beleg.kunde_id, ":typ": counterpart})?;
        Ok(Unmet { keeps: true, meets_nothing, ..Unmet::default() })
    }

    /// Nothing of the document was met.
    pub fn is_all(&self) -> bool {
        self.keeps && !self.is_met
    }

    /// The batches of what is kept of a position. Positions are entered in their order.
    pub fn batches_of(&self, place: PositionKey) -> Vec<Option<Uuid>> {
        let before = self.portions.partition_point(|(_, portion)| portion.leading().1 < place);
        let portions = self.portions[before..].iter().map(|(_, portion)| portion);
        portions.take_while(|portion| portion.leading().1 == place).map(|portion| portion.charge).collect()
    }

    /// Keeps an open portion of the document; gives back what is to be stored at once.
    pub fn keep(&mut self, gruppe: Gruppe, portion: Portion) -> Option<Portion> {
        let is_open = portion.positions().count() == 1 && portion.nr.is_none();
        if !self.keeps || !is_open {
            self.is_met = true;
            return Some(portion);
        }
        self.portions.push((gruppe, portion));
        None
    }

    pub fn store(self, tx: &WriteTx<'_>) -> Result<()> {
        let mut last = None;
        for (gruppe, portion) in self.portions {
            let (role, place) = portion.leading();
            let nr = match last {
                Some((before, nr)) if before == place => nr + 1,
                _ if self.is_met => sql::last_nr(tx, gruppe, role, place)?.map_or(0, |last| last + 1),
                _ => 0,
            };
            last = Some((place, nr));
            sql::add(tx, gruppe, &Portion { nr: Some(nr), ..portion })?;
        }
        Ok(())
    }
}
