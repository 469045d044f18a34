//! What a request did to other documents: their goods lie in another batch, or have met something else (D8).

use std::collections::BTreeMap;

use uuid::Uuid;

use super::booking::Booking;
use super::change::Fact;
use crate::belege;
use crate::belege::model::Gegenbeleg;
use crate::chargen;
use crate::db::tx::Tx;
use crate::failure::{Failure, Result};
use crate::rules::document::BelegAktion;
use crate::rules::error::HintCode;
use crate::rules::fixed::{Quantity, sums};
use crate::rules::pairing::Role;

/// From which batch to which, and how much.
type Transfer = (Option<Uuid>, Option<Uuid>, Quantity);

impl Booking<'_> {
    /// Makes a new version of each document that follows, with the one before in its history (D4). Batches are noted on
    /// its positions after that.
    pub fn keep_followers(&mut self) -> Result<()> {
        self.followed.retain(|_, positions| {
            positions.retain(|_, facts| facts.values().any(|menge| !menge.is_zero()));
            !positions.is_empty()
        });
        for (id, followed) in &self.followed {
            let gone = || Failure::Broken(format!("the document {id} that follows is gone"));
            let beleg = belege::sql::find(self.tx, *id)?.ok_or_else(gone)?;
            let mut old = belege::sql::with_positions(self.tx, beleg.clone())?;
            for position in old.positionen.iter_mut().flatten() {
                let facts = followed.iter().filter(|((_, number, _), _)| *number == position.position);
                let met = position.gegenbelege.take().unwrap_or_default();
                let before =
                    facts.map(|(_, facts)| facts).try_fold(met, |met, facts| before(self.tx, met, facts))?;
                position.gegenbelege = Some(before);
            }
            belege::verlauf::write_version(self.tx, &old, BelegAktion::Folgen)?;
            let new = belege::model::Beleg { version: beleg.version + 1, updated_at: self.tx.now(), ..beleg };
            belege::sql::update(self.tx, &new)?;
        }
        Ok(())
    }

    /// Says of each invoice which of its goods lie in another batch now, because a document that says the batch has met
    /// it. Where these are goods of a delivery, it is the invoice that the delivery has met now.
    pub fn hint_rebatched(&mut self) -> Result<()> {
        let mut invoices: BTreeMap<(Uuid, Uuid), Vec<_>> = BTreeMap::new();
        for (beleg, positions) in std::mem::take(&mut self.followed) {
            for ((role, _, artikel), facts) in
                positions.into_iter().filter(|((role, ..), _)| !role.takes_back())
            {
                let batches = facts.iter().filter_map(|(fact, menge)| match fact {
                    Fact::Batch(charge) if !menge.is_zero() => Some((*charge, *menge)),
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

    /// The oldest invoice that goods of a delivery have met in the request; if there is none, the invoice that was sent.
    fn invoice_of(&self, delivery: Uuid, facts: &BTreeMap<Fact, Quantity>) -> Result<Uuid> {
        for (fact, more) in facts {
            if let Fact::Met(beleg) = *fact
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

/// What a position had met before the request, by what it has met now.
fn before(tx: &Tx<'_>, met: Vec<Gegenbeleg>, facts: &BTreeMap<Fact, Quantity>) -> Result<Vec<Gegenbeleg>> {
    let mut before: BTreeMap<Uuid, Gegenbeleg> = met.into_iter().map(|met| (met.beleg_id, met)).collect();
    for (fact, more) in facts {
        let Fact::Met(beleg_id) = *fact else { continue };
        if let Some(known) = before.get_mut(&beleg_id) {
            known.menge = known.menge.minus(*more)?;
        } else {
            let (beleg_nummer, beleg_typ) = belege::sql::number_and_type(tx, beleg_id)?;
            before.insert(beleg_id, Gegenbeleg { beleg_id, beleg_nummer, beleg_typ, menge: -*more });
        }
    }
    before.retain(|_, met| !met.menge.is_zero());
    Ok(before.into_values().collect())
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
