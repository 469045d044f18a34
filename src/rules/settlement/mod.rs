//! Settlement of raw goods (D29): from what a lorry brought and what was measured of it to the quantity and the price that
//! are paid, row by row, so that the farmer can compute each again from what is printed above it.
//!
//! [`model`] is a scheme, as it is sent, stored and computed with; [`check`] refuses one that could not be computed with;
//! [`compute`] settles one note, which is a [`rechnung`]; [`values`] are what is measured.

mod check;
mod compute;
mod model;
mod posten;
mod rate;
mod rechnung;
mod values;

pub use check::{check, lagerkosten};
pub use compute::{Lieferung, compute};
pub use model::{
    Abrechnungsart, Basisseite, Bestand, Fehlt, Grenze, Grenzfolge, Mittelung, SatzEinheit, Schema, Schritt,
    SchrittZeile, Schrittregel, Wirkung,
};
pub use posten::{AbrechnungsPosten, AbrechnungsTeil};
pub use rate::plain;
pub use rechnung::{Befund, Groesse, Rechnung, Zeile};
pub use values::{Grund, Merkmal, Messwert, Mittel, Quelle, SHIPPED, Werte, mean, rounded};
