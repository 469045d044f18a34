//! Matching of deliveries and invoices if invoices move goods, too (D8): for an article without batches, in
//! positive quantities. `tests/stock` covers the rest.

use std::collections::BTreeMap;

use super::documents::sells;
use super::goods::{Moved, direction};
use super::{Document, Firm, Model, Row};
use crate::simulation::broken::Broken;
use crate::simulation::step::{Goods, Name, SALT};

/// A position: its document, and its index in it.
type Pos = (Name, usize);

/// A matched delivery and invoice.
#[derive(Debug, Clone)]
pub struct Pair {
    ends: [Pos; 2],
    quantity: i64,
    /// The one that moved the goods.
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

    /// What a position has met, by position.
    pub fn met(&self, of: Pos) -> BTreeMap<Pos, i64> {
        let mut met = BTreeMap::new();
        self.pairs_of(of).for_each(|pair| *met.entry(pair.other(of)).or_default() += pair.quantity);
        met
    }

    /// What a position has met, by document.
    fn met_documents(&self, of: Pos) -> BTreeMap<Name, i64> {
        let mut met = BTreeMap::new();
        self.met(of).into_iter().for_each(|((name, _), quantity)| *met.entry(name).or_default() += quantity);
        met
    }

    /// Matches open counterparts in the order of D38: one of which exactly the quantity is open, those of which nothing
    /// has been met, the others; each time the oldest. If both have moved, the movement of the older one stays.
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
        let exact = others.iter().copied().find(|other| self.open(*other) == quantity);
        others.sort_by_key(|other| (Some(*other) != exact, self.pairs_of(*other).next().is_some()));
        for other in others {
            let met = quantity.min(self.open(other));
            let mover = if has_moved { pos.min(other) } else { other };
            if met > 0 {
                self.pairs.push(Pair { ends: [pos, other], quantity: met, mover });
                quantity -= met;
            }
        }
    }

    /// Removes a document from its pairs; returns the quantities released to others.
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

    /// The counterparts of each position, and the movements of each document.
    fn facts(&self, moves_twice: bool) -> (BTreeMap<Pos, BTreeMap<Name, i64>>, BTreeMap<Name, i64>) {
        let (mut met, mut moved) = (BTreeMap::new(), BTreeMap::new());
        for pos in self.meeting() {
            let own = self.pairs_of(pos).filter(|pair| pair.mover == pos || moves_twice);
            let quantity = self.open(pos) + own.map(|pair| pair.quantity).sum::<i64>();
            let sign = if sells(self.documents[&pos.0].typ) { -1 } else { 1 };
            *moved.entry(pos.0).or_default() += sign * quantity;
            met.insert(pos, self.met_documents(pos));
        }
        (met, moved)
    }
}

impl Model {
    /// Withdraws a document from its pairs, and optionally enters another version. Adds the resulting
    /// movements to `moved`; returns the rows of the documents that follow.
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

    /// The rows of the goods receipts whose deliveries were matched with a document that became final (D21a).
    pub fn notes_of(&self, firm: usize, name: Name) -> Vec<Row> {
        let of = &self.firms[firm];
        let his = of.documents[&name].meeting().flat_map(|at| of.met_documents((name, at)).into_keys());
        his.filter_map(|delivery| self.note_row(firm, delivery)).collect()
    }

    /// Whether final invoices cover all goods of a delivery (D21a).
    pub fn is_billed(&self, firm: usize, delivery: Name) -> bool {
        let of = &self.firms[firm];
        let is_final = |name: &Name| ["abgeschlossen", "erledigt"].contains(&of.documents[name].status);
        let is_met = |at: usize| {
            let met = of.met_documents((delivery, at)).into_iter().filter(|(name, _)| is_final(name));
            met.map(|(_, quantity)| quantity).sum::<i64>() == of.quantity((delivery, at))
        };
        let document = &of.documents[&delivery];
        let items = document.items.iter().enumerate().filter(|(_, item)| item.article.is_some());
        let goods: Vec<usize> = items.map(|(at, _)| at).collect();
        document.is_live() && !goods.is_empty() && goods.into_iter().all(is_met)
    }
}
