//! The change that a form asks for, and its result.

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

/// A change to a company's data. The writer executes it like a route's, and it is refused where the route would
/// refuse it.
pub type FirmaChange = Box<dyn Fn(&WriteTx<'_>) -> Result<Done> + Send>;

/// A change outside a company's transaction: to the installation, or to a company as the command line changes it.
pub type InstallationChange = Box<dyn Fn(&Connection) -> Result<Done> + Send>;

/// Work for the password thread, which hashes; returns the change to write.
pub type Hashed = Box<dyn FnOnce() -> Result<InstallationChange> + Send>;

/// Records an e-mail before it is sent.
pub type Begun = Box<dyn Fn(&WriteTx<'_>) -> Result<()> + Send>;

/// An e-mail that a form sends. `begun` records it first; a test mail has none. Then `send` runs on a thread that
/// may wait for a mail server, and returns the change that records the result.
pub struct Outgoing {
    pub begun: Option<Begun>,
    pub send: Box<dyn FnOnce() -> FirmaChange + Send>,
}

/// The step that executes a form and rolls it back, to show what it would do.
pub const TRY: &str = "pruefen";

/// Like [`TRY`], but shows the sheet of the draft.
pub const PREVIEW: &str = "vorschau";

/// The result of a form: the response to the browser, and what the logs record.
pub struct Done {
    pub response: Response,
    /// The interface's answer.
    pub answer: Value,
    /// Sentences that the next page shows: hints, or a confirmation.
    pub notes: Vec<String>,
    /// A new cookie; a blank one deletes it.
    pub cookie: Option<String>,
    pub person: Option<i64>,
    pub subject: Option<Uuid>,
    pub firma: Option<i64>,
    pub event: Option<AdminEvent>,
}

pub enum Response {
    Redirect(String),
    /// Redirects to a form that shows these fields as if they had been typed.
    Refill(String, Vec<(String, String)>),
    /// A page with this title, which is shown only this once.
    Once(&'static str, Markup),
    /// The change was rolled back. Shows the page again, with the answer it would have had, or its refusal.
    Tried(std::result::Result<Value, Box<Refusal>>),
    /// The change was rolled back. Draws the sheet of the draft.
    Sheet(Box<Blatt>),
    /// Starts a job and redirects to the page that shows its progress.
    Job(NewJob),
    /// Restarts the service with this backup restored.
    Restore(Order),
}

/// Executes a change and rolls it back. A refusal goes into the response and does not fail the batch, because
/// everything is undone by then.
pub fn tried(tx: &WriteTx<'_>, work: impl FnOnce() -> Result<Value>) -> Result<Done> {
    tried_with(tx, || Ok(Response::Tried(Ok(work()?))))
}

/// Like [`tried`], for work that chooses its response: the trial's answer, or its sheet.
pub fn tried_with(tx: &WriteTx<'_>, work: impl FnOnce() -> Result<Response>) -> Result<Done> {
    match tx.undone(work) {
        Err(Failure::Refused(refusal)) => Ok(Done::of(Response::Tried(Err(refusal)))),
        tried => tried.map(Done::of),
    }
}

impl Done {
    /// A result without answer, notes or event: the audit log shows only that a form was sent.
    pub fn of(response: Response) -> Done {
        let (answer, notes) = (Value::Null, Vec::new());
        Done { response, answer, notes, cookie: None, person: None, subject: None, firma: None, event: None }
    }

    pub fn to(path: String, note: &str) -> Done {
        Done { notes: vec![note.to_owned()], ..Done::of(Response::Redirect(path)) }
    }

    /// Redirects after saving data of a company. The note says whether anything changed, the event what.
    pub fn saved(changed: Vec<Changed>, to: String) -> Done {
        let note = if changed.is_empty() { "Es war schon so." } else { "Gespeichert." };
        Done { event: changes_of_firma(changed), ..Done::to(to, note) }
    }

    pub fn is_trial(&self) -> bool {
        matches!(self.response, Response::Tried(_) | Response::Sheet(_))
    }
}

/// The messages of an answer's hints.
pub fn sentences(hinweise: &Value) -> impl Iterator<Item = &str> {
    hinweise.as_array().into_iter().flatten().filter_map(|hint| hint["message"].as_str())
}

/// The administration event of changes to a company; `None` if nothing changed.
pub fn changes_of_firma(changed: Vec<Changed>) -> Option<AdminEvent> {
    (!changed.is_empty()).then(|| AdminEvent::new(AdminAction::Geaendert, Art::Firma).changing(changed))
}

/// Refuses a form if the state that its page showed, `sent`, is no longer the current one, `now`.
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
