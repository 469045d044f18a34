//! Tests of all routes together, the change feed and the probes.

mod ablaeufe;
pub mod aenderungen;
mod datei;
pub mod probes;
pub mod tabelle;
