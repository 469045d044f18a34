//! A thread beside the lanes for hashing passwords, which may hold up nobody else.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::sleep;
use std::time::Instant as Moment;

use crate::db::log;
use crate::db::vital::Worker;
use crate::failure::{Failure, Result};

/// Pieces of work that wait at most; whoever comes then is answered 503.
const WAITING: usize = 32;

/// A piece of work. It is told whether it has the thread; where too much waits already it has not.
pub type Task = Box<dyn FnOnce(bool) + Send>;

/// A thread that does one piece of work after the other; it ends when this is dropped.
pub struct Aside(Worker<Task>);

impl Aside {
    /// Starts it. After each piece of work it pauses as long: it takes half of one core at most, whoever asks and however
    /// often.
    pub fn start(name: &'static str) -> Result<Aside> {
        let work = move |task: Task| {
            let begun = Moment::now();
            if catch_unwind(AssertUnwindSafe(|| task(true))).is_err() {
                log(&format!("a request panicked on the thread of {name}"));
            }
            sleep(begun.elapsed());
        };
        let worker = Worker::start(name, WAITING, work);
        worker.map(Aside).map_err(|error| Failure::Broken(format!("no thread for {name}: {error}")))
    }

    /// Hands in work.
    pub fn submit(&self, task: Task) {
        if let Err(task) = self.0.submit(task) {
            task(false);
        }
    }
}
