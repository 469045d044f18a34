//! The order of D38 in which open goods are met, and which a position may meet.

use crate::stock::model::{Back, Broken, Hold, Lot, Model, Name, Pair, Part, Pos};
use crate::stock::notation::{Item, Typ};

impl Model {
    /// All that is open of a position.
    pub fn whole(&self, pos: Pos) -> i64 {
        self.open[&pos].iter().map(|part| part.quantity).sum()
    }

    /// The first of which nothing has been met or taken back, else the first that is not closed.
    pub fn first_of(&self, others: &[Pos]) -> Option<Pos> {
        let is_touched = |pos: Pos| {
            let met = self.pairs.iter().any(|pair| pair.delivery == pos || pair.invoice == pos);
            met || self.backs.iter().any(|back| back.holds(pos))
        };
        let untouched = others.iter().copied().find(|pos| !is_touched(*pos));
        let open = others.iter().copied().find(|pos| !self.is_closed(*pos));
        untouched.filter(|_| !self.breaks(Broken::TouchedAlike)).or(open)
    }

    /// Whether an invoice that names it leaves at most 1 % of a delivery.
    fn is_closed(&self, pos: Pos) -> bool {
        let names = |invoice: Pos| self.named_by(invoice) == Some(pos.document);
        let shares = self.pairs.iter().filter(|pair| pair.delivery == pos).map(|pair| pair.invoice);
        let returned = self.backs.iter().filter_map(|back| match back.held() {
            [Some(delivery), Some(invoice)] if delivery == pos => Some(invoice),
            _ => None,
        });
        self.whole(pos) * 100 <= self.positions[&pos].item.quantity.abs() && shares.chain(returned).any(names)
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

    /// The live document that a position names: one that was cancelled, or has another partner now, is named no more.
    pub fn named_by(&self, pos: Pos) -> Option<u32> {
        let position = &self.positions[&pos];
        let is_named =
            |number: &u32| self.live(*number).is_some_and(|named| named.partner == position.partner);
        position.item.refers.filter(is_named)
    }

    /// Whether a position may match another: a referenced document restricts it to that document's positions.
    pub fn may(&self, pos: Pos, other: Pos) -> bool {
        self.named_by(pos).is_none_or(|number| number == other.document)
    }

    /// Whether a document has positions that take something back.
    pub fn takes_some_back(&self, number: u32) -> bool {
        self.documents[&number].items.iter().any(|item| item.quantity < 0)
    }

    /// Whether a return and a credit that waits may settle, each of a document of these: what it names is the other, or
    /// the invoice that this took back; one that took back nothing settles with who names no such document.
    pub fn may_settle(&self, pos: Pos, other: Pos, of: &Back) -> bool {
        let Some(number) = self.named_by(pos) else { return true };
        let is_other =
            self.documents[&number].typ == self.positions[&other].typ && self.takes_some_back(number);
        match of.held()[1] {
            _ if is_other => number == other.document,
            Some(invoice) => number == invoice.document,
            None => true,
        }
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

    /// Releases what was taken back last of that which a position names, by one that names nothing (D38).
    pub fn release_taken(&mut self, pos: Pos, quantity: i64, lot: Option<Lot>) -> bool {
        let Some(number) = self.named_by(pos).filter(|_| quantity > 0) else { return false };
        let returns = self.positions[&pos].typ.delivers();
        let is_bound = |number: u32| self.documents[&number].items.iter().any(|item| item.quantity > 0);
        let is_proposed = |back: &Back| {
            let taker = if returns { back.giving } else { back.credit };
            back.holds_of(number)
                && (!returns || back.credit.is_none())
                && (returns || self.positions[&pos].typ == self.documents[&number].typ)
                && lot.is_none_or(|lot| lot == back.lot)
                && taker.is_some_and(|taker| {
                    self.positions[&taker].item.refers.is_none()
                        && self.positions[&taker].item.tracked == self.positions[&pos].item.tracked
                })
        };
        if !is_bound(number) {
            return false;
        }
        let Some(at) = self.backs.iter().rposition(is_proposed) else { return false };
        self.take_from(at, returns, quantity);
        true
    }

    /// Releases what waits, without a name, for what a position took back by name.
    pub fn release_waiting(&mut self, pos: Pos) {
        if self.named_by(pos).is_none() {
            return;
        }
        let returns = self.positions[&pos].typ.delivers();
        let is_own = |back: &&Back| if returns { back.giving } else { back.credit } == Some(pos);
        let waits = |back: &&Back| {
            let other = if returns { back.credit } else { back.giving };
            other.is_none() && !matches!(back.hold, Hold::Lowered(..) | Hold::Beyond(_))
        };
        let mut quantity: i64 =
            self.backs.iter().filter(is_own).filter(waits).map(|back| back.quantity).sum();
        while quantity > 0 {
            let is_other = |back: &Back| {
                let (taker, own) =
                    if returns { (back.credit, back.giving) } else { (back.giving, back.credit) };
                own.is_none()
                    && matches!(back.hold, Hold::Taken(..) | Hold::Returned { .. })
                    && taker.is_some_and(|taker| {
                        taker.document != pos.document
                            && self.positions[&taker].item.refers.is_none()
                            && self.agrees(pos, taker, self.name_of_back(back))
                    })
            };
            let found = self.backs.iter().enumerate().filter(|(_, back)| is_other(back));
            let first = found.min_by_key(|(at, back)| (if returns { back.credit } else { back.giving }, *at));
            let Some((at, _)) = first else { break };
            quantity -= self.take_from(at, !returns, quantity);
        }
    }

    /// Takes up to a quantity of what was taken back from the return, or from the credit, which looks again.
    fn take_from(&mut self, at: usize, of_return: bool, quantity: i64) -> i64 {
        let quantity = quantity.min(self.backs[at].quantity);
        let back = Back { quantity, ..self.backs[at].clone() };
        self.backs[at].quantity -= quantity;
        self.backs.retain(|back| back.quantity > 0);
        if let (false, Some(giving)) = (of_return, back.giving) {
            self.backs.push(Back { credit: None, mover: Some(giving), ..back.clone() });
        } else {
            let part = |since| Part { lot: back.lot, quantity, since };
            match back.hold {
                Hold::Lowered(pos, since) | Hold::Taken(pos, since) => self.reopen(pos, part(since)),
                Hold::Uncovered(pos) => {
                    let since = self.tick();
                    self.reopen(pos, part(since));
                }
                Hold::Returned { delivery, invoice, mover, since } => {
                    self.pairs.push(Pair { delivery, invoice, mover, part: part(since) });
                }
                Hold::Beyond(_) | Hold::Nothing => {}
            }
        }
        let (giving, credit) = if of_return { (back.giving, None) } else { (None, back.credit) };
        let mover = giving.filter(|_| of_return);
        let pos = giving.or(credit).unwrap();
        self.release_back(pos, Back { giving, credit, mover, hold: Hold::Nothing, ..back });
        quantity
    }
}
