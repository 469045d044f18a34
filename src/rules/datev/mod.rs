//! DATEV's lines (D31, D33): turns a final RE or ER into the lines of the tax adviser's ledger.
//!
//! [`konten`] finds the account of a position and what DATEV computes on it by itself; [`zeilen`] splits a
//! document into lines so that DATEV's tax equals ours to the cent.

mod bu;
mod fall;
mod konten;
mod zeilen;

pub use bu::{BuArt, BuSchluessel, is_bu};
pub use fall::Fall;
pub use konten::{Automatik, Funktion, Funktionsart, Kontenplan, Konto, Personenkonto, Rahmen};
pub use zeilen::{
    Aufteilung, Buchungsbeleg, Buchungsposition, Buchungszeile, Gruppe, Kontierung, Zeilen, gruppen, zeilen,
};
