//! Production orders and their recipes (D13).
//!
//! `auftrag` creates an order from a recipe, `status` advances it, `buchung` books inputs and outputs,
//! `import` imports recipes.

mod auftrag;
mod buchung;
mod checks;
mod import;
mod model;
mod sql;
mod status;

pub use checks::CHECKS;
pub use model::{Auswahl, PaInput, PaOutput, Produktionsauftrag};
pub use sql::{SORTIERUNG, list, sums};

use uuid::Uuid;

use crate::platform::db::tx::Tx;
use crate::platform::failure::{Failure, Result};
use crate::platform::http::call::{Call, IfMatch};
use crate::platform::http::list_file::{self, listed};
use crate::platform::http::param::Param;
use crate::platform::http::reply::Reply;
use crate::platform::http::route::{Access, Route, Write};
use crate::platform::http::shape::Answer;
use crate::platform::import::Import;
use crate::rules::choice::Choice;
use crate::rules::error::Code;
use crate::rules::recipe::PaStatus;
use crate::rules::scope::Scope;
use model::{AuftragBestaetigung, NewAuftrag, StatusBestaetigung, StatusChange};

const READ: Access = Access::Scope(Scope::ProduktionRead);

const WHAT: &str = "Diesen Produktionsauftrag";

pub const IMPORTS: &[Import] = &[Import::of::<model::RezepturZeile>(
    "rezepturen",
    &[&["id", "version"], &["bezeichnung", "version"]],
    import::rezeptur,
)];

pub const ROUTES: &[Route] = &[
    Route::get(
        "/api/v1/produktionsauftraege",
        READ,
        "Produktionsaufträge, das späteste Datum zuerst",
        get_list,
    )
    .with_query(&[
        Param::one_of("status", PaStatus::TEXTS, "nur dieser Status"),
        Param::day("datum_von", "erstes Produktionsdatum"),
        Param::day("datum_bis", "letztes Produktionsdatum"),
        Param::uuid("artikel_id", "nur mit diesem Artikel als Ein- oder Ausgang"),
        Param::limit(None),
        Param::OFFSET,
        list_file::FORMAT,
    ])
    .gives(&[Answer::array::<Produktionsauftrag>(), Answer::other("text/csv")]),
    Route::post(
        "/api/v1/produktionsauftraege",
        Scope::ProduktionWrite,
        "Produktionsauftrag anlegen, auf Wunsch aus einer Rezeptur",
        create,
    )
    .may_take::<NewAuftrag>("ProduktionsauftragNeu")
    .gives(&[Answer::created::<AuftragBestaetigung>()])
    .refuses(&[&[Code::RezepturNichtGefunden, Code::FaktorUngueltig, Code::BetragZuGross]]),
    Route::get(
        "/api/v1/produktionsauftraege/{id}",
        READ,
        "Einen Produktionsauftrag mit Ein- und Ausgängen lesen",
        get,
    )
    .gives(&[Answer::resource::<Produktionsauftrag>()]),
    Route::put(
        "/api/v1/produktionsauftraege/{id}/status",
        Scope::ProduktionWrite,
        "Produktionsauftrag weiterführen; erledigt bucht den Bestand",
        change_status,
    )
    .takes::<StatusChange>("ProduktionsauftragStatus", &["status"])
    .with_if_match()
    .gives(&[Answer::ok::<StatusBestaetigung>()])
    .refuses(&[status::REFUSALS]),
];

fn get_list(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let auswahl = Auswahl::of(&call.query)?;
    listed!(call, "produktionsauftraege", Reply::array, |page| list(tx, &auswahl, page))
}

fn get(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let auftrag = with_lines(tx, call.id(WHAT)?)?;
    Reply::resource(call, auftrag.version, auftrag.id, &auftrag)
}

/// Returns an order with its inputs and outputs.
pub fn with_lines(tx: &Tx<'_>, id: Uuid) -> Result<Produktionsauftrag> {
    sql::with_lines(tx, found(tx, id)?)
}

fn create(call: &Call<'_>) -> Result<Write> {
    let (new, hinweise) = call.optional_body::<NewAuftrag>()?;
    Ok(Box::new(move |tx| {
        let bestaetigung = auftrag::create(tx, new.clone(), hinweise.clone())?;
        Ok(Reply::created(&bestaetigung)?.about(bestaetigung.id))
    }))
}

fn change_status(call: &Call<'_>) -> Result<Write> {
    let (change, hinweise) = call.body::<StatusChange>()?;
    let (id, if_match) = (call.id(WHAT)?, call.if_match());
    Ok(Box::new(move |tx| {
        let auftrag = found(tx, id)?;
        IfMatch::check(if_match.as_ref(), auftrag.version)?;
        Ok(Reply::ok(&status::change(tx, auftrag, change.clone(), hinweise.clone())?)?.about(id))
    }))
}

/// Returns an order without its lines, or a "not found" refusal.
pub fn found(tx: &Tx<'_>, id: Uuid) -> Result<Produktionsauftrag> {
    sql::find(tx, id)?.ok_or_else(|| Failure::not_found(WHAT))
}
