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
use crate::master::tenants::{self, CurrentSetting, Logo, Setting};
use crate::papers::blatt;
use crate::platform::db::TenantId;
use crate::platform::db::file::german::in_german;
use crate::rules::admin_event::{AdminAction, AdminEvent, Art};
use crate::rules::changed::Changed;
use crate::start::config::Config;

#[derive(Subcommand)]
pub enum Command {
    /// Eine Firma anlegen; gibt ihre Nummer aus
    #[command(after_help = "Beispiele:\n  \
                            partnerd tenant create \"Mühle Beispiel\"\n  \
                            partnerd tenant create \"Mühle Beispiel\" \\\n      \
                            --set negativbestand=ablehnen")]
    Create {
        /// Name der Firma
        name: String,
        /// Eine Einstellung, etwa negativbestand=ablehnen
        #[arg(long, value_name = "NAME=WERT")]
        set: Vec<String>,
        /// Zum Ausprobieren: was sie macht, ist gekennzeichnet, `tenant reset` leert sie. Sie bleibt eine Testfirma
        #[arg(long)]
        test: bool,
    },
    /// Eine Testfirma leeren; Schlüssel und Einstellungen bleiben
    #[command(after_help = "Beispiele:\n  partnerd tenant reset \"Mühle Test\"")]
    Reset {
        /// Name oder Nummer der Firma
        #[arg(value_name = "FIRMA")]
        tenant: String,
    },
    /// Alle Firmen zeigen
    #[command(after_help = "Beispiele:\n  partnerd tenant list")]
    List,
    /// Alle Einstellungen einer Firma zeigen: Wert, Voreinstellung, Bedeutung
    #[command(after_help = "Beispiele:\n  partnerd tenant show \"Mühle Beispiel\"")]
    Show {
        /// Name oder Nummer der Firma
        #[arg(value_name = "FIRMA")]
        tenant: String,
    },
    /// Einstellungen einer Firma ändern
    #[command(
        override_usage = "partnerd tenant set [OPTIONEN]\n       <FIRMA> <NAME=WERT>...",
        after_help = help_of_set()
    )]
    Set {
        /// Name oder Nummer der Firma
        #[arg(value_name = "FIRMA")]
        tenant: String,
        /// Einstellungen, etwa lagerbuchung=lieferung
        #[arg(required = true, value_name = "NAME=WERT")]
        settings: Vec<String>,
    },
}

fn help_of_set() -> String {
    let mut help = "Einstellungen:\n".to_owned();
    for setting in tenants::all_settings() {
        let default = if setting.default.is_empty() { "nichts" } else { setting.default };
        help += &format!("  {}: {} [sonst: {default}]\n", setting.name, setting.explained());
        help += &format!("      {}\n", setting.meaning);
    }
    help + "\n\
            Beispiele:\n  \
            partnerd tenant set \"Mühle Beispiel\" \\\n      \
            charge_automatik=fefo gesperrt_bis=2026-06-30"
}

pub fn run(command: Command, config: &Config, terminal: &Terminal) -> Outcome {
    match command {
        Command::Create { name, set, test } => create(&name, &set, test, config, terminal),
        Command::Reset { tenant } => reset(&tenant, config, terminal),
        Command::List => {
            let tenants = tenants::list(&open(config)?)?;
            terminal.rows(&["Nummer", "Name", "Art"], &tenants, |tenant| {
                let kind = if tenant.test { "Testfirma" } else { "" };
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
        return Err("der Name einer Firma hat 1 bis 255 Zeichen".into());
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
        let emptied = AdminEvent::new(AdminAction::Geleert, Art::Firma).name(&tenant.name);
        note(connection, Some(tenant.id), "tenant reset", &emptied)?;
        Ok((tenant, rows))
    })?;
    terminal.result(&tenant.id.to_string(), &json!({"id": tenant.id, "deleted": rows}));
    terminal.say(&format!(
        "{} ist leer: {rows} Zeilen sind weg. Schlüssel und Einstellungen bleiben.",
        tenant.name
    ));
    Ok(())
}

/// Changes settings and records what changed. For the logo the value is the path of its file.
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
        let event = AdminEvent::new(AdminAction::Geaendert, Art::Firma).changing(changed.iter().cloned());
        note(connection, Some(tenant), command, &event)?;
    }
    Ok(changed)
}

/// Reads a logo, at most one byte more than is allowed.
fn read_logo(path: &Path) -> Outcome<Logo> {
    let in_file = |error: std::io::Error| format!("{}: {}", path.display(), in_german(&error));
    let file = std::fs::File::open(path).map_err(in_file)?;
    if !file.metadata().map_err(in_file)?.is_file() {
        return Err(format!("{} ist keine Datei", path.display()).into());
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
            let Setting { name, default, meaning, .. } = *setting;
            Shown { setting: name, value, default, help: meaning }
        })
        .collect();
    terminal.rows(&["Einstellung", "Wert", "sonst", "Bedeutung"], &rows, |row| {
        // For a logo only the sha256 is stored; its beginning is enough to tell two apart.
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
        let wrong = || format!("{text} ist nicht NAME=WERT: etwa negativbestand=ablehnen");
        let (name, value) = text.split_once('=').ok_or_else(wrong)?;
        Ok((name.trim().to_owned(), value.trim().to_owned()))
    };
    settings.iter().map(pair).collect()
}
