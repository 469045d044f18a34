//! Rules: the arithmetic of the trade; values in, values out.
//!
//! Contains: prices, tax, units, days, numbers, the pairing of goods ([`pairing`]), the settlement of a harvest
//! ([`settlement`]), the lines that DATEV books of a document ([`datev`]), and the codes and hints of every refusal
//! ([`error`]).
//! Does not contain: SQL, HTTP and the clock. A caller passes in the rows that a rule needs.
//! Start with `fixed.rs` (decimals), then `document.rs` (types of documents and their states).

pub mod admin_event;
pub mod besteuerung;
pub mod bytes;
pub mod change;
pub mod changed;
pub mod choice;
pub mod datev;
pub mod day;
pub mod document;
pub mod error;
pub mod felder;
pub mod field;
pub mod fixed;
pub mod kasse;
pub mod kennnummer;
pub mod number;
pub mod pairing;
pub mod plausible;
pub mod price;
pub mod receipt;
pub mod recipe;
pub mod repeat;
pub mod scope;
pub mod settlement;
pub mod stammdaten;
pub mod tax;
pub mod text;
pub mod umsatzsteuer;
pub mod unit;
pub mod verweis;
pub mod weighing;
