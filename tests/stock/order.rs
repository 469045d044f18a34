//! The order of D38 in which open goods are met, and which a position may meet.

use crate::stock::model::{Broken, Lot, Model, Name, Pair, Part, Pos};
use crate::stock::notation::{Item, Typ};

impl Model {
    /// All that is open of a position.
    pub fn whole(&self, pos: Pos) -> i64 {
        self.open[&pos].iter().map(|part| part.quantity).sum()
    }

    /// The first of which nothing has been met or taken back, else the first.
    pub fn first_of(&self, others: &[Pos]) -> Pos {
        let is_touched = |pos: Pos| {
            let met = self.pairs.iter().any(|pair| pair.delivery == pos || pair.invoice == pos);
            met || self.backs.iter().any(|back| back.held() == Some(pos))
        };
        let untouched = others.iter().copied().find(|pos| !is_touched(*pos));
        untouched.filter(|_| !self.breaks(Broken::TouchedAlike)).unwrap_or(others[0])
    }

    /// The next counterpart, and which of its parts: the first part of this one, but for a delivery a part in its batch
    /// before others of the same invoice.
    pub fn next_of(&self, pos: Pos, first: Pos, others: &[Pos], lot: Option<Lot>) -> (Pos, usize) {
        let position = &self.positions[&pos];
        let named = match position.name {
            Some(Name::Batch(batch)) => Some(Some(batch)),
            _ => None,
        };
        let lot = lot.or(named);
        let same = others.iter().filter(|other| other.document == first.document);
        let in_its_batch = [&first].into_iter().chain(same).find_map(|other| {
            let parts = &self.open[other];
            Some((*other, parts.iter().position(|part| Some(part.lot) == lot)?))
        });
        in_its_batch.filter(|_| position.typ.delivers()).unwrap_or((first, 0))
    }

    /// The live document that a position names: one that was cancelled is named no more.
    pub fn named_by(&self, pos: Pos) -> Option<u32> {
        self.positions[&pos].item.refers.filter(|number| self.live(*number).is_some())
    }

    /// Whether a position may match another: a referenced document restricts it to that document's positions. If
    /// the document has none of that kind, an item that takes back may match any.
    pub fn may(&self, pos: Pos, other: Pos) -> bool {
        let of_kind = |number: u32| {
            let document = &self.documents[&number];
            let same_typ = document.typ == self.positions[&other].typ;
            let same_sign = |quantity: i64| (quantity > 0) == other.is_positive;
            same_typ && document.items.iter().any(|item| same_sign(item.quantity))
        };
        let refers = self.named_by(pos);
        refers.is_none_or(|number| number == other.document || (!pos.is_positive && !of_kind(number)))
    }

    /// Whether a position names a document that has such positions.
    pub fn is_bound(&self, pos: Pos, delivers: bool) -> bool {
        let has_some = |number: u32| {
            let document = &self.documents[&number];
            document.typ.delivers() == delivers && document.items.iter().any(|item| item.quantity > 0)
        };
        self.named_by(pos).is_some_and(has_some)
    }

    /// Whether a delivery and an invoice match by themselves: neither is closed, and they are not years apart.
    pub fn reaches(&self, pos: Pos, other: Pos) -> bool {
        let [own, of] = [pos, other].map(|pos| &self.documents[&pos.document]);
        (!own.is_closed && !of.is_closed && own.is_old == of.is_old)
            || self.named_by(pos).is_some()
            || self.breaks(Broken::AllReached)
    }

    /// Whether an item may reference this document, which is live and of the same partner.
    pub fn can_take(&self, typ: Typ, item: &Item, number: u32) -> bool {
        let other = &self.documents[&number];
        let fits = |of: &Item, positive: bool| of.tracked == item.tracked && (of.quantity > 0) == positive;
        let has = |positive: bool| other.items.iter().any(|of| fits(of, positive));
        let (same, is_deduction) = (other.typ == typ, item.deduction && !other.typ.delivers());
        is_deduction
            || match (item.quantity > 0, typ.delivers()) {
                (true, _) => !same && has(true),
                (false, true) => has(true) || !same && has(false),
                (false, false) => has(same),
            }
    }

    /// Releases what a proposal has taken of that which a position names: the pair made last that nobody named, and that no
    /// final invoice shows as a whole. Returns the position of which something is open again.
    pub fn release(&mut self, pos: Pos, quantity: i64) -> Option<Pos> {
        let named = self.named_by(pos).filter(|_| !self.breaks(Broken::NameWaits))?;
        let names = |who: Pos, whom: Pos| self.named_by(who) == Some(whom.document);
        let whole = |pair: &Pair| {
            let same =
                self.pairs.iter().filter(|of| (of.delivery, of.invoice) == (pair.delivery, pair.invoice));
            same.map(|pair| pair.part.quantity).sum::<i64>() == self.positions[&pair.delivery].item.quantity
        };
        let is_proposed = |pair: &Pair| {
            let (delivery, invoice) = (pair.delivery, pair.invoice);
            let is_shown = self.documents[&invoice.document].is_final && whole(pair);
            let target = if self.positions[&pos].typ.delivers() { invoice } else { delivery };
            let name = self.name_of([Some(invoice), Some(delivery), None]);
            target.document == named
                && self.agrees(pos, target, name)
                && !is_shown
                && !names(delivery, invoice)
                && !names(invoice, delivery)
        };
        let at = self.pairs.iter().rposition(is_proposed)?;
        let pair = self.pairs[at].clone();
        let released = quantity.min(pair.part.quantity);
        self.pairs[at].part.quantity -= released;
        self.pairs.retain(|pair| pair.part.quantity > 0);
        let delivers = self.positions[&pos].typ.delivers();
        let (kept, other) =
            if delivers { (pair.invoice, pair.delivery) } else { (pair.delivery, pair.invoice) };
        let part = Part { quantity: released, ..pair.part };
        let since = if pair.mover == kept { part.since } else { self.tick() };
        self.reopen(kept, Part { since, ..part });
        self.release_part(other, pair.mover, part);
        Some(kept)
    }
}
