//! The snapshot_gate to the snapshots.
//!
//! The write-ahead log can only be begun anew at an instant at which nobody reads from it. As a rule there are many;
//! long reads that follow upon one another leave none, and the log grows without end (P7). When it has grown too
//! long the writer closes the snapshot_gate: who wants a snapshot waits, who has one is let finish for a moment and then
//! stopped, and begins again when the snapshot_gate is open.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long those inside may go on by themselves: longer than a short read takes.
const GRACE: Duration = Duration::from_millis(5);

/// How long the writer waits for them to leave, in all. A stopped statement leaves at its next tick; a read that is
/// writing its answer, when that is written.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// How long a read waits at the snapshot_gate before it is answered 503: longer than it is closed.
const ENTER_TIMEOUT: Duration = Duration::from_secs(5);

const POLL_INTERVAL: Duration = Duration::from_micros(200);

/// Who is inside, and whether anybody is let in.
#[derive(Debug, Default)]
pub struct SnapshotGate {
    closed: AtomicBool,
    /// Those inside are to leave at once.
    cleared: AtomicBool,
    inside: AtomicUsize,
}

/// Somebody inside, until this is dropped.
#[derive(Debug)]
pub struct SnapshotPermit(Arc<SnapshotGate>);

/// The snapshot_gate is closed until this is dropped.
#[derive(Debug)]
pub struct GateClosure<'d>(&'d SnapshotGate);

impl SnapshotGate {
    /// Goes in; waits where the snapshot_gate is closed. None when it stayed closed for too long.
    pub fn enter(self: &Arc<SnapshotGate>) -> Option<SnapshotPermit> {
        let mut since = None;
        loop {
            // Counted first, then asked: who closes the snapshot_gate sees who came in before.
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

    /// Whether nobody is let in: who is inside without reading leaves.
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    pub fn is_cleared(&self) -> bool {
        self.cleared.load(Ordering::Relaxed)
    }

    /// Closes the snapshot_gate, and waits until nobody is inside; whether all have left. Only the writer may do this.
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
                // The writer is waiting for this one.
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
