//! What SQLite's errors mean.

use rusqlite::Error;
use rusqlite::ErrorCode::{
    ConstraintViolation, DatabaseBusy, DatabaseCorrupt, DatabaseLocked, DiskFull, NotADatabase,
    OperationInterrupted, SystemIoFailure,
};

use crate::platform::failure::Failure;
use crate::rules::fixed::TooLarge;

/// What SQLite says where the sum of a column is no i64.
const SUM_TOO_LARGE: &str = "integer overflow";

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        match &error {
            Error::SqliteFailure(_, Some(text)) if text == SUM_TOO_LARGE => TooLarge.into(),
            _ => Failure::Sql(error),
        }
    }
}

/// Whether a statement was stopped because it took more steps than its lane allows.
pub fn exceeded_budget(failure: &Failure) -> bool {
    matches!(failure, Failure::Sql(error) if error.sqlite_error_code() == Some(OperationInterrupted))
}

/// The file is not as SQLite wrote it.
pub fn is_damage(error: &Error) -> bool {
    matches!(error.sqlite_error_code(), Some(DatabaseCorrupt | NotADatabase))
}

/// A full disk, a busy file, an I/O error: the same statement may succeed later.
pub fn is_passing(error: &Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(DatabaseBusy | DatabaseLocked | DiskFull | OperationInterrupted | SystemIoFailure)
    )
}

/// Whether a commit that failed with this is surely undone. The commit is the last page that goes to the log:
/// where the disk was full it did not get there. An error when the log is synced comes too late to know.
pub fn undid_commit(failure: &Failure) -> bool {
    let Failure::Sql(error) = failure else { return false };
    matches!(error.sqlite_error_code(), Some(DiskFull | DatabaseBusy | ConstraintViolation))
}
