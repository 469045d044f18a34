//! The audit log: one row for every answered request.
//!
//! A write's row commits with the write. The rows of reads and refusals go to the `journal` first;
//! `take_in` brings them into the table with the writer's next batch, `flood` counts instead of
//! listing. The rows of a day are a `chain` of checksums. `rollover` drops what is older than it
//! must be kept, `listing` shows the log to a person.

mod chain;
mod flood;
mod journal;
mod listing;
mod rollover;
mod take_in;

pub use chain::{Finding, verify};
pub use journal::{Journal, segments};
pub use listing::{Entry, Selection, entries};
pub use rollover::{DAYS, Rollover, first_kept, step};
pub use take_in::TakeIn;

use std::path::Path;
use std::sync::Arc;

use rusqlite::{Connection, named_params};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::quota::Quota;
use crate::db::Clock;
use crate::db::error::Result;
use crate::http::route::Route;
use crate::rules::day::Instant;

/// One row of the audit log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub flut: bool,
}

impl Row {
    /// Adds the row to the table, or counts it as one of a flood.
    pub fn store(&self, connection: &Connection) -> Result<()> {
        if self.flut { flood::count(connection, self) } else { self.insert(connection) }
    }

    /// Adds the row to the table, chained to the one before it on its day.
    pub fn insert(&self, connection: &Connection) -> Result<()> {
        let tag = Instant::from_millis(self.am).utc_day();
        let place = chain::next(connection, tag, self)?;
        let statement = "insert into audit (tag, lfd_nr, am, request_id, key_id, tenant_id, adresse, methode,
               route_id, pfad, status, dauer_us, bytes_ein, bytes_aus, subjekt, anzahl, pruefsumme)
             values (:tag, :lfd_nr, :am, :request_id, :key_id, :tenant_id, :adresse, :methode, :route_id, :pfad,
               :status, :dauer_us, :bytes_ein, :bytes_aus, :subjekt, :anzahl, :pruefsumme)";
        connection.prepare_cached(statement)?.execute(named_params! {
            ":tag": tag,
            ":lfd_nr": place.number,
            ":am": self.am,
            ":request_id": self.request_id,
            ":key_id": self.key_id,
            ":tenant_id": self.tenant_id,
            ":adresse": self.adresse,
            ":methode": self.methode,
            ":route_id": self.route_id,
            ":pfad": self.pfad,
            ":status": self.status,
            ":dauer_us": self.dauer_us,
            ":bytes_ein": self.bytes_ein,
            ":bytes_aus": self.bytes_aus,
            ":subjekt": self.subjekt,
            ":anzahl": self.anzahl,
            ":pruefsumme": place.pruefsumme,
        })?;
        // Only now: a row that is refused must leave no gap.
        chain::advance(connection, tag, &place)
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
