//! The log a page at a time, the newest rows first, at bounded cost. A page begins where the one before it ended, by the
//! day and number of a row, and looks at so many rows at most: where few of them fit the filter it ends with fewer, and
//! says where it goes on.

use std::fmt;

use rusqlite::types::ToSql;
use rusqlite::{Connection, OptionalExtension};

use super::listing::{Entry, NUMBER, entry, select_from};
use crate::failure::Result;
use crate::rules::day::Instant;

/// Rows that are looked at for a page, at most.
const LOOKED_AT: i64 = 50_000;

/// Days that are looked at for a page, at most. The log keeps 90, and a wrong clock may have left some more.
const DAYS: i64 = 400;

/// Where a row stands in the log: `20644-17`, or `b-3` for one that was kept when its day was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Its day (UTC, in days since 1970) and its number on it.
    Day(i64, i64),
    /// Its number among those that were kept.
    Kept(i64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Day(tag, number) => write!(f, "{tag}-{number}"),
            Place::Kept(number) => write!(f, "b-{number}"),
        }
    }
}

impl Place {
    /// Reads a place; none where the text is none.
    pub fn parse(text: &str) -> Option<Place> {
        let (tag, number) = text.split_once('-')?;
        let number = number.parse().ok().filter(|number| (1..i64::MAX).contains(number))?;
        Some(if tag == "b" { Place::Kept(number) } else { Place::Day(tag.parse().ok()?, number) })
    }
}

/// Who acted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Who {
    /// Any key.
    Keys,
    /// This key, or whoever changed it.
    Key(String),
    /// Anybody with a browser.
    People,
    /// This person.
    Person(String),
    /// The command line.
    Commands,
    /// Nobody who is known.
    Strangers,
}

impl Who {
    /// The name of the group for the statement, the key and the person.
    fn params(&self) -> (&'static str, Option<&str>, Option<&str>) {
        match self {
            Who::Keys => ("keys", None, None),
            Who::Key(id) => ("", Some(id), None),
            Who::People => ("people", None, None),
            Who::Person(id) => ("", None, Some(id)),
            Who::Commands => ("commands", None, None),
            Who::Strangers => ("strangers", None, None),
        }
    }
}

/// Which rows are shown.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Those of this company.
    pub tenant_id: Option<i64>,
    /// Those of whom.
    pub who: Option<Who>,
    /// Those whose method and path, or whose route, has this in it.
    pub path: Option<String>,
    /// Those with this error code.
    pub code: Option<String>,
    /// Those with a status from this one on, and up to this one.
    pub status_from: Option<u16>,
    pub status_to: Option<u16>,
    /// Only what people or the command line changed.
    pub changes: bool,
    /// Also the pages that people looked at.
    pub views: bool,
    /// Those of requests that came from then on.
    pub from: Option<Instant>,
    /// Those of requests that came before then.
    pub until: Option<Instant>,
    /// Only among so many of the newest rows; none: as many as a page may look at.
    pub looked_at: Option<i64>,
}

/// A row and where it stands.
#[derive(Debug, Clone)]
pub struct Found {
    /// Where it stands.
    pub place: Place,
    /// The row.
    pub entry: Entry,
}

/// A page of the log.
#[derive(Debug, Default)]
pub struct Part {
    /// The rows, the newest first.
    pub rows: Vec<Found>,
    /// Where the next page begins: before this row. None where nothing is left.
    pub next: Option<Place>,
}

impl Part {
    /// Goes on before the last of so many rows, where there are more of them.
    fn cut(&mut self, rows: usize) -> bool {
        if self.rows.len() <= rows {
            return false;
        }
        self.rows.truncate(rows);
        self.next = self.rows.last().map(|found| found.place);
        true
    }

    /// Puts the rows in the order of their requests: reads and refusals are numbered only when the journal is taken in.
    fn sorted(mut self) -> Part {
        self.rows.sort_by_key(|found| std::cmp::Reverse((found.entry.at, found.entry.request_id)));
        self
    }
}

/// So many rows of the log from before a place; without one the newest.
pub fn part(connection: &Connection, filter: &Filter, before: Option<Place>, rows: usize) -> Result<Part> {
    let (mut found, mut left) = (Part::default(), filter.looked_at.unwrap_or(LOOKED_AT).min(LOOKED_AT));
    if !matches!(before, Some(Place::Kept(_))) {
        let last = filter.until.map_or(i64::MAX, |until| until.utc_day());
        let last = if let Some(Place::Day(tag, _)) = before { last.min(tag) } else { last };
        let first = filter.from.map_or(i64::MIN, |from| from.utc_day());
        for (tag, dropped, newest) in heads(connection, first, last)? {
            let newest = match before {
                Some(Place::Day(day, number)) if day == tag => newest.min(number - 1),
                _ => newest,
            };
            let down_to = dropped.max(newest - left);
            read(connection, filter, Range { tag: Some(tag), newest, down_to }, rows, &mut found)?;
            if found.cut(rows) {
                return Ok(found.sorted());
            }
            left -= (newest - down_to).max(0);
            if down_to > dropped || left == 0 {
                found.next = Some(Place::Day(tag, down_to + 1));
                return Ok(found.sorted());
            }
        }
    }
    let newest = match before {
        Some(Place::Kept(number)) => number - 1,
        _ => connection.query_row("select coalesce(max(nr), 0) from audit_bleibt", [], |row| row.get(0))?,
    };
    let down_to = 0.max(newest - left);
    read(connection, filter, Range { tag: None, newest, down_to }, rows, &mut found)?;
    if !found.cut(rows) && down_to > 0 {
        found.next = Some(Place::Kept(down_to + 1));
    }
    Ok(found.sorted())
}

/// The days of the log from the last one on: day, last number that was dropped, last number.
fn heads(connection: &Connection, first: i64, last: i64) -> Result<Vec<(i64, i64, i64)>> {
    let mut statement = connection.prepare_cached(
        "select tag, ab_nr, letzte_nr from audit_tag where tag between ?1 and ?2 order by tag desc limit ?3",
    )?;
    let heads =
        statement.query_map([first, last, DAYS], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    Ok(heads.collect::<rusqlite::Result<_>>()?)
}

/// Rows of a day, or of those that were kept, from a number down to before another.
struct Range {
    tag: Option<i64>,
    newest: i64,
    down_to: i64,
}

impl Range {
    fn statement(&self) -> String {
        let (table, number, range) = match self.tag {
            Some(_) => ("audit", "a.lfd_nr", "a.tag = ?1"),
            None => ("audit_bleibt", "a.nr", "?1 is null"),
        };
        format!(
            "{} where {range} and {number} <= ?2 and {number} > ?3 and {FILTER} order by {number} desc limit ?4",
            select_from(table)
        )
    }
}

const FILTER: &str = "(?5 is null or a.tenant_id = ?5)
    and (?6 is null or a.key_id = ?6 or a.methode = '' and a.pfad like 'key ' || ?6 || ' %')
    and (?7 is null or a.person = ?7)
    and case ?8 when 'keys' then a.key_id is not null when 'people' then a.person is not null
      when 'commands' then a.befehl is not null when 'strangers' then coalesce(a.key_id, a.person, a.befehl) is null
      else 1 end
    and (?9 is null or instr(a.methode || ' ' || a.pfad, ?9) > 0 or instr(r.methode || ' ' || r.muster, ?9) > 0)
    and (?10 is null or a.code = ?10) and a.status between ?11 and ?12
    and (not ?13 or a.methode = '' and (a.person is not null or a.befehl is not null))
    and (?14 or a.person is null or a.methode <> 'GET' or a.status >= 400)
    and a.am >= ?15 and a.am < ?16";

/// Adds the rows of a range that fit, up to one more than `rows` in all.
fn read(connection: &Connection, filter: &Filter, range: Range, rows: usize, found: &mut Part) -> Result<()> {
    let (group, key, person) = filter.who.as_ref().map_or(("", None, None), Who::params);
    let limit = (rows + 1).saturating_sub(found.rows.len()) as i64;
    let (status_from, status_to) = (filter.status_from.unwrap_or(0), filter.status_to.unwrap_or(u16::MAX));
    let from = filter.from.map_or(i64::MIN, Instant::millis);
    let until = filter.until.map_or(i64::MAX, Instant::millis);
    let params: [&dyn ToSql; 16] = [
        &range.tag,
        &range.newest,
        &range.down_to,
        &limit,
        &filter.tenant_id,
        &key,
        &person,
        &group,
        &filter.path,
        &filter.code,
        &status_from,
        &status_to,
        &filter.changes,
        &filter.views,
        &from,
        &until,
    ];
    let mut statement = connection.prepare_cached(&range.statement())?;
    let mut read = statement.query(params)?;
    while let Some(row) = read.next()? {
        let number = row.get(NUMBER)?;
        let place = range.tag.map_or(Place::Kept(number), |tag| Place::Day(tag, number));
        found.rows.push(Found { place, entry: entry(row)? });
    }
    Ok(())
}

/// The row at a place, if it is one of this company; without a company any.
pub fn find(connection: &Connection, place: Place, tenant_id: Option<i64>) -> Result<Option<Entry>> {
    let (table, range, tag, number) = match place {
        Place::Day(tag, number) => ("audit", "a.tag = ?1 and a.lfd_nr = ?2", tag, number),
        Place::Kept(number) => ("audit_bleibt", "?1 = 0 and a.nr = ?2", 0, number),
    };
    let sql = format!("{} where {range} and (?3 is null or a.tenant_id = ?3)", select_from(table));
    let mut statement = connection.prepare_cached(&sql)?;
    Ok(statement.query_row((tag, number, tenant_id), entry).optional()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::connection::open_to_look;
    use crate::db::migrate::migrate;

    #[test]
    fn the_newest_rows_are_read_first_and_none_is_sorted() {
        let folder = tempfile::TempDir::new().unwrap();
        let database = folder.path().join("test.db");
        migrate(&database, Instant::from_millis(0)).unwrap();
        let connection = open_to_look(&database).unwrap();
        for tag in [Some(20_644), None] {
            let statement = Range { tag, newest: 1, down_to: 0 }.statement();
            let mut plan = connection.prepare(&format!("explain query plan {statement}")).unwrap();
            let steps = plan.raw_query().mapped(|step| step.get::<_, String>("detail"));
            let steps = steps.map(|step| step.unwrap()).collect::<Vec<_>>().join("; ");
            assert!(steps.contains("SEARCH a USING") && steps.contains("<?"), "{steps}");
            assert!(!steps.contains("B-TREE"), "{steps}");
        }
    }
}
