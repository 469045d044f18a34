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
pub type InstallationChange = Box<dyn Fn(&Connection) -> Result<Done> + Send>;

/// What has to be computed on the thread of passwords before it is written.
pub type Hashed = Box<dyn FnOnce() -> Result<InstallationChange> + Send>;

/// What is written before an e-mail goes.
pub type Begun = Box<dyn Fn(&WriteTx<'_>) -> Result<()> + Send>;

/// An e-mail that a form asks for: what is written before it goes, nothing where that is none's business, and
/// how it goes, on a thread that may wait for a mail server; what is written then says what became of it.
pub struct Outgoing {
    pub begun: Option<Begun>,
    pub send: Box<dyn FnOnce() -> FirmaChange + Send>,
}

/// The step that carries a form out to see what would come of it; nothing of that is kept.
pub const TRY: &str = "pruefen";

/// The same, to see the sheet of what was typed.
pub const PREVIEW: &str = "vorschau";

/// What came of a form: what the browser gets, and what the logs say.
pub struct Done {
    pub response: Response,
    /// What the interface answered.
    pub answer: Value,
    /// Sentences that the next page shows: hints, or that it is done.
    pub notes: Vec<String>,
    /// A new cookie; blank: it goes.
    pub cookie: Option<String>,
    pub person: Option<i64>,
    pub subject: Option<Uuid>,
    pub firma: Option<i64>,
    pub event: Option<AdminEvent>,
}

pub enum Response {
    Redirect(String),
    /// The same, to a form that shows these fields as if they had been typed.
    Refill(String, Vec<(String, String)>),
    /// A page with this title, which is shown only this once.
    Once(&'static str, Markup),
    /// Nothing was kept: the page is shown again, with what would have come of it, or why it would be refused.
    Tried(std::result::Result<Value, Box<Refusal>>),
    /// Nothing was kept: the sheet of what was tried is drawn.
    Sheet(Box<Blatt>),
    /// Starts a job, and leads to the page that says how far it is.
    Job(NewJob),
    /// The service ends, and begins anew with this.
    Restore(Order),
}

/// Tries what a form asks for; nothing of it is kept. A refusal is no failure of the batch, for all is undone by then.
pub fn tried(tx: &WriteTx<'_>, work: impl FnOnce() -> Result<Value>) -> Result<Done> {
    tried_with(tx, || Ok(Response::Tried(Ok(work()?))))
}

/// The same, where the sheet of what came of it may be shown instead.
pub fn tried_with(tx: &WriteTx<'_>, work: impl FnOnce() -> Result<Response>) -> Result<Done> {
    match tx.undone(work) {
        Err(Failure::Refused(refusal)) => Ok(Done::of(Response::Tried(Err(refusal)))),
        tried => tried.map(Done::of),
    }
}

impl Done {
    /// Of this the logs say nothing but that there was a form.
    pub fn of(response: Response) -> Done {
        let (answer, notes) = (Value::Null, Vec::new());
        Done { response, answer, notes, cookie: None, person: None, subject: None, firma: None, event: None }
    }

    pub fn to(path: String, note: &str) -> Done {
        Done { notes: vec![note.to_owned()], ..Done::of(Response::Redirect(path)) }
    }

    /// Data of a company were saved, or were so before: what changed, and the page that says it.
    pub fn saved(changed: Vec<Changed>, to: String) -> Done {
        let note = if changed.is_empty() { "Es war schon so." } else { "Gespeichert." };
        Done { event: changes_of_firma(changed), ..Done::to(to, note) }
    }

    pub fn is_trial(&self) -> bool {
        matches!(self.response, Response::Tried(_) | Response::Sheet(_))
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
) -> InstallationChange {
    let job = NewJob { id: Uuid::now_v7(), title, doing: Arc::new(run) };
    Box::new(move |_| Ok(Done::of(Response::Job(job.clone()))))
}
