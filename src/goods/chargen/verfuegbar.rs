//! Available batches of an article, and which of them to take a quantity from (D21b).

use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use super::model::{Charge, Verfuegbar};
use super::sql;
use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::rules::error::Code;
use crate::rules::fixed::Quantity;

pub const REFUSALS: &[Code] = &[
    Code::ParameterFehlt,
    Code::ArtikelNichtGefunden,
    Code::ArtikelMehrdeutig,
    Code::ArtikelWiderspruch,
    Code::EinheitNichtUmrechenbar,
    Code::LandUnbekannt,
    Code::BetragZuGross,
];

#[derive(Debug, Serialize, JsonSchema)]
pub struct VerfuegbareCharge {
    #[serde(flatten)]
    pub charge: Charge,
    /// Available quantity, in the unit of the article.
    pub verfuegbar: Quantity,
    /// Proposed quantity to take; only if a quantity was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vorschlag: Option<Quantity>,
}

/// Lists the matching batches in the order in which they should leave; with a wanted quantity also the
/// quantity to take of each and the quantity that is missing.
pub fn list(
    tx: &Tx<'_>,
    artikel: Uuid,
    auswahl: &Verfuegbar,
    wanted: Option<Quantity>,
) -> Result<(Vec<VerfuegbareCharge>, Option<Quantity>)> {
    let found = sql::available(tx, artikel, auswahl)?;
    let mut missing = wanted;
    let mut batches = Vec::with_capacity(found.len());
    for charge in found {
        let verfuegbar = charge.bestand;
        let vorschlag = match &mut missing {
            Some(missing) => {
                let taken = verfuegbar.min(*missing);
                *missing = missing.minus(taken)?;
                Some(taken)
            }
            None => None,
        };
        batches.push(VerfuegbareCharge { charge, verfuegbar, vorschlag });
    }
    Ok((batches, missing))
}
