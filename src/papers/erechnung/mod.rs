//! The e-invoice (EN 16931, D26): from a [`Rechnung`], which the caller fills from stored values, to its XML
//! in the syntax CII of the United Nations; [`missing`] lists what the law, the standard or XRechnung require
//! and the document lacks. Values in, values out: no SQL, no HTTP, no clock, and the same bytes for the same
//! values.
//!
//! Field names are those of the interface. Their comments name the business terms: `BT-1` is a field of EN
//! 16931-1, `BG-3` a group of fields. Rules of the standard are cited by name: `BR-CO-25`, or `BR-DE-15` for
//! XRechnung.
//!
//! Where values are derived:
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
