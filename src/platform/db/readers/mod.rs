//! Readers: read transactions on two lanes, fast and slow.
//!
//! Short statements run in place, on the thread that serves the socket, under a budget of steps. A read that
//! exceeds the budget is run again on the slow lane, on threads of its own: one long query never blocks the
//! scale.
//!
//! Starting and ending a snapshot costs more than a short read. A socket thread that has several requests at
//! once reads them all on one snapshot, as long as the writer has committed nothing since. A read may be
//! stopped when the write-ahead log must be restarted ([`SnapshotGate`]); then it runs again from the
//! beginning.

pub mod checkpoint;
pub mod priority;
pub mod snapshot_gate;

use std::cell::{Cell, RefCell};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use r2d2_sqlite::SqliteConnectionManager;
use rusqlite::{Connection, OpenFlags};

use super::file::connection;
use super::log;
use crate::platform::failure::{Failure, Result, locked};
use priority::step_back;
use snapshot_gate::{SnapshotGate, SnapshotPermit};

/// Steps of SQLite's virtual machine in a tick, the unit of a budget: about 10 µs.
const STEPS_PER_TICK: i32 = 1_000;

/// Budget of a read in place, in ticks: about 1 ms. While it runs, the other sockets of its thread wait.
pub const IN_PLACE: u32 = 100;

/// Rows of a list that count as one tick: writing them costs most, and no step counts that.
const ROWS_PER_TICK: i64 = 10;

/// Budget of a read on the slow lane, in ticks: about a minute.
const SLOW_LANE_TICKS: u32 = 6_000_000;

/// Threads of the slow lane. The gate decides whose turn it is on them.
pub const SLOW_THREADS: u32 = 3;

/// How long a request waits for a connection before it is answered 503.
const POOL_TIMEOUT: Duration = Duration::from_secs(5);

/// Reads that can be tracked at once: more than there are connections.
const READS_WATCHED_MAX: usize = 256;

/// How often a read is tried at most. A stopped read starts again once the log is back at its first page, and
/// then has the time in which 39 MiB are written. A read that repeatedly takes longer under such a load is
/// answered 503.
const READ_TRIES_MAX: u32 = 5;

/// How long a snapshot serves further reads, in microseconds: this bounds how late a permanently busy thread
/// sees a write of another program (a key that the command line revoked).
const SNAPSHOT_REUSE_MICROS: u64 = 1_000;

thread_local! {
    /// Whether this thread calls [`end_snapshot`] before it rests, and so may keep its snapshot for the next
    /// read.
    static KEEPS: Cell<bool> = const { Cell::new(false) };

    /// The snapshot of the last read, if it was kept.
    static KEPT: RefCell<Option<Snapshot>> = const { RefCell::new(None) };

    /// Ticks left for the read that runs on this thread; `None`: nothing is stopped.
    static BUDGET: Cell<Option<u32>> = const { Cell::new(None) };

    /// Whether the read was stopped because all snapshots have to end.
    static STOPPED: Cell<bool> = const { Cell::new(false) };
}

/// Ends the snapshot that this thread has kept, if any. A thread that calls this each time before it rests
/// may keep a snapshot until then.
pub fn end_snapshot() {
    KEEPS.set(true);
    drop(KEPT.take());
}

/// Charges the rows of a list that is about to be read to the budget of this thread's read. So a long list
/// exceeds its budget with the first steps and moves to the slow lane.
pub fn expect_rows(rows: i64) {
    let ticks = u32::try_from(rows / ROWS_PER_TICK).unwrap_or(u32::MAX);
    BUDGET.set(BUDGET.get().map(|left| left.saturating_sub(ticks)));
}

/// Charges work that no step counts to the budget of this thread's read; stops the read if the budget is
/// exhausted.
pub fn spend(ticks: u32) -> Result<()> {
    let Some(left) = BUDGET.get() else { return Ok(()) };
    BUDGET.set(Some(left.saturating_sub(ticks)));
    if left >= ticks {
        return Ok(());
    }
    let interrupted = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_INTERRUPT);
    Err(rusqlite::Error::SqliteFailure(interrupted, None).into())
}

/// Runs a part of this thread's read with at most `ticks` of its budget; returns the result and the ticks it
/// used.
pub fn within<T>(ticks: u32, part: impl FnOnce() -> T) -> (T, u32) {
    let before = BUDGET.get().unwrap_or(0);
    let own = before.min(ticks);
    BUDGET.set(Some(own));
    let done = part();
    let taken = own - BUDGET.get().unwrap_or(0);
    BUDGET.set(Some(before - taken));
    (done, taken)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    Fast,
    Slow,
}

type SlowWork = Box<dyn FnOnce() + Send>;

/// The pools of read-only connections, and the threads of the slow lane.
pub struct Readers {
    fast: r2d2::Pool<SqliteConnectionManager>,
    slow: r2d2::Pool<SqliteConnectionManager>,
    slow_queue: SyncSender<SlowWork>,
    running: RunningReads,
    snapshot_gate: Arc<SnapshotGate>,
    /// Number of transactions that the writer has ended, plus writes of other processes that were noticed.
    commits: Arc<AtomicU64>,
}

/// Start of each running read, in microseconds since this was created; 0 marks a free slot.
struct RunningReads {
    start: Instant,
    places: [AtomicU64; READS_WATCHED_MAX],
}

impl RunningReads {
    /// Takes a slot while the read runs; without a slot if all are taken.
    fn begin(&self, now: u64) -> RunningRead<'_> {
        let free =
            |place: &&AtomicU64| place.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        RunningRead(self.places.iter().find(free))
    }

    /// Microseconds since this was created, never 0.
    fn now(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_micros()).unwrap_or(u64::MAX).max(1)
    }
}

/// The slot of a running read; freed when dropped.
struct RunningRead<'r>(Option<&'r AtomicU64>);

impl Drop for RunningRead<'_> {
    fn drop(&mut self) {
        if let Some(place) = self.0 {
            place.store(0, Ordering::Relaxed);
        }
    }
}

impl Readers {
    /// Opens the pools; `threads` is the number of threads that read in place at once. Every read enters
    /// through `snapshot_gate`. A read that begins after `commits` has increased sees everything the writer
    /// has committed.
    pub fn open(
        path: &Path,
        threads: u32,
        snapshot_gate: Arc<SnapshotGate>,
        commits: Arc<AtomicU64>,
    ) -> Result<Readers> {
        let (slow_queue, receiver) = sync_channel(SLOW_THREADS as usize);
        let receiver = Arc::new(Mutex::new(receiver));
        for at in 0..SLOW_THREADS {
            let receiver = Arc::clone(&receiver);
            std::thread::Builder::new()
                .name(format!("slow-lane-{at}"))
                .spawn(move || run_slow_lane(&receiver))
                .map_err(|error| Failure::Broken(format!("no thread for the slow lane: {error}")))?;
        }
        let running =
            RunningReads { start: Instant::now(), places: [const { AtomicU64::new(0) }; READS_WATCHED_MAX] };
        // One connection more than the threads can keep: for the midnight work.
        let (fast, slow) =
            (pool(path, threads + 1, &snapshot_gate)?, pool(path, SLOW_THREADS, &snapshot_gate)?);
        Ok(Readers { fast, slow, slow_queue, running, snapshot_gate, commits })
    }

    /// Runs `work` on a snapshot of the database. If it is stopped, tries again on a new snapshot, up to
    /// `READ_TRIES_MAX` times.
    pub fn read<T>(&self, lane: Lane, mut work: impl FnMut(&Connection) -> Result<T>) -> Result<T> {
        for _ in 0..READ_TRIES_MAX {
            if let Some(result) = self.read_once(lane, &mut work)? {
                return Ok(result);
            }
        }
        Err(Failure::Busy("a read was stopped again and again, so much is written".to_owned()))
    }

    /// Tries a read once; `None` if it was stopped.
    fn read_once<T>(&self, lane: Lane, work: &mut impl FnMut(&Connection) -> Result<T>) -> Result<Option<T>> {
        let (pool, budget) = match lane {
            Lane::Fast => (&self.fast, IN_PLACE),
            Lane::Slow => (&self.slow, SLOW_LANE_TICKS),
        };
        let (commits, now) = (self.commits.load(Ordering::Acquire), self.running.now());
        let may_keep = lane == Lane::Fast && KEEPS.get();
        let kept =
            KEPT.take().filter(|kept| lane == Lane::Fast && kept.serves(commits, now, &self.snapshot_gate));
        let snapshot = match kept {
            Some(snapshot) => snapshot,
            None => Snapshot::begin(pool, &self.snapshot_gate, commits, now)?,
        };
        let _place = self.running.begin(now);
        STOPPED.set(false);
        BUDGET.set(Some(budget));
        let result = work(&snapshot.connection);
        BUDGET.set(None);
        if may_keep && result.is_ok() && !STOPPED.get() {
            KEPT.set(Some(snapshot));
        }
        if STOPPED.get() { Ok(None) } else { result.map(Some) }
    }

    /// Call after another process has written: no read that starts from now on uses an older snapshot.
    pub fn begin_anew(&self) {
        self.commits.fetch_add(1, Ordering::AcqRel);
    }

    pub fn oldest(&self) -> Duration {
        let begun = self.running.places.iter().map(|place| place.load(Ordering::Relaxed));
        let oldest = begun.filter(|begun| *begun > 0).min();
        oldest.map_or(Duration::ZERO, |begun| Duration::from_micros(self.running.now().saturating_sub(begun)))
    }

    /// Hands work to the slow lane; returns false and drops the work if the queue is full.
    pub fn submit_slow(&self, work: impl FnOnce() + Send + 'static) -> bool {
        self.slow_queue.try_send(Box::new(work)).is_ok()
    }
}

/// A read transaction. Dropping it always rolls back: there is nothing to keep.
struct Snapshot {
    connection: r2d2::PooledConnection<SqliteConnectionManager>,
    /// Lower bound of what the writer had committed when it began.
    commits: u64,
    /// When it began, in microseconds since the readers were opened.
    begun: u64,
    /// Dropped last, after the transaction has ended.
    _inside: SnapshotPermit,
}

impl Snapshot {
    fn begin(
        pool: &r2d2::Pool<SqliteConnectionManager>,
        snapshot_gate: &Arc<SnapshotGate>,
        commits: u64,
        begun: u64,
    ) -> Result<Snapshot> {
        let connection = pool.get().map_err(|error| Failure::Busy(format!("no reader: {error}")))?;
        // An earlier read that failed to end left its transaction open.
        if !connection.is_autocommit() {
            connection.execute_batch("rollback")?;
        }
        let closed = || Failure::Busy("the write-ahead log is being begun anew".to_owned());
        let inside = snapshot_gate.enter().ok_or_else(closed)?;
        connection.prepare_cached("begin")?.execute([])?;
        Ok(Snapshot { connection, commits, begun, _inside: inside })
    }

    /// Whether another read on this snapshot sees everything the writer has committed, and does not hold up
    /// the writer.
    fn serves(&self, commits: u64, now: u64, snapshot_gate: &SnapshotGate) -> bool {
        self.commits == commits
            && now.saturating_sub(self.begun) < SNAPSHOT_REUSE_MICROS
            && !snapshot_gate.is_closed()
    }
}

impl Drop for Snapshot {
    fn drop(&mut self) {
        // SQLite counts the steps of a cached statement over its whole life: under a budget the handler would
        // now and then stop a rollback.
        BUDGET.set(None);
        let ended = self.connection.prepare_cached("rollback").and_then(|mut rollback| rollback.execute([]));
        if let Err(error) = ended {
            log(&format!("a read could not be ended: {error}"));
        }
    }
}

fn run_slow_lane(receiver: &Mutex<Receiver<SlowWork>>) {
    step_back();
    loop {
        let work = locked(receiver).recv();
        let Ok(work) = work else { return };
        if std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).is_err() {
            log("work on the slow lane panicked");
        }
    }
}

fn pool(
    path: &Path,
    size: u32,
    snapshot_gate: &Arc<SnapshotGate>,
) -> Result<r2d2::Pool<SqliteConnectionManager>> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let snapshot_gate = Arc::clone(snapshot_gate);
    let manager = SqliteConnectionManager::file(path).with_flags(flags).with_init(move |reader| {
        connection::prepare_reader(reader)?;
        let snapshot_gate = Arc::clone(&snapshot_gate);
        reader.progress_handler(STEPS_PER_TICK, Some(move || is_to_stop(&snapshot_gate)))
    });
    r2d2::Pool::builder()
        .max_size(size)
        // Connections are never replaced: their prepared statements would be lost with them.
        .max_lifetime(None)
        .idle_timeout(None)
        .test_on_check_out(false)
        .connection_timeout(POOL_TIMEOUT)
        .build(manager)
        .map_err(|error| Failure::Broken(format!("die Datenbank ist nicht zu lesen ({error})")))
}

/// The progress handler: SQLite calls it every [`STEPS_PER_TICK`] steps; true stops the statement.
fn is_to_stop(snapshot_gate: &SnapshotGate) -> bool {
    let Some(left) = BUDGET.get() else { return false };
    if snapshot_gate.is_cleared() {
        STOPPED.set(true);
        return true;
    }
    BUDGET.set(Some(left.saturating_sub(1)));
    left == 0
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;
    use crate::platform::db::error::exceeded_budget;
    #[cfg(target_os = "linux")]
    use crate::platform::db::readers::priority::NICENESS;

    fn of_new_database() -> (TempDir, Readers) {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("test.db");
        Connection::open(&path).unwrap().execute_batch("pragma journal_mode = wal").unwrap();
        let readers = Readers::open(&path, 1, Arc::default(), Arc::default()).unwrap();
        (folder, readers)
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn long_reads_let_others_go_first() {
        let (_folder, readers) = of_new_database();
        let (sender, receiver) = std::sync::mpsc::channel();
        let niceness = || {
            let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
            // proc(5): the nineteenth field; the second, in parentheses, may contain blanks.
            stat.rsplit(") ").next().unwrap().split(' ').nth(16).unwrap().parse::<i32>().unwrap()
        };
        assert!(readers.submit_slow(move || sender.send(niceness()).unwrap()));
        assert_eq!(receiver.recv().unwrap(), (niceness() + NICENESS).min(19));
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
        // Reads before and after another program writes, calling `between` in between; tries again if that
        // took too long.
        let seen = |between: &dyn Fn()| loop {
            drop(KEPT.take());
            let begun = Instant::now();
            let before = read();
            other.execute("insert into t values (1)", []).unwrap();
            between();
            let after = read();
            if begun.elapsed() < Duration::from_micros(SNAPSHOT_REUSE_MICROS) {
                break after - before;
            }
        };
        assert_eq!(seen(&|| ()), 1, "a thread that does not say when it rests");
        end_snapshot();
        assert_eq!(seen(&|| ()), 0, "kept");
        assert_eq!(seen(&end_snapshot), 1, "ended by a rest");
        let commit = || {
            readers.commits.fetch_add(1, Ordering::Release);
        };
        assert_eq!(seen(&commit), 1, "ended by a commit");
        assert_eq!(seen(&|| readers.begin_anew()), 1, "ended by a write of another process that was seen");
        let fail = || readers.read(Lane::Fast, |_| Err::<(), _>(Failure::Broken(String::new()))).unwrap_err();
        assert_eq!(seen(&|| drop(fail())), 1, "ended by a failure");
        let (before, _) = (read(), other.execute("insert into t values (1)", []).unwrap());
        std::thread::sleep(Duration::from_micros(SNAPSHOT_REUSE_MICROS));
        assert_eq!(read() - before, 1, "ended by its age");
    }

    #[test]
    fn the_next_read_ends_a_kept_snapshot_that_the_writer_waits_for() {
        let (_folder, readers) = of_new_database();
        let count = |connection: &Connection| {
            Ok(connection.query_row("select count(*) from sqlite_schema", [], |row| row.get(0))?)
        };
        let read = || -> i64 { readers.read(Lane::Fast, count).unwrap() };
        end_snapshot();
        let kept = read();
        assert!(KEPT.with_borrow(Option::is_some));
        std::thread::scope(|scope| {
            let closed = scope.spawn(|| readers.snapshot_gate.close().1);
            while !readers.snapshot_gate.is_closed() && !closed.is_finished() {
                std::thread::yield_now();
            }
            assert_eq!(read(), kept);
            assert!(closed.join().unwrap(), "all have left");
        });
    }

    #[test]
    fn a_read_that_took_too_long_leaves_its_connection_as_it_was() {
        let (_folder, readers) = of_new_database();
        // About every 333rd rollback reaches 1,000 steps and so calls the handler.
        for at in 0..700 {
            let failure = readers.read(Lane::Fast, endless).unwrap_err();
            assert!(exceeded_budget(&failure), "read {at}: {failure}");
        }
        let one =
            |connection: &Connection| Ok(connection.query_row("select 1", [], |row| row.get::<_, i64>(0))?);
        assert_eq!(readers.read(Lane::Fast, one).unwrap(), 1);
    }

    /// A read that never ends on its own.
    fn endless(connection: &Connection) -> Result<i64> {
        let sql = "with recursive c (x) as (select 1 union all select x + 1 from c) select count(*) from c";
        Ok(connection.query_row(sql, [], |row| row.get(0))?)
    }

    #[test]
    fn a_read_that_is_stopped_begins_again_and_not_for_ever() {
        let (_folder, readers) = of_new_database();
        let (began, begins) = std::sync::mpsc::channel();
        // The read succeeds on its `last` try.
        let run = |last: u32| {
            let mut times = 0;
            let read = readers.read(Lane::Slow, |connection| {
                times += 1;
                began.send(()).unwrap();
                if times < last { endless(connection) } else { Ok(7) }
            });
            (times, read)
        };
        std::thread::scope(|scope| {
            let stop = |times: u32| {
                for _ in 0..times {
                    begins.recv().unwrap();
                    let (closed, all_left) = readers.snapshot_gate.close();
                    assert!(all_left, "what is stopped leaves, with its snapshot");
                    drop(closed);
                }
            };
            let read = scope.spawn(move || run(3));
            stop(2);
            let (times, read) = read.join().unwrap();
            assert_eq!((times, read.unwrap()), (3, 7));
            begins.recv().unwrap();
            let read = scope.spawn(move || run(u32::MAX));
            stop(READ_TRIES_MAX);
            let (times, read) = read.join().unwrap();
            assert!(times == READ_TRIES_MAX && matches!(read, Err(Failure::Busy(_))), "{times} times");
        });
    }

    #[test]
    fn a_connection_is_kept_with_what_it_has_prepared() {
        let (_folder, readers) = of_new_database();
        for pool in [&readers.fast, &readers.slow] {
            // r2d2 checks every 30 seconds and closes connections older than these limits; without limits it
            // closes none.
            assert_eq!((pool.max_lifetime(), pool.idle_timeout()), (None, None));
        }
    }
}
