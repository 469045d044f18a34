//! Bookings (D31, D33): from a final RE or ER to the lines that the tax adviser's ledger reads.
//!
//! [`konten`] says on which account a position is booked and what DATEV computes there by itself, [`zeilen`] which lines
//! a document becomes, so that DATEV's tax is ours to the cent.

mod konten;
mod zeilen;

pub use konten::{Automatik, Fall, Funktion, Funktionsart, Kontenplan, Konto, Personenkonto, Rahmen};
pub use zeilen::{
    Aufteilung, Buchungsbeleg, Buchungsposition, Buchungszeile, Gruppe, Kontierung, Zeilen, gruppen, zeilen,
};
