//! Walks from a batch through production orders, breadth first; visits each batch once, even if there are
//! cycles.

use std::collections::{BTreeSet, VecDeque};

use uuid::Uuid;

use super::model::{Beteiligter, Knoten};
use super::sql::{self, Schritt, Weite};
use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::rules::error::{Checked, Code, Refusal};

/// Maximum number of batches and documents in one answer.
const ENTRIES_MAX: usize = 20_000;

#[derive(Default)]
pub struct Weg {
    /// The batches, nearest first.
    pub knoten: Vec<Knoten>,
    /// Suppliers or recipients of these batches and of the first one.
    pub beteiligte: Vec<Beteiligter>,
    /// Whether there are further batches beyond the requested depth.
    pub deeper: bool,
    /// Whether a picture omits some entries.
    pub is_cut: bool,
}

/// Maximum number of entries of a picture in each direction, and per batch: nobody reads more.
const SHOWN_MAX: usize = 100;

/// Maximum number of movements read for a picture in each direction, for all batches together.
const MOVEMENTS_READ_MAX: i64 = 20_000;

/// Returns the batches up to `tiefe` steps away, and the suppliers or recipients of these and of the first
/// one: all of them, or as many as a picture shows.
pub fn walk(tx: &Tx<'_>, start: Uuid, schritt: Schritt, tiefe: i64, is_picture: bool) -> Result<Weg> {
    let mut weg = Weg::default();
    let mut seen = BTreeSet::from([start]);
    let mut waiting = VecDeque::from([(start, 0)]);
    let mut left = MOVEMENTS_READ_MAX;
    while let Some((charge, away)) = waiting.pop_front() {
        let weite = is_picture.then_some(Weite { bewegungen: left, funde: SHOWN_MAX as i64 + 1 });
        if is_picture {
            left -= sql::count_movements(tx, charge)?;
        }
        weg.beteiligte.extend(sql::partners(tx, charge, schritt, weite)?);
        let found = sql::neighbours(tx, charge, schritt, away + 1, weite)?;
        if away == tiefe {
            weg.deeper |= !found.is_empty();
        } else {
            let unseen = found.iter().map(|next| next.charge_id).filter(|id| seen.insert(*id));
            waiting.extend(unseen.map(|id| (id, away + 1)));
            weg.knoten.extend(found);
            weg.is_cut = left < 0 || weg.knoten.len() > SHOWN_MAX || weg.beteiligte.len() > SHOWN_MAX;
        }
        match is_picture {
            true if weg.is_cut => break,
            true => {}
            false => check_size(weg.knoten.len() + weg.beteiligte.len())?,
        }
    }
    if is_picture {
        weg.knoten.truncate(SHOWN_MAX);
        let shown: BTreeSet<_> = weg.knoten.iter().map(|knoten| knoten.charge_id).chain([start]).collect();
        weg.beteiligte.retain(|partner| shown.contains(&partner.charge_id));
        weg.beteiligte.truncate(SHOWN_MAX);
    }
    Ok(weg)
}

fn check_size(entries: usize) -> Checked<()> {
    if entries <= ENTRIES_MAX {
        return Ok(());
    }
    let message =
        format!("Die Herkunft hat mehr als {ENTRIES_MAX} Einträge. Bitte eine kleinere tiefe angeben.");
    Err(Refusal::field(Code::ZuVieleTreffer, "tiefe", message))
}
