//! A request that waits until something happens (D28). It holds neither a thread nor a connection to the database.

use std::time::Instant;

use tokio::sync::watch;
use tokio::time::sleep_until;

use super::answering::Next;
use super::socket::Socket;

/// A request that found nothing yet.
pub struct Waiting {
    /// Until when it waits.
    until: Instant,
    /// It does not look again earlier, however often the bell rings.
    not_before: Instant,
    /// Rings when there may be something.
    bell: watch::Receiver<()>,
    go_on: Option<Box<dyn FnOnce(bool) -> Next + Send>>,
}

impl Waiting {
    /// `go_on` is called once: it looks again, and is told whether that is the last time.
    pub fn new(
        until: Instant,
        not_before: Instant,
        bell: watch::Receiver<()>,
        go_on: impl FnOnce(bool) -> Next + Send + 'static,
    ) -> Waiting {
        Waiting { until, not_before, bell, go_on: Some(Box::new(go_on)) }
    }

    /// Is done when the bell rings, and then says no; yes, when there is nothing more to wait for: the time is over, the
    /// server stops, or the client hung up. One that sends more while it waits has its answer first.
    pub async fn is_over(&mut self, socket: &Socket, mut closing: watch::Receiver<()>) -> bool {
        let (until, not_before) = (self.until.into(), self.not_before.into());
        let woken = async {
            // Fails only where nobody is left to ring.
            let _ = self.bell.changed().await;
            sleep_until(not_before).await;
        };
        tokio::select! {
            _ = closing.changed() => true,
            () = socket.stirs() => true,
            () = sleep_until(until) => true,
            () = woken => false,
        }
    }

    /// Looks again.
    pub fn go_on(mut self, is_over: bool) -> Next {
        self.go_on
            .take()
            .map_or_else(|| Next::Later(tokio::sync::oneshot::channel().1), |go_on| go_on(is_over))
    }
}

impl Drop for Waiting {
    /// The connection is gone: the request was counted, so it has its audit row.
    fn drop(&mut self) {
        if let Some(go_on) = self.go_on.take() {
            drop(go_on(true));
        }
    }
}
