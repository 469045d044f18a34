//! A request, as the socket read it.

use std::net::IpAddr;
use std::sync::OnceLock;

use hyper::HeaderMap;
use uuid::Uuid;

use super::budget::Permit;
use crate::rules::day::Instant;
use crate::rules::error::{Checked, Code, Refusal};

pub struct Request {
    /// Goes into the answer, the log and the audit row.
    pub id: Uuid,
    pub at: Instant,
    pub started: std::time::Instant,
    pub peer: IpAddr,
    pub local: IpAddr,
    pub method: String,
    /// The path as sent, without the query.
    pub path: String,
    pub query: String,
    pub headers: HeaderMap,
    /// What is wrong with the request as HTTP, if anything.
    pub malformed: Option<Box<Refusal>>,
    pub body: Body,
}

/// The entries of a header that is a list, of all its lines (RFC 9110 5.6.1); a line that is no text has none.
pub fn listed<'h>(headers: &'h HeaderMap, name: &str) -> impl Iterator<Item = &'h str> + use<'h> {
    let lines = headers.get_all(name).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).map(str::trim)
}

impl Request {
    /// Refuses a body that is compressed: what it unpacks to would have no bound. (Its Content-Type is not asked: scales
    /// hardly ever send one.)
    pub fn check_encoding(&self) -> Checked<()> {
        let is_plain = |coding: &str| coding.is_empty() || coding.eq_ignore_ascii_case("identity");
        if listed(&self.headers, "content-encoding").all(is_plain) {
            return Ok(());
        }
        let message = "Der Inhalt ist komprimiert. Bitte ohne Content-Encoding senden.";
        Err(Refusal::new(Code::KodierungNichtUnterstuetzt, message))
    }
}

/// The weight that a header which lists what a client takes gives to a value, in thousandths (RFC 9110 12.4.2). What is
/// no weight is as good as none.
pub fn weight(headers: &HeaderMap, name: &str, value: &str) -> Option<u32> {
    listed(headers, name).find_map(|entry| {
        let mut parts = entry.split(';').map(str::trim);
        let is_meant = parts.next().is_some_and(|named| named.eq_ignore_ascii_case(value));
        let weight = parts.find_map(|part| part.strip_prefix("q=").or(part.strip_prefix("Q=")));
        is_meant.then(|| weight.and_then(thousandths).unwrap_or(1_000))
    })
}

/// `0.5` as 500; at most three decimals, and at most 1.
fn thousandths(weight: &str) -> Option<u32> {
    let (whole, decimals) = weight.split_once('.').unwrap_or((weight, ""));
    let digits = format!("{whole}{decimals:0<3}");
    let is_weight = matches!(whole, "0" | "1") && digits.len() == 4;
    digits.parse().ok().filter(|weight| is_weight && *weight <= 1_000)
}

/// The body of a request. It is read when every check before it has passed (D19).
#[derive(Default)]
pub struct Body(OnceLock<Received>);

/// What came of reading a body: all of it, with its share of the memory for bodies, which it holds until it is dropped.
pub type Received = Checked<(Vec<u8>, Option<Permit>)>;

impl Body {
    pub fn from_bytes(content: Vec<u8>) -> Body {
        Body(Received::Ok((content, None)).into())
    }

    /// Whether it is still to be read.
    pub fn is_awaited(&self) -> bool {
        self.0.get().is_none()
    }

    /// Takes what came of reading it; only the first time counts.
    pub fn set(&self, received: Received) {
        let _ = self.0.set(received);
    }

    /// Its length in bytes; 0 where it was not read.
    pub fn byte_count(&self) -> usize {
        self.content().map_or(0, <[u8]>::len)
    }

    pub fn content(&self) -> Checked<&[u8]> {
        match self.0.get() {
            Some(Ok((content, _))) => Ok(content),
            Some(Err(refusal)) => Err(refusal.clone()),
            None => Err(incomplete()),
        }
    }
}

/// Why there is no body: the connection ended within it.
pub fn incomplete() -> Box<Refusal> {
    Refusal::new(Code::AnfrageUngueltig, ("Die Anfrage ist unvollständig.", "Bitte wiederholen."))
}
