//! Requests that name an external_ref (D19).

use schemars::JsonSchema;
use serde::Serialize;

use super::error::Hints;

/// What came of a request that names an external_ref: a confirmation, or the record that has it already (D19).
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
    /// The request says something else than the one that made the record (D19).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub inhalt_abweichend: bool,
    pub hinweise: Hints,
}

impl<T> Wiederholt<T> {
    /// The record with this business number, and whether the request differs from the one that made it.
    pub fn of(record: T, nummer: &str, inhalt_abweichend: bool, mut hinweise: Hints) -> Wiederholt<T> {
        if inhalt_abweichend {
            hinweise.add_different_repeat(nummer);
        }
        Wiederholt { record, idempotent: true, inhalt_abweichend, hinweise }
    }
}
