//! Batches that may not leave: locked ones, and expired ones (D8).

use std::collections::BTreeMap;

use uuid::Uuid;

use super::booking::{Booking, place};
use crate::goods::chargen::{self, Charge, Gebucht};
use crate::platform::failure::Result;
use crate::rules::document::{BelegTyp, Seite};
use crate::rules::error::{Code, Hints, Refusal};
use crate::rules::fixed::{Quantity, sums};
use crate::trade::belege::model::BelegPosition;

impl Booking<'_> {
    /// Refuses positions of LS and RE that name more of a locked batch than the document did before; adds a
    /// hint for each that names an expired batch.
    pub fn check_named_batches(&mut self) -> Result<()> {
        let beleg = self.change.beleg;
        if !matches!(beleg.beleg_typ, BelegTyp::Ls | BelegTyp::Re) {
            return Ok(());
        }
        let before = self.change.withdrawn.map_or(&[][..], |(_, positions)| positions);
        let before = in_batches(before, |_| true)?;
        let named = in_batches(self.change.positions, |position| position.charge_gesendet)?;
        for (id, menge) in named {
            let Some(charge) = chargen::find(self.tx, id)? else { continue };
            let is_more = menge > before.get(&id).copied().unwrap_or_default();
            let names_it = |position: &&BelegPosition| {
                position.charge_gesendet && position.charge_id == Some(id) && !position.menge.is_negative()
            };
            for position in self.change.positions.iter().filter(names_it) {
                let path = self.change.source.path(place(position).position);
                if charge.gesperrt && is_more {
                    let refusal = Refusal::field(Code::ChargeGesperrt, "charge_id", chargen::locked(&charge));
                    self.errors.keep::<()>(Err(refusal.below(&path)));
                } else {
                    let mut hints = Hints::default();
                    chargen::hint_expired(&charge, beleg.liefertag(), &mut hints);
                    self.hints.extend(hints.below(&path));
                }
            }
        }
        Ok(())
    }

    /// Refuses a request that takes more out of a locked batch than before: by a sale, by a return to a
    /// supplier, or because a purchase states that its goods are in another batch. A cancellation or a
    /// supplier's credit reverses movements regardless of locks.
    pub fn check_locked(&self, booked: &[Gebucht]) -> Result<()> {
        let positions = self.change.positions;
        let typ = self.change.beleg.beleg_typ;
        if positions.is_empty() {
            return Ok(());
        }
        let in_batches = booked.iter().filter_map(|booked| Some((booked, booked.charge.as_ref()?)));
        let moved = sums(in_batches.clone().map(|(booked, charge)| (charge.id, booked.bewegung.menge)))?;
        let moved = |charge: &Charge| moved.get(&charge.id).copied().unwrap_or_default();
        // What others move because their goods were named is never refused (D38).
        let is_own = |charge: &Charge| {
            let of_charge = in_batches.clone().filter(|(_, of)| of.id == charge.id);
            let own = of_charge.filter(|(booked, _)| booked.bewegung.beleg_id == Some(self.change.beleg.id));
            own.map(|(booked, _)| booked.bewegung.menge.units()).sum::<i64>() < 0
        };
        for (_, charge) in in_batches.clone().filter(|(_, of)| of.gesperrt && moved(of).is_negative()) {
            let takes_back = |position: &BelegPosition| {
                position.artikel_id == Some(charge.artikel_id) && position.menge.is_negative()
            };
            let leaves = match (typ, positions.iter().any(takes_back)) {
                (BelegTyp::El, true) => true,
                (_, takes_back) if typ.seite() == Seite::Einkauf => {
                    let mut others = in_batches.clone().filter(|(_, of)| of.artikel_id == charge.artikel_id);
                    !takes_back && others.any(|(_, other)| moved(other) > Quantity::ZERO)
                }
                _ => is_own(charge),
            };
            if leaves {
                return Err(Refusal::new(Code::ChargeGesperrt, chargen::locked(charge)).into());
            }
        }
        Ok(())
    }
}

/// Sums positive quantities by the batch of their positions.
fn in_batches(
    positions: &[BelegPosition],
    counts: impl Fn(&BelegPosition) -> bool,
) -> Result<BTreeMap<Uuid, Quantity>> {
    let positions = positions.iter().filter(|position| counts(position) && !position.menge.is_negative());
    Ok(sums(positions.filter_map(|position| position.charge_id.zip(position.lager_menge)))?)
}
