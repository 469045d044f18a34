//! Digests of what a request says, so that a repeat can be told from something else (D19).

use serde_json::Value;
use sha2::{Digest, Sha256};

/// A digest of the fields of a body as they were read; absent and null are alike.
pub fn of_fields(fields: Value) -> [u8; 32] {
    Sha256::digest(without_nulls(fields).to_string()).into()
}

fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let known = members.into_iter().filter(|(_, value)| !value.is_null());
            Value::Object(known.map(|(name, value)| (name, without_nulls(value))).collect())
        }
        Value::Array(elements) => Value::Array(elements.into_iter().map(without_nulls).collect()),
        value => value,
    }
}
