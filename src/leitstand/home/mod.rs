//! Home: pages that belong to no single subject.
//!
//! Contains: the first page of a company with its health issues, the search, the choice of a company, the
//! handbook.
//! Does not contain: the subjects themselves (`master`, `goods`, `trade`, `office`, `operations`).
//! Start with `uebersicht.rs`.

pub mod firmen;
pub mod handgriffe;
pub mod hilfe;
pub mod suche;
pub mod uebersicht;
pub mod zustand;
