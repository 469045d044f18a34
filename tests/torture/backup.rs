//! P10: a backup contains everything answered before it began, which is proved by restoring it.
//!
//! Sixteen writers work, the same as for power cuts (`power/writers.rs`). Meanwhile the command line makes
//! backups one after the other, and the server its nightly one, which is due when it starts. Each backup is
//! restored into a separate folder, verified there, and searched for everything answered; on one of them a
//! server is started and every document sent again. The recorded calls of the server serve as the clock: the
//! length of the recording when a backup began, and when an answer arrived.

use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::experiment::{Case, Experiment};
use crate::power::recording::{Call, Log, records};
use crate::power::writers::{self, Answered};
use crate::power::{beginning, laid_out, oracle};
use crate::process::{Folder, Running};

pub const EXPERIMENT: Experiment = Experiment {
    promise: "P10",
    what: "backups under 16 writers, each restored and proved",
    needs: &["cc"],
    seeds: 2,
    case,
    fault: "the file is copied, without the write-ahead log",
    control_seeds: 2,
};

/// Backups by the command line in a case; fewer if the writers finish earlier.
const BACKUPS: usize = 3;

/// Folder of the server's own backups.
const OF_NIGHTS: &str = "nachts";

/// Length of the recording before the first backup begins: by then the writers are at work.
const BEGUN_BYTES: usize = 1 << 20;

const PATIENCE: Duration = Duration::from_secs(120);

/// A backup, and the length of the recording when it began.
struct Backup {
    name: String,
    begun: usize,
}

fn case(case: &mut Case) -> Result<u64, String> {
    let (base, key) = beginning();
    let (folder, logs) = (laid_out(base), Folder::new());
    std::fs::create_dir(folder.file(OF_NIGHTS)).unwrap();
    folder.write("p.toml", &format!("backup_folder = \"{OF_NIGHTS}\"\nbackup_time = \"00:00\"\n"));
    let mut command = folder.command(&["--config", "p.toml", "serve", "--listen", "127.0.0.1:0"]);
    let log = Log::of(&mut command, &folder, &logs);
    let mut server = Running::start(command);
    let client = server.client(key);
    let (is_copied, batch, clock) = (case.has_fault, writers::batch(&client)?, || log.length());
    let (answered, mut backups) = std::thread::scope(|scope| {
        let working = scope.spawn(|| writers::work(&client, &clock, "P10", &batch, false));
        let backups = beside(&folder, &log, is_copied, || working.is_finished());
        Ok::<_, String>((working.join().unwrap().done()?, backups?))
    })?;
    backups.push(of_the_night(&folder, &log)?);
    server.kill();
    for (nr, backup) in backups.iter().enumerate() {
        let before = answered.partition_point(|answered| answered.at <= backup.begun);
        let answered = &answered[..before];
        restored(&folder, backup, answered, (nr == 0).then_some(key)).map_err(|found| {
            let Backup { name, begun } = backup;
            format!("{name}, which began at {begun} when {before} requests were answered: {found}")
        })?;
    }
    Ok(backups.len() as u64)
}

/// Makes backups by the command line, one after the other while the writers work.
fn beside(
    folder: &Folder,
    log: &Log,
    is_copied: bool,
    is_over: impl Fn() -> bool,
) -> Result<Vec<Backup>, String> {
    while log.length() < BEGUN_BYTES && !is_over() {
        sleep(Duration::from_millis(5));
    }
    let mut backups = Vec::new();
    while backups.len() < BACKUPS && (backups.is_empty() || !is_over()) {
        let backup = Backup { name: format!("b{}.db", backups.len()), begun: log.length() };
        if is_copied {
            std::fs::copy(folder.file("partnerd.db"), folder.file(&backup.name)).unwrap();
        } else {
            let output = folder.run(&["backup", &backup.name]);
            if !output.status.success() {
                return Err(format!("{}: {}", backup.name, String::from_utf8_lossy(&output.stderr)));
            }
        }
        backups.push(backup);
    }
    Ok(backups)
}

/// Waits for the server's own backup of today; it began when its file was created.
fn of_the_night(folder: &Folder, log: &Log) -> Result<Backup, String> {
    let is_one = |path: &Path| path.extension().is_some_and(|ending| ending == "db");
    let until = Instant::now() + PATIENCE;
    loop {
        let entries = std::fs::read_dir(folder.file(OF_NIGHTS)).unwrap();
        let made = entries.map(|entry| entry.unwrap().path()).find(|path| is_one(path));
        if let Some(made) = made {
            let name = format!("{OF_NIGHTS}/{}", made.file_name().unwrap().to_str().unwrap());
            let notes = log.read();
            let creates =
                |call: &Call<'_>| matches!(call, Call::Create { name: part, .. } if part.starts_with(&name));
            let begun = records(&notes).into_iter().find(|record| creates(&record.call));
            let begun = begun.ok_or("the backup of the night was never created")?.end;
            return Ok(Backup { name, begun });
        }
        if Instant::now() > until {
            return Err("the server made no backup of the night".to_owned());
        }
        sleep(Duration::from_millis(20));
    }
}

/// Restores a backup with nothing beside it but the secret, and searches it for everything answered before;
/// if a key is given, also starts a server on it.
fn restored(
    from: &Folder,
    backup: &Backup,
    answered: &[Answered],
    key: Option<&String>,
) -> Result<(), String> {
    let folder = Folder::new();
    std::fs::copy(from.file(&backup.name), folder.file("backup.db")).unwrap();
    std::fs::copy(from.file("partnerd.db-secret"), folder.file("partnerd.db-secret")).unwrap();
    let output = folder.run(&["restore", "backup.db"]);
    if !output.status.success() {
        return Err(format!("it cannot be restored: {}", String::from_utf8_lossy(&output.stderr)));
    }
    oracle::look(&folder.file("partnerd.db"), answered)?;
    oracle::prove(&folder)?;
    key.map_or(Ok(()), |key| oracle::repeat(&folder, key, answered))
}
