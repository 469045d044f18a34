//! Moving the write-ahead log into the database.
//!
//! A thread of its own does most of it, so that no commit waits for it. It never catches up with a busy
//! writer, and only an empty log begins again at its first page: so the writer moves the last pages itself
//! when the log has grown long, and empties it when nothing comes in.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::Connection;

use super::connection::{open_writer, wait_for_others};
use super::error::{Failure, Result};
use super::log;
use super::migrate::beside;

/// Pages in the log after which the thread is told to move them.
const MOVED_BESIDE: i32 = 1_000;

/// Pages in the log from which on the writer moves what is left and begins it anew: 16 MiB.
const BEGUN_ANEW: i32 = 4_000;

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
    /// Pages in the log at which it is woken next.
    next: Cell<i32>,
}

impl Checkpoints {
    /// Starts the thread. The log is that of a database which is open for writing.
    pub fn start(database: &Path) -> Result<Checkpoints> {
        let connection = open_writer(database)?;
        let (wake, woken) = sync_channel(1);
        let work = move || {
            while woken.recv().is_ok() {
                run(&connection, "passive").unwrap_or_else(|error| failed(&error));
            }
        };
        let thread = std::thread::Builder::new()
            .name("checkpoints".into())
            .spawn(work)
            .map_err(|error| Failure::Broken(format!("no thread for checkpoints: {error}")))?;
        Ok(Checkpoints { log: beside(database, "wal"), wake, thread, next: Cell::new(MOVED_BESIDE) })
    }

    /// Takes over the log of a connection, which from now on is used by this thread alone.
    pub fn take_over(&self, writer: &Connection) {
        writer.wal_hook(Some(|_, pages| {
            PAGES.set(pages);
            Ok(())
        }));
    }

    /// After a commit: has the log moved when it has grown.
    pub fn after_commit(&self, writer: &Connection) {
        let pages = PAGES.get();
        if pages < self.next.get() - MOVED_BESIDE {
            // Somebody else began it anew.
            self.next.set(MOVED_BESIDE);
        }
        if pages >= self.next.get() {
            // When the thread is at work it is woken once more.
            let _ = self.wake.try_send(());
            self.next.set(pages + MOVED_BESIDE);
        }
        if pages >= BEGUN_ANEW && run_without_waiting(writer, "restart") {
            PAGES.set(0);
        }
    }

    /// When nothing comes in: empties the log.
    pub fn when_idle(&self, writer: &Connection) {
        if std::fs::metadata(&self.log).is_ok_and(|log| log.len() > 0) {
            run_without_waiting(writer, "truncate");
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
        let done = run(writer, mode);
        wait_for_others(writer)?;
        done
    };
    checkpoint().unwrap_or_else(|error| failed(&error))
}

/// Runs a checkpoint; whether the log was moved as far as the mode asks for.
fn run(connection: &Connection, mode: &str) -> rusqlite::Result<bool> {
    connection.query_row(&format!("pragma wal_checkpoint({mode})"), [], |row| Ok(!row.get::<_, bool>(0)?))
}

fn failed(error: &rusqlite::Error) -> bool {
    log(&format!("checkpoint failed: {error}"));
    false
}
