//! The backups that are there: those of nights, and those that somebody made by hand on the page for people.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::backup::{Content, backup_by, not_proved};
use super::check::{Line, check};
use super::nightly::{identity, stem};
use crate::db::connection::open_to_look;
use crate::db::files::{broken, folder_of};
use crate::db::seal::{self, Secret};
use crate::db::writer::WriterQueue;
use crate::db::{Clock, files};
use crate::failure::{Failure, Result};
use crate::gate::Nightly;
use crate::rules::day::{Day, Instant};

/// Files of a folder that are looked at, at most.
const FILES: usize = 10_000;

/// What the name of a backup that was made by hand has before its day.
const BY_HAND: &str = "von-hand-";

/// A backup that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// What its name has of its own: `2026-11-23` of a night, `von-hand-2026-11-23-0415`.
    pub id: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// When it was finished, by the clock of the disk.
    pub made: Option<Instant>,
    /// It was proved when it was made; otherwise something in it was broken.
    pub is_proved: bool,
    /// Somebody made it on the page; it goes only when somebody deletes it.
    pub is_by_hand: bool,
}

/// Where backups of a database go: the folder for those of nights, or, where there is none, beside the database.
pub fn folder<'p>(database: &'p Path, nightly: Option<&'p Nightly>) -> &'p Path {
    nightly.map_or_else(|| folder_of(database), |nightly| &nightly.folder)
}

/// The backups of a database in a folder, the newest first.
pub fn kept(database: &Path, folder: &Path) -> Result<Vec<Kept>> {
    let entries = fs::read_dir(folder).map_err(|error| broken(folder, "cannot be read", &error))?;
    let mut kept: Vec<_> = entries.take(FILES).filter_map(|entry| found(database, &entry.ok()?)).collect();
    kept.sort_by(|one, other| (other.made, &other.id).cmp(&(one.made, &one.id)));
    Ok(kept)
}

fn found(database: &Path, entry: &fs::DirEntry) -> Option<Kept> {
    let name = entry.file_name().into_string().ok()?;
    let rest = name.strip_prefix(&stem(database))?.strip_prefix('-')?;
    let (id, ending) = rest.split_at_checked(rest.find(".db")?)?;
    let is_proved = ending == ".db";
    let is_by_hand = id.strip_prefix(BY_HAND).is_some_and(is_minute);
    let is_ours = (is_by_hand || Day::parse_plain(id).is_some()) && (is_proved || ending == ".db-not-proved");
    let metadata = entry.metadata().ok().filter(|metadata| is_ours && metadata.is_file())?;
    let made = metadata.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    let made = made.and_then(|since| i64::try_from(since.as_millis()).ok()).map(Instant::from_millis);
    Some(Kept { id: id.to_owned(), bytes: metadata.len(), made, is_proved, is_by_hand })
}

/// Whether a text is a day and a minute of it: `2026-11-23-0415`.
fn is_minute(text: &str) -> bool {
    text.rsplit_once('-').is_some_and(|(day, minute)| {
        Day::parse_plain(day).is_some() && minute.len() == 4 && minute.bytes().all(|b| b.is_ascii_digit())
    })
}

/// The file of a backup of a database.
fn file(database: &Path, folder: &Path, kept: &Kept) -> PathBuf {
    let file = folder.join(format!("{}-{}.db", stem(database), kept.id));
    if kept.is_proved { file } else { not_proved(&file) }
}

/// The backup with this id, if it is one of this database.
pub fn find(database: &Path, folder: &Path, id: &str) -> Result<Option<(Kept, PathBuf)>> {
    let found = kept(database, folder)?.into_iter().find(|kept| kept.id == id);
    let Some(found) = found else { return Ok(None) };
    let file = file(database, folder, &found);
    Ok((identity(&file)? == identity(database)?).then_some((found, file)))
}

/// Opens a backup to be read as it is.
pub fn open(file: &Path) -> Result<File> {
    File::open(file).map_err(|error| broken(file, "cannot be read", &error))
}

/// Deletes a backup that was made by hand.
pub fn delete(kept: &Kept, file: &Path) -> Result<()> {
    if !kept.is_by_hand {
        return Err(Failure::Broken(format!("{} was made by itself and goes by itself", file.display())));
    }
    files::remove(file)
}

/// Makes a backup by hand, beside the requests of a running service, and proves it.
pub fn make(
    writer: &WriterQueue,
    database: &Path,
    folder: &Path,
    clock: &Clock,
    began: impl Fn(&str) -> Result<()>,
) -> Result<Content> {
    let now = clock();
    let minute = now.minute_in_berlin();
    let id = format!("{BY_HAND}{}-{:02}{:02}", Day::in_berlin(now), minute / 60, minute % 60);
    let target = folder.join(format!("{}-{id}.db", stem(database)));
    backup_by(|part| writer.copy(part), database, &target, clock, began)
}

/// Proves a backup, or the database itself.
pub fn prove(
    file: &Path,
    database: &Path,
    clock: &Clock,
    began: impl Fn(&str) -> Result<()>,
) -> Result<Vec<Line>> {
    let secret = Secret::read(database)?;
    let mut connection = open_to_look(file)?;
    seal::install(&connection, secret.as_ref())?;
    check(&mut connection, secret.as_ref(), clock, began)
}
