//! The audit log: one row for every answered request.
//!
//! A write's row commits with the write. The rows of reads and refusals go to the `journal` first;
//! `take_in` brings them into the table with the writer's next batch, `flood` counts instead of
//! listing, `strangers` decides that for those without a valid key. The rows of a day are a `chain` of checksums, `adding` appends to it. `rollover` drops what is older than it
//! must be kept, `listing` shows the log to a person.

mod adding;
mod chain;
mod flood;
mod journal;
mod listing;
mod rollover;
mod strangers;
mod take_in;

pub use chain::{Finding, verify};
pub use journal::{Journal, segments};
pub use listing::{Entry, Selection, entries};
pub use rollover::{DAYS, Rollover, first_kept, step};
pub use take_in::TakeIn;

use std::path::Path;
use std::sync::Arc;

use rusqlite::Connection;
use serde::Deserialize;
use uuid::Uuid;

use super::quota::Quota;
use crate::db::Clock;
use crate::db::error::Result;
use crate::http::route::Route;
use adding::Adding;

/// Bytes that a line of the journal has, as a rule.
const LINE: usize = 256;

/// One row of the audit log.
/// In the journal it stands as a list of its fields, in this order; earlier versions named them.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
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
}

impl Row {
    /// Adds the row alone.
    pub fn insert(&self, connection: &Connection) -> Result<()> {
        let mut adding = Adding::to(connection)?;
        adding.add(self)?;
        adding.end()
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
        );
        let mut line = Vec::with_capacity(LINE);
        serde_json::to_writer(&mut line, &fields)?;
        line.push(b'\n');
        Ok(line)
    }

    /// Reads a row of the table; the columns stand in the order of [`COLUMNS`].
    fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Row> {
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
        })
    }
}

/// The columns that make a [`Row`].
const COLUMNS: &str = "am, request_id, key_id, tenant_id, adresse, methode, route_id, pfad, status, dauer_us,
    bytes_ein, bytes_aus, subjekt, anzahl";

/// Takes in what a server that runs no more left behind.
pub fn catch_up(connection: &mut Connection, database: &Path, clock: Clock) -> Result<()> {
    let journal = Arc::new(Journal::open(database, connection)?);
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
        };
        let line = row.line().unwrap();
        assert_eq!((serde_json::from_slice::<Row>(&line).unwrap(), line.last()), (row.clone(), Some(&b'\n')));
        let named = r#"{"am":1795260000000,"request_id":"00000000-0000-0000-0000-000000000007",
            "key_id":"8c688b50b1b5","tenant_id":1,"adresse":"127.0.0.1","methode":"GET","route_id":null,
            "pfad":"/api/v1/\"kunden\"","status":404,"dauer_us":12,"bytes_ein":0,"bytes_aus":99,
            "subjekt":null,"anzahl":1}"#;
        assert_eq!(serde_json::from_str::<Row>(named).unwrap(), Row { flut: false, ..row });
    }
}
