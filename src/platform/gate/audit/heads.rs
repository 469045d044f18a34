//! The heads of days, for where no SQL reaches them: the server's log, the report of a backup, a sheet of paper. They
//! alone tell when old rows are put back together with their old head.
//!
//! A head is written down as number and checksum of its last row: `audit list --json` shows both for as long as the row
//! is kept, with the secret or without it.

use rusqlite::{Connection, Row};

use super::chain::Pruefsumme;
use crate::platform::db::all;
use crate::platform::failure::Result;
use crate::rules::bytes::hex;
use crate::rules::day::Day;

/// Where the rows of a day end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The day, in days since 1970, UTC.
    pub tag: i64,
    /// Number of the last row.
    pub number: i64,
    pub pruefsumme: Pruefsumme,
}

impl std::fmt::Display for Head {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} Zeile {} Prüfsumme {}", Day::of_number(self.tag), self.number, hex(&self.pruefsumme))
    }
}

fn read(connection: &Connection, table: &str) -> Result<Vec<Head>> {
    let heads = format!("select tag, letzte_nr, pruefsumme from {table} order by tag");
    let head = |row: &Row<'_>| Ok(Head { tag: row.get(0)?, number: row.get(1)?, pruefsumme: row.get(2)? });
    Ok(all(connection, &heads, [], head)?)
}

/// The head of the newest day before another one.
pub fn newest_head(connection: &Connection, before: i64) -> Result<Option<Head>> {
    let heads = read(connection, "audit_tag")?;
    Ok(heads.into_iter().rfind(|head| head.tag < before))
}

/// The heads as a backup copied them, the oldest first.
pub fn copied_heads(backup: &Connection) -> Result<Vec<Head>> {
    let copied = read(backup, "audit_kopie")?;
    if !copied.is_empty() {
        return Ok(copied);
    }
    read(backup, "audit_tag")
}

/// Notes in a copy where the log ends that it has from the database, before it takes in more by itself.
pub fn note_copied(copy: &Connection) -> Result<()> {
    copy.execute_batch(
        "delete from audit_kopie;
         insert into audit_kopie (tag, letzte_nr, pruefsumme) select tag, letzte_nr, pruefsumme from audit_tag;",
    )?;
    Ok(())
}

/// A copy becomes the database: what it has is its own.
pub fn forget_copied(connection: &Connection) -> Result<()> {
    connection.execute("delete from audit_kopie", [])?;
    Ok(())
}
