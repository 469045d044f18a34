//! Migrates a database to the schema of this version.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior, params};
use serde::Serialize;

use super::file::connection::open_writer;
use super::file::copy::{copy, fill_at_once, remove_leftovers};
use super::file::files::{beside, create_database, folder_of};
use super::file::lock;
use super::{log, random};
use crate::platform::failure::{Failure, Result};
use crate::rules::day::{Day, Instant};

mod runner;
mod schema;
mod statistics;

pub use schema::{MIGRATIONS, Migration, fresh_schema, refuse_foreign, schema};

/// A migration, and whether the database has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Step {
    pub version: i64,
    pub name: String,
    pub applied: bool,
}

/// Creates the file if it is missing and applies the missing migrations. `now` becomes the creation time of a
/// new installation. Several processes may call this at once: a lock file beside the database lets one
/// through at a time.
pub fn migrate(path: &Path, now: Instant) -> Result<Vec<Step>> {
    migrate_to(MIGRATIONS, path, now)
}

/// [`migrate`] to other migrations than this version's: tests try a future one.
pub fn migrate_to(migrations: &[Migration], path: &Path, now: Instant) -> Result<Vec<Step>> {
    upgrade(migrations, path, now, true)
}

/// [`migrate`] without keeping a copy of the old database.
pub fn migrate_in_place(path: &Path, now: Instant) -> Result<Vec<Step>> {
    upgrade(MIGRATIONS, path, now, false)
}

fn upgrade(migrations: &[Migration], path: &Path, now: Instant, copied: bool) -> Result<Vec<Step>> {
    create_database(path)?;
    let _one_at_a_time = lock::for_migration(path)?;
    let mut connection = open_writer(path)?;
    let applied = last_applied(&connection)?;
    refuse_newer(applied, migrations)?;
    if applied < last_of(migrations) {
        if copied && applied > 0 {
            keep_copy(&connection, applied + 1, path, now)?;
        }
        apply(&mut connection, migrations)?;
    } else if !statistics::is_written(&connection)? {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        statistics::write(&transaction)?;
        transaction.commit()?;
    }
    create_installation(&connection, now)?;
    steps(&connection, migrations)
}

/// Applies the missing migrations in one transaction, which is committed only after the result has been
/// checked: the runner alone would commit first.
fn apply(connection: &mut Connection, migrations: &[Migration]) -> Result<()> {
    // SQLite ignores this setting inside a transaction; with foreign keys on, rebuilding a table would delete
    // its children.
    connection.execute_batch("pragma foreign_keys = off")?;
    let history = if last_applied(connection)? == 0 { Vec::new() } else { runner::history(connection)? };
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    runner::run(&transaction, migrations, history)?;
    let violations: i64 =
        transaction.query_row("select count(*) from pragma_foreign_key_check", [], |row| row.get(0))?;
    if violations > 0 {
        return Err(Failure::Broken(format!(
            "die Aktualisierung hinterließe {violations} Verweise ins Leere; die Datenbank bleibt deshalb, wie \
             sie ist: eine Kopie aufheben und die Entwickler fragen"
        )));
    }
    statistics::write(&transaction)?;
    Ok(transaction.commit()?)
}

/// Returns the migrations of this version, and which of them the database has.
pub fn status(path: &Path) -> Result<Vec<Step>> {
    status_of(MIGRATIONS, path)
}

/// [`status`] for other migrations than this version's.
pub fn status_of(migrations: &[Migration], path: &Path) -> Result<Vec<Step>> {
    steps(&open_writer(path)?, migrations)
}

/// Whether the file has every migration of this version; refuses a newer database.
pub fn check_current(path: &Path) -> Result<bool> {
    is_of_this_version(&open_writer(path)?)
}

/// [`check_current`] on an open database.
pub fn is_of_this_version(connection: &Connection) -> Result<bool> {
    let applied = last_applied(connection)?;
    refuse_newer(applied, MIGRATIONS)?;
    Ok(applied == last_of(MIGRATIONS))
}

fn steps(connection: &Connection, migrations: &[Migration]) -> Result<Vec<Step>> {
    let applied = last_applied(connection)?;
    let step = |(version, migration): (i64, &Migration)| Step {
        version,
        name: migration.name.to_owned(),
        applied: version <= applied,
    };
    Ok((1..).zip(migrations).map(step).collect())
}

fn last_of(migrations: &[Migration]) -> i64 {
    migrations.len() as i64
}

fn refuse_newer(applied: i64, migrations: &[Migration]) -> Result<()> {
    let known = last_of(migrations);
    if applied <= known {
        return Ok(());
    }
    Err(Failure::Broken(format!(
        "die Datenbank hat Stand {applied}, dieses partnerd kennt {known}: das neuere Programm benutzen, das \
         sie schrieb"
    )))
}

/// The last migration that a database has; 0 if none. Versions before 1.0 used another history table, which
/// is refused.
fn last_applied(connection: &Connection) -> Result<i64> {
    let mut table = connection.prepare("select 1 from sqlite_schema where type = 'table' and name = ?1")?;
    if table.exists(["refinery_schema_history"])? {
        return Err(Failure::Broken(
            "die Datenbank stammt von einer Version vor 1.0: ihre Daten mit jener ausgeben und in eine neue Datenbank \
             importieren"
                .to_owned(),
        ));
    }
    if !table.exists(["migration"])? {
        return Ok(0);
    }
    Ok(connection.query_row("select coalesce(max(version), 0) from migration", [], |row| row.get(0))?)
}

fn create_installation(connection: &Connection, now: Instant) -> Result<()> {
    let secret: [u8; 32] = random()?;
    connection.execute(
        "insert into installation (id, mac_secret, angelegt_am) values (1, ?1, ?2) on conflict do nothing",
        params![secret, now],
    )?;
    Ok(())
}

/// Keeps a copy of a non-empty database beside it before changing its schema:
/// `<database>-before-v9-2026-11-21`, where 9 is the `first` missing migration. At most one a day: an upgrade
/// that fails again and again does not fill the disk.
fn keep_copy(connection: &Connection, first: i64, path: &Path, now: Instant) -> Result<()> {
    // The migration lock keeps others from making such a copy. A killed process may have linked its copy to
    // the final name without removing the temporary one.
    let begins = beside(path, "before-v");
    let begins = begins.file_name().unwrap_or_default().to_string_lossy();
    remove_leftovers(folder_of(path), |name| name.starts_with(&*begins))?;
    let kept = beside(path, &format!("before-v{first}-{}", Day::in_berlin(now)));
    if kept.exists() {
        return Ok(());
    }
    // As a single file, without a log beside it.
    let close = |part: &Path| Ok(Connection::open(part)?.execute_batch("pragma journal_mode = delete")?);
    copy(&kept, |part| fill_at_once(connection, part), close)?;
    log(&format!("before the upgrade to schema {first} a copy was kept in {}", kept.display()));
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::platform::db::file::connection::open_to_look;

    /// Returns the steps of a statement's query plan on a new database.
    pub fn plan_of(sql: &str) -> String {
        let folder = tempfile::TempDir::new().unwrap();
        let database = folder.path().join("test.db");
        migrate(&database, Instant::from_millis(0)).unwrap();
        let connection = open_to_look(&database).unwrap();
        let mut plan = connection.prepare(&format!("explain query plan {sql}")).unwrap();
        let steps = plan.raw_query().mapped(|step| step.get::<_, String>("detail"));
        steps.map(|step| step.unwrap()).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn rows_that_are_written_often_are_checked_without_a_temporary_table() {
        let connection = Connection::open_in_memory().unwrap();
        MIGRATIONS.iter().for_each(|migration| connection.execute_batch(migration.sql).unwrap());
        let texts = |sql: &str, column: usize| -> Vec<String> {
            let mut statement = connection.prepare(sql).unwrap();
            let rows = statement.query_map([], |row| row.get::<_, String>(column)).unwrap();
            rows.map(|row| row.unwrap()).collect()
        };
        let tables = [
            "audit",
            "beleg",
            "beleg_position",
            "beleg_verlauf",
            "charge",
            "lager_offen",
            "lager_paar",
            "lagerbewegung",
            "wiegung",
        ];
        for table in tables {
            let columns = texts(&format!("pragma table_info({table})"), 1);
            let nulls = vec!["null"; columns.len()].join(", ");
            let insert = format!("explain insert into {table} ({}) values ({nulls})", columns.join(", "));
            let steps = texts(&insert, 1);
            assert!(steps.len() > 10 && !steps.contains(&"OpenEphemeral".to_owned()), "{table}: {steps:?}");
        }
    }
}
