//! P3 and P9: whatever system call fails during a write, or is the last one before a kill, nothing that was
//! answered is lost, nothing is half-written, and the request can be sent again.
//!
//! A case is an operation, a kind of call, and a way in which it fails (`calls/fault.rs`): it returns an
//! error, writes only half, or the process is killed at it. A preloaded library does that
//! (`power/recorder.c`). The operation first runs without a fault, so that its calls are counted, and then
//! with one of them failing at a time.
//!
//! Operations are requests and forms (`calls/operation.rs`), and writes of the command line and of a start
//! (`calls/commands.rs`). For a request, calls count from when the server has verified the key.

pub mod browser;
pub mod commands;

pub mod fault;
mod operation;
mod scenes;

use std::fs::File;
use std::process::Stdio;

use crate::experiment::{Case, Experiment};
use crate::power::oracle;
use crate::power::recording::Log;
use crate::process::{Answer, Folder, Running};
use fault::{Way, each_call};
use operation::{OPERATIONS, Operation, Scene, is_done};

pub const EXPERIMENT: Experiment = Experiment {
    promise: "P3, P9",
    what: "calls of requests and forms that failed, or at which it was killed",
    needs: &["cc"],
    seeds: 6,
    case,
    fault: "what was answered is taken back",
    control_seeds: 8,
};

fn case(case: &mut Case) -> Result<u64, String> {
    let scene = Scene::get();
    each_call(case, OPERATIONS.len(), |operation, way, number| {
        let trial = Trial { scene, operation: &OPERATIONS[operation], way, number };
        let name = trial.operation.name;
        trial.run(case.has_fault).map_err(|found| format!("{name}, {}: {found}", way.describe(number)))
    })
}

struct Trial<'t> {
    scene: &'t Scene,
    operation: &'t Operation,
    way: Way,
    number: u64,
}

impl Trial<'_> {
    /// Runs the operation; returns how many calls of the kind it had.
    fn run(&self, is_taken_back: bool) -> Result<u64, String> {
        let (folder, logs) = (self.scene.copy(), Folder::new());
        let mut command = folder.command(&["serve", "--listen", "127.0.0.1:0"]);
        let log = Log::of(&mut command, &folder, &logs);
        let said = logs.file("said.txt");
        let stderr = Stdio::from(File::create(&said).unwrap());
        let mut server = Running::try_start(command, stderr).map_err(|output| format!("{output:?}"))?;
        let ready = self.operation.prepare(self.scene, &server)?;
        log.set_fault(&self.way.at(self.number));
        let answer = ready.send();
        server.kill();
        let met = log.met();
        let said = std::fs::read_to_string(said).unwrap();
        if said.contains("panicked") {
            return Err(format!("a panic: {said}"));
        }
        if is_taken_back {
            self.scene.lay_out(&folder);
        }
        self.look(&folder, answer.as_ref().ok().filter(|answer| is_done(answer)))?;
        match (answer, met >= self.number) {
            (Ok(Answer { status: 200..400 | 503, .. }) | Err(_), true)
            | (Ok(Answer { status: 200..400, .. }), false) => Ok(met),
            (answer, _) => Err(format!("the answer was {answer:?}")),
        }
    }

    /// Checks that everything is whole, that what was answered is there, and that it exists once after
    /// sending it again.
    fn look(&self, folder: &Folder, answered: Option<&Answer>) -> Result<(), String> {
        oracle::prove(folder)?;
        let server = folder.serve(&[]);
        let client = server.client(&self.scene.key);
        let before = self.operation.count(self.scene, &client);
        if answered.is_some() && before != 1 {
            return Err(format!("it was answered, and is there {before} times"));
        }
        if let Some(rows) = answered.map(|answered| oracle::audit_rows(folder, answered)).transpose()?
            && rows != 1
        {
            return Err(format!("its request has {rows} audit rows"));
        }
        let again = self.operation.prepare(self.scene, &server)?.send()?;
        if !is_done(&again) && before == 0 {
            return Err(format!("it was not done, and sent again it is refused: {again:?}"));
        }
        match self.operation.count(self.scene, &client) {
            1 => Ok(()),
            after => Err(format!("there {before} times, and {after} times once it was sent again")),
        }
    }
}
