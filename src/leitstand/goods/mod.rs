//! Pages of goods: weighings, stock, batches, contracts, production, settlement schemes.
//!
//! Start with `chargen.rs` (the list and the record).

pub mod bestand;
pub mod chargen;
pub mod inventur;
pub mod kontrakt_formular;
pub mod kontrakte;
pub mod lager;
pub mod produktion;
pub mod schemata;
pub mod wiegen;
pub mod wiegungen;
