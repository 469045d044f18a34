//! The read side of the feed of changes (D28), and the removal of old rows. `followed` writes the feed.

pub mod followed;

use rusqlite::{Connection, named_params};
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use super::TenantId;
use super::record::record;
use super::tx::Tx;
use crate::platform::failure::Result;
use crate::rules::day::Instant;
use followed::{Aktion, Art};

record! {
    /// A change of a record, as clients see it.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
    #[schemars(rename = "Aenderung")]
    pub struct FeedEntry from aenderung as a {
        #[serde(skip)]
        nr: i64,
        art: Art,
        id: Uuid,
        /// The record's number at the time of the change.
        nummer: Option<String>,
        aktion: Aktion,
        am: Instant,
        /// The version of the record after the change.
        version: Option<i64>,
    }
}

/// Visits at most `at_most` rows from number `nr` on, until `visit` returns false.
pub fn each_from(
    tx: &Tx<'_>,
    nr: i64,
    at_most: i64,
    mut visit: impl FnMut(FeedEntry) -> Result<bool>,
) -> Result<()> {
    let statement = format!(
        "select {} from aenderung a where tenant_id = :tenant and nr >= :nr order by nr limit :at_most",
        FeedEntry::COLUMNS
    );
    let params = named_params! {":nr": nr, ":at_most": at_most};
    tx.each_while(&statement, params, |row| visit(FeedEntry::read(row)?))
}

/// Number and instant of the first and of the last row; `None` if the feed is empty.
pub fn ends(tx: &Tx<'_>) -> Result<Option<[(i64, Instant); 2]>> {
    let end = |direction: &str| {
        let statement =
            format!("select nr, am from aenderung where tenant_id = :tenant order by nr {direction} limit 1");
        tx.optional(&statement, &[], |row| Ok((row.get(0)?, row.get(1)?)))
    };
    Ok(end("asc")?.zip(end("desc")?).map(|(first, last)| [first, last]))
}

/// The number of a tenant's newest row; 0 if there is none.
pub fn newest(connection: &Connection, tenant: TenantId) -> Result<i64> {
    let statement = "select coalesce(max(nr), 0) from aenderung where tenant_id = :tenant";
    Ok(connection
        .prepare_cached(statement)?
        .query_row(named_params! {":tenant": tenant}, |row| row.get(0))?)
}

/// A random number that distinguishes this database from the one before a restore; 0 if none was ever
/// restored.
pub fn epoch(tx: &Tx<'_>) -> Result<i64> {
    let epoch = tx.optional("select epoche from aenderung_epoche where id = 1", &[], |row| row.get(0))?;
    Ok(epoch.unwrap_or(0))
}

/// Begins a new epoch: numbers handed out since the backup was made mean nothing in this database.
pub fn begin_epoch(connection: &Connection) -> Result<()> {
    let statement = "insert into aenderung_epoche (id, epoche) values (1, random())
        on conflict (id) do update set epoche = excluded.epoche";
    connection.execute(statement, [])?;
    Ok(())
}

/// Days for which changes are kept (D28).
pub const DAYS: i64 = 90;

/// Rows dropped in one transaction: takes some milliseconds.
const ROWS_DROPPED_MAX: i64 = 5_000;

/// Drops up to `ROWS_DROPPED_MAX` of a tenant's oldest rows: all up to the last one older than `before`, but
/// never the newest row. Returns how many.
pub fn drop_some(connection: &Connection, tenant: TenantId, before: Instant) -> Result<usize> {
    let statement = "delete from aenderung where tenant_id = :tenant and nr <= (
          select max(nr) from (select nr, am from aenderung where tenant_id = :tenant order by nr limit :at_once)
          where am < :before)
        and nr < (select max(nr) from aenderung where tenant_id = :tenant)";
    let params = named_params! {":tenant": tenant, ":before": before, ":at_once": ROWS_DROPPED_MAX};
    Ok(connection.execute(statement, params)?)
}
