//! The feed of changes (D28): a row for each record that a transaction changed, numbered in the order of commits.
//!
//! [`WriteTx`] sees every write of a table whose records are followed and keeps in mind whose row it was; at its end
//! each of them has one row in the feed, however often it was written. There is one writer at a time, so the numbers
//! of a company grow in the order in which its changes can be seen; what is undone takes its numbers with it.

use std::sync::LazyLock;

use rusqlite::{Connection, named_params, params};
use uuid::Uuid;

use super::TenantId;
use super::tx::{Tx, WriteTx};
use crate::choice;
use crate::failure::Result;
use crate::rules::choice::Choice;
use crate::rules::day::Instant;

choice! {
    /// A kind of record that is followed: the name of its table.
    pub enum Art {
        Kunde = "kunde",
        Artikel = "artikel",
        Beleg = "beleg",
        Wiegung = "wiegung",
        Charge = "charge",
        Kontrakt = "kontrakt",
        Annahmeschein = "annahmeschein",
        Produktionsauftrag = "produktionsauftrag",
    }
}

choice! {
    /// What happened to a record. A state that it has come to says more than that it was made or changed.
    pub enum Aktion {
        Angelegt = "angelegt",
        Geaendert = "geaendert",
        Inaktiv = "inaktiv",
        Abgeschlossen = "abgeschlossen",
        Erledigt = "erledigt",
        Storniert = "storniert",
    }
}

impl Art {
    /// Where a record has its number, its version, and which state says what happened.
    const fn columns(self) -> (&'static str, &'static str, &'static str) {
        const SAME: &str = "status in ('abgeschlossen', 'erledigt', 'storniert') then status";
        match self {
            Art::Kunde => ("kundennr", "version", "status = 'inaktiv' then status"),
            Art::Artikel => ("artikelnummer", "null", "status = 'inaktiv' then status"),
            Art::Beleg => ("beleg_nummer", "version", SAME),
            Art::Wiegung => {
                let states = "status = 'fertig' then 'abgeschlossen' when status = 'storno' then 'storniert'";
                ("wiegeschein_nr", "version", states)
            }
            Art::Charge => ("charge_nr", "version", "false then null"),
            Art::Kontrakt => ("kontrakt_nr", "null", "erledigt = 1 then 'erledigt'"),
            Art::Annahmeschein => ("belegnummer", "null", "status = 'storniert' then status"),
            Art::Produktionsauftrag => ("pa_nummer", "version", SAME),
        }
    }

    fn statement(self) -> String {
        let (nummer, version, states) = self.columns();
        format!(
            "insert into aenderung (tenant_id, nr, art, id, nummer, aktion, am, version)
             select :tenant, 1 + coalesce((select max(nr) from aenderung where tenant_id = :tenant), 0),
               '{art}', id, {nummer}, case when {states} else :sonst end, :am, {version}
             from {art} where tenant_id = :tenant and id = :id",
            art = self.as_str()
        )
    }
}

/// The statements that write the row of a record, in the order of [`Art::ALL`].
static STATEMENTS: LazyLock<Vec<String>> =
    LazyLock::new(|| Art::ALL.iter().map(|art| art.statement()).collect());

/// A record that was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    art: Art,
    id: Uuid,
    is_new: bool,
}

impl Written {
    /// The record, where those of its table are followed.
    pub fn of(table: &str, id: Uuid, is_new: bool) -> Option<Written> {
        Art::parse(table).map(|art| Written { art, id, is_new })
    }

    /// Whether both are about one record.
    pub fn is_of(&self, other: &Written) -> bool {
        (self.art, self.id) == (other.art, other.id)
    }
}

/// Writes the rows of what a transaction wrote.
pub fn add(tx: &WriteTx<'_>, written: &[Written]) -> Result<()> {
    for Written { art, id, is_new } in written {
        let sonst = if *is_new { Aktion::Angelegt } else { Aktion::Geaendert };
        let Some(statement) = STATEMENTS.get(*art as usize) else { continue };
        let sonst = sonst.as_str();
        tx.execute(statement, named_params! {":id": id, ":sonst": sonst, ":am": tx.now()})?;
    }
    Ok(())
}

/// A row of the feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its number.
    pub nr: i64,
    /// The kind of the record.
    pub art: Art,
    /// The record.
    pub id: Uuid,
    /// Its number then.
    pub nummer: Option<String>,
    /// What happened.
    pub aktion: Aktion,
    /// When.
    pub am: Instant,
    /// The version that came of it.
    pub version: Option<i64>,
}

/// Shows the rows from a number on, at most so many, until `visit` says that it has enough.
pub fn each_from(
    tx: &Tx<'_>,
    nr: i64,
    at_most: i64,
    mut visit: impl FnMut(Entry) -> Result<bool>,
) -> Result<()> {
    let statement = "select nr, art, id, nummer, aktion, am, version from aenderung
        where tenant_id = :tenant and nr >= :nr order by nr limit :at_most";
    tx.each_while(statement, named_params! {":nr": nr, ":at_most": at_most}, |row| {
        visit(Entry {
            nr: row.get(0)?,
            art: row.get(1)?,
            id: row.get(2)?,
            nummer: row.get(3)?,
            aktion: row.get(4)?,
            am: row.get(5)?,
            version: row.get(6)?,
        })
    })
}

/// The first and the last row that there is, as number and instant.
pub fn ends(tx: &Tx<'_>) -> Result<Option<[(i64, Instant); 2]>> {
    let end = |direction: &str| {
        let statement =
            format!("select nr, am from aenderung where tenant_id = :tenant order by nr {direction} limit 1");
        tx.optional(&statement, &[], |row| Ok((row.get(0)?, row.get(1)?)))
    };
    Ok(end("asc")?.zip(end("desc")?).map(|(first, last)| [first, last]))
}

/// The number of the newest row of a company; 0 where there is none.
pub fn newest(connection: &Connection, tenant: TenantId) -> Result<i64> {
    let statement = "select coalesce(max(nr), 0) from aenderung where tenant_id = ?1";
    Ok(connection.prepare_cached(statement)?.query_row([tenant], |row| row.get(0))?)
}

/// What tells this database from the one before a restore.
pub fn epoch(tx: &Tx<'_>) -> Result<i64> {
    let epoch = tx.optional("select epoche from aenderung_epoche where id = 1", &[], |row| row.get(0))?;
    Ok(epoch.unwrap_or(0))
}

/// Begins another epoch: the numbers that were given out since the copy was made say nothing of this database.
pub fn begin_epoch(connection: &Connection) -> Result<()> {
    let statement = "insert into aenderung_epoche (id, epoche) values (1, random())
        on conflict (id) do update set epoche = excluded.epoche";
    connection.execute(statement, [])?;
    Ok(())
}

/// Rows that are dropped in one transaction: some milliseconds.
const DROPPED_AT_ONCE: i64 = 5_000;

/// Drops some of the oldest rows of a company, up to the last of them from before an instant, but never the newest row;
/// how many.
pub fn drop_some(connection: &Connection, tenant: TenantId, before: Instant) -> Result<usize> {
    let statement = "delete from aenderung where tenant_id = ?1 and nr <= (
          select max(nr) from (select nr, am from aenderung where tenant_id = ?1 order by nr limit ?3) where am < ?2)
        and nr < (select max(nr) from aenderung where tenant_id = ?1)";
    Ok(connection.execute(statement, params![tenant, before, DROPPED_AT_ONCE])?)
}
