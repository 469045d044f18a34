//! The cash register: till receipts and their lines, read by clients, written by import.

mod checks;
mod datei;
pub mod dsfinvk;
mod import;
mod model;
mod sql;
mod store;

pub use checks::CHECKS;
pub use datei::{delete_old, keep};
pub use model::{Auswahl, Barverkauf};
pub use sql::{RETENTION, Summe, altered_file, list, sums_of_day};

use uuid::Uuid;

use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::platform::http::call::Call;
use crate::platform::http::list_file::{self, listed};
use crate::platform::http::param::Param;
use crate::platform::http::query::Query;
use crate::platform::http::reply::Reply;
use crate::platform::http::route::{Access, Route};
use crate::platform::http::shape::Answer;
use crate::platform::import::Import;
use crate::rules::error::{Code, Refusal};
use crate::rules::scope::Scope;

pub const IMPORTS: &[Import] =
    &[Import::of_groups::<model::BarverkaufZeile>("barverkaeufe", &[&["id"]], import::groups, import::bon)];

pub const ROUTES: &[Route] =
    &[Route::get("/api/v1/barverkaeufe", Access::Scope(Scope::KasseRead), "Bonzeilen der Kassen", get_list)
        .with_query(&[
            Param::day("von", "erster Kassentag"),
            Param::day("bis", "letzter Kassentag"),
            Param::text("zahlart", "nur diese Zahlart"),
            Param::uuid("kasse_id", "nur diese Kasse"),
            Param::text("bon_nr", "nur dieser Bon; haben ihn mehrere Kassen, braucht es kasse_id"),
            Param::flag("nur_verkaeufe", "true: ohne Stornobons"),
            Param::limit(Some(500)),
            Param::OFFSET,
            list_file::FORMAT,
        ])
        .gives(&[Answer::list::<Barverkauf>(), Answer::other("text/csv")])
        .refuses(&[&[Code::BonMehrdeutig]])];

fn get_list(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let auswahl = auswahl(tx, &call.query)?;
    listed!(call, "barverkaeufe", Reply::list, |page| sql::list(tx, &auswahl, page))
}

/// Reads the filters of a list from the query; refuses a number that several receipts have.
pub fn auswahl<'q>(tx: &Tx<'_>, query: &'q Query) -> Result<Auswahl<'q>> {
    if let (Some(bon_nr), None) = (query.text("bon_nr"), query.uuid("kasse_id")?) {
        refuse_ambiguous(tx, bon_nr)?;
    }
    Auswahl::of(query)
}

/// Refuses a receipt number that several registers have: the specification promises exactly one receipt per
/// number (D18).
fn refuse_ambiguous(tx: &Tx<'_>, bon_nr: &str) -> Result<()> {
    let kassen = sql::kassen_with(tx, bon_nr)?;
    if kassen.len() < 2 {
        return Ok(());
    }
    let name = |kasse: &Option<Uuid>| kasse.map_or_else(|| "keine kasse_id".to_owned(), |id| id.to_string());
    let names: Vec<_> = kassen.iter().map(name).collect();
    let message = format!(
        "Die Bonnummer haben mehrere Kassen. Bitte kasse_id angeben, eine von: {}.",
        names.join(", ")
    );
    Err(Refusal::field(Code::BonMehrdeutig, "bon_nr", message).into())
}
