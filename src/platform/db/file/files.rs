//! File operations: names beside a database, permissions, and making a file durable.

use std::fs::{self, File, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::german::in_german;
use super::owner::{give_to_owner_of, owner_of};
use crate::platform::failure::{Failure, Result};

/// The path `<database>-<suffix>`.
pub fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-");
    name.push(suffix);
    name.into()
}

pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Refuses an existing target: nothing is ever overwritten.
pub fn refuse_existing(target: &Path) -> Result<()> {
    if target.exists() {
        return Err(Failure::Broken(format!(
            "{} gibt es schon: einen anderen Namen wählen, oder die Datei wegräumen",
            target.display()
        )));
    }
    Ok(())
}

/// Options for opening a file that, if created, only its owner may access.
pub fn private_options() -> OpenOptions {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has modes"))]
    let mut options = File::options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Creates a file that only its owner may access. Fails if the name is taken, even by a link: somebody else
/// put it there.
pub fn create_private(path: &Path) -> Result<()> {
    let created = private_options().write(true).create_new(true).open(path);
    created.map(drop).map_err(broken(path, "kann nicht angelegt werden"))
}

/// Whether a file is missing or has 0 bytes, as a copy that failed: a database would be begun in it.
pub fn is_blank(path: &Path) -> bool {
    match fs::metadata(path) {
        Ok(metadata) => metadata.is_file() && metadata.len() == 0,
        Err(error) => error.kind() == ErrorKind::NotFound,
    }
}

/// Refuses to begin a database where something of an installation lies: its log would be lost, its keys unknown (D40).
pub fn refuse_traces(database: &Path) -> Result<()> {
    let Some(trace) = trace_of(database).filter(|_| is_blank(database)) else { return Ok(()) };
    let (file, state) = (database.display(), if database.exists() { "ist leer (0 Bytes)" } else { "fehlt" });
    Err(Failure::Broken(format!(
        "die Datenbank {file} {state}, aber daneben liegt {}: Hier war eine Installation, und eine neue machte sie \
         unbrauchbar. Bitte zuerst die Datei der Datenbank zurücklegen, oder mit `partnerd restore SICHERUNG` die \
         letzte Sicherung zurückholen",
        trace.display()
    )))
}

/// Returns a file beside a database that only an installation leaves: its secret, a log with content, a journal of
/// requests, what was kept before an upgrade or a restore.
fn trace_of(database: &Path) -> Option<PathBuf> {
    let (secret, log) = (beside(database, "secret"), beside(database, "wal"));
    if secret.exists() {
        return Some(secret);
    }
    if fs::metadata(&log).is_ok_and(|metadata| metadata.len() > 0) {
        return Some(log);
    }
    let name = database.file_name()?.as_encoded_bytes();
    let entries = fs::read_dir(folder_of(database)).ok()?.filter_map(std::result::Result::ok);
    let is_trace = |file: &PathBuf| {
        let rest = file.file_name().and_then(|file| file.as_encoded_bytes().strip_prefix(name));
        rest.is_some_and(|rest| rest.starts_with(b"-audit-journal-") || rest.starts_with(b"-before-"))
    };
    entries.map(|entry| entry.path()).find(is_trace)
}

/// Creates the database file if it is missing, but not beside a trace of an installation. If root creates it in the service's folder, the file is given
/// to the service user; a user who may not give files away keeps it.
pub fn create_database(path: &Path) -> Result<()> {
    refuse_traces(path)?;
    match private_options().write(true).create_new(true).open(path) {
        Ok(_) => give_to_owner_of(folder_of(path), path).or(Ok(())),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(broken(path, "kann nicht angelegt werden")(error)),
    }
}

/// Removes everybody's access to a file but its owner's: a copy inherits the permissions of the original.
pub fn make_private(path: &Path) -> Result<()> {
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        fs::set_permissions(path, mode).map_err(broken(path, "kann nicht geschützt werden"))?;
    }
    // On Windows the permissions of the folder apply.
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// Gives a file a name that is still free.
pub fn link(part: &Path, target: &Path) -> std::io::Result<()> {
    match fs::hard_link(part, target) {
        // For file systems without hard links (FAT).
        Err(error) if error.kind() != ErrorKind::AlreadyExists => fs::rename(part, target),
        linked => linked.and_then(|()| fs::remove_file(part)),
    }
}

/// Replaces a file, of which the caller keeps a second name, with `part`; durable afterwards.
pub fn replace(part: &Path, target: &Path) -> Result<()> {
    fs::rename(part, target).map_err(broken(target, "kann nicht ersetzt werden"))?;
    sync_folder(target)
}

/// Deletes a database that is not in use, with its side files.
pub fn remove(path: &Path) -> Result<()> {
    let besides = ["wal", "shm", "journal"].map(|ending| beside(path, ending));
    remove_file(path)?;
    besides.iter().try_for_each(|file| remove_file(file))
}

/// Deletes a file; a missing file is no error.
pub fn remove_file(path: &Path) -> Result<()> {
    if_there(fs::remove_file(path)).map_err(broken(path, "kann nicht gelöscht werden"))
}

/// Treats "not found" as success.
pub fn if_there<T>(done: std::io::Result<T>) -> std::io::Result<()> {
    match done {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

pub fn sync(path: &Path) -> Result<()> {
    let file = File::options().read(true).write(true).open(path);
    file.and_then(|file| file.sync_all()).map_err(broken(path, "kann nicht geschrieben werden"))
}

/// Makes the names in a file's folder durable.
pub fn sync_folder(path: &Path) -> Result<()> {
    let folder = folder_of(path);
    // Only Unix can open a folder; elsewhere syncing the file makes its name durable.
    if cfg!(unix) {
        let synced = File::open(folder).and_then(|folder| folder.sync_all());
        synced.map_err(broken(folder, "kann nicht geschrieben werden"))?;
    }
    Ok(())
}

/// Turns a system error on a file into a [`Failure`]; `what` completes a German sentence about the file.
pub fn broken(path: &Path, what: &str) -> impl Fn(std::io::Error) -> Failure + Copy {
    move |error| {
        let why = why(path, &error) + &as_whom(path, &error);
        Failure::Broken(format!("{} {what}: {why}", path.display()))
    }
}

/// The German cause of a system error on a file: the missing folder, if that is the cause.
pub fn why(path: &Path, error: &std::io::Error) -> String {
    let folder = folder_of(path);
    match error.kind() {
        ErrorKind::NotFound if !folder.is_dir() => format!("den Ordner {} gibt es nicht", folder.display()),
        _ => in_german(error),
    }
}

/// A hint to run the command as the file's owner; empty unless permission was denied.
pub fn as_whom(path: &Path, error: &std::io::Error) -> String {
    let owner = owner_of(path).filter(|_| error.kind() == ErrorKind::PermissionDenied);
    owner.map_or_else(String::new, |owner| {
        format!(
            ". Das gehört dem Benutzer {owner}: den Befehl als dieser ausführen, etwa sudo -u {owner} partnerd …"
        )
    })
}

/// Whether somebody removed the write-ahead log of a database. SQLite creates the log before its index and
/// removes it after it, so SQLite itself never leaves an index without a log.
pub fn log_was_removed(database: &Path) -> bool {
    beside(database, "shm").exists() && !beside(database, "wal").exists()
}
