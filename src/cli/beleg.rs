//! `beleg`: moves documents on, by their numbers.

use clap::Subcommand;
use serde_json::json;

use super::database::{find_tenant, in_transaction, now, open};
use super::terminal::{Outcome, Terminal, sentence};
use crate::belege;
use crate::config::Config;
use crate::db::tx::{Tx, WriteTx};
use crate::failure::Result;

#[derive(Subcommand)]
pub enum Command {
    /// Make open documents final
    #[command(
        after_help = "Examples:\n  partnerd beleg abschliessen RE-2026-00017 RE-2026-00018 --tenant \"Mühle Beispiel\""
    )]
    Abschliessen(Arguments),
    /// Mark final documents as settled
    #[command(after_help = "Examples:\n  partnerd beleg erledigen RE-2026-00017 --tenant \"Mühle Beispiel\"")]
    Erledigen(Arguments),
}

#[derive(clap::Args)]
pub struct Arguments {
    /// Numbers of documents, for example RE-2026-00001
    #[arg(required = true, value_name = "NUMBER")]
    numbers: Vec<String>,
    /// Name or id of the company
    #[arg(long)]
    tenant: String,
}

/// Moves all documents on, or none.
pub fn run(command: Command, config: &Config, terminal: &Terminal) -> Outcome {
    match command {
        Command::Abschliessen(arguments) => move_on(&arguments, belege::finalise_number, config, terminal),
        Command::Erledigen(arguments) => move_on(&arguments, belege::settle_number, config, terminal),
    }
}

fn move_on(
    arguments: &Arguments,
    step: fn(&WriteTx<'_>, &str) -> Result<()>,
    config: &Config,
    terminal: &Terminal,
) -> Outcome {
    let mut connection = open(config)?;
    in_transaction(&mut connection, |connection| {
        let tenant = find_tenant(connection, &arguments.tenant)?.id;
        let tx = WriteTx::new(Tx::new(connection, tenant, now()), None);
        for number in &arguments.numbers {
            step(&tx, number).map_err(|failure| format!("{number}: {}", sentence(failure)))?;
        }
        Ok(())
    })?;
    terminal.result(&arguments.numbers.join("\n"), &json!(arguments.numbers));
    Ok(())
}
