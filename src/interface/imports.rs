//! All kinds of import, and the values of a company that a file may refer to.

use crate::goods::{abrechnungsschemata, chargen, kontrakte, produktion};
use crate::master::{artikel, biozertifikate, kunden, steuersaetze, vertriebler};
use crate::office::buchhaltung;
use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::platform::import::Import;
use crate::platform::import::suspicions::Known;
use crate::trade::{annahmescheine, kasse};

/// Returns the tax rates and units that the company has; a file with other values is suspicious.
pub fn known(tx: &Tx<'_>) -> Result<Known> {
    Ok(Known { rates: steuersaetze::rates(tx)?, units: artikel::units(tx)? })
}

/// Returns every kind of import, in the order in which a new company needs them.
pub fn all() -> impl Iterator<Item = &'static Import> {
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
