//! What takes goods back in D8: returns and credits.

use crate::stock::model::{Back, Broken, Hold, Lot, Model, Name, Pair, Part, Pos};
use crate::stock::pairing::{Course, back};

impl Model {
    pub fn enter_new_return(&mut self, pos: Pos, quantity: i64) {
        let lot = if self.positions[&pos].item.tracked { Some(self.batch(pos)) } else { None };
        self.enter_return(Back { lot, ..back(pos, true, quantity) }, &mut (Some(quantity), None));
    }

    /// Enters a return into its batch, new or with a movement that it keeps.
    pub fn enter_return(&mut self, mut back: Back, course: &mut Course) {
        let lot = Some(back.lot);
        let pos = back.giving.unwrap();
        let is_free = back.hold == Hold::Nothing;
        let binds = self
            .named_by(pos)
            .is_some_and(|number| self.documents[&number].items.iter().any(|item| item.quantity > 0));
        loop {
            if is_free {
                self.take_open(&mut back, true, lot, course);
            }
            if !self.breaks(Broken::ReturnMovesAgain) {
                self.join_credits(&mut back, true);
            }
            if is_free {
                self.take_open(&mut back, false, lot, &mut Course::default());
            }
            if is_free && binds {
                self.take_pairs(&mut back);
            }
            if !is_free || !binds || !self.release_taken(pos, back.quantity, lot) {
                break;
            }
        }
        // Any remainder moves.
        back.mover = Some(pos);
        self.join_credits(&mut back, false);
        if is_free && self.named_by(pos).is_none() {
            self.take_pairs(&mut back);
        }
        self.keep(back);
    }

    /// A return takes back what deliveries and invoices share in its batch, of the newest invoice first.
    fn take_pairs(&mut self, back: &mut Back) {
        let pos = back.giving.unwrap();
        let fits = |pair: &Pair, model: &Model| {
            let name = model.name_of([Some(pair.invoice), Some(pair.delivery), None]);
            back.lot == pair.part.lot
                && model.agrees(pos, pair.delivery, name)
                && (model.may(pos, pair.delivery) || model.may(pos, pair.invoice))
        };
        let (lot, mut rest) = (back.lot, back.quantity);
        while rest > 0 && !self.breaks(Broken::InvoicedStays) {
            let found = self.pairs.iter().enumerate().filter(|(_, pair)| fits(pair, self));
            let Some((at, _)) = found.max_by_key(|(at, pair)| (pair.invoice, *at)) else { break };
            let Pair { delivery, invoice, mover, part } = self.pairs[at].clone();
            let quantity = rest.min(part.quantity);
            rest -= quantity;
            self.pairs[at].part.quantity -= quantity;
            self.pairs.retain(|pair| pair.part.quantity > 0);
            let hold = Hold::Returned { delivery, invoice, mover, since: part.since };
            let taken = Back { giving: Some(pos), credit: None, mover: Some(pos), lot, quantity, hold };
            self.backs.push(taken);
        }
        back.quantity = rest;
    }

    fn keep(&mut self, back: Back) {
        if back.quantity > 0 {
            self.backs.push(back);
        }
    }

    /// Steps 1 and 3 of a return, step 2 of a credit: takes from open deliveries as a delivery meets invoices, the newest
    /// first, or from open invoices, newest first.
    fn take_open(&mut self, back: &mut Back, of_deliveries: bool, lot: Option<Lot>, course: &mut Course) {
        let pos = back.giving.or(back.credit).unwrap();
        let mut others = self.open_of(pos, of_deliveries);
        others.retain(|other| self.may(pos, *other));
        let is_named = of_deliveries && self.is_bound(pos, true);
        if !is_named {
            others.reverse();
        }
        let has_some =
            |other: &Pos| lot.is_none_or(|lot| self.open[other].iter().any(|part| part.lot == lot));
        others.retain(has_some);
        let is_ordered = of_deliveries && !is_named;
        while back.quantity > 0 && !others.is_empty() {
            let kept = course.1.filter(|chosen| others.contains(chosen));
            let whole = course.0.take_if(|_| is_ordered && kept.is_none());
            let exact = others.iter().copied().find(|other| Some(self.whole(*other)) == whole);
            let in_order = if is_ordered { self.first_of(&others) } else { Some(others[0]) };
            let Some(other) = kept.filter(|_| is_ordered).or(exact).or(in_order) else { break };
            course.1 = Some(other).filter(|_| is_ordered);
            others.retain(|of| *of != other);
            let mut parts = self.open.remove(&other).unwrap();
            let mut order: Vec<&mut Part> = parts.iter_mut().collect();
            if !of_deliveries {
                order.reverse();
            }
            for part in order.into_iter().filter(|part| lot.is_none_or(|lot| lot == part.lot)) {
                let some = back.quantity.min(part.quantity);
                part.quantity -= some;
                back.quantity -= some;
                let hold = if of_deliveries { Hold::Lowered } else { Hold::Taken };
                let hold = hold(other, part.since);
                let taken = Back { quantity: some, lot: part.lot, mover: Some(pos), hold, ..back.clone() };
                self.keep(taken);
            }
            self.put_back(other, parts);
        }
    }

    /// Steps 2 and 4 of a return: matches waiting credits, either those that moved in its batch or those that did not.
    fn join_credits(&mut self, back: &mut Back, that_moved: bool) {
        let (pos, lot) = (back.giving.unwrap(), back.lot);
        let waits = |other: &Back, model: &Model| {
            other.giving.is_none()
                && !matches!(other.hold, Hold::Uncovered(..) | Hold::Beyond(_))
                && other.mover.is_some() == that_moved
                && (!that_moved || lot == other.lot)
                && other.credit.is_some_and(|credit| {
                    model.agrees(pos, credit, model.name_of_back(other))
                        && model.may_settle(pos, credit, other)
                })
        };
        while back.quantity > 0 {
            let found = self.backs.iter().enumerate().filter(|(_, other)| waits(other, self));
            let Some((at, _)) = found.min_by_key(|(at, other)| (other.credit, *at)) else { break };
            let (one, other) = self.split(at, back);
            self.join(one, other);
        }
    }

    /// Splits off equal parts of a return or credit and of the waiting one at `at`.
    fn split(&mut self, at: usize, back: &mut Back) -> (Back, Back) {
        let some = back.quantity.min(self.backs[at].quantity);
        let one = Back { quantity: some, ..back.clone() };
        let other = Back { quantity: some, ..self.backs[at].clone() };
        back.quantity -= some;
        self.backs[at].quantity -= some;
        if self.backs[at].quantity == 0 {
            self.backs.remove(at);
        }
        (one, other)
    }

    /// Matches a return with a credit.
    fn join(&mut self, giving: Back, credit: Back) {
        let return_moves = match (giving.mover, credit.mover) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(one), Some(other)) => (one < other) != self.breaks(Broken::ElderReversed),
        };
        let (kept, reversed) = if return_moves { (&giving, &credit) } else { (&credit, &giving) };
        let part = |since| Part { lot: reversed.lot, quantity: reversed.quantity, since };
        match reversed.hold {
            _ if kept.hold == Hold::Nothing => {}
            Hold::Taken(pos, since) => self.released.entry(pos).or_default().parts.push(part(since)),
            Hold::Returned { delivery, invoice, mover, since } => {
                self.pairs.push(Pair { delivery, invoice, mover, part: part(since) });
            }
            _ => {}
        }
        let hold = if kept.hold == Hold::Nothing { reversed.hold } else { kept.hold };
        let both = Back { giving: giving.giving, credit: credit.credit, hold, ..kept.clone() };
        self.backs.push(both);
    }

    // ---- credits

    /// Enters a credit, new or with a movement that it keeps.
    pub fn enter_credit(&mut self, mut back: Back) {
        let is_free = back.hold == Hold::Nothing;
        if is_free {
            self.join_returns(&mut back, true);
        }
        self.join_returns(&mut back, false);
        if !is_free {
            self.keep(back);
            return;
        }
        let credit = back.credit.unwrap();
        // A batch that does not exist contains no goods.
        if !matches!(self.positions[&credit].name, Some(Name::Number(_))) {
            let lot = self.lot_named_by(&back);
            loop {
                if !self.breaks(Broken::CreditNeverMoves) {
                    self.take_open(&mut back, false, lot, &mut Course::default());
                }
                self.uncover(&mut back);
                self.take_excess(&mut back);
                if !self.release_taken(credit, back.quantity, lot) {
                    break;
                }
                self.join_returns(&mut back, true);
            }
        }
        self.keep(back);
    }

    /// A credit that names a batch takes back only what moved in it.
    fn lot_named_by(&self, back: &Back) -> Option<Lot> {
        match self.positions[&back.credit?].name {
            Some(Name::Batch(batch)) => Some(Some(batch)),
            _ => None,
        }
    }

    /// Matches returns that wait: those that took back what was invoiced, or those that took back nothing.
    fn join_returns(&mut self, back: &mut Back, of_invoices: bool) {
        let pos = back.credit.unwrap();
        let lot = back.mover.map(|_| back.lot);
        let waits = |other: &Back, model: &Model| {
            other.credit.is_none()
                && !matches!(other.hold, Hold::Lowered(..))
                && (other.hold != Hold::Nothing) == of_invoices
                && lot.is_none_or(|lot| lot == other.lot)
                && other.giving.is_some_and(|giving| {
                    model.agrees(pos, giving, model.name_of_back(other))
                        && model.may_settle(pos, giving, other)
                })
        };
        while back.quantity > 0 {
            let found = self.backs.iter().enumerate().filter(|(_, other)| waits(other, self));
            let Some((at, _)) = found.min_by_key(|(at, other)| (other.giving, *at)) else { break };
            let (one, other) = self.split(at, back);
            self.join(other, one);
        }
    }

    /// Step 3: takes back covered parts, of the newest invoice first.
    fn uncover(&mut self, back: &mut Back) {
        let pos = back.credit.unwrap();
        let lot = self.lot_named_by(back);
        let fits = |pair: &Pair, model: &Model| {
            let name = model.name_of([Some(pair.invoice), Some(pair.delivery), None]);
            lot.is_none_or(|lot| lot == pair.part.lot)
                && model.agrees(pos, pair.invoice, name)
                && model.may(pos, pair.invoice)
        };
        while back.quantity > 0 {
            let found = self.pairs.iter().enumerate().filter(|(_, pair)| fits(pair, self));
            let Some((at, _)) = found.max_by_key(|(at, pair)| (pair.invoice, *at)) else { break };
            let some = back.quantity.min(self.pairs[at].part.quantity);
            let pair = self.pairs[at].clone();
            back.quantity -= some;
            self.pairs[at].part.quantity -= some;
            if self.pairs[at].part.quantity == 0 {
                self.pairs.remove(at);
            }
            let since = if pair.mover == pair.delivery { pair.part.since } else { self.tick() };
            self.reopen(pair.delivery, Part { quantity: some, since, ..pair.part });
            let hold = Hold::Uncovered(pair.invoice);
            self.keep(Back { quantity: some, lot: pair.part.lot, hold, ..back.clone() });
        }
    }

    /// A credit takes back what the invoice that it names says beyond its delivery: nothing moves.
    fn take_excess(&mut self, back: &mut Back) {
        let credit = back.credit.unwrap();
        let fits = |pos: &&Pos| {
            self.named_by(credit) == Some(pos.document)
                && self.agrees(credit, **pos, self.positions[*pos].name)
                && !self.breaks(Broken::ExcessStays)
        };
        let invoices: Vec<Pos> = self.excess.keys().filter(fits).copied().rev().collect();
        for pos in invoices {
            let some = back.quantity.min(self.excess[&pos]);
            *self.excess.get_mut(&pos).unwrap() -= some;
            back.quantity -= some;
            self.keep(Back { quantity: some, hold: Hold::Beyond(pos), ..back.clone() });
        }
        self.excess.retain(|_, quantity| *quantity > 0);
    }

    pub fn reopen(&mut self, pos: Pos, part: Part) {
        let parts = self.open.entry(pos).or_default();
        parts.push(part);
        parts.sort_by_key(|part| part.since);
    }
}
