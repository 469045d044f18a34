//! The existing backups: those of the nights, and those made by hand in the Leitstand.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use uuid::Uuid;

use super::backup::{COPYING, Content, backup_by, not_proved};
use super::check::{CheckLine, check};
use super::nightly::{identity, stem};
use crate::platform::db::Clock;
use crate::platform::db::file::connection::open_to_look;
use crate::platform::db::file::copy::{part_of, remove_leftovers};
use crate::platform::db::file::files::{self, beside, broken, create_private, folder_of};
use crate::platform::db::seals::seal::{self, Secret};
use crate::platform::db::writer::WriterQueue;
use crate::platform::failure::{Failure, Result};
use crate::platform::gate::Nightly;
use crate::rules::day::{Day, Instant};

/// Backups shown at most; other files in the folder do not count.
const BACKUPS_SHOWN_MAX: usize = 10_000;

/// Prefix of the day in the name of a backup made by hand.
const BY_HAND: &str = "von-hand-";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredBackup {
    /// The part of the file name that differs: `2026-11-23` for a nightly backup, `von-hand-2026-11-23-0415`
    /// for one by hand.
    pub id: String,
    pub bytes: u64,
    /// When it was finished: the modification time of the file.
    pub made: Option<Instant>,
    /// It passed the check when it was made; otherwise the check found something broken.
    pub is_proved: bool,
    /// Made in the Leitstand; only a person deletes it.
    pub is_by_hand: bool,
}

/// Returns where the backups of a database go: to the folder of the nightly ones, or beside the database if
/// there is none.
pub fn folder<'p>(database: &'p Path, nightly: Option<&'p Nightly>) -> &'p Path {
    nightly.map_or_else(|| folder_of(database), |nightly| &nightly.folder)
}

/// Returns the backups of a database in a folder, newest first.
pub fn list_backups(database: &Path, folder: &Path) -> Result<Vec<StoredBackup>> {
    let entries = fs::read_dir(folder).map_err(broken(folder, "kann nicht gelesen werden"))?;
    let mut kept: Vec<_> =
        entries.filter_map(|entry| found(database, &entry.ok()?)).take(BACKUPS_SHOWN_MAX).collect();
    kept.sort_by(|one, other| (other.made, &other.id).cmp(&(one.made, &one.id)));
    Ok(kept)
}

fn found(database: &Path, entry: &fs::DirEntry) -> Option<StoredBackup> {
    let name = entry.file_name().into_string().ok()?;
    let rest = name.strip_prefix(&stem(database))?.strip_prefix('-')?;
    let (id, ending) = rest.split_at_checked(rest.find(".db")?)?;
    let is_proved = ending == ".db";
    let is_by_hand = id.strip_prefix(BY_HAND).is_some_and(is_minute);
    let is_ours = (is_by_hand || Day::parse_plain(id).is_some()) && (is_proved || ending == ".db-not-proved");
    let metadata = entry.metadata().ok().filter(|metadata| is_ours && metadata.is_file())?;
    let made = metadata.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    let made = made.and_then(|since| i64::try_from(since.as_millis()).ok()).map(Instant::from_millis);
    Some(StoredBackup { id: id.to_owned(), bytes: metadata.len(), made, is_proved, is_by_hand })
}

/// Whether a text is a day with hour and minute: `2026-11-23-0415`.
fn is_minute(text: &str) -> bool {
    text.rsplit_once('-').is_some_and(|(day, minute)| {
        Day::parse_plain(day).is_some() && minute.len() == 4 && minute.bytes().all(|b| b.is_ascii_digit())
    })
}

fn file(database: &Path, folder: &Path, kept: &StoredBackup) -> PathBuf {
    let file = folder.join(format!("{}-{}.db", stem(database), kept.id));
    if kept.is_proved { file } else { not_proved(&file) }
}

pub fn find(database: &Path, folder: &Path, id: &str) -> Result<Option<(StoredBackup, PathBuf)>> {
    let found = list_backups(database, folder)?.into_iter().find(|kept| kept.id == id);
    let Some(found) = found else { return Ok(None) };
    let file = file(database, folder, &found);
    Ok((identity(&file)? == identity(database)?).then_some((found, file)))
}

pub fn open(file: &Path) -> Result<File> {
    File::open(file).map_err(broken(file, "kann nicht gelesen werden"))
}

pub fn delete(kept: &StoredBackup, file: &Path) -> Result<()> {
    if !kept.is_by_hand {
        return Err(Failure::Broken(format!("{} entstand von selbst und geht von selbst", file.display())));
    }
    files::remove(file)
}

/// Makes a backup by hand and verifies it, while the service answers requests.
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

/// Bytes that must stay free on the disk of the database while a copy of it exists.
const FREE_BYTES_MIN: u64 = 200_000_000;

/// Refuses with a German sentence if a copy of `bytes` would leave too little of the `free` bytes.
fn check_room(bytes: u64, free: u64) -> Result<()> {
    let missing = bytes.saturating_add(FREE_BYTES_MIN).saturating_sub(free);
    if missing == 0 {
        return Ok(());
    }
    let megabytes = missing.div_ceil(1_000_000);
    Err(Failure::Busy(format!(
        "Dafür wird eine Kopie der Datenbank gemacht. Für sie fehlen auf deren Platte {megabytes} MB. Bitte \
         Platz schaffen."
    )))
}

/// Deletes copies that a killed service left behind; no check may be using one.
pub fn remove_copies(database: &Path) -> Result<()> {
    let begins = beside(database, "pruefung-");
    let begins = begins.file_name().unwrap_or_default().to_string_lossy();
    remove_leftovers(folder_of(database), |name| name.starts_with(&*begins))
}

/// Makes a copy of a database with `fill`, passes it to `look` and deletes it afterwards. A check holds one
/// snapshot until it ends; on the database itself the write-ahead log would grow all that time (P7).
pub fn with_copy<T>(
    fill: impl FnOnce(&Path) -> Result<()>,
    database: &Path,
    began: &(impl Fn(&str) -> Result<()> + ?Sized),
    look: impl FnOnce(&Path) -> Result<T>,
) -> Result<T> {
    let bytes = fs::metadata(database).map_err(broken(database, "kann nicht gelesen werden"))?.len();
    let free = fs4::available_space(folder_of(database));
    check_room(bytes, free.map_err(broken(folder_of(database), "kann nicht gelesen werden"))?)?;
    began(COPYING)?;
    let copy = part_of(&beside(database, &format!("pruefung-{}", Uuid::now_v7())));
    create_private(&copy)?;
    let looked = fill(&copy).and_then(|()| look(&copy));
    files::remove(&copy)?;
    looked
}

pub fn prove_running(
    writer: &WriterQueue,
    database: &Path,
    clock: &Clock,
    began: impl Fn(&str) -> Result<()>,
) -> Result<Vec<CheckLine>> {
    with_copy(|copy| writer.copy(copy), database, &began, |copy| prove(copy, database, clock, &began))
}

pub fn prove(
    file: &Path,
    database: &Path,
    clock: &Clock,
    began: impl Fn(&str) -> Result<()>,
) -> Result<Vec<CheckLine>> {
    let secret = Secret::read(database)?;
    let mut connection = open_to_look(file)?;
    seal::install(&connection, secret.as_ref())?;
    check(&mut connection, secret.as_ref(), clock, began)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_made_only_where_some_of_the_disk_stays_free() {
        for (bytes, free, missing) in [
            (0, FREE_BYTES_MIN, None),
            (1_000, FREE_BYTES_MIN + 1_000, None),
            (1_000, FREE_BYTES_MIN + 999, Some("fehlen auf deren Platte 1 MB")),
            (5_000_000_000, 1_000_000_000, Some("fehlen auf deren Platte 4200 MB")),
            (u64::MAX, 1, Some("MB. Bitte Platz schaffen.")),
        ] {
            let said = check_room(bytes, free).err().map(|failure| failure.to_string());
            assert_eq!(said.is_some(), missing.is_some(), "{bytes} {free}: {said:?}");
            assert!(said.unwrap_or_default().contains(missing.unwrap_or_default()), "{bytes} {free}");
        }
    }
}
