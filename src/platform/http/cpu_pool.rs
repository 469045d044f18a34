//! Work that takes many milliseconds (Base64, digests, parsing of much): it is done on threads that serve no sockets.

use tokio::task::spawn_blocking;

use crate::platform::db::readers::priority::step_back;
use crate::platform::failure::{Failure, Result};

/// Does work on a thread that serves no sockets and lets others go first. It is a failure of ours where it panicked.
pub async fn on_cpu_pool<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    let work = move || {
        step_back();
        work()
    };
    spawn_blocking(work).await.map_err(|error| Failure::Broken(format!("long work was not done: {error}")))
}
