//! The audit log: one `row` for every answered request.
//!
//! A write's row commits with the write. The rows of reads and refusals go to the `journal` first;
//! `take_in` brings them into the table with the writer's next batch, `flood` counts instead of
//! listing, `strangers` decides that for those without a valid key. The rows of a day are a `chain` of checksums,
//! `adding` appends to it; rows and heads are sealed with a secret that is not in the database, `beginning` says since
//! when, `verify` proves all of it, `against` compares it with a backup, `heads` is what a person writes down.
//! `rollover` drops what is older than it must be kept, `listing` shows the log to a person, `paging` a page of it at a
//! time, `usage` counts in it.

mod adding;
mod against;
mod beginning;
mod chain;
mod flood;
mod heads;
mod journal;
mod listing;
mod paging;
mod rollover;
mod row;
mod strangers;
mod take_in;
mod usage;
mod verify;

pub use against::against;
pub use beginning::{Sealed, begin, is_of_new_database, newest_beginning, sealed};
pub use heads::{copied_heads, forget_copied, newest_head, note_copied};
pub use journal::{Journal, segments};
pub use listing::{Entry, Place, Selection, entries, newest_of_both, of_clock};
pub use paging::{Filter, LogPage, Who, find, log_page};
pub use rollover::{DAYS, begin_rollover, first_kept, step};
pub use row::Row;
pub use take_in::TakeIn;
pub use usage::{DayUse, by_day, days};
pub use verify::{Finding, verify, verify_while};

use std::path::Path;
use std::sync::Arc;

use rusqlite::Connection;

use super::access::quota::Quota;
use crate::platform::db::Clock;
use crate::platform::db::proof::seal::Secret;
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
