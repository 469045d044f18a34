//! What of the model is compared with the server beside movements: pairs, what contracts count, where goods went.

use std::collections::{BTreeMap, BTreeSet};

use crate::stock::model::{Facts, Hold, Lot, Model, Pair, Pos};
use crate::stock::notation::Batch;

impl Model {
    /// `geliefert` of the contract (D21g): moved goods count once if either side of a pair names it; items
    /// that take back and name nothing count like the goods they took back.
    pub fn delivered(&self) -> i64 {
        let named = self.positions.iter().filter(|(_, position)| position.item.contract);
        let named: BTreeSet<_> = named.map(|(pos, _)| (pos.document, pos.index)).collect();
        let names = |pos: Option<(u32, usize)>| pos.is_some_and(|pos| named.contains(&pos));
        let mut delivered = 0;
        for (([delivery, invoice, back, credit], _, [moved, returned]), quantity) in self.facts() {
            let forth = names(delivery) || names(invoice);
            let came = forth && (delivery.is_some() || moved == Some("rechnung"));
            let took = back.is_some() || returned == Some("gutschrift");
            let went = took && (forth || names(back) || names(credit));
            delivered += quantity * (i64::from(came) - i64::from(went));
        }
        delivered
    }

    /// Matched and open quantities; for the open ones only the delivery or the invoice.
    pub fn facts(&self) -> Facts {
        let mut facts = Facts::new();
        let mut add = |positions: [Option<Pos>; 4], lot: Lot, movers: [Option<Pos>; 2], quantity: i64| {
            let kind = |mover: Pos| {
                let at = positions.iter().position(|pos| *pos == Some(mover)).unwrap();
                ["lieferung", "rechnung", "rueckgabe", "gutschrift"][at]
            };
            let key = (
                positions.map(|pos| pos.map(|pos| (pos.document, pos.index))),
                lot,
                movers.map(|mover| mover.map(kind)),
            );
            *facts.entry(key).or_default() += quantity;
        };
        let side = |pos: Pos| {
            if self.positions[&pos].typ.delivers() { (Some(pos), None) } else { (None, Some(pos)) }
        };
        for (pos, parts) in &self.open {
            let (delivery, invoice) = side(*pos);
            for part in parts {
                add([delivery, invoice, None, None], part.lot, [Some(*pos), None], part.quantity);
            }
        }
        for (pos, quantity) in &self.excess {
            add([None, Some(*pos), None, None], None, [None, None], *quantity);
        }
        for Pair { delivery, invoice, mover, part } in &self.pairs {
            let positions = [Some(*delivery), Some(*invoice), None, None];
            add(positions, part.lot, [Some(*mover), None], part.quantity);
        }
        for back in &self.backs {
            let [delivery, invoice] = back.held();
            let moved = match back.hold {
                Hold::Lowered(pos, _) | Hold::Taken(pos, _) | Hold::Returned { mover: pos, .. } => Some(pos),
                Hold::Uncovered(_) | Hold::Beyond(_) | Hold::Nothing => None,
            };
            let positions = [delivery, invoice, back.giving, back.credit];
            add(positions, back.lot, [moved, back.mover], back.quantity);
        }
        facts
    }

    /// What each document brought into a batch or took out of it, as listed by /herkunft.
    pub fn partners(&self, batch: Batch) -> BTreeMap<u32, i64> {
        let moved = self.moved().into_iter().filter(|((_, _, lot), _)| *lot == Some(batch));
        moved.map(|((number, ..), sum)| (number, sum * self.sign(number))).collect()
    }

    fn sign(&self, number: u32) -> i64 {
        if self.documents[&number].typ.sells() { -1 } else { 1 }
    }
}
