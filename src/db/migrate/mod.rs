//! Bringing a database to the schema of this version.

use std::path::Path;

use refinery::{Migration, Runner};
use rusqlite::{Connection, TransactionBehavior};

use super::connection::open_writer;
use super::copy::{copy, fill_at_once, remove_leftovers};
use super::files::{beside, create_private, folder_of};
use super::owner::give_to_owner_of;
use super::{lock, log, statistics};
use crate::failure::{Failure, Result};
use crate::rules::day::{Day, Instant};
use runner::{Within, not_migrated};

mod old;
mod runner;
mod schema;

pub use runner::of_this_version;
pub use schema::{fresh_schema, refuse_foreign, schema};

/// One migration, and whether the database has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Number of the migration.
    pub version: i64,
    /// Its name.
    pub name: String,
    /// Whether it was applied.
    pub applied: bool,
}

/// What a migration needs done that SQL cannot say: it runs after all migrations, in their transaction, where its own
/// was among them.
#[derive(Clone, Copy)]
pub struct Adoption {
    /// The name of its migration: `silo` is that of `V2__silo.sql`.
    pub migration: &'static str,
    /// What it does, now.
    pub run: fn(&Connection, Instant) -> Result<()>,
}

/// Creates the file if need be and applies what is missing; `now` is when the installation was
/// made, if it is made now. Several processes may do this at once: a lock file beside the
/// database lets one through at a time (the migration runner itself takes no lock).
pub fn migrate(path: &Path, now: Instant, adoptions: &[Adoption]) -> Result<Vec<Step>> {
    migrate_to(&of_this_version(), path, now, adoptions)
}

/// The same to other migrations than those of this version: tests stop before the last one, or try one to come.
pub fn migrate_to(
    migrations: &[Migration],
    path: &Path,
    now: Instant,
    adoptions: &[Adoption],
) -> Result<Vec<Step>> {
    upgrade(migrations, path, now, adoptions, true)
}

/// [`migrate`] without a copy of what was there before.
pub fn migrate_in_place(path: &Path, now: Instant, adoptions: &[Adoption]) -> Result<Vec<Step>> {
    upgrade(&of_this_version(), path, now, adoptions, false)
}

fn upgrade(
    migrations: &[Migration],
    path: &Path,
    now: Instant,
    adoptions: &[Adoption],
    copied: bool,
) -> Result<Vec<Step>> {
    if !path.exists() {
        create_private(path)?;
        // Of root in the folder of the service: a user who cannot give it away keeps it.
        let _ = give_to_owner_of(folder_of(path), path);
    }
    let _one_at_a_time = lock::for_migration(path)?;
    let mut connection = open_writer(path)?;
    refuse_newer(&connection, migrations)?;
    if !is_current(&connection, migrations)? {
        if copied {
            keep_copy(&connection, migrations, path, now)?;
        }
        apply(&mut connection, migrations, path, |connection, applied| {
            let is_meant = |adoption: &&Adoption| applied.iter().any(|name| name == adoption.migration);
            adoptions.iter().filter(is_meant).try_for_each(|adoption| (adoption.run)(connection, now))
        })?;
    } else if !statistics::is_written(&connection)? {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        statistics::write(&transaction)?;
        transaction.commit()?;
    }
    create_installation(&connection, now)?;
    steps(&connection, migrations)
}

/// Applies what is missing, all in one transaction that is committed when the result is proved: by itself the
/// runner would commit first. `adopt` is told the names of what was applied.
fn apply(
    connection: &mut Connection,
    migrations: &[Migration],
    path: &Path,
    adopt: impl FnOnce(&Connection, &[String]) -> Result<()>,
) -> Result<()> {
    // Inside a transaction this setting is ignored, and a rebuilt table would delete children.
    connection.execute_batch("pragma foreign_keys = off")?;
    let mut history = history(connection)?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut applied = Vec::new();
    if let (true, Some(document)) = (old::is_old(&applied_to(&transaction)?), migrations.first()) {
        applied = apply_missing(&transaction, &old::migrations(), history)?;
        old::fold(&transaction, document, path)?;
        history = vec![document.clone()];
    }
    applied.extend(apply_missing(&transaction, migrations, history)?);
    old::keep_older_away(&transaction)?;
    adopt(&transaction, &applied)?;
    let violations: i64 =
        transaction.query_row("select count(*) from pragma_foreign_key_check", [], |row| row.get(0))?;
    if violations > 0 {
        return Err(Failure::Broken(format!(
            "the migration would leave {violations} broken references, so the database stays as it is: keep a copy of \
             it and ask the developers"
        )));
    }
    statistics::write(&transaction)?;
    Ok(transaction.commit()?)
}

/// What was applied to a database, as the runner compares it with what it knows.
fn history(connection: &mut Connection) -> Result<Vec<Migration>> {
    if applied_to(connection)?.is_empty() {
        return Ok(Vec::new());
    }
    let mut history = Runner::new(&[]).get_applied_migrations(connection).map_err(not_migrated)?;
    history.retain(|migration| i64::from(migration.version()) < old::ABOVE_ALL);
    Ok(history)
}

/// Applies the migrations that a database with this history lacks; their names.
fn apply_missing(
    connection: &Connection,
    migrations: &[Migration],
    history: Vec<Migration>,
) -> Result<Vec<String>> {
    let report = Runner::new(migrations).run(&mut Within { connection, history }).map_err(not_migrated)?;
    Ok(report.applied_migrations().iter().map(|migration| migration.name().to_owned()).collect())
}

/// The migrations of this version, and which of them the database has.
pub fn status(path: &Path) -> Result<Vec<Step>> {
    status_of(&of_this_version(), path)
}

/// The same of other migrations than those of this version.
pub fn status_of(migrations: &[Migration], path: &Path) -> Result<Vec<Step>> {
    steps(&open_writer(path)?, migrations)
}

/// Whether the file has every migration of this version; refuses a newer one.
pub fn check_current(path: &Path) -> Result<bool> {
    is_of_this_version(&open_writer(path)?)
}

/// The same of an open database.
pub fn is_of_this_version(connection: &Connection) -> Result<bool> {
    let migrations = of_this_version();
    refuse_newer(connection, &migrations)?;
    is_current(connection, &migrations)
}

/// A database from before the document has none of these.
fn steps(connection: &Connection, migrations: &[Migration]) -> Result<Vec<Step>> {
    let applied = applied_to(connection)?;
    let last = if old::is_old(&applied) { 0 } else { last(&applied) };
    let step = |migration: &Migration| {
        let version = i64::from(migration.version());
        Step { version, name: migration.name().to_owned(), applied: version <= last }
    };
    Ok(migrations.iter().map(step).collect())
}

fn is_current(connection: &Connection, migrations: &[Migration]) -> Result<bool> {
    Ok(steps(connection, migrations)?.iter().all(|step| step.applied))
}

fn refuse_newer(connection: &Connection, migrations: &[Migration]) -> Result<()> {
    let applied = applied_to(connection)?;
    let newest = |migrations: &[Migration]| migrations.last().map_or(0, |last| i64::from(last.version()));
    let known = if old::is_old(&applied) { newest(&old::migrations()) } else { newest(migrations) };
    let applied = last(&applied);
    if applied <= known {
        return Ok(());
    }
    Err(Failure::Broken(format!(
        "the database has schema {applied}, this partnerd knows {known}: use the newer partnerd that wrote it"
    )))
}

/// Versions and names of the migrations that a database has, in their order.
fn applied_to(connection: &Connection) -> Result<Vec<(i64, String)>> {
    let table = "select 1 from sqlite_schema where name = 'refinery_schema_history'";
    if !connection.prepare(table)?.exists([])? {
        return Ok(Vec::new());
    }
    let mut statement = connection
        .prepare("select version, name from refinery_schema_history where version < ?1 order by version")?;
    let rows = statement.query_map([old::ABOVE_ALL], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The last version of these; 0: none.
fn last(applied: &[(i64, String)]) -> i64 {
    applied.last().map_or(0, |(version, _)| *version)
}

fn create_installation(connection: &Connection, now: Instant) -> Result<()> {
    let mut secret = [0u8; 32];
    getrandom::fill(&mut secret).map_err(|error| Failure::Broken(format!("no random numbers: {error}")))?;
    connection.execute(
        "insert into installation (id, mac_secret, angelegt_am) values (1, ?1, ?2) on conflict do nothing",
        rusqlite::params![secret, now],
    )?;
    Ok(())
}

/// Before a database that has something in it is brought to another schema, a copy of it is kept
/// beside it: `<database>-before-v9-2026-11-21`, where 9 is the first migration that it lacks. One a day:
/// an upgrade that fails again and again does not fill the disk.
fn keep_copy(connection: &Connection, migrations: &[Migration], path: &Path, now: Instant) -> Result<()> {
    let Some(next) = steps(connection, migrations)?.into_iter().find(|step| !step.applied) else {
        return Ok(());
    };
    let kept = beside(path, &format!("before-v{}-{}", next.version, Day::in_berlin(now)));
    if applied_to(connection)?.is_empty() || kept.exists() {
        return Ok(());
    }
    // The lock of the migration lets nobody else make such a copy.
    let begins = beside(path, "before-v");
    let begins = begins.file_name().unwrap_or_default().to_string_lossy();
    remove_leftovers(folder_of(path), |name| name.starts_with(&*begins))?;
    // One file, without a log beside it.
    let close = |part: &Path| Ok(Connection::open(part)?.execute_batch("pragma journal_mode = delete")?);
    copy(&kept, |part| fill_at_once(connection, part), close)?;
    log(&format!("before the upgrade to schema {} a copy was kept in {}", next.version, kept.display()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_are_written_often_are_checked_without_a_temporary_table() {
        let mut connection = Connection::open_in_memory().unwrap();
        Runner::new(&of_this_version()).run(&mut connection).unwrap();
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
            "lager_neu",
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
