//! The cash register: receipts and their lines, read by clients, written by import.

pub mod dsfinvk;
mod import;
mod model;
mod sql;
mod store;

use crate::db::error::Result;
use crate::db::tx::Tx;
use crate::http::call::Call;
use crate::http::reply::Reply;
use crate::http::route::{Access, Param, ParamKind, Route};
use crate::import::{GroupImport, check};
use crate::rules::scope::Scope;
use sql::Auswahl;

/// What can be imported into this slice.
pub const IMPORTS: &[GroupImport] = &[GroupImport {
    kind: "barverkaeufe",
    check: check::<model::BarverkaufZeile>,
    groups: import::groups,
    run: import::bon,
}];

/// Routes of this slice.
pub const ROUTES: &[Route] =
    &[Route::get("/api/v1/barverkaeufe", Access::Scope(Scope::KasseRead), "Bonzeilen der Kassen", list)
        .with_query(&[
            Param { name: "von", kind: ParamKind::Day, summary: "erster Kassentag" },
            Param { name: "bis", kind: ParamKind::Day, summary: "letzter Kassentag" },
            Param { name: "zahlart", kind: ParamKind::Text, summary: "nur diese Zahlart" },
            Param { name: "kasse_id", kind: ParamKind::Uuid, summary: "nur diese Kasse" },
            Param { name: "bon_nr", kind: ParamKind::Text, summary: "nur dieser Bon" },
            Param { name: "nur_verkaeufe", kind: ParamKind::Bool, summary: "true: ohne Stornobons" },
            Param::limit(Some(500)),
            Param::OFFSET,
        ])];

/// GET /barverkaeufe
fn list(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let query = &call.query;
    let (page, cut) = query.page()?;
    let auswahl = Auswahl {
        von: query.day("von")?,
        bis: query.day("bis")?,
        zahlart: query.text("zahlart"),
        kasse: query.uuid("kasse_id")?,
        bon_nr: query.text("bon_nr"),
        nur_verkaeufe: query.bool("nur_verkaeufe")?.unwrap_or(false),
    };
    Ok(Reply::ok(&sql::list(tx, &auswahl, page)?)?.with_cut_limit(cut))
}
