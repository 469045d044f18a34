//! Backups that the server makes by itself, once a day.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant as Ticks};

use super::backup::{backup, not_proved};
use crate::db::copy::remove_leftovers;
use crate::db::error::Result;
use crate::db::migrate::broken;
use crate::db::{Clock, log};
use crate::gate::Nightly;
use crate::rules::day::{Day, Instant};

/// How soon a backup that failed is tried again.
const TRY_AGAIN: Duration = Duration::from_secs(600);

/// Looks whether a backup is due, and makes it in a thread of its own.
pub struct Schedule {
    database: PathBuf,
    nightly: Option<Nightly>,
    clock: Clock,
    state: Arc<Mutex<State>>,
}

/// What became of the last backup.
enum State {
    Done,
    Running,
    Failed(Ticks),
}

impl Schedule {
    /// The backups of a database.
    pub fn new(database: &Path, nightly: Option<Nightly>, clock: Clock) -> Schedule {
        Schedule { database: database.to_owned(), nightly, clock, state: Arc::new(Mutex::new(State::Done)) }
    }

    /// Begins the backup of today where its time has come and there is none. A server that was off at
    /// that time makes it when it runs again.
    pub fn look(&self) {
        let Some(nightly) = &self.nightly else { return };
        let now = (self.clock)();
        let target = file_of(&self.database, nightly, now);
        let is_busy = match *lock(&self.state) {
            State::Done => false,
            State::Running => true,
            State::Failed(at) => at.elapsed() < TRY_AGAIN,
        };
        if now.minute_in_berlin() < nightly.minute
            || is_busy
            || target.exists()
            || not_proved(&target).exists()
        {
            return;
        }
        *lock(&self.state) = State::Running;
        let (database, nightly) = (self.database.clone(), nightly.clone());
        let (clock, state) = (Arc::clone(&self.clock), Arc::clone(&self.state));
        let work = move || {
            *lock(&state) = match make(&database, &nightly, &target, &clock) {
                Ok(()) => {
                    tracing::info!("the backup {} was made and proved", target.display());
                    State::Done
                }
                Err(failure) => failed(&failure.to_string()),
            }
        };
        if let Err(error) = std::thread::Builder::new().name("backup".into()).spawn(work) {
            *lock(&self.state) = failed(&error.to_string());
        }
    }
}

fn failed(why: &str) -> State {
    log(&format!("the backup of today was not made: {why}"));
    State::Failed(Ticks::now())
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn make(database: &Path, nightly: &Nightly, target: &Path, clock: &Clock) -> Result<()> {
    // The folder is never created: a subfolder of a disk that is not mounted is not there.
    remove_leftovers(target, &format!("{}-", stem(database)))?;
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
    let prefix = format!("{}-", stem(database));
    let is_ours = |name: &str| {
        let day = name.strip_prefix(&prefix).and_then(|rest| rest.strip_suffix(".db"));
        day.is_some_and(|day| Day::parse_plain(day).is_some())
    };
    let entries =
        fs::read_dir(&nightly.folder).map_err(|error| broken(&nightly.folder, "cannot be read", &error))?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut made: Vec<_> = names.filter(|name| is_ours(name)).map(|name| nightly.folder.join(name)).collect();
    made.sort();
    Ok(made)
}

fn file_of(database: &Path, nightly: &Nightly, now: Instant) -> PathBuf {
    nightly.folder.join(format!("{}-{}.db", stem(database), Day::in_berlin(now)))
}

fn stem(database: &Path) -> String {
    database.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
