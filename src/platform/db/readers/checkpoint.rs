//! Moving the write-ahead log into the database.
//!
//! A thread moves most of it, so that no commit waits. SQLite restarts the log at its first page only when
//! all of it is moved and nobody reads it, and the thread never quite catches up with a busy writer. So the
//! writer moves the rest itself when the log is long and little is left, and closes the [`SnapshotGate`] when
//! reads leave no gap. It empties the log when no request waits.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::snapshot_gate::SnapshotGate;
use crate::platform::db::file::connection::{open_writer, wait_for_others};
use crate::platform::db::file::files::beside;
use crate::platform::db::log;
use crate::platform::db::writer::critical::Worker;
use crate::platform::failure::{Failure, Result, locked};

/// How long the writer waits, after it closed the gate, for readers that do not use it: the thread that
/// verifies keys, the command line.
const OTHER_READERS_TIMEOUT: Duration = Duration::from_millis(100);

/// How long the gate stays open, and the log grows, after a snapshot of another process prevented a restart:
/// only that process can end it.
const GATE_OPEN_TIME: Duration = Duration::from_secs(5);

thread_local! {
    /// Pages in the log after the last commit of this thread.
    static PAGES: Cell<i32> = const { Cell::new(0) };
}

pub struct Checkpoints {
    log: PathBuf,
    /// The thread, which moves what is left each time it is woken.
    worker: Worker<()>,
    /// Pages of the log that it has moved; locked while it works.
    moved: Arc<Mutex<i32>>,
    snapshot_gate: Arc<SnapshotGate>,
    /// Set for [`GATE_OPEN_TIME`].
    open_until: Cell<Option<Instant>>,
}

impl Checkpoints {
    /// Starts the thread. The database is open for writing, and its readers use `snapshot_gate`.
    pub fn start(database: &Path, snapshot_gate: Arc<SnapshotGate>) -> Result<Checkpoints> {
        let connection = open_writer(database)?;
        let moved = Arc::<Mutex<i32>>::default();
        let by_thread = Arc::clone(&moved);
        let work = move |()| {
            let mut moved = locked(&by_thread);
            match run_checkpoint(&connection, "passive") {
                Ok((_, pages)) => *moved = pages,
                Err(error) => failed(&error),
            }
        };
        let worker = Worker::start("checkpoints", 0, work)?;
        let log = beside(database, "wal");
        Ok(Checkpoints { log, worker, moved, snapshot_gate, open_until: Cell::new(None) })
    }

    /// Turns off SQLite's own checkpoints of the writer's connection; call [`Checkpoints::after_commit`] on
    /// this thread.
    pub fn take_over(&self, writer: &Connection) {
        writer.wal_hook(Some(|_, pages| {
            PAGES.set(pages);
            Ok(())
        }));
    }

    /// Restarts a long log, or wakes the thread that moves it; called after each commit.
    pub fn after_commit(&self, writer: &Connection) {
        let pages = PAGES.get();
        if is_full(pages) && self.may_close_gate() {
            return self.force_restart(writer);
        }
        // While the thread works nothing is to be done: the next commit looks again.
        let Ok(mut moved) = self.moved.try_lock() else { return };
        // After a restart by another process more pages are noted as moved than there are.
        let left = pages - (*moved).min(pages);
        if is_worth_a_restart(pages, left) {
            restart_log(writer, "restart", &mut moved, Duration::ZERO);
        } else if is_worth_waking_for(pages, left) {
            self.worker.submit(());
        }
    }

    fn may_close_gate(&self) -> bool {
        self.open_until.get().is_none_or(|until| Instant::now() >= until)
    }

    /// Waits for the thread and restarts the log; if readers block it, closes the gate and retries.
    fn force_restart(&self, writer: &Connection) {
        let mut moved = locked(&self.moved);
        if restart_log(writer, "restart", &mut moved, Duration::ZERO) {
            return;
        }
        let (_closed, all_left) = self.snapshot_gate.close();
        // A read of ours ends by itself: the next commit tries again.
        if all_left && !restart_log(writer, "restart", &mut moved, OTHER_READERS_TIMEOUT) {
            self.open_until.set(Instant::now().checked_add(GATE_OPEN_TIME));
            log(
                "another process reads, so the write-ahead log cannot be begun anew and grows until that is done",
            );
        }
    }

    /// Empties the log; called when no request waits.
    pub fn when_idle(&self, writer: &Connection) {
        if std::fs::metadata(&self.log).is_ok_and(|log| log.len() > 0) {
            let Ok(mut moved) = self.moved.try_lock() else { return };
            restart_log(writer, "truncate", &mut moved, Duration::ZERO);
        }
    }

    /// Ends the thread and empties the log.
    pub fn stop(self, writer: &Connection) {
        drop(self.worker);
        run_on_writer(writer, "truncate", Duration::ZERO);
    }
}

/// 39 MiB. With one more batch, which adds 20 MiB at most, the log stays below 64 MiB (P7).
const LOG_PAGES_MAX: i32 = 10_000;

/// Whether the log must be restarted now, even if commits and readers wait for it.
fn is_full(pages: i32) -> bool {
    pages >= LOG_PAGES_MAX
}

/// 32 MiB: between this and [`LOG_PAGES_MAX`] there is time to catch up.
const LONG_LOG_PAGES: i32 = 8_000;

/// The pages that the writer moves itself; requests wait meanwhile.
const WRITER_PAGES_MAX: i32 = 500;

/// Whether the log is long, and the writer can move what is left and restart it.
fn is_worth_a_restart(pages: i32, left: i32) -> bool {
    pages >= LONG_LOG_PAGES && left <= WRITER_PAGES_MAX
}

/// 4 MiB: if the thread moved more at once, commits would wait for the disk.
const PAGES_TO_WAKE: i32 = 1_000;

/// Whether the thread has enough to move. In a long log it moves every page, so that little is left for the
/// writer.
fn is_worth_waking_for(pages: i32, left: i32) -> bool {
    left >= PAGES_TO_WAKE || pages >= LONG_LOG_PAGES
}

/// Moves what an unclean end left in the log into the database and onto the disk, before the first write of a
/// start. A page of the log whose sync failed may be in memory only, and nothing would write it again. The
/// log of a database that another process has open (`is_ours` is false) may stay.
pub fn settle(database: &Path, is_ours: bool) -> Result<()> {
    if !std::fs::metadata(beside(database, "wal")).is_ok_and(|log| log.len() > 0) {
        return Ok(());
    }
    let connection = open_writer(database)?;
    if !is_ours {
        connection.busy_timeout(Duration::ZERO)?;
    }
    let (is_done, _) = run_checkpoint(&connection, "truncate")?;
    match is_done || !is_ours {
        true => Ok(()),
        false => Err(Failure::Broken(format!(
            "ein anderes Programm liest {}, und was der letzte Lauf in -wal ließ, kann nicht übernommen \
                 werden: es beenden",
            database.display()
        ))),
    }
}

/// Moves what is left; true if the log begins at its first page now.
fn restart_log(writer: &Connection, mode: &str, moved: &mut i32, patience: Duration) -> bool {
    let begun = run_on_writer(writer, mode, patience);
    if begun {
        *moved = 0;
        PAGES.set(0);
    }
    begun
}

/// Runs a checkpoint that waits for readers as long as `patience`; true if nothing was left in the log.
fn run_on_writer(writer: &Connection, mode: &str, patience: Duration) -> bool {
    let checkpoint = || {
        writer.busy_timeout(patience)?;
        let state = run_checkpoint(writer, mode);
        wait_for_others(writer)?;
        state
    };
    checkpoint().inspect_err(failed).is_ok_and(|(is_done, _)| is_done)
}

/// Returns whether the mode was fulfilled, and how many pages of the log this and earlier checkpoints moved.
fn run_checkpoint(connection: &Connection, mode: &str) -> rusqlite::Result<(bool, i32)> {
    let pragma = format!("pragma wal_checkpoint({mode})");
    connection.query_row(&pragma, [], |row| Ok((!row.get::<_, bool>(0)?, row.get(2)?)))
}

fn failed(error: &rusqlite::Error) {
    log(&format!("checkpoint failed: {error}"));
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};

    use tempfile::TempDir;

    use super::*;
    use crate::platform::db::readers::{Lane, Readers};

    fn of_new_database() -> (TempDir, Connection, Checkpoints) {
        let folder = TempDir::new().unwrap();
        let database = folder.path().join("test.db");
        File::create(&database).unwrap();
        let writer = open_writer(&database).unwrap();
        writer.execute_batch("create table t (id integer primary key, a)").unwrap();
        let checkpoints = Checkpoints::start(&database, Arc::default()).unwrap();
        checkpoints.take_over(&writer);
        (folder, writer, checkpoints)
    }

    /// Commits of 1 MiB each.
    fn write(writer: &Connection, commits: i64, mut after_commit: impl FnMut()) {
        for _ in 0..commits {
            writer.execute("insert into t (a) values (zeroblob(1048576))", []).unwrap();
            after_commit();
        }
    }

    fn length(checkpoints: &Checkpoints) -> u64 {
        std::fs::metadata(&checkpoints.log).unwrap().len()
    }

    /// How long the log becomes, in pages, while 120 MiB are written.
    fn longest_log(after_commit: impl Fn(&Checkpoints, &Connection)) -> u64 {
        let (_folder, writer, checkpoints) = of_new_database();
        let mut longest = 0;
        write(&writer, 120, || {
            after_commit(&checkpoints, &writer);
            longest = longest.max(length(&checkpoints) / 4096);
        });
        let log = checkpoints.log.clone();
        checkpoints.stop(&writer);
        assert_eq!(std::fs::metadata(log).unwrap().len(), 0);
        longest
    }

    #[test]
    fn the_log_is_begun_anew_however_much_is_written() {
        let longest = longest_log(Checkpoints::after_commit);
        assert!((1..=11_000).contains(&longest), "{longest} pages");
        assert!(longest_log(|_, _| {}) > 30_000);
    }

    #[test]
    fn the_thread_moves_the_log_until_it_is_emptied_when_idle() {
        let (_folder, writer, checkpoints) = of_new_database();
        let moved = || *checkpoints.moved.lock().unwrap();
        let until = Instant::now() + Duration::from_secs(120);
        // The second time all that was known of the first log must be forgotten.
        for _ in 0..2 {
            write(&writer, 5, || {});
            assert!(length(&checkpoints) > 0);
            while moved() < PAGES_TO_WAKE && Instant::now() < until {
                checkpoints.after_commit(&writer);
                std::thread::yield_now();
            }
            assert!(moved() >= PAGES_TO_WAKE, "{} pages", moved());
            while length(&checkpoints) > 0 && Instant::now() < until {
                checkpoints.when_idle(&writer);
            }
            assert_eq!((length(&checkpoints), moved()), (0, 0));
        }
    }

    /// How long the log becomes, in pages, while 120 MiB are written and two clients read, so that there is never an
    /// instant without a snapshot that lacks what was written last; and how many reads came to their end.
    fn longest_log_of_read_database(after_commit: impl Fn(&Checkpoints, &Connection)) -> (u64, usize) {
        const ENDS: Duration = Duration::from_secs(20);
        let (folder, writer, checkpoints) = of_new_database();
        let snapshot_gate = Arc::clone(&checkpoints.snapshot_gate);
        let readers =
            Readers::open(&folder.path().join("test.db"), 2, snapshot_gate, Arc::default()).unwrap();
        let (writing, reads, newest) = (AtomicBool::new(true), AtomicUsize::new(0), AtomicI64::new(-1));
        // Who sees more than the others stays until somebody inside sees still more.
        let turn = |connection: &Connection| {
            let rows = connection.query_row("select count(*) from t", [], |row| row.get(0))?;
            let stays = newest.fetch_max(rows, Ordering::SeqCst) < rows;
            let begun = Instant::now();
            while stays
                && newest.load(Ordering::SeqCst) == rows
                && writing.load(Ordering::SeqCst)
                && begun.elapsed() < ENDS
            {
                let some_steps =
                    "with recursive c (x) as (select 1 union all select x + 1 from c limit 20000)
                    select count(*) from c";
                connection.query_row(some_steps, [], |_| Ok(()))?;
            }
            Ok(rows)
        };
        let mut longest = 0;
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while writing.load(Ordering::SeqCst) {
                        if readers.read(Lane::Slow, turn).is_ok() {
                            reads.fetch_add(1, Ordering::SeqCst);
                        }
                    }
                });
            }
            while newest.load(Ordering::SeqCst) < 0 {
                std::thread::yield_now();
            }
            write(&writer, 120, || {
                after_commit(&checkpoints, &writer);
                longest = longest.max(length(&checkpoints) / 4096);
            });
            writing.store(false, Ordering::SeqCst);
        });
        (longest, reads.into_inner())
    }

    #[test]
    fn reads_that_leave_no_gap_do_not_keep_the_log_from_being_begun_anew() {
        let (longest, reads) = longest_log_of_read_database(Checkpoints::after_commit);
        assert!(longest <= 11_000, "{longest} pages");
        assert!(reads > 0);
        // The same with a snapshot_gate that stays open.
        let (longest, _) = longest_log_of_read_database(|checkpoints, writer| {
            checkpoints.open_until.set(Instant::now().checked_add(GATE_OPEN_TIME));
            checkpoints.after_commit(writer);
            if PAGES.get() >= LOG_PAGES_MAX {
                restart_log(writer, "restart", &mut locked(&checkpoints.moved), Duration::ZERO);
            }
        });
        assert!(longest > 20_000, "{longest} pages");
    }

    #[test]
    fn a_snapshot_of_another_process_is_not_waited_for_again_and_again() {
        let (folder, writer, checkpoints) = of_new_database();
        let other = Connection::open(folder.path().join("test.db")).unwrap();
        other.execute_batch("begin").unwrap();
        other.query_row("select count(*) from t", [], |_| Ok(())).unwrap();
        write(&writer, 60, || checkpoints.after_commit(&writer));
        assert!(checkpoints.open_until.get().is_some(), "the gate was closed once");
        let until = Instant::now().checked_add(Duration::from_secs(3_600));
        checkpoints.open_until.set(until);
        write(&writer, 20, || checkpoints.after_commit(&writer));
        assert!(checkpoints.open_until.get() == until, "it was closed again");
        other.execute_batch("rollback").unwrap();
        checkpoints.open_until.set(None);
        checkpoints.after_commit(&writer);
        assert_eq!(PAGES.get(), 0, "now it is begun anew");
    }

    #[test]
    fn what_a_killed_process_left_in_the_log_is_moved_before_anything_is_written() {
        let (folder, writer, checkpoints) = of_new_database();
        write(&writer, 3, || {});
        let left = folder.path().join("left.db");
        std::fs::copy(folder.path().join("test.db"), &left).unwrap();
        std::fs::copy(&checkpoints.log, beside(&left, "wal")).unwrap();
        // Another program, as long as it runs.
        let other = Connection::open(&left).unwrap();
        other.execute_batch("begin").unwrap();
        other.query_row("select count(*) from t", [], |_| Ok(())).unwrap();
        let length = || std::fs::metadata(beside(&left, "wal")).unwrap().len();
        settle(&left, false).unwrap();
        assert!(length() > 3 << 20, "a log that is looked after by others is left as it is");
        other.execute_batch("rollback").unwrap();
        settle(&left, true).unwrap();
        assert_eq!(length(), 0);
        let moved = File::open(&left).unwrap().metadata().unwrap().len();
        assert!(moved > 3 << 20, "{moved} bytes");
    }
}
