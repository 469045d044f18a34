//! P1: a power cut loses no answered write and leaves nothing half-written.
//!
//! A real server works for 16 writers while a preloaded library records each write, truncate, sync and rename
//! (`power/recorder.c`), and each client records the length of that recording when its answer arrived. From
//! the recording, states of the disk are constructed as a power cut would leave them (`power/disk.rs`), and
//! each must contain everything answered before it (`power/oracle.rs`). Each is checked in this process with
//! SQLite; a share of them with `partnerd check` and `partnerd audit verify`, which take as long as ten such
//! checks; and a smaller share by a server that is started on it and sent every document again.
//!
//! A case has two lives: the second server starts on what a power cut left of the first, so recovery is cut
//! off as well. In each, the write-ahead log is moved into the database and emptied meanwhile; in some it
//! grows so long that it starts over, overwriting its old content. The first server drops audit rows of long
//! ago. Between both lives an import, a backup and two restores start on what the first cut left, and are cut
//! off in the same way (`power/commands.rs`).
//!
//! Threads make the server behave differently each time: a seed determines the plan of a case, and a
//! violation keeps the state that shows it.

mod commands;
pub mod disk;
pub mod oracle;
pub mod recording;
pub mod writers;

use std::path::Path;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::dice::Dice;
use crate::experiment::{Case, Experiment};
use crate::process::{Folder, Running};
use disk::{Image, Stored};
use recording::{Log, Recording, is_seldom};
use writers::Answered;

pub const EXPERIMENT: Experiment = Experiment {
    promise: "P1",
    what: "states of the disk after a power cut",
    needs: &["cc"],
    seeds: 2,
    case,
    fault: "the write-ahead log is synced as with synchronous=NORMAL",
    control_seeds: 2,
};

/// States per life of a server.
const STATES: usize = 50;

/// In one of this many states the executable's own checks are run, and a server is started.
const PROVED_EACH: usize = 10;
const REPEATED_EACH: usize = 25;

/// How long an idle server may take to empty its write-ahead log.
const PATIENCE: Duration = Duration::from_secs(120);

fn case(case: &mut Case) -> Result<u64, String> {
    let (base, key) = beginning();
    let mut left = Left { image: base.clone(), answered: Vec::new() };
    let mut states = 0;
    let dice = &mut case.dice;
    let first = Plan { name: "first", is_stopped: dice.once_in(2), is_long: false };
    let second = Plan { name: "second", is_long: dice.once_in(3), is_stopped: dice.once_in(2) };
    for plan in [first, second] {
        let (name, life) = (plan.name, Life::new(&left, key, &plan)?);
        let (more, next) = life.cut_off(case, key).map_err(|found| format!("{name} life, {found}"))?;
        (states, left) = (states + more, next);
        // The fault is in the server's syncs.
        if name == "first" && !case.has_fault {
            states += commands::cut_off(case, &left)?;
        }
    }
    Ok(states)
}

/// A company served long ago, and its key.
pub fn beginning() -> &'static (Image, String) {
    static BEGINNING: OnceLock<(Image, String)> = OnceLock::new();
    BEGINNING.get_or_init(|| {
        let folder = Folder::new();
        let key = writers::mill(&folder);
        (Stored::of(folder.path()).image(), key)
    })
}

/// The state after a power cut, and everything answered before.
struct Left {
    image: Image,
    answered: Vec<Answered>,
}

/// Chosen before anything is done, since the number of random values drawn later depends on the server.
struct Plan {
    name: &'static str,
    /// Its write-ahead log becomes so long that it starts over.
    is_long: bool,
    /// It is told to stop instead of being killed.
    is_stopped: bool,
}

/// The calls of a server to the disk, and its answers.
struct Life {
    recording: Recording,
    answered: Vec<Answered>,
}

impl Life {
    fn new(left: &Left, key: &str, plan: &Plan) -> Result<Life, String> {
        let (folder, logs) = (laid_out(&left.image), Folder::new());
        let base = Stored::of(folder.path());
        let mut command = folder.command(&["serve", "--listen", "127.0.0.1:0"]);
        let log = Log::of(&mut command, &folder, &logs);
        let mut server = Running::start(command);
        let client = server.client(key);
        let mut answered = left.answered.clone();
        let (clock, batch) = (|| log.length(), writers::batch(&client)?);
        let work = |part: &str, is_long| {
            writers::work(&client, &clock, &format!("{}-{part}", plan.name), &batch, is_long).done()
        };
        answered.extend(work("1", plan.is_long)?);
        until_empty(&folder.file("partnerd.db-wal"))?;
        answered.extend(work("2", false)?);
        if oracle::has_old_rows(&folder) {
            return Err("audit rows of long ago were not dropped".to_owned());
        }
        if plan.is_stopped {
            server.signal("TERM");
            server.end();
        } else {
            server.kill();
        }
        Ok(Life { recording: Recording { base, log: log.read() }, answered })
    }

    /// Cuts it off at some instants and checks each state; returns their number, and the last one.
    fn cut_off(&self, case: &mut Case, key: &str) -> Result<(u64, Left), String> {
        let mut left = Left { image: Image::new(), answered: Vec::new() };
        let (instants, mut nr) = (self.instants(&mut case.dice), 0);
        self.recording.cut_off(case, &instants, |image, end| {
            let answered = self.answered.partition_point(|answered| answered.at <= end);
            let answered = &self.answered[..answered];
            look_at(nr, &image, key, answered).map_err(|found| (found, image.clone()))?;
            nr += 1;
            let before = answered.iter().map(|answered| Answered { at: 0, ..answered.clone() });
            left = Left { answered: before.collect(), image };
            Ok(())
        })?;
        Ok((instants.len() as u64, left))
    }

    /// The numbers of records after which it is cut off, in order: anywhere, or just after an answer, or next
    /// to a rare call.
    fn instants(&self, dice: &mut Dice) -> Vec<usize> {
        let records = self.recording.records();
        let seldom: Vec<usize> = (1..=records.len()).filter(|at| is_seldom(&records[at - 1])).collect();
        let instant = |dice: &mut Dice| match dice.below(4) {
            0 => 1 + dice.below(records.len()),
            1 => dice.pick(&seldom).unwrap_or(1) + dice.below(3) - 1,
            _ => {
                let at = dice.pick(&self.answered).map_or(0, |answered| answered.at);
                records.partition_point(|record| record.end < at) + 1
            }
        };
        let mut instants: Vec<usize> = (0..STATES).map(|_| instant(dice).clamp(1, records.len())).collect();
        instants.sort_unstable();
        instants
    }
}

/// Waits until the idle server has emptied its write-ahead log.
fn until_empty(log: &Path) -> Result<(), String> {
    let begun = Instant::now();
    while std::fs::metadata(log).is_ok_and(|log| log.len() > 0) {
        if begun.elapsed() > PATIENCE {
            return Err("the write-ahead log was not emptied".to_owned());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

/// Checks a state; each check gets its own copy, as it changes the files.
fn look_at(nr: usize, image: &Image, key: &str, answered: &[Answered]) -> Result<(), String> {
    oracle::look(&laid_out(image).file("partnerd.db"), answered)?;
    if nr.is_multiple_of(PROVED_EACH) {
        oracle::prove(&laid_out(image))?;
    }
    if nr.is_multiple_of(REPEATED_EACH) {
        let folder = laid_out(image);
        oracle::repeat(&folder, key, answered)?;
        oracle::prove(&folder)?;
    }
    Ok(())
}

pub fn laid_out(image: &Image) -> Folder {
    let folder = Folder::new();
    oracle::lay_out(image, folder.path());
    folder
}
