//! Somebody who removes the triggers can alter a final document with SQL; `check` reports it.
//!
//! A trial is a random statement that altered a protected row, on a copy whose triggers were dropped and then
//! restored.

use rusqlite::Connection;

use super::scene::Scene;
use super::statement::Target;
use super::{KEPT, Rows, opened};
use crate::experiment::{Case, Experiment};
use crate::mills::copied;
use crate::process::Folder;

pub const EXPERIMENT: Experiment = Experiment {
    promise: "P13",
    what: "alterations of final documents with the triggers out of the way: check finds each",
    needs: &[],
    seeds: 3,
    case,
    fault: "one alteration in three is taken back, and is not found",
    control_seeds: 2,
};

/// Alterations per seed.
const ALTERATIONS: u64 = 10;

/// Tables whose content is in the chain of evidence.
const PROVED: usize = 7;

fn case(case: &mut Case) -> Result<u64, String> {
    let scene = Scene::get();
    is_found(&copied(&scene.folder)).map_or(Ok(()), |said| Err(format!("nothing was altered: {said}")))?;
    for _ in 0..ALTERATIONS {
        let folder = copied(&scene.folder);
        let is_taken_back = case.has_fault && case.dice.once_in(3);
        let statement = altered(&folder, case, is_taken_back);
        is_found(&folder).ok_or_else(|| format!("check finds nothing after {statement}"))?;
    }
    Ok(ALTERATIONS)
}

/// What `check` reports; `None` if it finds nothing.
fn is_found(folder: &Folder) -> Option<String> {
    let output = folder.run(&["check"]);
    (!output.status.success()).then(|| String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Alters something protected; returns the statement.
fn altered(folder: &Folder, case: &mut Case, is_taken_back: bool) -> String {
    let database = opened(folder);
    let before = Rows::of(&database);
    loop {
        let kept = &KEPT[case.dice.below(PROVED)];
        let statement = Target::of(&database, kept).statement(&mut case.dice);
        database.execute_batch("begin").unwrap();
        let is_done = without_triggers(&database, &statement).is_ok() && before.stand_in(&database).is_err();
        if is_done && !is_taken_back {
            database.execute_batch("commit").unwrap();
            return statement;
        }
        // A conflict may have ended the transaction.
        let _ = database.execute_batch("rollback");
        if is_done {
            return statement;
        }
    }
}

/// Runs a statement without the triggers, which are restored afterwards.
fn without_triggers(database: &Connection, statement: &str) -> rusqlite::Result<()> {
    let mut triggers = database.prepare("select name, sql from sqlite_schema where type = 'trigger'")?;
    let triggers: Vec<(String, String)> =
        triggers.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<rusqlite::Result<_>>()?;
    triggers.iter().try_for_each(|(name, _)| database.execute_batch(&format!("drop trigger {name}")))?;
    database.execute_batch(statement)?;
    triggers.iter().try_for_each(|(_, made)| database.execute_batch(made))
}
