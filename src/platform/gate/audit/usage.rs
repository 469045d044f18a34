//! Requests of keys by day, counted in the rows of the log.

use rusqlite::{Connection, OptionalExtension, params};

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
    let mut rows = connection.prepare_cached("select letzte_nr - ab_nr from audit_tag where tag = ?1")?;
    let mut count = connection.prepare_cached(
        "select coalesce(sum(iif(status < 400, anzahl, 0)), 0), coalesce(sum(iif(status >= 400, anzahl, 0)), 0)
         from audit where tag = ?1 and tenant_id = ?2 and key_id is not null and (?3 is null or key_id = ?3)",
    )?;
    let (mut left, mut found) = (ROWS, Vec::new());
    for tag in (0..days).map(|back| now.utc_day() - back) {
        let of_day: Option<i64> = rows.query_row([tag], |row| row.get(0)).optional()?;
        left -= of_day.unwrap_or(0);
        if left < 0 {
            break;
        }
        let (done, refused) = match of_day {
            None => (0, 0),
            Some(_) => count.query_row(params![tag, tenant, key], |row| Ok((row.get(0)?, row.get(1)?)))?,
        };
        found.push(DayUse { day: Day::of_number(tag), done, refused });
    }
    found.reverse();
    Ok(found)
}

/// The first and the last day (UTC) that the log has; none where it has none.
pub fn days(connection: &Connection) -> Result<Option<(Day, Day)>> {
    let ends = "select min(tag), max(tag) from audit_tag";
    let (first, last): (Option<i64>, Option<i64>) = connection.query_row(ends, [], |row| row.try_into())?;
    Ok(first.map(Day::of_number).zip(last.map(Day::of_number)))
}
