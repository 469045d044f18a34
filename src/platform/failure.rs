//! Why a piece of work has no result: the user's reason, or one of ours.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::papers::blatt::DrawError;
use crate::rules::error::{Checked, Code, Refusal, Refusals};
use crate::rules::fixed::TooLarge;

/// Why a piece of work has no result.
#[derive(Debug)]
pub enum Failure {
    /// The user's reason: an answer with a code.
    Refused(Box<Refusal>),
    /// The database's reason: an answer 503 or 500, the details in the log.
    Sql(rusqlite::Error),
    /// Too much to do just now: an answer 503.
    Busy(String),
    /// Nobody knows whether something was stored: the disk failed at the commit.
    OutcomeUnknown,
    /// Our own reason: a bug or a broken file; an answer 500, the details in the log.
    Broken(String),
}

/// A result, or why there is none.
pub type Result<T> = std::result::Result<T, Failure>;

/// What work gives; a panic is a failure of ours.
pub fn unpanicked<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    let panicked = |_| Err(Failure::Broken("a request panicked".into()));
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(panicked)
}

/// Locks what several threads change. It is whole, whichever of them panicked.
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Failure {
    /// A refusal because a record is not there (or is another company's).
    pub fn not_found(what: &str) -> Failure {
        Refusal::new(Code::NichtGefunden, (format_args!("{what} gibt es nicht."), "Bitte die id prüfen."))
            .into()
    }

    /// Names the field of a refusal below `path`; any other failure stays as it is.
    pub fn below(self, path: &str) -> Failure {
        match self {
            Failure::Refused(refusal) => refusal.below(path).into(),
            other => other,
        }
    }
}

/// What work gives, or why it is refused; any other failure stays one.
pub fn or_refusal<T>(result: Result<T>) -> Result<Checked<T>> {
    match result {
        Ok(value) => Ok(Ok(value)),
        Err(Failure::Refused(refusal)) => Ok(Err(refusal)),
        Err(failure) => Err(failure),
    }
}

/// Keeps what is wrong with the position at `path`, if the client can put it right; any other failure ends the request.
pub fn keep_refused<T>(errors: &mut Refusals, result: Result<T>, path: &str) -> Result<Option<T>> {
    match result {
        Err(Failure::Refused(refusal)) => Ok(errors.keep(Err(refusal.below(path)))),
        result => result.map(Some),
    }
}

impl From<Box<Refusal>> for Failure {
    fn from(refusal: Box<Refusal>) -> Failure {
        Failure::Refused(refusal)
    }
}

impl From<TooLarge> for Failure {
    fn from(too_large: TooLarge) -> Failure {
        Failure::Refused(too_large.into())
    }
}

/// Our own values can always be written as JSON: one that cannot is a bug.
impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Failure {
        Failure::Broken(format!("JSON cannot be written: {error}"))
    }
}

/// A sheet that would be too long is the user's matter; what else fails in drawing one is ours.
impl From<DrawError> for Failure {
    fn from(error: DrawError) -> Failure {
        match error {
            DrawError::TooLong => {
                let message = "Das PDF hätte zu viele Seiten. Bitte die Texte der Positionen kürzen oder den Beleg teilen.";
                Refusal::new(Code::KeinPdf, message).into()
            }
            error => Failure::Broken(error.to_string()),
        }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Refused(refusal) => write!(f, "{}: {}", refusal.code.as_str(), refusal.message),
            Failure::Sql(error) => write!(f, "SQLite: {error}"),
            Failure::OutcomeUnknown => f.write_str("the disk failed at the commit"),
            Failure::Busy(text) | Failure::Broken(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for Failure {}
