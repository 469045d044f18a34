//! Contracts: read by clients, written by import, named by documents and weighings.

mod bezug;
mod import;
mod model;
mod sql;

pub use bezug::KontraktBezug;

use std::collections::BTreeMap;

use uuid::Uuid;

use crate::db::error::Result;
use crate::db::tx::Tx;
use crate::http::call::Call;
use crate::http::reply::Reply;
use crate::http::route::{Access, Param, Route};
use crate::http::shape::Answer;
use crate::import::{Import, check};
use crate::rules::fixed::Quantity;
use crate::rules::scope::Scope;
use crate::rules::unit::Conversion;
use model::Kontrakt;
use sql::Auswahl;

/// What can be imported into this slice.
pub const IMPORTS: &[Import] =
    &[Import { kind: "kontrakte", check: check::<model::KontraktZeile>, run: import::kontrakt }];

/// Routes of this slice.
pub const ROUTES: &[Route] = &[Route::get(
    "/api/v1/kontrakte",
    Access::Scope(Scope::KontrakteRead),
    "Kontrakte mit offener Menge",
    list,
)
.with_query(&[
    Param::text("kontrakt_typ", "nur dieser Typ"),
    Param::uuid("partner_id", "nur dieser Partner"),
    Param::bool("erledigt", "nur erledigte oder nur offene"),
    Param::int("erntejahr", "nur dieses Erntejahr"),
    Param::day("von", "erstes Erfassungsdatum"),
    Param::day("bis", "letztes Erfassungsdatum"),
    Param::text("suche", "Wörter in Nummer oder Referenz"),
    Param::limit(None),
    Param::OFFSET,
])
.gives(&[Answer::list::<Kontrakt>()])];

/// GET /kontrakte
fn list(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let query = &call.query;
    let (page, cut) = query.page()?;
    let auswahl = Auswahl {
        kontrakt_typ: query.text("kontrakt_typ"),
        partner: query.uuid("partner_id")?,
        erledigt: query.bool("erledigt")?,
        erntejahr: query.int("erntejahr")?,
        von: query.day("von")?,
        bis: query.day("bis")?,
        suche: query.search("suche")?,
    };
    let listing = sql::list(tx, &auswahl, page, |kontrakt| {
        let (geliefert, offen) = delivered(tx, &kontrakt)?;
        Ok(Kontrakt { geliefert, offen, ..kontrakt })
    })?;
    Ok(Reply::list(listing, cut))
}

/// What was delivered on a contract, and what is open. Goods that a delivery brought and an
/// invoice names again count once: of each article the larger of both sums.
fn delivered(tx: &Tx<'_>, kontrakt: &Kontrakt) -> Result<(Option<Quantity>, Option<Quantity>)> {
    let Some(unit) = &kontrakt.gesamtmenge_einheit else { return Ok((None, None)) };
    let mut sums: BTreeMap<Option<Uuid>, [Quantity; 2]> = BTreeMap::new();
    for menge in sql::quantities(tx, kontrakt.id)? {
        let conversion = menge.einheit.as_deref().and_then(|einheit| Conversion::between(einheit, unit));
        let Some(conversion) = conversion else { return Ok((None, None)) };
        let sum = &mut sums.entry(menge.artikel_id).or_default()[usize::from(menge.ist_lieferung)];
        *sum = sum.plus(conversion.quantity(menge.menge)?)?;
    }
    let larger = sums.into_values().map(|[invoiced, delivered]| invoiced.max(delivered));
    let geliefert = larger.into_iter().try_fold(Quantity::ZERO, Quantity::plus)?;
    let offen = kontrakt.gesamtmenge.map(|gesamt| gesamt.minus(geliefert)).transpose()?;
    Ok((Some(geliefert), offen))
}
