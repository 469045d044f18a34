//! The matching rules of D8: positions enter, are withdrawn, and their former counterparts settle.

use crate::stock::model::{Back, Broken, Hold, Lot, Model, Name, Pair, Part, Pos, Position, Stored};
use crate::stock::notation::{Batch, Named, Typ};

const NO_BATCH: &str = "CHARGE_FEHLT";

/// The whole quantity to be met, until it was looked for; and the position that is met until nothing of it is left.
pub type Course = (Option<i64>, Option<Pos>);

impl Model {
    /// Enters the positions of a document, which knew these batches before.
    pub fn enter(&mut self, number: u32, had: &[Batch]) -> Result<(), &'static str> {
        let document = self.documents[&number].clone();
        let mut positions: Vec<(Pos, Position)> = Vec::new();
        for (index, item) in document.items.iter().enumerate() {
            let takes_part = !item.deduction && item.books;
            let takes_by_itself = document.typ.sells() && self.fefo && item.quantity > 0;
            let needs_batch = document.typ.delivers() && item.tracked && item.named == Named::Nothing;
            if takes_part && needs_batch && !takes_by_itself {
                return Err(NO_BATCH);
            }
            let is_wrong = |other: u32| {
                other == number
                    || !self.can_take(document.typ, item, other)
                    || self.leads_to(other, number, item.tracked)
            };
            if item.refers.is_some_and(is_wrong) {
                return Err("BEZUG_PASST_NICHT");
            }
            if !takes_part {
                continue;
            }
            let pos = Pos { document: number, is_positive: item.quantity > 0, index };
            let position = Position { typ: document.typ, partner: document.partner, item: *item, name: None };
            positions.push((pos, position));
        }
        positions.sort_by_key(|(pos, _)| *pos);
        if self.breaks(Broken::PositiveFirst) {
            positions.sort_by_key(|(pos, _)| (!pos.is_positive, pos.index));
        }
        self.reserve(&positions);
        for (pos, position) in &positions {
            let (pos, typ, quantity) = (*pos, position.typ, position.item.quantity.abs());
            self.positions.insert(pos, position.clone());
            self.positions.get_mut(&pos).unwrap().name = self.name(pos, had);
            match (pos.is_positive, typ.delivers()) {
                (true, _) => self.enter_positive(pos, quantity)?,
                (false, true) => self.enter_new_return(pos, quantity),
                (false, false) => self.enter_credit(back(pos, false, quantity)),
            }
            if !pos.is_positive {
                self.release_waiting(pos);
            }
            self.settle();
        }
        self.date(number);
        let is_left = |pos: &Pos| self.open.contains_key(pos) || self.excess.contains_key(pos);
        let contradicts = |(pos, _): &(Pos, Position)| is_left(pos) && self.contradicts(*pos);
        if positions.iter().any(contradicts) { Err("CHARGE_WIDERSPRUCH") } else { Ok(()) }
    }

    /// Reserves the stock visible to items without a batch: the document has booked nothing yet, and stock
    /// that it names is kept.
    fn reserve(&mut self, positions: &[(Pos, Position)]) {
        self.free = self.stocks();
        for (_, position) in positions {
            if let (Named::Charge(batch), true) = (position.item.named, position.item.tracked) {
                *self.free.get_mut(&batch).unwrap() -= position.item.quantity;
            }
        }
    }

    /// Same partner, article and side of the business, and the same batch if both name one.
    fn agree(&self, one: Pos, other: Pos) -> bool {
        self.agrees(one, other, self.positions[&other].name)
    }

    /// The same for something that names this batch.
    pub fn agrees(&self, one: Pos, other: Pos, name: Option<Name>) -> bool {
        let same_name = self.breaks(Broken::NamesIgnored) || self.fits(one, name);
        let (one, other) = (&self.positions[&one], &self.positions[&other]);
        one.partner == other.partner
            && one.item.tracked == other.item.tracked
            && one.typ.sells() == other.typ.sells()
            && same_name
    }

    /// The first batch named by one of these.
    pub fn name_of(&self, positions: [Option<Pos>; 3]) -> Option<Name> {
        positions.into_iter().flatten().find_map(|pos| self.positions[&pos].name)
    }

    pub fn name_of_back(&self, back: &Back) -> Option<Name> {
        let [delivery, invoice] = back.held();
        self.name_of([back.giving, back.credit, None]).or(self.name_of([invoice, delivery, None]))
    }

    /// Open positions of one kind that agree with this one, oldest first.
    pub fn open_of(&self, of: Pos, delivers: bool) -> Vec<Pos> {
        let fits = |pos: &&Pos| self.positions[pos].typ.delivers() == delivers && self.agree(of, **pos);
        self.open.keys().filter(fits).copied().collect()
    }

    // ---- deliveries and invoices

    fn enter_positive(&mut self, pos: Pos, quantity: i64) -> Result<(), &'static str> {
        let mut lot = None;
        let rest = self.meet(pos, quantity, None, &mut lot, &mut (Some(quantity), None));
        if rest > 0 && !self.positions[&pos].typ.delivers() && self.named_by(pos).is_some() {
            self.excess.insert(pos, rest);
            return Ok(());
        }
        if let (Some(lot), true) = (lot, rest > 0) {
            let since = self.tick();
            self.open.entry(pos).or_default().push(Part { lot, quantity: rest, since });
            return Ok(());
        }
        for (lot, quantity) in self.lots(pos, rest)? {
            let since = self.tick();
            self.open.entry(pos).or_default().push(Part { lot, quantity, since });
        }
        Ok(())
    }

    /// How much a position says about its batch: most if it names one, less if it is a supplier's delivery,
    /// least if its movement was assumed.
    fn says(&self, pos: Pos) -> u32 {
        let position = &self.positions[&pos];
        match position.name {
            _ if !position.item.tracked || self.breaks(Broken::FirstSays) => 0,
            Some(_) => 2,
            None => u32::from(position.typ == Typ::El),
        }
    }

    /// Whether a document referenced by the position has an open part in another batch than the position names.
    fn contradicts(&self, pos: Pos) -> bool {
        let position = &self.positions[&pos];
        let is_other = |other: &Pos| {
            let of = &self.positions[other];
            Some(other.document) == self.named_by(pos)
                && of.typ.delivers() != position.typ.delivers()
                && of.item.tracked == position.item.tracked
                && of.name.is_some()
                && !self.fits(pos, of.name)
        };
        self.open.keys().any(is_other)
    }

    /// Matches open counterparts, oldest first; returns the remainder. `own`: the part already moved. `lot`:
    /// where it moves to, once that was needed.
    pub fn meet(
        &mut self,
        pos: Pos,
        mut quantity: i64,
        own: Option<Part>,
        lot: &mut Option<Lot>,
        (whole, chosen): &mut Course,
    ) -> i64 {
        let delivers = self.positions[&pos].typ.delivers();
        let mut others = self.open_of(pos, !delivers);
        others.retain(|other| self.may(pos, *other) && self.reaches(pos, *other));
        if self.breaks(Broken::NewestFirst) {
            others.reverse();
        }
        *lot = lot.or(own.map(|own| own.lot));
        let named = self.named_by(pos).is_some();
        while quantity > 0 {
            if others.is_empty() {
                others.extend(self.release(pos, quantity));
            }
            if others.is_empty() {
                break;
            }
            // One is met until nothing of it is left.
            *chosen = chosen.filter(|chosen| others.contains(chosen) && !named);
            let exact = whole.take_if(|_| chosen.is_none() && !named);
            let exact = others.iter().copied().find(|other| Some(self.whole(*other)) == exact);
            let in_order = || if named { Some(others[0]) } else { self.first_of(&others) };
            let Some(first) = chosen.or(exact).or_else(in_order) else { break };
            *chosen = Some(first);
            let (other, at) = self.next_of(pos, first, &others, *lot);
            let mut parts = self.open.remove(&other).unwrap();
            let part = parts[at];
            let met = quantity.min(part.quantity);
            quantity -= met;
            parts[at].quantity -= met;
            self.put_back(other, parts);
            others.retain(|other| self.open.contains_key(other));
            let (mover, kept) = self.kept((pos, own, lot), (other, part));
            let (delivery, invoice) = if delivers { (pos, other) } else { (other, pos) };
            let part = Part { quantity: met, ..kept };
            self.pairs.push(Pair { delivery, invoice, mover, part });
        }
        quantity
    }

    /// Which side of a match moves the goods, and where: in the batch of the side that says more about it. If
    /// that makes no difference, the side that has moved, the older one if both have.
    fn kept(
        &mut self,
        (pos, own, lot): (Pos, Option<Part>, &mut Option<Lot>),
        (other, part): (Pos, Part),
    ) -> (Pos, Part) {
        let elder = own.filter(|_| (pos < other) != self.breaks(Broken::ElderReversed));
        let elder = elder.map_or((other, part), |own| (pos, own));
        let (more, less) = (self.says(pos) > self.says(other), self.says(pos) < self.says(other));
        if more && lot.is_none() {
            *lot = Some(Some(self.batch(pos)));
        }
        match (*lot, own) {
            (Some(lot), _) if lot == part.lot => elder,
            (Some(_), Some(own)) if more => (pos, own),
            (Some(lot), None) if more => (pos, Part { lot, since: self.tick(), ..part }),
            _ if less => (other, part),
            _ => elder,
        }
    }

    /// Puts the remaining parts back as open.
    pub fn put_back(&mut self, pos: Pos, parts: Vec<Part>) {
        let parts: Vec<Part> = parts.into_iter().filter(|part| part.quantity > 0).collect();
        if !parts.is_empty() {
            self.open.insert(pos, parts);
        }
    }

    /// The batches that the remainder of a position goes into or comes out of.
    fn lots(&mut self, pos: Pos, quantity: i64) -> Result<Vec<(Lot, i64)>, &'static str> {
        if quantity == 0 {
            return Ok(Vec::new());
        }
        let position = self.positions[&pos].clone();
        match position.item.named {
            _ if !position.item.tracked => Ok(vec![(None, quantity)]),
            Named::Nothing if position.typ.sells() && self.fefo => Ok(self.by_date(quantity)),
            Named::Nothing => Err(NO_BATCH),
            _ => Ok(vec![(Some(self.batch(pos)), quantity)]),
        }
    }

    /// All batches, in the order in which they should be used.
    fn by_age(&self) -> Vec<Batch> {
        let mut batches: Vec<&Stored> = self.batches.iter().collect();
        batches.sort_by_key(|stored| (stored.mhd.is_none(), stored.mhd));
        batches.into_iter().map(|stored| stored.name).collect()
    }

    fn by_date(&mut self, quantity: i64) -> Vec<(Lot, i64)> {
        let batches = self.by_age();
        let mut rest = quantity;
        let mut taken: Vec<(Batch, i64)> = Vec::new();
        for batch in &batches {
            let some = rest.min(self.free[batch]);
            if some > 0 {
                taken.push((*batch, some));
                rest -= some;
            }
        }
        // The opening batches always exist.
        match taken.last_mut() {
            Some((_, quantity)) => *quantity += rest,
            None => taken.push((batches[batches.len() - 1], rest)),
        }
        for (batch, quantity) in &taken {
            *self.free.get_mut(batch).unwrap() -= quantity;
        }
        taken.into_iter().map(|(batch, quantity)| (Some(batch), quantity)).collect()
    }
}

/// A return or a credit without any effect yet.
pub fn back(pos: Pos, gives: bool, quantity: i64) -> Back {
    let (giving, credit) = if gives { (Some(pos), None) } else { (None, Some(pos)) };
    Back { giving, credit, mover: None, lot: None, quantity, hold: Hold::Nothing }
}
