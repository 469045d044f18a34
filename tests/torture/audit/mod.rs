//! P12: every answered request with a verified key is in the audit log exactly once, and tampering is detected.
//!
//! In the first experiment (here) clients send requests of every kind to a server that is killed while they
//! work, and to one that is told to stop: reads, writes, refusals, repeats, bulk requests, heads without a
//! body; some hang up before the answer or in the middle of their body. If strace is available, syncs or
//! writes of the server fail beforehand in two of three cases. Then each answer must have its row, with its
//! status and path; no request has two; and each created record, whether anybody was told or not, has the row
//! of its request.
//!
//! In the second one (`forgery/`) somebody tampers with the logs by plain SQL, and with the files of the journal.

mod clients;
mod forgery;

use std::collections::BTreeMap;

use uuid::Uuid;

use crate::dice::Dice;
use crate::experiment::{Case, Experiment};
use crate::mills::Mills;
use crate::process::Folder;
use crate::programs::is_missing;
use clients::{Answered, End, life};

pub use forgery::EXPERIMENT as FORGERY;

pub const EXPERIMENT: Experiment = Experiment {
    promise: "P12",
    what: "answered requests, beside kills and clients that hang up: each is in the log once, as it was answered",
    needs: &[],
    seeds: 3,
    case,
    fault: "the row of one request is deleted with SQL",
    control_seeds: 1,
};

/// Answers that a server gives before it is killed, or told to stop.
const ANSWERS: usize = 300;

/// Two runs of a server that end badly, and one that ends well.
fn ends(dice: &mut Dice) -> [End; 3] {
    let nr = 1 + dice.below(12);
    let bad = match dice.below(3) {
        0 if !is_missing("strace") => End::CallsFail(format!("fdatasync,fsync:error=EIO:when={nr}")),
        1 if !is_missing("strace") => End::CallsFail(format!("pwrite64:error=ENOSPC:when={}+{nr}", nr * 4)),
        _ => End::Signal("KILL"),
    };
    [bad, End::Signal("KILL"), End::Signal("TERM")]
}

fn case(case: &mut Case) -> Result<u64, String> {
    let mills = Mills::get();
    let folder = mills.copy();
    let reader = folder.result(&[
        "key",
        "create",
        "--tenant",
        mills.own.name,
        "--label",
        "reads",
        "--scope",
        "kunden:read",
    ]);
    let keys = [mills.own.key.as_str(), reader.trim()];
    let mut answered = Vec::new();
    for end in ends(&mut case.dice) {
        answered.extend(life(&folder, keys, &end, case.dice.below(usize::MAX) as u64, ANSWERS)?);
    }
    // This moves in the journal that the killed server left.
    let verify = folder.run(&["audit", "verify"]);
    if !verify.status.success() {
        return Err(format!("audit verify: {}", String::from_utf8_lossy(&verify.stderr)));
    }
    if case.has_fault {
        let request = Uuid::parse_str(&answered[case.dice.below(answered.len())].request_id).unwrap();
        folder.database().execute("delete from audit where request_id = ?1", [request]).unwrap();
    }
    look(&folder, &answered)?;
    Ok(answered.len() as u64)
}

/// Compares the log with the answers, and with the created records.
fn look(folder: &Folder, answered: &[Answered]) -> Result<(), String> {
    let database = folder.database();
    let mut rows = BTreeMap::<String, Vec<(u16, String)>>::new();
    let mut statement = database.prepare("select request_id, status, pfad from audit").unwrap();
    let read =
        statement.query_map([], |row| Ok((row.get::<_, Uuid>(0)?.to_string(), row.get(1)?, row.get(2)?)));
    for (id, status, path) in read.unwrap().map(Result::unwrap) {
        rows.entry(id).or_default().push((status, path));
    }
    if let Some((id, rows)) = rows.iter().find(|(_, rows)| rows.len() > 1) {
        return Err(format!("request {id} has {} rows: {rows:?}", rows.len()));
    }
    for Answered { request_id, status, sent } in answered {
        let found = rows.get(request_id).and_then(|rows| rows.first());
        let path = sent.split(['?', ' ']).nth(1).unwrap_or_default();
        // A write that failed at its commit may come back with the write-ahead log; then its row says that it
        // was done.
        let fits =
            |row: &(u16, String)| (row.0 == *status || (*status == 503 && row.0 < 300)) && row.1 == path;
        if !found.is_some_and(fits) {
            return Err(format!("{sent} was answered {status} as {request_id}; its row is {found:?}"));
        }
    }
    let unnamed = "select name from kunde k where name like 'Einzeln %' and 1 <>
        (select count(*) from audit a where a.subjekt = k.id and a.status = 201 and a.methode = 'POST')";
    let unnamed = database.query_row(unnamed, [], |row| row.get::<_, String>(0));
    match unnamed {
        Ok(name) => Err(format!("the customer {name:?} was made, and not by one row of the log")),
        Err(_) => Ok(()),
    }
}
