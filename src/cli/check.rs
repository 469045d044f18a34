//! `check`: proves the database.

use super::database::open;
use super::terminal::{Outcome, Terminal, sentence};
use crate::app::check::check;
use crate::config::Config;
use crate::db::seal::Secret;
use crate::db::system_clock;

pub fn run(config: &Config, terminal: &Terminal) -> Outcome {
    let mut connection = open(config)?;
    let waiting = terminal.waiting();
    let secret = Secret::read(&config.db).unwrap_or_else(|failure| {
        terminal.say(&sentence(failure));
        None
    });
    let lines = check(&mut connection, secret.as_ref(), &system_clock(), |rule| {
        waiting.at(rule);
        Ok(())
    });
    drop(waiting);
    let lines = lines.map_err(sentence)?;
    terminal.rows(&["rule", "violations", "finding"], &lines, |line| {
        vec![line.rule.clone(), line.violations.to_string(), line.finding.clone().unwrap_or_default()]
    })?;
    let broken: i64 = lines.iter().map(|line| line.violations).sum();
    if broken == 0 {
        terminal.say(&format!("{} is whole: all {} rules hold.", config.db.display(), lines.len()));
        return Ok(());
    }
    Err(format!(
        "{broken} violations in {}: keep this file as it is, and put back the last good backup",
        config.db.display()
    ))
}
