//! Readers in two lanes.
//!
//! Short statements run in place, on the thread that serves the socket, under a budget of steps.
//! What exceeds it is run again on the slow lane, on threads of its own: one long query never
//! stops the scale.

use std::cell::Cell;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use r2d2_sqlite::SqliteConnectionManager;
use rusqlite::{Connection, OpenFlags};

use super::error::{Failure, Result};
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

thread_local! {
    /// Looks left for the statements of the request that runs on this thread.
    static BUDGET: Cell<u32> = const { Cell::new(0) };
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
}

/// When each running read began, in microseconds since the start; 0 is a free place.
struct Running {
    start: Instant,
    places: [AtomicU64; WATCHED],
}

impl Running {
    /// Takes a place for as long as the read runs; none when all are taken.
    fn begin(&self) -> Option<&AtomicU64> {
        let now = self.now().max(1);
        let free =
            |place: &&AtomicU64| place.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        self.places.iter().find(free)
    }

    fn now(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_micros()).unwrap_or(u64::MAX)
    }
}

impl Readers {
    /// Opens the pools; `threads` is how many threads read in place at once.
    pub fn open(path: &Path, threads: u32) -> Result<Readers> {
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
        Ok(Readers { fast: pool(path, threads)?, slow: pool(path, SLOW_THREADS)?, slow_queue, running })
    }

    /// Runs `work` on a snapshot of the database.
    pub fn read<T>(&self, lane: Lane, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let (pool, budget) = match lane {
            Lane::Fast => (&self.fast, FAST_BUDGET),
            Lane::Slow => (&self.slow, SLOW_BUDGET),
        };
        let connection = pool.get().map_err(|error| Failure::Busy(format!("no reader: {error}")))?;
        BUDGET.set(budget);
        // A read that could not be ended left its transaction open.
        if !connection.is_autocommit() {
            connection.execute_batch("rollback")?;
        }
        connection.prepare_cached("begin")?.execute([])?;
        let _snapshot = Snapshot { connection: &connection, place: self.running.begin() };
        work(&connection)
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

/// Ends the transaction of a read, whatever became of it. It has nothing to keep.
struct Snapshot<'c> {
    connection: &'c Connection,
    place: Option<&'c AtomicU64>,
}

impl Drop for Snapshot<'_> {
    fn drop(&mut self) {
        if let Some(place) = self.place {
            place.store(0, Ordering::Relaxed);
        }
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
        let readers = Readers::open(&path, 1).unwrap();
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
