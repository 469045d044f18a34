//! Test companies: their documents are marked, and they can be emptied. A company is a test company from
//! creation or never. A trigger and a seal enforce this, because emptying deletes even final documents.

use rusqlite::{Connection, params};

use crate::master::steuersaetze;
use crate::platform::db::TenantId;
use crate::platform::failure::Result;

/// Tables that keep their rows when a company is emptied: keys, master data, and evidence of what happened.
const STAY: [&str; 10] = [
    "api_key",
    "firma",
    "firma_logo",
    "konto_funktion",
    "bu_schluessel",
    "postausgang",
    "nachweis",
    "audit",
    "audit_flut",
    "z3",
];

const SEAL: &str = "kurzsiegel('testfirma', id, angelegt_am)";

/// Seals test companies with the secret of this connection: one, or all of them after the secret has changed.
pub fn seal(connection: &Connection, tenant: Option<TenantId>) -> Result<()> {
    let statement = format!("update tenant set test_mac = {SEAL} where test = 1 and (?1 is null or id = ?1)");
    connection.execute(&statement, params![tenant])?;
    Ok(())
}

/// Returns the test companies; if the database `is_sealed`, only those that partnerd created.
pub fn all(connection: &Connection, is_sealed: bool) -> Result<Vec<TenantId>> {
    let statement = format!("select id from tenant where test = 1 and (?1 = 0 or test_mac is {SEAL})");
    let mut statement = connection.prepare(&statement)?;
    let ids = statement.query_map([is_sealed], |row| row.get(0))?;
    Ok(ids.collect::<rusqlite::Result<_>>()?)
}

/// Deletes all rows of a company except in the tables of [`STAY`], within a transaction; returns the number
/// of rows. The caller guarantees that it is a test company.
pub(super) fn empty(connection: &Connection, tenant: TenantId) -> Result<usize> {
    // Rows of several tables reference each other, and all of them are deleted.
    connection.execute_batch("pragma defer_foreign_keys = on")?;
    let tables = tables(connection)?;
    let triggers = triggers(connection, &tables)?;
    for (name, _) in &triggers {
        connection.execute_batch(&format!("drop trigger {name}"))?;
    }
    let mut gone = 0;
    for table in &tables {
        gone += connection.execute(&format!("delete from {table} where tenant_id = ?1"), [tenant])?;
    }
    for (_, made) in &triggers {
        connection.execute_batch(made)?;
    }
    steuersaetze::copy_template(connection, tenant)?;
    Ok(gone)
}

fn tables(connection: &Connection) -> Result<Vec<String>> {
    let mut statement = connection.prepare(
        "select s.name from sqlite_schema s where s.type = 'table'
           and exists (select 1 from pragma_table_info(s.name) c where c.name = 'tenant_id') order by s.name",
    )?;
    let names = statement.query_map([], |row| row.get(0))?;
    let names: Vec<String> = names.collect::<rusqlite::Result<_>>()?;
    Ok(names.into_iter().filter(|name| !STAY.contains(&name.as_str())).collect())
}

/// Returns names and statements of the triggers of these tables, which protect final rows and maintain
/// counters.
fn triggers(connection: &Connection, tables: &[String]) -> Result<Vec<(String, String)>> {
    let mut statement = connection
        .prepare("select name, sql, tbl_name from sqlite_schema where type = 'trigger' order by rowid")?;
    let rows = statement.query_map([], |row| Ok(((row.get(0)?, row.get(1)?), row.get::<_, String>(2)?)))?;
    let rows: Vec<_> = rows.collect::<rusqlite::Result<_>>()?;
    Ok(rows.into_iter().filter(|(_, table)| tables.contains(table)).map(|(trigger, _)| trigger).collect())
}
