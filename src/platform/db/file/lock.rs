//! Locks: one server at a time, one migration at a time. Each lock is a file beside the database. The server
//! also locks the database file itself, because a hard link gives the database another name and a lock file
//! can be deleted.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant as Ticks};

use super::files::{beside, broken, create_database, log_was_removed, private_options};
use super::owner::give_to_owner_of;
use crate::platform::db::log;
use crate::platform::failure::{Failure, Result};

/// How long a starting server waits for a command that holds its lock briefly.
const SERVER_LOCK_TIMEOUT: Duration = Duration::from_secs(3);

/// A held lock. Dropping it unlocks explicitly: closing the file alone would leave the lock with a child
/// process that another thread is starting at that moment, until the child runs its program.
pub struct Lock {
    file: File,
    /// The database file, if it is locked itself. It must be closed after all connections to it: closing it
    /// drops SQLite's locks on it in this process.
    database: Option<File>,
}

impl Lock {
    fn of(file: File) -> Lock {
        Lock { file, database: None }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = self.file.unlock();
        let _ = self.database.as_ref().map(File::unlock);
    }
}

/// Waits for its turn and lets one migration run at a time.
pub fn for_migration(database: &Path) -> Result<Lock> {
    let file = open(database, "migrate-lock")?;
    file.lock().map_err(broken(database, "kann nicht gesperrt werden"))?;
    Ok(Lock::of(file))
}

/// Locks servers out during a migration or a restore; refuses if a server is running.
pub fn without_server(database: &Path) -> Result<Lock> {
    let lock = alone(database, Duration::ZERO)?;
    match is_locked(database)? {
        true => Err(served_by_another_name(database)),
        false => Ok(lock),
    }
}

/// Refuses a second server on the same database. Creates a missing database, so that there is a file to lock.
pub fn for_server(database: &Path) -> Result<Lock> {
    let mut lock = alone(database, SERVER_LOCK_TIMEOUT)?;
    if cfg!(unix) {
        let file = resolved(database);
        create_database(&file)?;
        let file = File::open(&file).map_err(broken(database, "kann nicht gelesen werden"))?;
        let is_ours = locked_within(&file, SERVER_LOCK_TIMEOUT);
        match is_ours.map_err(broken(database, "kann nicht gesperrt werden"))? {
            true => lock.database = Some(file),
            false => return Err(served_by_another_name(database)),
        }
    }
    keep_lost_log(database);
    Ok(lock)
}

/// Suffix under which the index of a lost write-ahead log is kept, for `doctor` to find.
pub const LOG_LOST: &str = "wal-lost";

/// If somebody removed the write-ahead log that a killed server or command left behind, reports it and keeps
/// a file as evidence: SQLite would start a new log and notice nothing. The caller must hold the server's
/// lock.
fn keep_lost_log(database: &Path) {
    let database = resolved(database);
    if log_was_removed(&database)
        && let Ok(_alone) = for_exchange(&database)
    {
        log(&lost_log(&database));
        let _ = fs::rename(beside(&database, "shm"), beside(&database, LOG_LOST));
    }
}

/// What to do about a write-ahead log that was removed while nothing was running.
pub fn lost_log(database: &Path) -> String {
    let file = database.display();
    format!(
        "die Datei {file}-wal wurde gelöscht oder verschoben, nachdem partnerd abgestürzt war. Was zuletzt \
         gespeichert wurde, stand nur in ihr und fehlt jetzt, auch wenn die Datenbank sonst heil ist. Gibt es \
         die Datei noch: alles anhalten und zurücklegen. Sonst zeigt `partnerd audit verify --against \
         SICHERUNG`, was seit der Sicherung fehlt; nachtragen, dann {file}-{LOG_LOST} löschen"
    )
}

/// What to do about a write-ahead log that was removed beneath a running server.
pub fn without_log(database: &Path) -> String {
    let file = database.display();
    format!(
        "die Datei {file}-wal wurde gelöscht oder verschoben, während der Server läuft. Die Datenbank ist \
         heil, und er hat noch alles: ihn ordentlich anhalten (Strg-C, oder systemctl stop partnerd), nie \
         abschießen. Dabei schreibt er, was fehlt, in die Datenbank. Danach `partnerd check`, und wieder starten"
    )
}

/// Whether a server has locked the database file itself (flock, which SQLite does not see).
fn is_locked(database: &Path) -> Result<bool> {
    if !cfg!(unix) || !database.exists() {
        return Ok(false);
    }
    let file = File::open(database).map_err(broken(database, "kann nicht gelesen werden"))?;
    let is_locked = file.try_lock_shared().is_err();
    let _ = file.unlock();
    // Kept open until the command ends: closing it would drop the locks of the command's own connections.
    std::mem::forget(file);
    Ok(is_locked)
}

fn served_by_another_name(database: &Path) -> Failure {
    let file = database.display();
    Failure::Broken(format!(
        "{file} wird schon von einem anderen partnerd benutzt, unter einem anderen Namen der Datei (Hardlink), \
         oder jemand hat -lock gelöscht: ihn zuerst anhalten. Wer eine Datenbank unter zwei Namen öffnet, \
         verliert Daten; die Namen zeigt `find / -xdev -samefile '{file}'`"
    ))
}

fn alone(database: &Path, timeout: Duration) -> Result<Lock> {
    let file = open(database, "lock")?;
    if locked_within(&file, timeout).map_err(broken(database, "kann nicht gesperrt werden"))? {
        return Ok(Lock::of(file));
    }
    Err(Failure::Broken(format!(
        "{} wird schon von einem anderen partnerd benutzt: ihn zuerst anhalten, oder mit --db eine andere nennen",
        database.display()
    )))
}

/// Tries to take a lock until the timeout; returns whether it did.
fn locked_within(file: &File, timeout: Duration) -> io::Result<bool> {
    let begun = Ticks::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if begun.elapsed() >= timeout => return Ok(false),
            Err(TryLockError::WouldBlock) => sleep(Duration::from_millis(20)),
        }
    }
}

/// Keeps the file from being exchanged: every command that opens it holds this shared lock. Refuses if a
/// server has the file open under another name, or without the write-ahead log it knows: two processes would
/// write.
pub fn for_use(database: &Path) -> Result<Lock> {
    if is_locked(database)? && open(database, "lock")?.try_lock().is_ok() {
        return Err(served_by_another_name(database));
    }
    if log_was_removed(&resolved(database)) {
        let _no_server = without_server(database).map_err(|_| Failure::Broken(without_log(database)))?;
        keep_lost_log(database);
    }
    let file = open(database, "use-lock")?;
    file.lock_shared().map_err(broken(database, "kann nicht gesperrt werden"))?;
    Ok(Lock::of(file))
}

/// Refuses to exchange a file that a command has open.
pub fn for_exchange(database: &Path) -> Result<Lock> {
    let file = open(database, "use-lock")?;
    match file.try_lock() {
        Ok(()) => Ok(Lock::of(file)),
        Err(_) => Err(Failure::Broken(format!(
            "ein anderer Befehl von partnerd arbeitet mit {}: warten, bis er fertig ist",
            database.display()
        ))),
    }
}

/// The file behind a symbolic link. Side files stand beside that file, so that everybody who opens the
/// database finds the same ones, whatever the name.
pub fn resolved(database: &Path) -> PathBuf {
    let is_link = fs::symlink_metadata(database).is_ok_and(|metadata| metadata.is_symlink());
    let file = is_link.then(|| fs::canonicalize(database).ok()).flatten();
    file.unwrap_or_else(|| database.to_owned())
}

fn open(database: &Path, suffix: &str) -> Result<File> {
    let database = resolved(database);
    let path = beside(&database, suffix);
    let file = private_options().create(true).truncate(false).write(true).open(&path);
    let file = file.map_err(broken(&path, "kann nicht angelegt werden"))?;
    // A command run by root must not lock the service out. A user who may not give files away keeps it.
    let _ = give_to_owner_of(&database, &path);
    Ok(file)
}
