//! HTTP over a raw socket: a request cut off at any byte, an answer that is not read, or read byte by byte.

use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

use crate::process::read_once;

/// How long to wait for any answer of a server, or for its close.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A request without a body.
pub fn get(path: &str, key: &str) -> String {
    format!("GET /api/v1/{path} HTTP/1.1\r\nHost: a\r\nX-API-Key: {key}\r\n\r\n")
}

/// A request with a body. `headers` are lines including their ends.
pub fn send(method: &str, path: &str, key: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "{method} /api/v1/{path} HTTP/1.1\r\n\
         Host: a\r\n\
         X-API-Key: {key}\r\n\
         {headers}Content-Length: {length}\r\n\
         \r\n\
         {body}"
    )
}

/// A complete answer.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub request_id: String,
    pub body: Value,
}

pub struct Raw {
    pub stream: TcpStream,
    read: Vec<u8>,
}

impl Raw {
    /// Opens a connection; `None` if nobody listens.
    pub fn open(address: &str) -> Option<Raw> {
        let stream = TcpStream::connect(address).ok()?;
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Some(Raw { stream, read: Vec::new() })
    }

    /// Sends; the server may be gone before it has read everything.
    pub fn write(&mut self, bytes: &[u8]) {
        let _ = self.stream.write_all(bytes);
    }

    /// Reads once; returns whether anything arrived.
    fn more(&mut self, most: usize) -> bool {
        let mut buffer = [0; 16_384];
        let most = most.min(buffer.len());
        let read = read_once(&self.stream, &mut buffer[..most]).unwrap_or(0);
        self.read.extend(&buffer[..read]);
        read > 0
    }

    /// Reads this many bytes of the answer, or as many as there are.
    pub fn read_only(&mut self, bytes: usize) {
        while self.read.len() < bytes && self.more(bytes - self.read.len()) {}
    }

    /// The next answer; `None` if it ended early.
    pub fn answer(&mut self) -> Option<Answer> {
        let end = loop {
            if let Some(at) = self.read.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                break at + 4;
            }
            if !self.more(usize::MAX) {
                return None;
            }
        };
        let head = String::from_utf8_lossy(&self.read[..end]).to_lowercase();
        let header = |name: &str| {
            let line = head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
            line.unwrap_or_default().to_owned()
        };
        let length: usize = header("content-length").parse().unwrap_or(0);
        while self.read.len() < end + length {
            if !self.more(usize::MAX) {
                return None;
            }
        }
        let status = head.get(9..12)?.parse().ok()?;
        let body = serde_json::from_slice(&self.read[end..end + length]).unwrap_or_default();
        self.read.drain(..end + length);
        Some(Answer { status, request_id: header("x-request-id"), body })
    }
}
