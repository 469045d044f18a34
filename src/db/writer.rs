//! The one writer: a thread that runs many requests in one transaction.
//!
//! Each request runs in a savepoint of its own, and is answered when the transaction they share
//! has been committed and is on the disk (group commit, `synchronous=FULL`). So there is no
//! `database is locked`, no lost update, and a disk sync for many documents at once.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use rusqlite::Connection;

use super::checkpoint::Checkpoints;
use super::error::{Failure, Result};
use super::tx::{TenantId, Tx, WriteTx};
use super::{Clock, log};

/// Requests that wait for the writer at most; further ones are answered 503.
pub const QUEUE: usize = 4_096;

/// Requests in one transaction at most: bounds how long the first of them waits.
const MAX_BATCH: usize = 256;

/// How often the writer looks after the journal and the write-ahead log when nothing comes in.
const TICK: Duration = Duration::from_secs(1);

/// One request's work.
pub trait Job: Send {
    /// Does it within a batch.
    fn run(&mut self, batch: &Batch<'_>);
    /// Told whether the batch was committed; sends the answer.
    fn finish(self: Box<Self>, committed: bool);
}

/// Work of the writer's own that rides along with a batch: taking in the audit journal.
pub trait Housekeeping: Send {
    /// Whether there is anything to do; at the stop of the writer nothing may be left.
    fn pending(&self, at_stop: bool) -> bool;
    /// Does it, within the batch.
    fn in_batch(&mut self, connection: &Connection) -> Result<()>;
    /// Told whether the batch was committed.
    fn after(&mut self, committed: bool);
}

/// What can be seen of the writer from outside.
pub struct Watch {
    /// Requests that wait.
    pub queued: Gauge,
    /// Requests in each transaction.
    pub batches: Histogram,
    /// Transactions that were ended, committed or not. It moves on before anybody hears of one.
    pub commits: Arc<AtomicU64>,
    /// When the writer last looked around, in milliseconds since `begun`.
    last_seen: AtomicU64,
    begun: Instant,
}

impl Watch {
    /// How long the writer has been at work without looking around.
    pub fn silent(&self) -> Duration {
        self.begun.elapsed().saturating_sub(Duration::from_millis(self.last_seen.load(Ordering::Relaxed)))
    }

    fn seen(&self) {
        let now = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last_seen.store(now, Ordering::Relaxed);
    }
}

impl Default for Watch {
    fn default() -> Watch {
        let sizes = (0..9).map(|power| f64::from(1 << power));
        Watch {
            queued: Gauge::default(),
            batches: Histogram::new(sizes),
            commits: Arc::default(),
            last_seen: AtomicU64::default(),
            begun: Instant::now(),
        }
    }
}

/// What the writer is told.
enum Message {
    Work(Box<dyn Job>),
    Stop,
}

/// Where requests are handed to the writer.
pub struct Writer {
    queue: WriterQueue,
    thread: JoinHandle<()>,
}

/// A handle to the queue of the writer.
#[derive(Clone)]
pub struct WriterQueue {
    sender: SyncSender<Message>,
    watch: Arc<Watch>,
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
        let (sender, receiver) = sync_channel(QUEUE);
        let watch = Arc::<Watch>::default();
        if let Some(checkpoints) = &checkpoints {
            checkpoints.take_over(&connection);
        }
        let state = State { connection, checkpoints, clock, housekeeping, watch: Arc::clone(&watch) };
        let thread = std::thread::Builder::new().name("writer".into()).spawn(move || state.run(receiver))?;
        Ok(Writer { queue: WriterQueue { sender, watch }, thread })
    }

    /// A handle for those who submit.
    pub fn queue(&self) -> WriterQueue {
        self.queue.clone()
    }

    /// Finishes what was queued before, takes in the journal, cuts back the write-ahead log.
    pub fn stop(self) {
        // Blocks while the queue is full; fails only when the thread is gone already.
        let _ = self.queue.sender.send(Message::Stop);
        if self.thread.join().is_err() {
            log("the writer thread ended by a panic");
        }
    }
}

impl WriterQueue {
    /// Hands over a request's work. When the queue is full or the writer is gone, the work is
    /// told at once that nothing was committed.
    pub fn submit(&self, job: Box<dyn Job>) {
        self.watch.queued.inc();
        let refused = match self.sender.try_send(Message::Work(job)) {
            Err(TrySendError::Full(refused) | TrySendError::Disconnected(refused)) => refused,
            Ok(()) => return,
        };
        self.watch.queued.dec();
        if let Message::Work(job) = refused {
            job.finish(false);
        }
    }

    /// What can be seen of the writer.
    pub fn watch(&self) -> &Watch {
        &self.watch
    }
}

/// A transaction in which several requests run.
pub struct Batch<'b> {
    connection: &'b Connection,
    clock: &'b Clock,
    /// Set when a request could not be undone: then nothing of the batch may be kept.
    failed: &'b Cell<bool>,
}

impl Batch<'_> {
    /// Runs a request's work in a savepoint: all of it is kept, or nothing.
    pub fn savepoint<T>(
        &self,
        tenant: TenantId,
        key_id: Option<&str>,
        work: impl FnOnce(&WriteTx<'_>) -> Result<T>,
    ) -> Result<T> {
        self.apart(|connection| {
            let tx = Tx::new(connection, tenant, (self.clock)());
            work(&WriteTx::new(tx, key_id))
        })
    }

    /// Runs work that is no company's in a savepoint.
    pub fn apart<T>(&self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        if self.connection.is_autocommit() {
            return Err(Failure::Broken("there is no transaction to write in".into()));
        }
        run(self.connection, "savepoint request")?;
        // A panic is a bug, but it must not take the other requests of the batch with it.
        let result = catch_unwind(AssertUnwindSafe(|| work(self.connection)))
            .unwrap_or_else(|_| Err(Failure::Broken("a request panicked in the writer".into())));
        match result {
            Ok(value) => {
                run(self.connection, "release request").inspect_err(|_| self.failed.set(true))?;
                Ok(value)
            }
            Err(failure) => {
                // Some failures undo the whole transaction; then there is no savepoint left, and
                // the batch fails at its commit.
                if !self.connection.is_autocommit() {
                    let undone = run(self.connection, "rollback to request")
                        .and_then(|()| run(self.connection, "release request"));
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

struct State {
    connection: Connection,
    checkpoints: Option<Checkpoints>,
    clock: Clock,
    housekeeping: Box<dyn Housekeeping>,
    watch: Arc<Watch>,
}

impl State {
    fn run(mut self, receiver: Receiver<Message>) {
        let mut stopping = false;
        while !stopping {
            self.watch.seen();
            let first = match receiver.recv_timeout(TICK) {
                Ok(message) => message,
                Err(RecvTimeoutError::Timeout) => {
                    self.idle(false);
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => break,
            };
            let mut jobs = Vec::new();
            for message in std::iter::once(first).chain(receiver.try_iter()) {
                match message {
                    Message::Work(job) => jobs.push(job),
                    Message::Stop => stopping = true,
                }
                if stopping || jobs.len() == MAX_BATCH {
                    break;
                }
            }
            self.watch.queued.dec_by(jobs.len() as i64);
            self.watch.batches.observe(jobs.len() as f64);
            self.batch(jobs);
            if let Some(checkpoints) = &self.checkpoints {
                checkpoints.after_commit(&self.connection);
            }
        }
        self.idle(true);
        if let Some(checkpoints) = self.checkpoints.take() {
            checkpoints.stop(&self.connection);
        }
    }

    fn idle(&mut self, at_stop: bool) {
        if self.housekeeping.pending(at_stop) {
            self.batch(Vec::new());
        }
        if let Some(checkpoints) = &self.checkpoints {
            checkpoints.when_idle(&self.connection);
        }
    }

    /// Runs the jobs in one transaction and tells each whether it was committed.
    fn batch(&mut self, mut jobs: Vec<Box<dyn Job>>) {
        let result = self.run_in_transaction(&mut jobs);
        if let Err(failure) = &result {
            log(&format!("a batch of {} writes failed: {failure}", jobs.len()));
            if !self.connection.is_autocommit()
                && let Err(error) = self.connection.execute_batch("rollback")
            {
                log(&format!("rollback failed: {error}"));
            }
        }
        self.watch.commits.fetch_add(1, Ordering::Release);
        self.housekeeping.after(result.is_ok());
        for job in jobs {
            job.finish(result.is_ok());
        }
    }

    fn run_in_transaction(&mut self, jobs: &mut [Box<dyn Job>]) -> Result<()> {
        run(&self.connection, "begin immediate")?;
        let failed = Cell::new(false);
        let batch = Batch { connection: &self.connection, clock: &self.clock, failed: &failed };
        jobs.iter_mut().for_each(|job| job.run(&batch));
        let is_own_batch = jobs.is_empty();
        if self.housekeeping.pending(is_own_batch) {
            self.keep_house()?;
        }
        if failed.get() || self.connection.is_autocommit() {
            return Err(Failure::Broken("the transaction was undone".into()));
        }
        run(&self.connection, "commit")
    }

    /// The writer's own work, in a savepoint: its failure is not that of the requests.
    fn keep_house(&mut self) -> Result<()> {
        run(&self.connection, "savepoint housekeeping")?;
        if let Err(failure) = self.housekeeping.in_batch(&self.connection) {
            log(&format!("the audit journal was not taken in: {failure}"));
            self.housekeeping.after(false);
            run(&self.connection, "rollback to housekeeping")?;
        }
        run(&self.connection, "release housekeeping")
    }
}

/// Runs a statement that begins or ends something; it stays prepared.
fn run(connection: &Connection, sql: &str) -> Result<()> {
    connection.prepare_cached(sql)?.execute([])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::Sender;

    use super::*;
    use crate::db::system_clock;

    /// Says how many transactions were ended when it hears that its own was committed.
    struct Asks {
        watch: Arc<Watch>,
        answer: Sender<(bool, u64)>,
    }

    impl Job for Asks {
        fn run(&mut self, batch: &Batch<'_>) {
            batch.apart(|connection| Ok(connection.execute("insert into t values (1)", [])?)).unwrap();
        }

        fn finish(self: Box<Self>, committed: bool) {
            self.answer.send((committed, self.watch.commits.load(Ordering::Acquire))).unwrap();
        }
    }

    struct NoHousekeeping;

    impl Housekeeping for NoHousekeeping {
        fn pending(&self, _: bool) -> bool {
            false
        }
        fn in_batch(&mut self, _: &Connection) -> Result<()> {
            Ok(())
        }
        fn after(&mut self, _: bool) {}
    }

    #[test]
    fn a_transaction_is_counted_before_anybody_hears_of_it() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("create table t (a)").unwrap();
        let writer = Writer::start(connection, None, system_clock(), Box::new(NoHousekeeping)).unwrap();
        let queue = writer.queue();
        let (answer, answers) = std::sync::mpsc::channel();
        for ended in 1..=3 {
            queue.submit(Box::new(Asks { watch: Arc::clone(&queue.watch), answer: answer.clone() }));
            assert_eq!(answers.recv().unwrap(), (true, ended));
        }
        writer.stop();
    }
}
