//! The database: one SQLite file, readers from a pool, one writer.

pub mod columns;
pub mod error;
pub mod feed;
pub mod file;
pub mod list;
pub mod migrate;
pub mod readers;
pub mod record;
pub mod seals;
pub mod tx;
pub mod writer;

use std::sync::Arc;

use rusqlite::{Connection, Params, Row};

use crate::platform::failure::{Failure, Result};
use crate::rules::day::Instant;

/// The source of the time; a parameter of the server, so that tests can shift it.
pub type Clock = Arc<dyn Fn() -> Instant + Send + Sync>;

pub type TenantId = i64;

pub fn system_clock() -> Clock {
    Arc::new(|| jiff::Timestamp::now().into())
}

/// Returns all rows of a statement that belongs to no tenant.
pub fn all<T>(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    map: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Vec<T>> {
    connection.prepare_cached(sql)?.query_map(params, map)?.collect()
}

/// Returns unpredictable bytes from the operating system.
pub fn random<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    let none = |error| Failure::Broken(format!("keine Zufallszahlen ({error})"));
    getrandom::fill(&mut bytes).map_err(none)?;
    Ok(bytes)
}

pub fn log(line: &str) {
    let line: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    tracing::warn!("{line}");
}
