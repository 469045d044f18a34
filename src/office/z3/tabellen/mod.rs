//! The tables of the hand-over (D36), each after those that it refers to.

mod abrechnung;
mod betrieb;
mod buchhaltung;
mod fluss;
mod handel;
mod namen;
mod stamm;
mod verlauf;

use super::tabelle::Tabelle;

/// Add an entry for a new table here. There is none for payments, because partnerd does not keep them.
pub const TABELLEN: &[Tabelle] = &[
    stamm::PARTNER,
    stamm::ARTIKELGRUPPEN,
    stamm::ARTIKEL,
    stamm::STEUERSAETZE,
    buchhaltung::KONTEN,
    stamm::KONTRAKTE,
    stamm::KONTRAKTPOSITIONEN,
    betrieb::CHARGEN,
    betrieb::WIEGUNGEN,
    abrechnung::SCHEMATA,
    betrieb::ANNAHMESCHEINE,
    abrechnung::ANALYSEN,
    handel::BELEGE,
    handel::POSITIONEN,
    fluss::BELEGFLUSS,
    abrechnung::ZEILEN,
    handel::STEUERGRUPPEN,
    betrieb::LAGERBEWEGUNGEN,
    betrieb::PRODUKTIONSAUFTRAEGE,
    betrieb::PA_ZEILEN,
    handel::BONS,
    handel::BONZEILEN,
    buchhaltung::STAPEL,
    buchhaltung::BELEGE,
    verlauf::BELEGE,
    verlauf::PARTNER,
    verlauf::ARTIKEL,
    verlauf::PROTOKOLL,
];

/// Steps of a hand-over: copying the database, the files of the documents, the tables.
pub const SCHRITTE: usize = TABELLEN.len() + 2;
