//! The supplier's number in D8: which batch it refers to, also after a correction.

use crate::stock::model::{Broken, Lot, Model, Name, Pos, Position, Stored};
use crate::stock::notation::{Batch, Item, Named, Typ};

impl Model {
    /// PUT /chargen: corrects the data of a batch.
    pub fn correct(
        &mut self,
        batch: Batch,
        number: Option<u32>,
        day: Option<u32>,
    ) -> Result<(), &'static str> {
        let at = self.batches.iter().position(|stored| stored.name == batch).unwrap();
        let old = self.batches[at].clone();
        let has_it = |other: &Stored| {
            other.name != batch && other.partner == old.partner && number.is_some() && other.number == number
        };
        if old.number != number && self.batches.iter().any(has_it) {
            return Err("FREMDE_CHARGE_NR_BEREITS_VERGEBEN");
        }
        let stored = &mut self.batches[at];
        if (old.number, old.mhd) != (number, day) {
            stored.former.push((old.number, old.mhd));
        }
        (stored.number, stored.mhd) = (number, day);
        Ok(())
    }

    /// The batch that an item names, given the batches its document knew before.
    pub fn name(&self, pos: Pos, had: &[Batch]) -> Option<Name> {
        let Position { partner, item, .. } = self.positions[&pos];
        match item.named {
            _ if !item.tracked => None,
            Named::Charge(batch) => Some(Name::Batch(batch)),
            Named::Foreign(number, day) => {
                let found = self.numbered(pos, (number, partner, day), had);
                Some(found.map_or(Name::Number(number), Name::Batch))
            }
            Named::Inherited(_) | Named::Dated(_) | Named::Nothing => None,
        }
    }

    /// The batch a number refers to: one that the document had, one that has the number, or one that had it.
    fn numbered(&self, pos: Pos, asked: (u32, u32, Option<u32>), had: &[Batch]) -> Option<Batch> {
        let (number, partner, day) = asked;
        let agree = |one: Option<u32>, other: Option<u32>| one.is_none() || other.is_none() || one == other;
        let all = || self.batches.iter().filter(|stored| stored.partner == Some(partner));
        let has = |stored: &&Stored| stored.number == Some(number) && agree(stored.mhd, day);
        let had_it = |stored: &&Stored| {
            stored.former.iter().any(|(of, mhd)| match stored.number == Some(number) {
                _ if *of != Some(number) => false,
                true => mhd.is_some() && *mhd == day,
                false => agree(*mhd, day) || agree(stored.mhd, day),
            })
        };
        let known: Vec<Batch> = all().filter(has).map(|stored| stored.name).collect();
        let former: Vec<Batch> = all().filter(had_it).map(|stored| stored.name).collect();
        let former = if self.breaks(Broken::FormerForgotten) { Vec::new() } else { former };
        let before = known.iter().chain(&former).find(|batch| had.contains(batch));
        let takes = |batch: &&Batch| !pos.is_positive || self.meets_in(pos, Some(**batch));
        before.or(known.first()).or_else(|| former.iter().find(takes)).copied()
    }

    /// Whether an invoice may match a delivery in a batch.
    fn meets_in(&self, pos: Pos, lot: Lot) -> bool {
        let own = &self.positions[&pos];
        let fits = |other: &Pos, of: &Position| {
            let same = of.partner == own.partner && of.item.tracked && of.typ.sells() == own.typ.sells();
            let named = of.name.is_none() || of.name == lot.map(Name::Batch);
            same && of.typ.delivers() && named && self.may(pos, *other) && self.reaches(pos, *other)
        };
        let is_in = |other: &Pos| self.open[other].iter().any(|part| part.lot == lot);
        own.typ == Typ::Er
            && self.open.keys().any(|other| fits(other, &self.positions[other]) && is_in(other))
    }

    /// Whether a position may match something with this name: the same batch, if both name one.
    pub fn fits(&self, one: Pos, name: Option<Name>) -> bool {
        let Position { typ, partner, item, name: own, .. } = self.positions[&one];
        let number = match (item.named, own) {
            (Named::Foreign(number, _), _) => Some(number),
            (_, Some(Name::Batch(batch))) if !typ.sells() => {
                let of = self
                    .batches
                    .iter()
                    .find(|stored| stored.name == batch && stored.partner == Some(partner));
                of.and_then(|stored| stored.number)
            }
            _ => None,
        };
        match name {
            _ if own.is_none() => true,
            Some(Name::Number(named)) => number == Some(named),
            named => named.is_none() || named == own,
        }
    }

    /// The batch named by an item; created if it does not exist.
    pub fn batch(&mut self, pos: Pos) -> Batch {
        let Position { partner, item, name, .. } = self.positions[&pos];
        let (number, mhd) = match (item.named, name) {
            (Named::Inherited(batch), _) | (_, Some(Name::Batch(batch))) => return batch,
            (Named::Dated(day), _) => (None, Some(day)),
            (Named::Foreign(number, day), _) => (Some(number), day),
            named => panic!("no batch is named: {named:?}"),
        };
        let nth = |is_same: &dyn Fn(Batch) -> bool| {
            self.batches.iter().filter(|stored| is_same(stored.name)).count() as u32 + 1
        };
        let new = match number {
            Some(number) => {
                let same = |of: Batch| {
                    matches!(of, Batch::Foreign { number: n, partner: p, .. } if (n,
                    p) == (number, partner))
                };
                Batch::Foreign { number, partner, nth: nth(&same) }
            }
            None => {
                let same = |of: Batch| matches!(of, Batch::Dated { day, .. } if Some(day) == mhd);
                Batch::Dated { day: mhd.unwrap(), nth: nth(&same) }
            }
        };
        self.batches.push(Stored { number, mhd, partner: Some(partner), ..Stored::of(new) });
        if number.is_some() {
            self.positions.get_mut(&pos).unwrap().name = Some(Name::Batch(new));
        }
        new
    }

    /// Batches without a date take it from the items of a document whose goods are in them.
    pub fn date(&mut self, document: u32) {
        let own = self.positions.keys().filter(|pos| pos.document == document);
        let mut own: Vec<Pos> = own.copied().collect();
        own.sort_by_key(|pos| (!pos.is_positive, pos.index));
        for pos in own {
            let (Named::Dated(day) | Named::Foreign(_, Some(day))) = self.positions[&pos].item.named else {
                continue;
            };
            let lots = self.lots_of(pos);
            let of = |stored: &&mut Stored| lots.contains(&Some(stored.name));
            self.batches.iter_mut().filter(of).for_each(|stored| {
                stored.mhd.get_or_insert(day);
            });
        }
    }

    /// An item of a PUT: a charge_id that its place had before without naming a batch counts as not named.
    pub fn inherited(&self, number: u32, (index, item): (usize, Item)) -> Item {
        let before = self.documents[&number].items.get(index);
        let named_none = |before: &&Item| {
            before.tracked == item.tracked && !matches!(before.named, Named::Charge(_) | Named::Foreign(..))
        };
        let lot = before.filter(named_none).and_then(|before| {
            self.only_lot(Pos { document: number, is_positive: before.quantity > 0, index })
        });
        match item.named {
            Named::Charge(batch) if lot == Some(batch) => Item { named: Named::Inherited(batch), ..item },
            _ => item,
        }
    }

    /// The batches that a document knows: those named by its items, and those that contain all of one item.
    pub fn had(&self, number: u32) -> Vec<Batch> {
        let known = |(index, item): (usize, &Item)| match item.named {
            Named::Charge(batch) => Some(batch),
            _ => self.only_lot(Pos { document: number, is_positive: item.quantity > 0, index }),
        };
        self.documents[&number].items.iter().enumerate().filter_map(known).collect()
    }

    /// The batch that contains all of a position, if there is one.
    fn only_lot(&self, pos: Pos) -> Lot {
        let lots = self.lots_of(pos);
        let first = (*lots.first()?)?;
        lots.into_iter().all(|lot| lot == Some(first)).then_some(first)
    }

    pub fn lots_of(&self, pos: Pos) -> Vec<Lot> {
        let open = self.open.get(&pos).into_iter().flatten().map(|part| part.lot);
        let pairs = self.pairs.iter().filter(|pair| pair.delivery == pos || pair.invoice == pos);
        let backs = self
            .backs
            .iter()
            .filter(|back| [back.giving, back.credit].contains(&Some(pos)) || back.holds(pos));
        open.chain(pairs.map(|pair| pair.part.lot)).chain(backs.map(|back| back.lot)).collect()
    }

    /// Whether what takes back by name has the contract of what it names: where all that it may mean agree (D38).
    fn means_contract(&self, typ: Typ, item: &Item, number: u32) -> bool {
        let document = &self.documents[&number];
        let is_same = document.typ == typ;
        let may_mean = |of: &Item| {
            let fits = match (typ.delivers(), is_same) {
                (true, false) => true,
                (false, false) => of.quantity < 0,
                (_, true) => of.quantity > 0,
            };
            fits && of.tracked == item.tracked && !of.deduction
        };
        let lot = |(index, of): &(usize, &Item)| match of.named {
            Named::Charge(batch) => Some(batch),
            _ => self.only_lot(Pos { document: number, is_positive: of.quantity > 0, index: *index }),
        };
        let mut meant: Vec<(usize, &Item)> =
            document.items.iter().enumerate().filter(|(_, of)| may_mean(of)).collect();
        if let Named::Charge(batch) = item.named
            && meant.iter().any(|of| lot(of) == Some(batch))
        {
            meant.retain(|of| lot(of) == Some(batch));
        }
        !meant.is_empty() && meant.iter().all(|(_, of)| of.contract)
    }

    pub fn takes_contract(&self, typ: Typ, item: &Item) -> bool {
        let named = item.refers.filter(|number| item.quantity < 0 && self.live(*number).is_some());
        named.is_some_and(|number| self.means_contract(typ, item, number))
    }
}
