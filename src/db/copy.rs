//! A consistent copy of a database that is in use, made in one step.

use std::fs::{self, File};
use std::path::Path;

use rusqlite::Connection;

use super::error::{Failure, Result};
use super::migrate::{beside, broken, create_private};

/// Copies the database of a connection to a new file, readable for its owner alone. `finish` may
/// change and prove the copy while it has another name; only then, and on the disk, it is there.
pub fn copy(connection: &Connection, target: &Path, finish: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    refuse_existing(target)?;
    let part = beside(target, "part");
    remove(&part)?;
    create_private(&part)?;
    let made = vacuum_into(connection, &part).and_then(|()| finish(&part)).and_then(|()| put(&part, target));
    if made.is_err() {
        let _ = remove(&part);
    }
    made
}

/// Nothing is ever overwritten.
pub fn refuse_existing(target: &Path) -> Result<()> {
    if target.exists() {
        return Err(Failure::Broken(format!(
            "{} is there already: choose another name, or move it away",
            target.display()
        )));
    }
    Ok(())
}

/// Gives a finished file its name; afterwards both are on the disk.
pub fn put(part: &Path, target: &Path) -> Result<()> {
    let file = File::options().read(true).write(true).open(part);
    let synced = file.and_then(|file| file.sync_all());
    synced.map_err(|error| broken(part, "cannot be written", &error))?;
    fs::rename(part, target).map_err(|error| broken(target, "cannot be created", &error))?;
    sync_folder(target)
}

/// Makes the names in the folder of a file durable.
pub fn sync_folder(path: &Path) -> Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    // Only Unix lets a folder be opened; elsewhere names are durable with the file.
    if cfg!(unix) {
        let synced = File::open(folder).and_then(|folder| folder.sync_all());
        synced.map_err(|error| broken(folder, "cannot be written", &error))?;
    }
    Ok(())
}

/// Deletes a database that is not in use, with what belongs to it.
pub fn remove(path: &Path) -> Result<()> {
    for file in [path.to_owned(), beside(path, "wal"), beside(path, "shm"), beside(path, "journal")] {
        match fs::remove_file(&file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(broken(&file, "cannot be deleted", &error));
            }
            _ => {}
        }
    }
    Ok(())
}

fn vacuum_into(connection: &Connection, part: &Path) -> Result<()> {
    let name =
        part.to_str().ok_or_else(|| Failure::Broken(format!("{} is no UTF-8 name", part.display())))?;
    connection.execute("vacuum into ?1", [name])?;
    Ok(())
}
