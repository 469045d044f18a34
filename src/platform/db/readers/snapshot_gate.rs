//! The gate through which every read enters a snapshot; the writer can close it.
//!
//! The write-ahead log can only be restarted at a moment when nobody reads from it. Usually there are many
//! such moments, but overlapping long reads leave none, and the log grows without end (P7). When it has grown
//! too long, the writer closes the gate: new reads wait, running reads get a short grace period and are then
//! stopped, and start again when the gate is open.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long running reads may continue after the gate closes: longer than a short read takes.
const GRACE: Duration = Duration::from_millis(5);

/// How long the writer waits in total for running reads to leave. A stopped statement leaves at its next
/// tick; a read that is writing its answer leaves when the answer is written.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// How long a read waits at the gate before it is answered 503: longer than the gate stays closed.
const ENTER_TIMEOUT: Duration = Duration::from_secs(5);

const POLL_INTERVAL: Duration = Duration::from_micros(200);

/// Counts the reads inside and says whether further ones may enter.
#[derive(Debug, Default)]
pub struct SnapshotGate {
    closed: AtomicBool,
    /// Whether the reads inside must leave at once.
    cleared: AtomicBool,
    inside: AtomicUsize,
}

/// The right to read from a snapshot, held until dropped.
#[derive(Debug)]
pub struct SnapshotPermit(Arc<SnapshotGate>);

/// Keeps the gate closed until dropped.
#[derive(Debug)]
pub struct GateClosure<'d>(&'d SnapshotGate);

impl SnapshotGate {
    /// Enters; waits while the gate is closed. `None` if it stayed closed for too long.
    pub fn enter(self: &Arc<SnapshotGate>) -> Option<SnapshotPermit> {
        let mut since = None;
        loop {
            // Count first, check second: so whoever closes the gate sees everybody who entered before.
            self.inside.fetch_add(1, Ordering::SeqCst);
            let inside = SnapshotPermit(Arc::clone(self));
            if !self.closed.load(Ordering::SeqCst) {
                return Some(inside);
            }
            drop(inside);
            if since.get_or_insert_with(Instant::now).elapsed() >= ENTER_TIMEOUT {
                return None;
            }
            sleep(POLL_INTERVAL);
        }
    }

    /// Whether nobody may enter: an idle holder of a snapshot should leave.
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    pub fn is_cleared(&self) -> bool {
        self.cleared.load(Ordering::Relaxed)
    }

    /// Closes the gate and waits until nobody is inside; returns whether all have left. Only the writer may
    /// call this.
    pub fn close(&self) -> (GateClosure<'_>, bool) {
        self.closed.store(true, Ordering::SeqCst);
        let closed = GateClosure(self);
        let begun = Instant::now();
        while self.inside.load(Ordering::SeqCst) > 0 {
            if begun.elapsed() >= CLOSE_TIMEOUT {
                return (closed, false);
            }
            if begun.elapsed() >= GRACE {
                self.cleared.store(true, Ordering::Relaxed);
            }
            sleep(POLL_INTERVAL);
        }
        (closed, true)
    }
}

impl Drop for SnapshotPermit {
    fn drop(&mut self) {
        self.0.inside.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Drop for GateClosure<'_> {
    fn drop(&mut self) {
        self.0.cleared.store(false, Ordering::Relaxed);
        self.0.closed.store(false, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn who_is_inside_is_let_finish_then_told_to_leave_and_who_comes_waits() {
        let snapshot_gate = Arc::<SnapshotGate>::default();
        drop(snapshot_gate.close());
        let (told, hears) = channel();
        std::thread::scope(|scope| {
            let inside = snapshot_gate.enter().unwrap();
            scope.spawn(|| {
                let begun = Instant::now();
                while !snapshot_gate.is_cleared() {
                    sleep(POLL_INTERVAL);
                }
                // The writer waits for this read.
                assert!(begun.elapsed() < CLOSE_TIMEOUT);
                scope.spawn(|| told.send(snapshot_gate.enter().is_some()));
                sleep(Duration::from_millis(50));
                drop(inside);
            });
            let (closed, all_left) = snapshot_gate.close();
            assert!(all_left);
            sleep(Duration::from_millis(50));
            assert!(hears.try_recv().is_err(), "nobody comes in while it is closed");
            drop(closed);
            assert_eq!(hears.recv(), Ok(true));
        });
        assert!(!snapshot_gate.is_cleared());
        assert!(snapshot_gate.close().1, "all have left");
    }

    #[test]
    fn the_writer_does_not_wait_for_ever() {
        let snapshot_gate = Arc::<SnapshotGate>::default();
        let _inside = snapshot_gate.enter().unwrap();
        let (closed, all_left) = snapshot_gate.close();
        assert!(!all_left);
        drop(closed);
        assert!(snapshot_gate.enter().is_some(), "it is open again");
    }
}
