//! The interface as a whole: all routes, all kinds of import, the description, and the work of nights: midnight, backups,
//! checks.

pub mod backup;
pub mod check;
pub mod description;
mod docs;
mod interface;
pub mod kept;
pub mod midnight;
pub mod nightly;
mod probes;
pub mod rueckgaengig;
pub mod sealing;
pub mod vergessen;
pub mod z3;

pub use interface::{document, openapi_text, routes};

use crate::db::tx::Tx;
use crate::failure::Result;
use crate::import::Import;
use crate::import::suspicions::Known;
use crate::{
    abrechnungsschemata, annahmescheine, artikel, biozertifikate, buchhaltung, chargen, kasse, kontrakte,
    kunden, produktion, steuersaetze, vertriebler,
};

/// What is meant in a file for a company, because it has that already.
pub fn known(tx: &Tx<'_>) -> Result<Known> {
    Ok(Known { rates: steuersaetze::rates(tx)?, units: artikel::units(tx)? })
}

/// Every kind of import, in the order in which a new company needs them.
pub fn imports() -> impl Iterator<Item = &'static Import> {
    [
        artikel::IMPORTS,
        vertriebler::IMPORTS,
        kunden::IMPORTS,
        biozertifikate::IMPORTS,
        chargen::IMPORTS,
        abrechnungsschemata::IMPORTS,
        kontrakte::IMPORTS,
        produktion::IMPORTS,
        annahmescheine::IMPORTS,
        steuersaetze::IMPORTS,
        buchhaltung::IMPORTS,
        kasse::IMPORTS,
    ]
    .into_iter()
    .flatten()
}
