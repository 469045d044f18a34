//! Bytes as texts and as digests.

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

/// The bytes of a text that [`hex`] made; none where their number is not `N`.
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

/// Bytes as Base64 (RFC 4648).
pub fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Bytes that serialise as Base64, without a text of all of it beside them.
pub struct InBase64<'b>(pub &'b [u8]);

impl Serialize for InBase64<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&Base64Display::new(self.0, &STANDARD))
    }
}

/// A digest of what a request says, so that a repeat can be told from something else; absent and null are alike
/// (D19).
pub fn fingerprint(mut fields: Value) -> [u8; 32] {
    drop_nulls(&mut fields);
    Sha256::digest(fields.to_string()).into()
}

/// Takes away what is null: absent is as good.
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
