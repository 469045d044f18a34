//! The walk from a batch through production orders, breadth first; a batch is walked through once,
//! whatever circles there are.

use std::collections::{BTreeSet, VecDeque};

use uuid::Uuid;

use super::model::{Beteiligter, Knoten};
use super::sql::{self, Schritt, Weite};
use crate::db::tx::Tx;
use crate::failure::Result;
use crate::rules::error::{Checked, Code, Refusal};

/// Batches and documents that one answer lists at most.
const MAX_ENTRIES: usize = 20_000;

#[derive(Default)]
pub struct Weg {
    /// The batches, the nearest first.
    pub knoten: Vec<Knoten>,
    /// Who delivered or got them and the first one.
    pub beteiligte: Vec<Beteiligter>,
    /// Further batches lie deeper than was asked for.
    pub deeper: bool,
    /// There is more than was looked at.
    pub is_cut: bool,
}

/// What a picture shows at most in each direction, and what one batch adds to it: more is read by nobody.
const SHOWN: usize = 100;

/// Movements that are looked at for it in each direction, of all batches together.
const MOVEMENTS: i64 = 20_000;

/// The batches around one, as far as a picture shows them.
pub fn around(tx: &Tx<'_>, start: Uuid, schritt: Schritt, tiefe: i64) -> Result<Weg> {
    let mut weg = Weg::default();
    let mut seen = BTreeSet::from([start]);
    let mut waiting = VecDeque::from([(start, 0)]);
    let mut left = MOVEMENTS;
    while let Some((charge, away)) = waiting.pop_front() {
        let weite = Weite { bewegungen: left, funde: SHOWN as i64 + 1 };
        left -= sql::count_movements(tx, charge)?;
        weg.beteiligte.extend(sql::partners(tx, charge, schritt, weite)?);
        let found = sql::neighbours(tx, charge, schritt, away + 1, weite)?;
        if away == tiefe {
            weg.deeper |= !found.is_empty();
            continue;
        }
        let unseen = found.iter().map(|next| next.charge_id).filter(|id| seen.insert(*id));
        waiting.extend(unseen.map(|id| (id, away + 1)));
        weg.knoten.extend(found);
        if left < 0 || weg.knoten.len() > SHOWN || weg.beteiligte.len() > SHOWN {
            weg.is_cut = true;
            break;
        }
    }
    weg.knoten.truncate(SHOWN);
    let shown = |charge: Uuid| charge == start || weg.knoten.iter().any(|knoten| knoten.charge_id == charge);
    weg.beteiligte.retain(|partner| shown(partner.charge_id));
    weg.beteiligte.truncate(SHOWN);
    Ok(weg)
}

/// The batches up to `tiefe` steps away, and who delivered or got them and the first one.
pub fn walk(tx: &Tx<'_>, start: Uuid, schritt: Schritt, tiefe: i64) -> Result<Weg> {
    let mut deeper = false;
    let mut knoten = Vec::new();
    let mut beteiligte = sql::partners(tx, start, schritt, Weite::ALLES)?;
    let mut seen = BTreeSet::from([start]);
    let mut waiting = VecDeque::from([(start, 0)]);
    while let Some((charge, away)) = waiting.pop_front() {
        if away == tiefe {
            deeper |= !sql::neighbours(tx, charge, schritt, away + 1, Weite::ALLES)?.is_empty();
            continue;
        }
        for next in sql::neighbours(tx, charge, schritt, away + 1, Weite::ALLES)? {
            if seen.insert(next.charge_id) {
                waiting.push_back((next.charge_id, away + 1));
                beteiligte.extend(sql::partners(tx, next.charge_id, schritt, Weite::ALLES)?);
            }
            knoten.push(next);
        }
        check_size(knoten.len() + beteiligte.len())?;
    }
    Ok(Weg { knoten, beteiligte, deeper, is_cut: false })
}

fn check_size(entries: usize) -> Checked<()> {
    if entries <= MAX_ENTRIES {
        return Ok(());
    }
    let message =
        format!("Die Herkunft hat mehr als {MAX_ENTRIES} Einträge. Bitte eine kleinere tiefe angeben.");
    Err(Refusal::field(Code::ZuVieleTreffer, "tiefe", message))
}
