//! A request that waits until something happens (D28).

use tokio::sync::watch;
use tokio::time::sleep_until;

use super::answering::Waiting;
use super::socket::Socket;

/// Is done when the bell rings, and then says no; yes, when there is nothing more to wait for: the time is over, the
/// server stops, or the client hung up. One that sends more while it waits has its answer first.
pub async fn is_over(waiting: &mut Waiting, socket: &Socket, mut closing: watch::Receiver<()>) -> bool {
    let (until, not_before) = (waiting.until.into(), waiting.not_before.into());
    let woken = async {
        // Fails only where nobody is left to ring.
        let _ = waiting.bell.changed().await;
        sleep_until(not_before).await;
    };
    tokio::select! {
        _ = closing.changed() => true,
        () = socket.stirs() => true,
        () = sleep_until(until) => true,
        () = woken => false,
    }
}
