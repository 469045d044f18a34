//! Withdrawal in D8: the counterparts of a document are released and settle.

use crate::stock::model::{Back, Broken, Document, Hold, Model, Pair, Part, Pos};
use crate::stock::notation::Item;
use crate::stock::pairing::Course;

impl Model {
    pub fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    /// Whether items of a document name another one, directly or by others: those of an article, and what credits take
    /// back of invoices (D4, D38).
    pub fn leads_to(&self, number: u32, own: u32, tracked: bool) -> bool {
        let document = &self.documents[&number];
        let is_there = |of: &u32| self.live(*of).is_some_and(|named| named.partner == document.partner);
        let credits = |item: &Item, of: u32| {
            item.quantity < 0 && !document.typ.delivers() && self.documents[&of].typ == document.typ
        };
        let next = document.items.iter().filter_map(|item| Some((item, item.refers.filter(is_there)?)));
        let next = next.filter(|(item, of)| item.tracked == tracked || credits(item, *of));
        number == own || next.into_iter().any(|(_, of)| self.leads_to(of, own, tracked))
    }

    /// Whether a live credit names an invoice and takes something of it back (D4).
    pub fn is_credited(&self, number: u32) -> bool {
        let (typ, partner) = (self.documents[&number].typ, self.documents[&number].partner);
        let takes_back = |item: &Item| item.quantity < 0 && item.refers == Some(number);
        let is_credit =
            |document: &Document| document.typ == typ && document.is_live && document.partner == partner;
        let names_return = |back: &Back| {
            let credit = back.credit.filter(|credit| self.documents[&credit.document].typ == typ);
            let names = |credit: Pos| {
                back.giving.is_some_and(|giving| self.named_by(credit) == Some(giving.document))
            };
            back.held()[1].is_some_and(|invoice| invoice.document == number) && credit.is_some_and(names)
        };
        if !typ.delivers() && self.backs.iter().any(names_return) {
            return true;
        }
        let credits = self.documents.values().filter(|document| is_credit(document));
        !typ.delivers() && credits.flat_map(|document| &document.items).any(takes_back)
    }

    /// Withdraws a document; its counterparts wait for their turn.
    pub fn withdraw(&mut self, number: u32) {
        let is_gone = |pos: Pos| pos.document == number;
        self.open.retain(|pos, _| !is_gone(*pos));
        self.excess.retain(|pos, _| !is_gone(*pos));
        for pair in std::mem::take(&mut self.pairs) {
            match (is_gone(pair.delivery), is_gone(pair.invoice)) {
                (false, false) => self.pairs.push(pair),
                (true, _) => self.release_part(pair.invoice, pair.mover, pair.part),
                (_, true) => self.release_part(pair.delivery, pair.mover, pair.part),
            }
        }
        let mut met = Vec::new();
        for back in std::mem::take(&mut self.backs) {
            self.withdraw_back(back, &is_gone, &mut met);
        }
        self.backs.append(&mut met);
        self.positions.retain(|pos, _| !is_gone(*pos));
    }

    /// Releases the matched part of a position, which moves it now unless it did before.
    pub fn release_part(&mut self, pos: Pos, mover: Pos, part: Part) {
        let since = if mover == pos { part.since } else { self.tick() };
        self.released.entry(pos).or_default().parts.push(Part { since, ..part });
    }

    /// What a return and a credit have matched of each other stays `met`; so does a return of a delivery whose invoice
    /// goes.
    fn withdraw_back(&mut self, mut back: Back, is_gone: &dyn Fn(Pos) -> bool, met: &mut Vec<Back>) {
        let gone = |pos: Option<Pos>| pos.is_some_and(is_gone);
        let has_lost = back.held().into_iter().any(gone);
        back.hold = self.hold_without(back.hold, is_gone);
        let is_lowered = matches!(back.hold, Hold::Lowered(..));
        if gone(back.credit) && has_lost && is_lowered {
            back.credit = None;
            met.push(back);
        } else if gone(back.giving) || gone(back.credit) {
            let mover_goes = gone(back.mover);
            // The hold belongs to the one that moved, or to the credit that uncovered.
            if mover_goes || back.mover.is_none() {
                self.let_go(&back);
                back.hold = Hold::Nothing;
            }
            let was_credit = gone(back.credit);
            let left = if was_credit { back.giving } else { back.credit }.filter(|pos| !is_gone(*pos));
            let Some(left) = left else { return };
            (back.giving, back.credit) = if was_credit { (Some(left), None) } else { (None, Some(left)) };
            let moves = was_credit || (!mover_goes && back.hold != Hold::Nothing);
            back.mover = moves.then_some(left);
            if was_credit && is_lowered {
                met.push(back);
            } else {
                self.release_back(left, back);
            }
        } else if has_lost {
            match (back.giving, back.credit) {
                (Some(_), Some(_)) => met.push(back),
                (Some(_), None) if is_lowered => met.push(back),
                (Some(giving), None) => self.release_back(giving, back),
                (None, credit) => {
                    back.mover = None;
                    self.release_back(credit.unwrap(), back);
                }
            }
        } else {
            self.backs.push(back);
        }
    }

    /// What is left of a hold; who remains has moved the goods.
    fn hold_without(&mut self, hold: Hold, is_gone: &dyn Fn(Pos) -> bool) -> Hold {
        match hold {
            Hold::Returned { delivery, invoice, mover, since } => {
                let mut moved = |by: Pos| if mover == by { since } else { self.tick() };
                match (is_gone(delivery), is_gone(invoice)) {
                    (true, _) => Hold::Taken(invoice, moved(invoice)),
                    (_, true) => Hold::Lowered(delivery, moved(delivery)),
                    _ => hold,
                }
            }
            Hold::Lowered(pos, _) | Hold::Taken(pos, _) if is_gone(pos) => Hold::Nothing,
            Hold::Uncovered(pos) | Hold::Beyond(pos) if is_gone(pos) => Hold::Nothing,
            _ => hold,
        }
    }

    pub fn release_back(&mut self, pos: Pos, mut back: Back) {
        if back.mover.is_none() {
            back.lot = None;
        }
        self.released.entry(pos).or_default().backs.push(back);
    }

    /// Goods that were taken back are open again.
    fn let_go(&mut self, back: &Back) {
        let part = |since| Part { lot: back.lot, quantity: back.quantity, since };
        match back.hold {
            Hold::Nothing => {}
            Hold::Uncovered(..) if self.breaks(Broken::UncoveredStays) => {}
            Hold::Beyond(pos) => *self.excess.entry(pos).or_default() += back.quantity,
            Hold::Lowered(pos, since) | Hold::Taken(pos, since) => self.release_part(pos, pos, part(since)),
            Hold::Uncovered(pos) => {
                let since = self.tick();
                self.release_part(pos, pos, part(since));
            }
            Hold::Returned { delivery, invoice, mover, since } => {
                self.pairs.push(Pair { delivery, invoice, mover, part: part(since) });
            }
        }
    }

    /// One counterpart after the other matches what is open now.
    pub fn settle(&mut self) {
        let mut turns = 0;
        while let Some((pos, mut released)) = self.released.pop_first() {
            turns += 1;
            assert!(turns < 100_000, "it never settles");
            released.parts.sort_by_key(|part| part.since);
            let whole = released.parts.iter().map(|part| part.quantity).sum();
            let mut course: Course = (Some(whole), None);
            for part in released.parts {
                let rest = self.meet(pos, part.quantity, Some(part), &mut None, &mut course);
                if rest > 0 {
                    self.reopen(pos, Part { quantity: rest, ..part });
                }
            }
            let mut course = Course::default();
            for back in released.backs {
                match back.giving {
                    Some(_) => self.enter_return(back, &mut course),
                    None => self.enter_credit(back),
                }
            }
        }
    }

    /// All parts of each position: open, paired, taken back or with its counterpart.
    pub fn accounts(&self) -> Vec<(Pos, i64, i64)> {
        let sum = |pos: Pos| {
            let open = self.open.get(&pos).into_iter().flatten().map(|part| part.quantity);
            let pairs = self.pairs.iter().filter(|pair| pair.delivery == pos || pair.invoice == pos);
            let backs = self
                .backs
                .iter()
                .filter(|back| [back.giving, back.credit].contains(&Some(pos)) || back.holds(pos));
            let excess = self.excess.get(&pos).copied();
            open.chain(excess)
                .chain(pairs.map(|pair| pair.part.quantity))
                .chain(backs.map(|back| back.quantity))
                .sum()
        };
        self.positions.iter().map(|(pos, position)| (*pos, position.item.quantity.abs(), sum(*pos))).collect()
    }
}
