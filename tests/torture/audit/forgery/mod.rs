//! Tampering with the logs: with plain SQL on the database, by somebody who knows how checksums are made and
//! has the program but not the secret; and in the journal files that a killed server left behind.
//!
//! A trial is an alteration of a copy. `audit verify` or `check` must report it; for the journal, the start
//! of the next server reports it, or keeps the damaged file. Alterations that nobody can detect without a
//! comparison are not tried: a journal whose last lines are missing. A database reset to an earlier state is
//! detected by comparison with a backup.

mod sql;

use std::path::PathBuf;
use std::sync::OnceLock;

use partnerd::platform::db::file::connection::open_writer;
use partnerd::platform::gate::audit::Row;

use super::clients::{End, life};
use crate::dice::Dice;
use crate::experiment::{Case, Experiment};
use crate::mills::{Mills, copied};
use crate::process::Folder;
use sql::altered;

pub const EXPERIMENT: Experiment = Experiment {
    promise: "P12",
    what: "alterations of both logs, their heads and seals, the evidence, the journal: each is found",
    needs: &[],
    seeds: 3,
    case,
    fault: "one alteration in three changes nothing, and is not found",
    control_seeds: 2,
};

/// Alterations of the database and of the journal in one seed.
const ALTERATIONS: u64 = 14;
const OF_JOURNAL: u64 = 3;

/// A company after some use: its log has rows of three days, and there is an earlier state of it.
struct Scene {
    folder: Folder,
    /// The same before the last requests.
    before: Folder,
    /// Killed, with rows in its journal.
    killed: Folder,
}

impl Scene {
    fn get() -> &'static Scene {
        static SCENE: OnceLock<Scene> = OnceLock::new();
        SCENE.get_or_init(|| {
            let mills = Mills::get();
            let folder = mills.copy();
            let keys = [mills.own.key.as_str(); 2];
            let database = open_writer(&folder.file("partnerd.db")).unwrap();
            let last: i64 = database.query_row("select max(am) from audit", [], |row| row.get(0)).unwrap();
            for (day, nr) in (1..3).flat_map(|day| (0..5).map(move |nr| (day, nr))) {
                let am = last + day * 86_400_000 + nr;
                let row = Row { am, pfad: format!("/api/v1/{nr}"), status: 401, anzahl: 1, ..Row::default() };
                row.insert(&database).unwrap();
            }
            drop(database);
            let before = copied(&folder);
            life(&folder, keys, &End::Signal("TERM"), 1, 40).unwrap();
            let killed = copied(&folder);
            life(&killed, keys, &End::Signal("KILL"), 2, 60).unwrap();
            Scene { folder, before, killed }
        })
    }
}

fn case(case: &mut Case) -> Result<u64, String> {
    let scene = Scene::get();
    if let Some(said) = said_of(&scene.folder) {
        return Err(format!("nothing was altered, and it says: {said}"));
    }
    for _ in 0..ALTERATIONS {
        let folder = copied(&scene.folder);
        let what = match case.has_fault && case.dice.once_in(3) {
            true => {
                folder.database().execute_batch("update audit set pfad = pfad").unwrap();
                "the paths of all rows as they were".to_owned()
            }
            false => altered(&folder, &mut case.dice),
        };
        said_of(&folder).ok_or_else(|| format!("not found: {what}"))?;
    }
    for _ in 0..OF_JOURNAL {
        let folder = copied(&scene.killed);
        let what = journal_altered(&folder, &mut case.dice);
        let log = folder.log_of_start(&[]);
        let is_kept = files(&folder, "audit-damaged-").next().is_some();
        if !is_kept && !log.contains("are missing") {
            return Err(format!("not found in the journal: {what}"));
        }
    }
    put_back(scene)?;
    Ok(ALTERATIONS + OF_JOURNAL + 1)
}

/// What `audit verify` or `check` reports; `None` if both find nothing.
fn said_of(folder: &Folder) -> Option<String> {
    [&["audit", "verify"][..], &["check"]].iter().find_map(|command| {
        let output = folder.run(command);
        (!output.status.success()).then(|| String::from_utf8_lossy(&output.stderr).into_owned())
    })
}

/// An earlier state is intact by itself; a backup made in between reveals it.
fn put_back(scene: &Scene) -> Result<(), String> {
    let (old, new) = (copied(&scene.before), copied(&scene.folder));
    new.result(&["backup", "b.db"]);
    let backup = new.file("b.db");
    match old.run(&["audit", "verify", "--against", backup.to_str().unwrap()]).status.success() {
        true => Err("not found against a backup: the database was put back to an earlier state".to_owned()),
        false => Ok(()),
    }
}

fn files(folder: &Folder, part: &str) -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let part = part.to_owned();
    entries.filter(move |path| path.to_string_lossy().contains(&part))
}

/// Alters a file of the journal; returns what was done. The end of its last line stays: otherwise the line
/// would look torn by a power cut.
fn journal_altered(folder: &Folder, dice: &mut Dice) -> String {
    let file =
        files(folder, "audit-journal-").max_by_key(|file| std::fs::metadata(file).unwrap().len()).unwrap();
    let mut bytes = std::fs::read(&file).unwrap();
    let mut lines: Vec<Vec<u8>> = bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let (at, other) = (dice.below(lines.len() - 1), lines.len() - 1);
    let what = match dice.below(4) {
        0 => {
            let at = dice.below(bytes.len() - 1);
            bytes[at] ^= 1 << dice.below(8);
            std::fs::write(&file, bytes).unwrap();
            return format!("byte {at} of {}", file.display());
        }
        1 => {
            lines.remove(at);
            "line removed"
        }
        2 => {
            lines.swap(at, other);
            "line swapped with the last"
        }
        _ => {
            let line = lines[at].clone();
            lines.push(line);
            "line doubled at the end"
        }
    };
    std::fs::write(&file, lines.concat()).unwrap();
    format!("{what}: {at} of {}", lines.len())
}
