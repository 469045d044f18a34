//! What can be seen of the writer from outside.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;

/// What can be seen of the writer from outside.
pub struct Watch {
    /// Requests that wait.
    pub queued: Gauge,
    /// Requests in each transaction.
    pub batches: Histogram,
    /// The last transaction was not committed.
    failed: AtomicBool,
    /// When the writer last looked around, in milliseconds since `begun`.
    last_seen: AtomicU64,
    begun: Instant,
}

impl Watch {
    /// How long the writer has been at work without looking around.
    pub fn silent(&self) -> Duration {
        self.begun.elapsed().saturating_sub(Duration::from_millis(self.last_seen.load(Ordering::Relaxed)))
    }

    /// Whether the last write failed: the disk is full, as a rule. The writer itself tries again.
    pub fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// Notes how a write went; whether the one before it failed.
    pub(super) fn note(&self, failed: bool) -> bool {
        self.failed.swap(failed, Ordering::Relaxed)
    }

    pub(super) fn seen(&self) {
        let now = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last_seen.store(now, Ordering::Relaxed);
    }
}

impl Default for Watch {
    fn default() -> Watch {
        let sizes = (0..9).map(|power| f64::from(1 << power));
        Watch {
            queued: Gauge::default(),
            batches: Histogram::new(sizes),
            failed: AtomicBool::default(),
            last_seen: AtomicU64::default(),
            begun: Instant::now(),
        }
    }
}
