//! Articles, article groups and tiered prices: read by clients, written by import.

mod import;
mod model;
mod sql;

pub use import::by_artikelnummer;
pub use model::Artikel;
pub use sql::{find, find_by_number, gruppen_satz, number_means, tiers};

use crate::db::error::Result;
use crate::db::tx::Tx;
use crate::http::call::Call;
use crate::http::reply::Reply;
use crate::http::route::{Access, Param, ParamKind, Route};
use crate::import::{Import, check};
use crate::rules::scope::Scope;

/// What can be imported into this slice.
pub const IMPORTS: &[Import] = &[
    Import { kind: "artikelgruppen", check: check::<import::GruppeZeile>, run: import::gruppe },
    Import { kind: "artikel", check: check::<import::ArtikelZeile>, run: import::artikel },
    Import { kind: "staffelpreise", check: check::<import::StaffelZeile>, run: import::staffelpreis },
];

/// Routes of this slice.
pub const ROUTES: &[Route] = &[
    Route::get("/api/v1/artikel", Access::Scope(Scope::ArtikelRead), "Artikel mit Status aktiv", list)
        .with_query(&[
            Param {
                name: "suche", kind: ParamKind::Text, summary: "Wörter in Bezeichnung, Nummer oder EAN"
            },
            Param { name: "gruppe_id", kind: ParamKind::Int, summary: "nur diese Artikelgruppe" },
            Param::limit(Some(100)),
            Param::OFFSET,
        ]),
    Route::get(
        "/api/v1/artikelgruppen",
        Access::Scope(Scope::ArtikelgruppenRead),
        "Artikelgruppen",
        list_gruppen,
    )
    .with_query(&[Param::limit(None), Param::OFFSET]),
];

fn list(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let query = &call.query;
    let (page, cut) = query.page()?;
    let listing = sql::list(tx, query.search("suche")?, query.int("gruppe_id")?, page)?;
    Ok(Reply::ok(&listing)?.with_cut_limit(cut))
}

fn list_gruppen(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let (page, cut) = call.query.page()?;
    Ok(Reply::ok(&sql::list_gruppen(tx, page)?)?.with_cut_limit(cut))
}
