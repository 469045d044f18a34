//! All routes together, the feed and the probes.

pub mod aenderungen;
pub mod probes;
pub mod tabelle;
