//! What waits for the writer, and how much of it goes into one transaction.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::Duration;

use rusqlite::Connection;

use super::batch::Job;
use crate::failure::Result;

/// Requests in one transaction at most: bounds how long the first of them waits.
const BATCH_JOBS_MAX: usize = 256;

/// Bytes that the requests of one transaction bring along at most; a larger one has it to itself. Of a document of
/// 1,000 short positions, each into a batch of goods of its own, seventeen times as much goes to the write-ahead
/// log, of an attachment less than it brings.
const BATCH_BYTES_MAX: usize = 1 << 20;

/// What counts for so many has a transaction to itself.
pub const ALONE_BYTES: usize = BATCH_BYTES_MAX + 1;

pub enum Message {
    Work(Box<dyn Job>),
    Copy(CopyRequest),
    Stop,
}

/// Somebody wants a copy of the database, and waits for it.
pub struct CopyRequest {
    /// Where it goes: an empty database.
    pub target: Connection,
    /// Gets it back when it is full.
    pub told: SyncSender<Result<Connection>>,
}

pub enum Next {
    Nothing,
    Batch(Vec<Box<dyn Job>>),
    Copy(CopyRequest),
    Stop,
}

/// The end of the queue at which the writer takes from it.
pub struct Queue {
    receiver: Receiver<Message>,
    /// What was taken from it and did not fit.
    held: Option<Message>,
}

impl Queue {
    pub fn new(receiver: Receiver<Message>) -> Queue {
        Queue { receiver, held: None }
    }

    pub fn next(&mut self, patience: Duration) -> Next {
        let first = match self.held.take() {
            Some(held) => Ok(held),
            None => self.receiver.recv_timeout(patience),
        };
        match first {
            Ok(Message::Work(job)) => Next::Batch(self.batch(job)),
            Ok(Message::Copy(request)) => Next::Copy(request),
            Ok(Message::Stop) | Err(RecvTimeoutError::Disconnected) => Next::Stop,
            Err(RecvTimeoutError::Timeout) => Next::Nothing,
        }
    }

    /// What waits behind this request and goes into one transaction with it.
    fn batch(&mut self, first: Box<dyn Job>) -> Vec<Box<dyn Job>> {
        let mut bytes = first.bytes();
        let mut jobs = vec![first];
        while jobs.len() < BATCH_JOBS_MAX
            && let Ok(message) = self.receiver.try_recv()
        {
            match message {
                Message::Work(job) if bytes + job.bytes() <= BATCH_BYTES_MAX => {
                    bytes += job.bytes();
                    jobs.push(job);
                }
                other => {
                    self.held = Some(other);
                    break;
                }
            }
        }
        jobs
    }

    /// All requests that wait; further ones are refused from now on.
    pub fn close(self) -> impl Iterator<Item = Box<dyn Job>> {
        let Queue { receiver, held } = self;
        let rest: Vec<Message> = held.into_iter().chain(receiver.try_iter()).collect();
        rest.into_iter().filter_map(|message| match message {
            Message::Work(job) => Some(job),
            Message::Copy(_) | Message::Stop => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use super::*;
    use crate::db::batch::{Batch, ClosureJob, Ended};

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
            let (sender, receiver) = sync_channel(brought.len() + 1);
            for bytes in brought.iter().copied() {
                let (run, finish) = (|_: &Batch<'_>| (), |_, _: Ended| ());
                let work = ClosureJob { bytes, run, done: None, finish };
                sender.send(Message::Work(Box::new(work))).ok().unwrap();
            }
            sender.send(Message::Stop).ok().unwrap();
            let mut queue = Queue::new(receiver);
            let mut sizes = Vec::new();
            while let Next::Batch(jobs) = queue.next(Duration::ZERO) {
                sizes.push(jobs.len());
            }
            assert_eq!(sizes, expected, "{} requests", brought.len());
        }
    }
}
