//! Pages of the office: open items, accounts and Stapel for the tax adviser, VAT figures, data for the auditor,
//! the mail server.
//!
//! Start with `steuerberater.rs`.

pub mod konten;
pub mod kontoluecken;
pub mod offen;
pub mod postausgang;
pub mod pruefung;
pub mod steuerberater;
pub mod uebergabe;
pub mod umsatzsteuer;
