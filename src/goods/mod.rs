//! Goods: stock and its movements.
//!
//! Contains: weighings ([`waage`]), batches and stock ([`chargen`]), contracts, production, and the schemes
//! by which raw goods are settled.
//! Does not contain: documents, prices and tax, which are in `trade`. `trade::belege::lager` decides which
//! movements a document causes.
//! Start with `chargen/stock.rs`: the only function that writes a movement.

pub mod abrechnungsschemata;

pub mod kontrakte;

pub mod chargen;

pub mod waage;

pub mod produktion;
