//! Many requests in one transaction, each all or nothing.
//!
//! With a savepoint SQLite copies each page before changing it, a tenth of the cost of a document, and few
//! requests need one: a refused request has usually written nothing yet. So a batch first runs without
//! savepoints. If a request fails after writing something, the whole batch is rolled back and run again, each
//! request in a savepoint of its own.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use rusqlite::Connection;

use super::cache::Cache;
use crate::platform::db::error::undid_commit;
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::db::{Clock, TenantId, log};
use crate::platform::failure::{Failure, Result};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// Committed and on disk.
    Committed,
    /// Rolled back.
    Undone,
    /// The disk failed at the commit: reopening the database may or may not find the transaction in the
    /// write-ahead log.
    Unknown,
}

/// Work of any type that waits for a batch.
pub(in crate::platform::db) trait Job: Send {
    fn bytes(&self) -> usize;
    fn run(&mut self, batch: &Batch<'_>);
    fn finish(self: Box<Self>, ended: Ended);
}

/// A [`Job`] made of two closures, as [`super::WriterQueue::submit`] takes them.
pub(in crate::platform::db) struct ClosureJob<T, R, F> {
    pub bytes: usize,
    pub run: R,
    pub done: Option<T>,
    pub finish: F,
}

impl<T, R, F> Job for ClosureJob<T, R, F>
where
    T: Send,
    R: FnMut(&Batch<'_>) -> T + Send,
    F: FnOnce(Option<T>, Ended) + Send,
{
    fn bytes(&self) -> usize {
        self.bytes
    }

    fn run(&mut self, batch: &Batch<'_>) {
        self.done = Some((self.run)(batch));
    }

    fn finish(self: Box<Self>, ended: Ended) {
        (self.finish)(self.done, ended);
    }
}

/// A transaction in which several requests run.
pub struct Batch<'b> {
    connection: &'b Connection,
    clock: &'b Clock,
    cache: &'b Cache,
    /// Whether each request runs in a savepoint and can be rolled back alone.
    savepoints: bool,
    /// Set when a failed request could not be rolled back alone: then the whole batch must be rolled back.
    failed: Cell<bool>,
}

impl<'b> Batch<'b> {
    /// Wraps the transaction that has begun on `connection`.
    pub(in crate::platform::db) fn new(
        connection: &'b Connection,
        clock: &'b Clock,
        cache: &'b Cache,
        savepoints: bool,
    ) -> Batch<'b> {
        Batch { connection, clock, cache, savepoints, failed: Cell::new(false) }
    }

    /// Whether the whole batch must be rolled back: a request could not be rolled back alone, or its failure
    /// has rolled back the transaction already.
    pub(in crate::platform::db) fn has_failed(&self) -> bool {
        self.failed.get() || self.connection.is_autocommit()
    }

    /// Runs the work of a request, all or nothing.
    pub fn whole<T>(
        &self,
        tenant: TenantId,
        key_id: Option<&str>,
        work: impl FnOnce(&WriteTx<'_>) -> Result<T>,
    ) -> Result<T> {
        self.apart(|connection| {
            let tx = Tx::new(connection, tenant, (self.clock)());
            WriteTx::carry_out(tx.with_cache(self.cache), key_id, work)
        })
    }

    /// Runs work that belongs to no tenant, all or nothing.
    pub fn apart<T>(&self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        if self.connection.is_autocommit() {
            return Err(Failure::Broken("there is no transaction to write in".into()));
        }
        // A panic is a bug, but must not affect the other requests of the batch.
        let work = || {
            catch_unwind(AssertUnwindSafe(|| work(self.connection)))
                .unwrap_or_else(|_| Err(Failure::Broken("a request panicked in the writer".into())))
        };
        if self.savepoints { self.in_savepoint(work) } else { self.without_savepoint(work) }
    }

    fn without_savepoint<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let before = self.connection.total_changes();
        let result = work();
        if result.is_err() && self.connection.total_changes() != before {
            self.failed.set(true);
        }
        result
    }

    fn in_savepoint<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        execute(self.connection, "savepoint request")?;
        match work() {
            Ok(value) => {
                execute(self.connection, "release request").inspect_err(|_| self.failed.set(true))?;
                Ok(value)
            }
            Err(failure) => {
                // Some failures roll back the whole transaction; then no savepoint is left.
                if !self.connection.is_autocommit() {
                    let undone = execute(self.connection, "rollback to request")
                        .and_then(|()| execute(self.connection, "release request"));
                    self.failed.set(self.failed.get() || undone.is_err());
                }
                Err(failure)
            }
        }
    }

    /// The connection, for rows that are not tenant data (the audit log).
    pub fn connection(&self) -> &Connection {
        self.connection
    }
}

/// Runs a statement that begins or ends a transaction or savepoint; the statement stays prepared.
pub(in crate::platform::db) fn execute(connection: &Connection, sql: &str) -> Result<()> {
    connection.prepare_cached(sql)?.execute([])?;
    Ok(())
}

/// Commits; an error means that nothing was committed.
pub(in crate::platform::db) fn commit(connection: &Connection) -> Result<Ended> {
    match execute(connection, "commit") {
        Ok(()) => Ok(Ended::Committed),
        Err(failure) if undid_commit(&failure) => Err(failure),
        Err(failure) => {
            log(&format!("a commit failed, and whether it is on the disk is not known: {failure}"));
            Ok(Ended::Unknown)
        }
    }
}
