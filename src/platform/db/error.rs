//! Classifies SQLite's errors.

use rusqlite::Error;
use rusqlite::ErrorCode::{
    ConstraintViolation, DatabaseBusy, DatabaseCorrupt, DatabaseLocked, DiskFull, NotADatabase,
    OperationInterrupted, SystemIoFailure,
};

use crate::platform::failure::Failure;
use crate::rules::fixed::TooLarge;

/// SQLite's message when the sum of a column does not fit an i64.
const SUM_TOO_LARGE: &str = "integer overflow";

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        match &error {
            Error::SqliteFailure(_, Some(text)) if text == SUM_TOO_LARGE => TooLarge.into(),
            _ => Failure::Sql(error),
        }
    }
}

/// Whether a statement was stopped because it exceeded the step budget of its lane.
pub fn exceeded_budget(failure: &Failure) -> bool {
    matches!(failure, Failure::Sql(error) if error.sqlite_error_code() == Some(OperationInterrupted))
}

/// Whether the file is damaged, or not a database at all.
pub fn is_damage(error: &Error) -> bool {
    matches!(error.sqlite_error_code(), Some(DatabaseCorrupt | NotADatabase))
}

/// Whether the error is transient (a full disk, a busy file, an I/O error): the same statement may succeed
/// later.
pub fn is_passing(error: &Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(DatabaseBusy | DatabaseLocked | DiskFull | OperationInterrupted | SystemIoFailure)
    )
}

/// Whether a commit that failed with this error is certainly undone. The commit is the last page written to
/// the log, so on a full disk it never got there. An error while syncing the log leaves the outcome unknown.
pub fn undid_commit(failure: &Failure) -> bool {
    let Failure::Sql(error) = failure else { return false };
    matches!(error.sqlite_error_code(), Some(DiskFull | DatabaseBusy | ConstraintViolation))
}
