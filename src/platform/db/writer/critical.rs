//! Critical threads, without which the service would only seem to run: losing one ends the process.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle, current, sleep};
use std::time::Duration;

use crate::platform::failure::{Failure, Result};

/// Exit code after a panic of such a thread: a bug (`EX_SOFTWARE`).
pub const PANICKED: i32 = 70;

/// Exit code when it is unknown whether a commit is on the disk (`EX_IOERR`).
pub const OUTCOME_UNKNOWN: i32 = 74;

/// Time for answers already given, and for the last line of the log, to go out.
const MOMENT: Duration = Duration::from_millis(500);

/// Starts a critical thread. If it panics, the process ends: the process is restarted (by the systemd unit or
/// the Windows service), a thread is not.
pub fn spawn_critical(
    name: &'static str,
    work: impl FnOnce() + Send + 'static,
) -> std::io::Result<JoinHandle<()>> {
    Builder::new().name(name.to_owned()).spawn(move || {
        if catch_unwind(AssertUnwindSafe(work)).is_err() {
            end_process(
                PANICKED,
                &format!("the thread {name} panicked: partnerd ends and must be started again"),
            );
        }
    })
}

/// A critical thread that does one piece of work after another. Dropping it waits for the current piece,
/// after which everything the thread owns is dropped, too, such as a connection.
pub struct Worker<T> {
    /// `None` while it is being dropped.
    sender: Option<SyncSender<T>>,
    is_ending: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl<T: Send + 'static> Worker<T> {
    /// Starts the thread; at most `waiting` pieces of work may wait.
    pub fn start(
        name: &'static str,
        waiting: usize,
        mut work: impl FnMut(T) + Send + 'static,
    ) -> Result<Worker<T>> {
        let (sender, receiver) = sync_channel(waiting);
        let is_ending = Arc::<AtomicBool>::default();
        let ends = Arc::clone(&is_ending);
        let thread = spawn_critical(name, move || {
            receiver.into_iter().take_while(|_| !ends.load(Ordering::Relaxed)).for_each(&mut work);
        })
        .map_err(|error| Failure::Broken(format!("no thread for {name}: {error}")))?;
        Ok(Worker { sender: Some(sender), is_ending, thread: Some(thread) })
    }

    /// Submits a piece of work; returns false and drops it if too many are waiting.
    pub fn submit(&self, piece: T) -> bool {
        self.sender.as_ref().is_some_and(|sender| sender.try_send(piece).is_ok())
    }
}

impl<T> Drop for Worker<T> {
    fn drop(&mut self) {
        self.is_ending.store(true, Ordering::Relaxed);
        drop(self.sender.take());
        // A piece of work may hold the last reference to the owner of this worker: a thread must not join
        // itself.
        if let Some(thread) = self.thread.take().filter(|thread| thread.thread().id() != current().id()) {
            let _ = thread.join();
        }
    }
}

/// Ends the process after a last line in the log.
pub fn end_process(code: i32, why: &str) -> ! {
    tracing::error!("{why}");
    sleep(MOMENT);
    std::process::exit(code)
}

#[cfg(test)]
pub(in crate::platform::db) mod tests {
    use std::process::{Command, Output};

    use super::*;
    use crate::platform::db::file::logging::{Format, Verbosity, start};

    /// Environment variable that tells a child process to die.
    const DIES: &str = "PARTNERD_TEST_DIES";

    /// Runs `test` alone in a child process, in which [`dies`] returns true; returns its output.
    pub fn in_own_process(test: &str) -> Output {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args([test, "--exact", "--nocapture", "--test-threads=1"]).env(DIES, "1").output().unwrap()
    }

    /// Whether this is the process that must die; if so, logs to stderr.
    pub fn dies() -> bool {
        let dies = std::env::var_os(DIES).is_some();
        if dies {
            std::mem::forget(start(std::io::stderr(), Format::Text, Verbosity::Error));
        }
        dies
    }

    #[test]
    fn a_panic_ends_the_process() {
        if dies() {
            let thread = spawn_critical("fragile", || panic!("as it was told")).unwrap();
            let _ = thread.join();
            // If the process were still running, it would end with another code.
            std::process::exit(1);
        }
        let output = in_own_process("platform::db::writer::critical::tests::a_panic_ends_the_process");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(PANICKED), "{said}");
        assert!(said.contains("the thread fragile panicked"), "{said}");
    }

    #[test]
    fn a_thread_that_comes_to_its_end_ends_nothing() {
        assert!(spawn_critical("whole", || ()).unwrap().join().is_ok());
    }
}
