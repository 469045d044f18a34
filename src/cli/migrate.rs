//! `migrate`: bring the database to this version.

use super::database::{now, open_or_create};
use super::terminal::{Outcome, Terminal};
use crate::config::Config;
use crate::db::migrate as schema;

#[derive(clap::Args)]
pub struct Arguments {
    /// Only say which versions there are
    #[arg(long)]
    status: bool,
}

pub fn run(arguments: &Arguments, config: &Config, terminal: &Terminal) -> Outcome {
    let steps = if arguments.status {
        if !config.db.exists() {
            return Err(format!("there is no database {}", config.db.display()).into());
        }
        schema::status(&config.db)?
    } else {
        open_or_create(&config.db)?;
        schema::migrate(&config.db, now())?
    };
    terminal.rows(&["version", "name", "applied"], &steps, |step| {
        vec![step.version.to_string(), step.name.clone(), if step.applied { "yes" } else { "no" }.to_owned()]
    })
}
