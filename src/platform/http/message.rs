//! Malformed request heads, and answers as HTTP messages.

use std::fs::File;
use std::io::{ErrorKind, Read, Take};
use std::pin::Pin;
use std::task::{Context, Poll};

use http_body_util::{Either, Full};
use hyper::body::{Bytes, Frame, SizeHint};
use hyper::header::{HOST, HeaderName, HeaderValue, TRANSFER_ENCODING};
use hyper::{Response, StatusCode};
use uuid::Uuid;

use super::budget::Permit;
use super::reply::Reply;
use crate::platform::http::host::colon_of_port;
use crate::rules::error::{Code, Refusal};

/// Returns what is wrong with a request as HTTP (RFC 9112 3.2, 6.1, 6.3). hyper accepts all of these.
pub fn malformed(head: &hyper::http::request::Parts) -> Option<Box<Refusal>> {
    let hosts = head.headers.get_all(HOST).iter().count();
    let needs_host = head.version == hyper::Version::HTTP_11;
    let codings: Vec<_> = head.headers.get_all(TRANSFER_ENCODING).iter().collect();
    let is_chunked = |coding: &&HeaderValue| coding.as_bytes().eq_ignore_ascii_case(b"chunked");
    let message = if hosts > 1 || (needs_host && hosts == 0) {
        "Der Header Host muss genau einmal da sein."
    } else if !head.headers.get(HOST).is_none_or(is_host) {
        "Der Header Host muss ein Name oder eine Adresse sein, mit oder ohne Port."
    } else if codings.len() > 1 || !codings.iter().all(is_chunked) {
        "Als Transfer-Encoding ist nur chunked erlaubt, genau einmal."
    } else {
        return None;
    };
    Some(Refusal::new(Code::AnfrageUngueltig, message))
}

/// Whether this is a host as defined by RFC 3986 3.2.2, with or without a port; an empty value is accepted,
/// too.
fn is_host(value: &HeaderValue) -> bool {
    let text = value.as_bytes();
    let (name, port) = match colon_of_port(text) {
        Some(at) => (&text[..at], &text[at + 1..]),
        None => (text, &[][..]),
    };
    let is_name = match name.strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]")) {
        Some(address) => address.iter().all(|byte| byte.is_ascii_hexdigit() || b":.".contains(byte)),
        None => name.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=%".contains(byte)),
    };
    is_name && port.iter().all(u8::is_ascii_digit)
}

/// The body of an outgoing answer: releases its share of the memory when the client has taken it.
struct Outgoing {
    body: Vec<u8>,
    _held: Permit,
}

impl AsRef<[u8]> for Outgoing {
    fn as_ref(&self) -> &[u8] {
        &self.body
    }
}

/// The content of an answer: bytes in memory, or a file.
pub type Content = Either<Full<Bytes>, FileContent>;

const PIECE_BYTES: usize = 64 << 10;

/// An outgoing file. Each piece is read when the previous one has been taken.
pub struct FileContent(Take<File>);

impl hyper::body::Body for FileContent {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<std::io::Result<Frame<Bytes>>>> {
        let FileContent(file) = self.get_mut();
        if file.limit() == 0 {
            return Poll::Ready(None);
        }
        let mut piece = vec![0; PIECE_BYTES];
        Poll::Ready(Some(match file.read(&mut piece) {
            // The file was truncated while being sent: the client must notice that it is incomplete.
            Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
            Ok(read) => {
                piece.truncate(read);
                Ok(Frame::data(piece.into()))
            }
            Err(error) => Err(error),
        }))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.limit())
    }
}

/// Converts an answer to HTTP; `is_last` closes the connection after it.
pub fn response(reply: Reply, id: Uuid, is_last: bool) -> Response<Content> {
    let has_body = !reply.body.is_empty();
    let content = match (reply.file, reply.held) {
        (Some(file), _) => Either::Right(FileContent(*file)),
        (None, Some(held)) => {
            Either::Left(Full::new(Bytes::from_owner(Outgoing { body: reply.body, _held: held })))
        }
        (None, None) => Either::Left(Full::new(Bytes::from(reply.body))),
    };
    let mut response = Response::new(content);
    *response.status_mut() = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    if has_body {
        headers.insert("content-type", HeaderValue::from_static("application/json; charset=utf-8"));
    }
    headers.insert("x-content-type-options", HeaderValue::from_static("nosniff"));
    headers.insert("cache-control", HeaderValue::from_static("no-store"));
    let mut insert = |name: HeaderName, value: &str| {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(name, value);
        }
    };
    insert(HeaderName::from_static("x-request-id"), &id.to_string());
    for (name, value) in reply.headers.iter().filter(|(name, _)| *name != "vary") {
        insert(HeaderName::from_static(name), value);
    }
    // Several places add to `vary`.
    let vary = reply.headers.iter().filter(|(name, _)| *name == "vary").map(|(_, value)| value.as_str());
    let vary = vary.collect::<Vec<_>>().join(", ");
    if !vary.is_empty() {
        insert(hyper::header::VARY, &vary);
    }
    if is_last {
        insert(hyper::header::CONNECTION, "close");
    }
    response
}
