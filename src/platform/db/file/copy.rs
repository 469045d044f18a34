//! Makes a consistent copy of a database in use, page by page (SQLite's backup API).

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};

use super::files::{beside, broken, create_private, link, refuse_existing, remove, sync, sync_folder};
use crate::platform::failure::{Failure, Result};

/// Pages copied per step: 1 MiB, about a millisecond, during which requests wait.
const PAGES_PER_STEP: i32 = 256;

/// How often a copy may start over. It starts over when another process has written or a large transaction
/// was rolled back.
const BEGINNINGS_MAX: u32 = 20;

/// Consecutive steps that may copy nothing because another process holds a lock: some seconds.
const IDLE_STEPS_MAX: u32 = 2_000;

/// Number of copies this process is making. A restore waits for them: the restarted service must not copy to the
/// same name.
static IN_WORK: AtomicUsize = AtomicUsize::new(0);

struct InWork;

impl Drop for InWork {
    fn drop(&mut self) {
        IN_WORK.fetch_sub(1, Ordering::SeqCst);
    }
}

pub fn is_any_in_work() -> bool {
    IN_WORK.load(Ordering::SeqCst) > 0
}

/// Creates a file readable only by its owner, with the contents written by `fill`. `finish` may change and
/// verify the copy while it still has a temporary name; only then it is synced and gets its final name.
pub fn copy(
    target: &Path,
    fill: impl FnOnce(&Path) -> Result<()>,
    finish: impl FnOnce(&Path) -> Result<()>,
) -> Result<()> {
    IN_WORK.fetch_add(1, Ordering::SeqCst);
    let _in_work = InWork;
    refuse_existing(target)?;
    let part = part_of(target);
    remove(&part)?;
    create_private(&part)?;
    let made = fill(&part).and_then(|()| finish(&part)).and_then(|()| put(&part, target));
    if made.is_err() {
        let _ = remove(&part);
    }
    made
}

/// Fills an empty file with the connection's database in one step, holding one snapshot throughout. Small
/// steps would start over whenever a server writes meanwhile.
pub fn fill_at_once(connection: &Connection, part: &Path) -> Result<()> {
    let mut target = open_target(part)?;
    let backup = Backup::new(connection, &mut target)?;
    for _ in 0..IDLE_STEPS_MAX {
        match backup.step(-1)? {
            StepResult::Done => return Ok(()),
            _ => std::thread::sleep(std::time::Duration::from_millis(1)),
        }
    }
    Err(Failure::Busy("ein anderes Programm hält die Datenbank fest: später wiederholen".to_owned()))
}

/// Opens an empty file to be filled, without syncing: the caller syncs it, and discards it on failure.
pub(in crate::platform::db) fn open_target(part: &Path) -> Result<Connection> {
    let target = Connection::open(part)?;
    target.execute_batch("pragma journal_mode = off; pragma synchronous = off")?;
    Ok(target)
}

/// A copy being made between the transactions of its source connection. Writes of that connection also go
/// into the copy.
pub(in crate::platform::db) struct Pages<'c> {
    backup: Backup<'c, 'c>,
    done: i32,
    beginnings: u32,
    idle_steps: u32,
}

impl<'c> Pages<'c> {
    pub fn new(connection: &'c Connection, target: &'c mut Connection) -> Result<Pages<'c>> {
        let backup = Backup::new(connection, target)?;
        Ok(Pages { backup, done: 0, beginnings: 1, idle_steps: 0 })
    }

    /// Copies some pages; returns whether all are copied. No transaction may be open.
    pub fn step(&mut self) -> Result<bool> {
        match self.backup.step(PAGES_PER_STEP)? {
            StepResult::Done => return Ok(true),
            StepResult::More => self.idle_steps = 0,
            _ => self.idle_steps += 1,
        }
        let progress = self.backup.progress();
        let done = progress.pagecount - progress.remaining;
        if done < self.done {
            self.beginnings += 1;
        }
        self.done = done;
        if self.beginnings > BEGINNINGS_MAX || self.idle_steps > IDLE_STEPS_MAX {
            let why = "andere Programme schreiben immer wieder, daneben ließ sich keine Kopie machen: später \
                 wiederholen";
            return Err(Failure::Busy(why.to_owned()));
        }
        Ok(false)
    }
}

/// The temporary name of a copy in progress; contains the process id, so two processes never share one.
pub fn part_of(target: &Path) -> PathBuf {
    beside(target, &format!("part-{}", std::process::id()))
}

/// Deletes the partial copies that killed processes left in a folder, if `is_ours` accepts the target's name.
/// The caller must know that no such copy is in progress.
pub fn remove_leftovers(folder: &Path, is_ours: impl Fn(&str) -> bool) -> Result<()> {
    let entries = fs::read_dir(folder).map_err(broken(folder, "kann nicht gelesen werden"))?;
    for name in entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()) {
        let Some((target, rest)) = name.rsplit_once("-part-") else { continue };
        if is_ours(target) && rest.starts_with(|c: char| c.is_ascii_digit()) {
            let path = folder.join(&name);
            fs::remove_file(&path).map_err(broken(&path, "kann nicht gelöscht werden"))?;
        }
    }
    Ok(())
}

/// Gives a finished file a name that is still free; file and name are durable afterwards.
fn put(part: &Path, target: &Path) -> Result<()> {
    sync(part)?;
    link(part, target).map_err(broken(target, "kann nicht angelegt werden"))?;
    sync_folder(target)
}
