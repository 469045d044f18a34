//! The thread that hashes passwords, which may hold up nobody else.

use std::sync::Arc;
use std::thread::sleep;
use std::time::Instant as Moment;

use tokio::sync::oneshot;

use crate::platform::db::writer::critical::Worker;
use crate::platform::failure::{Failure, Result, unpanicked};
use crate::platform::http::budget::Budget;

/// Passwords that wait at most, those of all and of one person or address; whoever comes then is answered 503.
const PASSWORDS_WAITING_MAX: usize = 64;
const PASSWORDS_WAITING_SHARE: usize = 4;

/// Does one piece of work after the other; it ends when this is dropped.
pub struct PasswordThread {
    worker: Worker<Box<dyn FnOnce() + Send>>,
    places: Arc<Budget>,
}

impl PasswordThread {
    /// Starts it. It pauses as long as it has worked, so that it takes half of one core at most, whoever asks and however
    /// often.
    pub fn start() -> Result<PasswordThread> {
        let work = |work: Box<dyn FnOnce() + Send>| {
            let begun = Moment::now();
            work();
            sleep(begun.elapsed());
        };
        let worker = Worker::start("passwords", PASSWORDS_WAITING_MAX, work)?;
        Ok(PasswordThread { worker, places: Budget::new(PASSWORDS_WAITING_MAX, PASSWORDS_WAITING_SHARE) })
    }

    /// Waits for its turn and then for the work, on an account.
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
