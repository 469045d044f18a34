//! Random parts of a story: the items of documents, and when the clock jumps.

use super::calendar::{DAY, SECOND, berlin_day, berlin_midnight, clocks_change, date, days};
use super::model::{is_invoice, sells};
use super::step::{Deed, Goods, Grain, Item, Name, Named, SACK, SALT, WHEAT, World};
use super::story::{END, MEETS, Writer};

/// The clock stands at least this long before a midnight, so that steps do not pass it.
const BEFORE: i64 = 3 * SECOND;

/// System calls that fail, in strace's syntax.
const FAILS: &[&str] =
    &["fdatasync,fsync:error=EIO:when=1", "pwrite64:error=ENOSPC:when=1+", "pwrite64:error=EIO:when=2"];

impl Writer {
    pub fn items(&mut self, firm: usize, typ: &str) -> Vec<Item> {
        let count = 1 + self.dice.below(4);
        (0..count).map(|_| self.item(firm, typ)).collect()
    }

    fn item(&mut self, firm: usize, typ: &str) -> Item {
        let moves = ["LS", "EL"].contains(&typ);
        let often = if firm == MEETS { SALT } else { WHEAT };
        let article = self.dice.pick(&[None, Some(WHEAT), Some(often), Some(SACK), Some(SALT)]).flatten();
        let batch = if article == Some(WHEAT) { self.named(firm, typ) } else { Named::Nothing };
        let sign = if !moves && self.dice.once_in(8) { -1 } else { 1 };
        let size = [9_999, 1_200_000, 6_000_000, 30_000_000][self.dice.below(4)];
        let round = [1, 500, 1_000, 1_000_000][self.dice.below(4)];
        let exact = (self.dice.below(size) as i64 / round + 1) * round;
        let has_price = article.is_none() || self.dice.once_in(3);
        let in_tonnes = article == Some(WHEAT) && self.dice.once_in(4);
        let billed = article == Some(WHEAT) && !in_tonnes && self.dice.once_in(4);
        let goods = match article {
            Some(SALT) if firm == MEETS && sign > 0 && (moves || is_invoice(typ)) => Goods::Meets,
            Some(_) if firm == MEETS && is_invoice(typ) => Goods::StayOut,
            _ => Goods::ByTyp,
        };
        Item {
            article,
            goods,
            quantity: sign * if in_tonnes { exact / 1_000 + 1 } else { exact },
            in_tonnes,
            price: has_price.then(|| self.dice.below(50_000) as i64),
            rate: (article.is_none() || self.dice.once_in(6)).then(|| [7, 19][self.dice.below(2)]),
            discount: if self.dice.once_in(4) { self.dice.below(101) as i64 } else { 0 },
            batch,
            weighing: if billed { self.pick_weighing(firm) } else { None },
            has_contract: sells(typ)
                && article.is_some_and(|article| article != SACK)
                && goods != Goods::Meets
                && self.dice.once_in(3),
        }
    }

    fn named(&mut self, firm: usize, typ: &str) -> Named {
        let batches: Vec<Name> = self.model.firms[firm].batches.keys().rev().take(12).copied().collect();
        match typ {
            "EL" | "BS" if self.dice.once_in(4) => Named::Dated(self.story.len() as i64),
            "EL" | "BS" => Named::Foreign(self.small(12)),
            "LS" if self.dice.once_in(8) => self.locked(firm).map_or(Named::Nothing, Named::Charge),
            "LS" => self.dice.pick(&batches).map_or(Named::Nothing, Named::Charge),
            _ => Named::Nothing,
        }
    }

    fn locked(&mut self, firm: usize) -> Option<Name> {
        let batches = self.model.firms[firm].batches.iter().filter(|(_, batch)| batch.is_locked);
        let locked: Vec<Name> = batches.map(|(name, _)| *name).collect();
        self.dice.pick(&locked)
    }

    pub fn receipt(&mut self, firm: usize) -> Option<Deed> {
        let receipts: Vec<Name> = self.model.firms[firm].receipts.keys().rev().take(6).copied().collect();
        if let (true, Some(receipt)) = (self.dice.once_in(3), self.dice.pick(&receipts)) {
            return Some(Deed::CancelReceipt(receipt));
        }
        let mut below = |limit: usize| self.dice.below(limit) as i64;
        let grain = Grain {
            delivered: 1 + below(40_000),
            moisture: 100 + below(150),
            base_moisture: 100 + below(60),
            factor: 10 + below(5),
            dirt: below(60),
            base_dirt: below(30),
            deducted: below(9) * below(2_000) / 4,
            price: 1_500_000 + below(900_000),
            lot: (below(2) == 0).then(|| below(12) as u32),
        };
        Some(Deed::Receipt { partner: self.pick_partner(firm)?, grain })
    }

    pub fn order(&mut self, firm: usize) -> Option<Deed> {
        let orders: Vec<Name> = self.model.firms[firm].orders.keys().rev().take(6).copied().collect();
        match (self.dice.below(3), self.dice.pick(&orders)) {
            (0 | 1, Some(order)) => Some(Deed::TurnOrder { order, to: self.dice.below(5) }),
            _ => Some(Deed::Order(self.dice.once_in(2).then(|| self.dice.below(40) as i64))),
        }
    }

    pub fn world(&mut self) -> Option<World> {
        Some(match self.dice.below(20) {
            0..8 => World::Clock(self.later()),
            8..13 => World::Restart(self.later()),
            13..15 => World::Kill,
            15 | 16 => World::KillUnder,
            17 => World::FailUnder(FAILS[self.dice.below(FAILS.len())]),
            18 => World::Backup,
            _ => World::Restore,
        })
    }

    /// An instant to which the clock jumps: soon, or just before or after a calendar boundary.
    fn later(&mut self) -> i64 {
        let now = self.model.now;
        let (year, month, _) = date(berlin_day(now));
        let next = |instants: &[i64]| instants.iter().copied().find(|instant| *instant > now + 60 * SECOND);
        let target = match self.dice.below(8) {
            0 | 1 => {
                let soon = now + SECOND * (1 + self.dice.below(600) as i64);
                let is_late = berlin_day(soon) != berlin_day(soon + BEFORE);
                return if is_late { soon + BEFORE } else { soon };
            }
            2 | 3 => Some(berlin_midnight(berlin_day(now) + 1)),
            4 => Some((now.div_euclid(DAY) + 1) * DAY),
            5 => Some(berlin_midnight(days(year + month / 12, month % 12 + 1, 1))),
            6 => Some(berlin_midnight(days(year + 1, 1, 1))),
            _ => next(&[clocks_change(year, 3), clocks_change(year, 10), clocks_change(year + 1, 3)]),
        };
        let target = target.filter(|target| *target < END);
        let beside = [-BEFORE, 0, 1, 1_500, 1_800_000][self.dice.below(5)];
        (target.unwrap_or(now) + beside).max(now + 2)
    }
}
