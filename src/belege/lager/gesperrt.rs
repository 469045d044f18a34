//! Batches that may not leave: locked ones, and those whose best-before date is over (D8).

use std::collections::BTreeMap;

use uuid::Uuid;

use super::booking::{Booking, place};
use crate::belege::model::BelegPosition;
use crate::chargen::{self, Gebucht};
use crate::failure::Result;
use crate::rules::document::{BelegTyp, Seite};
use crate::rules::error::{Code, HintCode, Hints, Refusal};
use crate::rules::fixed::{Quantity, sums};

impl Booking<'_> {
    /// Refuses positions of LS and RE that name more of a locked batch than the document did before, and says which
    /// name one that has expired.
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
                } else if charge.is_expired(beleg.liefertag()) {
                    let mut hints = Hints::default();
                    let message = format!("Die Charge {} ist abgelaufen.", charge.charge_nr);
                    hints.add_field(HintCode::MhdAbgelaufen, "charge_id", message);
                    self.hints.extend(hints.below(&path));
                }
            }
        }
        Ok(())
    }

    /// Refuses a request that takes more out of a locked batch than the documents had: by sales, or by goods that go
    /// back to a supplier. What is cancelled is taken back whatever is locked.
    pub fn check_locked(&self, booked: &[Gebucht]) -> Result<()> {
        let positions = self.change.positions;
        let typ = self.change.beleg.beleg_typ;
        let gives_back = typ == BelegTyp::El && positions.iter().any(|position| position.menge.is_negative());
        if positions.is_empty() || typ.seite() == Seite::Einkauf && !gives_back {
            return Ok(());
        }
        let moved =
            booked.iter().filter_map(|booked| Some((booked.charge.as_ref()?.id, booked.bewegung.menge)));
        let moved = sums(moved)?;
        let locked_ones =
            booked.iter().filter_map(|booked| booked.charge.as_ref()).filter(|charge| charge.gesperrt);
        for charge in locked_ones {
            if moved.get(&charge.id).is_some_and(|menge| menge.is_negative()) {
                return Err(Refusal::new(Code::ChargeGesperrt, chargen::locked(charge)).into());
            }
        }
        Ok(())
    }
}

/// Positive quantities by the batch of their positions.
fn in_batches(
    positions: &[BelegPosition],
    counts: impl Fn(&BelegPosition) -> bool,
) -> Result<BTreeMap<Uuid, Quantity>> {
    let positions = positions.iter().filter(|position| counts(position) && !position.menge.is_negative());
    Ok(sums(positions.filter_map(|position| position.charge_id.zip(position.lager_menge)))?)
}
