//! Moving the write-ahead log into the database.
//!
//! A thread of its own does most of it, so that no commit waits for it. It never quite catches up with a busy
//! writer, and only a log that was moved to its end begins again at its first page: so, when the log has grown
//! long and little is left, the writer moves that itself. When nothing comes in it empties the log.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
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

/// Pages in the log at which it moves all there are: 48 MiB.
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
    /// Pages of the log that it has moved.
    moved: Arc<AtomicI32>,
}

impl Checkpoints {
    /// Starts the thread. The log is that of a database which is open for writing.
    pub fn start(database: &Path) -> Result<Checkpoints> {
        let connection = open_writer(database)?;
        let (wake, woken) = sync_channel(0);
        let moved = Arc::<AtomicI32>::default();
        let by_thread = Arc::clone(&moved);
        let work = move || {
            while woken.recv().is_ok() {
                match run(&connection, "passive") {
                    Ok(state) => by_thread.store(state.moved, Ordering::Relaxed),
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
        // Where somebody else began it anew, more is noted than there is.
        let left = pages - self.moved.load(Ordering::Relaxed).min(pages);
        let is_long = pages >= BEGUN_ANEW;
        if pages >= TOO_LONG || (is_long && left <= MOVED_BY_WRITER) {
            self.begin_anew(writer, "restart");
        } else if is_long || left >= MOVED_BESIDE {
            // When it is at work already, it is told after the next commit.
            let _ = self.wake.try_send(());
        }
    }

    /// When nothing comes in: empties the log.
    pub fn when_idle(&self, writer: &Connection) {
        if std::fs::metadata(&self.log).is_ok_and(|log| log.len() > 0) {
            self.begin_anew(writer, "truncate");
        }
    }

    fn begin_anew(&self, writer: &Connection, mode: &str) {
        if run_without_waiting(writer, mode) {
            self.moved.store(0, Ordering::Relaxed);
            PAGES.set(0);
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

    use tempfile::TempDir;

    use super::*;

    /// Writes 120 MiB in commits of one, and looks how long the log becomes, in pages.
    fn longest_log(after_commit: impl Fn(&Checkpoints, &Connection)) -> u64 {
        let folder = TempDir::new().unwrap();
        let database = folder.path().join("test.db");
        File::create(&database).unwrap();
        let writer = open_writer(&database).unwrap();
        writer.execute_batch("create table t (id integer primary key, a)").unwrap();
        let checkpoints = Checkpoints::start(&database).unwrap();
        checkpoints.take_over(&writer);
        let mut longest = 0;
        for id in 0..120 {
            writer.execute("insert into t values (?1, zeroblob(1048576))", [id]).unwrap();
            after_commit(&checkpoints, &writer);
            longest = longest.max(std::fs::metadata(&checkpoints.log).unwrap().len() / 4096);
        }
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
    fn an_idle_log_is_emptied() {
        let folder = TempDir::new().unwrap();
        let database = folder.path().join("test.db");
        File::create(&database).unwrap();
        let writer = open_writer(&database).unwrap();
        writer.execute_batch("create table t (a)").unwrap();
        let checkpoints = Checkpoints::start(&database).unwrap();
        let length = || std::fs::metadata(&checkpoints.log).unwrap().len();
        assert!(length() > 0);
        checkpoints.when_idle(&writer);
        assert_eq!(length(), 0);
    }
}
