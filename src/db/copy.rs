//! A consistent copy of a database that is in use, made in one step.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::error::{Failure, Result};
use super::migrate::{beside, broken, create_private};

/// Copies the database of a connection to a new file, readable for its owner alone. `finish` may
/// change and prove the copy while it has another name; only then, and on the disk, it is there.
pub fn copy(connection: &Connection, target: &Path, finish: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    refuse_existing(target)?;
    let part = part_of(target);
    remove(&part)?;
    create_private(&part)?;
    let made = vacuum_into(connection, &part).and_then(|()| finish(&part)).and_then(|()| put(&part, target));
    if made.is_err() {
        let _ = remove(&part);
    }
    made
}

/// The name of a copy while it is made: two processes never share one.
pub fn part_of(target: &Path) -> PathBuf {
    beside(target, &format!("part-{}", std::process::id()))
}

/// Deletes what copies that were killed left in a folder: the parts of files whose name `is_ours`. Only
/// for who knows that no such copy is being made.
pub fn remove_leftovers(folder: &Path, is_ours: impl Fn(&str) -> bool) -> Result<()> {
    let entries = fs::read_dir(folder).map_err(|error| broken(folder, "cannot be read", &error))?;
    for name in entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()) {
        let Some((target, rest)) = name.rsplit_once("-part-") else { continue };
        if is_ours(target) && rest.starts_with(|c: char| c.is_ascii_digit()) {
            let path = folder.join(&name);
            fs::remove_file(&path).map_err(|error| broken(&path, "cannot be deleted", &error))?;
        }
    }
    Ok(())
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

/// Gives a finished file a name that nobody has; afterwards both are on the disk.
fn put(part: &Path, target: &Path) -> Result<()> {
    sync(part)?;
    let failed = |error: std::io::Error| broken(target, "cannot be created", &error);
    match fs::hard_link(part, target) {
        Ok(()) => fs::remove_file(part).map_err(failed)?,
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => return Err(failed(error)),
        // Where a file has one name only (FAT).
        Err(_) => fs::rename(part, target).map_err(failed)?,
    }
    sync_folder(target)
}

/// Puts a file in the place of another one, which has a second name; afterwards it is on the disk.
pub fn replace(part: &Path, target: &Path) -> Result<()> {
    fs::rename(part, target).map_err(|error| broken(target, "cannot be replaced", &error))?;
    sync_folder(target)
}

/// Waits until a file is on the disk.
pub fn sync(path: &Path) -> Result<()> {
    let file = File::options().read(true).write(true).open(path);
    file.and_then(|file| file.sync_all()).map_err(|error| broken(path, "cannot be written", &error))
}

/// Makes the names in the folder of a file durable.
pub fn sync_folder(path: &Path) -> Result<()> {
    let folder = folder_of(path);
    // Only Unix lets a folder be opened; elsewhere names are durable with the file.
    if cfg!(unix) {
        let synced = File::open(folder).and_then(|folder| folder.sync_all());
        synced.map_err(|error| broken(folder, "cannot be written", &error))?;
    }
    Ok(())
}

/// The folder of a file.
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
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
