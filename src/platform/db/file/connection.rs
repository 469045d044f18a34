//! Opens connections, sets them up, and checks that SQLite accepted the settings.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::platform::db::seals::seal::{self, Secret};
use crate::platform::failure::{Failure, Result};

/// Oldest safe version of SQLite: before it, resetting the write-ahead log could corrupt the file.
const MIN_SQLITE: i32 = 3_051_003;

/// How often a process retries while another one writes: an import may take half a minute.
const BUSY_TRIES_MAX: i32 = 30_000;

/// Pause between two tries. SQLite's own pauses grow to a tenth of a second, during which a process that
/// writes again and again keeps all others out.
const BUSY_INTERVAL: Duration = Duration::from_millis(1);

/// Prepared statements that a connection caches.
const CACHED_STATEMENTS_MAX: usize = 256;

/// Marks a file as ours (`PRAGMA application_id`): "prtd".
const APPLICATION_ID: i32 = 0x7072_7464;

/// Opens the writer's connection, or that of a command running beside the server.
pub fn open_writer(path: &Path) -> Result<Connection> {
    if rusqlite::version_number() < MIN_SQLITE {
        return Err(Failure::Broken(format!("SQLite {} ist zu alt", rusqlite::version())));
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    wait_for_others(&connection)?;
    claim(&connection, path)?;
    let journal: String = connection.query_row("pragma journal_mode = wal", [], |row| row.get(0))?;
    if journal != "wal" {
        return Err(Failure::Broken(format!(
            "{} muss auf einer Platte dieses Rechners liegen, nicht auf einem Netzlaufwerk",
            path.display()
        )));
    }
    connection.execute_batch(
        "pragma synchronous = full;
         pragma foreign_keys = on;
         pragma secure_delete = on;
         pragma recursive_triggers = on;
         pragma trusted_schema = off;
         pragma cell_size_check = on;
         pragma journal_size_limit = 67108864;
         pragma temp_store = memory;
         pragma cache_size = -8192;",
    )?;
    expect(&connection, "synchronous", 2)?;
    expect(&connection, "foreign_keys", 1)?;
    // Erased data (D27) must not survive in unused parts of pages, where old values would otherwise remain.
    expect(&connection, "secure_delete", 1)?;
    // Without it REPLACE would delete protected rows without firing their triggers.
    expect(&connection, "recursive_triggers", 1)?;
    keep_statements(&connection)?;
    // An unreadable secret is reported when the server starts.
    seal::install(&connection, Secret::read(path).ok().flatten().as_ref())?;
    Ok(connection)
}

/// Like [`open_writer`], for commands. Refuses a secret that exists but cannot be read: rows written without
/// a seal would look forged.
pub fn open_sealed(path: &Path) -> Result<Connection> {
    let connection = open_writer(path)?;
    seal::install(&connection, Secret::read(path)?.as_ref())?;
    Ok(connection)
}

/// Marks a new file as ours; refuses a database of another program.
fn claim(connection: &Connection, path: &Path) -> Result<()> {
    let application: i32 = connection.query_row("pragma application_id", [], |row| row.get(0))?;
    if application == APPLICATION_ID {
        return Ok(());
    }
    let tables: i64 = connection.query_row("select count(*) from sqlite_schema", [], |row| row.get(0))?;
    if tables > 0 {
        return Err(foreign(path));
    }
    connection.execute_batch(&format!("pragma application_id = {APPLICATION_ID}"))?;
    Ok(())
}

/// Opens a database for reading only: never changes a byte of the file.
pub fn open_to_look(path: &Path) -> Result<Connection> {
    let connection = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    prepare_reader(&connection)?;
    let application: i32 = connection.query_row("pragma application_id", [], |row| row.get(0))?;
    if application != APPLICATION_ID {
        return Err(foreign(path));
    }
    Ok(connection)
}

fn foreign(path: &Path) -> Failure {
    Failure::Broken(format!("{} ist die Datenbank eines anderen Programms", path.display()))
}

pub fn wait_for_others(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_handler(Some(|tries| {
        std::thread::sleep(BUSY_INTERVAL);
        tries < BUSY_TRIES_MAX
    }))
}

pub fn prepare_reader(connection: &Connection) -> rusqlite::Result<()> {
    wait_for_others(connection)?;
    connection.execute_batch(
        "pragma query_only = on;
         pragma trusted_schema = off;
         pragma cell_size_check = on;
         pragma temp_store = memory;",
    )?;
    keep_statements(connection)
}

/// Keeps statements prepared, with the plan that the tests checked: otherwise SQLite would plan each list
/// again for every value of its `limit`.
fn keep_statements(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS_MAX);
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

fn expect(connection: &Connection, pragma: &str, value: i64) -> Result<()> {
    let found: i64 = connection.query_row(&format!("pragma {pragma}"), [], |row| row.get(0))?;
    if found == value {
        return Ok(());
    }
    Err(Failure::Broken(format!("SQLite nahm {pragma} = {value} nicht an")))
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::*;

    #[test]
    fn a_list_is_planned_once_whatever_its_limit() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("create table t (a); insert into t values (1), (2)").unwrap();
        prepare_reader(&connection).unwrap();
        for limit in 1..3 {
            let mut statement = connection.prepare_cached("select a from t order by a limit :limit").unwrap();
            let rows = statement.query_map([limit], |row| row.get::<_, i64>(0)).unwrap();
            assert_eq!(rows.count() as i64, limit);
            assert_eq!(statement.get_status(StatementStatus::RePrepare), 0, "limit {limit}");
        }
    }
}
