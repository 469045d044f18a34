//! The hand-over of the data of a period to an auditor (D36; AO § 147 (6), Z3).
//!
//! A hand-over is a job: a row that waits until [`crate::operations::z3`] has made its file. `tabellen`
//! defines its content. `schreiben` writes it: `zeile` a row of a CSV, `verzeichnis` index.xml, `bericht` the
//! figures that an auditor can compare, `archiv` the zip.

mod archiv;
mod bericht;
mod model;
mod schreiben;
mod sql;
mod tabelle;
mod tabellen;
mod verzeichnis;
mod zeile;
mod zeitraum;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use uuid::Uuid;

pub use bericht::NICHT_ENTHALTEN;
pub use model::{Ergebnis, Ueberlassung, UeberlassungStand};
pub use schreiben::{Began, open, schreiben};
pub use sql::{end, newest, set_step, waiting, with_old_file};
pub use zeitraum::Zeitraum;

use crate::platform::db::file::files::beside;
use crate::platform::db::tx::Tx;
use crate::platform::failure::{Failure, Result};
use crate::platform::http::call::Call;
use crate::platform::http::reply::Reply;
use crate::platform::http::route::{Access, Route, Write};
use crate::platform::http::shape::Answer;
use crate::rules::error::{Code, Refusal, required};
use crate::rules::scope::Scope;
use model::{NewUeberlassung, UeberlassungAngelegt};

const READ: Access = Access::Scope(Scope::BuchhaltungRead);

const WHAT: &str = "Diese Datenüberlassung";

/// Most hand-overs of a company that wait or are being made.
const WAITING_MAX: usize = 10;

/// Number of files kept for a company: those of its newest hand-overs.
pub const FILES_KEPT: u32 = 3;

pub const ROUTES: &[Route] = &[
    Route::post(
        "/api/v1/z3",
        Scope::BuchhaltungRead,
        "Daten eines Zeitraums für die Betriebsprüfung zusammenstellen (Z3)",
        post,
    )
    .takes::<NewUeberlassung>("DatenueberlassungNeu", &["von", "bis"])
    .gives(&[Answer::created::<UeberlassungAngelegt>()])
    .refuses(&[&[Code::FirmaUnvollstaendig]]),
    Route::get("/api/v1/z3/{id}", READ, "Wie weit eine Datenüberlassung ist", get)
        .gives(&[Answer::ok::<Ueberlassung>()]),
    Route::get("/api/v1/z3/{id}/datei", READ, "Die Datei einer fertigen Datenüberlassung (ZIP)", get_file)
        .gives(&[Answer::other("application/zip").with(&["content-disposition"])]),
];

/// Number of hand-overs requested since the process started, over all services in it.
static ASKED: AtomicU64 = AtomicU64::new(0);

pub fn asked() -> u64 {
    ASKED.load(Ordering::Relaxed)
}

/// Path of the file of a hand-over.
pub fn file_of(database: &Path, id: Uuid) -> PathBuf {
    beside(database, &format!("z3-{id}.zip"))
}

fn post(call: &Call<'_>) -> Result<Write> {
    let (new, hinweise) = call.body::<NewUeberlassung>()?;
    Ok(Box::new(move |tx| {
        let zeitraum = Zeitraum { von: required(new.von, "von")?, bis: required(new.bis, "bis")? };
        zeitraum.check(tx)?;
        if waiting(tx)?.len() >= WAITING_MAX {
            let message = format!(
                "Es warten schon {WAITING_MAX} Datenüberlassungen. Bitte warten, bis eine fertig ist."
            );
            return Err(Refusal::new(Code::NichtVerfuegbar, message).into());
        }
        let id = tx.new_id();
        sql::insert(tx, id, zeitraum, new.mit_belegen.unwrap_or(false))?;
        ASKED.fetch_add(1, Ordering::Relaxed);
        let ueberlassung = found(tx, id)?;
        Ok(Reply::created(&UeberlassungAngelegt { ueberlassung, hinweise: hinweise.clone() })?.about(id))
    }))
}

fn found(tx: &Tx<'_>, id: Uuid) -> Result<Ueberlassung> {
    sql::find(tx, id)?.ok_or_else(|| Failure::not_found(WHAT))
}

fn get(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let ueberlassung = found(tx, call.id(WHAT)?)?;
    Ok(Reply::ok(&ueberlassung)?.about(ueberlassung.id))
}

fn get_file(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let Ueberlassung { id, von, bis, .. } = found(tx, call.id(WHAT)?)?;
    let missing = || {
        let message = format!(
            "Die Datei ist noch nicht fertig oder nicht mehr da: aufgehoben werden die {FILES_KEPT} neuesten. Bitte \
             den Stand ansehen, oder den Zeitraum neu zusammenstellen."
        );
        Refusal::new(Code::NichtGefunden, message)
    };
    let path = tx.database().map(|database| file_of(database, id)).ok_or_else(missing)?;
    let file = std::fs::File::open(path).map_err(|_| missing())?;
    let reply = Reply::download("application/zip", &format!("z3-{von}-{bis}.zip"), file);
    Ok(reply.map_err(|_| missing())?.about(id))
}
