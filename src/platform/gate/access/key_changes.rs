//! Creating and changing keys: the allowed values, and the events for the log (D27). The command line and the
//! web page use the same functions, so both obey the same rules and leave the same rows.

use rusqlite::{Connection, params};

use super::key::{self, Grant, KeyState, NewKey, StoredKey};
use crate::platform::db::TenantId;
use crate::platform::failure::Result;
use crate::rules::admin_event::{AdminAction, AdminEvent, Art};
use crate::rules::changed::Changed;
use crate::rules::day::{Day, Instant};
use crate::rules::scope::{Purpose, ScopeSet};

/// Maximum length of a key's label, in characters.
pub const LABEL_CHARS_MAX: usize = 100;

/// Returns a key's label as it is stored: 1 to [`LABEL_CHARS_MAX`] characters on one line; `None` if the text
/// is invalid.
pub fn label(text: &str) -> Option<String> {
    let label = text.trim();
    let is_label =
        !label.is_empty() && label.chars().count() <= LABEL_CHARS_MAX && !label.chars().any(char::is_control);
    is_label.then(|| label.to_owned())
}

/// Whether a key may get this last day (UTC): with a past day nobody could use the key.
pub fn may_end(last: Day, now: Instant) -> bool {
    last >= Day::in_utc(now)
}

/// Unites the scopes of these purposes with the single ones; `None` if nothing was named.
pub fn scopes(purposes: &[Purpose], single: ScopeSet) -> Option<ScopeSet> {
    let all = purposes.iter().fold(single, |all, purpose| all.and(purpose.scopes()));
    (all != ScopeSet::default()).then_some(all)
}

/// Adds a key to a tenant; returns the event for the log.
pub fn create(
    connection: &Connection,
    tenant: TenantId,
    key: &NewKey,
    grant: &Grant,
    now: Instant,
) -> Result<AdminEvent> {
    key::insert(connection, tenant, key, grant, now)?;
    let until = grant.valid_until.map(|day| day.to_string()).unwrap_or_default();
    let granted = [Changed::of("scopes", "", grant.scopes.to_stored()), Changed::of("expires", "", until)];
    let event = AdminEvent::new(AdminAction::Angelegt, Art::Schluessel).id(&key.id).name(&grant.label);
    Ok(event.changing(granted.into_iter().flatten()))
}

#[derive(Debug, Clone, Default)]
pub struct Changes {
    pub label: Option<String>,
    pub scopes: Option<ScopeSet>,
    /// Last day (UTC) on which the key is accepted; `Some(None)`: until it is deactivated.
    pub valid_until: Option<Option<Day>>,
    /// Requests per UTC day.
    pub daily_limit: Option<u32>,
}

/// Changes a key, effective with the next request; returns the event for the log, `None` if nothing changed.
pub fn change(connection: &Connection, old: &StoredKey, changes: &Changes) -> Result<Option<AdminEvent>> {
    let new = StoredKey {
        label: changes.label.clone().unwrap_or_else(|| old.label.clone()),
        scopes: changes.scopes.unwrap_or(old.scopes),
        valid_until: changes.valid_until.unwrap_or(old.valid_until),
        daily_limit: changes.daily_limit.unwrap_or(old.daily_limit),
        ..old.clone()
    };
    key::change(connection, &new)?;
    let changed = differences(old, &new);
    Ok((!changed.is_empty()).then(|| done_to(&new, AdminAction::Geaendert).changing(changed)))
}

fn differences(old: &StoredKey, new: &StoredKey) -> Vec<Changed> {
    let day = |key: &StoredKey| key.valid_until.map(|day| day.to_string()).unwrap_or_default();
    let [before, after] = [old, new].map(|key| key.daily_limit.to_string());
    let changed = [
        Changed::of("label", &old.label, &new.label),
        Changed::of("scopes", old.scopes.to_stored(), new.scopes.to_stored()),
        Changed::of("expires", day(old), day(new)),
        Changed::of("daily-limit", before, after),
    ];
    changed.into_iter().flatten().collect()
}

/// Activates or deactivates a key, effective with the next request; returns the event for the log, `None` if
/// nothing changed.
pub fn set_active(connection: &Connection, key: &StoredKey, active: bool) -> Result<Option<AdminEvent>> {
    if (key.state != KeyState::Deactivated) == active {
        return Ok(None);
    }
    connection.execute("update api_key set aktiv = ?1 where id = ?2", params![active, key.id])?;
    Ok(Some(done_to(key, if active { AdminAction::Freigegeben } else { AdminAction::Gesperrt })))
}

fn done_to(key: &StoredKey, tat: AdminAction) -> AdminEvent {
    AdminEvent::new(tat, Art::Schluessel).id(&key.id).name(&key.label)
}
