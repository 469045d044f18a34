//! Settlement of raw goods (D29): computes the paid quantity and price of a delivery from its weight and
//! measured values, row by row, so that the farmer can recompute each row from what is printed above it.
//!
//! [`model`] is a scheme as it is sent, stored and used; [`check`] refuses a scheme that cannot be computed;
//! [`compute`] settles one receipt into a [`rechnung`]; [`values`] are the measured values.

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
