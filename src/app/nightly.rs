//! Backups that the server makes by itself, once a day.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant as Ticks};

use super::backup::{backup, not_proved};
use crate::db::copy::remove_leftovers;
use crate::db::error::Result;
use crate::db::migrate::broken;
use crate::db::{Clock, log};
use crate::gate::Nightly;
use crate::rules::day::Day;

/// How soon a backup that failed is tried again.
const TRY_AGAIN: Duration = Duration::from_secs(600);

/// Looks whether a backup is due, and makes it in a thread of its own.
pub struct Schedule {
    database: PathBuf,
    nightly: Option<Nightly>,
    clock: Clock,
    making: Option<JoinHandle<()>>,
    last_try: Option<(Day, Ticks)>,
}

impl Schedule {
    /// The backups of a database.
    pub fn new(database: &Path, nightly: Option<Nightly>, clock: Clock) -> Schedule {
        Schedule { database: database.to_owned(), nightly, clock, making: None, last_try: None }
    }

    /// Begins the backup of today where its time has come and there is none. A server that was off at
    /// that time makes it when it runs again.
    pub fn look(&mut self) {
        let Some(nightly) = &self.nightly else { return };
        let (now, today) = ((self.clock)(), Day::in_berlin((self.clock)()));
        let target = file_of(&self.database, nightly, today);
        let is_made = target.exists() || not_proved(&target).exists();
        let is_busy = self.making.as_ref().is_some_and(|thread| !thread.is_finished());
        let is_soon = self.last_try.is_some_and(|(day, at)| day == today && at.elapsed() < TRY_AGAIN);
        if now.minute_in_berlin() < nightly.minute || is_made || is_busy || is_soon {
            return;
        }
        self.last_try = Some((today, Ticks::now()));
        let (database, nightly, clock) = (self.database.clone(), nightly.clone(), Arc::clone(&self.clock));
        let work = move || match make(&database, &nightly, &target, &clock) {
            Ok(()) => tracing::info!("the backup {} was made and proved", target.display()),
            Err(failure) => not_made(&failure.to_string()),
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

fn make(database: &Path, nightly: &Nightly, target: &Path, clock: &Clock) -> Result<()> {
    // The folder is never created: a subfolder of a disk that is not mounted is not there.
    remove_leftovers(&nightly.folder, |name| is_backup_of(database, name))?;
    backup(database, target, clock, |_| {})?;
    // Only what is proved lets an older one go.
    let mut made = made(database, nightly)?;
    made.truncate(made.len().saturating_sub(nightly.keep));
    for old in made {
        if let Err(error) = fs::remove_file(&old) {
            log(&format!("the old backup {} cannot be deleted: {error}", old.display()));
        }
    }
    Ok(())
}

/// The backups that were made, the oldest first.
pub fn made(database: &Path, nightly: &Nightly) -> Result<Vec<PathBuf>> {
    let entries =
        fs::read_dir(&nightly.folder).map_err(|error| broken(&nightly.folder, "cannot be read", &error))?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut made: Vec<_> =
        names.filter(|name| is_backup_of(database, name)).map(|name| nightly.folder.join(name)).collect();
    made.sort();
    Ok(made)
}

fn file_of(database: &Path, nightly: &Nightly, day: Day) -> PathBuf {
    nightly.folder.join(format!("{}-{day}.db", stem(database)))
}

/// Whether a file of this name is what [`file_of`] names on some day.
fn is_backup_of(database: &Path, name: &str) -> bool {
    let rest = name.strip_prefix(&stem(database)).and_then(|rest| rest.strip_prefix('-'));
    rest.and_then(|rest| rest.strip_suffix(".db")).is_some_and(|day| Day::parse_plain(day).is_some())
}

fn stem(database: &Path) -> String {
    database.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
