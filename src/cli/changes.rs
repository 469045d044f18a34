//! What the command line changes is a row of the log (D27): keys, settings, companies, imports. The row commits with
//! the change, and says who made it.

use std::path::Path;

use rusqlite::Connection;
use uuid::Uuid;

use super::database::{in_transaction, now};
use super::terminal::{Outcome, Terminal, sentence};
use crate::db::TenantId;
use crate::db::connection::open_writer;
use crate::gate::audit::{Akteur, Row};
use crate::rules::deed::Deed;

/// Writes down what a command changed in a company; within the transaction that changes it.
pub fn note(connection: &Connection, tenant: TenantId, command: &str, what: &Deed) -> Outcome {
    note_of(connection, Some(tenant), command, what)
}

/// Writes down what a command made beside the database. What cannot be written down is said and does not undo it.
pub fn note_made(database: &Path, terminal: &Terminal, command: &str, what: &Deed) {
    let written = open_writer(database).map_err(sentence).and_then(|mut connection| {
        in_transaction(&mut connection, |open| note_of(open, None, command, what))
    });
    if let Err(complaint) = written {
        terminal
            .say(&format!("This could not be written into the log of {}: {complaint}", database.display()));
    }
}

pub fn note_of(connection: &Connection, tenant: Option<TenantId>, command: &str, what: &Deed) -> Outcome {
    let row = Row {
        am: now().millis(),
        request_id: Uuid::now_v7(),
        tenant_id: tenant,
        pfad: what.to_string(),
        status: DONE,
        anzahl: 1,
        akteur: Some(Akteur::Befehl(format!("{command} ({})", account()))),
        ..Row::default()
    };
    row.insert(connection).map_err(sentence)
}

/// The status of such a row: what is refused changes nothing and has none.
const DONE: u16 = 200;

/// The account that runs this program; with sudo also the one that it was begun from.
fn account() -> String {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    #[cfg(target_os = "linux")]
    let own = {
        let id = rustix::process::getuid().as_raw();
        name_of(id, &std::fs::read_to_string("/etc/passwd").unwrap_or_default())
            .unwrap_or_else(|| format!("uid {id}"))
    };
    #[cfg(not(target_os = "linux"))]
    let own = variable("USERNAME").or_else(|| variable("USER")).unwrap_or_else(|| "unknown".to_owned());
    match variable("SUDO_USER") {
        Some(begun) if begun != own => format!("{own}, begun by {begun}"),
        _ => own,
    }
}

pub fn name_of(id: u32, accounts: &str) -> Option<String> {
    accounts.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(id)).then(|| name.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::name_of;

    #[test]
    fn an_account_is_named_as_the_system_names_it() {
        let accounts = "root:x:0:0:root:/root:/bin/bash\nbroken\nanna:x:1001:1001::/home/anna:/bin/sh\n";
        for (id, name) in [(0, Some("root")), (1001, Some("anna")), (100, None)] {
            assert_eq!(name_of(id, accounts).as_deref(), name, "{id}");
        }
    }
}
