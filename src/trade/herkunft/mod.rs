//! Traces a batch (D21d): from its movements, step by step through production orders, back to the suppliers
//! of the inputs and forward to the recipients of the outputs.
//!
//! `graph` walks, `sql` reads the movements, `sheet` writes the report for an authority.

mod graph;
mod model;
mod sheet;
mod sql;

pub use graph::{Weg, walk};
pub use model::{Beteiligter, Buchung, Knoten, Ueber};
pub use sql::{Schritt, Umschlag, count_movements, moved_by_document, movements};

use crate::goods::chargen;
use crate::master::artikel;
use crate::platform::db::tx::Tx;
use crate::platform::failure::{Failure, Result};
use crate::platform::http::call::Call;
use crate::platform::http::param::{Param, ParamKind};
use crate::platform::http::reply::Reply;
use crate::platform::http::route::{Access, Route};
use crate::platform::http::shape::Answer;
use crate::rules::error::{HintCode, Hints};
use crate::rules::scope::Scope;
use model::Herkunft;

const WHAT: &str = "Diese Charge";

/// Default number of steps.
const STEPS_DEFAULT: i64 = 20;

/// Maximum number of steps.
pub const STEPS_MAX: i64 = 50;

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
    Param::new("tiefe", ParamKind::IntWithin(1, STEPS_MAX, STEPS_DEFAULT), "Stufen der Produktion"),
    Param::new("format", ParamKind::OneOfOr(&["json", "csv"], "json"), "csv: Blatt für die Behörde"),
])
.gives(&[Answer::ok::<Herkunft>(), Answer::other("text/csv")])];

fn get(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let query = &call.query;
    let tiefe = query.int_within("tiefe")?;
    let richtung = query.one_of("richtung")?;
    let format = query.one_of("format")?;
    let charge = chargen::find(tx, call.id(WHAT)?)?.ok_or_else(|| Failure::not_found(WHAT))?;
    let id = charge.id;
    let walked = |schritt, asked: bool| match asked {
        true => graph::walk(tx, id, schritt, tiefe, false),
        false => Ok(Default::default()),
    };
    let back = walked(Schritt::Rueckwaerts, richtung != Some("vorwaerts"))?;
    let forth = walked(Schritt::Vorwaerts, richtung != Some("rueckwaerts"))?;
    let mut hinweise = Hints::default();
    if back.deeper || forth.deeper {
        let message = format!("Es gibt weitere Stufen jenseits der tiefe {tiefe}.");
        hinweise.add_field(HintCode::TiefeErreicht, "tiefe", message);
    }
    let bilanz = sql::balance(tx, id)?;
    let artikel = artikel::find(tx, charge.artikel_id)?;
    let artikelnummer = artikel.map(|artikel| artikel.artikelnummer.clone()).unwrap_or_default();
    let herkunft = Herkunft {
        charge,
        artikelnummer,
        rueckwaerts: back.knoten,
        vorwaerts: forth.knoten,
        lieferanten: back.beteiligte,
        empfaenger: forth.beteiligte,
        bilanz,
        hinweise,
    };
    let reply = match format {
        Some("csv") => {
            Reply::csv(&format!("herkunft-{}", herkunft.charge.charge_nr), sheet::write(&herkunft)?)
        }
        _ => Reply::ok(&herkunft)?,
    };
    Ok(reply.with_notes(&herkunft.hinweise).about(id))
}
