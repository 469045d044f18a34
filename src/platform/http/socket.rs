//! The socket of a connection, shared between hyper and a waiting request, which uses it to notice that its
//! client is gone.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::io::ReadBuf;
use tokio::net::TcpStream;

use crate::platform::failure::locked;

/// A socket with two owners: hyper, and a waiting request. While a request runs, hyper reads nothing
/// (`half_close`), so the waiting request may register as the reader to be woken instead.
#[derive(Clone)]
pub struct Socket(Arc<Mutex<TcpStream>>);

impl Socket {
    pub fn new(stream: TcpStream) -> Socket {
        Socket(Arc::new(Mutex::new(stream)))
    }

    /// Completes when the client sends something or hangs up. Reads nothing from the socket.
    pub async fn readable(&self) {
        poll_fn(|context| self.stream().poll_peek(context, &mut ReadBuf::new(&mut [0])).map(drop)).await;
    }

    pub(super) fn stream(&self) -> MutexGuard<'_, TcpStream> {
        locked(&self.0)
    }
}
