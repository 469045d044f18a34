//! Companies and their settings.

mod settings;
mod value;

pub use settings::{
    ChargeAutomatik, Einstellungen, Lagerbuchung, SETTINGS, Setting, Strenge, UnbekannteParameter, load, set,
};
pub use value::SettingValue;

use rusqlite::{Connection, OptionalExtension, params};

use crate::db::TenantId;
use crate::db::error::{Failure, Result};
use crate::rules::day::Instant;
use crate::steuersaetze;

/// A company.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Tenant {
    /// Its number.
    pub id: TenantId,
    /// Its name, unique.
    pub name: String,
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
