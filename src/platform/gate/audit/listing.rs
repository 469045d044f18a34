//! The audit log for a person: rows with names instead of numbers.

use rusqlite::Connection;
use rusqlite::types::ToSql;
use serde::Serialize;
use uuid::Uuid;

use crate::platform::db::record::record;
use crate::platform::failure::Result;
use crate::rules::day::{Day, Instant};

record! {
    /// A row of the log for a person, from the tables of [`FROM`].
    #[derive(Debug, Clone, Serialize)]
    pub struct Entry from audit as a {
        day: String = |tag| { Day::of_number(tag).to_string() },
        number: i64 = "a.nr",
        at: Instant = "a.am",
        request_id: Uuid,
        key_id: Option<String>,
        key_label: Option<String> = "k.bezeichnung",
        /// The person who acted, where it was no key.
        person: Option<i64>,
        tenant: Option<String> = "t.name",
        address: String = "a.adresse",
        method: String = "a.methode",
        /// The pattern of the route; none where no route has the path.
        route: Option<String> = "r.muster",
        path: String = "a.pfad",
        status: u16,
        /// The error code of the answer, where it was a refusal.
        code: Option<String>,
        duration_us: i64 = "a.dauer_us",
        bytes_in: i64 = "a.bytes_ein",
        bytes_out: i64 = "a.bytes_aus",
        subject: Option<Uuid> = "a.subjekt",
        count: i64 = "a.anzahl",
        checksum: String = "lower(hex(a.pruefsumme))",
        #[serde(skip)]
        tenant_id: Option<i64>,
    } with {
        tag,
    }
}

#[derive(Debug, Clone, Default)]
pub struct Selection {
    pub key_id: Option<String>,
    pub tenant_id: Option<i64>,
    pub status: Option<u16>,
    pub since: Option<Day>,
    /// Only rows up to this number.
    pub up_to: Option<i64>,
    /// The newest of them; none means all.
    pub limit: Option<i64>,
}

/// A clock may stand this much before the newest row: a minute of difference between clocks is normal.
const CLOCK_TOLERANCE_MILLIS: i64 = 60_000;

/// Days without a row after which the clock is doubted: hardly a firm rests for so long.
const CLOCK_AHEAD_DAYS: i64 = 31;

/// What is doubtful of a clock that says `now`, as the newest row of the logs has it: whether it stands before
/// that row, and a sentence with what to do.
pub fn of_clock(newest: Instant, now: Instant) -> Option<(bool, String)> {
    if newest.millis() > now.millis() + CLOCK_TOLERANCE_MILLIS {
        let advice = "die Uhr dieses Rechners stellen";
        return Some((
            true,
            format!("die Uhr sagt {now}, im Protokoll steht schon etwas von {newest}: {advice}"),
        ));
    }
    let days = now.utc_day() - newest.utc_day();
    let sentence = || {
        format!(
            "die Uhr sagt {now}, {days} Tage nach dem Letzten im Protokoll ({newest}): ruhte der Betrieb \
             nicht so lange, die Uhr dieses Rechners stellen, bevor etwas gespeichert wird"
        )
    };
    (days >= CLOCK_AHEAD_DAYS).then(|| (false, sentence()))
}

/// When the newest row of both logs was written; none if there is none.
pub fn newest_of_both(connection: &Connection) -> Result<Option<Instant>> {
    let newest = "select max(am) from (
          select * from (select am from audit where tag = (select max(tag) from audit) order by nr desc limit 1)
          union all select * from (select am from verwaltung order by nr desc limit 1))";
    Ok(connection.query_row(newest, [], |row| row.get(0))?)
}

/// Hands the rows to `show`, the newest first: by when the request came, because reads and refusals are numbered only
/// when the journal is taken in; within a millisecond by their ids, which are made in order.
pub fn entries(
    connection: &Connection,
    selection: &Selection,
    mut show: impl FnMut(Entry) -> std::result::Result<(), String>,
) -> Result<std::result::Result<(), String>> {
    let mut statement = connection.prepare(&format!(
        "select {} {FROM}
         where (?1 is null or a.key_id = ?1) and (?2 is null or a.tenant_id = ?2)
           and (?3 is null or a.status = ?3) and a.tag >= ?4 and +a.nr <= ?5
         order by a.tag desc, a.am desc, a.request_id desc, a.nr desc limit ?6",
        Entry::COLUMNS
    ))?;
    let limit = selection.limit.unwrap_or(i64::MAX);
    let since = selection.since.map_or(i64::MIN, Day::number);
    let up_to = selection.up_to.unwrap_or(i64::MAX);
    let Selection { key_id, tenant_id, status, .. } = selection;
    let params: [&dyn ToSql; 6] = [key_id, tenant_id, status, &since, &up_to, &limit];
    let mut rows = statement.query(params)?;
    while let Some(row) = rows.next()? {
        if let Err(complaint) = show(Entry::read(row)?) {
            return Ok(Err(complaint));
        }
    }
    Ok(Ok(()))
}

/// The rows `a`, with what has names in place of their numbers.
pub const FROM: &str =
    "from audit a left join tenant t on t.id = a.tenant_id left join route r on r.id = a.route_id
      left join api_key k on k.id = a.key_id";
