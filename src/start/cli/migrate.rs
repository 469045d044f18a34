//! `migrate`: migrates the database to this version.

use super::database::{now, open_or_create, refuse_missing};
use super::terminal::{Outcome, Terminal};
use crate::platform::db::migrate as schema;
use crate::start::config::Config;

#[derive(clap::Args)]
pub struct Arguments {
    /// Nur sagen, welche Stände es gibt
    #[arg(long)]
    status: bool,
}

pub fn run(arguments: &Arguments, config: &Config, terminal: &Terminal) -> Outcome {
    let steps = if arguments.status {
        refuse_missing(&config.db)?;
        schema::status(&config.db)?
    } else {
        open_or_create(&config.db)?;
        schema::migrate(&config.db, now())?
    };
    terminal.rows(&["Stand", "Name", "vorhanden"], &steps, |step| {
        vec![step.version.to_string(), step.name.clone(), if step.applied { "ja" } else { "nein" }.to_owned()]
    })
}
