//! A connection whose client must read at a minimum rate: an answer holds its memory until it is taken, and a
//! client that takes a byte now and then would hold it as long as one that takes none.

use std::io::{Error, ErrorKind, IoSlice, Result};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

use super::socket::Socket;

const BYTES_PER_SECOND_MIN: usize = 8 << 10;

/// A socket that fails if its client takes less than [`BYTES_PER_SECOND_MIN`] over `time` while more is
/// waiting to be sent.
pub struct Paced {
    socket: Socket,
    time: Duration,
    waiting: Option<PendingWrite>,
}

struct PendingWrite {
    until: Pin<Box<Sleep>>,
    taken: usize,
}

impl Paced {
    pub fn new(socket: Socket, time: Duration) -> Paced {
        Paced { socket, time, waiting: None }
    }

    /// Records the result of a write; returns an error if the client is too slow.
    fn noted(&mut self, context: &mut Context<'_>, written: Poll<Result<usize>>) -> Poll<Result<usize>> {
        match written {
            Poll::Ready(Ok(count)) => {
                if let Some(waiting) = &mut self.waiting {
                    waiting.taken += count;
                    if waiting.taken >= BYTES_PER_SECOND_MIN * self.time.as_secs() as usize {
                        self.waiting = None;
                    }
                }
            }
            Poll::Ready(Err(_)) => {}
            Poll::Pending => {
                let time = self.time;
                let begin = || PendingWrite { until: Box::pin(sleep(time)), taken: 0 };
                let waiting = self.waiting.get_or_insert_with(begin);
                if waiting.until.as_mut().poll(context).is_ready() {
                    return Poll::Ready(Err(Error::new(ErrorKind::TimedOut, "the client reads too slowly")));
                }
            }
        }
        written
    }
}

impl AsyncRead for Paced {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        Pin::new(&mut *self.socket.stream()).poll_read(context, buffer)
    }
}

impl AsyncWrite for Paced {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        let written = Pin::new(&mut *self.socket.stream()).poll_write(context, bytes);
        self.get_mut().noted(context, written)
    }

    // Without this, hyper copies each answer behind its head before it writes.
    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        let written = Pin::new(&mut *self.socket.stream()).poll_write_vectored(context, parts);
        self.get_mut().noted(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    /// Everything was taken: the time starts anew with the next answer.
    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        ready!(Pin::new(&mut *self.socket.stream()).poll_flush(context))?;
        self.get_mut().waiting = None;
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut *self.socket.stream()).poll_shutdown(context)
    }
}
