//! Bytes on a socket: requests that no ordinary client sends, and answers byte for byte.

use std::io::{ErrorKind, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use crate::process::{Running, read_once};

/// How long an answer or an end may take before it counts as a hang.
const PATIENCE: Duration = Duration::from_secs(60);

pub struct Wire {
    stream: TcpStream,
    read: Vec<u8>,
}

/// An answer, byte for byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heard {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Heard {
    pub fn header(&self, name: &str) -> Option<&str> {
        let of =
            |line: &'_ str| line.split_once(':').is_some_and(|(known, _)| known.eq_ignore_ascii_case(name));
        let line = self.head.lines().find(|line| of(line))?;
        line.split_once(':').map(|(_, value)| value.trim())
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

impl Wire {
    pub fn open(server: &Running) -> Wire {
        Wire::try_open(server).unwrap()
    }

    /// Opens a connection; `None` if there is no server.
    pub fn try_open(server: &Running) -> Option<Wire> {
        let stream = TcpStream::connect(&server.address).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Some(Wire { stream, read: Vec::new() })
    }

    /// Sends; returns whether the server still accepted it.
    pub fn send(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).is_ok()
    }

    /// Signals that nothing more will be sent.
    pub fn ends_sending(&mut self) {
        let _ = self.stream.shutdown(Shutdown::Write);
    }

    /// The next answer, to a request with this method; `None` if the connection ended before it was complete,
    /// an error if nothing came.
    pub fn hear(&mut self, method: &str) -> Result<Option<Heard>, String> {
        let end = loop {
            if let Some(at) = self.read.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                break at + 4;
            }
            if !self.more()? {
                return Ok(None);
            }
        };
        let head = String::from_utf8_lossy(&self.read[..end]).into_owned();
        let status = head.get(9..12).and_then(|status| status.parse().ok());
        let status: u16 = status.ok_or_else(|| format!("no status line: {head:?}"))?;
        let mut heard = Heard { status, head, body: Vec::new() };
        let has_body = method != "HEAD" && status >= 200 && ![204, 304].contains(&status);
        let length = heard.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
        let length: usize = if has_body { length } else { 0 };
        while self.read.len() < end + length {
            if !self.more()? {
                return Ok(None);
            }
        }
        heard.body = self.read[end..end + length].to_vec();
        self.read.drain(..end + length);
        Ok(Some(heard))
    }

    /// Reads more; returns false at the end of the connection.
    fn more(&mut self) -> Result<bool, String> {
        let mut buffer = [0u8; 16_384];
        match read_once(&self.stream, &mut buffer) {
            Ok(count) => {
                self.read.extend(&buffer[..count]);
                Ok(count > 0)
            }
            Err(error) if [ErrorKind::WouldBlock, ErrorKind::TimedOut].contains(&error.kind()) => {
                Err(format!("nothing came for {PATIENCE:?}"))
            }
            Err(_) => Ok(false),
        }
    }
}

/// A request with a key, or with none if it is empty, and an optional body.
pub fn request(method: &str, path: &str, key: &str, more: &[(&str, &str)], body: Option<&[u8]>) -> Vec<u8> {
    let mut text = format!("{method} {path} HTTP/1.1\r\nHost: a\r\n");
    let key = Some(("X-API-Key", key)).filter(|(_, key)| !key.is_empty());
    for (name, value) in more.iter().copied().chain(key) {
        text += &format!("{name}: {value}\r\n");
    }
    if let Some(body) = body {
        text += &format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len());
    }
    let mut bytes = (text + "\r\n").into_bytes();
    bytes.extend(body.unwrap_or_default());
    bytes
}

/// A connection for consecutive requests; opened again if the server closed it.
pub struct Talk<'s> {
    server: &'s Running,
    wire: Wire,
}

impl Talk<'_> {
    pub fn with(server: &Running) -> Talk<'_> {
        Talk { server, wire: Wire::open(server) }
    }

    pub fn ask(&mut self, method: &str, bytes: &[u8]) -> Result<Heard, String> {
        for _ in 0..2 {
            self.wire.send(bytes);
            match self.wire.hear(method)? {
                Some(heard) => {
                    if heard.header("connection") == Some("close") {
                        self.wire = Wire::open(self.server);
                    }
                    return Ok(heard);
                }
                None => self.wire = Wire::open(self.server),
            }
        }
        Err("the connection ended without an answer".to_owned())
    }
}
