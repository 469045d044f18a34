//! `migrate`: bring the database to this version.

use serde::Serialize;

use super::database::{now, open_or_create};
use super::terminal::{Outcome, Terminal, sentence};
use crate::config::Config;
use crate::db::migrate as schema;

#[derive(clap::Args)]
pub struct Arguments {
    /// Only say which versions there are
    #[arg(long)]
    status: bool,
}

#[derive(Serialize)]
struct VersionLine {
    version: i64,
    name: String,
    applied: bool,
}

pub fn run(arguments: &Arguments, config: &Config, terminal: &Terminal) -> Outcome {
    let steps = if arguments.status {
        if !config.db.exists() {
            return Err(format!("there is no database {}", config.db.display()));
        }
        schema::status(&config.db)
    } else {
        open_or_create(&config.db)?;
        schema::migrate(&config.db, now())
    };
    let steps = steps.map_err(sentence)?;
    let lines: Vec<_> = steps
        .into_iter()
        .map(|s| VersionLine { version: s.version, name: s.name, applied: s.applied })
        .collect();
    terminal.rows(&["version", "name", "applied"], &lines, |line| {
        vec![line.version.to_string(), line.name.clone(), if line.applied { "yes" } else { "no" }.to_owned()]
    })
}
