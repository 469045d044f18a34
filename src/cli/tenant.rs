//! `tenant`: companies and their settings.

use clap::Subcommand;
use serde_json::json;

use super::{Outcome, Terminal, find_tenant, in_transaction, now, open, open_or_create, sentence};
use crate::config::Config;
use crate::tenants;

#[derive(Subcommand)]
pub enum Command {
    /// Add a company; prints its id
    #[command(
        after_help = "Examples:\n  partnerd tenant create \"Mühle Beispiel\" --set negativbestand=ablehnen"
    )]
    Create {
        /// Name of the company
        name: String,
        /// A setting, for example negativbestand=ablehnen
        #[arg(long, value_name = "KEY=VALUE")]
        set: Vec<String>,
    },
    /// List all companies
    #[command(after_help = "Examples:\n  partnerd tenant list")]
    List,
    /// Change settings of a company
    #[command(after_help = help_of_set())]
    Set {
        /// Name or id of the company
        tenant: String,
        /// Settings, for example lagerbuchung=lieferung
        #[arg(required = true, value_name = "KEY=VALUE")]
        settings: Vec<String>,
    },
}

/// The settings that there are, and an example.
fn help_of_set() -> String {
    let mut help = "Settings:\n".to_owned();
    for setting in tenants::SETTINGS {
        let default = if setting.default.is_empty() { "nichts" } else { setting.default };
        help += &format!("  {}: {} (Vorgabe: {default})\n", setting.name, (setting.values)());
        help += &format!("      {}\n", setting.meaning);
    }
    help + "\nExamples:\n  partnerd tenant set \"Mühle Beispiel\" charge_automatik=fefo gesperrt_bis=2026-06-30"
}

/// Runs the command.
pub fn run(command: Command, config: &Config, terminal: &Terminal) -> Outcome {
    match command {
        Command::Create { name, set } => create(&name, &set, config, terminal),
        Command::List => {
            let tenants = tenants::list(&open(config)?).map_err(sentence)?;
            terminal
                .rows(&["id", "name"], &tenants, |tenant| vec![tenant.id.to_string(), tenant.name.clone()])
        }
        Command::Set { tenant, settings } => {
            let mut connection = open(config)?;
            let settings = pairs(&settings)?;
            let id = in_transaction(&mut connection, |connection| {
                let tenant = find_tenant(connection, &tenant)?;
                for (name, value) in &settings {
                    tenants::set(connection, tenant.id, name, value).map_err(sentence)?;
                }
                Ok(tenant.id)
            })?;
            terminal.result(&id.to_string(), &json!({"id": id}));
            Ok(())
        }
    }
}

fn create(name: &str, settings: &[String], config: &Config, terminal: &Terminal) -> Outcome {
    let name = name.trim();
    if name.is_empty() || name.len() > 255 || name.chars().any(char::is_control) {
        return Err("the name of a company has 1 to 255 characters".to_owned());
    }
    let settings = pairs(settings)?;
    let mut connection = open_or_create(&config.db)?;
    let id = in_transaction(&mut connection, |connection| {
        let id = tenants::create(connection, name, now()).map_err(sentence)?;
        for (name, value) in &settings {
            tenants::set(connection, id, name, value).map_err(sentence)?;
        }
        Ok(id)
    })?;
    terminal.result(&id.to_string(), &json!({"id": id}));
    Ok(())
}

fn pairs(settings: &[String]) -> Result<Vec<(String, String)>, String> {
    let pair = |text: &String| {
        let (name, value) = text.split_once('=').ok_or_else(|| format!("{text} is not KEY=VALUE"))?;
        Ok((name.trim().to_owned(), value.trim().to_owned()))
    };
    settings.iter().map(pair).collect()
}
