//! Bringing a database to the schema of this version.

use std::path::Path;

use refinery::{Migration, Runner};
use refinery_core::traits::sync;
use rusqlite::{Connection, TransactionBehavior};

use super::connection::open_writer;
use super::copy::{copy, fill_at_once, remove_leftovers};
use super::files::{beside, create_private, folder_of};
use super::owner::give_to_owner_of;
use super::{lock, log, statistics};
use crate::failure::{Failure, Result};
use crate::rules::day::{Day, Instant};

mod embedded {
    refinery::embed_migrations!("migrations");
}

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

/// What a migration needs done that SQL cannot say: it runs right after the migrations, in their transaction, on a
/// database that was older.
pub struct Adoption {
    /// The number of its migration.
    pub version: i64,
    /// What it does, now.
    pub run: fn(&Connection, Instant) -> Result<()>,
}

/// Creates the file if need be and applies what is missing; `now` is when the installation was
/// made, if it is made now. Several processes may do this at once: a lock file beside the
/// database lets one through at a time (the migration runner itself takes no lock).
pub fn migrate(path: &Path, now: Instant, adoptions: &[Adoption]) -> Result<Vec<Step>> {
    upgrade(path, now, adoptions, true)
}

/// The same without a copy of what was there before.
pub fn migrate_in_place(path: &Path, now: Instant, adoptions: &[Adoption]) -> Result<Vec<Step>> {
    upgrade(path, now, adoptions, false)
}

fn upgrade(path: &Path, now: Instant, adoptions: &[Adoption], copied: bool) -> Result<Vec<Step>> {
    if !path.exists() {
        create_private(path)?;
        // Of root in the folder of the service: a user who cannot give it away keeps it.
        let _ = give_to_owner_of(folder_of(path), path);
    }
    let _one_at_a_time = lock::for_migration(path)?;
    let mut connection = open_writer(path)?;
    refuse_newer(&connection)?;
    if !is_current(&connection)? {
        if copied {
            keep_copy(&connection, path, now)?;
        }
        let missing = last_applied(&connection)? + 1..;
        let adoptions = adoptions.iter().filter(|adoption| missing.contains(&adoption.version));
        apply(&mut connection, &embedded::migrations::runner(), |connection| {
            adoptions.clone().try_for_each(|adoption| (adoption.run)(connection, now))
        })?;
    } else if !statistics::is_written(&connection)? {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        statistics::write(&transaction)?;
        transaction.commit()?;
    }
    create_installation(&connection, now)?;
    steps(&connection)
}

/// Applies what is missing, all in one transaction that is committed when the result is proved: by itself the
/// runner would commit first.
fn apply(
    connection: &mut Connection,
    runner: &Runner,
    adopt: impl FnOnce(&Connection) -> Result<()>,
) -> Result<()> {
    let failed = |error| Failure::Broken(format!("the database could not be migrated: {error}"));
    // Inside a transaction this setting is ignored, and a rebuilt table would delete children.
    connection.execute_batch("pragma foreign_keys = off")?;
    let applied = match last_applied(connection)? {
        0 => Vec::new(),
        _ => runner.get_applied_migrations(connection).map_err(failed)?,
    };
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    runner.run(&mut Within { connection: &transaction, applied }).map_err(failed)?;
    adopt(&transaction)?;
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

/// What the runner works on: a transaction of ours.
struct Within<'c> {
    connection: &'c Connection,
    /// The migrations that it has.
    applied: Vec<Migration>,
}

impl sync::Transaction for Within<'_> {
    type Error = rusqlite::Error;

    fn execute<'a, T: Iterator<Item = &'a str>>(&mut self, queries: T) -> rusqlite::Result<usize> {
        let mut count = 0;
        for query in queries {
            self.connection.execute_batch(query)?;
            count += 1;
        }
        Ok(count)
    }
}

impl sync::Query<Vec<Migration>> for Within<'_> {
    fn query(&mut self, _: &str) -> rusqlite::Result<Vec<Migration>> {
        Ok(self.applied.clone())
    }
}

impl sync::Migrate for Within<'_> {}

/// The migrations of this version, and which of them the database has.
pub fn status(path: &Path) -> Result<Vec<Step>> {
    steps(&open_writer(path)?)
}

/// Whether the file has every migration of this version; refuses a newer one.
pub fn check_current(path: &Path) -> Result<bool> {
    is_of_this_version(&open_writer(path)?)
}

/// The same of an open database.
pub fn is_of_this_version(connection: &Connection) -> Result<bool> {
    refuse_newer(connection)?;
    is_current(connection)
}

/// The schema as this version creates it, for the comparison with a live one.
pub fn fresh_schema() -> Result<Vec<(String, String)>> {
    let connection = Connection::open_in_memory()?;
    let runner = embedded::migrations::runner();
    let mut migrations: Vec<_> = runner.get_migrations().iter().collect();
    migrations.sort_by_key(|migration| migration.version());
    // Without the runner: a start is not to wait for it.
    connection.execute_batch("begin")?;
    migrations.into_iter().filter_map(Migration::sql).try_for_each(|sql| connection.execute_batch(sql))?;
    connection.execute_batch("commit")?;
    schema(&connection)
}

/// Refuses a database in which another program has changed the schema: its trigger would change what is written.
pub fn refuse_foreign(connection: &Connection, path: &Path) -> Result<()> {
    let (live, fresh) = (schema(connection)?, fresh_schema()?);
    let is_in = |schema: &[(String, String)], name: &str| schema.iter().any(|(known, _)| known == name);
    let foreign = live.iter().find(|part| !fresh.contains(part)).map(|(name, _)| match is_in(&fresh, name) {
        true => format!("another {name} than this version"),
        false => format!("a {name}, which partnerd did not make"),
    });
    let missing = || fresh.iter().find(|(name, _)| !is_in(&live, name)).map(|(name, _)| format!("no {name}"));
    match foreign.or_else(missing) {
        None => Ok(()),
        Some(difference) => Err(Failure::Broken(format!(
            "{} has {difference}: another program has changed it; undo that, or put a backup in its place \
             (`partnerd restore`)",
            path.display()
        ))),
    }
}

/// Names and statements of all tables, indexes and triggers; Litestream keeps two tables of its own.
pub fn schema(connection: &Connection) -> Result<Vec<(String, String)>> {
    let mut statement = connection.prepare(
        "select type || ' ' || name, sql from sqlite_schema
         where sql is not null and name not like 'sqlite_%' and name <> 'refinery_schema_history'
           and substr(name, 1, 12) <> '_litestream_' order by 1",
    )?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn steps(connection: &Connection) -> Result<Vec<Step>> {
    let applied = last_applied(connection)?;
    let runner = embedded::migrations::runner();
    let known = runner.get_migrations().iter().map(|migration| Step {
        version: i64::from(migration.version()),
        name: migration.name().to_owned(),
        applied: i64::from(migration.version()) <= applied,
    });
    let mut known: Vec<_> = known.collect();
    known.sort_by_key(|step| step.version);
    Ok(known)
}

fn is_current(connection: &Connection) -> Result<bool> {
    Ok(steps(connection)?.iter().all(|step| step.applied))
}

fn refuse_newer(connection: &Connection) -> Result<()> {
    let known = steps(connection)?.last().map_or(0, |step| step.version);
    let applied = last_applied(connection)?;
    if applied <= known {
        return Ok(());
    }
    Err(Failure::Broken(format!(
        "the database has schema {applied}, this partnerd knows {known}: use the newer partnerd that wrote it"
    )))
}

fn last_applied(connection: &Connection) -> Result<i64> {
    let table = "select count(*) from sqlite_schema where name = 'refinery_schema_history'";
    if connection.query_row(table, [], |row| row.get::<_, i64>(0))? == 0 {
        return Ok(0);
    }
    let last = "select coalesce(max(version), 0) from refinery_schema_history";
    Ok(connection.query_row(last, [], |row| row.get(0))?)
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
fn keep_copy(connection: &Connection, path: &Path, now: Instant) -> Result<()> {
    let applied = last_applied(connection)?;
    let Some(next) = steps(connection)?.into_iter().find(|step| !step.applied) else { return Ok(()) };
    let kept = beside(path, &format!("before-v{}-{}", next.version, Day::in_berlin(now)));
    if applied == 0 || kept.exists() {
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
        embedded::migrations::runner().run(&mut connection).unwrap();
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
