//! Which batches of an article are there, and from which a quantity should be taken (D21b).

use schemars::JsonSchema;
use serde::Serialize;

use super::model::Charge;
use super::sql;
use crate::artikel::Artikel;
use crate::db::list::Filter;
use crate::db::tx::Tx;
use crate::failure::Result;
use crate::rules::day::Day;
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
    /// What can be taken, in the unit of the article.
    pub verfuegbar: Quantity,
    /// What should be taken of it, where a quantity was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vorschlag: Option<Quantity>,
}

pub struct Auswahl {
    pub lagerhalle_id: Option<i64>,
    pub niederlassung_id: Option<i64>,
    pub mhd_ab: Option<Day>,
    /// ISO 3166-1 alpha-2.
    pub herkunftsland: Option<&'static str>,
    pub nur_bio: bool,
}

/// The batches of an article that have stock, the one to take first in front; with a wanted quantity also what to take
/// of each, and what is missing.
pub fn list(
    tx: &Tx<'_>,
    artikel: &Artikel,
    auswahl: &Auswahl,
    wanted: Option<Quantity>,
) -> Result<(Vec<VerfuegbareCharge>, Option<Quantity>)> {
    let found = sql::by_mhd(tx, &filter(artikel, auswahl))?;
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

fn filter(artikel: &Artikel, auswahl: &Auswahl) -> Filter<'static> {
    let mut filter = Filter::of("c");
    filter.when("c.artikel_id = :artikel", ":artikel", Some(artikel.id));
    filter.and("c.bestand > 0");
    filter.when("c.lagerhalle_id = :halle", ":halle", auswahl.lagerhalle_id);
    filter.when("c.niederlassung_id = :niederlassung", ":niederlassung", auswahl.niederlassung_id);
    filter.when("c.mhd >= :mhd", ":mhd", auswahl.mhd_ab);
    filter.when("c.herkunftsland = :land", ":land", auswahl.herkunftsland);
    if auswahl.nur_bio {
        filter.and("c.biozertifikat_id is not null");
    }
    filter
}
