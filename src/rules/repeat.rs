//! Requests that name an external_ref (D19).

use schemars::JsonSchema;
use serde::Serialize;

use super::error::Hints;

/// Result of a request that names an external_ref: a confirmation, or the record that already has it (D19).
#[derive(Debug)]
pub enum Angelegt<B, T> {
    Neu(B),
    Wiederholt(Box<Wiederholt<T>>),
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "{T}Wiederholt")]
pub struct Wiederholt<T> {
    #[serde(flatten)]
    pub record: T,
    pub idempotent: bool,
    /// Whether the request differs from the one that created the record (D19).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub inhalt_abweichend: bool,
    pub hinweise: Hints,
}

impl<T> Wiederholt<T> {
    /// Wraps the existing record with this business number; adds a hint if the request differs from the one
    /// that created it.
    pub fn of(record: T, nummer: &str, inhalt_abweichend: bool, mut hinweise: Hints) -> Wiederholt<T> {
        if inhalt_abweichend {
            hinweise.add_different_repeat(nummer);
        }
        Wiederholt { record, idempotent: true, inhalt_abweichend, hinweise }
    }
}
