//! The socket of a connection. hyper has one handle to it, and a request that waits another, by which it learns whether
//! its client still does.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::io::ReadBuf;
use tokio::net::TcpStream;

use crate::platform::failure::locked;

/// A socket with two owners: hyper, and a request that waits. While a request runs hyper reads nothing (`half_close`), so
/// the one that waits may take its place as the reader who is woken.
#[derive(Clone)]
pub struct Socket(Arc<Mutex<TcpStream>>);

impl Socket {
    pub fn new(stream: TcpStream) -> Socket {
        Socket(Arc::new(Mutex::new(stream)))
    }

    /// Completes when the client sends something or hangs up. Nothing is read from the socket.
    pub async fn readable(&self) {
        poll_fn(|context| self.stream().poll_peek(context, &mut ReadBuf::new(&mut [0])).map(drop)).await;
    }

    pub(super) fn stream(&self) -> MutexGuard<'_, TcpStream> {
        locked(&self.0)
    }
}
