//! Compresses answers with gzip for clients that accept it (RFC 9110 8.4, 12.5.3).

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use hyper::HeaderMap;

use super::reply::Reply;
use super::request::weight;

/// Answers up to this size, in bytes, are not worth compressing.
const UNCOMPRESSED_BYTES_MAX: usize = 1 << 10;

/// Bytes of an answer that are compressed first to see whether it shrinks.
const SAMPLE_BYTES: usize = 16 << 10;

/// Returns the answer in a form the client accepts. Compressing appends `-gzip` to the entity tag, because
/// the two forms differ byte by byte.
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

/// Compresses a body if it shrinks to two thirds: Base64 of a PDF or an image shrinks by a quarter,
/// everything else that we send by half or more.
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
    // The compressed data is part of the program.
    let _ = GzDecoder::new(content).read_to_end(&mut plain);
    plain
}

/// Compresses content for storage, as small as possible.
pub fn gzip(content: &[u8]) -> Vec<u8> {
    compress(content, Compression::best())
}

fn compress(content: &[u8], level: Compression) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(content.len() / 4), level);
    // Writing to memory cannot fail.
    let _ = encoder.write_all(content);
    encoder.finish().unwrap_or_default()
}

/// Whether gzip is accepted: by name or by `*`, and not with weight 0.
pub fn accepts_gzip(headers: &HeaderMap) -> bool {
    let weight = |coding: &str| weight(headers, "accept-encoding", coding);
    weight("gzip").or_else(|| weight("*")).is_some_and(|weight| weight > 0)
}
