//! Backups that the server makes by itself, once a day.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant as Ticks};

use super::backup::{backup_by, not_proved};
use crate::platform::db::file::connection::open_to_look;
use crate::platform::db::file::copy::remove_leftovers;
use crate::platform::db::file::files::broken;
use crate::platform::db::writer::WriterQueue;
use crate::platform::db::{Clock, log};
use crate::platform::failure::{Failure, Result};
use crate::platform::gate::Nightly;
use crate::platform::gate::access::key::mac_secret;
use crate::rules::day::Day;

const RETRY_AFTER: Duration = Duration::from_secs(600);

/// SQLite steps between two calls of the progress handler, which gives up reading the identity of a file
/// after `LOOKS_MAX` calls: far more than a partnerd file needs.
const STEPS_PER_LOOK: i32 = 1_000;
const LOOKS_MAX: u32 = 100;

/// Checks whether a backup is due, and makes it in its own thread.
pub struct Schedule {
    writer: WriterQueue,
    database: PathBuf,
    nightly: Option<Nightly>,
    clock: Clock,
    making: Option<JoinHandle<Option<Day>>>,
    made: Option<Day>,
    last_try: Option<(Day, Ticks)>,
}

impl Schedule {
    pub fn new(writer: WriterQueue, database: &Path, nightly: Option<Nightly>, clock: Clock) -> Schedule {
        let database = database.to_owned();
        Schedule { writer, database, nightly, clock, making: None, made: None, last_try: None }
    }

    /// Begins today's backup if its time has come and it does not exist. A server that was off at that time
    /// makes it when it runs again.
    pub fn look(&mut self) {
        let Some(nightly) = &self.nightly else { return };
        let (now, today) = ((self.clock)(), Day::in_berlin((self.clock)()));
        let target = file_of(&self.database, nightly, today);
        if let Some(ended) = self.making.take_if(|thread| thread.is_finished()) {
            let made = ended.join().inspect_err(|_| not_made("a bug: its thread panicked"));
            self.made = made.unwrap_or_default().or(self.made);
        }
        let (is_busy, is_made) = (self.making.is_some(), self.made == Some(today));
        let is_soon = self.last_try.is_some_and(|(day, at)| day == today && at.elapsed() < RETRY_AFTER);
        if now.minute_in_berlin() < nightly.minute || is_made || is_busy || is_soon {
            return;
        }
        self.last_try = Some((today, Ticks::now()));
        let (database, nightly, clock) = (self.database.clone(), nightly.clone(), Arc::clone(&self.clock));
        let writer = self.writer.clone();
        let work = move || match make(&writer, &database, &nightly, &target, &clock) {
            Ok(is_new) => {
                if is_new {
                    tracing::info!("the backup {} was made and proved", target.display());
                }
                Some(today)
            }
            Err(failure) => {
                not_made(&failure.to_string());
                None
            }
        };
        match std::thread::Builder::new().name("backup".into()).spawn(work) {
            Ok(thread) => self.making = Some(thread),
            Err(error) => not_made(&error.to_string()),
        }
    }
}

fn not_made(why: &str) {
    log(&format!("the backup of today was not made: {why}"));
}

fn make(
    writer: &WriterQueue,
    database: &Path,
    nightly: &Nightly,
    target: &Path,
    clock: &Clock,
) -> Result<bool> {
    // The folder is never created: if a disk is not mounted, its subfolder is missing and must stay so. First
    // of all, this call refuses a folder with backups of another database.
    made(database, nightly, unreadable)?;
    if target.exists() || not_proved(target).exists() {
        return Ok(false);
    }
    remove_leftovers(&nightly.folder, |name| is_named_as_ours(database, name))?;
    backup_by(|part| writer.copy(part), database, target, clock, |_| Ok(()))?;
    // Older backups are deleted only after the new one was verified.
    let made = made(database, nightly, unreadable)?;
    let (mut made, ahead) = made.into_iter().partition::<Vec<_>, _>(|file| file.as_path() <= target);
    for file in ahead {
        log(&format!("the backup {} is dated ahead: it is neither counted nor deleted", file.display()));
    }
    made.truncate(made.len().saturating_sub(nightly.keep));
    for old in made {
        if let Err(error) = fs::remove_file(&old) {
            log(&format!("the old backup {} cannot be deleted: {error}", old.display()));
        }
    }
    Ok(true)
}

fn unreadable(file: &Path, failure: &Failure) {
    log(&format!("the backup {} cannot be read: {failure}", file.display()));
}

/// Returns the existing backups of this database, oldest first. Refuses a folder that contains backups of
/// another database with the same name, since nobody could tell them apart. Unreadable files are reported to
/// `unreadable` and neither counted nor deleted.
pub fn made(
    database: &Path,
    nightly: &Nightly,
    mut unreadable: impl FnMut(&Path, &Failure),
) -> Result<Vec<PathBuf>> {
    let entries =
        fs::read_dir(&nightly.folder).map_err(broken(&nightly.folder, "kann nicht gelesen werden"))?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let names = names.filter(|name| is_named_as_ours(database, name)).collect::<Vec<_>>();
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let own = identity(database)?;
    let mut made = Vec::new();
    for name in names {
        let file = nightly.folder.join(name);
        match identity(&file) {
            Ok(identity) if identity == own => made.push(file),
            Ok(_) => {
                return Err(Failure::Broken(format!(
                    "{} ist die Sicherung einer anderen Datenbank: jede Datenbank braucht ihren eigenen backup_folder",
                    file.display()
                )));
            }
            Err(failure) => unreadable(&file, &failure),
        }
    }
    made.sort();
    Ok(made)
}

/// Returns bytes that a database shares with its backups and with no other database: the secret of its keys.
pub(super) fn identity(database: &Path) -> Result<Vec<u8>> {
    let connection = open_to_look(database)?;
    // The file may come from anybody, and a crafted view may run for ever.
    let mut looks = LOOKS_MAX;
    connection.progress_handler(
        STEPS_PER_LOOK,
        Some(move || {
            looks -= 1;
            looks == 0
        }),
    )?;
    let is_table = "select 1 from sqlite_schema where type = 'table' and name = 'installation'";
    match connection.prepare(is_table)?.exists([])? {
        true => mac_secret(&connection),
        false => Err(Failure::Broken("keine Datenbank von partnerd".to_owned())),
    }
}

fn file_of(database: &Path, nightly: &Nightly, day: Day) -> PathBuf {
    nightly.folder.join(format!("{}-{day}.db", stem(database)))
}

/// Whether [`file_of`] gives this name to the backup of some day.
fn is_named_as_ours(database: &Path, name: &str) -> bool {
    let rest = name.strip_prefix(&stem(database)).and_then(|rest| rest.strip_prefix('-'));
    rest.and_then(|rest| rest.strip_suffix(".db")).is_some_and(|day| Day::parse_plain(day).is_some())
}

pub(super) fn stem(database: &Path) -> String {
    database.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
