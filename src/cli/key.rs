//! `key`: API keys.

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{ArgGroup, Subcommand};
use rusqlite::Connection;
use serde::Serialize;
use serde_json::json;

use super::changes::note;
use super::database::{self, find_tenant, in_transaction, now, open};
use super::private::{warn_of_readers, write_private};
use super::terminal::{Outcome, Terminal};
use crate::config::Config;
use crate::gate::key::{self, Grant, KeyState, StoredKey};
use crate::gate::key_changes::{self, Changes as KeyChanges, LABEL_CHARS_MAX};
use crate::rules::choice::Choice;
use crate::rules::day::Day;
use crate::rules::deed::Deed;
use crate::rules::scope::{Purpose, Scope, ScopeSet};

#[derive(Subcommand)]
pub enum Command {
    /// Create a key; it is shown this once
    #[command(
        group = one_of(&["purposes", "scope", "all_scopes"]),
        override_usage = "partnerd key create --tenant <T> --label <TEXT>\n       <--for <PURPOSE>|--scope <SCOPE>|--all-scopes>\n       [OPTIONS]",
        after_help = "Examples:\n  partnerd key create --tenant \"Mühle Beispiel\" \\\n      --label shop --for shop --out shop.key\n  partnerd key create --tenant \"Mühle Beispiel\" \\\n      --label feld --scope waage:read --expires 2027-12-31"
    )]
    Create {
        /// Name or id of the company
        #[arg(long, value_name = "T")]
        tenant: String,
        /// What the key is for
        #[arg(long, value_name = "TEXT")]
        label: String,
        #[command(flatten)]
        scopes: Scopes,
        /// Last day (UTC) on which the key is accepted, for example 2027-12-31
        #[arg(long, value_name = "DATE")]
        expires: Option<String>,
        /// Requests that the key may make on one UTC day [default: 10000]
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        daily_limit: Option<u32>,
        /// Write the key to this file, which only its owner may read, and print the id
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// List keys: state, use, scopes
    #[command(after_help = "Examples:\n  partnerd key list --tenant \"Mühle Beispiel\"")]
    List {
        /// Only those of this company
        #[arg(long, value_name = "T")]
        tenant: Option<String>,
    },
    /// Change a key; it holds from the next request on
    #[command(
        override_usage = "partnerd key change <ID> [--label <TEXT>]\n       [--for <PURPOSE>] [--scope <SCOPE>] [--all-scopes]\n       [--expires <DATE>] [--daily-limit <N>]",
        group = one_of(&["label", "purposes", "scope", "all_scopes", "expires", "daily_limit"]),
        after_help = "Examples:\n  partnerd key change 3f2a9c01b4d7 --expires 2028-12-31\n  partnerd key change 3f2a9c01b4d7 \\\n      --for shop --daily-limit 50000"
    )]
    Change {
        /// The public part of the key: ak_<ID>_…
        id: String,
        #[command(flatten)]
        changes: Changes,
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

#[derive(clap::Args)]
#[group(skip)]
pub struct Scopes {
    /// What the key is for: gives it the scopes that this needs; may be repeated
    #[arg(long = "for", value_name = "PURPOSE", value_parser = purposes())]
    purposes: Vec<Purpose>,
    /// What the key may do, for example kunden:read; may be repeated
    #[arg(long, value_name = "SCOPE")]
    scope: Vec<String>,
    /// The key may do everything
    #[arg(long, conflicts_with_all = ["scope", "purposes"])]
    all_scopes: bool,
}

/// Of these options one must be given, and several may be.
fn one_of(options: &'static [&'static str]) -> ArgGroup {
    ArgGroup::new("one_of").args(options).required(true).multiple(true)
}

/// Reads a purpose; the help lists them with their scopes.
fn purposes() -> impl TypedValueParser<Value = Purpose> {
    let value = |purpose: &Purpose| {
        PossibleValue::new(purpose.as_str()).help(purpose.scopes().to_stored().replace(' ', ", "))
    };
    PossibleValuesParser::new(Purpose::ALL.iter().map(value))
        .map(|text| Purpose::parse(&text).unwrap_or(Purpose::Shop))
}

impl Scopes {
    /// The scopes that were named; none where nothing was.
    fn named(&self) -> Result<Option<ScopeSet>, String> {
        if self.all_scopes {
            return Ok(Some(ScopeSet::all()));
        }
        Ok(key_changes::scopes(&self.purposes, scopes(&self.scope)?))
    }
}

#[derive(clap::Args)]
#[group(skip)]
pub struct Changes {
    /// What the key is for
    #[arg(long, value_name = "TEXT")]
    label: Option<String>,
    #[command(flatten)]
    scopes: Scopes,
    /// Last day (UTC) on which the key is accepted, for example 2027-12-31; never: none
    #[arg(long, value_name = "DATE")]
    expires: Option<String>,
    /// Requests that the key may make on one UTC day
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    daily_limit: Option<u32>,
}

pub fn run(command: Command, config: &Config, terminal: &Terminal) -> Outcome {
    match command {
        Command::Create { tenant, label, scopes, expires, daily_limit, out } => {
            let grant = Grant {
                label: checked_label(&label)?,
                scopes: scopes.named()?.unwrap_or_default(),
                valid_until: expires.map(|text| last_day(&text)).transpose()?,
                daily_limit,
            };
            create(&tenant, &grant, out.as_deref(), config, terminal)
        }
        Command::List { tenant } => list(tenant.as_deref(), config, terminal),
        Command::Change { id, changes } => change(&id, &changes, config, terminal),
        Command::Deactivate { id } => set_active(&id, false, config, terminal),
        Command::Activate { id } => set_active(&id, true, config, terminal),
    }
}

fn create(tenant: &str, grant: &Grant, out: Option<&Path>, config: &Config, terminal: &Terminal) -> Outcome {
    let mut connection = open(config)?;
    // Hashing takes its time: before the write lock is taken.
    let key = key::generate(&key::mac_secret(&connection)?)?;
    let mut is_written = false;
    let stored = in_transaction(&mut connection, |connection| {
        let tenant = find_tenant(connection, tenant)?;
        let what = key_changes::create(connection, tenant.id, &key, grant, now())?;
        note(connection, Some(tenant.id), "key create", &what)?;
        // Before the commit: a key that cannot be handed out is of no use.
        if let Some(file) = out {
            write_private(file, &format!("{}\n", key.text))?;
            is_written = true;
        }
        Ok(tenant.name)
    });
    let name = stored.inspect_err(|_| {
        if let Some(file) = out.filter(|_| is_written) {
            let _ = std::fs::remove_file(file);
        }
    })?;
    match out {
        Some(file) => {
            let file = file.display().to_string();
            terminal.result(&key.id, &json!({"id": key.id, "file": file}));
            terminal.say(&format!("The key {} of {name} is in {file}, for its owner alone.", key.id));
        }
        None => {
            terminal.result(&key.text, &json!({"id": key.id, "key": key.text}));
            terminal
                .say(&format!("This is the key {} of {name}. It is shown this once: keep it safe.", key.id));
            warn_of_readers(terminal);
        }
    }
    Ok(())
}

#[derive(Serialize)]
struct KeyLine {
    id: String,
    tenant: String,
    label: String,
    state: KeyState,
    active: bool,
    expires: Option<String>,
    daily_limit: u32,
    requests_today: u32,
    last_used: Option<String>,
    scopes: String,
}

impl KeyLine {
    fn state_in_words(&self) -> String {
        match (self.state, &self.expires) {
            (KeyState::Active, Some(last)) => format!("active until {last}"),
            (KeyState::Expired, Some(last)) => format!("expired on {last}"),
            (state, _) => state.as_str().to_owned(),
        }
    }

    fn use_in_words(&self) -> String {
        let last = self
            .last_used
            .as_deref()
            .map_or("never used".to_owned(), |last| format!("last used {}", to_second(last)));
        format!("{} of {} today, {last}", self.requests_today, self.daily_limit)
    }
}

fn list(tenant: Option<&str>, config: &Config, terminal: &Terminal) -> Outcome {
    let connection = open(config)?;
    let tenant = tenant.map(|tenant| find_tenant(&connection, tenant)).transpose()?.map(|tenant| tenant.id);
    let keys = match tenant {
        Some(tenant) => key::of_tenant(&connection, tenant, now())?,
        None => key::list(&connection, now())?,
    };
    let line = |key: StoredKey| KeyLine {
        id: key.id,
        tenant: key.tenant,
        label: key.label,
        state: key.state,
        active: key.state != KeyState::Deactivated,
        expires: key.valid_until.map(|day| day.to_string()),
        daily_limit: key.daily_limit,
        requests_today: key.today,
        last_used: key.last_used.map(|instant| instant.to_string()),
        scopes: key.scopes.to_stored(),
    };
    let lines: Vec<_> = keys.into_iter().map(line).collect();
    let columns = ["id", "tenant", "label", "state", "use", "scopes"];
    terminal.rows(&columns, &lines, |line| {
        vec![
            line.id.clone(),
            line.tenant.clone(),
            line.label.clone(),
            line.state_in_words(),
            line.use_in_words(),
            in_short(&line.scopes),
        ]
    })
}

/// An instant to the second, with a blank between day and time, where a line may end.
pub fn to_second(instant: &str) -> String {
    instant.chars().take(19).map(|c| if c == 'T' { ' ' } else { c }).collect()
}

/// Scopes as they were given: everything, or a purpose; else each.
fn in_short(stored: &str) -> String {
    let scopes = ScopeSet::from_stored(stored);
    if scopes == ScopeSet::all() {
        return "all".to_owned();
    }
    let purpose = Purpose::ALL.iter().find(|purpose| purpose.scopes() == scopes);
    purpose.map_or_else(|| stored.to_owned(), |purpose| format!("for {}", purpose.as_str()))
}

fn change(id: &str, changes: &Changes, config: &Config, terminal: &Terminal) -> Outcome {
    let label = changes.label.as_deref().map(checked_label).transpose()?;
    let valid_until = match changes.expires.as_deref() {
        None => None,
        Some("never") => Some(None),
        Some(text) => Some(Some(last_day(text)?)),
    };
    let scopes = changes.scopes.named()?;
    let changes = KeyChanges { label, scopes, valid_until, daily_limit: changes.daily_limit };
    let id = public_part(id);
    let changed = database::change(config, |connection| {
        let old = find(connection, id)?;
        let deed = key_changes::change(connection, &old, &changes)?;
        deed.iter().try_for_each(|deed| note(connection, Some(old.tenant_id), "key change", deed))?;
        Ok(deed.iter().flat_map(Deed::changed).collect::<Vec<_>>())
    })?;
    terminal.result(id, &json!({"id": id}));
    terminal.say_changes(&changed);
    Ok(())
}

fn set_active(id: &str, active: bool, config: &Config, terminal: &Terminal) -> Outcome {
    let id = public_part(id);
    let key = database::change(config, |connection| {
        let key = find(connection, id)?;
        if let Some(what) = key_changes::set_active(connection, &key, active)? {
            let command = if active { "key activate" } else { "key deactivate" };
            note(connection, Some(key.tenant_id), command, &what)?;
        }
        find(connection, id)
    })?;
    terminal.result(id, &json!({"id": id, "active": active}));
    if let (KeyState::Expired, Some(last)) = (key.state, key.valid_until) {
        terminal
            .say(&format!("It has expired on {last}: `partnerd key change {id} --expires DATE` moves that."));
    }
    Ok(())
}

fn find(connection: &Connection, id: &str) -> Outcome<StoredKey> {
    key::find(connection, id, now())?
        .ok_or_else(|| format!("there is no key {id}: `partnerd key list` names all").into())
}

/// The public part of a key. People paste what they have: the id, or the whole key.
pub fn public_part(text: &str) -> &str {
    let text = text.trim();
    text.strip_prefix("ak_").map_or(text, |rest| rest.split('_').next().unwrap_or(rest))
}

pub fn day(text: &str) -> Result<Day, String> {
    Day::parse_plain(text).ok_or_else(|| format!("{text} is no day: expected a date such as 2027-12-31"))
}

fn last_day(text: &str) -> Result<Day, String> {
    let last = day(text)?;
    if !key_changes::may_end(last, now()) {
        let today = Day::in_utc(now());
        return Err(format!(
            "{last} is over: a key may end today, {today}, or later; `partnerd key deactivate` ends one at once"
        ));
    }
    Ok(last)
}

fn checked_label(text: &str) -> Result<String, String> {
    key_changes::label(text)
        .ok_or_else(|| format!("the label of a key has 1 to {LABEL_CHARS_MAX} characters on one line"))
}

fn scopes(texts: &[String]) -> Result<ScopeSet, String> {
    let names = texts.iter().flat_map(|text| text.split(','));
    let read = |text: &str| {
        Scope::parse(text.trim())
            .ok_or_else(|| format!("there is no scope {text}; known are: {}", Scope::texts()))
    };
    names.map(read).collect()
}
