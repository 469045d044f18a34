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
use crate::platform::gate::access::key::{self, Grant, KeyState, StoredKey};
use crate::platform::gate::access::key_changes::{self, Changes as KeyChanges, LABEL_CHARS_MAX};
use crate::rules::admin_event::AdminEvent;
use crate::rules::choice::Choice;
use crate::rules::day::Day;
use crate::rules::scope::{Purpose, Scope, ScopeSet};
use crate::start::config::Config;

#[derive(Subcommand)]
pub enum Command {
    /// Einen Schlüssel anlegen; er wird nur dies eine Mal gezeigt
    #[command(
        group = one_of(&["purposes", "scope", "all_scopes"]),
        override_usage = "partnerd key create --tenant <FIRMA> --label <TEXT>\n       \
                          <--for <ZWECK>|--scope <SCOPE>|--all-scopes>\n       \
                          [OPTIONEN]",
        after_help = "Beispiele:\n  \
                      partnerd key create --tenant \"Mühle Beispiel\" \\\n      \
                      --label shop --for shop --out shop.key\n  \
                      partnerd key create --tenant \"Mühle Beispiel\" \\\n      \
                      --label feld --scope waage:read --expires 2027-12-31"
    )]
    Create {
        /// Name oder Nummer der Firma
        #[arg(long, value_name = "FIRMA")]
        tenant: String,
        /// Wofür er ist
        #[arg(long, value_name = "TEXT")]
        label: String,
        #[command(flatten)]
        scopes: Scopes,
        /// Letzter Tag (UTC), an dem er gilt, etwa 2027-12-31
        #[arg(long, value_name = "TAG")]
        expires: Option<String>,
        /// Anfragen, die er an einem UTC-Tag stellen darf [sonst: 10000]
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        daily_limit: Option<u32>,
        /// Ihn in diese Datei schreiben, die nur ihr Besitzer lesen darf, und die id ausgeben
        #[arg(long, value_name = "DATEI")]
        out: Option<PathBuf>,
    },
    /// Schlüssel zeigen: Stand, Nutzung, Berechtigungen
    #[command(after_help = "Beispiele:\n  partnerd key list --tenant \"Mühle Beispiel\"")]
    List {
        /// Nur die dieser Firma
        #[arg(long, value_name = "FIRMA")]
        tenant: Option<String>,
    },
    /// Einen Schlüssel ändern; es gilt ab der nächsten Anfrage
    #[command(
        override_usage = "partnerd key change <ID> [--label <TEXT>]\n       \
                          [--for <ZWECK>] [--scope <SCOPE>] [--all-scopes]\n       \
                          [--expires <TAG>] [--daily-limit <N>]",
        group = one_of(&["label", "purposes", "scope", "all_scopes", "expires", "daily_limit"]),
        after_help = "Beispiele:\n  \
                      partnerd key change 3f2a9c01b4d7 --expires 2028-12-31\n  \
                      partnerd key change 3f2a9c01b4d7 \\\n      \
                      --for shop --daily-limit 50000"
    )]
    Change {
        /// Der öffentliche Teil des Schlüssels: ak_<ID>_…
        id: String,
        #[command(flatten)]
        changes: Changes,
    },
    /// Einen Schlüssel sperren, ab der nächsten Anfrage
    #[command(after_help = "Beispiele:\n  partnerd key deactivate 3f2a9c01b4d7")]
    Deactivate {
        /// Der öffentliche Teil des Schlüssels: ak_<ID>_…
        id: String,
    },
    /// Einen Schlüssel wieder freigeben
    #[command(after_help = "Beispiele:\n  partnerd key activate 3f2a9c01b4d7")]
    Activate {
        /// Der öffentliche Teil des Schlüssels: ak_<ID>_…
        id: String,
    },
}

#[derive(clap::Args)]
#[group(skip)]
pub struct Scopes {
    /// Wofür er ist: gibt ihm die Berechtigungen, die das braucht; mehrmals möglich
    #[arg(long = "for", value_name = "ZWECK", value_parser = purposes())]
    purposes: Vec<Purpose>,
    /// Was er darf, etwa kunden:read; mehrmals möglich
    #[arg(long, value_name = "SCOPE")]
    scope: Vec<String>,
    /// Er darf alles
    #[arg(long, conflicts_with_all = ["scope", "purposes"])]
    all_scopes: bool,
}

/// At least one of these options must be given; several may be.
fn one_of(options: &'static [&'static str]) -> ArgGroup {
    ArgGroup::new("one_of").args(options).required(true).multiple(true)
}

/// Parses a purpose; the help lists the purposes with their scopes.
fn purposes() -> impl TypedValueParser<Value = Purpose> {
    let value = |purpose: &Purpose| {
        PossibleValue::new(purpose.as_str()).help(purpose.scopes().to_stored().replace(' ', ", "))
    };
    PossibleValuesParser::new(Purpose::ALL.iter().map(value))
        .map(|text| Purpose::parse(&text).unwrap_or(Purpose::Shop))
}

impl Scopes {
    /// Returns the given scopes; `None` if none were given.
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
    /// Wofür er ist
    #[arg(long, value_name = "TEXT")]
    label: Option<String>,
    #[command(flatten)]
    scopes: Scopes,
    /// Letzter Tag (UTC), an dem er gilt, etwa 2027-12-31; never: ohne Ende
    #[arg(long, value_name = "TAG")]
    expires: Option<String>,
    /// Anfragen, die er an einem UTC-Tag stellen darf
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
    // Hashing takes time, so it is done before the write lock is taken.
    let key = key::generate(&key::mac_secret(&connection)?)?;
    let mut is_written = false;
    let stored = in_transaction(&mut connection, |connection| {
        let tenant = find_tenant(connection, tenant)?;
        let what = key_changes::create(connection, tenant.id, &key, grant, now())?;
        note(connection, Some(tenant.id), "key create", &what)?;
        // Written before the commit: a key that cannot be handed out is useless.
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
            terminal
                .say(&format!("Der Schlüssel {} von {name} ist in {file}, nur für deren Besitzer.", key.id));
        }
        None => {
            terminal.result(&key.text, &json!({"id": key.id, "key": key.text}));
            terminal.say(&format!(
                "Das ist der Schlüssel {} von {name}. Er wird nur jetzt gezeigt: gut aufheben.",
                key.id
            ));
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
            (KeyState::Active, Some(last)) => format!("aktiv bis {last}"),
            (KeyState::Expired, Some(last)) => format!("abgelaufen am {last}"),
            (KeyState::Deactivated, _) => "gesperrt".to_owned(),
            (KeyState::Active | KeyState::Expired, None) => "aktiv".to_owned(),
        }
    }

    fn use_in_words(&self) -> String {
        let last = self
            .last_used
            .as_deref()
            .map_or("nie benutzt".to_owned(), |last| format!("zuletzt {}", to_second(last)));
        format!("{} von {} heute, {last}", self.requests_today, self.daily_limit)
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
    let columns = ["id", "Firma", "Bezeichnung", "Stand", "Nutzung", "Berechtigungen"];
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

/// Shortens an instant to the second, with a blank between day and time, where a line may break.
pub fn to_second(instant: &str) -> String {
    instant.chars().take(19).map(|c| if c == 'T' { ' ' } else { c }).collect()
}

/// Sums up scopes: everything, a purpose if they match one, else the list.
fn in_short(stored: &str) -> String {
    let scopes = ScopeSet::from_stored(stored);
    if scopes == ScopeSet::all() {
        return "alle".to_owned();
    }
    let purpose = Purpose::ALL.iter().find(|purpose| purpose.scopes() == scopes);
    purpose.map_or_else(|| stored.to_owned(), |purpose| format!("für {}", purpose.as_str()))
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
        let event = key_changes::change(connection, &old, &changes)?;
        event.iter().try_for_each(|event| note(connection, Some(old.tenant_id), "key change", event))?;
        Ok(event.iter().flat_map(AdminEvent::changed).collect::<Vec<_>>())
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
        terminal.say(&format!(
            "Er ist am {last} abgelaufen: `partnerd key change {id} --expires TAG` verlängert ihn."
        ));
    }
    Ok(())
}

pub fn find(connection: &Connection, id: &str) -> Outcome<StoredKey> {
    key::find(connection, id, now())?
        .ok_or_else(|| format!("den Schlüssel {id} gibt es nicht: `partnerd key list` nennt alle").into())
}

/// Returns the public part of a key. People paste the id or the whole key.
pub fn public_part(text: &str) -> &str {
    let text = text.trim();
    text.strip_prefix("ak_").map_or(text, |rest| rest.split('_').next().unwrap_or(rest))
}

pub fn day(text: &str) -> Result<Day, String> {
    let day = Day::parse_plain(text).or_else(|| Day::parse_german(text));
    day.ok_or_else(|| format!("{text} ist kein Tag: erwartet wird ein Datum wie 31.12.2027 oder 2027-12-31"))
}

fn last_day(text: &str) -> Result<Day, String> {
    let last = day(text)?;
    if !key_changes::may_end(last, now()) {
        let today = Day::in_utc(now());
        return Err(format!(
            "{last} ist vorbei: ein Schlüssel endet heute, {today}, oder später; `partnerd key deactivate` \
             sperrt ihn sofort"
        ));
    }
    Ok(last)
}

fn checked_label(text: &str) -> Result<String, String> {
    key_changes::label(text).ok_or_else(|| {
        format!(
            "die Bezeichnung eines Schlüssels (--label) hat 1 bis {LABEL_CHARS_MAX} Zeichen in einer Zeile"
        )
    })
}

fn scopes(texts: &[String]) -> Result<ScopeSet, String> {
    let names = texts.iter().flat_map(|text| text.split(','));
    let read = |text: &str| {
        Scope::parse(text.trim())
            .ok_or_else(|| format!("die Berechtigung {text} gibt es nicht; es gibt: {}", Scope::texts()))
    };
    names.map(read).collect()
}
