//! Dropping what is older than it must be kept (specification, Limits: 90 days; D27), a little at a
//! time, so that nobody who writes has to wait. What is left stays verifiable: the day keeps the
//! number and the checksum of its last row that was dropped.

use rusqlite::{Connection, OptionalExtension, params};

use super::chain::{log_seal, log_seal_of};
use crate::platform::db::all;
use crate::platform::db::file::steps;
use crate::platform::db::writer::WriterQueue;
use crate::platform::failure::Result;
use crate::platform::gate::administration;
use crate::rules::day::Instant;

/// Days that rows are kept (specification, Limits).
pub const DAYS: i64 = 90;

/// Rows that are dropped in one transaction: some milliseconds.
const ROWS_AT_ONCE: i64 = 5_000;

pub fn first_kept(now: Instant, days: i64) -> i64 {
    now.utc_day() - days
}

/// Drops some of the oldest rows from before a day; how many.
pub fn step(connection: &Connection, first_kept: i64) -> Result<i64> {
    loop {
        let oldest = "select tag, ab_nr, letzte_nr from audit_tag where tag < ?1 order by tag limit 1";
        let oldest = all(connection, oldest, [first_kept], |row| row.try_into())?.pop();
        let Some((tag, dropped, last)): Option<(i64, i64, i64)> = oldest else { return Ok(0) };
        let until = last.min(dropped + ROWS_AT_ONCE);
        if until == last {
            connection.execute("delete from audit_tag where tag = ?1", [tag])?;
            connection.execute(&day_dropped(), [tag])?;
        } else {
            connection.execute(ROWS_DROPPED, [tag, until])?;
        }
        connection.execute("delete from audit where tag = ?1 and lfd_nr <= ?2", params![tag, until])?;
        // A day that was begun may have no rows.
        if until > dropped {
            return Ok(until - dropped);
        }
    }
}

/// The heads are sealed anew where their seals hold.
fn day_dropped() -> String {
    format!(
        "update audit_kopf set geloescht_bis = max(coalesce(geloescht_bis, ?1), ?1), mac = iif(mac is {}, {}, null)
         where id = 1",
        log_seal(),
        log_seal_of("letzter_tag", "max(coalesce(geloescht_bis, ?1), ?1)")
    )
}

const ROWS_DROPPED: &str = "update audit_tag set ab_nr = ?2, ab_pruefsumme = a.pruefsumme,
    mac = iif(mac is siegel('audit_tag', audit_tag.tag, vortag, letzte_nr, audit_tag.pruefsumme, ab_nr, ab_pruefsumme,
        mac_ab_nr),
      siegel('audit_tag', audit_tag.tag, vortag, letzte_nr, audit_tag.pruefsumme, ?2, a.pruefsumme, mac_ab_nr), null)
  from (select pruefsumme from audit where tag = ?1 and lfd_nr = ?2) a where audit_tag.tag = ?1";

/// Days that the server drops at once. One goes by in a day, so two catch up; a clock that is a
/// year ahead for a moment costs two days of the log, not all of it.
const DAYS_AT_ONCE: i64 = 2;

/// Begins to drop what is older than it must be kept, with the writer's batches.
pub fn begin_rollover(writer: &WriterQueue, now: Instant) {
    let failed = "old audit rows were not dropped".to_owned();
    steps::begin(writer, failed, None, move |batch, known: Option<i64>| {
        batch.apart(|connection| {
            let first_kept = match known {
                Some(first_kept) => first_kept,
                None => {
                    administration::drop_old(connection, now)?;
                    after_oldest(connection)?.min(first_kept(now, DAYS))
                }
            };
            let dropped = step(connection, first_kept)?;
            Ok((dropped > 0).then_some(Some(first_kept)))
        })
    });
}

/// The day after the oldest ones that are dropped at once.
fn after_oldest(connection: &Connection) -> Result<i64> {
    let statement = "select tag from audit_tag order by tag limit 1 offset ?1";
    let next = connection.query_row(statement, [DAYS_AT_ONCE], |row| row.get(0)).optional()?;
    Ok(next.unwrap_or(i64::MAX))
}
