//! The one writer: a thread that runs many requests in one transaction.
//!
//! Each request is kept as a whole or not at all, and is answered when the transaction they share
//! has been committed and is on the disk (group commit, `synchronous=FULL`). So there is no
//! `database is locked`, no lost update, and a disk sync for many documents at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use rusqlite::Connection;

use super::batch::{Batch, Job, run};
use super::checkpoint::Checkpoints;
use super::error::Result;
use super::memory::Memory;
use super::{Clock, log};

/// Requests that wait for the writer at most; further ones are answered 503.
pub const QUEUE: usize = 4_096;

/// Requests in one transaction at most: bounds how long the first of them waits.
const MAX_BATCH: usize = 256;

/// Batches that run with savepoints from the start after one that had to be run again: where clients send many
/// requests that fail late, hardly any is run twice.
const WITH_SAVEPOINTS: u32 = 16;

/// How often the writer looks after the journal and the write-ahead log when nothing comes in.
const TICK: Duration = Duration::from_secs(1);

/// Work of the writer's own that rides along with a batch: taking in the audit journal.
pub trait Housekeeping: Send {
    /// Whether there is anything to do; at the stop of the writer nothing may be left.
    fn pending(&self, at_stop: bool) -> bool;
    /// Does it, within the batch.
    fn in_batch(&mut self, connection: &Connection) -> Result<()>;
    /// Whether the last batch left something over because a batch takes only so much.
    fn has_more(&self) -> bool {
        false
    }
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
        let memory = Memory::of(&connection).map_err(std::io::Error::other)?;
        let state = State {
            connection,
            checkpoints,
            clock,
            memory,
            housekeeping,
            watch: Arc::clone(&watch),
            with_savepoints: 0,
        };
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

/// How a transaction ended.
enum Ended {
    Committed,
    /// Nothing of it was kept.
    Undone,
}

struct State {
    connection: Connection,
    checkpoints: Option<Checkpoints>,
    clock: Clock,
    memory: Memory,
    housekeeping: Box<dyn Housekeeping>,
    watch: Arc<Watch>,
    /// Batches that run with savepoints from the start.
    with_savepoints: u32,
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
            while at_stop && self.housekeeping.has_more() {
                self.batch(Vec::new());
            }
        }
        if let Some(checkpoints) = &self.checkpoints {
            checkpoints.when_idle(&self.connection);
        }
    }

    /// Runs the jobs in one transaction and tells each whether it was committed.
    fn batch(&mut self, mut jobs: Vec<Box<dyn Job>>) {
        let savepoints = self.with_savepoints > 0;
        self.with_savepoints = self.with_savepoints.saturating_sub(1);
        let mut result = self.run_in_transaction(&mut jobs, savepoints);
        if matches!(result, Ok(Ended::Undone)) && !savepoints {
            self.with_savepoints = WITH_SAVEPOINTS;
            result = self.run_in_transaction(&mut jobs, true);
        }
        let committed = matches!(result, Ok(Ended::Committed));
        if !committed {
            let why = result.map_or_else(|failure| failure.to_string(), |_| "it was undone".into());
            log(&format!("a batch of {} writes failed: {why}", jobs.len()));
        }
        self.watch.commits.fetch_add(1, Ordering::Release);
        self.housekeeping.after(committed);
        for job in jobs {
            job.finish(committed);
        }
    }

    /// Runs the jobs in one transaction. None is left open.
    fn run_in_transaction(&mut self, jobs: &mut [Box<dyn Job>], savepoints: bool) -> Result<Ended> {
        let ended = self.begin_and_run(jobs, savepoints);
        if !matches!(ended, Ok(Ended::Committed))
            && !self.connection.is_autocommit()
            && let Err(error) = self.connection.execute_batch("rollback")
        {
            log(&format!("rollback failed: {error}"));
        }
        ended
    }

    fn begin_and_run(&mut self, jobs: &mut [Box<dyn Job>], savepoints: bool) -> Result<Ended> {
        run(&self.connection, "begin immediate")?;
        self.memory.look(&self.connection)?;
        let batch = Batch::new(&self.connection, &self.clock, &self.memory, savepoints);
        for job in jobs.iter_mut() {
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
        run(&self.connection, "commit")?;
        Ok(Ended::Committed)
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

#[cfg(test)]
mod tests {
    use std::sync::mpsc::Sender;

    use super::*;
    use crate::db::error::Failure;
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

    /// Counts in a table how often it was done.
    struct Counts;

    impl Housekeeping for Counts {
        fn pending(&self, at_stop: bool) -> bool {
            !at_stop
        }
        fn in_batch(&mut self, connection: &Connection) -> Result<()> {
            connection.execute("insert into done values (1)", [])?;
            Ok(())
        }
        fn after(&mut self, _: bool) {}
    }

    fn writer_of(connection: Connection) -> Writer {
        connection.execute_batch("create table t (a); create table done (a)").unwrap();
        Writer::start(connection, None, system_clock(), Box::new(Counts)).unwrap()
    }

    fn rows(database: &Connection, table: &str) -> Vec<i64> {
        let mut rows = database.prepare(&format!("select a from {table} order by a")).unwrap();
        rows.query_map([], |row| row.get(0)).unwrap().flatten().collect()
    }

    #[test]
    fn a_transaction_is_counted_before_anybody_hears_of_it() {
        let writer = writer_of(Connection::open_in_memory().unwrap());
        let queue = writer.queue();
        let (answer, answers) = std::sync::mpsc::channel();
        for ended in 1..=3 {
            queue.submit(Box::new(Asks { watch: Arc::clone(&queue.watch), answer: answer.clone() }));
            assert_eq!(answers.recv().unwrap(), (true, ended));
        }
        writer.stop();
    }

    /// What a job does, and how it ends.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Way {
        Succeeds,
        FailsBeforeWriting,
        FailsAfterWriting,
        PanicsAfterWriting,
        /// As SQLite does when the disk is full.
        UndoesAll,
    }

    /// Writes its number.
    struct Writes {
        number: i64,
        way: Way,
        runs: usize,
        succeeded: bool,
        /// Number, runs, whether it is kept.
        ended: Sender<(i64, usize, bool)>,
    }

    impl Job for Writes {
        fn run(&mut self, batch: &Batch<'_>) {
            self.runs += 1;
            let result = batch.apart(|connection| {
                if self.way != Way::FailsBeforeWriting {
                    connection.execute("insert into t values (?1)", [self.number])?;
                }
                if self.way == Way::UndoesAll {
                    connection.execute_batch("rollback")?;
                }
                match self.way {
                    Way::Succeeds => Ok(()),
                    Way::PanicsAfterWriting => panic!("as it was told"),
                    _ => Err(Failure::Broken("as it was told".into())),
                }
            });
            self.succeeded = result.is_ok();
        }

        fn finish(self: Box<Self>, committed: bool) {
            self.ended.send((self.number, self.runs, self.succeeded && committed)).unwrap();
        }
    }

    /// Keeps the writer busy until it is told that the next batch is queued.
    struct Waits(Receiver<()>);

    impl Job for Waits {
        fn run(&mut self, _: &Batch<'_>) {
            self.0.recv().unwrap();
        }
        fn finish(self: Box<Self>, _: bool) {}
    }

    /// Runs a batch of these; how often each ran.
    fn run_batch(queue: &WriterQueue, ways: &[Way]) -> Vec<usize> {
        let (go, waits) = std::sync::mpsc::channel();
        queue.submit(Box::new(Waits(waits)));
        while queue.watch.queued.get() > 0 {
            std::thread::yield_now();
        }
        let (ended, ends) = std::sync::mpsc::channel();
        for (number, way) in (0..).zip(ways) {
            let ended = ended.clone();
            queue.submit(Box::new(Writes { number, way: *way, runs: 0, succeeded: false, ended }));
        }
        go.send(()).unwrap();
        let runs = (0..).zip(ways).map(|(number, way)| {
            let (of, runs, kept) = ends.recv().unwrap();
            let is_to_be_kept = *way == Way::Succeeds && !ways.contains(&Way::UndoesAll);
            assert_eq!((of, kept), (number, is_to_be_kept), "{ways:?}");
            runs
        });
        runs.collect()
    }

    #[test]
    fn a_request_that_fails_takes_no_other_with_it() {
        use Way::{FailsAfterWriting, FailsBeforeWriting, PanicsAfterWriting, Succeeds};
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("test.db");
        for (ways, runs) in [
            (vec![Succeeds, Succeeds], vec![1, 1]),
            (vec![Succeeds, FailsBeforeWriting, Succeeds], vec![1, 1, 1]),
            (vec![Succeeds, FailsAfterWriting, Succeeds], vec![2, 2, 1]),
            (vec![PanicsAfterWriting, FailsAfterWriting, Succeeds], vec![2, 1, 1]),
        ] {
            let _ = std::fs::remove_file(&path);
            let writer = writer_of(Connection::open(&path).unwrap());
            assert_eq!(run_batch(&writer.queue(), &ways), runs, "{ways:?}");
            writer.stop();
            let database = Connection::open(&path).unwrap();
            let kept = (0..).zip(&ways).filter(|(_, way)| **way == Succeeds).map(|(number, _)| number);
            assert_eq!(rows(&database, "t"), kept.collect::<Vec<_>>(), "{ways:?}");
        }
    }

    #[test]
    fn of_a_batch_whose_transaction_is_undone_nothing_is_kept() {
        use Way::{Succeeds, UndoesAll};
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("test.db");
        let writer = writer_of(Connection::open(&path).unwrap());
        // What comes after it, a request or the writer's own work, must not write outside a transaction.
        for (ways, runs) in [(vec![Succeeds, UndoesAll], [2, 2]), (vec![UndoesAll, Succeeds], [1, 0])] {
            assert_eq!(run_batch(&writer.queue(), &ways), runs, "{ways:?}");
        }
        writer.stop();
        let database = Connection::open(&path).unwrap();
        assert_eq!(rows(&database, "t"), [0; 0]);
        assert_eq!(rows(&database, "done"), [1, 1], "with the two batches that kept the writer busy");
    }

    #[test]
    fn where_many_requests_fail_late_hardly_any_is_run_twice() {
        let writer = writer_of(Connection::open_in_memory().unwrap());
        let ways = [Way::Succeeds, Way::FailsAfterWriting];
        assert_eq!(run_batch(&writer.queue(), &ways), [2, 2]);
        // The job that keeps the writer busy is a batch as well.
        for _ in 0..WITH_SAVEPOINTS / 2 {
            assert_eq!(run_batch(&writer.queue(), &ways), [1, 1]);
        }
        assert_eq!(run_batch(&writer.queue(), &ways), [2, 2]);
        writer.stop();
    }
}
