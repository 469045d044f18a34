//! How commands open and write the database.

use std::path::Path;
use std::sync::OnceLock;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::terminal::{Outcome, Terminal, sentence};
use crate::master::tenants::{self, Tenant};
use crate::operations::sealing;
use crate::platform::db::file::connection::{open_sealed, open_writer};
use crate::platform::db::file::files::{broken, is_blank, refuse_traces};
use crate::platform::db::file::lock;
use crate::platform::db::seals::seal::Secret;
use crate::platform::db::{migrate as schema, system_clock};
use crate::rules::day::Instant;
use crate::start::config::Config;

/// Opens an existing database for writing, also beside a running server.
pub fn open(config: &Config) -> Outcome<Connection> {
    refuse_missing(&config.db)?;
    if config.db.is_dir() {
        let folder = config.db.display();
        let sentence =
            format!("{folder} ist ein Ordner: mit --db die Datei darin nennen, etwa {folder}/partnerd.db");
        return Err(sentence.into());
    }
    open_or_create(&config.db)
}

/// Whether the file exists; refuses if this user may not even see that.
pub fn is_there(path: &Path) -> Outcome<bool> {
    Ok(path.try_exists().map_err(broken(path, "ist nicht zu sehen"))?)
}

/// Refuses a database that is missing or has 0 bytes: only commands that say so begin one (D40).
pub fn refuse_missing(path: &Path) -> Outcome {
    if is_there(path)? && !is_blank(path) {
        return Ok(());
    }
    refuse_traces(path)?;
    Err(missing(path).into())
}

fn missing(database: &Path) -> String {
    if database.exists() {
        return format!(
            "die Datenbank {} ist leer (0 Bytes), etwa nach einer Kopie, die nicht gelang: noch einmal kopieren, mit \
             `partnerd restore SICHERUNG` eine Sicherung zurückholen, oder die Datei löschen",
            database.display()
        );
    }
    format!(
        "die Datenbank {} gibt es nicht: mit `partnerd migrate` oder `partnerd serve` anlegen, oder mit --db \
         eine andere nennen",
        database.display()
    )
}

/// Opens a database, creating it if missing and migrating it to this version; refuses to do either while a
/// server runs.
pub fn open_or_create(path: &Path) -> Outcome<Connection> {
    use_file(path)?;
    let is_current = is_there(path)? && !is_blank(path) && schema::check_current(path)?;
    if !is_current {
        let _no_server = lock::without_server(path)?;
        schema::migrate(path, now())?;
        let mut connection = open_writer(path)?;
        sealing::settle(&mut connection, path, &system_clock())?;
        return Ok(connection);
    }
    Ok(open_sealed(path)?)
}

/// Keeps a restore away from a file until this command ends.
pub fn use_file(path: &Path) -> Outcome {
    static IN_USE: OnceLock<lock::Lock> = OnceLock::new();
    let held = lock::for_use(path)?;
    // A second call has nothing to store: a command opens one file.
    let _ = IN_USE.set(held);
    Ok(())
}

/// Begins a transaction with the write lock, waiting for a server that commits at the same time. Dropping it
/// without a commit rolls it back.
pub fn begin(connection: &mut Connection) -> Outcome<Transaction<'_>> {
    Ok(connection.transaction_with_behavior(TransactionBehavior::Immediate)?)
}

/// Opens an existing database and works on it in one transaction.
pub fn change<T>(config: &Config, work: impl FnOnce(&Connection) -> Outcome<T>) -> Outcome<T> {
    in_transaction(&mut open(config)?, work)
}

pub fn in_transaction<T>(
    connection: &mut Connection,
    work: impl FnOnce(&Connection) -> Outcome<T>,
) -> Outcome<T> {
    let transaction = begin(connection)?;
    let value = work(&transaction)?;
    transaction.commit()?;
    Ok(value)
}

pub fn find_tenant(connection: &Connection, name_or_id: &str) -> Outcome<Tenant> {
    tenants::find(connection, name_or_id)?.ok_or_else(|| {
        format!(
            "die Firma {name_or_id} gibt es nicht: `partnerd tenant list` nennt alle, `partnerd tenant create` \
             legt eine an"
        )
        .into()
    })
}

/// Reads the secret beside the database; says so if it cannot be read, and returns `None`.
pub fn secret(config: &Config, terminal: &Terminal) -> Option<Secret> {
    Secret::read(&config.db).unwrap_or_else(|failure| {
        terminal.say(&sentence(failure.into()));
        None
    })
}

pub fn now() -> Instant {
    (system_clock())()
}
