//! How a request refers to a partner or a sales representative (D1, D9).

use serde::Serialize;
use uuid::Uuid;

/// A customer or a sales representative, named by an integer id, a uuid or a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Verweis {
    /// A JSON integer or a string of digits.
    Nummer(i64),
    Id(Uuid),
    Name(String),
}

impl Verweis {
    pub fn of_text(text: &str) -> Verweis {
        if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
            // Larger than any existing id, and so never found.
            return Verweis::Nummer(text.parse().unwrap_or(i64::MAX));
        }
        parse_uuid(text).map_or_else(|| Verweis::Name(text.to_owned()), Verweis::Id)
    }
}

/// Parses a uuid in its usual spelling only: with hyphens, without braces or urn.
pub fn parse_uuid(text: &str) -> Option<Uuid> {
    if text.len() == 36 { Uuid::try_parse(text).ok() } else { None }
}
