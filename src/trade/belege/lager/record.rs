//! Recording the batches that result from a request: on positions, and in batches that a purchase describes.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::named_params;
use uuid::Uuid;

use super::booking::Booking;
use super::change::Gruppe;
use super::receipt::ReceiptPosition;
use super::{batch, sql};
use crate::platform::failure::Result;
use crate::rules::document::{BelegStatus, BelegTyp, Seite};
use crate::rules::error::Hints;
use crate::rules::pairing::{PositionKey, Role};
use crate::trade::belege;

struct Touched {
    gruppe: Gruppe,
    charge_id: Option<Uuid>,
    /// Whether the batch may be recorded: none was named, and the document is not final.
    can_be_noted: bool,
}

impl Booking<'_> {
    /// Records on each affected open position the single batch that covers it (D8); a named batch stays, and
    /// positions of final documents never change. For purchases, returns the affected batches, each with the
    /// position of the document that brought it in, if any.
    pub fn note_batches(&mut self) -> Result<BTreeMap<Uuid, Option<ReceiptPosition>>> {
        let own = self.change.beleg;
        let moved = self.movements.iter().filter(|(_, menge)| !menge.is_zero());
        let mut seen: BTreeMap<Uuid, Option<ReceiptPosition>> =
            moved.filter_map(|((_, _, charge), _)| Some(((*charge)?, None))).collect();
        for (role, place) in std::mem::take(&mut self.touched) {
            let Some(position) = self.touched(place)? else { continue };
            let batches = self.batches(position.gruppe, role, place)?;
            for charge in batches.iter().flatten() {
                seen.entry(*charge).or_default();
            }
            let charge = only(&batches);
            if position.can_be_noted && position.charge_id != charge {
                belege::sql::set_position_charge(self.tx, place.beleg, place.position, charge)?;
            }
            if place.beleg == own.id {
                self.complete(place, &batches)?;
                let noted = if position.can_be_noted { charge } else { position.charge_id };
                for charge in self.brought(position.gruppe, role, place, batches)?.into_iter().flatten() {
                    let brought =
                        ReceiptPosition { is_noted: noted == Some(charge), position: place.position };
                    let first = seen.entry(charge).or_default();
                    *first = Some(first.map_or(brought, |first| first.or(brought)));
                }
            }
        }
        Ok(if own.beleg_typ.seite() == Seite::Einkauf { seen } else { BTreeMap::new() })
    }

    /// Returns the batches into which a purchase position brought goods; `batches` are all batches of its
    /// goods.
    fn brought(
        &self,
        gruppe: Gruppe,
        role: Role,
        place: PositionKey,
        batches: Vec<Option<Uuid>>,
    ) -> Result<Vec<Option<Uuid>>> {
        match role {
            Role::Delivery => Ok(batches),
            Role::Invoice => {
                Ok([self.unmet.batches_of(place), sql::moved_by_invoice(self.tx, gruppe, place)?].concat())
            }
            Role::Return | Role::Credit => Ok(Vec::new()),
        }
    }

    fn touched(&self, place: PositionKey) -> Result<Option<Touched>> {
        let own = self.change.beleg;
        let gruppe = |kunde, typ: BelegTyp, artikel| Gruppe { kunde, artikel, seite: typ.seite() };
        if place.beleg == own.id {
            return Ok(self.own(place).and_then(|position| {
                Some(Touched {
                    gruppe: gruppe(own.kunde_id, own.beleg_typ, position.artikel_id?),
                    charge_id: position.charge_id,
                    can_be_noted: !position.charge_gesendet,
                })
            }));
        }
        let statement =
            "select b.kunde_id, b.beleg_typ, p.artikel_id, p.charge_id, p.charge_gesendet, b.status
            from beleg_position p join beleg b on b.tenant_id = p.tenant_id and b.id = p.beleg_id
            where p.tenant_id = :tenant and p.beleg_id = :beleg and p.position = :position";
        let params = named_params! {":beleg": place.beleg, ":position": place.position};
        self.tx.optional(statement, params, |row| {
            let (is_named, status): (bool, BelegStatus) = (row.get(4)?, row.get(5)?);
            Ok(Touched {
                gruppe: gruppe(row.get(0)?, row.get(1)?, row.get(2)?),
                charge_id: row.get(3)?,
                can_be_noted: !is_named && status == BelegStatus::Offen,
            })
        })
    }

    fn batches(&self, gruppe: Gruppe, role: Role, place: PositionKey) -> Result<Vec<Option<Uuid>>> {
        let mut batches = self.unmet.batches_of(place);
        if place.beleg != self.change.beleg.id || !self.unmet.is_all() {
            batches.extend(sql::batches_of(self.tx, gruppe, role, place)?);
        }
        Ok(batches)
    }

    /// Fills in from a purchase item what its batches lack; adds a hint for differing values (D8).
    fn complete(&mut self, place: PositionKey, batches: &[Option<Uuid>]) -> Result<()> {
        let Some(position) = self.own(place).filter(|position| position.states_batch()) else {
            return Ok(());
        };
        let mut hints = Hints::default();
        for charge in batches.iter().flatten().collect::<BTreeSet<_>>() {
            batch::complete_charge(self.tx, *charge, position, &mut hints)?;
        }
        self.hints.extend(hints.below(&self.change.source.path(place.position)));
        Ok(())
    }
}

/// Returns the batch of all parts if there is only one.
fn only(batches: &[Option<Uuid>]) -> Option<Uuid> {
    let first = (*batches.first()?)?;
    batches.iter().all(|charge| *charge == Some(first)).then_some(first)
}
