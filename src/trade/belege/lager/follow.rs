//! Effects of a request on other documents: their goods moved to another batch or were paired differently
//! (D8).

use std::collections::BTreeMap;

use uuid::Uuid;

use super::booking::Booking;
use super::change::PairingFact;
use super::sql;
use crate::goods::chargen;
use crate::platform::db::tx::Tx;
use crate::platform::failure::{Failure, Result};
use crate::rules::document::BelegAktion;
use crate::rules::error::HintCode;
use crate::rules::fixed::{Quantity, sums};
use crate::rules::pairing::{PositionKey, Role};
use crate::trade::belege;
use crate::trade::belege::model::{Beleg, Gegenbeleg};

/// Source batch, target batch, quantity.
type Transfer = (Option<Uuid>, Option<Uuid>, Quantity);

impl Booking<'_> {
    /// Creates a new version of each affected document and stores the previous one in its history. That entry
    /// has only the affected positions, and only those of their pairs that the request changes (D4). Batches
    /// are recorded on the positions afterwards.
    pub fn store_affected_versions(&mut self) -> Result<()> {
        self.followed.retain(|_, positions| {
            positions.retain(|_, facts| facts.values().any(|menge| !menge.is_zero()));
            !positions.is_empty()
        });
        for (id, followed) in &self.followed {
            let gone = || Failure::Broken(format!("the document {id} that follows is gone"));
            let beleg = belege::sql::find(self.tx, *id)?.ok_or_else(gone)?;
            let mut positionen = Vec::new();
            for ((role, number, _), facts) in followed {
                let place = PositionKey { beleg: *id, position: *number };
                let mut position = belege::sql::position(self.tx, place.beleg, place.position)?;
                position.gegenbelege = Some(before(self.tx, *role, place, facts)?);
                positionen.push(position);
            }
            positionen.sort_unstable_by_key(|position| position.position);
            let old = Beleg { positionen: Some(positionen), ..beleg.clone() };
            belege::lifecycle::verlauf::write_version(self.tx, &old, BelegAktion::Folgen)?;
            belege::sql::record_version(self.tx, *id, beleg.version + 1)?;
            belege::fluss::tell_orders(self.tx, *id)?;
        }
        Ok(())
    }

    /// Adds a hint to each invoice whose goods are now in another batch, because it was paired with a
    /// document that states the batch. For goods of a delivery, the hint names the invoice now paired with
    /// it.
    pub fn hint_rebatched(&mut self) -> Result<()> {
        let mut invoices: BTreeMap<(Uuid, Uuid), Vec<_>> = BTreeMap::new();
        for (beleg, positions) in std::mem::take(&mut self.followed) {
            for ((role, _, artikel), facts) in
                positions.into_iter().filter(|((role, ..), _)| !role.takes_back())
            {
                let batches = facts.iter().filter_map(|(fact, menge)| match fact {
                    PairingFact::Batch(charge) if !menge.is_zero() => Some((*charge, *menge)),
                    _ => None,
                });
                let batches: Vec<_> = batches.collect();
                if !batches.is_empty() {
                    let invoice = if role == Role::Invoice { beleg } else { self.invoice_of(beleg, &facts)? };
                    invoices.entry((invoice, artikel)).or_default().extend(batches);
                }
            }
        }
        for ((invoice, _), batches) in invoices {
            for transfer in transfers(sums(batches)?)? {
                self.hint_transfer(invoice, transfer)?;
            }
        }
        Ok(())
    }

    /// Returns the oldest invoice paired with a delivery's goods in this request; if there is none, the
    /// invoice that was sent.
    fn invoice_of(&self, delivery: Uuid, facts: &BTreeMap<PairingFact, Quantity>) -> Result<Uuid> {
        for (fact, more) in facts {
            if let PairingFact::Met(beleg) = *fact
                && *more > Quantity::ZERO
                && belege::sql::number_and_type(self.tx, beleg)?.1.ist_rechnung()
            {
                return Ok(beleg);
            }
        }
        let own = self.change.beleg;
        Ok(if own.beleg_typ.ist_rechnung() { own.id } else { delivery })
    }

    fn hint_transfer(&mut self, invoice: Uuid, (from, to, menge): Transfer) -> Result<()> {
        let (nummer, _) = belege::sql::number_and_type(self.tx, invoice)?;
        let find = |charge: Option<Uuid>| charge.map(|charge| chargen::find(self.tx, charge)).transpose();
        let [from, to] = [find(from)?.flatten(), find(to)?.flatten()];
        let einheit = from.iter().chain(&to).find_map(|charge| charge.einheit.as_deref()).unwrap_or_default();
        let [from, to] = [&from, &to].map(|charge| match charge {
            Some(charge) => format!("Charge {}", charge.charge_nr),
            None => "ohne Charge".to_owned(),
        });
        let message = format!("{nummer}: {menge} {einheit} umgebucht, von {from} nach {to}.");
        self.hints.add(HintCode::ChargeUmgebucht, message);
        Ok(())
    }
}

/// Returns the quantities that a position had paired, before the request, with the documents whose pairs
/// changed.
fn before(
    tx: &Tx<'_>,
    role: Role,
    place: PositionKey,
    facts: &BTreeMap<PairingFact, Quantity>,
) -> Result<Vec<Gegenbeleg>> {
    let met = sql::met(tx, role, place)?;
    let mut before = Vec::new();
    for (fact, more) in facts.iter().filter(|(_, more)| !more.is_zero()) {
        let PairingFact::Met(beleg_id) = *fact else { continue };
        let (beleg_nummer, beleg_typ) = belege::sql::number_and_type(tx, beleg_id)?;
        let menge = met.get(&beleg_id).copied().unwrap_or_default().minus(*more)?;
        let (position_id, position, art) = (None, None, None);
        before.push(Gegenbeleg { beleg_id, beleg_nummer, beleg_typ, position_id, position, menge, art });
    }
    Ok(before)
}

/// Matches the quantities that left batches with those that entered others; their sums are equal.
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
