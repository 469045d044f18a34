//! The e-invoice (EN 16931, D26): from a [`Rechnung`], which the caller fills with what is stored, to its XML in the
//! syntax CII of the United Nations; [`missing`] says what the law, the standard or XRechnung ask for and is not
//! there. Values in, values out: no SQL, no HTTP, no clock, and the same bytes for the same values.
//!
//! Names of fields are those of the interface. Each names its business term: `BT-1` is a field of EN 16931-1, `BG-3`
//! a group of them. A rule of the standard is cited by its name: `BR-CO-25`, of XRechnung `BR-DE-15`.
//!
//! What is derived where:
//!
//! - here, in `model.rs`: the type of the document, the profile of a Gutschrift, electronic addresses;
//! - `betraege.rs`: signs of quantities and prices, the allowance of a line, tax groups and sums;
//! - `texte.rs`: notes, payment terms with Skonto, reasons of an exemption;
//! - in [`lesen`]: the way back, from a received file;
//! - in [`rules`](crate::rules): tax and line totals, tax categories, UN/ECE codes of units, check digits of GTIN
//!   and IBAN.

mod betraege;
mod cii;
mod laender;
pub mod lesen;
mod missing;
mod model;
mod texte;
mod xml;

pub use cii::write;
pub use missing::{Fehlt, Wo, missing};
pub use model::{Bezug, Kontakt, Merkmal, Partei, Position, Rechnung, Skonto, Typ, Zahlungsbedingungen};
pub use texte::exemption;

pub fn erechnung(rechnung: &Rechnung) -> Result<String, Vec<Fehlt>> {
    let missing = missing(rechnung);
    if !missing.is_empty() {
        return Err(missing);
    }
    write(rechnung).map_err(|_| vec![Fehlt::zu_gross()])
}
