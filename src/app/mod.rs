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
pub mod sealing;
pub mod vergessen;

pub use interface::{document, openapi_text, routes};

use crate::import::ImportKind;
use crate::{
    annahmescheine, artikel, biozertifikate, chargen, kasse, kontrakte, kunden, produktion, steuersaetze,
    vertriebler,
};

/// Every kind of import, in the order in which a new company needs them.
pub fn imports() -> impl Iterator<Item = ImportKind> {
    let by_row = [
        artikel::IMPORTS,
        vertriebler::IMPORTS,
        kunden::IMPORTS,
        biozertifikate::IMPORTS,
        chargen::IMPORTS,
        kontrakte::IMPORTS,
        produktion::IMPORTS,
        annahmescheine::IMPORTS,
        steuersaetze::IMPORTS,
    ];
    by_row.into_iter().flatten().map(ImportKind::Rows).chain(kasse::IMPORTS.iter().map(ImportKind::Groups))
}
