//! The one writer: a thread that runs many requests in one transaction.
//!
//! Each request is kept as a whole or not at all, and is answered when the transaction they share
//! has been committed and is on the disk (group commit, `synchronous=FULL`). So there is no
//! `database is locked`, no lost update, and a disk sync for many documents at once.
//!
//! A copy of the database is made between the transactions, some pages at a time.

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

/// Batches that run with savepoints from the start after one that had to be run again: where clients send many
/// requests that fail late, hardly any is run twice.
const SAVEPOINT_BATCHES: u32 = 16;

/// Rows that a transaction changes before it takes the next request: some ten times what as many ordinary requests as fit
/// into one change. Large ones, a storno of thousands of goods among them, so hold the writer and lengthen the write-ahead
/// log one by one.
const TRANSACTION_CHANGES_MAX: u64 = 10_000;

/// How often the writer looks after the journal and the write-ahead log when nothing comes in.
const IDLE_INTERVAL: Duration = Duration::from_secs(1);

/// How long it waits for requests between two steps of a copy: the disk is not for the copy alone.
const COPY_PAUSE: Duration = Duration::from_millis(1);

/// Writes a page, whatever was on it, and means nothing.
const PROBE_SQL: &str = "pragma user_version = 0";

/// Work of the writer's own that rides along with a batch: taking in the audit journal.
pub trait Housekeeping: Send {
    /// Whether there is anything to do; at the stop of the writer nothing may be left.
    fn pending(&self, at_stop: bool) -> bool;
    fn in_batch(&mut self, connection: &Connection) -> Result<()>;
    /// Whether the last batch left something over because a batch takes only so much.
    fn has_more(&self) -> bool {
        false
    }
    fn after(&mut self, committed: bool);
}

/// Where requests are handed to the writer.
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
    /// Starts the thread. It ends when it is told to stop. Without `checkpoints` somebody else moves the
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

    /// Finishes what was queued before, takes in the journal, cuts back the write-ahead log.
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
    /// Hands over work of an account that brings along so many `bytes` to be stored. `run` does it within a batch; again, if the batch
    /// was rolled back because other work failed. `finish` is told what came of it and how the batch ended: at once, and
    /// that nothing was done, where too much of the account, or of all, waits or the writer stops.
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

    /// Runs work of an account in a batch of its own, so that nobody else's answer waits for it, and waits for its end: what
    /// the work came to, and how the batch ended. Not on a thread of the sockets.
    pub fn run_alone<T: Send + 'static>(
        &self,
        account: QueueKey,
        work: impl FnMut(&Batch<'_>) -> T + Send + 'static,
    ) -> (Option<T>, Ended) {
        let (told, answer) = sync_channel(1);
        self.submit(account, ALONE_BYTES, work, move |done, ended| drop(told.send((done, ended))));
        answer.recv().unwrap_or((None, Ended::Undone))
    }

    /// Has the database copied into an empty file, and waits for it. What is written meanwhile goes into the copy,
    /// too. It is not synced.
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

/// What whoever wants a copy is told where the service ended first.
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
                // What waits was never begun.
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

    /// Whether writing works again.
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

    /// Makes a copy, a step at a time, and between the steps what comes in; how the last batch ended, or nothing
    /// where it is to stop.
    fn copy(&mut self, request: CopyRequest, queue: &Queue) -> Option<Ended> {
        let CopyRequest { mut target, told } = request;
        let mut ended = Some(Ended::Undone);
        let copied = Pages::new(self.connection, &mut target).and_then(|mut pages| {
            while !pages.step()? {
                self.watch.seen();
                ended = match queue.next(COPY_PAUSE) {
                    // The disk is full: the writer's own work waits for the end of the copy, instead of failing each step.
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

    /// Runs the jobs, in one transaction where they change few rows, and tells each how it ended; how the last one ended.
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

    /// Runs the first jobs in one transaction; those for which it had no room are given back.
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
        // A commit of nothing says nothing of the disk.
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

    /// Ends a transaction that failed.
    fn leave_none_open(&self) {
        if !self.connection.is_autocommit()
            && let Err(error) = self.connection.execute_batch("rollback")
        {
            log(&format!("rollback failed: {error}"));
        }
    }

    /// Runs jobs in one transaction until it has changed enough; `taken` is how many it ran.
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

    /// The writer's own work, in a savepoint: its failure is not that of the requests.
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
