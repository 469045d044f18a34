//! Figures for the VAT return, the recapitulative statement and Intrastat (D35), from the groups of final
//! invoices (D33). They are an aid: they go by the date of the document, and nothing is filed.

mod ausland;
mod formular;
mod umsatz;

pub use ausland::{IntrastatJahr, Quartal, ZmArt, ZmZeile, intrastat, quartale, quartale_ab, zm};
pub use formular::{FallSumme, Kennzahl, beitraege, formular_jahr, kennzahlen};
pub use umsatz::Umsatz;
