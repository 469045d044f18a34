//! Writes random stories, and minimises those that show a difference.

use crate::dice::Dice;
use crate::stock::model::{Model, OPENING};
use crate::stock::notation::{self, Batch, Item, Named, Op, Typ};

/// Number of live documents: enough to match one another, few enough to be matched.
const CROWD: usize = 24;

/// Writes a story with this many steps, followed by the cancellation of all documents in any order.
pub fn write(seed: u64, steps: usize) -> Vec<Op> {
    let mut writer = Writer { dice: Dice::new(seed), model: Model::new(), next: 1, story: Vec::new() };
    while writer.story.len() < steps {
        let op = writer.op();
        writer.play(op);
    }
    writer.cancel_all();
    writer.story
}

/// A partner with whom nobody else trades.
const HELPER: u32 = 3;

struct Writer {
    dice: Dice,
    model: Model,
    next: u32,
    story: Vec<Op>,
}

impl Writer {
    fn play(&mut self, op: Op) {
        if self.model.allows(&op) {
            let _ = self.model.play(&op);
            self.story.push(op);
        }
    }

    /// Cancels all documents in any order. If each of them would leave a batch short that others need,
    /// temporarily receives more of it.
    fn cancel_all(&mut self) {
        while self.cancel_some() {}
        if self.live().is_empty() {
            return;
        }
        let item = |batch| Item { quantity: 1_000, named: Named::Charge(batch), ..notation::item("0") };
        let items: Vec<Item> = self.received().into_iter().map(item).collect();
        self.play(Op::Post { number: self.next, typ: Typ::El, partner: HELPER, items });
        self.next += 1;
        while self.cancel_some() {}
        assert_eq!(self.live(), [0; 0], "not all can be cancelled");
    }

    /// Tries to cancel each document, the helper's last.
    fn cancel_some(&mut self) -> bool {
        let before = self.live();
        let mut left = before.clone();
        while !left.is_empty() {
            let helps = |number: u32, model: &Model| model.documents[&number].partner == HELPER;
            let at = match self.dice.below(left.len()) {
                at if left.len() > 1 && helps(left[at], &self.model) => (at + 1) % left.len(),
                at => at,
            };
            self.play(Op::Cancel(left.remove(at)));
        }
        self.live().len() < before.len()
    }

    /// The batches created by documents.
    fn received(&self) -> Vec<Batch> {
        let batches = self.model.batches.iter().map(|stored| stored.name);
        batches.filter(|batch| !matches!(batch, Batch::Opening(_))).collect()
    }

    fn live(&self) -> Vec<u32> {
        let live = self.model.documents.iter().filter(|(_, document)| document.is_live);
        live.map(|(number, _)| *number).collect()
    }

    fn pick_live(&mut self, fits: impl Fn(u32) -> bool) -> Option<u32> {
        let fitting: Vec<u32> = self.live().into_iter().filter(|number| fits(*number)).collect();
        self.dice.pick(&fitting)
    }

    fn pick_final(&mut self) -> Option<u32> {
        let is_final = |number: &u32| self.model.documents[number].is_final;
        let finals: Vec<u32> = self.live().into_iter().filter(is_final).collect();
        self.dice.pick(&finals)
    }

    fn pick_open(&mut self) -> Option<u32> {
        let open: Vec<u32> =
            self.live().into_iter().filter(|number| !self.model.documents[number].is_final).collect();
        self.dice.pick(&open)
    }

    fn op(&mut self) -> Op {
        if self.model.deliveries_only && self.dice.once_in(8) {
            return Op::DeliveriesOnly(false);
        }
        if let (true, Some(batch)) = (self.dice.once_in(16), self.dice.pick(&self.received())) {
            let mut some = |of: usize, least: usize| match self.dice.below(of) {
                at if at < least => None,
                at => Some((at - least + 1) as u32),
            };
            return Op::Correct { batch, number: some(6, 1), day: some(6, 4) };
        }
        let crowded = self.live().len() > CROWD;
        let chosen = match self.dice.below(100) {
            0..45 if !crowded => None,
            45..50 => self.pick_live(|number| number % 2 == 0).map(Op::Cancel),
            0..64 => self.pick_live(|_| true).map(Op::Cancel),
            64..80 => self.pick_open().map(|number| self.put(number)),
            80..84 => self.pick_open().map(Op::Note),
            84..88 => {
                let partner = 1 + self.dice.below(2) as u32;
                self.pick_open().map(|number| Op::Partner { number, partner })
            }
            88..93 => self.pick_open().map(Op::Finish),
            93 => Some(Op::Old(!self.model.old)),
            94 => self.pick_final().map(Op::Close),
            95..98 => Some(Op::Fefo(!self.model.fefo)),
            98 if !self.model.deliveries_only => Some(Op::DeliveriesOnly(true)),
            _ => None,
        };
        chosen.unwrap_or_else(|| self.post())
    }

    fn post(&mut self) -> Op {
        let typ = self.dice.pick(&[Typ::Ls, Typ::Re, Typ::Ls, Typ::Re, Typ::El, Typ::Er]).unwrap();
        let partner = 1 + u32::from(self.dice.once_in(4));
        self.next += 1;
        Op::Post { number: self.next - 1, typ, partner, items: self.items(typ, partner, None) }
    }

    /// New items, the same ones, or the same with other quantities.
    fn put(&mut self, number: u32) -> Op {
        let document = self.model.documents[&number].clone();
        let items = match self.dice.below(4) {
            0 => document.items,
            1 => document
                .items
                .into_iter()
                .map(|item| Item {
                    quantity: item.quantity.signum() * (1 + self.dice.below(12) as i64),
                    ..item
                })
                .collect(),
            _ => self.items(document.typ, document.partner, Some(number)),
        };
        Op::Put { number, items }
    }

    fn items(&mut self, typ: Typ, partner: u32, own: Option<u32>) -> Vec<Item> {
        let count = 1 + self.dice.below(3);
        (0..count).map(|_| self.item(typ, partner, own)).collect()
    }

    fn item(&mut self, typ: Typ, partner: u32, own: Option<u32>) -> Item {
        let sign = if self.dice.below(10) < 3 { -1 } else { 1 };
        let tracked = self.dice.below(3) > 0;
        let mut item = Item {
            quantity: sign * (1 + self.dice.below(12) as i64),
            tracked,
            named: if tracked { self.named(typ, sign) } else { Named::Nothing },
            refers: None,
            books: typ.delivers() || !self.dice.once_in(20),
            deduction: self.dice.once_in(20),
            contract: typ.sells() && self.dice.once_in(3),
        };
        if self.dice.once_in(5) {
            item.refers = self.other(typ, partner, &item, own);
        }
        item
    }

    fn named(&mut self, typ: Typ, sign: i64) -> Named {
        let mut received = self.received();
        received.retain(|batch| matches!(batch, Batch::Foreign { .. }));
        let may_be_silent = !typ.delivers() || (typ == Typ::Ls && self.model.fefo && sign > 0);
        if may_be_silent && self.dice.below(5) < 2 {
            return Named::Nothing;
        }
        let day = if self.dice.once_in(4) { Some(1 + self.dice.below(2) as u32) } else { None };
        let foreign = Named::Foreign(1 + self.dice.below(3) as u32, day);
        match self.dice.below(8) {
            0 | 1 => self.dice.pick(&received).map_or(foreign, Named::Charge),
            2 if sign > 0 => Named::Dated(self.story.len() as u32 + 1),
            _ => foreign,
        }
        .for_typ(typ, || Batch::Opening(self.dice.below(OPENING.len()) as u32))
    }

    /// A document that an item of this one may refer to; occasionally one that is refused.
    fn other(&mut self, typ: Typ, partner: u32, item: &Item, own: Option<u32>) -> Option<u32> {
        let any = self.dice.once_in(12);
        let fits = |number: &u32| {
            let document = &self.model.documents[number];
            let is_there = document.partner == partner && document.typ.sells() == typ.sells();
            Some(*number) != own && is_there && (any || self.model.can_take(typ, item, *number))
        };
        let fitting: Vec<u32> = self.live().into_iter().filter(fits).collect();
        self.dice.pick(&fitting)
    }
}

impl Named {
    /// Sales name an existing batch.
    fn for_typ(self, typ: Typ, opening: impl FnOnce() -> Batch) -> Named {
        match self {
            Named::Foreign(..) | Named::Dated(_) if typ.sells() => Named::Charge(opening()),
            named => named,
        }
    }
}

/// Omits steps and items as long as the story still fails; with at most this many tries.
pub fn minimise(story: &[Op], tries: usize, mut fails: impl FnMut(&[Op]) -> bool) -> Vec<Op> {
    let mut story = story.to_vec();
    let mut left = tries;
    let mut try_out = |other: &[Op]| {
        left = left.saturating_sub(1);
        left > 0 && fails(other)
    };
    let mut size = story.len() / 2;
    while size > 0 {
        let mut at = 0;
        while at < story.len() {
            let other = without(&story, |step| (at..at + size).contains(&step));
            if try_out(&other) {
                story = other;
            } else {
                at += size;
            }
        }
        size /= 2;
    }
    loop {
        let found = shorter(&story).find(|other| try_out(other));
        match found {
            Some(other) => story = other,
            None => return story,
        }
    }
}

fn without(story: &[Op], is_gone: impl Fn(usize) -> bool) -> Vec<Op> {
    story.iter().enumerate().filter(|(at, _)| !is_gone(*at)).map(|(_, op)| op.clone()).collect()
}

/// Stories without one step, without two of a few, and without one item.
fn shorter(story: &[Op]) -> impl Iterator<Item = Vec<Op>> {
    let length = story.len();
    let few = if length <= 24 { length } else { 0 };
    let ones = (0..length).map(|one| (one, one));
    let twos = (0..few).flat_map(move |one| (one + 1..few).map(move |other| (one, other)));
    let steps = ones.chain(twos).map(|gone| without(story, |at| at == gone.0 || at == gone.1));
    let items = (0..length).flat_map(move |at| {
        let count = items_of(&mut story[at].clone()).map_or(0, |items| items.len());
        (0..if count > 1 { count } else { 0 }).map(move |index| {
            let mut other = story.to_vec();
            items_of(&mut other[at]).unwrap().remove(index);
            other
        })
    });
    steps.chain(items)
}

fn items_of(op: &mut Op) -> Option<&mut Vec<Item>> {
    match op {
        Op::Post { items, .. } | Op::Put { items, .. } => Some(items),
        _ => None,
    }
}
