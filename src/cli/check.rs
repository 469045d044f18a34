//! `check`: proves the database.

use super::{Outcome, Terminal, open, sentence};
use crate::app::check::check;
use crate::config::Config;
use crate::db::system_clock;

/// Runs every check; fails when one is broken.
pub fn run(config: &Config, terminal: &Terminal) -> Outcome {
    let mut connection = open(config)?;
    let waiting = terminal.waiting();
    let lines = check(&mut connection, &system_clock(), |rule| waiting.at(rule)).map_err(sentence)?;
    drop(waiting);
    terminal
        .rows(&["rule", "violations"], &lines, |line| vec![line.rule.clone(), line.violations.to_string()])?;
    let broken: i64 = lines.iter().map(|line| line.violations).sum();
    if broken == 0 {
        return Ok(());
    }
    Err(format!("{broken} violations: keep this file as it is, and put back the last good backup"))
}
