//! Moving the write-ahead log into the database.
//!
//! A thread of its own does most of it, so that no commit waits for it. It never quite catches up with a busy
//! writer, and only a log that was moved to its end begins again at its first page: so, when the log has grown
//! long and little is left, the writer moves that itself. When nothing comes in it empties the log.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::Connection;

use super::connection::{open_writer, wait_for_others};
use super::error::{Failure, Result};
use super::log;
use super::migrate::beside;

/// Pages left to be moved at which the thread is told to. While the disk takes in more at once, commits wait.
const MOVED_BESIDE: i32 = 1_000;

/// Pages in the log from which on it is to be begun anew: 32 MiB.
const BEGUN_ANEW: i32 = 8_000;

/// Pages that the writer moves for that at most: requests wait for it.
const MOVED_BY_WRITER: i32 = 500;

/// Pages in the log at which the writer waits for the thread, and then moves all that is left: 48 MiB.
const TOO_LONG: i32 = 12_000;

thread_local! {
    /// Pages in the log after the last commit of this thread.
    static PAGES: Cell<i32> = const { Cell::new(0) };
}

/// Looks after the write-ahead log for the writer.
pub struct Checkpoints {
    log: PathBuf,
    /// Wakes the thread; it ends when this is dropped.
    wake: SyncSender<()>,
    thread: JoinHandle<()>,
    /// Pages of the log that it has moved; locked while it is at work.
    moved: Arc<Mutex<i32>>,
}

impl Checkpoints {
    /// Starts the thread. The log is that of a database which is open for writing.
    pub fn start(database: &Path) -> Result<Checkpoints> {
        let connection = open_writer(database)?;
        let (wake, woken) = sync_channel(0);
        let moved = Arc::<Mutex<i32>>::default();
        let by_thread = Arc::clone(&moved);
        let work = move || {
            while woken.recv().is_ok() {
                let mut moved = by_thread.lock().unwrap_or_else(PoisonError::into_inner);
                match run(&connection, "passive") {
                    Ok(state) => *moved = state.moved,
                    Err(error) => failed(&error),
                }
            }
        };
        let thread = std::thread::Builder::new()
            .name("checkpoints".into())
            .spawn(work)
            .map_err(|error| Failure::Broken(format!("no thread for checkpoints: {error}")))?;
        Ok(Checkpoints { log: beside(database, "wal"), wake, thread, moved })
    }

    /// Takes over the log of the connection that [`Checkpoints::after_commit`] will be told of, always on one thread.
    pub fn take_over(&self, writer: &Connection) {
        writer.wal_hook(Some(|_, pages| {
            PAGES.set(pages);
            Ok(())
        }));
    }

    /// After a commit: has the log moved when it has grown.
    pub fn after_commit(&self, writer: &Connection) {
        let pages = PAGES.get();
        let moved = if pages >= TOO_LONG { Some(self.moved()) } else { self.moved_unless_at_work() };
        let Some(mut moved) = moved else { return };
        // Where another process began it anew, more is noted than there is.
        let left = pages - (*moved).min(pages);
        let is_long = pages >= BEGUN_ANEW;
        if pages >= TOO_LONG || (is_long && left <= MOVED_BY_WRITER) {
            begin_anew(writer, "restart", &mut moved);
        } else if is_long || left >= MOVED_BESIDE {
            // Where it does not wait yet, it is told after the next commit.
            let _ = self.wake.try_send(());
        }
    }

    /// When nothing comes in: empties the log.
    pub fn when_idle(&self, writer: &Connection) {
        if std::fs::metadata(&self.log).is_ok_and(|log| log.len() > 0) {
            let Some(mut moved) = self.moved_unless_at_work() else { return };
            begin_anew(writer, "truncate", &mut moved);
        }
    }

    /// Pages of the log that were moved; waits until the thread has moved what it is at.
    fn moved(&self) -> MutexGuard<'_, i32> {
        self.moved.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same without waiting: none while the thread moves more: nobody else can then.
    fn moved_unless_at_work(&self) -> Option<MutexGuard<'_, i32>> {
        match self.moved.try_lock() {
            Ok(moved) => Some(moved),
            Err(TryLockError::Poisoned(moved)) => Some(moved.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Ends the thread and empties the log.
    pub fn stop(self, writer: &Connection) {
        let Checkpoints { wake, thread, .. } = self;
        drop(wake);
        if thread.join().is_err() {
            log("the thread of the checkpoints ended by a panic");
        }
        run_without_waiting(writer, "truncate");
    }
}

/// Moves what is left, and forgets what was known of the log.
fn begin_anew(writer: &Connection, mode: &str, moved: &mut i32) {
    if run_without_waiting(writer, mode) {
        *moved = 0;
        PAGES.set(0);
    }
}

/// On the connection that writes: it waits for no reader. What one still needs stays for the next time.
fn run_without_waiting(writer: &Connection, mode: &str) -> bool {
    let checkpoint = || {
        writer.busy_timeout(Duration::ZERO)?;
        let state = run(writer, mode);
        wait_for_others(writer)?;
        state
    };
    checkpoint().inspect_err(failed).is_ok_and(|state| state.done)
}

/// What a checkpoint came to.
struct State {
    /// It went as far as its mode asks for.
    done: bool,
    /// Pages of the log that were moved, by this one and those before it.
    moved: i32,
}

fn run(connection: &Connection, mode: &str) -> rusqlite::Result<State> {
    let pragma = format!("pragma wal_checkpoint({mode})");
    connection.query_row(&pragma, [], |row| Ok(State { done: !row.get::<_, bool>(0)?, moved: row.get(2)? }))
}

fn failed(error: &rusqlite::Error) {
    log(&format!("checkpoint failed: {error}"));
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::Instant;

    use tempfile::TempDir;

    use super::*;

    fn of_new_database() -> (TempDir, Connection, Checkpoints) {
        let folder = TempDir::new().unwrap();
        let database = folder.path().join("test.db");
        File::create(&database).unwrap();
        let writer = open_writer(&database).unwrap();
        writer.execute_batch("create table t (id integer primary key, a)").unwrap();
        let checkpoints = Checkpoints::start(&database).unwrap();
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
        assert!((1..=13_000).contains(&longest), "{longest} pages");
        assert!(longest_log(|_, _| {}) > 30_000);
    }

    #[test]
    fn the_thread_moves_the_log_until_it_is_emptied_when_idle() {
        let (_folder, writer, checkpoints) = of_new_database();
        let moved = || *checkpoints.moved.lock().unwrap();
        let until = Instant::now() + Duration::from_secs(10);
        // The second time all that was known of the first log must be forgotten.
        for _ in 0..2 {
            write(&writer, 5, || {});
            assert!(length(&checkpoints) > 0);
            while moved() < MOVED_BESIDE && Instant::now() < until {
                checkpoints.after_commit(&writer);
                std::thread::yield_now();
            }
            assert!(moved() >= MOVED_BESIDE, "{} pages", moved());
            while length(&checkpoints) > 0 && Instant::now() < until {
                checkpoints.when_idle(&writer);
            }
            assert_eq!((length(&checkpoints), moved()), (0, 0));
        }
    }
}
