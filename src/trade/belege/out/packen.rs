//! Compresses long contents for storage; e-invoices are identified by their sha256.

use std::fmt::Display;
use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use sha2::{Digest, Sha256};

use crate::platform::failure::{Failure, Result};

pub fn digest(content: &[u8]) -> [u8; 32] {
    Sha256::digest(content).into()
}

/// Deflates a content (RFC 1951).
pub fn deflated(content: &[u8]) -> Result<Vec<u8>> {
    let failed = |error: std::io::Error| Failure::Broken(format!("a content cannot be packed: {error}"));
    let mut encoder = DeflateEncoder::new(Vec::with_capacity(content.len() / 3), Compression::fast());
    encoder.write_all(content).map_err(failed)?;
    encoder.finish().map_err(failed)
}

/// Maximum bytes of an uncompressed content: an e-invoice of 1,000 positions with texts of 4,000 characters
/// has 20 MB.
const CONTENT_BYTES_MAX: u64 = 64 << 20;

/// Inflates a content; fails if the stored data is damaged.
pub fn inflated(packed: &[u8]) -> Result<Vec<u8>> {
    let mut content = Vec::new();
    let broken = |why: &dyn Display| Failure::Broken(format!("a stored content cannot be unpacked: {why}"));
    let read = DeflateDecoder::new(packed).take(CONTENT_BYTES_MAX + 1).read_to_end(&mut content);
    if read.map_err(|error| broken(&error))? as u64 > CONTENT_BYTES_MAX {
        return Err(broken(&"it is too large"));
    }
    Ok(content)
}
