//! Days of the log (UTC, as numbers since 1970). Its rows are numbered as they come in, which around midnight,
//! or when a clock was wrong, is not the order of their days.

use rusqlite::{Connection, named_params};

use crate::platform::failure::Result;
use crate::rules::day::Day;

/// Goes from day to day, the last one first, with a look-up or three for each.
const NUMBERS: &str = "with recursive tage (tag) as (
      select max(tag) from audit where tag <= :last
      union all select (select max(tag) from audit where tag < tage.tag) from tage where tag > :first)
    select min((select min(nr) from audit where tag = tage.tag and nr < :below)),
      max((select max(nr) from audit where tag = tage.tag and nr < :below))
    from tage where tag >= :first";

/// The first and the last number of a row of the days from `first` to `last` that is `below` another one.
pub fn numbers(connection: &Connection, [first, last]: [i64; 2], below: i64) -> Result<Option<(i64, i64)>> {
    let params = named_params! {":first": first, ":last": last, ":below": below};
    let mut numbers = connection.prepare_cached(NUMBERS)?;
    let (first, last): (Option<i64>, Option<i64>) = numbers.query_row(params, |row| row.try_into())?;
    Ok(first.zip(last))
}

/// The first and the last day that the log has; none where it has none.
pub fn days(connection: &Connection) -> Result<Option<(Day, Day)>> {
    let ends = "select (select min(tag) from audit), (select max(tag) from audit)";
    let (first, last): (Option<i64>, Option<i64>) = connection.query_row(ends, [], |row| row.try_into())?;
    Ok(first.map(Day::of_number).zip(last.map(Day::of_number)))
}

#[cfg(test)]
pub mod tests {
    use tempfile::TempDir;

    use super::*;
    use crate::platform::db::file::connection::open_writer;
    use crate::platform::db::migrate::migrate;
    use crate::platform::db::migrate::tests::plan_of;
    use crate::platform::gate::audit::Row;
    use crate::rules::day::Instant;

    /// A log with a row of each of these days, in this order.
    pub fn log_of(days: &[i64]) -> (TempDir, Connection) {
        let folder = TempDir::new().unwrap();
        let database = folder.path().join("test.db");
        migrate(&database, Instant::from_millis(0)).unwrap();
        let connection = open_writer(&database).unwrap();
        for day in days {
            Row { am: day * Instant::MILLIS_PER_DAY, ..Row::default() }.insert(&connection).unwrap();
        }
        (folder, connection)
    }

    #[test]
    fn days_have_the_numbers_of_their_rows_in_whatever_order_they_came() {
        let (_folder, log) = log_of(&[7, 7, 8, 7, 400, 8, 0, 9]);
        let cases = [
            ([i64::MIN, i64::MAX], i64::MAX, Some((1, 8))),
            ([7, 7], i64::MAX, Some((1, 4))),
            ([8, 8], i64::MAX, Some((3, 6))),
            ([8, 9], i64::MAX, Some((3, 8))),
            ([8, 9], 8, Some((3, 6))),
            ([8, 9], 3, None),
            ([i64::MIN, 6], i64::MAX, Some((7, 7))),
            ([10, 399], i64::MAX, None),
            ([10, i64::MAX], i64::MAX, Some((5, 5))),
            ([401, i64::MAX], i64::MAX, None),
        ];
        for (between, below, expected) in cases {
            assert_eq!(numbers(&log, between, below).unwrap(), expected, "{between:?} below {below}");
        }
        let ends = days(&log).unwrap();
        assert_eq!(ends, Some((Day::of_number(0), Day::of_number(400))));
        assert_eq!(days(&log_of(&[]).1).unwrap(), None);
    }

    #[test]
    fn numbers_of_days_are_looked_up_and_no_row_is_walked_over() {
        let steps = plan_of(NUMBERS);
        assert!(steps.contains("USING INDEX audit_tag (tag=? AND rowid<?)"), "{steps}");
        assert!(!steps.contains("SCAN audit") && !steps.contains("B-TREE"), "{steps}");
    }
}
