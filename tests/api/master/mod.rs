//! Tests of master data.

pub mod anhaenge;
pub mod artikel;
pub mod artikel_aendern;
pub mod artikel_verlauf;
pub mod kunde_vergessen;
pub mod kunden;
pub mod kunden_aendern;
pub mod kunden_verlauf;
pub mod laender;
pub mod settings;
pub mod steuersaetze;
pub mod suche;
