//! P2 and P24: a server that ends while 16 clients write and 4 read. Killed, or told to stop, it loses
//! nothing that it answered, stores nothing twice, and leaves no gap in the numbers.
//!
//! A case consists of some runs of a server on one folder. Each ends at an answer: the clients count them, and the one
//! that gets the randomly chosen one ends the server while the others wait for theirs. Afterwards everything answered
//! in all runs is searched for (`power/oracle.rs`); after some of them only once another run has begun on what was
//! left, because the check moves in the journal of a killed server, like a starting server does.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use crate::experiment::{Case, Experiment};
use crate::power::oracle;
use crate::power::writers::{self, Answered, Promise, Stopped, Work};
use crate::process::{Client, Folder, Running};

pub const KILLS: Experiment = Experiment {
    promise: "P2",
    what: "kills at an answer, beside 16 writers and 4 readers",
    needs: &[],
    seeds: 2,
    case: kills,
    fault: "the database is put back to before the last kill",
    control_seeds: 1,
};

pub const STOPS: Experiment = Experiment {
    promise: "P24",
    what: "stops by SIGTERM at an answer, beside 16 writers and 4 readers",
    needs: &[],
    seeds: 2,
    case: stops,
    fault: "it is killed in place of told to stop",
    control_seeds: 1,
};

/// Runs of a case: kills, and stops, each of which takes longer.
const KILLED: usize = 3;
const STOPPED: usize = 2;

/// A run ends at a random answer up to this one: in a run of P1 as many clients get some 400.
const ANSWERS_MAX: usize = 500;

const READERS: usize = 4;

/// Lists that read what the writers write.
const LISTS: &[&str] = &["belege?limit=50", "kunden?suche=kunde&limit=20", "chargen", "laender"];

fn kills(case: &mut Case) -> Result<u64, String> {
    let (mut folder, mut answered) = (writers::beginning().0.copy(), Vec::new());
    for nr in 0..KILLED {
        let before = folder.copy();
        let life = Life::of(case, &folder, nr, &[]);
        let what = format!("life {nr}, killed at answer {}", life.ends_at);
        let all = life.run(|server| server.signal("KILL")).map_err(|found| format!("{what}: {found}"))?.0;
        answered.extend(all);
        if case.has_fault && nr == KILLED - 1 {
            folder = before;
        }
        if nr == KILLED - 1 || case.dice.once_in(2) {
            whole(&folder, &answered).map_err(|found| format!("{what}: {found}"))?;
        }
    }
    repeated(&folder, &answered)?;
    Ok(KILLED as u64)
}

fn stops(case: &mut Case) -> Result<u64, String> {
    let (folder, mut answered) = (writers::beginning().0.copy(), Vec::new());
    for nr in 0..STOPPED {
        // D19: 503 while it stops.
        let life = Life::of(case, &folder, nr, &[503]);
        let what = format!("life {nr}, told to stop at answer {}", life.ends_at);
        let (signal, second) = (if case.has_fault { "KILL" } else { "TERM" }, Mutex::new(Ok(())));
        let ends = |server: &Running| {
            // The refusal takes some seconds, for which one run of a case has time.
            if nr == 0 {
                *second.lock().unwrap() = refused_beside(&folder);
            }
            server.signal(signal);
        };
        let stopped = life.run(ends).and_then(|(all, mut server)| {
            answered.extend(all);
            ended_well(&folder, &mut server)?;
            whole(&folder, &answered)
        });
        second.into_inner().unwrap().and(stopped).map_err(|found| format!("{what}: {found}"))?;
    }
    repeated(&folder, &answered)?;
    Ok(STOPPED as u64)
}

/// A run of a server until it ends.
struct Life<'l> {
    folder: &'l Folder,
    nr: usize,
    /// The answer at which it ends.
    ends_at: usize,
    /// Statuses of refusals allowed while it ends.
    refuses: &'static [u16],
}

impl Life<'_> {
    fn of<'l>(case: &mut Case, folder: &'l Folder, nr: usize, refuses: &'static [u16]) -> Life<'l> {
        Life { folder, nr, ends_at: 1 + case.dice.below(ANSWERS_MAX), refuses }
    }

    /// Lets clients work until `ends` has ended the server; returns their answers.
    fn run(&self, ends: impl Fn(&Running) + Sync) -> Result<(Vec<Answered>, Running), String> {
        let server = self.folder.serve(&[]);
        let client = server.client(&writers::beginning().1);
        let (batch, answers) = (writers::batch(&client)?, AtomicUsize::new(0));
        let clock = || {
            let at = answers.fetch_add(1, Ordering::SeqCst) + 1;
            if at == self.ends_at {
                ends(&server);
            }
            at
        };
        let mut all = Work { answered: Vec::new(), stopped: Vec::new() };
        std::thread::scope(|scope| {
            let read = |at: usize| read(&client, LISTS[at % LISTS.len()], &clock);
            let readers: Vec<_> = (0..READERS).map(|at| scope.spawn(move || read(at))).collect();
            let mut works = self.write(&client, &batch, &clock);
            works.extend(readers.into_iter().map(|reader| reader.join().unwrap()));
            for work in works {
                all.answered.extend(work.answered);
                all.stopped.extend(work.stopped);
            }
        });
        let is_fault =
            |stopped: &&Stopped| stopped.status.is_some_and(|status| !self.refuses.contains(&status));
        let (given, fault) = (answers.into_inner(), all.stopped.iter().find(is_fault));
        match fault {
            Some(stopped) => Err(stopped.why.clone()),
            None if given < self.ends_at => Err(format!("it ended by itself after {given} answers")),
            None => Ok((all.answered, server)),
        }
    }

    /// Writes repeatedly until the server is gone.
    fn write(&self, client: &Client, batch: &Value, clock: writers::Clock<'_>) -> Vec<Work> {
        let mut works: Vec<Work> = Vec::new();
        while works.last().is_none_or(|work| work.stopped.is_empty()) {
            let name = format!("{}-{}", self.nr, works.len());
            works.push(writers::work(client, clock, &name, batch, false));
        }
        works
    }
}

/// Reads a list repeatedly until the server is gone.
fn read(client: &Client, list: &str, clock: writers::Clock<'_>) -> Work {
    let mut work = Work { answered: Vec::new(), stopped: Vec::new() };
    while work.stopped.is_empty() {
        match client.send("GET", &format!("/api/v1/{list}"), None) {
            Ok(answer) if answer.status == 200 => {
                let (at, request_id) = (clock(), answer.request_id);
                work.answered.push(Answered { at, request_id, promise: Promise::Liste });
            }
            Ok(answer) => {
                let why = format!("GET {list}: {} {}", answer.status, answer.body);
                work.stopped.push(Stopped { status: Some(answer.status), why });
            }
            Err(error) => work.stopped.push(Stopped { status: None, why: error.to_string() }),
        }
    }
    work
}

/// Checks that a second server on the folder is refused.
fn refused_beside(folder: &Folder) -> Result<(), String> {
    let mut command = folder.command(&["serve", "--listen", "127.0.0.1:0"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    if !line.is_empty() {
        let _ = child.kill();
    }
    match (child.wait().unwrap().code(), line.as_str()) {
        (Some(1), "") => Ok(()),
        (code, line) => Err(format!("a second server was not refused: exit code {code:?}, {line:?}")),
    }
}

/// Checks that a server ended by itself, with everything in one file.
fn ended_well(folder: &Folder, server: &mut Running) -> Result<(), String> {
    let (status, rest) = server.end();
    if !status.success() || !rest.is_empty() {
        return Err(format!("it ended with {status} and said {rest:?}"));
    }
    let left = ["partnerd.db-wal", "partnerd.db-shm"].into_iter().find(|name| folder.file(name).exists());
    left.map_or(Ok(()), |name| Err(format!("{name} was left behind")))
}

/// Checks that everything answered exists once, and everything is whole. The integrity checks come first:
/// they move in the journal of a killed server.
fn whole(folder: &Folder, answered: &[Answered]) -> Result<(), String> {
    oracle::prove(folder)?;
    oracle::look(&folder.file("partnerd.db"), answered)
}

/// Checks that a newly started server answers each repeated document with the existing one, and everything
/// stays whole.
fn repeated(folder: &Folder, answered: &[Answered]) -> Result<(), String> {
    oracle::repeat(folder, &writers::beginning().1, answered)?;
    whole(folder, answered)
}
