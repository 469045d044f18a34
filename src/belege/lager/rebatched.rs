//! What a request did to the batches of other documents' goods (D8).

use std::collections::BTreeMap;

use uuid::Uuid;

use super::booking::Booking;
use crate::belege;
use crate::chargen;
use crate::failure::Result;
use crate::rules::error::HintCode;
use crate::rules::fixed::Quantity;

/// From which batch to which, and how much.
type Transfer = (Option<Uuid>, Option<Uuid>, Quantity);

impl Booking<'_> {
    /// Says of each invoice which of its goods lie in another batch now, because a document that says the batch has met
    /// it. Where the request is the invoice, the goods are those of its deliveries.
    pub fn hint_rebatched(&mut self) -> Result<()> {
        let own = self.change.beleg;
        for ((beleg, _), batches) in std::mem::take(&mut self.rebatched) {
            let (nummer, typ) = belege::sql::number_and_type(self.tx, beleg)?;
            let nummer = match own.beleg_typ.ist_rechnung() && !typ.ist_rechnung() {
                true => own.beleg_nummer.clone(),
                false => nummer,
            };
            for (from, to, menge) in transfers(batches)? {
                let message = format!(
                    "{nummer}: {menge} {} umgebucht, von {} nach {}.",
                    self.unit_of(from.or(to))?,
                    self.name_of(from)?,
                    self.name_of(to)?,
                );
                self.hints.add(HintCode::ChargeUmgebucht, message);
            }
        }
        Ok(())
    }

    fn unit_of(&self, charge: Option<Uuid>) -> Result<String> {
        let charge = charge.map(|charge| chargen::find(self.tx, charge)).transpose()?.flatten();
        Ok(charge.and_then(|charge| charge.einheit).unwrap_or_default())
    }

    fn name_of(&self, charge: Option<Uuid>) -> Result<String> {
        let charge = charge.map(|charge| chargen::find(self.tx, charge)).transpose()?.flatten();
        Ok(charge.map_or_else(|| "ohne Charge".to_owned(), |charge| format!("Charge {}", charge.charge_nr)))
    }
}

/// What went from batches equals what came to others.
fn transfers(batches: BTreeMap<Option<Uuid>, Quantity>) -> Result<Vec<Transfer>> {
    let (went, came): (Vec<_>, Vec<_>) =
        batches.into_iter().filter(|(_, menge)| !menge.is_zero()).partition(|(_, menge)| menge.is_negative());
    let mut came = came.into_iter();
    let mut to = came.next();
    let mut transfers = Vec::new();
    for (from, menge) in went {
        let mut left = menge.abs();
        while let (Some((charge, room)), false) = (to, left.is_zero()) {
            let some = left.min(room);
            transfers.push((from, charge, some));
            left = left.minus(some)?;
            let room = room.minus(some)?;
            to = if room.is_zero() { came.next() } else { Some((charge, room)) };
        }
    }
    Ok(transfers)
}
