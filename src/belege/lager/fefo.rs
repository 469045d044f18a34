//! Sales that name no batch take what expires first, where the company wants that (D8, fefo).

use std::collections::{BTreeMap, HashMap};

use uuid::Uuid;

use super::{Change, Movements};
use crate::chargen::{self, Vorrat};
use crate::db::error::Result;
use crate::db::tx::WriteTx;
use crate::rules::fixed::Quantity;
use crate::tenants::ChargeAutomatik;

/// Batches and what is left of them, in the order in which they leave.
type Stock = Vec<(Uuid, Quantity)>;

/// Chooses batches for the items of a document.
pub struct Fefo<'r> {
    tx: &'r WriteTx<'r>,
    change: Change<'r>,
    /// What the request moved before the first item is entered.
    moved: BTreeMap<Uuid, Quantity>,
    left: HashMap<Uuid, Stock>,
}

impl<'r> Fefo<'r> {
    /// For the items of this document.
    pub fn new(tx: &'r WriteTx<'r>, change: Change<'r>) -> Fefo<'r> {
        Fefo { tx, change, moved: BTreeMap::new(), left: HashMap::new() }
    }

    /// The items choose from the stock as it is without what the document had moved.
    pub fn begin(&mut self, movements: &Movements) -> Result<()> {
        for ((_, _, charge), menge) in movements {
            if let Some(charge) = charge {
                let moved = self.moved.entry(*charge).or_default();
                *moved = moved.plus(*menge)?;
            }
        }
        Ok(())
    }

    /// The parts of a quantity, by batch; the last batch with stock gives what is missing. Nothing where the company
    /// does not want this, or the article has no batch.
    pub fn choose(&mut self, artikel: Uuid, mut rest: Quantity) -> Result<Vec<(Option<Uuid>, Quantity)>> {
        if self.change.einstellungen.charge_automatik == ChargeAutomatik::Aus {
            return Ok(Vec::new());
        }
        if !self.left.contains_key(&artikel) {
            let stock = self.stock(artikel)?;
            self.left.insert(artikel, stock);
        }
        let Some(stock) = self.left.get_mut(&artikel) else { return Ok(Vec::new()) };
        let with_stock = |(_, left): &&(Uuid, Quantity)| *left > Quantity::ZERO;
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

    /// The batches of an article that can be chosen, with the stock that they have without what the document had
    /// moved and without what its items name.
    fn stock(&self, artikel: Uuid) -> Result<Stock> {
        let mut batches = chargen::with_stock(self.tx, artikel)?;
        batches.extend(chargen::last_without_stock(self.tx, artikel)?);
        // What the document had taken all of has stock without it.
        for charge in self.moved.keys() {
            let charge = chargen::find(self.tx, *charge)?.filter(|charge| charge.artikel_id == artikel);
            batches.extend(charge.as_ref().map(Vorrat::from));
        }
        batches.sort_unstable();
        batches.dedup();
        let mut stock: Stock = batches.into_iter().map(|batch| (batch.charge, batch.bestand)).collect();
        for (charge, left) in &mut stock {
            *left = left.plus(self.moved.get(charge).copied().unwrap_or_default())?;
            let named =
                self.change.positions.iter().filter(|p| p.charge_gesendet && p.charge_id == Some(*charge));
            for menge in named.filter_map(|position| position.lager_menge.filter(|_| position.lager_buchen)) {
                *left = left.minus(menge)?;
            }
        }
        Ok(stock)
    }
}
