//! Companies and their settings.

mod absender;
pub mod firma;
mod settings;
pub mod testfirma;
mod value;

pub use absender::{absender, aufdruck};
pub use firma::Logo;
pub use settings::{
    ChargeAutomatik, ERechnungspflicht, Einstellungen, Lagerbuchung, SETTINGS, Setting, Strenge,
    UnbekannteParameter, load, lock_until,
};
pub use value::{Jahrestag, Monate, SettingValue, Worded};

use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::master::steuersaetze;
use crate::platform::db::TenantId;
use crate::platform::db::tx::Tx;
use crate::platform::failure::{Failure, Result};
use crate::rules::admin_event::{AdminAction, AdminEvent, Art};
use crate::rules::bytes::hex;
use crate::rules::changed::Changed;
use crate::rules::day::Instant;
use crate::rules::text::nearest;

#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Tenant {
    pub id: TenantId,
    pub name: String,
    /// Whether it is a test company: its documents are marked, and it can be emptied.
    pub test: bool,
}

#[derive(Debug, Clone)]
pub struct CurrentSetting {
    pub setting: &'static Setting,
    /// The value as a user would type it; for the logo its sha256.
    pub value: String,
}

/// Iterates over every setting: first those of the program's behaviour, then the master data (D24).
pub fn all_settings() -> impl Iterator<Item = &'static Setting> {
    SETTINGS.iter().chain(firma::ANGABEN)
}

pub fn show(connection: &Connection, tenant: TenantId, now: Instant) -> Result<Vec<CurrentSetting>> {
    let tx = Tx::new(connection, tenant, now);
    let einstellungen = load(&tx)?;
    let angaben = firma::load(&tx)?.texts().into_iter().map(Option::unwrap_or_default);
    let values = einstellungen.texts().into_iter().chain(angaben);
    Ok(all_settings().zip(values).map(|(setting, value)| CurrentSetting { setting, value }).collect())
}

/// Changes settings of a company and returns the changes. Must run in a transaction: if one setting is
/// refused, those before it are already changed.
pub fn set(
    connection: &Connection,
    tenant: TenantId,
    changes: &[(&str, &str)],
    now: Instant,
) -> Result<Vec<Changed>> {
    let before = show(connection, tenant, now)?;
    let tx = Tx::new(connection, tenant, now);
    let einstellungen = load(&tx)?;
    let mut angaben = Vec::new();
    for (name, text) in changes {
        let known = all_settings().find(|setting| setting.name == *name).ok_or_else(|| unknown(name))?;
        match SETTINGS.iter().any(|setting| setting.name == *name) {
            true => settings::change(connection, tenant, known, text, now)?,
            false => angaben.push((known, *text)),
        }
    }
    settings::check_kleinunternehmer(&tx, &einstellungen)?;
    firma::enter(connection, tenant, &angaben, now)?;
    let after = show(connection, tenant, now)?;
    let pairs = before.into_iter().zip(after);
    Ok(pairs.filter_map(|(old, new)| Changed::of(old.setting.name, old.value, new.value)).collect())
}

/// Sets or removes the logo of a company; returns the change, if any.
pub fn set_logo(
    connection: &Connection,
    tenant: TenantId,
    logo: Option<&Logo>,
    now: Instant,
) -> Result<Option<Changed>> {
    let picture = || -> Result<String> {
        let sha256 = firma::load(&Tx::new(connection, tenant, now))?.logo;
        Ok(sha256.map(|sha256| format!("ein Bild (sha256 {})", hex(&sha256))).unwrap_or_default())
    };
    let before = picture()?;
    firma::set_logo(connection, tenant, logo, now)?;
    Ok(Changed::of("logo", before, picture()?))
}

fn unknown(name: &str) -> Failure {
    let names: Vec<_> = all_settings().map(|setting| setting.name).collect();
    let nearest = nearest(name, names.iter().copied()).unwrap_or_default();
    Failure::Broken(format!(
        "die Einstellung {name} gibt es nicht; gemeint ist vielleicht {nearest}. Es gibt: {}",
        names.join(", ")
    ))
}

/// Whether this is a valid company name: one line of 1 to 255 bytes.
pub fn is_name(name: &str) -> bool {
    !name.trim().is_empty() && name.len() <= 255 && !name.chars().any(char::is_control)
}

/// The admin event for a new company.
pub fn created(name: &str, test: bool) -> AdminEvent {
    let test = test.then(|| Changed::of("test", "", "true")).flatten();
    AdminEvent::new(AdminAction::Angelegt, Art::Firma).name(name).changing(test)
}

/// Creates a company with its own copy of the tax rates; a test company stays a test company.
pub fn create(connection: &Connection, name: &str, test: bool, now: Instant) -> Result<TenantId> {
    if find(connection, name)?.is_some() {
        return Err(Failure::Broken(format!("die Firma {name} gibt es schon: einen anderen Namen wählen")));
    }
    connection.execute(
        "insert into tenant (name, angelegt_am, test) values (?1, ?2, ?3)",
        params![name, now, test],
    )?;
    let tenant = connection.last_insert_rowid();
    testfirma::seal(connection, Some(tenant))?;
    steuersaetze::copy_template(connection, tenant)?;
    Ok(tenant)
}

/// Empties a test company within a transaction and returns the number of deleted rows. Keys, settings and
/// master data stay; numbering restarts.
pub fn reset(connection: &Connection, tenant: &Tenant) -> Result<usize> {
    if !tenant.test {
        return Err(Failure::Broken(format!(
            "{} ist keine Testfirma und kann keine werden, also wird nichts von ihr gelöscht: \
             `partnerd tenant create NAME --test` legt eine an",
            tenant.name
        )));
    }
    testfirma::empty(connection, tenant.id)
}

/// Returns the ids of all companies. Works on databases with an older schema than other queries need.
pub fn ids(connection: &Connection) -> Result<Vec<TenantId>> {
    let mut statement = connection.prepare("select id from tenant order by id")?;
    let ids = statement.query_map([], |row| row.get(0))?;
    Ok(ids.collect::<rusqlite::Result<_>>()?)
}

pub fn list(connection: &Connection) -> Result<Vec<Tenant>> {
    let mut statement = connection.prepare("select id, name, test from tenant order by id")?;
    let rows = statement.query_map([], tenant)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

pub fn find(connection: &Connection, name_or_id: &str) -> Result<Option<Tenant>> {
    let statement =
        "select id, name, test from tenant where name = ?1 or id = cast(?1 as integer) and ?1 = cast(id as text)
        order by name = ?1 desc limit 1";
    Ok(connection.query_row(statement, [name_or_id], tenant).optional()?)
}

fn tenant(row: &Row<'_>) -> rusqlite::Result<Tenant> {
    Ok(Tenant { id: row.get(0)?, name: row.get(1)?, test: row.get(2)? })
}
