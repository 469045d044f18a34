//! E-invoices as they are stored: packed, and named by their sha256.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use sha2::{Digest, Sha256};

use crate::failure::{Failure, Result};

pub fn digest(content: &[u8]) -> [u8; 32] {
    Sha256::digest(content).into()
}

/// An e-invoice, deflated (RFC 1951).
pub fn deflated(xml: &[u8]) -> Result<Vec<u8>> {
    let failed = |error: std::io::Error| Failure::Broken(format!("an e-invoice cannot be packed: {error}"));
    let mut encoder = DeflateEncoder::new(Vec::with_capacity(xml.len() / 3), Compression::fast());
    encoder.write_all(xml).map_err(failed)?;
    encoder.finish().map_err(failed)
}

/// Bytes of an unpacked e-invoice at most: one of 1,000 positions with texts of 4,000 characters has 20 MB.
const XML_BYTES_MAX: u64 = 64 << 20;

/// The e-invoice again; a broken file where there is none.
pub fn inflated(packed: &[u8]) -> Result<Vec<u8>> {
    let mut xml = Vec::new();
    let read = DeflateDecoder::new(packed).take(XML_BYTES_MAX).read_to_end(&mut xml);
    read.map_err(|error| Failure::Broken(format!("a stored e-invoice cannot be unpacked: {error}")))?;
    Ok(xml)
}
