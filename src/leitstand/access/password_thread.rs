//! The thread that hashes passwords, so that hashing delays no other request.

use std::sync::Arc;
use std::thread::sleep;
use std::time::Instant as Moment;

use tokio::sync::oneshot;

use crate::platform::db::writer::critical::Worker;
use crate::platform::failure::{Failure, Result, unpanicked};
use crate::platform::http::budget::Budget;

/// Most passwords waiting, in all and of one person or address; further ones are answered 503.
const PASSWORDS_WAITING_MAX: usize = 64;
const PASSWORDS_WAITING_SHARE: usize = 4;

/// Runs one piece of work after the other; its thread ends when this is dropped.
pub struct PasswordThread {
    worker: Worker<Box<dyn FnOnce() + Send>>,
    places: Arc<Budget>,
}

impl PasswordThread {
    /// Starts the thread. It pauses as long as it has worked, so that it takes at most half of one core,
    /// whatever the load.
    pub fn start() -> Result<PasswordThread> {
        let work = |work: Box<dyn FnOnce() + Send>| {
            let begun = Moment::now();
            work();
            sleep(begun.elapsed());
        };
        let worker = Worker::start("passwords", PASSWORDS_WAITING_MAX, work)?;
        Ok(PasswordThread { worker, places: Budget::new(PASSWORDS_WAITING_MAX, PASSWORDS_WAITING_SHARE) })
    }

    /// Waits for a place in the queue and then for the result; `account` limits each person or address to
    /// their share.
    pub async fn run<T: Send + 'static>(
        &self,
        account: &str,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let is_full = || Failure::Busy("too many passwords wait to be hashed".into());
        let place = self.places.take(account, 1).ok_or_else(is_full)?;
        let (tell, told) = oneshot::channel();
        let work = move || {
            let _place = place;
            drop(tell.send(unpanicked(work)));
        };
        if !self.worker.submit(Box::new(work)) {
            return Err(is_full());
        }
        told.await.unwrap_or_else(|_| Err(is_full()))
    }
}
