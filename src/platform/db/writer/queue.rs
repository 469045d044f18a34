//! The queue in front of the writer, and the bounds of what goes into one transaction.

use std::sync::mpsc::SyncSender;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::Connection;

use super::batch::Job;
use super::fair_queue::{FairQueue, QueueBounds, QueueKey};
use crate::platform::failure::{Result, locked};

/// Requests that may wait for the writer; further ones are answered 503.
const JOBS_WAITING: QueueBounds = QueueBounds::of(4_096);

/// Requests in one transaction: bounds how long the first of them waits.
const BATCH_JOBS_MAX: usize = 256;

/// Bytes of the requests in one transaction; a larger request gets a transaction of its own. A document of
/// 1,000 short positions, each adding to a batch of goods of its own, writes seventeen times its size to the
/// write-ahead log; an attachment writes less than its size.
const BATCH_BYTES_MAX: usize = 1 << 20;

/// A request counted with this many bytes gets a transaction to itself.
pub const ALONE_BYTES: usize = BATCH_BYTES_MAX + 1;

/// A request for a copy of the database; its caller waits for it.
pub struct CopyRequest {
    /// Target of the copy: an empty database.
    pub target: Connection,
    /// Returns the target when the copy is complete.
    pub told: SyncSender<Result<Connection>>,
}

pub enum Next {
    Nothing,
    Batch(Vec<Box<dyn Job>>),
    Copy(CopyRequest),
    Stop,
}

struct State {
    jobs: FairQueue<Box<dyn Job>>,
    /// A job that was taken but did not fit: it comes first in the next batch.
    held: Option<Box<dyn Job>>,
    copy: Option<CopyRequest>,
    /// Whether the queue is closed: waiting jobs are still done, but no more are accepted.
    is_closed: bool,
}

/// Queue keys take turns; the jobs of one key keep their order.
pub struct Queue {
    state: Mutex<State>,
    comes: Condvar,
}

impl Default for Queue {
    fn default() -> Queue {
        let state = State { jobs: FairQueue::new(JOBS_WAITING), held: None, copy: None, is_closed: false };
        Queue { state: Mutex::new(state), comes: Condvar::new() }
    }
}

impl Queue {
    /// Adds a job; returns it if the queue is full or closed.
    pub fn add(&self, account: QueueKey, job: Box<dyn Job>) -> std::result::Result<(), Box<dyn Job>> {
        let mut state = locked(&self.state);
        let added = if state.is_closed { Err(job) } else { state.jobs.add(account, job) };
        self.comes.notify_one();
        added
    }

    /// Requests a copy, which takes precedence over waiting jobs; returns false if one is already requested
    /// or the queue is closed.
    pub fn add_copy(&self, request: CopyRequest) -> bool {
        let mut state = locked(&self.state);
        let has_place = !state.is_closed && state.copy.is_none();
        if has_place {
            state.copy = Some(request);
            self.comes.notify_one();
        }
        has_place
    }

    /// Refuses further jobs from now on.
    pub fn close(&self) {
        locked(&self.state).is_closed = true;
        self.comes.notify_one();
    }

    /// Returns what the writer does next; waits up to `patience` for something to come.
    pub fn next(&self, patience: Duration) -> Next {
        let waited = self.comes.wait_timeout_while(locked(&self.state), patience, |state| !state.has_any());
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if let Some(copy) = state.copy.take() {
            return Next::Copy(copy);
        }
        match state.batch() {
            jobs if !jobs.is_empty() => Next::Batch(jobs),
            _ if state.is_closed => Next::Stop,
            _ => Next::Nothing,
        }
    }
}

impl State {
    fn has_any(&self) -> bool {
        self.is_closed || self.copy.is_some() || self.held.is_some() || !self.jobs.is_empty()
    }

    /// Takes the jobs that go into one transaction.
    fn batch(&mut self) -> Vec<Box<dyn Job>> {
        let (mut bytes, mut jobs) = (0, Vec::new());
        while jobs.len() < BATCH_JOBS_MAX
            && let Some(job) = self.held.take().or_else(|| Some(self.jobs.take(|_, _| true)?.1))
        {
            if !jobs.is_empty() && bytes + job.bytes() > BATCH_BYTES_MAX {
                self.held = Some(job);
                break;
            }
            bytes += job.bytes();
            jobs.push(job);
        }
        jobs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::db::writer::batch::{Batch, ClosureJob, Ended};

    fn job(bytes: usize) -> Box<dyn Job> {
        let (run, finish) = (|_: &Batch<'_>| (), |_, _: Ended| ());
        Box::new(ClosureJob { bytes, run, done: None, finish })
    }

    /// Returns the size of each request in bytes, grouped by transaction.
    fn batches(queue: &Queue) -> Vec<Vec<usize>> {
        let next = || match queue.next(Duration::ZERO) {
            Next::Batch(jobs) => Some(jobs.iter().map(|job| job.bytes()).collect()),
            _ => None,
        };
        std::iter::from_fn(next).collect()
    }

    #[test]
    fn a_transaction_has_no_more_than_it_may_have() {
        let small = vec![10; BATCH_JOBS_MAX + 3];
        let half = BATCH_BYTES_MAX / 2;
        let cases: [(&[usize], &[usize]); 6] = [
            (&small, &[BATCH_JOBS_MAX, 3]),
            (&[half, half, 1, half], &[2, 2]),
            (&[1, BATCH_BYTES_MAX * 14, 1, 1], &[1, 1, 2]),
            (&[BATCH_BYTES_MAX * 14, BATCH_BYTES_MAX * 14], &[1, 1]),
            (&[BATCH_BYTES_MAX, 0, 0], &[3]),
            (&[0, 0, ALONE_BYTES, 0], &[2, 1, 1]),
        ];
        for (brought, expected) in cases {
            let queue = Queue::default();
            brought.iter().for_each(|bytes| queue.add(QueueKey::house(), job(*bytes)).ok().unwrap());
            let sizes: Vec<usize> = batches(&queue).iter().map(Vec::len).collect();
            assert_eq!(sizes, expected, "{} requests", brought.len());
        }
    }

    #[test]
    fn a_key_that_sends_much_leaves_places_to_others_and_waits_behind_its_own() {
        let queue = Queue::default();
        let of = |name: &str| QueueKey { firma: 1, name: name.to_owned() };
        let sent = std::iter::from_fn(|| queue.add(of("much"), job(BATCH_BYTES_MAX)).ok()).count();
        assert_eq!(sent, JOBS_WAITING.key);
        queue.add(of("little"), job(1)).ok().unwrap();
        let batches = batches(&queue);
        assert_eq!(batches[..3], [vec![BATCH_BYTES_MAX], vec![1], vec![BATCH_BYTES_MAX]]);
        assert_eq!(batches.len(), sent + 1);
        queue.close();
        assert!(queue.add(of("little"), job(1)).is_err());
        assert!(matches!(queue.next(Duration::ZERO), Next::Stop));
    }
}
