//! Where a batch came from and where it went (D21d): from its movements, step by step through the
//! production orders, to the suppliers of what went in and to those who got what came out.
//!
//! `graph` walks, `sql` reads the movements, `sheet` writes what an authority asks for.

mod graph;
mod model;
mod sheet;
mod sql;

use crate::db::tx::Tx;
use crate::failure::{Failure, Result};
use crate::http::call::Call;
use crate::http::param::{Param, ParamKind};
use crate::http::reply::Reply;
use crate::http::route::{Access, Route};
use crate::http::shape::Answer;
use crate::rules::error::{HintCode, Hints};
use crate::rules::scope::Scope;
use crate::{artikel, chargen};
pub use model::{Beteiligter, Herkunft, Knoten, Lagerbewegung};
use sql::Schritt;
pub use sql::movements;
use uuid::Uuid;

const WHAT: &str = "Diese Charge";

/// Steps that are walked where the request does not say.
const DEPTH: i64 = 20;

/// Steps that are walked at most.
const MAX_DEPTH: i64 = 50;

/// Routes of this slice.
pub const ROUTES: &[Route] = &[Route::get(
    "/api/v1/chargen/{id}/herkunft",
    Access::Scope(Scope::ChargenRead),
    "Herkunft und Verbleib einer Charge, als JSON oder als CSV-Blatt",
    get,
)
.with_query(&[
    Param::new(
        "richtung",
        ParamKind::OneOfOr(&["rueckwaerts", "vorwaerts", "beide"], "beide"),
        "nur Herkunft, nur Verbleib oder beide",
    ),
    Param::new("tiefe", ParamKind::IntWithin(1, MAX_DEPTH, DEPTH), "Stufen der Produktion"),
    Param::new("format", ParamKind::OneOfOr(&["json", "csv"], "json"), "csv: Blatt für die Behörde"),
])
.gives(&[Answer::ok::<Herkunft>(), Answer::other("text/csv")])];

/// Where a batch came from and where it went, up to this many production orders away; none where there is no such
/// batch.
pub fn both_ways(tx: &Tx<'_>, charge: Uuid, tiefe: i64) -> Result<Option<Herkunft>> {
    trace(tx, charge, tiefe, true, true)
}

fn trace(tx: &Tx<'_>, charge: Uuid, tiefe: i64, back: bool, forth: bool) -> Result<Option<Herkunft>> {
    let Some(charge) = chargen::find(tx, charge)? else { return Ok(None) };
    let id = charge.id;
    let walk = |schritt, asked: bool| match asked {
        true => graph::walk(tx, id, schritt, tiefe),
        false => Ok(Default::default()),
    };
    let (back, forth) = (walk(Schritt::Rueckwaerts, back)?, walk(Schritt::Vorwaerts, forth)?);
    let mut hinweise = Hints::default();
    if back.deeper || forth.deeper {
        let message = format!("Es gibt weitere Stufen jenseits der tiefe {tiefe}.");
        hinweise.add_field(HintCode::TiefeErreicht, "tiefe", message);
    }
    let artikel = artikel::find(tx, charge.artikel_id)?;
    Ok(Some(Herkunft {
        charge,
        artikelnummer: artikel.map(|artikel| artikel.artikelnummer.clone()).unwrap_or_default(),
        rueckwaerts: back.knoten,
        vorwaerts: forth.knoten,
        lieferanten: back.beteiligte,
        empfaenger: forth.beteiligte,
        bilanz: sql::balance(tx, id)?,
        hinweise,
    }))
}

/// GET /chargen/{id}/herkunft
fn get(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let query = &call.query;
    let tiefe = query.int_within("tiefe")?;
    let richtung = query.one_of("richtung")?;
    let format = query.one_of("format")?;
    let (back, forth) = (richtung != Some("vorwaerts"), richtung != Some("rueckwaerts"));
    let herkunft = trace(tx, call.id(WHAT)?, tiefe, back, forth)?.ok_or_else(|| Failure::not_found(WHAT))?;
    let reply = match format {
        Some("csv") => {
            Reply::csv(&format!("herkunft-{}", herkunft.charge.charge_nr), sheet::write(&herkunft)?)
        }
        _ => Reply::ok(&herkunft)?,
    };
    Ok(reply.with_notes(&herkunft.hinweise).about(herkunft.charge.id))
}
