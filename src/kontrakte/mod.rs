//! Contracts: read by clients, written by import, named by documents and weighings.

mod bezug;
mod import;
mod lieferstand;
mod model;
mod sql;

pub use bezug::KontraktBezug;
pub use lieferstand::hint_overdelivered;
pub use sql::{RETENTION, number};

use crate::db::list::Page;
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
use sql::Auswahl;
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

fn list(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let (page, cut) = call.query.page()?;
    let Records { rows, count } = find_page(tx, &call.query, page)?;
    Ok(Reply::list(Listing::from_page(rows, usize::try_from(count).unwrap_or_default())?, cut))
}

/// The contracts that a query asks for, with their positions, and what was delivered on them.
pub fn find_page(tx: &Tx<'_>, query: &Query, page: Page) -> Result<Records<Kontrakt>> {
    let auswahl = Auswahl {
        kontrakt_typ: query.text("kontrakt_typ"),
        partner: query.uuid("partner_id")?,
        erledigt: query.bool("erledigt")?,
        erntejahr: query.int("erntejahr")?,
        von: query.day("von")?,
        bis: query.day("bis")?,
        suche: query.search("suche")?,
    };
    let Records { rows, count } = sql::list(tx, &auswahl, page)?;
    Ok(Records { rows: lieferstand::complete(tx, rows)?, count })
}
