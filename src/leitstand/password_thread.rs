//! The thread that hashes passwords, which may hold up nobody else.

use std::thread::sleep;
use std::time::Instant as Moment;

use tokio::sync::oneshot;

use crate::db::vital::Worker;
use crate::failure::{Failure, Result, unpanicked};

/// Passwords that wait at most; whoever comes then is answered 503.
const PASSWORDS_WAITING_MAX: usize = 32;

/// Does one piece of work after the other; it ends when this is dropped.
pub struct PasswordThread(Worker<Box<dyn FnOnce() + Send>>);

impl PasswordThread {
    /// Starts it. It pauses as long as it has worked, so that it takes half of one core at most, whoever asks and however
    /// often.
    pub fn start() -> Result<PasswordThread> {
        let work = |work: Box<dyn FnOnce() + Send>| {
            let begun = Moment::now();
            work();
            sleep(begun.elapsed());
        };
        Worker::start("passwords", PASSWORDS_WAITING_MAX, work).map(PasswordThread)
    }

    /// Waits for its turn and then for the work.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (tell, told) = oneshot::channel();
        let work = move || drop(tell.send(unpanicked(work)));
        let is_full = || Failure::Busy("too many passwords wait to be hashed".into());
        if !self.0.submit(Box::new(work)) {
            return Err(is_full());
        }
        told.await.unwrap_or_else(|_| Err(is_full()))
    }
}
