//! A request as read from the socket, with its body.

use std::net::IpAddr;
use std::sync::OnceLock;

use hyper::HeaderMap;
use uuid::Uuid;

use super::budget::Permit;
use crate::rules::day::Instant;
use crate::rules::error::{Checked, Code, Refusal};

pub struct Request {
    /// Appears in the answer, the log and the audit row.
    pub id: Uuid,
    pub at: Instant,
    pub started: std::time::Instant,
    pub peer: IpAddr,
    pub local: IpAddr,
    pub method: String,
    /// The path without the query; unreserved characters that were sent encoded are decoded.
    pub path: String,
    pub query: String,
    pub headers: HeaderMap,
    /// What is wrong with the request as HTTP, if anything.
    pub malformed: Option<Box<Refusal>>,
    pub body: Body,
}

/// Decodes unreserved characters: encoded or not, they are the same path (RFC 3986 6.2.2.2).
pub fn unreserved(path: &str) -> String {
    let Some((before, encoded)) = path.split_once('%') else { return path.to_owned() };
    let mut decoded = before.to_owned();
    for part in encoded.split('%') {
        let byte = part.get(..2).and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match byte.filter(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(byte)) {
            Some(byte) => {
                decoded.push(char::from(byte));
                decoded.push_str(&part[2..]);
            }
            None => decoded.extend(["%", part]),
        }
    }
    decoded
}

/// Returns the entries of a list header over all its lines (RFC 9110 5.6.1); lines that are not text are
/// skipped.
pub fn listed<'h>(headers: &'h HeaderMap, name: &str) -> impl Iterator<Item = &'h str> + use<'h> {
    let lines = headers.get_all(name).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).map(str::trim)
}

impl Request {
    /// Refuses a compressed body: its unpacked size would be unbounded. (Content-Type is not checked: scales
    /// rarely send one.)
    pub fn check_encoding(&self) -> Checked<()> {
        let is_plain = |coding: &str| coding.is_empty() || coding.eq_ignore_ascii_case("identity");
        if listed(&self.headers, "content-encoding").all(is_plain) {
            return Ok(());
        }
        let message = "Der Inhalt ist komprimiert. Bitte ohne Content-Encoding senden.";
        Err(Refusal::new(Code::KodierungNichtUnterstuetzt, message))
    }
}

/// Returns the weight that a header such as Accept gives to a value, in thousandths (RFC 9110 12.4.2). An
/// invalid weight counts as a missing one.
pub fn weight(headers: &HeaderMap, name: &str, value: &str) -> Option<u32> {
    listed(headers, name).find_map(|entry| {
        let mut parts = entry.split(';').map(str::trim);
        let is_meant = parts.next().is_some_and(|named| named.eq_ignore_ascii_case(value));
        let weight = parts.find_map(|part| part.strip_prefix("q=").or(part.strip_prefix("Q=")));
        is_meant.then(|| weight.and_then(thousandths).unwrap_or(1_000))
    })
}

/// Parses `0.5` as 500; at most three decimals, and at most 1.
fn thousandths(weight: &str) -> Option<u32> {
    let (whole, decimals) = weight.split_once('.').unwrap_or((weight, ""));
    let digits = format!("{whole}{decimals:0<3}");
    let is_weight = matches!(whole, "0" | "1") && digits.len() == 4;
    digits.parse().ok().filter(|weight| is_weight && *weight <= 1_000)
}

/// The body of a request, read only after every earlier check has passed (D19).
#[derive(Default)]
pub struct Body(OnceLock<Received>);

/// The result of reading a body: its bytes, with their share of the memory for bodies, held until dropped.
pub type Received = Checked<(Vec<u8>, Option<Permit>)>;

impl Body {
    pub fn from_bytes(content: Vec<u8>) -> Body {
        Body(Received::Ok((content, None)).into())
    }

    /// Whether the body is still to be read.
    pub fn is_awaited(&self) -> bool {
        self.0.get().is_none()
    }

    /// Sets the result of reading; only the first call counts.
    pub fn set(&self, received: Received) {
        let _ = self.0.set(received);
    }

    /// Returns its length in bytes; 0 if it was not read.
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

/// The refusal when there is no body because the connection ended early.
pub fn incomplete() -> Box<Refusal> {
    Refusal::new(Code::AnfrageUngueltig, ("Die Anfrage ist unvollständig.", "Bitte wiederholen."))
}

#[cfg(test)]
mod tests {
    use super::unreserved;

    #[test]
    fn only_unreserved_characters_are_decoded() {
        for (sent, path) in [
            ("/api/v1/kunden", "/api/v1/kunden"),
            ("/api/v1/%6Bunden%2D%2e%5F%7E%39", "/api/v1/kunden-._~9"),
            ("/a%2Fb%20c%25d", "/a%2Fb%20c%25d"),
            ("/a%", "/a%"),
            ("/a%6", "/a%6"),
            ("/a%zz%+1%6Bx", "/a%zz%+1kx"),
        ] {
            assert_eq!(unreserved(sent), path);
        }
    }
}
