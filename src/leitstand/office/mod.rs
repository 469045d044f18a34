//! Pages for tax adviser and auditor: accounts, Stapel, VAT figures, audit data, the mail server.
//!
//! Start with `steuerberater.rs`.

pub mod konten;
pub mod kontoluecken;
pub mod postausgang;
pub mod pruefung;
pub mod steuerberater;
pub mod uebergabe;
pub mod umsatzsteuer;
