//! Rows of the administration log for what the command line does (D27): keys, settings, companies, imports.
//! The row commits with the change and says who made it.

use std::path::Path;

use rusqlite::Connection;

use super::database::{in_transaction, now};
use super::terminal::{Outcome, Terminal, sentence};
use crate::platform::db::file::connection::open_sealed;
#[cfg(target_os = "linux")]
use crate::platform::db::file::owner::name_of;
use crate::platform::db::{TenantId, log};
use crate::platform::failure::Result;
use crate::platform::gate::administration::{self, Akteur};
use crate::rules::admin_event::{AdminAction, AdminEvent, Art};

/// Records what a command did, within its transaction; `tenant` is the company it concerns, or `None`.
pub fn note(
    connection: &Connection,
    tenant: Option<TenantId>,
    command: &str,
    event: &AdminEvent,
) -> Result<()> {
    administration::note(connection, now(), &of_command(command, account()), tenant, event)
}

fn of_command(name: &str, konto: String) -> Akteur {
    Akteur::Befehl { name: name.to_owned(), konto }
}

/// Records what a command made beside the database. If that fails, says so and undoes nothing.
pub fn record_made(database: &Path, terminal: &Terminal, command: &str, event: &AdminEvent) {
    if let Err(error) = write_down(database, &of_command(command, account()), event) {
        let (database, why) = (database.display(), sentence(error));
        terminal.say(&format!("Das kam nicht ins Protokoll von {database}: {why}"));
    }
}

/// Records in a restored database who ordered the restore on the page; by name, since that person may not be in it.
pub fn record_restore(database: &Path, person: &str, backup: &Path) {
    let event =
        AdminEvent::new(AdminAction::Zurueckgespielt, Art::Sicherung).name(backup.display().to_string());
    let akteur = of_command("restore", format!("Leitstand: {person}"));
    if let Err(error) = write_down(database, &akteur, &event) {
        log(&format!("the restore could not be written into the log: {}", sentence(error)));
    }
}

fn write_down(database: &Path, akteur: &Akteur, event: &AdminEvent) -> Outcome {
    let mut connection = open_sealed(database)?;
    in_transaction(&mut connection, |open| Ok(administration::note(open, now(), akteur, None, event)?))
}

/// Returns the account that runs this program; under sudo also the account that called sudo.
fn account() -> String {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    #[cfg(target_os = "linux")]
    let own = { name_of(rustix::process::getuid().as_raw()) };
    #[cfg(not(target_os = "linux"))]
    let own = variable("USERNAME").or_else(|| variable("USER")).unwrap_or_else(|| "unbekannt".to_owned());
    match variable("SUDO_USER") {
        Some(begun) if begun != own => format!("{own}, begonnen von {begun}"),
        _ => own,
    }
}
