//! Contracts: read by clients, written by import, named by documents and weighings.

mod bezug;
mod import;
mod lieferstand;
mod model;
mod sql;

pub use bezug::{KontraktBezug, agreed_price};
pub use lieferstand::{Genannt, hint_delivered};
pub use sql::{RETENTION, number};

use crate::db::list::{Filter, Page};
use crate::db::tx::Tx;
use crate::failure::{Failure, Result};
use crate::http::call::Call;
use crate::http::param::Param;
use crate::http::query::Query;
use crate::http::reply::Reply;
use crate::http::route::{Access, Route};
use crate::http::shape::Answer;
use crate::import::Import;
use crate::listing::{Listing, Records};
use crate::rules::scope::Scope;
pub use model::{Kontrakt, Position};
use uuid::Uuid;

pub const IMPORTS: &[Import] =
    &[Import::of::<model::KontraktZeile>("kontrakte", &[&["kontrakt_nr"]], import::kontrakt)];

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

pub fn complete(tx: &Tx<'_>, id: Uuid) -> Result<Kontrakt> {
    let found = sql::find(tx, id)?.into_iter().collect();
    lieferstand::complete(tx, found)?.pop().ok_or_else(|| Failure::not_found("Diesen Kontrakt"))
}

/// The contracts of a partner that are not settled.
pub fn open_of(tx: &Tx<'_>, partner: Uuid, page: Page) -> Result<Vec<Kontrakt>> {
    let mut filter = Filter::equal("v", "partner_id", partner);
    filter.and("v.erledigt = 0");
    lieferstand::complete(tx, sql::list(tx, &filter, page)?.rows)
}

fn list(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let (page, cut) = call.query.page()?;
    let Records { rows, count } = find_page(tx, &call.query, page)?;
    Ok(Reply::list(Listing::from_page(rows, usize::try_from(count).unwrap_or_default())?, cut))
}

/// The contracts that a query asks for, with their positions, and what was delivered on them.
pub fn find_page(tx: &Tx<'_>, query: &Query, page: Page) -> Result<Records<Kontrakt>> {
    let mut filter = Filter::of("v");
    filter.when("v.kontrakt_typ = :typ", ":typ", query.text("kontrakt_typ"));
    filter.when("v.partner_id = :partner", ":partner", query.uuid("partner_id")?);
    filter.when("v.erledigt = :erledigt", ":erledigt", query.bool("erledigt")?);
    filter.when("v.erntejahr = :erntejahr", ":erntejahr", query.int("erntejahr")?);
    filter.when("v.erfassungsdatum >= :von", ":von", query.day("von")?);
    filter.when("v.erfassungsdatum <= :bis", ":bis", query.day("bis")?);
    filter.contains_words("v.such_text", query.search("suche")?);
    let Records { rows, count } = sql::list(tx, &filter, page)?;
    Ok(Records { rows: lieferstand::complete(tx, rows)?, count })
}
