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

pub use interface::{document, openapi_text, routes};

use crate::import::Import;
use crate::{
    abrechnungsschemata, annahmescheine, artikel, biozertifikate, chargen, kasse, kontrakte, kunden,
    produktion, steuersaetze, vertriebler,
};

/// Every kind of import, in the order in which a new company needs them.
pub fn imports() -> impl Iterator<Item = &'static Import> {
    [
        artikel::IMPORTS,
        vertriebler::IMPORTS,
        kunden::IMPORTS,
        biozertifikate::IMPORTS,
        chargen::IMPORTS,
        kontrakte::IMPORTS,
        abrechnungsschemata::IMPORTS,
        produktion::IMPORTS,
        annahmescheine::IMPORTS,
        steuersaetze::IMPORTS,
        kasse::IMPORTS,
    ]
    .into_iter()
    .flatten()
}
