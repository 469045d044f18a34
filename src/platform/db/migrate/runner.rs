//! Lets refinery, which applies migrations, work inside our own transaction.

use refinery::Runner;
use refinery_core::traits::sync;
use rusqlite::Connection;

use super::schema::{HISTORY, Migration};
use crate::platform::db::file::german::cause_in_german;
use crate::platform::failure::{Failure, Result};

/// The migrations that a database has, in the form refinery compares with the known ones.
pub fn history(connection: &mut Connection) -> Result<Vec<refinery::Migration>> {
    runner(&[])?.get_applied_migrations(connection).map_err(not_migrated)
}

/// Applies the missing migrations. Refuses a database in which an applied migration had another text.
pub fn run(
    connection: &Connection,
    migrations: &[Migration],
    history: Vec<refinery::Migration>,
) -> Result<()> {
    runner(migrations)?.run(&mut Within { connection, history }).map(drop).map_err(not_migrated)
}

fn runner(migrations: &[Migration]) -> Result<Runner> {
    let known = (1..).zip(migrations).map(|(version, Migration { name, sql })| {
        refinery::Migration::unapplied(&format!("V{version}__{name}"), sql).map_err(not_migrated)
    });
    let mut runner = Runner::new(&known.collect::<Result<Vec<_>>>()?);
    runner.set_migration_table_name(HISTORY);
    Ok(runner)
}

fn not_migrated(error: refinery::Error) -> Failure {
    let why = cause_in_german(&error).unwrap_or_else(|| error.to_string());
    Failure::Broken(format!("die Datenbank ließ sich nicht aktualisieren: {why}"))
}

struct Within<'c> {
    connection: &'c Connection,
    history: Vec<refinery::Migration>,
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

impl sync::Query<Vec<refinery::Migration>> for Within<'_> {
    fn query(&mut self, _: &str) -> rusqlite::Result<Vec<refinery::Migration>> {
        Ok(self.history.clone())
    }
}

impl sync::Migrate for Within<'_> {}
