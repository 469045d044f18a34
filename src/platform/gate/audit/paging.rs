//! The log a page at a time, the newest rows first, at bounded cost. A page begins where the one before it ended, by the
//! day and number of a row, and looks at so many rows at most: where few of them fit the filter it ends with fewer, and
//! says where it goes on.

use std::cmp::Reverse;

use rusqlite::types::ToSql;
use rusqlite::{Connection, OptionalExtension};

use super::listing::{Entry, FROM, Place};
use crate::platform::db::all;
use crate::platform::failure::Result;
use crate::rules::day::Instant;

/// Rows that are looked at for a page, at most.
const ROWS_LOOKED_AT_MAX: i64 = 50_000;

/// Days that are looked at for a page, at most. The log keeps 90, and a wrong clock may have left some more.
const DAYS: i64 = 400;

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
    /// Where the next page begins: before this row. None where nothing is left.
    pub next: Option<Place>,
}

impl LogPage {
    /// Goes on before the last of so many rows, where there are more of them.
    fn cut(&mut self, rows: usize) -> bool {
        if self.rows.len() <= rows {
            return false;
        }
        self.rows.truncate(rows);
        self.next = self.rows.last().map(|entry| entry.place);
        true
    }
}

/// So many rows of the log from before a place; without one the newest.
pub fn log_page(
    connection: &Connection,
    filter: &Filter,
    before: Option<Place>,
    rows: usize,
) -> Result<LogPage> {
    let (mut found, mut left) =
        (LogPage::default(), filter.looked_at.unwrap_or(ROWS_LOOKED_AT_MAX).min(ROWS_LOOKED_AT_MAX));
    let last = filter.until.map_or(i64::MAX, |until| until.utc_day());
    let last = before.map_or(last, |before| last.min(before.tag));
    let first = filter.from.map_or(i64::MIN, |from| from.utc_day());
    for (tag, dropped, newest) in heads(connection, first, last)? {
        let newest = before.filter(|before| before.tag == tag).map_or(newest, |at| newest.min(at.number - 1));
        let down_to = dropped.max(newest - left);
        read(connection, filter, [tag, newest, down_to], rows, &mut found)?;
        if found.cut(rows) {
            break;
        }
        left -= (newest - down_to).max(0);
        if down_to > dropped || left == 0 {
            found.next = Some(Place { tag, number: down_to + 1 });
            break;
        }
    }
    // By their requests: reads and refusals are numbered only when the journal is taken in.
    found.rows.sort_by_key(|entry| Reverse((entry.at, entry.request_id)));
    Ok(found)
}

/// The days of the log from the last one on: day, last number that was dropped, last number.
fn heads(connection: &Connection, first: i64, last: i64) -> Result<Vec<(i64, i64, i64)>> {
    let heads =
        "select tag, ab_nr, letzte_nr from audit_tag where tag between ?1 and ?2 order by tag desc limit ?3";
    Ok(all(connection, heads, [first, last, DAYS], |row| row.try_into())?)
}

/// The rows of a day from a number down to before another.
fn statement() -> String {
    format!(
        "select {} {FROM} where a.tag = ?1 and a.lfd_nr <= ?2 and a.lfd_nr > ?3 and {FILTER} order by a.lfd_nr desc limit ?4",
        Entry::COLUMNS
    )
}

const FILTER: &str = "(?5 is null or a.tenant_id = ?5)
    and (?6 is null or a.key_id = ?6) and (?7 is null or a.person = ?7)
    and case ?8 when 'keys' then a.key_id is not null when 'people' then a.person is not null
      when 'strangers' then coalesce(a.key_id, a.person) is null else 1 end
    and (?9 is null or instr(a.methode || ' ' || a.pfad, ?9) > 0 or instr(r.methode || ' ' || r.muster, ?9) > 0)
    and (?10 is null or a.code = ?10) and a.status between ?11 and ?12
    and (?13 or a.person is null or a.methode <> 'GET' or a.status >= 400)
    and a.am >= ?14 and a.am < ?15";

/// Adds the rows of a day that fit, from the newest number down to before another, up to one more than `rows` in all.
fn read(
    connection: &Connection,
    filter: &Filter,
    [tag, newest, down_to]: [i64; 3],
    rows: usize,
    found: &mut LogPage,
) -> Result<()> {
    let (group, key, person) = filter.who.as_ref().map_or(("", None, None), Who::params);
    let limit = (rows + 1).saturating_sub(found.rows.len()) as i64;
    let (status_from, status_to) = (filter.status_from.unwrap_or(0), filter.status_to.unwrap_or(u16::MAX));
    let from = filter.from.map_or(i64::MIN, Instant::millis);
    let until = filter.until.map_or(i64::MAX, Instant::millis);
    let params: [&dyn ToSql; 15] = [
        &tag,
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
    found.rows.extend(all(connection, &statement(), params, Entry::read)?);
    Ok(())
}

/// The row at a place, if it is one of this company; without a company any.
pub fn find(connection: &Connection, place: Place, tenant_id: Option<i64>) -> Result<Option<Entry>> {
    let sql = format!(
        "select {} {FROM} where a.tag = ?1 and a.lfd_nr = ?2 and (?3 is null or a.tenant_id = ?3)",
        Entry::COLUMNS
    );
    let mut statement = connection.prepare_cached(&sql)?;
    Ok(statement.query_row((place.tag, place.number, tenant_id), Entry::read).optional()?)
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
