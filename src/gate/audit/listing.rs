//! The audit log for a person: rows with names instead of numbers.

use std::fmt;

use rusqlite::types::ToSql;
use rusqlite::{Connection, OptionalExtension, Row};
use serde::Serialize;
use uuid::Uuid;

use crate::failure::Result;
use crate::rules::day::{Day, Instant};

/// Where a row stands in the log, as `20644-17`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Its day (UTC, in days since 1970).
    pub tag: i64,
    /// Its number on that day.
    pub number: i64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.tag, self.number)
    }
}

impl Place {
    /// Reads a place; none where the text is none.
    pub fn parse(text: &str) -> Option<Place> {
        let (tag, number) = text.split_once('-')?;
        let number = number.parse().ok().filter(|number| (1..i64::MAX).contains(number))?;
        Some(Place { tag: tag.parse().ok()?, number })
    }
}

/// A row of the log, as it is shown.
#[derive(Debug, Clone, Serialize)]
pub struct Entry {
    pub day: String,
    pub number: i64,
    pub at: Instant,
    pub request_id: Uuid,
    pub key_id: Option<String>,
    /// What the key is for.
    pub key_label: Option<String>,
    /// The person who acted, where it was no key.
    pub person: Option<i64>,
    pub tenant: Option<String>,
    pub address: String,
    pub method: String,
    /// The pattern of the route; none where no route has the path.
    pub route: Option<String>,
    pub path: String,
    pub status: u16,
    /// The error code of the answer, where it was a refusal.
    pub code: Option<String>,
    pub duration_us: i64,
    pub bytes_in: i64,
    pub bytes_out: i64,
    pub subject: Option<Uuid>,
    /// Requests that the row stands for.
    pub count: i64,
    pub checksum: String,
    /// The number of the company.
    #[serde(skip)]
    pub tenant_id: Option<i64>,
    /// Where it stands.
    #[serde(skip)]
    pub place: Place,
}

/// Which rows are shown.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    pub key_id: Option<String>,
    pub tenant_id: Option<i64>,
    pub status: Option<u16>,
    pub since: Option<Day>,
    /// Only rows from before this day of the log (UTC, in days since 1970).
    pub before_day: Option<i64>,
    /// The newest of them; none means all.
    pub limit: Option<i64>,
}

/// When the newest row was written; none if there is none.
pub fn newest(connection: &Connection) -> Result<Option<Instant>> {
    let statement =
        "select am from audit where tag = (select max(tag) from audit) order by lfd_nr desc limit 1";
    Ok(connection.query_row(statement, [], |row| row.get(0)).optional()?)
}

/// Hands the rows to `show`, the newest first: by when the request came, because reads and refusals are numbered only
/// when the journal is taken in; within a millisecond by their ids, which are made in order.
pub fn entries(
    connection: &Connection,
    selection: &Selection,
    mut show: impl FnMut(Entry) -> std::result::Result<(), String>,
) -> Result<std::result::Result<(), String>> {
    let mut statement = connection.prepare(&format!(
        "{SELECT}
         where (?1 is null or a.key_id = ?1) and (?2 is null or a.tenant_id = ?2)
           and (?3 is null or a.status = ?3) and a.tag >= ?4 and (?5 is null or a.tag < ?5)
         order by a.tag desc, a.am desc, a.request_id desc, a.lfd_nr desc limit ?6"
    ))?;
    let limit = selection.limit.unwrap_or(i64::MAX);
    let since = selection.since.map_or(i64::MIN, Day::number);
    let before = selection.before_day;
    let Selection { key_id, tenant_id, status, .. } = selection;
    let params: [&dyn ToSql; 6] = [key_id, tenant_id, status, &since, &before, &limit];
    let mut rows = statement.query(params)?;
    while let Some(row) = rows.next()? {
        if let Err(complaint) = show(entry(row)?) {
            return Ok(Err(complaint));
        }
    }
    Ok(Ok(()))
}

/// The columns of an [`Entry`] from the rows `a`, with names in place of numbers.
pub const SELECT: &str =
    "select a.tag, a.lfd_nr, a.am, a.request_id, a.key_id, t.name, a.adresse, a.methode, r.muster, a.pfad,
      a.status, a.dauer_us, a.bytes_ein, a.bytes_aus, a.subjekt, a.anzahl, lower(hex(a.pruefsumme)), a.person,
      k.bezeichnung, a.code, a.tenant_id
    from audit a left join tenant t on t.id = a.tenant_id left join route r on r.id = a.route_id
      left join api_key k on k.id = a.key_id";

/// Reads a row of [`SELECT`].
pub fn entry(row: &Row<'_>) -> rusqlite::Result<Entry> {
    let (tag, number) = (row.get(0)?, row.get(1)?);
    Ok(Entry {
        day: Day::of_number(tag).to_string(),
        number,
        at: row.get(2)?,
        request_id: row.get(3)?,
        key_id: row.get(4)?,
        tenant: row.get(5)?,
        address: row.get(6)?,
        method: row.get(7)?,
        route: row.get(8)?,
        path: row.get(9)?,
        status: row.get(10)?,
        duration_us: row.get(11)?,
        bytes_in: row.get(12)?,
        bytes_out: row.get(13)?,
        subject: row.get(14)?,
        count: row.get(15)?,
        checksum: row.get(16)?,
        person: row.get(17)?,
        key_label: row.get(18)?,
        code: row.get(19)?,
        tenant_id: row.get(20)?,
        place: Place { tag, number },
    })
}
