//! Bytes as text (hexadecimal, Base64) and as digests.

use base64::Engine;
use base64::display::Base64Display;
use base64::engine::general_purpose::STANDARD;
use serde::{Serialize, Serializer};
use serde_json::Value;
use sha2::{Digest, Sha256};

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().flat_map(|byte| digits_of(*byte)).map(char::from).collect()
}

/// The two hexadecimal digits of a byte.
pub fn digits_of(byte: u8) -> [u8; 2] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]
}

/// Parses the output of [`hex`]; `None` if it does not encode exactly `N` bytes.
pub fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    if text.len() != 2 * N {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        let digit = |at: usize| (pair[at] as char).to_digit(16).map(|digit| digit as u8);
        *byte = digit(0)? << 4 | digit(1)?;
    }
    Some(bytes)
}

/// Encodes bytes as Base64 (RFC 4648).
pub fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Serialises bytes as Base64 without building the whole text in memory.
pub struct InBase64<'b>(pub &'b [u8]);

impl Serialize for InBase64<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&Base64Display::new(self.0, &STANDARD))
    }
}

/// Digest of the fields of a request, which tells a repeat from a different request. Absent and null fields
/// count as equal (D19).
pub fn fingerprint(mut fields: Value) -> [u8; 32] {
    drop_nulls(&mut fields);
    Sha256::digest(fields.to_string()).into()
}

/// Removes all null members: they mean the same as absent ones.
pub fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|_, value| !value.is_null());
            members.values_mut().for_each(drop_nulls);
        }
        Value::Array(elements) => elements.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}
