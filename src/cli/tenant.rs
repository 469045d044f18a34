//! `tenant`: companies and their settings.

use std::io::Read;
use std::path::Path;

use clap::Subcommand;
use rusqlite::Connection;
use serde::Serialize;
use serde_json::json;

use super::changes::note;
use super::database::{self, find_tenant, in_transaction, now, open, open_or_create};
use super::terminal::{Outcome, Terminal};
use crate::blatt;
use crate::config::Config;
use crate::db::TenantId;
use crate::rules::changed::Changed;
use crate::rules::deed::{Art, Deed, Tat};
use crate::tenants::{self, CurrentSetting, Logo, Setting};

#[derive(Subcommand)]
pub enum Command {
    /// Add a company; prints its id
    #[command(
        after_help = "Examples:\n  partnerd tenant create \"Mühle Beispiel\"\n  partnerd tenant create \"Mühle Beispiel\" \\\n      --set negativbestand=ablehnen"
    )]
    Create {
        /// Name of the company
        name: String,
        /// A setting, for example negativbestand=ablehnen
        #[arg(long, value_name = "KEY=VALUE")]
        set: Vec<String>,
        /// For trying things out: what it makes is marked, `tenant reset` empties it. It stays one
        #[arg(long)]
        test: bool,
    },
    /// Empty a test company; its keys and settings stay
    #[command(after_help = "Examples:\n  partnerd tenant reset \"Mühle Test\"")]
    Reset {
        /// Name or id of the company
        tenant: String,
    },
    /// List all companies
    #[command(after_help = "Examples:\n  partnerd tenant list")]
    List,
    /// Show every setting of a company: value, default, meaning
    #[command(after_help = "Examples:\n  partnerd tenant show \"Mühle Beispiel\"")]
    Show {
        /// Name or id of the company
        tenant: String,
    },
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

fn help_of_set() -> String {
    let mut help = "Settings:\n".to_owned();
    for setting in tenants::all_settings() {
        let default = if setting.default.is_empty() { "nothing" } else { setting.default };
        help += &format!("  {}: {} [default: {default}]\n", setting.name, (setting.expected)());
        help += &format!("      {}\n", setting.help);
    }
    help + "\nExamples:\n  partnerd tenant set \"Mühle Beispiel\" \\\n      charge_automatik=fefo gesperrt_bis=2026-06-30"
}

pub fn run(command: Command, config: &Config, terminal: &Terminal) -> Outcome {
    match command {
        Command::Create { name, set, test } => create(&name, &set, test, config, terminal),
        Command::Reset { tenant } => reset(&tenant, config, terminal),
        Command::List => {
            let tenants = tenants::list(&open(config)?)?;
            terminal.rows(&["id", "name", "kind"], &tenants, |tenant| {
                let kind = if tenant.test { "test" } else { "" };
                vec![tenant.id.to_string(), tenant.name.clone(), kind.to_owned()]
            })
        }
        Command::Show { tenant } => show(&tenant, config, terminal),
        Command::Set { tenant, settings } => {
            let (id, changed) = database::change(config, |connection| {
                let settings = pairs(&settings)?;
                let tenant = find_tenant(connection, &tenant)?;
                let changed = change(connection, tenant.id, &settings, "tenant set")?;
                Ok((tenant.id, changed))
            })?;
            terminal.result(&id.to_string(), &json!({"id": id}));
            terminal.say_changes(&changed);
            Ok(())
        }
    }
}

fn create(name: &str, settings: &[String], test: bool, config: &Config, terminal: &Terminal) -> Outcome {
    let name = name.trim();
    if !tenants::is_name(name) {
        return Err("the name of a company has 1 to 255 characters".into());
    }
    let settings = pairs(settings)?;
    let mut connection = open_or_create(&config.db)?;
    let id = in_transaction(&mut connection, |connection| {
        let id = tenants::create(connection, name, test, now())?;
        note(connection, Some(id), "tenant create", &tenants::created(name, test))?;
        change(connection, id, &settings, "tenant create")?;
        Ok(id)
    })?;
    terminal.result(&id.to_string(), &json!({"id": id}));
    Ok(())
}

fn reset(tenant: &str, config: &Config, terminal: &Terminal) -> Outcome {
    let (tenant, rows) = database::change(config, |connection| {
        let tenant = find_tenant(connection, tenant)?;
        let rows = tenants::reset(connection, &tenant)?;
        let emptied = Deed::new(Tat::Geleert, Art::Firma).name(&tenant.name);
        note(connection, Some(tenant.id), "tenant reset", &emptied)?;
        Ok((tenant, rows))
    })?;
    terminal.result(&tenant.id.to_string(), &json!({"id": tenant.id, "deleted": rows}));
    terminal.say(&format!("{} is empty: {rows} rows are gone. Its keys and settings stay.", tenant.name));
    Ok(())
}

/// Changes settings, and writes down what changed; of the logo the path of its file is typed.
fn change(
    connection: &Connection,
    tenant: TenantId,
    settings: &[(String, String)],
    command: &str,
) -> Outcome<Vec<Changed>> {
    let (logos, texts): (Vec<_>, Vec<_>) = settings.iter().partition(|(name, _)| name == "logo");
    let texts: Vec<_> = texts.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let mut changed = tenants::set(connection, tenant, &texts, now())?;
    for (_, path) in logos {
        let logo = match path.as_str() {
            "" => None,
            path => Some(read_logo(Path::new(path))?),
        };
        changed.extend(tenants::set_logo(connection, tenant, logo.as_ref(), now())?);
    }
    if !changed.is_empty() {
        let deed = Deed::new(Tat::Geaendert, Art::Firma).changing(changed.iter().cloned());
        note(connection, Some(tenant), command, &deed)?;
    }
    Ok(changed)
}

/// Reads a logo, and one byte more at most than it can have.
fn read_logo(path: &Path) -> Outcome<Logo> {
    let in_file = |error: std::io::Error| format!("{}: {error}", path.display());
    let file = std::fs::File::open(path).map_err(in_file)?;
    if !file.metadata().map_err(in_file)?.is_file() {
        return Err(format!("{} is no file", path.display()).into());
    }
    let mut logo = Vec::new();
    file.take(blatt::LOGO_BYTES_MAX as u64 + 1).read_to_end(&mut logo).map_err(in_file)?;
    Ok(Logo::of_file(logo)?)
}

#[derive(Serialize)]
struct Shown {
    setting: &'static str,
    value: String,
    default: &'static str,
    help: &'static str,
}

fn show(tenant: &str, config: &Config, terminal: &Terminal) -> Outcome {
    let connection = open(config)?;
    let tenant = find_tenant(&connection, tenant)?;
    let settings = tenants::show(&connection, tenant.id, now())?;
    let rows: Vec<_> = settings
        .into_iter()
        .map(|CurrentSetting { setting, value }| {
            let Setting { name, default, help, .. } = *setting;
            Shown { setting: name, value, default, help }
        })
        .collect();
    terminal.rows(&["setting", "value", "default", "what it does"], &rows, |row| {
        // Of a logo there is only its sha256: the beginning tells two apart.
        let value: String = match (row.setting, row.value.as_str()) {
            (_, "") => "-".to_owned(),
            ("logo", sha256) => format!("sha256 {}…", sha256.get(..12).unwrap_or(sha256)),
            (_, value) => value.to_owned(),
        };
        let default = if row.default.is_empty() { "-" } else { row.default };
        vec![row.setting.to_owned(), value, default.to_owned(), row.help.to_owned()]
    })
}

fn pairs(settings: &[String]) -> Result<Vec<(String, String)>, String> {
    let pair = |text: &String| {
        let (name, value) = text.split_once('=').ok_or_else(|| format!("{text} is not KEY=VALUE"))?;
        Ok((name.trim().to_owned(), value.trim().to_owned()))
    };
    settings.iter().map(pair).collect()
}
