//! `key`: API keys.

use clap::Subcommand;
use serde::Serialize;
use serde_json::json;

use super::database::{find_tenant, in_transaction, now, open};
use super::terminal::{Outcome, Terminal, sentence};
use crate::config::Config;
use crate::gate::key::{self, Grant};
use crate::rules::choice::Choice;
use crate::rules::day::Day;
use crate::rules::scope::{Scope, ScopeSet};

#[derive(Subcommand)]
pub enum Command {
    /// Create a key; it is shown this once
    #[command(
        after_help = "Examples:\n  partnerd key create --tenant \"Mühle Beispiel\" --label shop --scope artikel:read --scope belege:write\n  partnerd key create --tenant \"Mühle Beispiel\" --label scale --all-scopes --expires 2027-12-31 > scale.key"
    )]
    Create {
        /// Name or id of the company
        #[arg(long)]
        tenant: String,
        /// What the key is for
        #[arg(long)]
        label: String,
        /// What the key may do, for example kunden:read; may be repeated
        #[arg(long, value_name = "SCOPE", required_unless_present = "all_scopes")]
        scope: Vec<String>,
        /// The key may do everything
        #[arg(long, conflicts_with = "scope")]
        all_scopes: bool,
        /// Last day (UTC) on which the key is accepted, for example 2027-12-31
        #[arg(long, value_name = "DATE")]
        expires: Option<String>,
        /// Requests that the key may make on one UTC day [default: 10000]
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        daily_limit: Option<u32>,
    },
    /// List keys
    #[command(after_help = "Examples:\n  partnerd key list --tenant \"Mühle Beispiel\"")]
    List {
        /// Only those of this company
        #[arg(long)]
        tenant: Option<String>,
    },
    /// Refuse a key from the next request on
    #[command(after_help = "Examples:\n  partnerd key deactivate 3f2a9c01b4d7")]
    Deactivate {
        /// The public part of the key: ak_<ID>_…
        id: String,
    },
    /// Accept a key again
    #[command(after_help = "Examples:\n  partnerd key activate 3f2a9c01b4d7")]
    Activate {
        /// The public part of the key: ak_<ID>_…
        id: String,
    },
}

/// Runs the command.
pub fn run(command: Command, config: &Config, terminal: &Terminal) -> Outcome {
    match command {
        Command::Create { tenant, label, scope, all_scopes, expires, daily_limit } => {
            let scopes = if all_scopes { Scope::ALL.iter().copied().collect() } else { scopes(&scope)? };
            let valid_until = expires.map(|text| day(&text)).transpose()?;
            create(&tenant, &Grant { label, scopes, valid_until, daily_limit }, config, terminal)
        }
        Command::List { tenant } => list(tenant.as_deref(), config, terminal),
        Command::Deactivate { id } => set_active(&id, false, config, terminal),
        Command::Activate { id } => set_active(&id, true, config, terminal),
    }
}

fn create(tenant: &str, grant: &Grant, config: &Config, terminal: &Terminal) -> Outcome {
    let mut connection = open(config)?;
    // Hashing takes its time: before the write lock is taken.
    let key = key::generate(&key::mac_secret(&connection).map_err(sentence)?).map_err(sentence)?;
    let name = in_transaction(&mut connection, |connection| {
        let tenant = find_tenant(connection, tenant)?;
        key::insert(connection, tenant.id, &key, grant, now()).map_err(sentence)?;
        Ok(tenant.name)
    })?;
    terminal.result(&key.text, &json!({"id": key.id, "key": key.text}));
    terminal.say(&format!("This is the key {} of {name}. It is shown this once: keep it safe.", key.id));
    Ok(())
}

#[derive(Serialize)]
struct Line {
    id: String,
    tenant: String,
    label: String,
    active: bool,
    expires: Option<String>,
    daily_limit: u32,
    requests_today: u32,
    last_used: Option<String>,
    scopes: String,
}

fn list(tenant: Option<&str>, config: &Config, terminal: &Terminal) -> Outcome {
    let connection = open(config)?;
    let tenant = tenant.map(|tenant| find_tenant(&connection, tenant)).transpose()?.map(|tenant| tenant.id);
    let lines = key::list(&connection, tenant, now()).map_err(sentence)?;
    let line = |key: key::StoredKey| Line {
        id: key.id,
        tenant: key.tenant,
        label: key.label,
        active: key.active,
        expires: key.valid_until.map(|day| day.to_string()),
        daily_limit: key.daily_limit,
        requests_today: key.today,
        last_used: key.last_used.map(|instant| instant.to_string()),
        scopes: key.scopes,
    };
    let lines: Vec<_> = lines.into_iter().map(line).collect();
    let all = Scope::ALL.iter().copied().collect::<ScopeSet>().to_stored();
    let columns = ["id", "tenant", "label", "active", "expires", "today", "last used", "scopes"];
    terminal.rows(&columns, &lines, |line| {
        vec![
            line.id.clone(),
            line.tenant.clone(),
            line.label.clone(),
            if line.active { "yes" } else { "no" }.to_owned(),
            line.expires.clone().unwrap_or_default(),
            format!("{} of {}", line.requests_today, line.daily_limit),
            line.last_used.clone().unwrap_or_default(),
            if line.scopes == all { "all".to_owned() } else { line.scopes.clone() },
        ]
    })
}

fn set_active(id: &str, active: bool, config: &Config, terminal: &Terminal) -> Outcome {
    let mut connection = open(config)?;
    let id = public_part(id);
    let known = in_transaction(&mut connection, |connection| {
        key::set_active(connection, id, active).map_err(sentence)
    })?;
    if !known {
        return Err(format!("there is no key {id}: `partnerd key list` names all"));
    }
    terminal.result(id, &json!({"id": id, "active": active}));
    Ok(())
}

/// The public part of a key. People paste what they have: the id, or the whole key.
pub fn public_part(text: &str) -> &str {
    text.strip_prefix("ak_").map_or(text, |rest| rest.split('_').next().unwrap_or(rest))
}

/// Reads a day.
pub fn day(text: &str) -> Result<Day, String> {
    Day::parse_plain(text).ok_or_else(|| format!("{text} is no day: expected is a date such as 2027-12-31"))
}

fn scopes(texts: &[String]) -> Result<ScopeSet, String> {
    let names = texts.iter().flat_map(|text| text.split(','));
    let read = |text: &str| {
        Scope::parse(text.trim())
            .ok_or_else(|| format!("there is no scope {text}; known are: {}", Scope::texts()))
    };
    names.map(read).collect()
}
