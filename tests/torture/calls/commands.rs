//! Writes of the command line and of a start, while system calls fail.

use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::fault::{Way, each_call};
use super::scenes::{
    BACKUP, DATABASE, elsewhere, is_backed_up, is_imported, is_made, is_restored, is_rolled_over, lay_out,
    mill, names, nothing, old, same, with_backup,
};
use crate::experiment::{Case, Experiment};
use crate::power::oracle;
use crate::power::recording::{Fault, Log};
use crate::process::{Folder, Running};

pub const EXPERIMENT: Experiment = Experiment {
    promise: "P3, P9",
    what: "calls of commands and of a start that failed, or at which they were killed",
    needs: &["cc"],
    seeds: 6,
    case,
    fault: "what was done is taken back",
    control_seeds: 8,
};

/// How long a server may take for the work at its start.
const PATIENCE: Duration = Duration::from_secs(120);

const IMPORT: &[&str] = &["import", "artikel", "artikel.json", "--tenant", "Mühle"];

/// A write by a separate process.
struct Operation {
    name: &'static str,
    scene: fn() -> &'static Folder,
    how: How,
    /// Whether it was done; `None` if only in part.
    is_done: fn(&Folder) -> Option<bool>,
}

enum How {
    Command(&'static [&'static str]),
    /// A command while a server has the database open.
    Beside(&'static [&'static str]),
    /// The start of a server, until the work it begins by itself is done.
    Start,
}

const OPERATIONS: &[Operation] = &[
    Operation { name: "migrate", scene: nothing, how: How::Command(&["migrate"]), is_done: is_made },
    Operation { name: "import", scene: mill, how: How::Command(IMPORT), is_done: is_imported },
    Operation { name: "import beside a server", scene: mill, how: How::Beside(IMPORT), is_done: is_imported },
    Operation { name: "backup", scene: mill, how: How::Command(&["backup", BACKUP]), is_done: is_backed_up },
    Operation {
        name: "backup beside a server",
        scene: mill,
        how: How::Beside(&["backup", BACKUP]),
        is_done: is_backed_up,
    },
    Operation {
        name: "restore",
        scene: with_backup,
        how: How::Command(&["restore", BACKUP]),
        is_done: is_restored,
    },
    Operation {
        name: "restore over another installation",
        scene: elsewhere,
        how: How::Command(&["restore", BACKUP]),
        is_done: is_restored,
    },
    Operation { name: "rollover of the audit log", scene: old, how: How::Start, is_done: is_rolled_over },
];

fn case(case: &mut Case) -> Result<u64, String> {
    each_call(case, OPERATIONS.len(), |operation, way, number| {
        let operation = &OPERATIONS[operation];
        let trial = Trial { operation, way, number };
        let told = |found| format!("{}, {}: {found}", operation.name, way.describe(number));
        trial.run(case.has_fault).map_err(told)
    })
}

struct Trial {
    operation: &'static Operation,
    way: Way,
    number: u64,
}

impl Trial {
    /// Runs it; returns how many calls of the kind it had.
    fn run(&self, is_taken_back: bool) -> Result<u64, String> {
        let folder = same((self.operation.scene)());
        let (was_successful, met) = self.operation.runs(&folder, Some(&self.way.at(self.number)))?;
        if is_taken_back {
            let names = names(&folder);
            names.iter().for_each(|name| std::fs::remove_file(folder.file(name)).unwrap());
            lay_out((self.operation.scene)(), &folder);
        }
        if !was_successful && met < self.number {
            return Err("it failed, and no call did".to_owned());
        }
        self.look(&folder, was_successful)?;
        Ok(met)
    }

    /// Checks that a reported success is stored and everything is whole, and that it can otherwise be repeated.
    fn look(&self, folder: &Folder, was_successful: bool) -> Result<(), String> {
        let is_done = (self.operation.is_done)(folder);
        if was_successful && is_done != Some(true) {
            return Err("it succeeded, and is not there".to_owned());
        }
        if is_done.is_none() {
            return Err("it is done in part".to_owned());
        }
        if (self.operation.scene)().file(DATABASE).exists() {
            oracle::prove(folder)?;
        }
        if is_done == Some(false) {
            let (again, _) = self.operation.runs(folder, None)?;
            if !again || (self.operation.is_done)(folder) != Some(true) {
                return Err("it was not done, and done again it fails".to_owned());
            }
        }
        // A start creates the secret if creating the database did not get that far.
        let key = folder.company("Neu");
        let mut server = folder.serve(&[]);
        let status = server.client(&key).get("/api/v1/laender").status;
        server.signal("TERM");
        if status != 200 || !server.end().0.success() || (self.operation.is_done)(folder) != Some(true) {
            return Err(format!("what follows undoes it, or is answered {status}"));
        }
        oracle::prove(folder)
    }
}

impl Operation {
    /// Runs it; returns whether it reports success, and how many calls of the fault's kind there were.
    fn runs(&self, folder: &Folder, fails: Option<&Fault>) -> Result<(bool, u64), String> {
        let logs = Folder::new();
        let prepared = |arguments: &[&str]| {
            let mut command = folder.command(arguments);
            let log = Log::of(&mut command, folder, &logs);
            fails.iter().for_each(|fault| log.set_fault(fault));
            (command, log)
        };
        match self.how {
            How::Command(arguments) => {
                let (command, log) = prepared(arguments);
                Ok((ends(command)?, log.met()))
            }
            How::Beside(arguments) => {
                let mut server = folder.serve(&[]);
                let (command, log) = prepared(arguments);
                let was_successful = ends(command)?;
                server.kill();
                Ok((was_successful, log.met()))
            }
            How::Start => {
                let (command, log) = prepared(&["serve", "--listen", "127.0.0.1:0"]);
                let has_failed = || fails.is_some_and(|fault| log.met() >= fault.number);
                Ok((self.starts(command, folder, has_failed)?, log.met()))
            }
        }
    }

    /// Starts a server, which reports nothing about this work, so it is never taken for done.
    fn starts(
        &self,
        command: Command,
        folder: &Folder,
        has_failed: impl Fn() -> bool,
    ) -> Result<bool, String> {
        let mut server = match Running::try_start(command, Stdio::piped()) {
            Ok(server) => server,
            Err(output) => return said(&output),
        };
        let until = Instant::now() + PATIENCE;
        while (self.is_done)(folder) != Some(true) && !has_failed() {
            if Instant::now() > until {
                return Err(format!("it is not done in {PATIENCE:?}"));
            }
            sleep(Duration::from_millis(20));
        }
        server.signal("TERM");
        server.end();
        Ok((self.is_done)(folder) == Some(true))
    }
}

fn ends(mut command: Command) -> Result<bool, String> {
    said(&command.output().map_err(|error| error.to_string())?)
}

/// Exit code of a server if nobody knows whether a commit is on the disk.
const OUTCOME_UNKNOWN: i32 = 74;

/// Whether a command succeeded; a panic, or a failure without a message, is a violation.
fn said(output: &std::process::Output) -> Result<bool, String> {
    let said = String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        Some(0) => Ok(true),
        Some(1) if !said.contains("panicked") && said.contains("partnerd: ") => Ok(false),
        Some(OUTCOME_UNKNOWN) | None => Ok(false),
        code => Err(format!("it ended with {code:?}: {said}")),
    }
}
