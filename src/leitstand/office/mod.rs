//! Pages for adviser and auditor: accounts, batches, VAT figures, audit data, the mail server.
//!
//! Begin with `steuerberater.rs`.

pub mod konten;
pub mod kontoluecken;
pub mod postausgang;
pub mod pruefung;
pub mod steuerberater;
pub mod uebergabe;
pub mod umsatzsteuer;
