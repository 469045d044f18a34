//! Choosing batches by first-expired-first-out for sales that name none, if the company wants that (D8,
//! fefo).

use std::collections::{BTreeMap, HashMap};

use uuid::Uuid;

use super::change::{Movements, Rebooking};
use crate::goods::chargen::{self, Vorrat};
use crate::master::tenants::ChargeAutomatik;
use crate::platform::db::tx::WriteTx;
use crate::platform::failure::Result;
use crate::rules::fixed::{Quantity, sums};
use crate::trade::belege::model::BelegPosition;

/// Batches with their remaining quantities, in the order in which they leave.
type Stock = Vec<(Uuid, Quantity)>;

/// Chooses batches for the items of a document.
pub struct Fefo<'r> {
    tx: &'r WriteTx<'r>,
    change: Rebooking<'r>,
    /// Quantities that the request moved before its first item is entered.
    moved: BTreeMap<Uuid, Quantity>,
    /// Eligible batches by article; `None` if only locked batches of the article had stock at first.
    left: HashMap<Uuid, Option<Stock>>,
}

impl<'r> Fefo<'r> {
    pub fn new(tx: &'r WriteTx<'r>, change: Rebooking<'r>) -> Fefo<'r> {
        Fefo { tx, change, moved: BTreeMap::new(), left: HashMap::new() }
    }

    /// Sets the movements before the first item, so that items choose from the stock without the document's
    /// old movements.
    pub fn begin(&mut self, movements: &Movements) -> Result<()> {
        let of_batches = movements.iter().filter_map(|((_, _, charge), menge)| Some(((*charge)?, *menge)));
        self.moved = sums(of_batches)?;
        Ok(())
    }

    /// Splits a quantity over batches; the last batch with stock also takes the excess. Empty if the company
    /// does not want this or the article has no batch.
    pub fn choose(&mut self, artikel: Uuid, mut rest: Quantity) -> Result<Vec<(Option<Uuid>, Quantity)>> {
        if self.change.einstellungen.charge_automatik == ChargeAutomatik::Aus {
            return Ok(Vec::new());
        }
        let with_stock = |(_, left): &&(Uuid, Quantity)| *left > Quantity::ZERO;
        if !self.left.contains_key(&artikel) {
            let stock = self.stock(artikel)?;
            let is_there = stock.iter().any(|batch| with_stock(&batch));
            let is_locked = !is_there && chargen::has_locked_stock(self.tx, artikel)?;
            self.left.insert(artikel, (!is_locked).then_some(stock));
        }
        let Some(stock) = self.left.get_mut(&artikel).and_then(Option::as_mut) else { return Ok(Vec::new()) };
        let Some((last, _)) = stock.iter().rev().find(with_stock).or(stock.last()) else {
            return Ok(Vec::new());
        };
        let last = *last;
        let mut parts: Vec<(Option<Uuid>, Quantity)> = Vec::new();
        for (charge, left) in stock.iter_mut().filter(|(_, left)| *left > Quantity::ZERO) {
            let menge = rest.min(*left);
            if menge.is_zero() {
                break;
            }
            *left = left.minus(menge)?;
            rest = rest.minus(menge)?;
            parts.push((Some(*charge), menge));
        }
        if !rest.is_zero() {
            match parts.iter_mut().find(|(charge, _)| *charge == Some(last)) {
                Some((_, menge)) => *menge = menge.plus(rest)?,
                None => parts.push((Some(last), rest)),
            }
        }
        Ok(parts)
    }

    /// Whether only locked batches of an article had stock when its batches were chosen.
    pub fn has_locked_only(&self, artikel: Uuid) -> bool {
        matches!(self.left.get(&artikel), Some(None))
    }

    /// Returns the eligible batches of an article, with their stock less what the document had moved and
    /// what its items name.
    fn stock(&self, artikel: Uuid) -> Result<Stock> {
        let named = self.named(artikel)?;
        let day = self.change.beleg.liefertag();
        let mut batches = chargen::with_stock(self.tx, artikel, day, self.wanted(artikel))?;
        batches.extend(chargen::last_without_stock(self.tx, artikel, day)?);
        // Batches that the document had emptied, or returns goods to, have stock as well.
        for charge in self.moved.keys().chain(named.keys()) {
            let charge = chargen::find(self.tx, *charge)?
                .filter(|charge| charge.artikel_id == artikel && !charge.gesperrt && !charge.is_expired(day));
            batches.extend(charge.as_ref().map(Vorrat::from));
        }
        batches.sort_unstable();
        batches.dedup();
        let left = |batch: Vorrat| {
            let moved = self.moved.get(&batch.charge).copied().unwrap_or_default();
            let named = named.get(&batch.charge).copied().unwrap_or_default();
            Ok((batch.charge, batch.bestand.plus(moved)?.minus(named)?))
        };
        batches.into_iter().map(left).collect()
    }

    /// Returns the maximum stock that the items can need, including batches that they name and quantities the
    /// request took out.
    fn wanted(&self, artikel: Uuid) -> Quantity {
        let of_artikel = |position: &&BelegPosition| position.artikel_id == Some(artikel);
        let positions = self.change.positions.iter().filter(of_artikel);
        let items = positions.filter_map(|position| position.lager_menge);
        let taken = self.moved.values().copied().filter(|menge| menge.is_negative());
        let units = items.chain(taken).map(|menge| menge.units().abs()).fold(0, i64::saturating_add);
        Quantity::from_units(units)
    }

    /// Returns the quantities that items of the document take from batches they name.
    fn named(&self, artikel: Uuid) -> Result<BTreeMap<Uuid, Quantity>> {
        let of_artikel = |position: &&BelegPosition| {
            position.artikel_id == Some(artikel) && position.charge_gesendet && position.lager_buchen
        };
        let positions = self.change.positions.iter().filter(of_artikel);
        Ok(sums(positions.filter_map(|position| position.charge_id.zip(position.lager_menge)))?)
    }
}
