//! P3 and P9: whatever call of the system fails while something is written, or is the last before a kill,
//! nothing that was answered is lost, nothing is half-written, and what was sent can be sent again.
//!
//! A case is an operation, a kind of call, and what becomes of it (`calls/fault.rs`): it fails, ends with
//! half of what it should write, or the process is killed at it. A library that is preloaded does that
//! (`power/recorder.c`). The operation is run once whole, so that its calls are counted, and then with one of
//! them failing at a time.
//!
//! Operations are requests and forms (`calls/operation.rs`), and what the command line and a start do
//! (`calls/commands.rs`). For a request calls count from when the server has verified the key.

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
    /// How many calls of the kind the operation had.
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

    /// Whether all is whole, what was answered is there, and sending it again leaves it there once.
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
