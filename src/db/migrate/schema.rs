//! The schema of a database as SQLite has it, and in what it differs from another.

use std::path::Path;

use refinery::Migration;
use rusqlite::Connection;

use super::runner::of_this_version;
use crate::failure::{Failure, Result};

/// Name and statement of a table, an index or a trigger: `table kunde` and `CREATE TABLE kunde (…) strict`.
pub type Part = (String, String);

/// All tables, indexes and triggers, by name; Litestream keeps two tables of its own.
pub fn schema(connection: &Connection) -> Result<Vec<Part>> {
    let mut statement = connection.prepare(
        "select type || ' ' || name, sql from sqlite_schema
         where sql is not null and name not like 'sqlite_%' and name <> 'refinery_schema_history'
           and substr(name, 1, 12) <> '_litestream_' order by 1",
    )?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The schema as this version creates it, for the comparison with a live one.
pub fn fresh_schema() -> Result<Vec<Part>> {
    made_by(&of_this_version())
}

/// The schema that migrations create.
pub(super) fn made_by(migrations: &[Migration]) -> Result<Vec<Part>> {
    let connection = Connection::open_in_memory()?;
    // Without the runner: a start is not to wait for it.
    connection.execute_batch("begin")?;
    migrations.iter().filter_map(Migration::sql).try_for_each(|sql| connection.execute_batch(sql))?;
    connection.execute_batch("commit")?;
    schema(&connection)
}

/// Refuses a database in which another program has changed the schema: its trigger would change what is written.
pub fn refuse_foreign(connection: &Connection, path: &Path) -> Result<()> {
    refuse_difference(&schema(connection)?, &fresh_schema()?, path)
}

/// Refuses a schema that has more than a fresh one, less, or something else under the same name.
pub(super) fn refuse_difference<S: PartialEq>(
    live: &[(String, S)],
    fresh: &[(String, S)],
    path: &Path,
) -> Result<()> {
    let is_in = |schema: &[(String, S)], name: &str| schema.iter().any(|(known, _)| known == name);
    let foreign = live.iter().find(|part| !fresh.contains(part)).map(|(name, _)| match is_in(fresh, name) {
        true => format!("another {name} than this version"),
        false => format!("a {name}, which partnerd did not make"),
    });
    let missing = || fresh.iter().find(|(name, _)| !is_in(live, name)).map(|(name, _)| format!("no {name}"));
    match foreign.or_else(missing) {
        None => Ok(()),
        Some(difference) => Err(Failure::Broken(format!(
            "{} has {difference}: another program has changed it; undo that, or put a backup in its place \
             (`partnerd restore`)",
            path.display()
        ))),
    }
}
