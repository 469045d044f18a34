//! The write side of the feed of changes (D28): one row for each record that a transaction changed, numbered
//! in commit order.
//!
//! [`WriteTx`](crate::platform::db::tx::WriteTx) sees every write to a followed table and remembers the
//! record. At the end of the transaction each remembered record gets one row in the feed, however often it
//! was written. There is one writer at a time, so a tenant's numbers grow in the order in which its changes
//! become visible; a rollback takes its numbers with it.

use std::sync::LazyLock;

use rusqlite::{Connection, OptionalExtension, named_params};
use uuid::Uuid;

use crate::choice;
use crate::platform::db::TenantId;
use crate::platform::failure::Result;
use crate::rules::choice::Choice;
use crate::rules::day::Instant;

choice! {
    /// A kind of record that the feed follows; the value is the name of its table.
    pub enum Art {
        Kunde = "kunde",
        Artikel = "artikel",
        Beleg = "beleg",
        Wiegung = "wiegung",
        Charge = "charge",
        Kontrakt = "kontrakt",
        Annahmeschein = "annahmeschein",
        Produktionsauftrag = "produktionsauftrag",
        Abrechnungsschema = "abrechnungsschema",
    }
}

choice! {
    /// What happened to a record. A state that the record has reached takes precedence over created or
    /// changed.
    pub enum Aktion {
        Angelegt = "angelegt",
        Geaendert = "geaendert",
        Inaktiv = "inaktiv",
        Abgeschlossen = "abgeschlossen",
        Erledigt = "erledigt",
        Storniert = "storniert",
        Geloescht = "geloescht",
    }
}

impl Art {
    /// Returns the SQL for a record's number and version, and the CASE branches that map its state to an
    /// action.
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
            Art::Abrechnungsschema => ("nummer", "null", "false then null"),
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

/// The statements that insert a record's feed row, in the order of [`Art::ALL`].
static STATEMENTS: LazyLock<Vec<String>> =
    LazyLock::new(|| Art::ALL.iter().map(|art| art.statement()).collect());

/// A record that was written.
pub struct Written {
    pub art: Art,
    pub id: Uuid,
    pub is_new: bool,
}

/// Number and version of a record that is about to be deleted.
pub type Last = (Option<String>, Option<i64>);

pub fn last(connection: &Connection, tenant: TenantId, art: Art, id: Uuid) -> Result<Option<Last>> {
    let (nummer, version, _) = art.columns();
    let statement =
        format!("select {nummer}, {version} from {art} where tenant_id = ?1 and id = ?2", art = art.as_str());
    let mut statement = connection.prepare_cached(&statement)?;
    Ok(statement.query_row((tenant, id), |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
}

/// Adds the feed row of a deleted record.
pub fn add_deleted(
    connection: &Connection,
    tenant: TenantId,
    am: Instant,
    (art, id): (Art, Uuid),
    (nummer, version): Last,
) -> Result<()> {
    let statement = "insert into aenderung (tenant_id, nr, art, id, nummer, aktion, am, version)
        select :tenant, 1 + coalesce(max(nr), 0), :art, :id, :nummer, :aktion, :am, :version
        from aenderung where tenant_id = :tenant";
    connection.prepare_cached(statement)?.execute(named_params! {
        ":tenant": tenant,
        ":art": art.as_str(),
        ":id": id,
        ":nummer": nummer,
        ":aktion": Aktion::Geloescht.as_str(),
        ":am": am,
        ":version": version,
    })?;
    Ok(())
}

/// Adds the feed rows for the records that a tenant's transaction wrote.
pub fn add(connection: &Connection, tenant: TenantId, am: Instant, written: &[Written]) -> Result<()> {
    for Written { art, id, is_new } in written {
        let sonst = if *is_new { Aktion::Angelegt } else { Aktion::Geaendert };
        let Some(statement) = STATEMENTS.get(*art as usize) else { continue };
        let params = named_params! {":tenant": tenant, ":id": id, ":sonst": sonst.as_str(), ":am": am};
        connection.prepare_cached(statement)?.execute(params)?;
    }
    Ok(())
}
