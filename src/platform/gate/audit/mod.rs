//! The audit log: one `row` for every answered request.
//!
//! A write's row commits with the write. The rows of reads and refusals go to the `journal` first;
//! `take_in` brings them into the table with the writer's next batch, `flood` counts instead of
//! listing, `strangers` decides that for those without a valid key. The rows are a chain
//! (`platform::db::seals::chain`), to which `adding` appends; it is sealed with a secret that is not in the
//! database, `beginning` says since when, `verify` proves it, alone and against a backup. `rollover` drops
//! what is older than it must be kept, `listing` shows the log to a person, `paging` a page of it at a time,
//! `usage` counts in it, `days` says which rows are of which days.

mod adding;
mod beginning;
mod days;
mod flood;
mod journal;
mod listing;
mod paging;
mod rollover;
mod row;
mod strangers;
mod take_in;
mod usage;
mod verify;

pub use adding::CHAIN;
pub use beginning::{Sealed, begin, is_of_new_database, newest_beginning, sealed};
pub use days::days;
pub use journal::{Journal, segments};
pub use listing::{Entry, Selection, entries, newest_of_both, of_clock};
pub use paging::{Filter, LogPage, Who, find, log_page};
pub use rollover::{DAYS, Old, begin_rollover};
pub use row::Row;
pub use take_in::TakeIn;
pub use usage::{DayUse, by_day};
pub use verify::{against, verify};

use std::path::Path;
use std::sync::Arc;

use rusqlite::Connection;

use super::access::quota::Quota;
use crate::platform::db::Clock;
use crate::platform::db::seals::seal::Secret;
use crate::platform::failure::Result;
use crate::platform::http::route::Route;

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
