//! Requests that share a transaction: what each is told, and what of it is committed.

use std::sync::atomic::AtomicUsize;
use std::sync::mpsc::channel;

use super::*;
use crate::platform::db::system_clock;
use crate::platform::db::writer::critical::PANICKED;
use crate::platform::db::writer::critical::tests::{dies, in_own_process};

/// Counts in a table how often its work was done.
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
    crate::platform::db::writer::cache::tests::create_tables(&connection);
    connection.execute_batch("create table t (a); create table done (a)").unwrap();
    Writer::start(connection, None, system_clock(), Box::new(Counts)).unwrap()
}

fn rows(database: &Connection, table: &str) -> Vec<i64> {
    let mut rows = database.prepare(&format!("select a from {table} order by a")).unwrap();
    rows.query_map([], |row| row.get(0)).unwrap().flatten().collect()
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

/// Writes a number in the given way; returns how often it was run, and whether it succeeded.
fn write(number: i64, way: Way) -> impl FnMut(&Batch<'_>) -> (usize, bool) {
    let mut runs = 0;
    move |batch| {
        runs += 1;
        let result = batch.apart(|connection| {
            if way != Way::FailsBeforeWriting {
                connection.execute("insert into t values (?1)", [number])?;
            }
            if way == Way::UndoesAll {
                connection.execute_batch("rollback")?;
            }
            match way {
                Way::Succeeds => Ok(()),
                Way::PanicsAfterWriting => panic!("as it was told"),
                _ => Err(Failure::Broken("as it was told".into())),
            }
        });
        (runs, result.is_ok())
    }
}

/// Runs these jobs as a batch; returns how often each ran.
fn run_batch(queue: &WriterQueue, ways: &[Way]) -> Vec<usize> {
    // Keeps the writer busy until the batch is queued.
    let (go, waits) = channel::<()>();
    queue.submit(QueueKey::house(), 0, move |_| waits.recv(), |_, _| ());
    while queue.watch.queued.get() > 0 {
        std::thread::yield_now();
    }
    let (tell, told) = channel();
    for (number, way) in (0..).zip(ways) {
        let tell = tell.clone();
        let tell = move |done, ended| tell.send((number, done, ended)).unwrap();
        queue.submit(QueueKey::house(), 0, write(number, *way), tell);
    }
    go.send(()).unwrap();
    let runs = (0..).zip(ways).map(|(number, way)| {
        let (of, done, ended) = told.recv().unwrap();
        let (runs, succeeded) = done.unwrap_or((0, false));
        let kept = succeeded && ended == Ended::Committed;
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
fn what_runs_alone_finds_committed_what_came_before_it() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("test.db");
    let writer = writer_of(Connection::open(&path).unwrap());
    let queue = writer.queue();
    let until_waiting = |count: i64| {
        while queue.watch.queued.get() != count {
            std::thread::yield_now();
        }
    };
    // Keeps the writer busy until all have come.
    let (go, waits) = channel::<()>();
    queue.submit(QueueKey::house(), 0, move |_| waits.recv(), |_, _| ());
    until_waiting(0);
    queue.submit(QueueKey::house(), 0, write(1, Way::Succeeds), |_, _| ());
    let other = Connection::open(&path).unwrap();
    let alone = queue.clone();
    let found =
        std::thread::spawn(move || alone.run_alone(QueueKey::house(), move |_| rows(&other, "t")).0.unwrap());
    until_waiting(2);
    go.send(()).unwrap();
    assert_eq!(found.join().unwrap(), [1]);
    writer.stop();
}

#[test]
fn what_changed_many_rows_is_committed_before_what_waits_behind_it_is_run() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("test.db");
    let most = i64::try_from(TRANSACTION_CHANGES_MAX).unwrap();
    for (changes, committed) in [(most, 0), (most + 1, 1)] {
        let _ = std::fs::remove_file(&path);
        let writer = writer_of(Connection::open(&path).unwrap());
        let queue = writer.queue();
        // Keeps the writer busy until both have come.
        let (go, waits) = channel::<()>();
        queue.submit(QueueKey::house(), 0, move |_| waits.recv(), |_, _| ());
        while queue.watch.queued.get() > 0 {
            std::thread::yield_now();
        }
        let many = "with recursive n(n) as (select 1 union all select n + 1 from n where n < ?1)
            insert into t select 1 from n";
        let large =
            move |batch: &Batch<'_>| batch.apart(|connection| Ok(connection.execute(many, [changes])?));
        queue.submit(QueueKey::house(), 0, large, |_, _| ());
        let other = Connection::open(&path).unwrap();
        let (tell, told) = channel();
        let found = move |_: &Batch<'_>| rows(&other, "t").len();
        queue.submit(QueueKey::house(), 0, found, move |found, ended| tell.send((found, ended)).unwrap());
        go.send(()).unwrap();
        let found = usize::try_from(changes * committed).unwrap();
        assert_eq!(told.recv().unwrap(), (Some(found), Ended::Committed), "{changes}");
        writer.stop();
    }
}

#[test]
fn of_a_batch_whose_transaction_is_undone_nothing_is_kept() {
    use Way::{Succeeds, UndoesAll};
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("test.db");
    let writer = writer_of(Connection::open(&path).unwrap());
    // The next request, or the writer's own work, must not write outside a transaction.
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
    for _ in 0..SAVEPOINT_BATCHES / 2 {
        assert_eq!(run_batch(&writer.queue(), &ways), [1, 1]);
    }
    assert_eq!(run_batch(&writer.queue(), &ways), [2, 2]);
    writer.stop();
}

#[test]
fn a_panic_outside_the_work_of_a_request_ends_the_process() {
    if dies() {
        let writer = writer_of(Connection::open_in_memory().unwrap());
        writer.queue().submit(QueueKey::house(), 0, |_| (), |_, _| panic!("as it was told"));
        writer.stop();
        // If the process were still running, it would end with another code.
        std::process::exit(1);
    }
    let output =
        in_own_process("platform::db::writer::tests::a_panic_outside_the_work_of_a_request_ends_the_process");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(PANICKED), "{said}");
    assert!(said.contains("the thread writer panicked"), "{said}");
}

#[test]
fn a_transaction_is_counted_before_anybody_hears_of_it() {
    let writer = writer_of(Connection::open_in_memory().unwrap());
    let queue = writer.queue();
    let (tell, told) = channel();
    for number in 1..=3 {
        let (watch, tell) = (Arc::clone(&queue.watch), tell.clone());
        queue.submit(QueueKey::house(), 0, write(0, Way::Succeeds), move |_, ended| {
            tell.send((ended, watch.commits.load(Ordering::Acquire))).unwrap();
        });
        assert_eq!(told.recv().unwrap(), (Ended::Committed, number));
    }
    writer.stop();
}

/// Fails as on a full disk, which rolls back the transaction, and counts its calls.
struct Fails(Arc<AtomicUsize>);

impl Housekeeping for Fails {
    fn pending(&self, _: bool) -> bool {
        true
    }
    fn in_batch(&mut self, connection: &Connection) -> Result<()> {
        self.0.fetch_add(1, Ordering::Relaxed);
        connection.execute_batch("rollback")?;
        Err(Failure::Broken("as it was told".into()))
    }
    fn after(&mut self, _: bool) {}
}

#[test]
fn on_a_full_disk_the_writers_own_work_is_not_tried_at_each_step_of_a_copy() {
    let folder = tempfile::TempDir::new().unwrap();
    let connection = Connection::open_in_memory().unwrap();
    crate::platform::db::writer::cache::tests::create_tables(&connection);
    // 40 steps.
    connection.execute_batch("create table t (a); insert into t values (zeroblob(41943040))").unwrap();
    let tries = Arc::<AtomicUsize>::default();
    let housekeeping = Box::new(Fails(Arc::clone(&tries)));
    let writer = Writer::start(connection, None, system_clock(), housekeeping).unwrap();
    let (_, ended) = writer.queue().run_alone(QueueKey::house(), write(1, Way::UndoesAll));
    assert_eq!((ended, writer.queue().watch.has_failed()), (Ended::Undone, true));
    let before = tries.load(Ordering::Relaxed);
    writer.queue().copy(&folder.path().join("copy.db")).unwrap();
    let during = tries.load(Ordering::Relaxed) - before;
    assert!(during < 10, "{during} tries");
    writer.stop();
}
