//! Dropping what is older than it must be kept (specification, Limits: 90 days; D27), a little at a time, so
//! that nobody who writes has to wait. The chain loses its first rows and stays verifiable.

use rusqlite::{Connection, OptionalExtension};

use super::adding::CHAIN;
use super::days::numbers;
use crate::platform::db::file::steps;
use crate::platform::db::writer::WriterQueue;
use crate::platform::failure::Result;
use crate::platform::gate::administration;
use crate::rules::day::Instant;

/// Days that rows are kept (specification, Limits).
pub const DAYS: i64 = 90;

/// Days that the server drops at once. One goes by in a day, so two catch up; a clock that is a
/// year ahead for a moment costs two days of the log, not all of it.
const DAYS_AT_ONCE: i64 = 2;

/// What came into the log before a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Old {
    /// The first day (UTC) that is kept.
    pub first_kept: i64,
    /// Number of the last row that is dropped.
    pub last: i64,
}

impl Old {
    /// What came in before the first row of the days that are kept. Rows of days that are still to come were written by
    /// a clock that was ahead: they go with what is old behind them.
    pub fn than(connection: &Connection, first_kept: i64, now: Instant) -> Result<Old> {
        let kept = numbers(connection, [first_kept, now.utc_day()], i64::MAX)?;
        let old = numbers(connection, [i64::MIN, first_kept - 1], kept.map_or(i64::MAX, |(first, _)| first))?;
        Ok(Old { first_kept, last: old.map_or(0, |(_, last)| last) })
    }

    /// Drops some of it, the oldest first; how many rows.
    pub fn drop_some(&self, connection: &Connection) -> Result<i64> {
        CHAIN.drop_some(connection, self.last, self.first_kept - 1)
    }
}

/// Begins to drop what is older than it must be kept, with the writer's batches.
pub fn begin_rollover(writer: &WriterQueue, now: Instant) {
    let failed = "old audit rows were not dropped".to_owned();
    steps::begin(writer, failed, None, move |batch, known: Option<Old>| {
        batch.apart(|connection| {
            let old = match known {
                Some(old) => old,
                None => {
                    administration::drop_old(connection, now)?;
                    let oldest = "select tag from audit order by nr limit 1";
                    let oldest: Option<i64> =
                        connection.query_row(oldest, [], |row| row.get(0)).optional()?;
                    let at_once = oldest.map_or(i64::MAX, |oldest| oldest + DAYS_AT_ONCE);
                    Old::than(connection, at_once.min(now.utc_day() - DAYS), now)?
                }
            };
            Ok((old.drop_some(connection)? > 0).then_some(Some(old)))
        })
    });
}

#[cfg(test)]
mod tests {
    use super::super::days::tests::log_of;
    use super::*;

    #[test]
    fn what_came_before_the_days_that_are_kept_is_old_whatever_a_clock_said() {
        // The days of the rows as they came in, the first day that is kept, today, and how many of the rows are old.
        let cases: [(&[i64], i64, i64, i64); 12] = [
            (&[], 7, 9, 0),
            (&[5, 6, 7, 8, 9], 7, 9, 2),
            (&[7, 8, 9], 7, 9, 0),
            (&[5, 6], 7, 9, 2),
            // Reads of the day before come in behind the first write of a day.
            (&[5, 6, 7, 6, 7], 7, 9, 2),
            // A clock was ahead for a while: before what is old, and before what is not.
            (&[5, 400, 400, 6, 7, 9], 7, 9, 4),
            (&[5, 6, 400, 7, 9], 7, 9, 2),
            (&[400, 400], 7, 9, 0),
            // A clock was behind for a while.
            (&[5, 6, 7, 0, 8, 9], 7, 9, 2),
            (&[0, 0, 7, 8, 9], 7, 9, 2),
            // The clock is behind now, and ahead.
            (&[405, 406, 407, 9], 7, 9, 0),
            (&[5, 6, 7], 100, 190, 3),
        ];
        for (days, first_kept, today, rows) in cases {
            let (_folder, log) = log_of(days);
            let now = Instant::from_millis(today * Instant::MILLIS_PER_DAY);
            let old = Old::than(&log, first_kept, now).unwrap();
            assert_eq!(old.last, rows, "{days:?}");
            assert_eq!(old.drop_some(&log).unwrap(), rows, "{days:?}");
            assert_eq!(old.drop_some(&log).unwrap(), 0, "{days:?}");
            let left: i64 = log.query_row("select count(*) from audit", [], |row| row.get(0)).unwrap();
            assert_eq!(left, days.len() as i64 - rows, "{days:?}");
            assert_eq!(CHAIN.verify(&log, false, |_| Ok(None)).unwrap(), Ok(left), "{days:?}");
        }
    }
}
