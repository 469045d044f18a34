//! The records of a company.

use std::collections::BTreeMap;

use super::{Expected, Key, Order, Pair, Receipt};
use crate::simulation::step::{Item, Name, Step};

#[derive(Debug, Clone)]
pub struct Partner {
    pub number: String,
    pub partner_nr: usize,
    pub name: String,
    pub place: Option<String>,
    pub status: &'static str,
    pub version: i64,
    pub files: Vec<(Name, u32)>,
}

#[derive(Debug, Clone)]
pub struct Document {
    pub typ: &'static str,
    pub number: String,
    pub status: &'static str,
    pub day: i64,
    pub partner: Name,
    pub items: Vec<Item>,
    /// The batch of each item.
    pub batches: Vec<Option<Name>>,
    pub sums: [i64; 3],
    pub reference: Option<u32>,
    pub note: Option<u32>,
    pub made: i64,
    pub changed: i64,
    pub version: i64,
    /// The stored name of the partner, once it is final.
    pub kept: Option<String>,
    pub cancels: Option<Name>,
    /// Its last event since it became final.
    pub event: Option<i64>,
    pub papers: Vec<u32>,
}

#[derive(Debug, Clone)]
pub struct Batch {
    pub article: Name,
    pub partner: Option<Name>,
    pub number: String,
    pub foreign: Option<u32>,
    pub best_before: Option<i64>,
    pub stock: i64,
    /// The count of the last stocktaking, if that was an import: all counts of a story are of one day.
    pub imported: Option<i64>,
    pub is_locked: bool,
    pub version: i64,
}

#[derive(Debug, Clone)]
pub struct Weighing {
    pub number: String,
    pub partner: Name,
    pub status: &'static str,
    pub first: i64,
    pub second: Option<i64>,
    pub begun: i64,
    pub version: i64,
}

/// A row of the feed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Row {
    pub kind: &'static str,
    pub name: Name,
    pub action: &'static str,
    pub version: Option<i64>,
    pub at: i64,
}

/// A company.
#[derive(Debug, Clone, Default)]
pub struct Firm {
    pub partners: BTreeMap<Name, Partner>,
    pub documents: BTreeMap<Name, Document>,
    pub batches: BTreeMap<Name, Batch>,
    pub weighings: BTreeMap<Name, Weighing>,
    pub receipts: BTreeMap<Name, Receipt>,
    pub orders: BTreeMap<Name, Order>,
    pub pairs: Vec<Pair>,
    /// The stock of articles without batches.
    pub stocks: BTreeMap<Name, i64>,
    /// The number of documents of a series and year.
    pub numbers: BTreeMap<(&'static str, i64), u32>,
    pub references: BTreeMap<(u32, &'static str), Name>,
    /// Steps answered with an Idempotency-Key, and when.
    pub answered: BTreeMap<u32, (Step, Expected, i64)>,
    pub last_event: i64,
    /// The rows of each request.
    pub feed: Vec<Vec<Row>>,
    pub keys: [Key; 2],
}

impl Firm {
    pub fn has(&self, name: Name) -> bool {
        self.partners.contains_key(&name)
            || self.documents.contains_key(&name)
            || self.batches.contains_key(&name)
            || self.weighings.contains_key(&name)
            || self.receipts.contains_key(&name)
            || self.orders.contains_key(&name)
    }
}
