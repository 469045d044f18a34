//! Work that takes many milliseconds: it is done on threads that serve no sockets.

use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use crate::db::priority::step_back;

/// Does what takes many milliseconds on a thread that serves no sockets and lets others go first. What it gives never
/// comes where it panicked.
pub fn off_sockets<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> oneshot::Receiver<T> {
    let (tell, told) = oneshot::channel();
    spawn_blocking(move || {
        step_back();
        if let Err(unheard) = tell.send(work()) {
            // The client hung up. What is left of its request is not for this thread: it takes locks.
            Handle::current().spawn(async move { drop(unheard) });
        }
    });
    told
}

/// The same after a pause. It is not begun earlier where nobody waits for it any more.
pub fn off_sockets_after<T: Send + 'static>(
    pause: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> oneshot::Receiver<T> {
    if pause.is_zero() {
        return off_sockets(work);
    }
    let (tell, told) = oneshot::channel();
    tokio::spawn(async move {
        sleep(pause).await;
        if let Ok(done) = off_sockets(work).await {
            drop(tell.send(done));
        }
    });
    told
}
