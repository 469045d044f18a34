//! One server at a time, one migration at a time. Each lock is a file beside the database; the server locks the database
//! itself, too, for a hard link gives it another name, and a lock file can be deleted.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant as Ticks};

use super::files::{beside, broken, create_database, log_was_removed, private_options};
use super::owner::give_to_owner_of;
use crate::platform::db::log;
use crate::platform::failure::{Failure, Result};

/// How long a starting server waits for a command that holds its lock for a moment.
const SERVER_LOCK_TIMEOUT: Duration = Duration::from_secs(3);

/// A held lock. It is given back by name when it is dropped: closing the file alone would leave it
/// with a process that another thread starts at that moment, until that process runs its program.
pub struct Lock {
    file: File,
    /// The database, where it is locked itself. It is closed after all connections to it: closing it drops the locks that
    /// SQLite has on it in this process.
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

/// Lets one migration through at a time; waits for its turn.
pub fn for_migration(database: &Path) -> Result<Lock> {
    let file = open(database, "migrate-lock")?;
    file.lock().map_err(broken(database, "kann nicht gesperrt werden"))?;
    Ok(Lock::of(file))
}

/// Refuses what must not happen beneath a running server: a migration, a restore.
pub fn without_server(database: &Path) -> Result<Lock> {
    let lock = alone(database, Duration::ZERO)?;
    match is_locked(database)? {
        true => Err(served_by_another_name(database)),
        false => Ok(lock),
    }
}

/// Refuses a second server on the same database. A new one is created, so that there is a file to lock.
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

/// What the index of a write-ahead log is kept as whose log somebody removed: what doctor finds.
pub const LOG_LOST: &str = "wal-lost";

/// Where the write-ahead log was removed that a server or a command left which was killed: says so, and keeps a file that
/// tells of it. SQLite would begin a new log and find nothing wrong. The lock of the server must be held.
fn keep_lost_log(database: &Path) {
    let database = resolved(database);
    if log_was_removed(&database)
        && let Ok(_alone) = for_exchange(&database)
    {
        log(&lost_log(&database));
        let _ = fs::rename(beside(&database, "shm"), beside(&database, LOG_LOST));
    }
}

/// What to do about a write-ahead log that was removed while nothing ran.
pub fn lost_log(database: &Path) -> String {
    let file = database.display();
    format!(
        "die Datei {file}-wal wurde gelöscht oder verschoben, nachdem partnerd abgestürzt war. Was zuletzt gespeichert wurde, \
         stand nur in ihr und fehlt jetzt, auch wenn die Datenbank sonst heil ist. Gibt es die Datei noch: alles anhalten und \
         zurücklegen. Sonst zeigt `partnerd audit verify --against SICHERUNG`, was seit der Sicherung fehlt; nachtragen, dann \
         {file}-{LOG_LOST} löschen"
    )
}

/// What to do about a write-ahead log that was removed beneath a running server.
pub fn without_log(database: &Path) -> String {
    let file = database.display();
    format!(
        "die Datei {file}-wal wurde gelöscht oder verschoben, während der Server läuft. Die Datenbank ist heil, und er hat noch \
         alles: ihn ordentlich anhalten (Strg-C, oder systemctl stop partnerd), nie abschießen. Dabei schreibt er, was fehlt, in \
         die Datenbank. Danach `partnerd check`, und wieder starten"
    )
}

/// Whether a server has locked the database itself (flock, which SQLite does not see).
fn is_locked(database: &Path) -> Result<bool> {
    if !cfg!(unix) || !database.exists() {
        return Ok(false);
    }
    let file = File::open(database).map_err(broken(database, "kann nicht gelesen werden"))?;
    let is_locked = file.try_lock_shared().is_err();
    let _ = file.unlock();
    // Until the command ends: to close it would drop the locks of connections that it has.
    std::mem::forget(file);
    Ok(is_locked)
}

fn served_by_another_name(database: &Path) -> Failure {
    let file = database.display();
    Failure::Broken(format!(
        "{file} wird schon von einem anderen partnerd benutzt, unter einem anderen Namen der Datei (Hardlink), oder jemand hat \
         -lock gelöscht: ihn zuerst anhalten. Wer eine Datenbank unter zwei Namen öffnet, verliert Daten; die Namen zeigt \
         `find / -xdev -samefile '{file}'`"
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

/// Takes a lock, or gives up after a while.
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

/// Keeps the file from being exchanged: every command that opens it holds this, as many at a time as there are. Refused
/// where a server has the file open by another name, or without the write-ahead log that it knows: two would write.
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
    let file = file.map_err(broken(&path, "kann nicht angelegt werden"))?;
    // A command of root must not keep the service out. A user who may not give it away has it as before.
    let _ = give_to_owner_of(&database, &path);
    Ok(file)
}
