//! Answers compressed with gzip, for clients that ask for it (RFC 9110 8.4, 12.5.3).

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use hyper::HeaderMap;

use super::reply::Reply;
use super::request::weight;

/// Answers up to this size are not worth the work, in bytes.
const UNCOMPRESSED_BYTES_MAX: usize = 1 << 10;

/// Bytes of an answer that show whether it shrinks.
const SAMPLE_BYTES: usize = 16 << 10;

/// The answer in the form that the client takes. The entity tag of an answer that is compressed here
/// ends with `-gzip`: both forms differ byte by byte.
pub fn encoded(mut reply: Reply, accepted: bool) -> Reply {
    let is_compressed = reply.headers.iter().any(|(name, _)| *name == "content-encoding");
    if is_compressed || reply.body.len() <= UNCOMPRESSED_BYTES_MAX {
        return reply;
    }
    if !reply.headers.iter().any(|(name, value)| *name == "vary" && value == "accept-encoding") {
        reply.headers.push(("vary", "accept-encoding".to_owned()));
    }
    if accepted && let Some(body) = compressed(&reply.body) {
        reply.body = body;
        if let Some(held) = &mut reply.held {
            held.shrink_to(reply.body.len());
        }
        reply.headers.push(("content-encoding", "gzip".to_owned()));
        for (_, tag) in reply.headers.iter_mut().filter(|(name, _)| *name == "etag") {
            *tag = format!("{}-gzip\"", tag.trim_end_matches('"'));
        }
    }
    reply
}

/// What is worth compressing, compressed: Base64 of a PDF or an image loses a quarter, all else that we send half
/// and more.
fn compressed(body: &[u8]) -> Option<Vec<u8>> {
    let sample = &body[..body.len().min(SAMPLE_BYTES)];
    let shrunk = compress(sample, Compression::fast());
    if shrunk.len() > sample.len() * 2 / 3 {
        return None;
    }
    Some(if body.len() == sample.len() { shrunk } else { compress(body, Compression::fast()) })
}

pub fn inflated(content: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    // What is kept compressed is part of the program.
    let _ = GzDecoder::new(content).read_to_end(&mut plain);
    plain
}

/// Compresses what is kept, as small as it gets.
pub fn gzip(content: &[u8]) -> Vec<u8> {
    compress(content, Compression::best())
}

fn compress(content: &[u8], level: Compression) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(content.len() / 4), level);
    // Writing to memory has no way to fail.
    let _ = encoder.write_all(content);
    encoder.finish().unwrap_or_default()
}

/// Whether gzip is accepted: named, or meant by `*`, and not with a weight of 0.
pub fn accepts_gzip(headers: &HeaderMap) -> bool {
    let weight = |coding: &str| weight(headers, "accept-encoding", coding);
    weight("gzip").or_else(|| weight("*")).is_some_and(|weight| weight > 0)
}
