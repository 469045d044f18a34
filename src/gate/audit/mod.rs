//! The audit log: one row for every answered request.
//!
//! A write's row commits with the write. The rows of reads and refusals go to the `journal` first;
//! `take_in` brings them into the table with the writer's next batch, `flood` counts instead of
//! listing, `strangers` decides that for those without a valid key. The rows of a day are a `chain` of checksums,
//! `adding` appends to it; rows and heads are sealed with a secret that is not in the database, `beginning` says since
//! when, `verify` proves all of it, `against` compares it with a backup, `heads` is what a person writes down.
//! `rollover` drops what is older than it must be kept, `listing` shows the log to a person.

mod adding;
mod against;
mod beginning;
mod chain;
mod flood;
mod heads;
mod journal;
mod listing;
mod rollover;
mod strangers;
mod take_in;
mod verify;

pub use against::against;
pub use beginning::{Sealed, begin, is_of_new_database, newest_beginning, newest_beginning_number, sealed};
pub use heads::{copied_heads, forget_copied, newest_head, note_copied};
pub use journal::{Journal, segments};
pub use listing::{Entry, Selection, entries, newest};
pub use rollover::{DAYS, Rollover, first_kept, step};
pub use take_in::TakeIn;
pub use verify::{Finding, verify};

use std::path::Path;
use std::sync::Arc;

use rusqlite::Connection;
use rusqlite::types::Type;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::quota::Quota;
use crate::db::Clock;
use crate::db::seal::Secret;
use crate::failure::Result;
use crate::http::route::Route;
use adding::Adding;

/// Bytes that a line of the journal has, as a rule.
const LINE: usize = 384;

/// One row of the audit log.
/// In the journal it stands as a list of its fields, in this order; earlier versions named them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[allow(missing_docs)]
pub struct Row {
    pub am: i64,
    pub request_id: Uuid,
    pub key_id: Option<String>,
    pub tenant_id: Option<i64>,
    pub adresse: String,
    pub methode: String,
    pub route_id: Option<i64>,
    pub pfad: String,
    pub status: u16,
    pub dauer_us: i64,
    pub bytes_ein: i64,
    pub bytes_aus: i64,
    pub subjekt: Option<Uuid>,
    /// Requests that the row stands for: 1, or those of a flood.
    pub anzahl: i64,
    /// One of a flood: counted, not listed.
    #[serde(default)]
    pub flut: bool,
    /// Who acted, where it was no key.
    #[serde(default)]
    pub akteur: Option<Akteur>,
}

/// Who acted, where it was no key (D27).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Akteur {
    /// A person with a browser: the id.
    Person(String),
    /// The command line: the command, and the account it ran under.
    Befehl(String),
}

impl Row {
    /// Adds the row alone.
    pub fn insert(&self, connection: &Connection) -> Result<()> {
        let mut adding = Adding::to(connection)?;
        adding.add(self)?;
        adding.end()
    }

    /// The columns person and befehl.
    fn actors(&self) -> (Option<&str>, Option<&str>) {
        match &self.akteur {
            Some(Akteur::Person(person)) => (Some(person), None),
            Some(Akteur::Befehl(befehl)) => (None, Some(befehl)),
            None => (None, None),
        }
    }

    /// The row as a line of the journal: its fields in their order, without their names.
    fn line(&self) -> std::io::Result<Vec<u8>> {
        let fields = (
            self.am,
            self.request_id,
            &self.key_id,
            self.tenant_id,
            &self.adresse,
            &self.methode,
            self.route_id,
            &self.pfad,
            self.status,
            self.dauer_us,
            self.bytes_ein,
            self.bytes_aus,
            self.subjekt,
            self.anzahl,
            self.flut,
            &self.akteur,
        );
        let mut line = Vec::with_capacity(LINE);
        serde_json::to_writer(&mut line, &fields)?;
        Ok(line)
    }

    /// Reads a row of the table; the columns stand in the order of [`COLUMNS`].
    fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Row> {
        let akteur = match (row.get(14)?, row.get(15)?) {
            (None, None) => None,
            (Some(person), None) => Some(Akteur::Person(person)),
            (None, Some(befehl)) => Some(Akteur::Befehl(befehl)),
            _ => return Err(rusqlite::Error::InvalidColumnType(15, "befehl".to_owned(), Type::Text)),
        };
        Ok(Row {
            am: row.get(0)?,
            request_id: row.get(1)?,
            key_id: row.get(2)?,
            tenant_id: row.get(3)?,
            adresse: row.get(4)?,
            methode: row.get(5)?,
            route_id: row.get(6)?,
            pfad: row.get(7)?,
            status: row.get(8)?,
            dauer_us: row.get(9)?,
            bytes_ein: row.get(10)?,
            bytes_aus: row.get(11)?,
            subjekt: row.get(12)?,
            anzahl: row.get(13)?,
            flut: false,
            akteur,
        })
    }
}

/// The columns that make a [`Row`].
const COLUMNS: &str = "am, request_id, key_id, tenant_id, adresse, methode, route_id, pfad, status, dauer_us,
    bytes_ein, bytes_aus, subjekt, anzahl, person, befehl";

/// Takes in what a server that runs no more left behind.
pub fn catch_up(
    connection: &mut Connection,
    database: &Path,
    secret: Option<&Secret>,
    clock: Clock,
) -> Result<()> {
    let journal = Arc::new(Journal::open(database, connection, secret)?);
    TakeIn::new(journal, Arc::new(Quota::default()), clock).catch_up(connection)
}

/// Gives every route its number in the audit log, in the order of the table.
pub fn number_routes(connection: &Connection, routes: &[&'static Route]) -> Result<Vec<i64>> {
    let number = |route: &&'static Route| {
        let key = (route.method.as_str(), route.pattern);
        connection
            .execute("insert into route (methode, muster) values (?1, ?2) on conflict do nothing", key)?;
        let id = "select id from route where methode = ?1 and muster = ?2";
        Ok(connection.query_row(id, key, |row| row.get(0))?)
    };
    routes.iter().map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_journal_is_read_whichever_version_wrote_it() {
        let row = Row {
            am: 1_795_260_000_000,
            request_id: Uuid::from_u128(7),
            key_id: Some("8c688b50b1b5".to_owned()),
            tenant_id: Some(1),
            adresse: "127.0.0.1".to_owned(),
            methode: "GET".to_owned(),
            route_id: None,
            pfad: "/api/v1/\"kunden\"".to_owned(),
            status: 404,
            dauer_us: 12,
            bytes_ein: 0,
            bytes_aus: 99,
            subjekt: None,
            anzahl: 1,
            flut: true,
            akteur: None,
        };
        let line = row.line().unwrap();
        assert_eq!(serde_json::from_slice::<Row>(&line).unwrap(), row);
        let of_person = Row { key_id: None, akteur: Some(Akteur::Person("anna".to_owned())), ..row.clone() };
        assert_eq!(serde_json::from_slice::<Row>(&of_person.line().unwrap()).unwrap(), of_person);
        let without_actors = r#"[1795260000000,"00000000-0000-0000-0000-000000000007","8c688b50b1b5",1,"127.0.0.1",
            "GET",null,"/api/v1/\"kunden\"",404,12,0,99,null,1,true]"#;
        assert_eq!(serde_json::from_str::<Row>(without_actors).unwrap(), row);
        let named = r#"{"am":1795260000000,"request_id":"00000000-0000-0000-0000-000000000007",
            "key_id":"8c688b50b1b5","tenant_id":1,"adresse":"127.0.0.1","methode":"GET","route_id":null,
            "pfad":"/api/v1/\"kunden\"","status":404,"dauer_us":12,"bytes_ein":0,"bytes_aus":99,
            "subjekt":null,"anzahl":1}"#;
        assert_eq!(serde_json::from_str::<Row>(named).unwrap(), Row { flut: false, ..row });
    }
}
