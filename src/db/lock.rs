//! Lock files beside the database: one server at a time, one migration at a time.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant as Ticks};

use super::files::{beside, broken, private_options};
use super::owner::give_to_owner_of;
use crate::failure::{Failure, Result};

/// How long a starting server waits for a command that holds its lock for a moment.
const SERVER_LOCK_TIMEOUT: Duration = Duration::from_secs(3);

/// A held lock. It is given back by name when it is dropped: closing the file alone would leave it
/// with a process that another thread starts at that moment, until that process runs its program.
pub struct Lock(File);

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

/// Lets one migration through at a time; waits for its turn.
pub fn for_migration(database: &Path) -> Result<Lock> {
    let file = open(database, "migrate-lock")?;
    file.lock().map_err(|error| broken(database, "cannot be locked", &error))?;
    Ok(Lock(file))
}

/// Refuses what must not happen beneath a running server: a migration, a restore.
pub fn without_server(database: &Path) -> Result<Lock> {
    alone(database, Duration::ZERO)
}

/// Refuses a second server on the same database.
pub fn for_server(database: &Path) -> Result<Lock> {
    alone(database, SERVER_LOCK_TIMEOUT)
}

fn alone(database: &Path, timeout: Duration) -> Result<Lock> {
    let file = open(database, "lock")?;
    let begun = Ticks::now();
    while let Err(error) = file.try_lock() {
        if let TryLockError::Error(error) = error {
            return Err(broken(database, "cannot be locked", &error));
        }
        if begun.elapsed() >= timeout {
            return Err(Failure::Broken(format!(
                "another partnerd serves {} already: stop it first, or use another --db",
                database.display()
            )));
        }
        sleep(Duration::from_millis(20));
    }
    Ok(Lock(file))
}

/// Keeps the file from being exchanged: every command that opens it holds this, as many at a time as
/// there are.
pub fn for_use(database: &Path) -> Result<Lock> {
    let file = open(database, "use-lock")?;
    file.lock_shared().map_err(|error| broken(database, "cannot be locked", &error))?;
    Ok(Lock(file))
}

/// Refuses to exchange a file that a command has open.
pub fn for_exchange(database: &Path) -> Result<Lock> {
    let file = open(database, "use-lock")?;
    match file.try_lock() {
        Ok(()) => Ok(Lock(file)),
        Err(_) => Err(Failure::Broken(format!(
            "another partnerd command works on {}: wait until it is done",
            database.display()
        ))),
    }
}

/// The file itself, where a symbolic link leads to it: what stands beside a database stands beside that, so that all
/// who open it by whatever name find the same.
pub fn resolved(database: &Path) -> PathBuf {
    let is_link = fs::symlink_metadata(database).is_ok_and(|metadata| metadata.is_symlink());
    let file = is_link.then(|| fs::canonicalize(database).ok()).flatten();
    file.unwrap_or_else(|| database.to_owned())
}

fn open(database: &Path, suffix: &str) -> Result<File> {
    let database = resolved(database);
    let path = beside(&database, suffix);
    let file = private_options().create(true).truncate(false).write(true).open(&path);
    let file = file.map_err(|error| broken(&path, "cannot be created", &error))?;
    // A command of root must not keep the service out. A user who may not give it away has it as before.
    let _ = give_to_owner_of(&database, &path);
    Ok(file)
}
