//! The walk from a batch through production orders, breadth first; a batch is walked through once,
//! whatever circles there are.

use std::collections::{BTreeSet, VecDeque};

use uuid::Uuid;

use super::model::{Beteiligter, Knoten};
use super::sql::{self, Schritt};
use crate::db::tx::Tx;
use crate::failure::Result;
use crate::rules::error::{Checked, Code, Refusal};

/// Batches and documents that one answer lists at most.
const MAX_ENTRIES: usize = 20_000;

/// What a walk came by.
#[derive(Default)]
pub struct Weg {
    /// The batches, the nearest first.
    pub knoten: Vec<Knoten>,
    /// Who delivered or got them and the first one.
    pub beteiligte: Vec<Beteiligter>,
    /// Further batches lie deeper than was asked for.
    pub deeper: bool,
}

/// The batches up to `tiefe` steps away, and who delivered or got them and the first one.
pub fn walk(tx: &Tx<'_>, start: Uuid, schritt: Schritt, tiefe: i64) -> Result<Weg> {
    let mut deeper = false;
    let mut knoten = Vec::new();
    let mut beteiligte = sql::partners(tx, start, schritt)?;
    let mut seen = BTreeSet::from([start]);
    let mut waiting = VecDeque::from([(start, 0)]);
    while let Some((charge, away)) = waiting.pop_front() {
        if away == tiefe {
            deeper |= !sql::neighbours(tx, charge, schritt, away + 1)?.is_empty();
            continue;
        }
        for next in sql::neighbours(tx, charge, schritt, away + 1)? {
            if seen.insert(next.charge_id) {
                waiting.push_back((next.charge_id, away + 1));
                beteiligte.extend(sql::partners(tx, next.charge_id, schritt)?);
            }
            knoten.push(next);
        }
        check_size(knoten.len() + beteiligte.len())?;
    }
    Ok(Weg { knoten, beteiligte, deeper })
}

fn check_size(entries: usize) -> Checked<()> {
    if entries <= MAX_ENTRIES {
        return Ok(());
    }
    let message =
        format!("Die Herkunft hat mehr als {MAX_ENTRIES} Einträge. Bitte eine kleinere tiefe angeben.");
    Err(Refusal::field(Code::ZuVieleTreffer, "tiefe", message))
}
