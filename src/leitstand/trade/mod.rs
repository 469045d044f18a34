//! Pages of trade: documents with their forms and e-mails, goods receipts, settlements, cash, the origin of a
//! batch.
//!
//! Start with `belege.rs` (the list and the record), then `beleg_formular.rs` (its form).

pub mod abrechnen;
pub mod abschluss;
pub mod analyse;
pub mod annahme;
pub mod beleg_formular;
pub mod beleg_zeile;
pub mod belege;
pub mod belegfluss;
pub mod email;
pub mod entwurf;
pub mod erledigen;
pub mod herkunft;
pub mod kasse;
pub mod sammelrechnung;
pub mod versendet;
pub mod vorlage;
