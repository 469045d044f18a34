//! The CPU pool: threads for work of many milliseconds (Base64, digests, parsing of much), apart from the
//! socket threads.

use tokio::task::spawn_blocking;

use crate::platform::db::readers::priority::step_back;
use crate::platform::failure::{Failure, Result};

/// Runs work on a thread of the pool, at low priority. A panic becomes a failure of ours.
pub async fn on_cpu_pool<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    let work = move || {
        step_back();
        work()
    };
    spawn_blocking(work).await.map_err(|error| Failure::Broken(format!("long work was not done: {error}")))
}
