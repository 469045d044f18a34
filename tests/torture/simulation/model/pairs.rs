//! What deliveries and invoices do to each other where invoices move goods, too (D8): of an article without batches, in
//! positive quantities. `tests/stock` tells the rest.

use std::collections::BTreeMap;

use super::documents::sells;
use super::goods::{Moved, direction};
use super::{Document, Firm, Model, Row};
use crate::simulation::broken::Broken;
use crate::simulation::step::{Goods, Name, SALT};

/// A position: its document, and its place in it.
type Pos = (Name, usize);

/// A delivery and an invoice that met.
#[derive(Debug, Clone)]
pub struct Pair {
    ends: [Pos; 2],
    quantity: i64,
    /// Which of the two moved.
    mover: Pos,
}

impl Pair {
    fn other(&self, of: Pos) -> Pos {
        if self.ends[0] == of { self.ends[1] } else { self.ends[0] }
    }
}

impl Document {
    fn meeting(&self) -> impl Iterator<Item = usize> {
        let is_live = self.is_live();
        let items = self.items.iter().enumerate();
        items.filter(move |(_, item)| is_live && item.goods == Goods::Meets).map(|(at, _)| at)
    }
}

impl Firm {
    fn meeting(&self) -> Vec<Pos> {
        let documents = self.documents.iter();
        documents.flat_map(|(name, document)| document.meeting().map(move |at| (*name, at))).collect()
    }

    fn pairs_of(&self, of: Pos) -> impl Iterator<Item = &Pair> {
        self.pairs.iter().filter(move |pair| pair.ends.contains(&of))
    }

    fn quantity(&self, of: Pos) -> i64 {
        self.documents[&of.0].items[of.1].quantity
    }

    fn open(&self, of: Pos) -> i64 {
        self.quantity(of) - self.pairs_of(of).map(|pair| pair.quantity).sum::<i64>()
    }

    /// What each position has met of which document.
    pub fn met(&self, of: Pos) -> BTreeMap<Name, i64> {
        let mut met = BTreeMap::new();
        self.pairs_of(of).for_each(|pair| *met.entry(pair.other(of).0).or_default() += pair.quantity);
        met
    }

    /// Meets open counterparts, the oldest first. Of two that have moved the elder one's movement stays.
    fn meet(&mut self, pos: Pos, mut quantity: i64, has_moved: bool, newest_first: bool) {
        let own = &self.documents[&pos.0];
        let (partner, typ) = (own.partner, own.typ);
        let mut others = self.meeting();
        others.retain(|(name, _)| {
            let of = &self.documents[name];
            let is_counterpart = (direction(of.typ) == 0) != (direction(typ) == 0);
            of.partner == partner && sells(of.typ) == sells(typ) && is_counterpart
        });
        if newest_first {
            others.reverse();
        }
        for other in others {
            let met = quantity.min(self.open(other));
            let mover = if has_moved { pos.min(other) } else { other };
            if met > 0 {
                self.pairs.push(Pair { ends: [pos, other], quantity: met, mover });
                quantity -= met;
            }
        }
    }

    /// Takes a document out of its pairs; what that gives back to others.
    fn withdraw(&mut self, name: Name) -> BTreeMap<Pos, i64> {
        let is_his = |pair: &Pair| pair.ends.iter().any(|end| end.0 == name);
        let (gone, kept) = std::mem::take(&mut self.pairs).into_iter().partition::<Vec<_>, _>(is_his);
        self.pairs = kept;
        let mut released = BTreeMap::new();
        for pair in gone {
            let other = pair.ends.into_iter().find(|end| end.0 != name).expect("two documents");
            *released.entry(other).or_default() += pair.quantity;
        }
        released
    }

    /// What each position has met, and what each document has moved.
    fn facts(&self, moves_twice: bool) -> (BTreeMap<Pos, BTreeMap<Name, i64>>, BTreeMap<Name, i64>) {
        let (mut met, mut moved) = (BTreeMap::new(), BTreeMap::new());
        for pos in self.meeting() {
            let own = self.pairs_of(pos).filter(|pair| pair.mover == pos || moves_twice);
            let quantity = self.open(pos) + own.map(|pair| pair.quantity).sum::<i64>();
            let sign = if sells(self.documents[&pos.0].typ) { -1 } else { 1 };
            *moved.entry(pos.0).or_default() += sign * quantity;
            met.insert(pos, self.met(pos));
        }
        (met, moved)
    }
}

impl Model {
    /// Withdraws a document from what it has met, and puts another in its place, or none. What that moved comes to what
    /// was moved otherwise; the rows of those that follow.
    pub fn meet_anew(
        &mut self,
        firm: usize,
        name: Name,
        new: Option<Document>,
        moved: &mut Moved,
    ) -> Vec<Row> {
        let (newest_first, twice) = (self.breaks(Broken::NewestMet), self.breaks(Broken::MovesTwice));
        let of = &mut self.firms[firm];
        let (met_before, moved_before) = of.facts(twice);
        let released = of.withdraw(name);
        if let Some(document) = of.documents.get_mut(&name) {
            document.status = "storniert";
        }
        released.into_iter().for_each(|(pos, quantity)| of.meet(pos, quantity, true, newest_first));
        if let Some(document) = new {
            let meeting: Vec<Pos> = document.meeting().map(|at| (name, at)).collect();
            of.documents.insert(name, document);
            meeting.into_iter().for_each(|pos| of.meet(pos, of.quantity(pos), false, newest_first));
        }
        let (met, after) = of.facts(twice);
        let mut difference = after;
        moved_before.iter().for_each(|(name, sum)| *difference.entry(*name).or_default() -= sum);
        for (document, sum) in difference.into_iter().filter(|(_, sum)| *sum != 0) {
            *of.stocks.entry(SALT).or_default() += sum;
            moved.entry(document).or_default().insert((SALT, None), sum);
        }
        let follows = |(pos, met): (&Pos, &BTreeMap<Name, i64>)| {
            (pos.0 != name && met_before.get(pos) != Some(met)).then_some(pos.0)
        };
        let mut followers: Vec<Name> = met.iter().filter_map(follows).collect();
        followers.dedup();
        if self.breaks(Broken::NobodyFollows) {
            followers.clear();
        }
        let rows = followers.into_iter().map(|follower| {
            let notes = self.note_row(firm, follower);
            [Some(self.turned(firm, follower)), notes]
        });
        rows.flatten().flatten().collect()
    }

    /// The rows of the goods-receipt notes whose deliveries have met a document that has become final (D21a).
    pub fn notes_of(&self, firm: usize, name: Name) -> Vec<Row> {
        let of = &self.firms[firm];
        let his = of.documents[&name].meeting().flat_map(|at| of.met((name, at)).into_keys());
        his.filter_map(|delivery| self.note_row(firm, delivery)).collect()
    }

    /// Whether final invoices have met all goods of a delivery (D21a).
    pub fn is_billed(&self, firm: usize, delivery: Name) -> bool {
        let of = &self.firms[firm];
        let is_final = |name: &Name| ["abgeschlossen", "erledigt"].contains(&of.documents[name].status);
        let is_met = |at: usize| {
            let met = of.met((delivery, at)).into_iter().filter(|(name, _)| is_final(name));
            met.map(|(_, quantity)| quantity).sum::<i64>() == of.quantity((delivery, at))
        };
        let document = &of.documents[&delivery];
        let items = document.items.iter().enumerate().filter(|(_, item)| item.article.is_some());
        let goods: Vec<usize> = items.map(|(at, _)| at).collect();
        document.is_live() && !goods.is_empty() && goods.into_iter().all(is_met)
    }
}
