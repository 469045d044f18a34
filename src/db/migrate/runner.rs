//! The migrations of this version, and what their runner works on.

use refinery::{Migration, Runner};
use refinery_core::traits::sync;
use rusqlite::Connection;

use crate::failure::Failure;

mod embedded {
    refinery::embed_migrations!("migrations");
}

/// The migrations of this version, in their order.
pub fn of_this_version() -> Vec<Migration> {
    in_order(&embedded::migrations::runner())
}

/// The migrations of a runner, in their order.
pub fn in_order(runner: &Runner) -> Vec<Migration> {
    let mut migrations = runner.get_migrations().clone();
    migrations.sort();
    migrations
}

/// The failure of a migration.
pub fn not_migrated(error: refinery::Error) -> Failure {
    Failure::Broken(format!("the database could not be migrated: {error}"))
}

/// What the runner works on: a transaction of ours.
pub struct Within<'c> {
    pub connection: &'c Connection,
    /// The migrations that it has.
    pub history: Vec<Migration>,
}

impl<'c> Within<'c> {
    /// A transaction on a database that has none.
    pub fn fresh(connection: &'c Connection) -> Within<'c> {
        Within { connection, history: Vec::new() }
    }
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
        Ok(self.history.clone())
    }
}

impl sync::Migrate for Within<'_> {}
