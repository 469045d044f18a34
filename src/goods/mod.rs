//! Goods: what lies in the store and what moves.
//!
//! In it: weighings ([`waage`]), batches and stock ([`chargen`]), contracts, production, and the schemes by which raw goods
//! are settled.
//! Not in it: documents, prices and tax; those are in `trade`. Which movement a document causes is `trade::belege::lager`.
//! Begin with `chargen/stock.rs`: the only function that writes a movement.

pub mod abrechnungsschemata;

pub mod kontrakte;

pub mod chargen;

pub mod waage;

pub mod produktion;
