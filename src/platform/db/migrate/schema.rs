//! The migrations of this version, the schema they produce, and how a database's schema differs from it.

use std::path::Path;
use std::sync::OnceLock;

use rusqlite::Connection;

use crate::platform::db::all;
use crate::platform::failure::{Failure, Result};

/// A migration. Its version is its position in the list, from 1.
#[derive(Debug, Clone, Copy)]
pub struct Migration {
    /// The file name without its version: `schema` for `V1__schema.sql`.
    pub name: &'static str,
    pub sql: &'static str,
}

pub const MIGRATIONS: &[Migration] =
    &[Migration { name: "schema", sql: include_str!("../../../../migrations/V1__schema.sql") }];

/// The table in which refinery records applied migrations: a version that knows fewer refuses the database.
pub const HISTORY: &str = "migration";

/// Name and statement of a table, an index or a trigger: `table kunde` and `CREATE TABLE kunde (…) strict`.
pub type SchemaPart = (String, String);

/// All tables, indexes and triggers, by name, without the two tables that Litestream keeps for itself.
pub fn schema(connection: &Connection) -> Result<Vec<SchemaPart>> {
    let parts = "select type || ' ' || name, sql from sqlite_schema
         where sql is not null and name not like 'sqlite_%' and name <> 'migration'
           and substr(name, 1, 12) <> '_litestream_' order by 1";
    Ok(all(connection, parts, [], |row| Ok((row.get(0)?, row.get(1)?)))?)
}

/// The schema as this version creates it, to compare with a live one.
pub fn fresh_schema() -> Result<&'static [SchemaPart]> {
    static FRESH: OnceLock<Vec<SchemaPart>> = OnceLock::new();
    match FRESH.get() {
        Some(fresh) => Ok(fresh),
        None => made_fresh().map(|made| &**FRESH.get_or_init(|| made)),
    }
}

fn made_fresh() -> Result<Vec<SchemaPart>> {
    let connection = Connection::open_in_memory()?;
    connection.execute_batch("begin")?;
    MIGRATIONS.iter().try_for_each(|migration| connection.execute_batch(migration.sql))?;
    connection.execute_batch("commit")?;
    schema(&connection)
}

/// Refuses a database whose schema another program has changed: a foreign trigger could change what is
/// written.
pub fn refuse_foreign(connection: &Connection, path: &Path) -> Result<()> {
    let (live, fresh) = (schema(connection)?, fresh_schema()?);
    let is_in = |schema: &[SchemaPart], name: &str| schema.iter().any(|(known, _)| known == name);
    let foreign = live.iter().find(|part| !fresh.contains(part)).map(|(name, _)| match is_in(fresh, name) {
        true => format!("ein anderes „{name}“ als diese Version"),
        false => format!("„{name}“, das nicht von partnerd ist"),
    });
    let missing =
        || fresh.iter().find(|(name, _)| !is_in(&live, name)).map(|(name, _)| format!("kein „{name}“"));
    match foreign.or_else(missing) {
        None => Ok(()),
        Some(difference) => Err(Failure::Broken(format!(
            "{} hat {difference}: ein anderes Programm hat sie geändert; das zurücknehmen, oder eine Sicherung \
             zurückholen (`partnerd restore`)",
            path.display()
        ))),
    }
}
