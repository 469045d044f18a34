//! A request, as the socket read it.

use std::net::IpAddr;

use hyper::HeaderMap;
use uuid::Uuid;

use super::budget::Permit;
use crate::rules::day::Instant;
use crate::rules::error::{Code, Refusal};

/// A request as the socket read it.
pub struct Request {
    /// Goes into the answer, the log and the audit row.
    pub id: Uuid,
    pub at: Instant,
    pub started: std::time::Instant,
    pub peer: IpAddr,
    /// The address of this machine that the client connected to.
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

pub enum Body {
    /// It has not been read yet.
    Awaited,
    /// It was read, and holds its share of the memory for bodies until it is dropped.
    Read(Vec<u8>, Option<Permit>),
    /// Why it was not read.
    Refused(Box<Refusal>),
}

impl Body {
    /// A body that is there, on nobody's account.
    pub fn from_bytes(content: Vec<u8>) -> Body {
        Body::Read(content, None)
    }

    /// Its length in bytes; 0 where it was not read.
    pub fn len(&self) -> usize {
        self.content().map_or(0, <[u8]>::len)
    }

    /// Whether there is nothing in it, or it was not read.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What was read, or why nothing was.
    pub fn content(&self) -> std::result::Result<&[u8], Box<Refusal>> {
        match self {
            Body::Read(content, _) => Ok(content),
            Body::Refused(refusal) => Err(refusal.clone()),
            Body::Awaited => Err(incomplete()),
        }
    }
}

/// Why there is no body: the connection ended within it.
pub fn incomplete() -> Box<Refusal> {
    Refusal::new(Code::AnfrageUngueltig, "Die Anfrage ist unvollständig. Bitte wiederholen.")
}
