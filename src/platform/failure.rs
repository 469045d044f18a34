//! Failures: why a piece of work has no result, be it the user's fault or ours.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::papers::blatt::DrawError;
use crate::rules::error::{Checked, Code, Refusal, Refusals};
use crate::rules::fixed::TooLarge;

/// Why a piece of work has no result.
#[derive(Debug)]
pub enum Failure {
    /// The user's fault: answered with a code.
    Refused(Box<Refusal>),
    /// A database error: answered 503 or 500, with details in the log.
    Sql(rusqlite::Error),
    /// Overload: answered 503.
    Busy(String),
    /// The disk failed at the commit, so it is unknown whether something was stored.
    OutcomeUnknown,
    /// Our own fault, a bug or a broken file: answered 500, with details in the log.
    Broken(String),
}

/// A result, or the failure that prevented it.
pub type Result<T> = std::result::Result<T, Failure>;

/// Runs work and turns a panic into a failure.
pub fn unpanicked<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    let panicked = |_| Err(Failure::Broken("a request panicked".into()));
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(panicked)
}

/// Locks shared state, ignoring poisoning: no thread leaves it half changed, even if it panics.
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Failure {
    /// Refuses because a record does not exist (or belongs to another tenant).
    pub fn not_found(what: &str) -> Failure {
        Refusal::new(Code::NichtGefunden, (format_args!("{what} gibt es nicht."), "Bitte die id prüfen."))
            .into()
    }

    /// Prefixes the field of a refusal with `path`; other failures stay unchanged.
    pub fn below(self, path: &str) -> Failure {
        match self {
            Failure::Refused(refusal) => refusal.below(path).into(),
            other => other,
        }
    }
}

/// Separates a refusal from other failures.
pub fn or_refusal<T>(result: Result<T>) -> Result<Checked<T>> {
    match result {
        Ok(value) => Ok(Ok(value)),
        Err(Failure::Refused(refusal)) => Ok(Err(refusal)),
        Err(failure) => Err(failure),
    }
}

/// Collects the refusal of the position at `path`, which the client can correct; any other failure ends the
/// request.
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

/// Our own values can always be written as JSON: a failure is a bug.
impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Failure {
        Failure::Broken(format!("JSON cannot be written: {error}"))
    }
}

/// A document with too many pages is the user's fault; any other drawing error is ours.
impl From<DrawError> for Failure {
    fn from(error: DrawError) -> Failure {
        match error {
            DrawError::TooLong => {
                let message = "Das PDF hätte zu viele Seiten. Bitte die Texte der Positionen kürzen oder den \
                     Beleg teilen.";
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
