//! Production orders and their recipes (D13).
//!
//! `auftrag` makes an order from a recipe, `status` moves it on, `buchung` books what went in and
//! came out, `import` brings recipes in.

mod auftrag;
mod buchung;
mod checks;
mod import;
mod model;
mod sql;
mod status;

pub use checks::CHECKS;

use uuid::Uuid;

use crate::db::tx::Tx;
use crate::failure::{Failure, Result};
use crate::http::call::{Call, IfMatch};
use crate::http::param::Param;
use crate::http::reply::Reply;
use crate::http::route::{Access, Method, Route, Write};
use crate::http::shape::Answer;
use crate::import::Import;
use crate::rules::error::Code;
use crate::rules::scope::Scope;
use model::{AuftragBestaetigung, NewAuftrag, Produktionsauftrag, StatusBestaetigung, StatusChange};
use sql::Auswahl;

const READ: Access = Access::Scope(Scope::ProduktionRead);

const WHAT: &str = "Diesen Produktionsauftrag";

pub const IMPORTS: &[Import] = &[Import::of::<model::RezepturZeile>(
    "rezepturen",
    &[&["id", "version"], &["bezeichnung", "version"]],
    import::rezeptur,
)];

pub const ROUTES: &[Route] = &[
    Route::get("/api/v1/produktionsauftraege", READ, "Produktionsaufträge, das späteste Datum zuerst", list)
        .with_query(&[
            Param::one_of(
                "status",
                &["schwebend", "geplant", "in_bearbeitung", "erledigt", "storniert"],
                "nur dieser Status",
            ),
            Param::day("datum_von", "erstes Produktionsdatum"),
            Param::day("datum_bis", "letztes Produktionsdatum"),
            Param::uuid("artikel_id", "nur mit diesem Artikel als Ein- oder Ausgang"),
            Param::limit(None),
            Param::OFFSET,
        ])
        .gives(&[Answer::array::<Produktionsauftrag>()]),
    Route::write(
        Method::Post,
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
    Route::write(
        Method::Put,
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

fn list(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let query = &call.query;
    let (page, cut) = query.page()?;
    let auswahl = Auswahl {
        status: query.one_of("status")?,
        von: query.day("datum_von")?,
        bis: query.day("datum_bis")?,
        artikel: query.uuid("artikel_id")?,
    };
    Ok(Reply::array(sql::list(tx, &auswahl, page)?, cut))
}

fn get(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let auftrag = sql::with_lines(tx, found(tx, call.id(WHAT)?)?)?;
    Reply::resource(call, auftrag.version, auftrag.id, &auftrag)
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

fn found(tx: &Tx<'_>, id: Uuid) -> Result<Produktionsauftrag> {
    sql::find(tx, id)?.ok_or_else(|| Failure::not_found(WHAT))
}
