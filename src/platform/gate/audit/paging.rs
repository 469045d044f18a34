//! The log a page at a time, the newest rows first, at bounded cost. A page begins where the one before it
//! ended, by the number of a row, and looks at so many rows at most: where few of them fit the filter it ends
//! with fewer, and says where it goes on.

use std::cmp::Reverse;

use rusqlite::types::ToSql;
use rusqlite::{Connection, OptionalExtension};

use super::days::numbers;
use super::listing::{Entry, FROM};
use crate::platform::db::all;
use crate::platform::failure::Result;
use crate::rules::day::Instant;

/// Rows that are looked at for a page, at most.
const ROWS_LOOKED_AT_MAX: i64 = 50_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Who {
    Keys,
    Key(String),
    /// Anybody with a browser.
    People,
    Person(i64),
    /// Nobody who is known.
    Strangers,
}

impl Who {
    /// The name of the group for the statement, the key and the person.
    fn params(&self) -> (&'static str, Option<&str>, Option<i64>) {
        match self {
            Who::Keys => ("keys", None, None),
            Who::Key(id) => ("", Some(id), None),
            Who::People => ("people", None, None),
            Who::Person(id) => ("", None, Some(*id)),
            Who::Strangers => ("strangers", None, None),
        }
    }
}

#[derive(Debug, Clone, Default)]
pub struct Filter {
    pub tenant_id: Option<i64>,
    pub who: Option<Who>,
    /// Those whose method and path, or whose route, has this in it.
    pub path: Option<String>,
    pub code: Option<String>,
    /// Those with a status from this one on, and up to this one.
    pub status_from: Option<u16>,
    pub status_to: Option<u16>,
    /// Also the pages that people looked at.
    pub views: bool,
    pub from: Option<Instant>,
    pub until: Option<Instant>,
    /// Only among so many of the newest rows; none: as many as a page may look at.
    pub looked_at: Option<i64>,
}

#[derive(Debug, Default)]
pub struct LogPage {
    pub rows: Vec<Entry>,
    /// Where the next page begins: before the row with this number. None where nothing is left.
    pub next: Option<i64>,
}

/// So many rows of the log from before the one with a number; without it the newest.
pub fn log_page(
    connection: &Connection,
    filter: &Filter,
    before: Option<i64>,
    rows: usize,
) -> Result<LogPage> {
    let first = filter.from.map_or(i64::MIN, |from| from.utc_day());
    let last = filter.until.map_or(i64::MAX, |until| until.utc_day());
    let Some((first, last)) = numbers(connection, [first, last], before.unwrap_or(i64::MAX))? else {
        return Ok(LogPage::default());
    };
    let looked_at = filter.looked_at.unwrap_or(ROWS_LOOKED_AT_MAX).min(ROWS_LOOKED_AT_MAX);
    let down_to = first.max(last - looked_at + 1);
    let mut found = read(connection, filter, [last, down_to], rows + 1)?;
    let next = match found.len() > rows {
        true => {
            found.truncate(rows);
            found.last().map(|entry| entry.number)
        }
        false => (down_to > first).then_some(down_to),
    };
    // By their requests: reads and refusals are numbered only when the journal is taken in.
    found.sort_by_key(|entry| Reverse((entry.at, entry.request_id)));
    Ok(LogPage { rows: found, next })
}

/// The rows from a number down to another.
fn statement() -> String {
    format!(
        "select {} {FROM} where a.nr <= ?1 and a.nr >= ?2 and {FILTER} order by a.nr desc limit ?3",
        Entry::COLUMNS
    )
}

const FILTER: &str = "(?4 is null or a.tenant_id = ?4)
    and (?5 is null or a.key_id = ?5) and (?6 is null or a.person = ?6)
    and case ?7 when 'keys' then a.key_id is not null when 'people' then a.person is not null
      when 'strangers' then coalesce(a.key_id, a.person) is null else 1 end
    and (?8 is null or instr(a.methode || ' ' || a.pfad, ?8) > 0 or instr(r.methode || ' ' || r.muster, ?8) > 0)
    and (?9 is null or a.code = ?9) and a.status between ?10 and ?11
    and (?12 or a.person is null or a.methode <> 'GET' or a.status >= 400)
    and a.am >= ?13 and a.am < ?14";

/// The rows that fit, from the newest number down to another, so many at most.
fn read(
    connection: &Connection,
    filter: &Filter,
    [newest, down_to]: [i64; 2],
    rows: usize,
) -> Result<Vec<Entry>> {
    let (group, key, person) = filter.who.as_ref().map_or(("", None, None), Who::params);
    let limit = rows as i64;
    let (status_from, status_to) = (filter.status_from.unwrap_or(0), filter.status_to.unwrap_or(u16::MAX));
    let from = filter.from.map_or(i64::MIN, Instant::millis);
    let until = filter.until.map_or(i64::MAX, Instant::millis);
    let params: [&dyn ToSql; 14] = [
        &newest,
        &down_to,
        &limit,
        &filter.tenant_id,
        &key,
        &person,
        &group,
        &filter.path,
        &filter.code,
        &status_from,
        &status_to,
        &filter.views,
        &from,
        &until,
    ];
    Ok(all(connection, &statement(), params, Entry::read)?)
}

/// The row with a number, if it is one of this company; without a company any.
pub fn find(connection: &Connection, number: i64, tenant_id: Option<i64>) -> Result<Option<Entry>> {
    let sql =
        format!("select {} {FROM} where a.nr = ?1 and (?2 is null or a.tenant_id = ?2)", Entry::COLUMNS);
    let mut statement = connection.prepare_cached(&sql)?;
    Ok(statement.query_row((number, tenant_id), Entry::read).optional()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::db::migrate::tests::plan_of;

    #[test]
    fn the_newest_rows_are_read_first_and_none_is_sorted() {
        let steps = plan_of(&statement());
        assert!(steps.contains("SEARCH a USING") && steps.contains("<?"), "{steps}");
        assert!(!steps.contains("B-TREE"), "{steps}");
    }
}
