//! Readers in two lanes.
//!
//! Short statements run in place, on the thread that serves the socket, under a budget of steps.
//! What exceeds it is run again on the slow lane, on threads of its own: one long query never
//! stops the scale.
//!
//! To begin and end a snapshot costs more than a short read. A thread of the socket that has several requests at
//! once reads them all on one, as long as the writer has committed nothing since.

use std::cell::{Cell, RefCell};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use r2d2_sqlite::SqliteConnectionManager;
use rusqlite::{Connection, OpenFlags};

use super::error::{Failure, Result};
use super::writer::Watch;
use super::{connection, log};

/// Steps of SQLite's virtual machine between two looks at the budget.
const STEPS_PER_LOOK: i32 = 1_000;

/// What a statement may cost in place: about 5 ms.
const FAST_BUDGET: u32 = 500;

/// What a statement may cost at all: about a minute.
const SLOW_BUDGET: u32 = 6_000_000;

/// Threads of the slow lane.
const SLOW_THREADS: u32 = 2;

/// How much they let others go first (nice(1)).
#[cfg(target_os = "linux")]
const SLOW_NICENESS: i32 = 10;

/// Work that waits for the slow lane at most; further requests are answered 503.
const SLOW_QUEUE: usize = 256;

/// How long a request waits for a connection before it is answered 503.
const POOL_TIMEOUT: Duration = Duration::from_secs(5);

/// Reads that can be watched at once: more than there are connections.
const WATCHED: usize = 256;

/// How long a snapshot serves further reads, in microseconds: so late at most a thread that always has something
/// to do sees what another program wrote (a key that the command line revoked).
const KEPT_FOR: u64 = 1_000;

thread_local! {
    /// Looks left for the statements of the request that runs on this thread.
    static BUDGET: Cell<u32> = const { Cell::new(0) };

    /// Whether this thread keeps its snapshot for the next read: it calls [`end_snapshot`] before it rests.
    static KEEPS: Cell<bool> = const { Cell::new(false) };

    /// The snapshot of the last read.
    static KEPT: RefCell<Option<Snapshot>> = const { RefCell::new(None) };
}

/// Lets this thread keep a snapshot for its next read. It must call [`end_snapshot`] each time before it rests.
pub fn keep_snapshots() {
    KEEPS.set(true);
}

/// Ends the snapshot that this thread has kept, if it has.
pub fn end_snapshot() {
    drop(KEPT.take());
}

/// Which lane a read runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Lane {
    Fast,
    Slow,
}

/// Work for the slow lane, told whether it has a thread; if not, the lane is full.
pub type SlowWork = Box<dyn FnOnce(bool) + Send>;

/// The pools of read-only connections, and the threads of the slow lane.
pub struct Readers {
    fast: r2d2::Pool<SqliteConnectionManager>,
    slow: r2d2::Pool<SqliteConnectionManager>,
    slow_queue: SyncSender<SlowWork>,
    running: Running,
    /// Transactions that the writer has ended.
    commits: Arc<AtomicU64>,
}

/// When each running read began, in microseconds since the start; 0 is a free place.
struct Running {
    start: Instant,
    places: [AtomicU64; WATCHED],
}

impl Running {
    /// Takes a place for as long as the read runs; none when all are taken.
    fn begin(&self, now: u64) -> Place<'_> {
        let free =
            |place: &&AtomicU64| place.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        Place(self.places.iter().find(free))
    }

    /// Microseconds since the start, never 0.
    fn now(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_micros()).unwrap_or(u64::MAX).max(1)
    }
}

/// The place of a running read; free again when the read is over.
struct Place<'r>(Option<&'r AtomicU64>);

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if let Some(place) = self.0 {
            place.store(0, Ordering::Relaxed);
        }
    }
}

impl Readers {
    /// Opens the pools; `threads` is how many threads of the socket read in place at once. A read that begins
    /// after `writer` has committed something sees it.
    pub fn open(path: &Path, threads: u32, writer: &Watch) -> Result<Readers> {
        let (slow_queue, receiver) = sync_channel(SLOW_QUEUE);
        let receiver = Arc::new(Mutex::new(receiver));
        for at in 0..SLOW_THREADS {
            let receiver = Arc::clone(&receiver);
            std::thread::Builder::new()
                .name(format!("slow-lane-{at}"))
                .spawn(move || run_slow_lane(&receiver))
                .map_err(|error| Failure::Broken(format!("no thread for the slow lane: {error}")))?;
        }
        let running = Running { start: Instant::now(), places: [const { AtomicU64::new(0) }; WATCHED] };
        // One more than they can keep: for the thread that verifies keys, and for midnight.
        let (fast, slow) = (pool(path, threads + 1)?, pool(path, SLOW_THREADS)?);
        Ok(Readers { fast, slow, slow_queue, running, commits: Arc::clone(&writer.commits) })
    }

    /// Runs `work` on a snapshot of the database.
    pub fn read<T>(&self, lane: Lane, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let (pool, budget) = match lane {
            Lane::Fast => (&self.fast, FAST_BUDGET),
            Lane::Slow => (&self.slow, SLOW_BUDGET),
        };
        let (commits, now) = (self.commits.load(Ordering::Acquire), self.running.now());
        let kept = KEPT.take().filter(|kept| lane == Lane::Fast && kept.serves(commits, now));
        let snapshot = match kept {
            Some(snapshot) => snapshot,
            None => Snapshot::begin(pool, commits, now)?,
        };
        BUDGET.set(budget);
        let _place = self.running.begin(now);
        let result = work(&snapshot.connection);
        if result.is_ok() && lane == Lane::Fast && KEEPS.get() {
            KEPT.set(Some(snapshot));
        }
        result
    }

    /// How long the oldest running read has been running.
    pub fn oldest(&self) -> Duration {
        let begun = self.running.places.iter().map(|place| place.load(Ordering::Relaxed));
        let oldest = begun.filter(|begun| *begun > 0).min();
        oldest.map_or(Duration::ZERO, |begun| Duration::from_micros(self.running.now().saturating_sub(begun)))
    }

    /// Hands work to the slow lane; it comes back when the queue is full.
    pub fn submit_slow(&self, work: SlowWork) -> std::result::Result<(), SlowWork> {
        self.slow_queue.try_send(work).map_err(|refused| match refused {
            TrySendError::Full(work) | TrySendError::Disconnected(work) => work,
        })
    }
}

/// A reading transaction. It ends with this, whatever became of it: it has nothing to keep.
struct Snapshot {
    connection: r2d2::PooledConnection<SqliteConnectionManager>,
    /// What the writer had committed when it began, at least.
    commits: u64,
    /// When it began, in microseconds since the start.
    begun: u64,
}

impl Snapshot {
    fn begin(pool: &r2d2::Pool<SqliteConnectionManager>, commits: u64, begun: u64) -> Result<Snapshot> {
        let connection = pool.get().map_err(|error| Failure::Busy(format!("no reader: {error}")))?;
        BUDGET.set(u32::MAX);
        // A read that could not be ended left its transaction open.
        if !connection.is_autocommit() {
            connection.execute_batch("rollback")?;
        }
        connection.prepare_cached("begin")?.execute([])?;
        Ok(Snapshot { connection, commits, begun })
    }

    /// Whether another read sees on it all that the writer has committed.
    fn serves(&self, commits: u64, now: u64) -> bool {
        self.commits == commits && now.saturating_sub(self.begun) < KEPT_FOR
    }
}

impl Drop for Snapshot {
    fn drop(&mut self) {
        // The steps of a cached statement are counted over its life: without a budget the handler
        // would stop a rollback now and then.
        BUDGET.set(u32::MAX);
        let ended = self.connection.prepare_cached("rollback").and_then(|mut rollback| rollback.execute([]));
        if let Err(error) = ended {
            log(&format!("a read could not be ended: {error}"));
        }
    }
}

fn run_slow_lane(receiver: &Mutex<Receiver<SlowWork>>) {
    step_back();
    loop {
        let work = receiver.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(work) = work else { return };
        if std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work(true))).is_err() {
            log("work on the slow lane panicked");
        }
    }
}

/// Lets other threads go first: on two cores two long reads would take half of both.
fn step_back() {
    // Linux gives each thread a priority of its own; elsewhere it would be that of the whole server.
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(None, SLOW_NICENESS) {
        log(&format!("long reads have the same priority as short ones: {error}"));
    }
}

fn pool(path: &Path, size: u32) -> Result<r2d2::Pool<SqliteConnectionManager>> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let manager = SqliteConnectionManager::file(path).with_flags(flags).with_init(|reader| {
        connection::prepare_reader(reader)?;
        reader.progress_handler(STEPS_PER_LOOK, Some(budget_is_spent))
    });
    r2d2::Pool::builder()
        .max_size(size)
        .test_on_check_out(false)
        .connection_timeout(POOL_TIMEOUT)
        .build(manager)
        .map_err(|error| Failure::Broken(format!("the database cannot be read: {error}")))
}

/// Asked by SQLite every [`STEPS_PER_LOOK`] steps; true stops the statement.
fn budget_is_spent() -> bool {
    let left = BUDGET.get();
    BUDGET.set(left.saturating_sub(1));
    left == 0
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    fn of_new_database() -> (TempDir, Readers) {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("test.db");
        Connection::open(&path).unwrap().execute_batch("pragma journal_mode = wal").unwrap();
        let readers = Readers::open(&path, 1, &Watch::default()).unwrap();
        (folder, readers)
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn long_reads_let_others_go_first() {
        let (_folder, readers) = of_new_database();
        let (sender, receiver) = std::sync::mpsc::channel();
        let niceness = || {
            let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
            // proc(5): the nineteenth field; the second, in parentheses, may have blanks.
            stat.rsplit(") ").next().unwrap().split(' ').nth(16).unwrap().parse::<i32>().unwrap()
        };
        assert!(readers.submit_slow(Box::new(move |_| sender.send(niceness()).unwrap())).is_ok());
        assert_eq!((receiver.recv().unwrap(), niceness()), (SLOW_NICENESS, 0));
    }

    #[test]
    fn a_kept_snapshot_ends_with_a_commit_with_a_rest_or_after_a_while() {
        let (folder, readers) = of_new_database();
        let other = Connection::open(folder.path().join("test.db")).unwrap();
        other.execute_batch("pragma synchronous = off; create table t (n)").unwrap();
        let count = |connection: &Connection| {
            Ok(connection.query_row("select count(*) from t", [], |row| row.get(0))?)
        };
        let read = || -> i64 { readers.read(Lane::Fast, count).unwrap() };
        // Reads before and after another program writes, and `between` after that; again when it took too long.
        let seen = |between: &dyn Fn()| loop {
            end_snapshot();
            let begun = Instant::now();
            let before = read();
            other.execute("insert into t values (1)", []).unwrap();
            between();
            let after = read();
            if begun.elapsed() < Duration::from_micros(KEPT_FOR) {
                break after - before;
            }
        };
        assert_eq!(seen(&|| ()), 1, "a thread that keeps nothing");
        keep_snapshots();
        assert_eq!(seen(&|| ()), 0, "kept");
        assert_eq!(seen(&end_snapshot), 1, "ended by a rest");
        let commit = || {
            readers.commits.fetch_add(1, Ordering::Release);
        };
        assert_eq!(seen(&commit), 1, "ended by a commit");
        let fail = || readers.read(Lane::Fast, |_| Err::<(), _>(Failure::Broken(String::new()))).unwrap_err();
        assert_eq!(seen(&|| drop(fail())), 1, "ended by a failure");
        let (before, _) = (read(), other.execute("insert into t values (1)", []).unwrap());
        std::thread::sleep(Duration::from_micros(KEPT_FOR));
        assert_eq!(read() - before, 1, "ended by its age");
    }

    #[test]
    fn a_read_that_took_too_long_leaves_its_connection_as_it_was() {
        let (_folder, readers) = of_new_database();
        let endless =
            "with recursive c (x) as (select 1 union all select x + 1 from c) select count(*) from c";
        let count =
            |connection: &Connection| Ok(connection.query_row(endless, [], |row| row.get::<_, i64>(0))?);
        // The rollback of every third of a thousand reads is asked for its budget.
        for at in 0..700 {
            let failure = readers.read(Lane::Fast, count).unwrap_err();
            assert!(failure.exceeded_budget(), "read {at}: {failure}");
        }
        let one =
            |connection: &Connection| Ok(connection.query_row("select 1", [], |row| row.get::<_, i64>(0))?);
        assert_eq!(readers.read(Lane::Fast, one).unwrap(), 1);
    }
}
