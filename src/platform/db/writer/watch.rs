//! The observable state of the writer.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;

use crate::platform::failure::locked;

/// The observable state of the writer.
pub struct Watch {
    pub queued: Gauge,
    /// Requests in each transaction.
    pub batches: Histogram,
    /// Number of transactions that ended, committed or not. Incremented before anybody learns of the
    /// transaction's end.
    pub commits: Arc<AtomicU64>,
    failed: AtomicBool,
    /// When the writer last took something from its queue.
    last_seen: Mutex<Instant>,
}

impl Watch {
    /// How long the writer has been busy with its current piece of work.
    pub fn silent(&self) -> Duration {
        locked(&self.last_seen).elapsed()
    }

    /// Whether the last write failed, usually because the disk is full. The writer itself retries.
    pub fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    pub(in crate::platform::db) fn note(&self, failed: bool) {
        self.failed.store(failed, Ordering::Relaxed);
    }

    pub(in crate::platform::db) fn seen(&self) {
        *locked(&self.last_seen) = Instant::now();
    }
}

impl Default for Watch {
    fn default() -> Watch {
        let sizes = (0..9).map(|power| f64::from(1 << power));
        Watch {
            queued: Gauge::default(),
            batches: Histogram::new(sizes),
            commits: Arc::default(),
            failed: AtomicBool::default(),
            last_seen: Mutex::new(Instant::now()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use rusqlite::Connection;

    use super::*;
    use crate::platform::db::system_clock;
    use crate::platform::db::writer::batch::Ended;
    use crate::platform::db::writer::fair_queue::QueueKey;
    use crate::platform::db::writer::{Housekeeping, Writer};
    use crate::platform::failure::Result;

    struct Nothing;

    impl Housekeeping for Nothing {
        fn pending(&self, _: bool) -> bool {
            false
        }
        fn in_batch(&mut self, _: &Connection) -> Result<()> {
            Ok(())
        }
        fn after(&mut self, _: bool) {}
    }

    /// Enough bytes that each write gets a transaction of its own.
    const BYTES: usize = 16 << 20;

    #[test]
    fn a_write_that_failed_is_seen_until_one_succeeds_and_the_writer_tries_by_itself() {
        let connection = Connection::open_in_memory().unwrap();
        // As full as a disk can be: any write that needs another page fails.
        crate::platform::db::writer::cache::tests::create_tables(&connection);
        connection.execute_batch("create table t (a); pragma max_page_count = 8").unwrap();
        let writer = Writer::start(connection, None, system_clock(), Box::new(Nothing)).unwrap();
        let (told, hears) = channel();
        // Runs a statement; reports how it ended and whether the last write failed.
        let run = |sql: &'static str| {
            let (queue, told) = (writer.queue(), told.clone());
            writer.queue().submit(
                QueueKey::house(),
                BYTES,
                move |batch| batch.apart(|connection| Ok(connection.execute_batch(sql)?)),
                move |_, ended| told.send((ended, queue.watch.has_failed())).unwrap(),
            );
        };
        let too_large = "insert into t values (zeroblob(100000))";
        // Keeps the writer busy until the statements are queued: an idle writer would retry on its own.
        let (go, waits) = channel::<()>();
        writer.queue().submit(QueueKey::house(), BYTES, move |_| waits.recv(), |_, _| ());
        [too_large, "select 1", "insert into t values (1)"].iter().for_each(|sql| run(sql));
        go.send(()).unwrap();
        let expected = [(Ended::Undone, true), (Ended::Committed, true), (Ended::Committed, false)];
        assert_eq!([(); 3].map(|()| hears.recv().unwrap()), expected);
        run(too_large);
        assert_eq!(hears.recv().unwrap(), (Ended::Undone, true));
        // From here on nobody writes.
        let until = Instant::now() + Duration::from_secs(120);
        while writer.queue().watch.has_failed() {
            assert!(Instant::now() < until, "it does not try by itself");
            std::thread::sleep(Duration::from_millis(20));
        }
        writer.stop();
    }
}
