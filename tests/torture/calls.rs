//! P3 and P9: whatever call of the system fails while something is written, or is the last before a kill, nothing that was
//! answered is lost, nothing is half-written, and what was sent can be sent again.
//!
//! A case is an operation (`calls/operation.rs`), a kind of call, and what becomes of it: it fails with EIO, ENOSPC or
//! EINTR, or the process is killed at it. It is tried at the first such call of the operation, at the second, and so on,
//! until the operation ends without having met it. strace counts the calls of each thread by itself, and is attached to
//! the server once that has verified the key, so that no call of the start is counted.
//!
//! Writes that end short are not among them: strace can only say that a call did what it did not do.

mod operation;

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};

use crate::experiment::{Case, Experiment};
use crate::process::{Answer, Folder};
use operation::{OPERATIONS, Operation, Scene};

pub const EXPERIMENT: Experiment = Experiment {
    promise: "P3, P9",
    what: "calls of the system that failed, or at which it was killed",
    needs: &["strace"],
    seeds: 6,
    case,
    fault: "what was answered is taken back",
    control_seeds: 8,
};

/// Kinds of calls by which files change, as strace names them.
const CALLS: &[&str] = &["pwrite64", "fdatasync,fsync", "ftruncate", "openat", "rename,unlink"];

const KILL: &str = "signal=KILL";

/// What becomes of a call.
const ENDS: &[&str] = &[KILL, "error=EIO", "error=ENOSPC", "error=EINTR"];

/// More calls of a kind than one operation has.
const CALLS_MAX: usize = 400;

fn case(case: &mut Case) -> Result<u64, String> {
    let cases = OPERATIONS.len() * CALLS.len() * ENDS.len();
    // Neighbouring seeds differ in all three: 37 shares no divisor with their number.
    let at = usize::try_from(case.seed).unwrap_or_default() * 37 % cases;
    let operation = &OPERATIONS[at % OPERATIONS.len()];
    let (call, end) = (CALLS[at / OPERATIONS.len() % CALLS.len()], ENDS[at / OPERATIONS.len() / CALLS.len()]);
    let scene = Scene::get();
    for nr in 1..=CALLS_MAX {
        let trial = Trial { scene, operation, call, end, nr };
        let was_met = trial
            .run(case.has_fault)
            .map_err(|found| format!("{}, {call} number {nr}, {end}: {found}", operation.name))?;
        if !was_met {
            return Ok(nr as u64);
        }
    }
    Err(format!("{}: more than {CALLS_MAX} calls of {call}", operation.name))
}

struct Trial<'t> {
    scene: &'t Scene,
    operation: &'t Operation,
    call: &'t str,
    end: &'t str,
    nr: usize,
}

impl Trial<'_> {
    /// Whether the operation had so many calls.
    fn run(&self, is_taken_back: bool) -> Result<bool, String> {
        let folder = self.scene.copy();
        let mut server = folder.serve(&[]);
        let client = server.client(&self.scene.key);
        if client.get("/api/v1/laender").status != 200 {
            return Err("the server did not answer".to_owned());
        }
        let strace =
            Strace::attach(&folder, server.pid(), &format!("{}:{}:when={}", self.call, self.end, self.nr));
        let answer = self.operation.send(self.scene, &client);
        let was_met = strace.ends(&folder, self.end == KILL && answer.is_err());
        server.kill();
        let was_answered = answer.as_ref().is_ok_and(|answer| self.operation.is_done(answer));
        if is_taken_back {
            self.scene.lay_out(&folder);
        }
        self.look(&folder, was_answered)?;
        match (answer, was_met) {
            (Ok(Answer { status: 200..300 | 500.., .. }) | Err(_), true)
            | (Ok(Answer { status: 200..300, .. }), false) => Ok(was_met),
            (answer, _) => Err(format!("the answer was {answer:?}")),
        }
    }

    /// Whether all is whole, what was answered is there, and sending it again leaves it there once.
    fn look(&self, folder: &Folder, was_answered: bool) -> Result<(), String> {
        for proof in [&["check"][..], &["audit", "verify"]] {
            let output = folder.run(proof);
            if !output.status.success() {
                let said = [output.stdout, output.stderr].concat();
                return Err(format!("{proof:?} says {}", String::from_utf8_lossy(&said)));
            }
        }
        let server = folder.serve(&[]);
        let client = server.client(&self.scene.key);
        let before = self.operation.count(self.scene, &client);
        if was_answered && before != 1 {
            return Err(format!("it was answered, and is there {before} times"));
        }
        let again = self.operation.send(self.scene, &client).map_err(|error| error.to_string())?;
        if again.status >= 300 && before == 0 {
            return Err(format!("it was not done, and sent again it is refused: {}", again.body));
        }
        match self.operation.count(self.scene, &client) {
            1 => Ok(()),
            after => Err(format!("there {before} times, and {after} times once it was sent again")),
        }
    }
}

/// strace beside a server whose calls it lets fail.
pub struct Strace(Child);

impl Strace {
    pub fn attach(folder: &Folder, server: u32, inject: &str) -> Strace {
        let calls = inject.split(':').next().unwrap_or_default();
        let mut command = Command::new("strace");
        command.current_dir(folder.path()).args(["-f", "-o", "calls.txt", "-p", &server.to_string()]);
        command.args(["-e", &format!("trace={calls}"), "-e", &format!("inject={inject}")]);
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        // It says so once it has all threads.
        let mut line = String::new();
        let mut said = BufReader::new(child.stderr.take().unwrap());
        said.read_line(&mut line).unwrap();
        assert!(line.contains("attached"), "{line}");
        std::thread::spawn(move || said.read_to_end(&mut Vec::new()));
        Strace(child)
    }

    /// Ends it; whether a call of the server has failed, or killed it.
    pub fn ends(mut self, folder: &Folder, has_killed: bool) -> bool {
        // At the end of what was killed under it strace waits for threads that are gone.
        let signal = if has_killed { "-KILL" } else { "-TERM" };
        assert!(Command::new("kill").args([signal, &self.0.id().to_string()]).status().unwrap().success());
        self.0.wait().unwrap();
        has_killed || std::fs::read_to_string(folder.file("calls.txt")).unwrap().contains("(INJECTED)")
    }
}
