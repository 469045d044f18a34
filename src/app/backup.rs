//! Backup and restore: a proved copy of a database that is in use, and the way back (P10).

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde::Serialize;

use super::check::check;
use crate::db::Clock;
use crate::db::connection::open_writer;
use crate::db::copy::{copy, put, refuse_existing, remove, sync_folder};
use crate::db::error::{Failure, Result};
use crate::db::lock;
use crate::db::migrate::{beside, broken, check_current, create_private, migrate};
use crate::gate::audit;

/// What a database holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct Content {
    pub file: String,
    pub bytes: u64,
    pub companies: i64,
    pub customers: i64,
    pub documents: i64,
    pub weighings: i64,
    pub receipts: i64,
    pub audit_rows: i64,
}

/// What a restore did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Restored {
    /// What the database holds now.
    #[serde(flatten)]
    pub content: Content,
    /// Where the database from before is, if there was one.
    pub set_aside: Option<PathBuf>,
}

/// Copies a database, beside whatever runs, and proves the copy; `began` is told each step.
pub fn backup(database: &Path, target: &Path, clock: &Clock, began: impl Fn(&str)) -> Result<Content> {
    refuse_existing(target)?;
    let connection = open_writer(database)?;
    began("copying");
    // What is in the journal now and not in the copy later goes into the copy.
    let journal = copy_journal(database, &beside(target, "part"))?;
    let mut content = None;
    let copied = copy(&connection, target, |part| {
        let mut connection = open_writer(part)?;
        audit::catch_up(&mut connection, part, clock.clone())?;
        prove(&mut connection, part, clock, &began)?;
        content = Some(count(&connection, target)?);
        // Into one file, without a log beside it.
        connection.execute_batch("pragma journal_mode = delete")?;
        Ok(())
    });
    journal.iter().for_each(|segment| drop(fs::remove_file(segment)));
    copied?;
    let mut content = content.ok_or_else(|| Failure::Broken("the copy was not counted".to_owned()))?;
    content.bytes = size(target)?;
    Ok(content)
}

/// Puts a backup in the place of a database. No server may run. What was there before is kept
/// beside it; at no moment is there no database.
pub fn restore(database: &Path, backup: &Path, clock: &Clock, began: impl Fn(&str)) -> Result<Restored> {
    let _no_server = lock::without_server(database)?;
    if !backup.is_file() {
        return Err(Failure::Broken(format!("there is no backup {}", backup.display())));
    }
    began("copying");
    let part = beside(database, "restore-part");
    remove(&part)?;
    let prepared = prepare(backup, &part, clock, &began);
    if prepared.is_err() {
        let _ = remove(&part);
    }
    let mut content = prepared?;
    let set_aside = if database.exists() { Some(set_aside(database, clock)?) } else { None };
    put(&part, database)?;
    (content.file, content.bytes) = (database.display().to_string(), size(database)?);
    Ok(Restored { content, set_aside })
}

/// A proved copy of a backup, brought to the schema of this version.
fn prepare(backup: &Path, part: &Path, clock: &Clock, began: &impl Fn(&str)) -> Result<Content> {
    create_private(part)?;
    let mut source = fs::File::open(backup).map_err(|error| broken(backup, "cannot be read", &error))?;
    let mut target = fs::File::options().write(true).open(part);
    let copied = target.as_mut().map_err(|error| broken(part, "cannot be written", error))?;
    std::io::copy(&mut source, copied).map_err(|error| broken(part, "cannot be written", &error))?;
    drop(target);
    let not_ours = |_| Failure::Broken(format!("{} is no backup of partnerd", backup.display()));
    let is_ours = Connection::open(part)?.query_row("select count(*) from installation", [], |_| Ok(()));
    is_ours.map_err(not_ours)?;
    if !check_current(part)? {
        migrate(part, clock())?;
    }
    let mut connection = open_writer(part)?;
    prove(&mut connection, backup, clock, began)?;
    let content = count(&connection, backup)?;
    connection.execute_batch("pragma journal_mode = delete")?;
    drop(connection);
    for lock in ["lock", "migrate-lock"] {
        let _ = fs::remove_file(beside(part, lock));
    }
    Ok(content)
}

/// Gives what is there another name as well; its name of old is free to be taken over.
fn set_aside(database: &Path, clock: &Clock) -> Result<PathBuf> {
    // What is in its log goes into the file; a damaged file is kept as it is, with its log.
    if let Ok(connection) = open_writer(database) {
        let _ = connection.execute_batch("pragma wal_checkpoint(truncate)");
    }
    let instant: String = clock().to_string().chars().filter(char::is_ascii_alphanumeric).collect();
    let aside = beside(database, &format!("before-restore-{instant}"));
    refuse_existing(&aside)?;
    let kept = |error: std::io::Error| broken(&aside, "cannot be created", &error);
    for segment in audit::segments(database)? {
        let name = format!("audit-journal-{segment}");
        fs::rename(beside(database, &name), beside(&aside, &name)).map_err(kept)?;
    }
    for ending in ["wal", "shm"] {
        match fs::rename(beside(database, ending), beside(&aside, ending)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(kept(error)),
            _ => {}
        }
    }
    // Where a file has one name only (FAT), it is copied.
    fs::hard_link(database, &aside).or_else(|_| fs::copy(database, &aside).map(drop)).map_err(kept)?;
    sync_folder(&aside)?;
    Ok(aside)
}

/// Refuses a database in which something is broken.
fn prove(connection: &mut Connection, named: &Path, clock: &Clock, began: &impl Fn(&str)) -> Result<()> {
    let lines = check(connection, clock, began)?;
    match lines.iter().find(|line| line.violations > 0) {
        None => Ok(()),
        Some(line) => Err(Failure::Broken(format!(
            "{} is not whole: {} is broken {} times. It was not used; `partnerd check` says more",
            named.display(),
            line.rule,
            line.violations
        ))),
    }
}

fn count(connection: &Connection, named: &Path) -> Result<Content> {
    let rows = |table: &str| -> Result<i64> {
        Ok(connection.query_row(&format!("select count(*) from {table}"), [], |row| row.get(0))?)
    };
    Ok(Content {
        file: named.display().to_string(),
        bytes: 0,
        companies: rows("tenant")?,
        customers: rows("kunde")?,
        documents: rows("beleg")?,
        weighings: rows("wiegung")?,
        receipts: rows("bon")?,
        audit_rows: rows("audit")?,
    })
}

fn size(path: &Path) -> Result<u64> {
    Ok(fs::metadata(path).map_err(|error| broken(path, "cannot be read", &error))?.len())
}

/// Copies the segments of the audit journal beside another database. One that vanishes meanwhile
/// was taken into the database before the copy of it begins.
fn copy_journal(database: &Path, other: &Path) -> Result<Vec<PathBuf>> {
    let mut copies = Vec::new();
    for segment in audit::segments(database)? {
        let name = format!("audit-journal-{segment}");
        let copy = beside(other, &name);
        match fs::copy(beside(database, &name), &copy) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(broken(&copy, "cannot be written", &error));
            }
            _ => copies.push(copy),
        }
    }
    Ok(copies)
}
