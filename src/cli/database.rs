//! The database, as commands open and write it.

use std::path::Path;
use std::sync::OnceLock;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::terminal::{Outcome, sentence};
use crate::app::sealing;
use crate::config::Config;
use crate::db::connection::open_writer;
use crate::db::{lock, migrate as schema, system_clock};
use crate::rules::day::Instant;
use crate::tenants::{self, Tenant};

/// Opens an existing database to write to it, also beside a running server.
pub fn open(config: &Config) -> Result<Connection, String> {
    if !config.db.exists() {
        return Err(format!(
            "there is no database {}: create it with `partnerd migrate` or `partnerd serve`, or name another with --db",
            config.db.display()
        ));
    }
    open_or_create(&config.db)
}

/// Opens a database and brings it to this version; that is refused beneath a running server.
pub fn open_or_create(path: &Path) -> Result<Connection, String> {
    use_file(path)?;
    let is_current = path.exists() && schema::check_current(path).map_err(sentence)?;
    if !is_current {
        let _no_server = lock::without_server(path).map_err(sentence)?;
        schema::migrate(path, now()).map_err(sentence)?;
        let mut connection = open_writer(path).map_err(sentence)?;
        sealing::settle(&mut connection, path, &system_clock()).map_err(sentence)?;
        return Ok(connection);
    }
    open_writer(path).map_err(sentence)
}

/// Keeps a restore away from a file until this command ends.
pub fn use_file(path: &Path) -> Outcome {
    static IN_USE: OnceLock<lock::Lock> = OnceLock::new();
    let held = lock::for_use(path).map_err(sentence)?;
    // A command opens one file.
    let _ = IN_USE.set(held);
    Ok(())
}

/// Begins a transaction by taking the write lock: a server that commits at the same time is
/// waited for. What is not committed is undone.
pub fn begin(connection: &mut Connection) -> Result<Transaction<'_>, String> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate);
    transaction.map_err(|error| sentence(error.into()))
}

pub fn in_transaction<T>(
    connection: &mut Connection,
    work: impl FnOnce(&Connection) -> Result<T, String>,
) -> Result<T, String> {
    let transaction = begin(connection)?;
    let value = work(&transaction)?;
    transaction.commit().map_err(|error| sentence(error.into()))?;
    Ok(value)
}

pub fn find_tenant(connection: &Connection, name_or_id: &str) -> Result<Tenant, String> {
    let found = tenants::find(connection, name_or_id).map_err(sentence)?;
    found.ok_or_else(|| {
        format!("there is no company {name_or_id}: `partnerd tenant list` names all, `partnerd tenant create` adds one")
    })
}

pub fn now() -> Instant {
    (system_clock())()
}
