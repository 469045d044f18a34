//! The single writer: a thread that runs many requests in one transaction.
//!
//! Each request is all or nothing, and is answered after the shared transaction has been committed and is on
//! the disk (group commit, `synchronous=FULL`). So there is no `database is locked` and no lost update, and
//! one disk sync serves many documents.
//!
//! Copies of the database are made between the transactions, some pages at a time.

pub mod batch;
pub mod cache;
pub mod critical;
pub mod fair_queue;
mod queue;
mod watch;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::sync_channel;
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::Connection;

use super::file::copy::{Pages, open_target};
use super::readers::checkpoint::Checkpoints;
use super::{Clock, log};
use crate::platform::failure::{Failure, Result};
use batch::{Batch, ClosureJob, Ended, Job, commit, execute};
use cache::Cache;
use critical::{OUTCOME_UNKNOWN, end_process, spawn_critical};
use fair_queue::QueueKey;
use queue::{ALONE_BYTES, CopyRequest, Next, Queue};
pub use watch::Watch;

/// How many batches run with savepoints from the start after one had to be run again: if clients send many
/// requests that fail late, hardly any is run twice.
const SAVEPOINT_BATCHES: u32 = 16;

/// Rows that a transaction may change before it takes no further request: some ten times as many as a full
/// batch of ordinary requests changes. So large requests, such as a storno of thousands of goods, hold the
/// writer and lengthen the write-ahead log one at a time.
const TRANSACTION_CHANGES_MAX: u64 = 10_000;

/// How often the writer checks the journal and the write-ahead log while no request comes in.
const IDLE_INTERVAL: Duration = Duration::from_secs(1);

/// How long the writer waits for requests between two steps of a copy: the disk is not for the copy alone.
const COPY_PAUSE: Duration = Duration::from_millis(1);

/// Writes a page without changing anything that matters.
const PROBE_SQL: &str = "pragma user_version = 0";

/// The writer's own work, done as part of a batch: taking in the audit journal.
pub trait Housekeeping: Send {
    /// Whether there is anything to do; when the writer stops, everything must be done.
    fn pending(&self, at_stop: bool) -> bool;
    fn in_batch(&mut self, connection: &Connection) -> Result<()>;
    /// Whether the last batch left work over because a batch takes only so much.
    fn has_more(&self) -> bool {
        false
    }
    fn after(&mut self, committed: bool);
}

/// The writer's thread, and the queue through which requests reach it.
pub struct Writer {
    queue: WriterQueue,
    thread: Option<JoinHandle<()>>,
}

#[derive(Clone)]
pub struct WriterQueue {
    waiting: Arc<Queue>,
    pub watch: Arc<Watch>,
}

impl Writer {
    /// Starts the thread; it runs until it is stopped. Without `checkpoints` another program moves the
    /// write-ahead log into the database.
    pub fn start(
        connection: Connection,
        checkpoints: Option<Checkpoints>,
        clock: Clock,
        housekeeping: Box<dyn Housekeeping>,
    ) -> std::io::Result<Writer> {
        let queue = WriterQueue { waiting: Arc::default(), watch: Arc::default() };
        if let Some(checkpoints) = &checkpoints {
            checkpoints.take_over(&connection);
        }
        let cache = Cache::new(&connection).map_err(std::io::Error::other)?;
        let of_thread = queue.clone();
        let work = move || {
            let connection = &connection;
            let WriterQueue { waiting, watch } = of_thread;
            WriterThread { connection, checkpoints, clock, cache, housekeeping, watch, with_savepoints: 0 }
                .run(&waiting);
        };
        let thread = spawn_critical("writer", work)?;
        Ok(Writer { queue, thread: Some(thread) })
    }

    pub fn queue(&self) -> WriterQueue {
        self.queue.clone()
    }

    /// Finishes the queued work, takes in the journal and truncates the write-ahead log.
    pub fn stop(mut self) {
        self.queue.waiting.close();
        drop(self.thread.take().map(JoinHandle::join));
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue.waiting.close();
    }
}

impl WriterQueue {
    /// Submits work of a queue key that stores about `bytes`. `run` does it within a batch, and is called
    /// again if the batch was rolled back because of other work. `finish` gets its result and how the batch
    /// ended. If too much is waiting for this key or in total, or if the writer stops, `finish` is called at
    /// once with `None` and [`Ended::Undone`].
    pub fn submit<T: Send + 'static>(
        &self,
        account: QueueKey,
        bytes: usize,
        run: impl FnMut(&Batch<'_>) -> T + Send + 'static,
        finish: impl FnOnce(Option<T>, Ended) + Send + 'static,
    ) {
        self.watch.queued.inc();
        let job = Box::new(ClosureJob { bytes, run, done: None, finish });
        if let Err(refused) = self.waiting.add(account, job) {
            self.watch.queued.dec();
            refused.finish(Ended::Undone);
        }
    }

    /// Runs work in a batch of its own, so that no other answer waits for it, and blocks until it ends.
    /// Returns the result of the work and how the batch ended. Must not be called on a socket thread.
    pub fn run_alone<T: Send + 'static>(
        &self,
        account: QueueKey,
        work: impl FnMut(&Batch<'_>) -> T + Send + 'static,
    ) -> (Option<T>, Ended) {
        let (told, answer) = sync_channel(1);
        self.submit(account, ALONE_BYTES, work, move |done, ended| drop(told.send((done, ended))));
        answer.recv().unwrap_or((None, Ended::Undone))
    }

    /// Has the writer copy the database into an empty file, and waits for it. Writes in the meantime go into
    /// the copy, too. The copy is not synced.
    pub fn copy(&self, to: &Path) -> Result<()> {
        let (told, answer) = sync_channel(1);
        let request = CopyRequest { target: open_target(to)?, told };
        if !self.waiting.add_copy(request) {
            return Err(Failure::Busy(
                "eine andere Kopie soll schon gemacht werden, oder der Dienst hält an".to_owned(),
            ));
        }
        answer.recv().map_err(|_| Failure::Busy(NOT_COPIED.to_owned()))?.map(drop)
    }
}

/// Message to the caller waiting for a copy if the service stopped first.
const NOT_COPIED: &str = "der Dienst hielt an, bevor die Kopie gemacht war";

struct WriterThread<'c> {
    connection: &'c Connection,
    checkpoints: Option<Checkpoints>,
    clock: Clock,
    cache: Cache,
    housekeeping: Box<dyn Housekeeping>,
    watch: Arc<Watch>,
    /// How many of the next batches run with savepoints from the start.
    with_savepoints: u32,
}

impl WriterThread<'_> {
    fn run(mut self, queue: &Queue) {
        loop {
            self.watch.seen();
            let has_more = self.housekeeping.has_more() && !self.watch.has_failed();
            let ended = match queue.next(if has_more { Duration::ZERO } else { IDLE_INTERVAL }) {
                Next::Nothing => self.idle(false),
                Next::Batch(jobs) => self.batch(jobs),
                Next::Copy(request) => match self.copy(request, queue) {
                    Some(ended) => ended,
                    None => break,
                },
                Next::Stop => break,
            };
            if ended == Ended::Unknown {
                // Queued requests were never begun.
                queue.close();
                while let Next::Batch(jobs) = queue.next(Duration::ZERO) {
                    jobs.into_iter().for_each(|job| job.finish(Ended::Undone));
                }
                let why = "the disk failed at a commit: partnerd ends, because only a database that is opened anew \
                           shows what was kept; it must be started again";
                end_process(OUTCOME_UNKNOWN, why);
            }
        }
        self.idle(true);
        if let Some(checkpoints) = self.checkpoints.take() {
            checkpoints.stop(self.connection);
        }
    }

    fn idle(&mut self, at_stop: bool) -> Ended {
        if self.watch.has_failed() {
            self.probe();
        }
        let mut ended = self.keep_house_if_due(at_stop);
        while at_stop && ended == Ended::Committed && self.housekeeping.has_more() {
            ended = self.keep_house_if_due(at_stop);
        }
        if let Some(checkpoints) = &self.checkpoints {
            checkpoints.when_idle(self.connection);
        }
        ended
    }

    fn keep_house_if_due(&mut self, at_stop: bool) -> Ended {
        if self.housekeeping.pending(at_stop) { self.batch(Vec::new()) } else { Ended::Undone }
    }

    /// Tests whether writing works again.
    fn probe(&mut self) {
        let written = execute(self.connection, "begin immediate").and_then(|()| {
            self.connection.execute_batch(PROBE_SQL)?;
            execute(self.connection, "commit")
        });
        self.leave_none_open();
        if written.is_ok() {
            self.watch.note(false);
            log("writing works again");
        }
    }

    /// Makes a copy step by step, and runs incoming batches between the steps. Returns how the last batch
    /// ended, or `None` if the writer must stop.
    fn copy(&mut self, request: CopyRequest, queue: &Queue) -> Option<Ended> {
        let CopyRequest { mut target, told } = request;
        let mut ended = Some(Ended::Undone);
        let copied = Pages::new(self.connection, &mut target).and_then(|mut pages| {
            while !pages.step()? {
                self.watch.seen();
                ended = match queue.next(COPY_PAUSE) {
                    // If the disk is full, the writer's own work waits for the end of the copy instead of
                    // failing at each step.
                    Next::Nothing if self.watch.has_failed() => ended,
                    Next::Nothing => Some(self.keep_house_if_due(false)),
                    Next::Batch(jobs) => Some(self.batch(jobs)),
                    Next::Copy(other) => {
                        let why =
                            "eine andere Kopie der Datenbank wird gerade gemacht: warten, bis sie fertig ist";
                        let _ = other.told.send(Err(Failure::Busy(why.to_owned())));
                        ended
                    }
                    Next::Stop => None,
                };
                if matches!(ended, None | Some(Ended::Unknown)) {
                    return Err(Failure::Busy(NOT_COPIED.to_owned()));
                }
            }
            Ok(())
        });
        let _ = told.send(copied.map(|()| target));
        ended
    }

    /// Runs the jobs, in one transaction if they change few rows, and tells each how it ended. Returns how
    /// the last transaction ended.
    fn batch(&mut self, mut jobs: Vec<Box<dyn Job>>) -> Ended {
        self.watch.queued.dec_by(jobs.len() as i64);
        if !jobs.is_empty() {
            self.watch.batches.observe(jobs.len() as f64);
        }
        loop {
            let (ended, rest) = self.transaction(jobs);
            if rest.is_empty() || ended == Ended::Unknown {
                rest.into_iter().for_each(|job| job.finish(Ended::Undone));
                return ended;
            }
            jobs = rest;
        }
    }

    /// Runs the first jobs in one transaction; returns the jobs that did not fit.
    fn transaction(&mut self, mut jobs: Vec<Box<dyn Job>>) -> (Ended, Vec<Box<dyn Job>>) {
        let before = self.connection.total_changes();
        let savepoints = self.with_savepoints > 0;
        self.with_savepoints = self.with_savepoints.saturating_sub(1);
        let mut taken = 0;
        let mut result = self.run_in_transaction(&mut jobs, savepoints, &mut taken);
        if matches!(result, Ok(Ended::Undone)) && !savepoints {
            self.with_savepoints = SAVEPOINT_BATCHES;
            result = self.run_in_transaction(&mut jobs, true, &mut taken);
        }
        self.leave_none_open();
        let ended = *result.as_ref().unwrap_or(&Ended::Undone);
        if ended != Ended::Committed {
            let why = result.map_or_else(|failure| failure.to_string(), |_| "see above".into());
            log(&format!("a batch of {taken} writes failed: {why}"));
        }
        // Committing no change proves nothing about the disk.
        if ended != Ended::Committed || self.connection.total_changes() != before {
            self.watch.commits.fetch_add(1, Ordering::Release);
            self.watch.note(ended != Ended::Committed);
        }
        self.housekeeping.after(ended == Ended::Committed);
        let rest = jobs.split_off(taken);
        for job in jobs {
            job.finish(ended);
        }
        if let Some(checkpoints) = &self.checkpoints {
            checkpoints.after_commit(self.connection);
        }
        (ended, rest)
    }

    /// Rolls back a transaction that was left open by a failure.
    fn leave_none_open(&self) {
        if !self.connection.is_autocommit()
            && let Err(error) = self.connection.execute_batch("rollback")
        {
            log(&format!("rollback failed: {error}"));
        }
    }

    /// Runs jobs in one transaction until it has changed enough rows; sets `taken` to the number of jobs run.
    fn run_in_transaction(
        &mut self,
        jobs: &mut [Box<dyn Job>],
        savepoints: bool,
        taken: &mut usize,
    ) -> Result<Ended> {
        *taken = jobs.len();
        self.leave_none_open();
        execute(self.connection, "begin immediate")?;
        self.cache.drop_if_stale(self.connection)?;
        let batch = Batch::new(self.connection, &self.clock, &self.cache, savepoints);
        let before = self.connection.total_changes();
        for (at, job) in jobs.iter_mut().enumerate() {
            if self.connection.total_changes() - before > TRANSACTION_CHANGES_MAX {
                *taken = at;
                break;
            }
            job.run(&batch);
            if batch.has_failed() {
                return Ok(Ended::Undone);
            }
        }
        let is_own_batch = jobs.is_empty();
        if self.housekeeping.pending(is_own_batch) {
            self.keep_house()?;
        }
        if self.connection.is_autocommit() {
            return Ok(Ended::Undone);
        }
        commit(self.connection)
    }

    /// Does the writer's own work in a savepoint, so that its failure does not fail the requests.
    fn keep_house(&mut self) -> Result<()> {
        execute(self.connection, "savepoint housekeeping")?;
        if let Err(failure) = self.housekeeping.in_batch(self.connection) {
            log(&format!("the audit journal was not taken in: {failure}"));
            self.housekeeping.after(false);
            execute(self.connection, "rollback to housekeeping")?;
        }
        execute(self.connection, "release housekeeping")
    }
}

#[cfg(test)]
mod tests;
