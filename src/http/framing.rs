//! Watches how requests are framed. hyper takes a request with Content-Length and
//! Transfer-Encoding for a chunked one and hides the length; behind a proxy that believes the
//! length that smuggles requests (RFC 9112 6.3). Here both are seen, before hyper sees either.

use std::collections::VecDeque;
use std::io::IoSlice;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Longest line that is looked at; hyper refuses longer heads.
const MAX_LINE: usize = 128 << 10;

/// What was seen of the heads of a connection, in order: whether each is framed in two ways.
#[derive(Debug, Clone, Default)]
pub struct Seen(Arc<Mutex<VecDeque<bool>>>);

impl Seen {
    /// Whether the next request is framed in two ways.
    pub fn next_is_ambiguous(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front().unwrap_or(false)
    }

    fn push(&self, ambiguous: bool) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_back(ambiguous);
    }
}

/// A stream whose requests are watched.
pub struct Watched<S> {
    stream: S,
    framing: Framing,
    seen: Seen,
}

impl<S> Watched<S> {
    /// Watches a stream.
    pub fn new(stream: S) -> (Watched<S>, Seen) {
        let seen = Seen::default();
        (Watched { stream, framing: Framing::default(), seen: seen.clone() }, seen)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let Watched { stream, framing, seen } = self.get_mut();
        let before = buffer.filled().len();
        let result = Pin::new(stream).poll_read(context, buffer);
        framing.take(&buffer.filled()[before..], |ambiguous| seen.push(ambiguous));
        result
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(context, bytes)
    }

    // Without this hyper copies each answer behind its head before it writes.
    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}

/// Where in a request the stream is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    /// In the head.
    Head(Head),
    /// In a body of which so many bytes are left.
    Body(u64),
    /// In the line that says how large the next chunk is.
    ChunkSize,
    /// In a chunk, or the line end behind it, of which so many bytes are left.
    Chunk(u64),
    /// In the lines behind the last chunk.
    Trailers,
    /// Lost: the rest is hyper's to refuse.
    Lost,
}

/// What a head said so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Head {
    /// The line with method and path was there.
    begun: bool,
    /// The value of Content-Length.
    length: Option<String>,
    /// There is a Transfer-Encoding.
    coded: bool,
}

/// Follows a connection from request to request, line by line.
#[derive(Debug)]
struct Framing {
    part: Part,
    /// A line that is not complete.
    line: Vec<u8>,
}

impl Default for Framing {
    fn default() -> Framing {
        Framing { part: Part::Head(Head::default()), line: Vec::new() }
    }
}

impl Framing {
    /// Takes bytes; `seen` is told at the end of each head whether it is framed in two ways.
    fn take(&mut self, mut bytes: &[u8], mut seen: impl FnMut(bool)) {
        while !bytes.is_empty() {
            let passed = match &mut self.part {
                Part::Lost => return,
                Part::Body(left) | Part::Chunk(left) => {
                    let passed = bytes.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                    *left -= passed as u64;
                    passed
                }
                Part::Head(_) | Part::ChunkSize | Part::Trailers => {
                    let end = bytes.iter().position(|byte| *byte == b'\n');
                    self.line.extend_from_slice(&bytes[..end.unwrap_or(bytes.len())]);
                    if end.is_some() {
                        self.end_of_line(&mut seen);
                    } else if self.line.len() > MAX_LINE {
                        self.part = Part::Lost;
                    }
                    end.map_or(bytes.len(), |end| end + 1)
                }
            };
            match self.part {
                Part::Body(0) => self.part = Part::Head(Head::default()),
                Part::Chunk(0) => self.part = Part::ChunkSize,
                _ => {}
            }
            bytes = &bytes[passed..];
        }
    }

    fn end_of_line(&mut self, seen: &mut impl FnMut(bool)) {
        let line = self.line.strip_suffix(b"\r").unwrap_or(&self.line);
        let next = match &mut self.part {
            Part::Head(head) if line.is_empty() && head.begun => {
                seen(head.length.is_some() && head.coded);
                Some(head.body())
            }
            Part::Head(head) => {
                head.read(line);
                None
            }
            Part::ChunkSize => Some(chunk(line)),
            Part::Trailers if line.is_empty() => Some(Part::Head(Head::default())),
            _ => None,
        };
        self.line.clear();
        if let Some(next) = next {
            self.part = next;
        }
    }
}

impl Head {
    /// Reads a line; blank ones before a request are passed over.
    fn read(&mut self, line: &[u8]) {
        if !self.begun {
            self.begun = !line.is_empty();
            return;
        }
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { return };
        let (name, value) = (line[..colon].trim_ascii(), line[colon + 1..].trim_ascii());
        if name.eq_ignore_ascii_case(b"content-length") {
            self.length = Some(String::from_utf8_lossy(value).into_owned());
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            self.coded = true;
        }
    }

    /// What follows the head.
    fn body(&self) -> Part {
        match (&self.length, self.coded) {
            (_, true) => Part::ChunkSize,
            (None, false) => Part::Head(Head::default()),
            (Some(length), false) => length.parse().map_or(Part::Lost, Part::Body),
        }
    }
}

/// What follows the line that says how large a chunk is.
fn chunk(line: &[u8]) -> Part {
    let size = line.split(|byte| *byte == b';').next().unwrap_or_default();
    let size = std::str::from_utf8(size).ok().and_then(|size| u64::from_str_radix(size.trim(), 16).ok());
    match size {
        None => Part::Lost,
        Some(0) => Part::Trailers,
        // The chunk ends with a line end of its own.
        Some(size) => Part::Chunk(size.saturating_add(2)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is seen of the requests of a connection: a letter each, `!` for two framings.
    fn seen(bytes: &str) -> String {
        let follow = |step: usize| {
            let (mut framing, mut found) = (Framing::default(), String::new());
            for part in bytes.as_bytes().chunks(step) {
                framing.take(part, |ambiguous| found.push(if ambiguous { '!' } else { '.' }));
            }
            found
        };
        let whole = follow(bytes.len().max(1));
        assert!((1..20).all(|step| follow(step) == whole), "{bytes}");
        whole
    }

    #[test]
    fn both_framings_are_seen_in_any_order_and_request() {
        let plain = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
        let body = "POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nGET / HT\n";
        let chunked = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nGET /\r\nA\r\n0123456789\r\n0\r\nX: y\r\n\r\n";
        let both = "POST / HTTP/1.1\r\ncontent-LENGTH: 4\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n";
        let other = "POST / HTTP/1.1\nTransfer-Encoding: chunked\nContent-Length: 4\n\n0\n\n";
        assert_eq!(seen(&[plain, body, chunked, "\r\n", plain].concat()), "....");
        assert_eq!(seen(&[plain, both, chunked, other, body].concat()), ".!.!.");
        assert_eq!(seen("POST / HTTP/1.1\r\nContent-Length: x\r\n\r\nGET / HTTP/1.1\r\n\r\n"), ".");
        assert_eq!(seen(&"a".repeat(2 * MAX_LINE)), "");
    }
}
