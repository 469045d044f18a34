//! Floods: refused requests of an address or of a key that sends too many are counted, one row an
//! address, key and minute, so that a flood does not fill the disk.
//!
//! The journal has a line for each, so that a kill -9 loses none; in the database the minute that
//! is not over is counted in a table of its own, because a row of the log never changes. Those that are still in
//! the journal when their minute ends have a row of their own.

use rusqlite::{Connection, params};

use super::adding::Adding;
use super::row::Row;
use crate::platform::db::all;
use crate::platform::failure::Result;
use crate::rules::day::Instant;

const MINUTE_MILLIS: i64 = 60_000;

/// Adds a row, or counts it as one of a flood.
pub fn store(adding: &mut Adding<'_>, row: &Row) -> Result<()> {
    if row.flut { count(adding.connection, row) } else { adding.add(row) }
}

fn count(connection: &Connection, row: &Row) -> Result<()> {
    connection
        .prepare_cached(
            "insert into audit_flut (adresse, minute, anzahl, am, request_id, methode, pfad, status, key_id, tenant_id,
               code)
             values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, coalesce(?9, ''), ?10, ?11)
             on conflict (adresse, key_id, minute) do update set anzahl = anzahl + ?3",
        )?
        .execute(params![
            row.adresse,
            row.am.div_euclid(MINUTE_MILLIS),
            row.anzahl,
            row.am,
            row.request_id,
            row.methode,
            row.pfad,
            row.status,
            row.key_id,
            row.tenant_id,
            row.code,
        ])?;
    Ok(())
}

/// Writes the floods of minutes that are over into the log; whether others go on.
pub fn close_past(adding: &mut Adding<'_>, connection: &Connection, now: Instant) -> Result<bool> {
    let this_minute = now.millis().div_euclid(MINUTE_MILLIS);
    let over = format!(
        "select {} from (
           select am, request_id, nullif(key_id, '') as key_id, tenant_id, adresse, methode, null as route_id, pfad,
             status, 0 as dauer_us, 0 as bytes_ein, 0 as bytes_aus, null as subjekt, anzahl, null as person, code
           from audit_flut where minute <> ?1 order by minute, adresse, audit_flut.key_id) a",
        Row::COLUMNS
    );
    let rows = all(connection, &over, [this_minute], Row::read)?;
    rows.iter().try_for_each(|row| adding.add(row))?;
    if !rows.is_empty() {
        connection.prepare_cached("delete from audit_flut where minute <> ?1")?.execute([this_minute])?;
    }
    Ok(connection.prepare_cached("select 1 from audit_flut")?.exists([])?)
}
