//! The walk from a batch through production orders, breadth first; a batch is walked through once,
//! whatever circles there are.

use std::collections::{BTreeSet, VecDeque};

use uuid::Uuid;

use super::model::{Beteiligter, Knoten};
use super::sql::{self, Schritt, Weite};
use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::rules::error::{Checked, Code, Refusal};

/// Batches and documents that one answer lists at most.
const ENTRIES_MAX: usize = 20_000;

#[derive(Default)]
pub struct Weg {
    /// The batches, the nearest first.
    pub knoten: Vec<Knoten>,
    /// Who delivered or got them and the first one.
    pub beteiligte: Vec<Beteiligter>,
    /// Further batches lie deeper than was asked for.
    pub deeper: bool,
    /// Of a picture: there is more than it shows.
    pub is_cut: bool,
}

/// What a picture shows at most in each direction, and what one batch adds to it: more is read by nobody.
const SHOWN_MAX: usize = 100;

/// Movements that are read for it in each direction, of all batches together.
const MOVEMENTS_READ_MAX: i64 = 20_000;

/// The batches up to `tiefe` steps away, and who delivered or got them and the first one: all of them, or for a picture
/// as many as it shows.
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
