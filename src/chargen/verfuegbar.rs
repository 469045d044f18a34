//! Which batches of an article are there, and from which a quantity should be taken (D21b).

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::model::Charge;
use super::sql;
use crate::artikel::{self, Artikel};
use crate::db::error::Result;
use crate::db::list::{Filter, Listing};
use crate::db::tx::Tx;
use crate::http::call::Call;
use crate::http::query::Query;
use crate::http::reply::Reply;
use crate::http::route::{Param, ParamKind};
use crate::laender;
use crate::rules::error::{Checked, Code, HintCode, Hints, Refusal};
use crate::rules::fixed::Quantity;
use crate::rules::unit::Conversion;

/// Parameters of the route.
pub const PARAMS: &[Param] = &[
    Param::uuid("artikel_id", "der Artikel (oder artikelnr)"),
    Param::text("artikelnr", "Nummer des Artikels (oder artikel_id)"),
    Param::new("menge", ParamKind::Quantity, "gesuchte Menge: dann mit Vorschlag"),
    Param::text("einheit", "Einheit der Menge; ohne Angabe die des Artikels"),
    Param::int("lagerhalle_id", "nur diese Lagerhalle"),
    Param::int("niederlassung_id", "nur diese Niederlassung"),
    Param::day("mhd_ab", "nur mindestens so lange haltbare"),
    Param::text("herkunftsland", "nur aus diesem Land"),
    Param::flag("nur_bio", "true: nur mit Biozertifikat"),
    Param::limit(Some(200)),
    Param::OFFSET,
];

/// Why the request is refused.
pub const REFUSALS: &[Code] = &[
    Code::ParameterFehlt,
    Code::ArtikelNichtGefunden,
    Code::ArtikelMehrdeutig,
    Code::ArtikelWiderspruch,
    Code::EinheitNichtUmrechenbar,
    Code::LandUnbekannt,
    Code::BetragZuGross,
];

/// A batch that has stock.
#[derive(Debug, Serialize, JsonSchema)]
#[allow(missing_docs)]
pub struct VerfuegbareCharge {
    #[serde(flatten)]
    pub charge: Charge,
    /// What can be taken, in the unit of the article.
    pub verfuegbar: Quantity,
    /// What should be taken of it, where a quantity was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vorschlag: Option<Quantity>,
}

/// GET /chargen/verfuegbar
pub fn list(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let query = &call.query;
    let (page, cut) = query.page()?;
    let artikel = asked_article(query, tx)?;
    let mut notes = Hints::default();
    let wanted = wanted(query, &artikel, &mut notes)?;
    let found = sql::by_mhd(tx, &filter(query, &artikel)?)?;
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
    let offset = usize::try_from(page.offset).unwrap_or(usize::MAX);
    let limit = page.limit.map_or(usize::MAX, |limit| limit as usize);
    let shown = batches.iter().skip(offset).take(limit);
    let reply = Reply::array(Listing::of(shown, batches.len())?, cut).with_notes(&notes);
    Ok(match missing {
        Some(missing) => reply.with("x-fehlmenge", missing.to_string()),
        None => reply,
    })
}

fn asked_article(query: &Query, tx: &Tx<'_>) -> Result<Arc<Artikel>> {
    let missing = || {
        let message = "Es fehlt der Artikel. Bitte artikel_id oder artikelnr angeben.";
        Refusal::field(Code::ParameterFehlt, "artikel_id", message)
    };
    let artikel = artikel::named(tx, query.uuid("artikel_id")?, query.text("artikelnr"))?;
    Ok(artikel.ok_or_else(missing)?)
}

/// The quantity that is asked for, in the unit of the article.
fn wanted(query: &Query, artikel: &Artikel, notes: &mut Hints) -> Result<Option<Quantity>> {
    let Some(text) = query.text("menge") else { return Ok(None) };
    let parsed = Quantity::parse(text).ok().filter(|parsed| parsed.value > Quantity::ZERO);
    let parsed = parsed.ok_or_else(|| Query::refuse("menge", "Hier wird eine Menge über 0 erwartet."))?;
    if parsed.rounded {
        notes.add_field(HintCode::Gerundet, "menge", "Die Menge wurde auf 6 Nachkommastellen gerundet.");
    }
    let menge = parsed.value;
    let conversion = match (query.text("einheit"), &artikel.einheit) {
        (Some(einheit), Some(own)) => Conversion::between(einheit, own).ok_or_else(|| {
            let message = format!("Die Einheit {einheit} lässt sich nicht in {own} umrechnen.");
            Refusal::field(Code::EinheitNichtUmrechenbar, "einheit", message)
        })?,
        _ => Conversion::NONE,
    };
    Ok(Some(conversion.quantity(menge)?))
}

fn filter(query: &Query, artikel: &Artikel) -> Checked<Filter<'static>> {
    let mut filter = Filter::of("c");
    filter.when("c.artikel_id = :artikel", ":artikel", Some(artikel.id));
    filter.and("c.bestand > 0");
    filter.when("c.lagerhalle_id = :halle", ":halle", query.int("lagerhalle_id")?);
    filter.when("c.niederlassung_id = :niederlassung", ":niederlassung", query.int("niederlassung_id")?);
    filter.when("c.mhd >= :mhd", ":mhd", query.day("mhd_ab")?);
    if let Some(text) = query.text("herkunftsland") {
        let land = laender::find(text).ok_or_else(|| {
            Refusal::field(
                Code::LandUnbekannt,
                "herkunftsland",
                format!("Das Land {text} ist nicht bekannt."),
            )
        })?;
        filter.when("c.herkunftsland = :land", ":land", Some(land.iso2.as_str()));
    }
    if query.flag("nur_bio")? {
        filter.and("c.biozertifikat_id is not null");
    }
    Ok(filter)
}
