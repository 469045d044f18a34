//! The socket of a connection, read and written by hyper; beside it a request that waits can learn whether its client
//! still does.

use std::future::poll_fn;
use std::io::{IoSlice, Result};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// A socket with two owners: hyper, and a request that waits. While a request runs hyper reads nothing (`half_close`), so
/// the one that waits may take its place as the reader who is woken.
#[derive(Clone)]
pub struct Socket(Arc<Mutex<TcpStream>>);

impl Socket {
    pub fn new(stream: TcpStream) -> Socket {
        Socket(Arc::new(Mutex::new(stream)))
    }

    /// Completes when the client sends something or hangs up. Nothing is read from the socket.
    pub async fn stirs(&self) {
        poll_fn(|context| {
            let mut first = [0; 1];
            self.lock().poll_peek(context, &mut ReadBuf::new(&mut first)).map(drop)
        })
        .await;
    }

    fn lock(&self) -> MutexGuard<'_, TcpStream> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        Pin::new(&mut *self.lock()).poll_read(context, buffer)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        Pin::new(&mut *self.lock()).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        Pin::new(&mut *self.lock()).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut *self.lock()).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut *self.lock()).poll_shutdown(context)
    }
}
