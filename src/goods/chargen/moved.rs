//! Daily sums of movements, for the stock over time.

use std::collections::BTreeMap;

use rusqlite::named_params;
use uuid::Uuid;

use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::rules::day::{Day, Instant};
use crate::rules::fixed::Quantity;

/// Maximum number of movements read, newest first. There is no index of movements by article, because every
/// document would pay for maintaining it.
const MOVEMENTS_READ_MAX: usize = 20_000;

#[derive(Debug, Clone, Copy)]
pub enum Wovon {
    /// An article, with and without batches.
    Artikel(Uuid),
    Charge(Uuid),
}

#[derive(Debug)]
pub struct Bewegt {
    /// The sum of the movements of each day (in Berlin) with any, signed, in the unit of the article.
    pub tage: BTreeMap<Day, Quantity>,
    /// The first day whose movements were all read.
    pub ab: Day,
}

const OF_ALL: &str = "select artikel_id = :what, menge, am from lagerbewegung
    where tenant_id = :tenant order by id desc limit :most";

const OF_BATCH: &str = "select true, m.menge, m.am
    from (select id from lagerbewegung
          where tenant_id = :tenant and charge_id = :what order by id desc limit :most) n
      join lagerbewegung m on m.tenant_id = :tenant and m.id = n.id
    order by m.id desc";

/// Sums the movements per day since `since`; starts later if there are more movements than the maximum.
pub fn moved_by_day(tx: &Tx<'_>, wovon: Wovon, since: Day) -> Result<Bewegt> {
    let (statement, what) = match wovon {
        Wovon::Artikel(id) => (OF_ALL, id),
        Wovon::Charge(id) => (OF_BATCH, id),
    };
    let begin = since.begin_in_berlin();
    let (mut read, mut last) = (0, None);
    let mut bewegt = Bewegt { tage: BTreeMap::new(), ab: since };
    let params = named_params! {":what": what, ":most": MOVEMENTS_READ_MAX as i64};
    tx.each_while(statement, params, |row| {
        let (is_meant, menge, am): (bool, Quantity, Instant) = (row.get(0)?, row.get(1)?, row.get(2)?);
        if am < begin {
            return Ok(false);
        }
        let day = Day::in_berlin(am);
        (read, last) = (read + 1, Some(day));
        if is_meant {
            let sum = bewegt.tage.entry(day).or_default();
            *sum = sum.plus(menge)?;
        }
        Ok(true)
    })?;
    if let (true, Some(last)) = (read >= MOVEMENTS_READ_MAX, last) {
        bewegt.ab = last.tomorrow();
        bewegt.tage.retain(|day, _| *day > last);
    }
    Ok(bewegt)
}

/// Returns the movements of a production order: article, batch, signed quantity in the unit of the article.
pub fn moved_by_order(tx: &Tx<'_>, auftrag: Uuid) -> Result<Vec<(Uuid, Option<Uuid>, Quantity)>> {
    let statement = "select artikel_id, charge_id, sum(menge) from lagerbewegung
        where tenant_id = :tenant and pa_id = :pa group by artikel_id, charge_id having sum(menge) <> 0";
    tx.all(statement, named_params! {":pa": auftrag}, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
}
