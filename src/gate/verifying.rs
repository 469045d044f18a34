//! Verifying keys takes 10 ms and 19 MiB each: it is done on one thread of its own, one key at a
//! time. Requests with the same key wait for the same verification, so that one client, however
//! many connections it has, has one place in the queue.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, sleep};
use std::time::Instant;

use rusqlite::{Connection, OpenFlags};

use super::key::{Digest32, Keys, PresentedKey};
use crate::db::connection::prepare_reader;
use crate::db::error::{self, Failure};
use crate::db::log;

/// Keys that wait at most.
const KEYS: usize = 1_024;

/// Requests that wait at most; further ones are answered 503.
const REQUESTS: usize = 4_096;

/// Told what became of the verification.
pub type Continuation = Box<dyn FnOnce(error::Result<()>) + Send>;

/// The requests that wait, by the digest of their key.
#[derive(Default)]
struct Waiting {
    by_key: HashMap<Digest32, Vec<Continuation>>,
    requests: usize,
}

/// Where keys are handed in to be verified.
pub struct Verifying {
    waiting: Arc<Mutex<Waiting>>,
    sender: SyncSender<PresentedKey>,
}

impl Verifying {
    /// Starts the thread; it ends when this is dropped.
    pub fn start(database: &Path, keys: Arc<Keys>) -> error::Result<Verifying> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(database, flags)?;
        prepare_reader(&connection)?;
        let (sender, receiver) = sync_channel(KEYS);
        let waiting = Arc::<Mutex<Waiting>>::default();
        let of_thread = Arc::clone(&waiting);
        Builder::new()
            .name("keys".into())
            .spawn(move || run(&connection, &keys, &receiver, &of_thread))
            .map_err(|error| Failure::Broken(format!("no thread for keys: {error}")))?;
        Ok(Verifying { waiting, sender })
    }

    /// Hands in a key; the continuation comes back when too many wait already.
    pub fn submit(&self, key: &PresentedKey, continuation: Continuation) -> Result<(), Continuation> {
        let mut waiting = lock(&self.waiting);
        if waiting.requests >= REQUESTS {
            return Err(continuation);
        }
        if !waiting.by_key.contains_key(&key.digest) && self.sender.try_send(key.clone()).is_err() {
            return Err(continuation);
        }
        waiting.requests += 1;
        waiting.by_key.entry(key.digest).or_default().push(continuation);
        Ok(())
    }
}

fn run(connection: &Connection, keys: &Keys, receiver: &Receiver<PresentedKey>, waiting: &Mutex<Waiting>) {
    for key in receiver {
        let begun = Instant::now();
        let holds = catch_unwind(AssertUnwindSafe(|| keys.verify(connection, &key)))
            .unwrap_or_else(|_| Err(Failure::Broken("the verification of a key panicked".into())));
        let told = {
            let mut waiting = lock(waiting);
            let told = waiting.by_key.remove(&key.digest).unwrap_or_default();
            waiting.requests -= told.len();
            told
        };
        let pause = begun.elapsed();
        for continuation in told {
            let verified = match &holds {
                Ok(true) => Ok(()),
                Ok(false) => Err(super::key::invalid()),
                Err(failure) => Err(Failure::Busy(format!("a key was not verified: {failure}"))),
            };
            if catch_unwind(AssertUnwindSafe(|| continuation(verified))).is_err() {
                log("a request panicked after its key was verified");
            }
        }
        // Half of one core at most, whoever asks and however often.
        sleep(pause);
    }
}

fn lock(waiting: &Mutex<Waiting>) -> MutexGuard<'_, Waiting> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}
