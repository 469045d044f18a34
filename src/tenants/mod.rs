//! Companies and their settings.

mod absender;
pub mod firma;
mod settings;
mod value;

pub use absender::absender;
pub use settings::{
    ChargeAutomatik, ERechnungspflicht, Einstellungen, Lagerbuchung, SETTINGS, Setting, Strenge,
    UnbekannteParameter, load,
};
pub use value::SettingValue;

use rusqlite::{Connection, OptionalExtension, params};

use crate::db::TenantId;
use crate::db::tx::Tx;
use crate::failure::{Failure, Result};
use crate::rules::day::Instant;
use crate::rules::text::nearest;
use crate::steuersaetze;

/// A company.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Tenant {
    /// Its number.
    pub id: TenantId,
    /// Its name, unique.
    pub name: String,
}

/// A setting of a company, as it is now.
#[derive(Debug, Clone)]
pub struct Stand {
    /// Which.
    pub setting: &'static Setting,
    /// Its value, as it would be typed; of the logo its sha256.
    pub value: String,
}

/// Every setting: how the program works for a company, then its master data (D24).
pub fn all_settings() -> impl Iterator<Item = &'static Setting> {
    SETTINGS.iter().chain(firma::ANGABEN)
}

/// Every setting of a company as it is now.
pub fn show(connection: &Connection, tenant: TenantId, now: Instant) -> Result<Vec<Stand>> {
    let tx = Tx::new(connection, tenant, now);
    let einstellungen = load(&tx)?;
    let angaben = firma::load(&tx)?.texts().into_iter().map(Option::unwrap_or_default);
    let values = einstellungen.texts().into_iter().chain(angaben);
    Ok(all_settings().zip(values).map(|(setting, value)| Stand { setting, value }).collect())
}

/// Changes settings of a company. Within a transaction: one that cannot be changed leaves the others changed.
pub fn set(connection: &Connection, tenant: TenantId, changes: &[(&str, &str)], now: Instant) -> Result<()> {
    let mut angaben = Vec::new();
    for (name, text) in changes {
        let known = all_settings().find(|setting| setting.name == *name).ok_or_else(|| unknown(name))?;
        match SETTINGS.iter().any(|setting| setting.name == *name) {
            true => settings::change(connection, tenant, known, text)?,
            false => angaben.push((known, *text)),
        }
    }
    firma::enter(connection, tenant, &angaben, now)
}

fn unknown(name: &str) -> Failure {
    let names: Vec<_> = all_settings().map(|setting| setting.name).collect();
    let nearest = nearest(name, names.iter().copied()).unwrap_or_default();
    Failure::Broken(format!(
        "there is no setting {name}; did you mean {nearest}? Known are: {}",
        names.join(", ")
    ))
}

/// Adds a company with its own copy of the tax rates.
pub fn create(connection: &Connection, name: &str, now: Instant) -> Result<TenantId> {
    if find(connection, name)?.is_some() {
        return Err(Failure::Broken(format!("there is a company {name} already")));
    }
    connection.execute("insert into tenant (name, angelegt_am) values (?1, ?2)", params![name, now])?;
    let tenant = connection.last_insert_rowid();
    steuersaetze::copy_template(connection, tenant)?;
    Ok(tenant)
}

/// All companies.
pub fn list(connection: &Connection) -> Result<Vec<Tenant>> {
    let mut statement = connection.prepare("select id, name from tenant order by id")?;
    let rows = statement.query_map([], |row| Ok(Tenant { id: row.get(0)?, name: row.get(1)? }))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// A company by name or number.
pub fn find(connection: &Connection, name_or_id: &str) -> Result<Option<Tenant>> {
    let statement =
        "select id, name from tenant where name = ?1 or id = cast(?1 as integer) and ?1 = cast(id as text)
        order by name = ?1 desc limit 1";
    let tenant = connection
        .query_row(statement, [name_or_id], |row| Ok(Tenant { id: row.get(0)?, name: row.get(1)? }));
    Ok(tenant.optional()?)
}
