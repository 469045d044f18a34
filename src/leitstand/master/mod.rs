//! Pages of master data: partners, articles, and the data and settings of the company.
//!
//! Start with `artikel.rs` (the list and the record) and `artikel_formular.rs` (its form).

pub mod artikel;
pub mod artikel_formular;
pub mod firma;
pub mod partner;
pub mod partner_formular;
pub mod vergessen;
