//! What a form asks to be done, and what came of it.

use std::sync::Arc;

use maud::Markup;
use rusqlite::Connection;
use serde_json::Value;
use uuid::Uuid;

use super::jobs::{Job, NewJob, Outcome};
use crate::leitstand::operations::restoring::Order;
use crate::papers::blatt::Blatt;
use crate::platform::db::tx::WriteTx;
use crate::platform::failure::{Failure, Result};
use crate::rules::admin_event::{AdminAction, AdminEvent, Art};
use crate::rules::changed::Changed;
use crate::rules::error::{Checked, Code, Refusal};

/// What a form asks to be written, as a route would have it written; refused where that route would refuse it.
pub type FirmaChange = Box<dyn Fn(&WriteTx<'_>) -> Result<Done> + Send>;

/// What a form asks to be written that is no company's.
pub type HouseChange = Box<dyn Fn(&Connection) -> Result<Done> + Send>;

/// What has to be computed on the thread of passwords before it is written.
pub type Hashed = Box<dyn FnOnce() -> Result<HouseChange> + Send>;

/// What is written before an e-mail goes.
pub type Begun = Box<dyn Fn(&WriteTx<'_>) -> Result<()> + Send>;

/// An e-mail that a form asks for: what is written before it goes, nothing where that is none's business, and how it goes,
/// on a thread that may wait for a mail server; what is written then says what became of it.
pub struct Outgoing {
    pub begun: Option<Begun>,
    pub send: Box<dyn FnOnce() -> FirmaChange + Send>,
}

/// The step that carries a form out to see what would come of it; nothing of that is kept.
pub const TRY: &str = "pruefen";

/// The same, to see the sheet of what was typed.
pub const PREVIEW: &str = "vorschau";

#[derive(Default)]
pub struct Done {
    /// What the interface answered.
    pub answer: Value,
    /// Nothing was kept: the page is shown again, with what would have come of it, or why it would be refused.
    pub tried: Option<std::result::Result<Value, Box<Refusal>>>,
    /// The sheet of what was only tried: it is drawn and shown instead of the page.
    pub sheet: Option<Box<Blatt>>,
    pub to: String,
    /// Sentences that are shown there: hints, or that it is done.
    pub notes: Vec<String>,
    /// A new cookie; blank: it goes.
    pub cookie: Option<String>,
    /// What the form there shows, as if it had been typed.
    pub form: Vec<(String, String)>,
    pub person: Option<i64>,
    pub subject: Option<Uuid>,
    pub firma: Option<i64>,
    pub event: Option<AdminEvent>,
    /// A page instead of the way: what is shown only once.
    pub once: Option<(&'static str, Markup)>,
    pub begins: Option<NewJob>,
    /// The service ends, and begins anew with this.
    pub restores: Option<Order>,
}

/// Tries what a form asks for; nothing of it is kept. A refusal is no failure of the batch, for all is undone by then.
pub fn tried(tx: &WriteTx<'_>, work: impl FnOnce() -> Result<Value>) -> Result<Done> {
    tried_with(tx, || Ok((work()?, None)))
}

/// The same, with the sheet of what came of it.
pub fn tried_with(
    tx: &WriteTx<'_>,
    work: impl FnOnce() -> Result<(Value, Option<Box<Blatt>>)>,
) -> Result<Done> {
    let (tried, sheet) = match tx.undone(work) {
        Err(Failure::Refused(refusal)) => (Err(refusal), None),
        tried => tried.map(|(value, sheet)| (Ok(value), sheet))?,
    };
    Ok(Done { tried: Some(tried), sheet, ..Done::default() })
}

impl Done {
    pub fn to(path: String, note: &str) -> Done {
        Done { to: path, notes: vec![note.to_owned()], ..Done::default() }
    }

    /// Data of a company were saved, or were so before: what changed, and the page that says it.
    pub fn saved(changed: Vec<Changed>, to: String) -> Done {
        let note = if changed.is_empty() { "Es war schon so." } else { "Gespeichert." };
        Done { event: changes_of_firma(changed), ..Done::to(to, note) }
    }

    /// Starts a job, and goes to the page that says how far it is.
    pub fn begin(job: NewJob) -> Done {
        Done { to: format!("/leitstand/arbeit/{}", job.id), begins: Some(job), ..Done::default() }
    }
}

/// What the hints of an answer say.
pub fn sentences(hinweise: &Value) -> impl Iterator<Item = &str> {
    hinweise.as_array().into_iter().flatten().filter_map(|hint| hint["message"].as_str())
}

/// What the log says of changes of a company; nothing where there are none.
pub fn changes_of_firma(changed: Vec<Changed>) -> Option<AdminEvent> {
    (!changed.is_empty()).then(|| AdminEvent::new(AdminAction::Geaendert, Art::Firma).changing(changed))
}

/// Refuses a form that was made from another state than the one that is there now.
pub fn check_stand(now: &str, sent: &str) -> Checked<()> {
    if now == sent {
        return Ok(());
    }
    let message =
        "Inzwischen hat jemand anderes etwas geändert. Bitte die Seite neu laden und noch einmal eintragen.";
    Err(Refusal::new(Code::ZwischenzeitlichGeaendert, message))
}

pub fn start_job(
    title: String,
    run: impl Fn(&Job) -> std::result::Result<Outcome, String> + Send + Sync + 'static,
) -> HouseChange {
    let job = NewJob { id: Uuid::now_v7(), title, doing: Arc::new(run) };
    Box::new(move |_| Ok(Done::begin(job.clone())))
}
