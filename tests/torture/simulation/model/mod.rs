//! The expected behaviour of the service, in plain maps: the model predicts each answer, and the contents of
//! records and lists afterwards. It shares no code with the server.
//!
//! Names stand for ids: the text `#1200` is the record created by step 12. Invoices of the first company move
//! no goods (`lagerbuchung = lieferung`), those of the second move salt (`pairs.rs`).

mod documents;
mod goods;
mod keys;
mod life;
mod lists;
mod pairs;
mod partners;
mod receipts;
mod records;
mod scale;

use serde_json::{Value, json};

use super::broken::Broken;
use super::calendar::{DAY, berlin_day, date};
use super::money::Wrong;
use super::step::{Deed, Match, Name, Step, World};

pub use documents::{is_invoice, sells};
pub use keys::{Key, LARGE_LIMIT, SMALL_LIMIT};
pub use pairs::Pair;
pub use partners::{file_text, given_number, partner_name};
pub use receipts::{Order, Receipt, STATES};
pub use records::{Batch, Document, Firm, Partner, Row, Weighing};

/// The expected answer to a step.
#[derive(Debug, Clone, PartialEq)]
pub struct Expected {
    pub status: u16,
    /// Fields that the body must contain, among others.
    pub shows: Value,
    /// The body must equal the answer to this step.
    pub same_as: Option<u32>,
}

impl Expected {
    pub fn new(status: u16, shows: Value) -> Expected {
        Expected { status, shows, same_as: None }
    }
}

pub fn refused(status: u16, code: &str) -> Expected {
    Expected::new(status, json!({"error": code}))
}

pub fn id(name: Name) -> Value {
    json!(format!("#{name}"))
}

/// The clock advances by this much with each step, so that no two records are created in the same millisecond.
pub const TICK: i64 = 1;

#[derive(Debug, Clone)]
pub struct Model {
    pub now: i64,
    pub firms: Vec<Firm>,
    pub broken: Option<Broken>,
    backup: Option<Vec<Firm>>,
}

impl Model {
    pub fn new(now: i64, broken: Option<Broken>) -> Model {
        let firm = || Firm { keys: [Key::all(), Key::small()], ..Firm::default() };
        Model { now, firms: vec![firm(), firm()], broken, backup: None }
    }

    pub fn breaks(&self, rule: Broken) -> bool {
        self.broken == Some(rule)
    }

    pub fn wrong(&self) -> Wrong {
        Wrong {
            by_line: self.breaks(Broken::TaxByLine),
            beyond: self.breaks(Broken::TierBeyond),
            cut: self.breaks(Broken::HalvesCut),
        }
    }

    pub fn today(&self) -> i64 {
        berlin_day(self.now)
    }

    /// Whether the story can continue with this step: everything it names exists.
    pub fn allows(&self, step: &Step) -> bool {
        let firm = &self.firms[step.firm];
        let other = &self.firms[1 - step.firm];
        match &step.deed {
            Deed::Partner { .. }
            | Deed::Import(_)
            | Deed::Partners(_)
            | Deed::Malformed(_)
            | Deed::SwitchSmallKey => true,
            Deed::ChangePartner { partner, .. }
            | Deed::Weighing { partner, .. }
            | Deed::Attach { partner, .. } => firm.partners.contains_key(partner),
            Deed::Document { partner, items, .. } => {
                firm.partners.contains_key(partner) && firm.can_name(items)
            }
            Deed::ChangeDocument { document, items, .. } => {
                firm.documents.contains_key(document)
                    && items.as_ref().is_none_or(|items| firm.can_name(items))
            }
            Deed::Finish(document)
            | Deed::Settle(document)
            | Deed::Cancel(document)
            | Deed::Archive { document, .. } => firm.documents.contains_key(document),
            Deed::Batch { .. } | Deed::CountArticle { .. } | Deed::Order(_) => true,
            Deed::Receipt { partner, .. } => firm.partners.contains_key(partner),
            Deed::CancelReceipt(receipt) => firm.receipts.contains_key(receipt),
            Deed::TurnOrder { order, .. } => firm.orders.contains_key(order),
            Deed::ImportCounts(counts) => counts.iter().all(|(batch, _)| firm.batches.contains_key(batch)),
            Deed::LockBatch { batch, .. } | Deed::CountBatch { batch, .. } => {
                firm.batches.contains_key(batch)
            }
            Deed::SecondWeighing { weighing, .. } | Deed::CancelWeighing(weighing) => {
                firm.weighings.contains_key(weighing)
            }
            // Answers older than seven days may be forgotten.
            Deed::Again { step, .. } => {
                firm.answered.get(step).is_some_and(|(.., at)| self.now - at < 6 * DAY)
            }
            Deed::Foreign(_, name) => other.has(*name),
            Deed::Small(_) => firm.keys[1].may_be_tried(),
            Deed::World(World::Clock(to) | World::Restart(to)) => *to > self.now + TICK,
            Deed::World(World::Restore) => self.backup.is_some(),
            Deed::World(_) => true,
        }
    }

    /// The expected answer; `None` if the step sends no request.
    pub fn play(&mut self, step: &Step) -> Option<Expected> {
        self.now += TICK;
        if let Deed::World(world) = step.deed {
            self.turn(world);
            return None;
        }
        if let Deed::SwitchSmallKey = step.deed {
            self.firms[step.firm].keys[1].switch();
            return None;
        }
        let expected = match &step.deed {
            Deed::Small(small) => return Some(self.small(step.firm, *small)),
            Deed::Import(rows) => return Some(self.import(step, rows)),
            Deed::ImportCounts(counts) => return Some(self.import_counts(step, counts)),
            _ => self.asked(step),
        };
        if !step.by_form || self.breaks(Broken::FormCounts) {
            self.count(step.firm, expected.status);
        }
        if step.is_keyed && expected.status < 300 {
            let answered = (step.clone(), expected.clone(), self.now);
            self.firms[step.firm].answered.insert(step.nr, answered);
        }
        Some(expected)
    }

    fn asked(&mut self, step: &Step) -> Expected {
        match &step.deed {
            Deed::Partner { number, name } => self.partner(step, *number, *name),
            Deed::Partners(names) => self.partners(step, names),
            Deed::ChangePartner { partner, change, matches } => {
                self.change_partner(step, *partner, *change, *matches)
            }
            Deed::Attach { partner, content } => self.attach(step, *partner, *content),
            Deed::Document { typ, partner, items, head, flaw } => {
                self.document(step, typ, *partner, items, head, *flaw)
            }
            Deed::ChangeDocument { document, items, note, days_back, matches } => {
                self.change_document(step, *document, items.as_deref(), *note, *days_back, *matches)
            }
            Deed::Finish(document) => self.finish(step, *document),
            Deed::Settle(document) => self.settle(step, *document),
            Deed::Cancel(document) => self.cancel(step, *document),
            Deed::Archive { document, content } => self.archive(step, *document, *content),
            Deed::Batch { article, number } => self.batch(step, *article, *number),
            Deed::LockBatch { batch, is_locked } => self.lock_batch(step, *batch, *is_locked),
            Deed::CountBatch { batch, stock } => self.count_batch(step, *batch, *stock),
            Deed::CountArticle { article, stock } => self.count_article(step, *article, *stock),
            Deed::Weighing { partner, first } => self.weighing(step, *partner, *first),
            Deed::SecondWeighing { weighing, second } => self.second_weighing(step, *weighing, *second),
            Deed::CancelWeighing(weighing) => self.cancel_weighing(step, *weighing),
            Deed::Receipt { partner, grain } => self.receipt(step, *partner, grain),
            Deed::CancelReceipt(receipt) => self.cancel_receipt(step, *receipt),
            Deed::Order(day) => self.order(step, *day),
            Deed::TurnOrder { order, to } => self.turn_order(step, *order, *to),
            Deed::Again { step: of, is_changed } => self.again(step, *of, *is_changed),
            Deed::Foreign(..) if self.breaks(Broken::ForeignSeen) => Expected::new(200, json!({})),
            Deed::Foreign(..) => refused(404, "NICHT_GEFUNDEN"),
            Deed::Malformed(malformed) => keys::malformed(*malformed),
            Deed::Small(_)
            | Deed::SwitchSmallKey
            | Deed::World(_)
            | Deed::Import(_)
            | Deed::ImportCounts(_) => {
                unreachable!("no request with the key of all")
            }
        }
    }

    /// Applies an event of the server or its clock.
    fn turn(&mut self, world: World) {
        match world {
            World::Clock(to) | World::Restart(to) => {
                self.now = to;
                self.end_days();
            }
            World::Backup => self.backup = Some(self.firms.clone()),
            World::Restore => {
                let firms = self.backup.clone().expect("a backup");
                self.firms = firms;
                self.end_days();
                self.firms.iter_mut().for_each(|firm| firm.feed.clear());
            }
            World::Kill | World::KillUnder | World::FailUnder(_) => {}
        }
        if !matches!(world, World::Clock(_) | World::Backup) {
            self.firms.iter_mut().for_each(|firm| firm.keys[1].strangers = 0);
        }
    }

    /// Expects the same answer, or a refusal if the body differs.
    fn again(&mut self, step: &Step, of: u32, is_changed: bool) -> Expected {
        let (first, expected, _) = self.firms[step.firm].answered[&of].clone();
        if self.breaks(Broken::KeyForgotten) {
            return self.asked(&Step { nr: step.nr, ..first });
        }
        match is_changed && !self.breaks(Broken::KeyTakesAll) {
            true => refused(409, "IDEMPOTENZ_KONFLIKT"),
            false => Expected { same_as: Some(of), ..expected },
        }
    }

    /// The next number of a series.
    fn number(&mut self, firm: usize, series: &'static str, year: i64) -> String {
        let kept = match series {
            _ if self.breaks(Broken::OneSeries) => ("", year),
            _ if self.breaks(Broken::YearGoesOn) => (series, 0),
            _ => (series, year),
        };
        let last = self.firms[firm].numbers.entry(kept).or_default();
        *last += 1;
        format!("{series}-{year}-{last:05}")
    }

    fn number_of_today(&mut self, firm: usize, series: &'static str) -> String {
        self.number(firm, series, date(self.today()).0)
    }

    fn is_stale(&self, matches: Match) -> bool {
        matches == Match::Stale && !self.breaks(Broken::StaleWrites)
    }

    fn row(&self, kind: &'static str, name: Name, action: &'static str, version: Option<i64>) -> Row {
        Row { kind, name, action, version, at: self.now }
    }

    fn rows(&mut self, firm: usize, mut rows: Vec<Row>) {
        if self.breaks(Broken::FeedWithoutStorno) {
            rows.retain(|row| row.action != "storniert");
        }
        rows.sort();
        // A request adds one row for each record (D28).
        rows.dedup();
        if !rows.is_empty() {
            self.firms[firm].feed.push(rows);
        }
    }
}
