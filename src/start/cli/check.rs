//! `check`: verifies the database.

use super::database::{open, secret};
use super::terminal::{Outcome, Terminal};
use crate::operations::check::check;
use crate::platform::db::system_clock;
use crate::start::config::Config;

pub fn run(config: &Config, terminal: &Terminal) -> Outcome {
    let mut connection = open(config)?;
    let secret = secret(config, terminal);
    let lines =
        terminal.step_by_step(|began| check(&mut connection, secret.as_ref(), &system_clock(), began))?;
    terminal.rows(&["Regel", "Verstöße", "Befund"], &lines, |line| {
        vec![line.rule.clone(), line.violations.to_string(), line.finding.clone().unwrap_or_default()]
    })?;
    let broken: i64 = lines.iter().map(|line| line.violations).sum();
    if broken == 0 {
        let (file, seals) = (config.db.display(), lines.last().and_then(|line| line.finding.as_deref()));
        let seals = seals.unwrap_or_default();
        terminal.say(&format!("{file} ist heil: alle {} Regeln halten. Siegel: {seals}.", lines.len()));
        return Ok(());
    }
    Err(format!(
        "{broken} Verstöße in {}: diese Datei lassen, wie sie ist, und die letzte gute Sicherung zurückholen",
        config.db.display()
    )
    .into())
}
