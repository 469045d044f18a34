//! Tests of trade: what is agreed, delivered and billed.

pub mod abrechnungen;
pub mod abschluss;
pub mod annahmescheine;
pub mod ausfertigung;
pub mod belege_aendern;
pub mod belege_anlage;
pub mod belege_betraege;
pub mod belege_ende;
pub mod belege_steuer;
pub mod belege_tage;
pub mod belegfluss;
pub mod einlesen;
pub mod gutschrift;
pub mod herkunft;
pub mod hinweise;
pub mod kasse;
pub mod lager;
pub mod lieferpreis;
pub mod papiere;
pub mod steuergruppen;
pub mod verlauf;
pub mod zuruecknehmen;
