//! Requests of keys by day, counted in the rows of the log.

use rusqlite::{Connection, params};

use crate::platform::db::TenantId;
use crate::platform::failure::Result;
use crate::rules::day::{Day, Instant};

/// Rows that are counted at most, those of other companies included: each of them is read.
const ROWS: i64 = 100_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DayUse {
    /// UTC.
    pub day: Day,
    /// Requests that were carried out.
    pub done: i64,
    /// Requests that were refused or failed.
    pub refused: i64,
}

/// Requests of the keys of a company, or of one of them, on the last days, the oldest first: as many days as have
/// [`ROWS`] rows together, so that the cost is bounded.
pub fn by_day(
    connection: &Connection,
    tenant: TenantId,
    key: Option<&str>,
    days: i64,
    now: Instant,
) -> Result<Vec<DayUse>> {
    let mut count = connection.prepare_cached(
        "select count(*), coalesce(sum(iif(is_own and status < 400, anzahl, 0)), 0),
           coalesce(sum(iif(is_own and status >= 400, anzahl, 0)), 0)
         from (select status, anzahl, tenant_id = ?2 and key_id is not null and (?3 is null or key_id = ?3) as is_own
           from audit where tag = ?1 limit ?4)",
    )?;
    let (mut left, mut found) = (ROWS, Vec::new());
    for tag in (0..days).map(|back| now.utc_day() - back) {
        let params = params![tag, tenant, key, left + 1];
        let (rows, done, refused): (i64, i64, i64) = count.query_row(params, |row| row.try_into())?;
        left -= rows;
        if left < 0 {
            break;
        }
        found.push(DayUse { day: Day::of_number(tag), done, refused });
    }
    found.reverse();
    Ok(found)
}
