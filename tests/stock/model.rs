//! D8 as a model: a few plain maps about documents, and what follows from them. Movements are never stored:
//! they are the sum over what is open, paired and taken back. `pairing` and `back` have the
//! matching rules, `facts` what is compared beside movements.

use std::collections::BTreeMap;

use crate::stock::notation::{Batch, Item, Named, Op, Typ};

/// The place of goods: a batch, or none (article without batches).
pub type Lot = Option<Batch>;

/// A position. The order is that of creation; within a document negative quantities come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pos {
    pub document: u32,
    pub is_positive: bool,
    pub index: usize,
}

/// A live position that takes part in matching.
#[derive(Debug, Clone)]
pub struct Position {
    pub typ: Typ,
    pub partner: u32,
    pub item: Item,
    /// The batch named by the request, or the supplier's number if no batch has it.
    pub name: Option<Name>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Name {
    Batch(Batch),
    Number(u32),
}

/// A part of a position that it moved itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    pub lot: Lot,
    pub quantity: i64,
    /// The time of its movement.
    pub since: u64,
}

/// A delivery and an invoice that were matched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    pub delivery: Pos,
    pub invoice: Pos,
    /// The one that moved the goods.
    pub mover: Pos,
    pub part: Part,
}

/// The effect of a return or a credit, or of both matched together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Back {
    pub giving: Option<Pos>,
    pub credit: Option<Pos>,
    /// The one that moved the goods, if any.
    pub mover: Option<Pos>,
    pub lot: Lot,
    pub quantity: i64,
    pub hold: Hold,
}

impl Back {
    /// The delivery and the invoice of which it holds a part.
    pub fn held(&self) -> [Option<Pos>; 2] {
        match self.hold {
            Hold::Lowered(pos, _) => [Some(pos), None],
            Hold::Taken(pos, _) | Hold::Uncovered(pos) | Hold::Beyond(pos) => [None, Some(pos)],
            Hold::Returned { delivery, invoice, .. } => [Some(delivery), Some(invoice)],
            Hold::Nothing => [None, None],
        }
    }

    pub fn holds(&self, pos: Pos) -> bool {
        self.held().contains(&Some(pos))
    }

    /// Whether it holds a part of a document.
    pub fn holds_of(&self, number: u32) -> bool {
        self.held().into_iter().flatten().any(|pos| pos.document == number)
    }
}

/// What it holds of a position with a positive quantity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hold {
    Nothing,
    /// By a return: an open part of a delivery.
    Lowered(Pos, u64),
    /// By a movement: an open part that an invoice had moved.
    Taken(Pos, u64),
    /// By a credit: a part of an invoice covered by a delivery.
    Uncovered(Pos),
    /// By a credit: what an invoice says beyond the delivery that it names.
    Beyond(Pos),
    /// By a return: a part that a delivery and an invoice share, and who moved it.
    Returned {
        delivery: Pos,
        invoice: Pos,
        mover: Pos,
        since: u64,
    },
}

/// A part that a withdrawal releases to a position, until its turn comes.
#[derive(Debug, Clone, Default)]
pub struct Released {
    pub parts: Vec<Part>,
    pub backs: Vec<Back>,
}

#[derive(Debug, Clone)]
pub struct Document {
    pub typ: Typ,
    pub partner: u32,
    pub items: Vec<Item>,
    pub is_final: bool,
    pub is_live: bool,
    /// No counterpart is expected any more.
    pub is_closed: bool,
    /// Dated years back.
    pub is_old: bool,
}

#[derive(Debug, Clone)]
pub struct Stored {
    pub name: Batch,
    pub opening: i64,
    pub mhd: Option<u32>,
    /// The supplier who gave it a number.
    pub partner: Option<u32>,
    pub number: Option<u32>,
    /// Its numbers and dates before corrections.
    pub former: Vec<(Option<u32>, Option<u32>)>,
}

/// A rule of D8 that a broken model does not follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Broken {
    /// Within one document positive quantities come first.
    PositiveFirst,
    /// The newest open counterpart is matched first.
    NewestFirst,
    /// What has been met in part comes before what is untouched.
    TouchedAlike,
    /// What is named waits for what was proposed.
    NameWaits,
    /// A return takes back nothing of what a delivery and an invoice share.
    InvoicedStays,
    /// A credit never moves back what an invoice moved itself.
    CreditNeverMoves,
    /// A return moves although a credit has moved for it.
    ReturnMovesAgain,
    /// If both have moved, the movement of the older one is reversed.
    ElderReversed,
    /// A PUT of notes withdraws the document and writes it again.
    NoteRewrites,
    /// Positions match regardless of the batches they name.
    NamesIgnored,
    /// An invoice that loses a credit stays uncovered.
    UncoveredStays,
    /// The first movement determines the batch of a pair, whoever names one.
    FirstSays,
    /// Closed documents, and those from years ago, are matched like others.
    AllReached,
    /// Corrected numbers are forgotten.
    FormerForgotten,
    /// A credit leaves what its invoice says beyond the delivery.
    ExcessStays,
}

/// What each document moved, by article (tracked or not) and batch.
pub type Moved = BTreeMap<(u32, bool, Lot), i64>;

/// Open and matched quantities: the positions of delivery, invoice, return and credit, the batch, and who
/// moved the goods out of (into) it and back.
pub type Facts = BTreeMap<([Option<(u32, usize)>; 4], Lot, [Option<&'static str>; 2]), i64>;

/// What an operation moved, or the code of its refusal.
pub type Outcome = Result<Moved, String>;

pub const OPENING: [u32; 3] = [0, 1, 2];
pub const OPENING_STOCK: i64 = 100;

#[derive(Debug, Clone)]
pub struct Model {
    pub broken: Option<Broken>,
    pub fefo: bool,
    pub deliveries_only: bool,
    pub old: bool,
    pub batches: Vec<Stored>,
    pub documents: BTreeMap<u32, Document>,
    pub positions: BTreeMap<Pos, Position>,
    pub open: BTreeMap<Pos, Vec<Part>>,
    pub pairs: Vec<Pair>,
    /// What invoices say beyond the deliveries that they name.
    pub excess: BTreeMap<Pos, i64>,
    pub backs: Vec<Back>,
    pub released: BTreeMap<Pos, Released>,
    pub clock: u64,
    /// Stock that the items of the document being written may take automatically.
    pub free: BTreeMap<Batch, i64>,
}

impl Model {
    pub fn new() -> Model {
        let opening = |number| Stored { opening: OPENING_STOCK, ..Stored::of(Batch::Opening(number)) };
        Model {
            broken: None,
            fefo: false,
            deliveries_only: false,
            old: false,
            batches: OPENING.into_iter().map(opening).collect(),
            documents: BTreeMap::new(),
            positions: BTreeMap::new(),
            open: BTreeMap::new(),
            pairs: Vec::new(),
            excess: BTreeMap::new(),
            backs: Vec::new(),
            released: BTreeMap::new(),
            clock: 0,
            free: BTreeMap::new(),
        }
    }

    pub fn breaks(&self, rule: Broken) -> bool {
        self.broken == Some(rule)
    }

    /// Whether the story can continue with this operation: everything it names exists.
    pub fn allows(&self, op: &Op) -> bool {
        let can_change = |number: &u32| self.live(*number).is_some_and(|document| !document.is_final);
        match op {
            Op::Post { number, typ, partner, items } => {
                !self.documents.contains_key(number) && self.can_name(*typ, *partner, items)
            }
            Op::Put { number, items } => {
                can_change(number) && {
                    let document = &self.documents[number];
                    self.can_name(document.typ, document.partner, items)
                }
            }
            Op::Partner { number, .. } | Op::Note(number) | Op::Finish(number) => can_change(number),
            Op::Close(number) => self.live(*number).is_some_and(|document| document.is_final),
            Op::Cancel(number) => self.live(*number).is_some(),
            Op::Correct { batch, .. } => {
                !matches!(batch, Batch::Opening(_)) && self.batches.iter().any(|stored| stored.name == *batch)
            }
            Op::Fefo(_) | Op::DeliveriesOnly(_) | Op::Old(_) => true,
        }
    }

    pub fn live(&self, number: u32) -> Option<&Document> {
        self.documents.get(&number).filter(|document| document.is_live)
    }

    fn can_name(&self, typ: Typ, partner: u32, items: &[Item]) -> bool {
        let known = |batch: Batch| self.batches.iter().any(|stored| stored.name == batch);
        items.iter().all(|item| {
            let fits = |other: &Document| other.typ.sells() == typ.sells() && other.partner == partner;
            let batch =
                !matches!(item.named, Named::Charge(batch) | Named::Inherited(batch) if !known(batch));
            batch && item.refers.is_none_or(|number| self.live(number).is_some_and(fits))
        })
    }

    /// Carries out an allowed operation; a refusal changes nothing.
    pub fn play(&mut self, op: &Op) -> Outcome {
        let before = self.clone();
        match self.carry_out(op) {
            Ok(()) => Ok(difference(&before.moved(), &self.moved())),
            Err(code) => {
                *self = before;
                Err(code.to_owned())
            }
        }
    }

    fn carry_out(&mut self, op: &Op) -> Result<(), &'static str> {
        match op {
            Op::Post { number, typ, partner, items } => {
                let items = self.as_written(*typ, items);
                let (typ, partner, is_old) = (*typ, *partner, self.old);
                let (is_final, is_live, is_closed) = (false, true, false);
                let document = Document { typ, partner, items, is_final, is_live, is_closed, is_old };
                let (moved, stocks) = (self.moved(), self.stocks());
                self.documents.insert(*number, document);
                self.enter(*number, &[])?;
                self.refuse_used(&moved, &stocks, Some(*number))
            }
            Op::Put { number, items } => self.rewrite(*number, |model, document| {
                let items = model.as_written(document.typ, items);
                document.items =
                    items.into_iter().enumerate().map(|at| model.inherited(*number, at)).collect();
            }),
            Op::Partner { number, partner } if self.documents[number].partner != *partner => {
                self.rewrite(*number, |_, document| {
                    document.partner = *partner;
                    // The inherited references belonged to the old partner.
                    for item in &mut document.items {
                        item.refers = None;
                        if let Named::Inherited(_) = item.named {
                            item.named = Named::Nothing;
                        }
                    }
                })
            }
            Op::Note(number) if self.breaks(Broken::NoteRewrites) => self.rewrite(*number, |_, _| {}),
            Op::Partner { .. } | Op::Note(_) => Ok(()),
            Op::Finish(number) => {
                self.document(*number).is_final = true;
                Ok(())
            }
            Op::Cancel(number) if self.is_credited(*number) => Err("BELEG_NICHT_STORNIERBAR"),
            Op::Cancel(number) => self.rewrite(*number, |_, document| document.is_live = false),
            Op::Close(number) => {
                self.document(*number).is_closed = true;
                Ok(())
            }
            Op::Old(on) => {
                self.old = *on;
                Ok(())
            }
            Op::Correct { batch, number, day } => self.correct(*batch, *number, *day),
            Op::Fefo(on) => {
                self.fefo = *on;
                Ok(())
            }
            Op::DeliveriesOnly(on) => {
                self.deliveries_only = *on;
                Ok(())
            }
        }
    }

    fn document(&mut self, number: u32) -> &mut Document {
        self.documents.get_mut(&number).unwrap()
    }

    /// Items with the effect of the current settings.
    fn as_written(&self, typ: Typ, items: &[Item]) -> Vec<Item> {
        let books = |item: &Item| typ.delivers() || (item.books && !self.deliveries_only);
        let named = |item: &Item| match item.named {
            Named::Inherited(batch) => Named::Charge(batch),
            named => named,
        };
        let written = |item: &Item| {
            let item = Item { books: books(item), named: named(item), ..*item };
            Item { contract: item.contract || self.takes_contract(typ, &item), ..item }
        };
        items.iter().map(written).collect()
    }

    /// Withdraws a document, settles its former counterparts, and writes it again.
    fn rewrite(
        &mut self,
        number: u32,
        change: impl FnOnce(&Model, &mut Document),
    ) -> Result<(), &'static str> {
        let (moved, stocks) = (self.moved(), self.stocks());
        let had = self.had(number);
        let mut document = self.documents[&number].clone();
        change(self, &mut document);
        self.withdraw(number);
        self.documents.insert(number, document);
        self.settle();
        if self.documents[&number].is_live {
            self.enter(number, &had)?;
        }
        self.refuse_used(&moved, &stocks, None)
    }

    /// Refuses if a batch would fall below 0 because a receipt leaves it: for a new document only the
    /// receipts of others count.
    fn refuse_used(
        &self,
        moved: &Moved,
        stocks: &BTreeMap<Batch, i64>,
        new: Option<u32>,
    ) -> Result<(), &'static str> {
        let mut received: BTreeMap<Batch, i64> = BTreeMap::new();
        for ((number, _, lot), sum) in difference(moved, &self.moved()) {
            let is_receipt = !self.documents[&number].typ.sells() && Some(number) != new;
            if let (Some(batch), true) = (lot, is_receipt) {
                *received.entry(batch).or_default() += sum;
            }
        }
        let is_used = |(batch, stock): (Batch, i64)| {
            let falls = stock < stocks.get(&batch).copied().unwrap_or(0);
            stock < 0 && falls && received.get(&batch).is_some_and(|sum| *sum < 0)
        };
        if self.stocks().into_iter().any(is_used) { Err("CHARGE_BEREITS_VERWENDET") } else { Ok(()) }
    }

    /// The sign of a movement by a position with a positive quantity.
    fn direction(&self, pos: Pos) -> i64 {
        if self.positions[&pos].typ.sells() == pos.is_positive { -1 } else { 1 }
    }

    /// Everything that live documents have moved.
    pub fn moved(&self) -> Moved {
        let mut sums = Moved::new();
        let mut add = |pos: Pos, lot: Lot, quantity: i64| {
            let key = (pos.document, self.positions[&pos].item.tracked, lot);
            *sums.entry(key).or_default() += quantity * self.direction(pos);
        };
        for (pos, parts) in &self.open {
            parts.iter().for_each(|part| add(*pos, part.lot, part.quantity));
        }
        for pair in &self.pairs {
            add(pair.mover, pair.part.lot, pair.part.quantity);
        }
        for back in &self.backs {
            if let Some(mover) = back.mover {
                add(mover, back.lot, back.quantity);
            }
            match back.hold {
                Hold::Lowered(pos, _) | Hold::Taken(pos, _) | Hold::Returned { mover: pos, .. } => {
                    add(pos, back.lot, back.quantity);
                }
                Hold::Uncovered(_) | Hold::Beyond(_) | Hold::Nothing => {}
            }
        }
        sums.retain(|_, sum| *sum != 0);
        sums
    }

    /// The stock of every batch.
    pub fn stocks(&self) -> BTreeMap<Batch, i64> {
        let mut stocks: BTreeMap<Batch, i64> =
            self.batches.iter().map(|stored| (stored.name, stored.opening)).collect();
        for ((_, _, lot), sum) in self.moved() {
            if let Some(batch) = lot {
                *stocks.get_mut(&batch).unwrap() += sum;
            }
        }
        stocks
    }
}

impl Stored {
    pub fn of(name: Batch) -> Stored {
        let (mhd, partner, number, former) = (None, None, None, Vec::new());
        Stored { name, opening: 0, mhd, partner, number, former }
    }
}

/// The difference between two states.
fn difference(before: &Moved, after: &Moved) -> Moved {
    let mut difference = after.clone();
    for (key, sum) in before {
        *difference.entry(*key).or_default() -= sum;
    }
    difference.retain(|_, sum| *sum != 0);
    difference
}
