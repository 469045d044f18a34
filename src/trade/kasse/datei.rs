//! Keeps the original export of a cash register (D22) for auditors (D36).

use super::model::Kassendatei;
use super::sql;
use crate::platform::db::tx::WriteTx;
use crate::platform::failure::Result;
use crate::rules::day::Day;

/// Retention in whole years after the year of the last day (AO § 147 (3): records of each sale).
const YEARS: i64 = 10;

/// Stores a file unless it is already stored.
pub fn keep(tx: &WriteTx<'_>, datei: &Kassendatei) -> Result<()> {
    if sql::has_file(tx, datei.sha256)? { Ok(()) } else { sql::insert_file(tx, datei) }
}

/// Deletes files after the statutory retention, because they may name customers.
pub fn delete_old(tx: &WriteTx<'_>) -> Result<()> {
    sql::delete_files_before(tx, Day::in_month(tx.today().year() - YEARS, 1, 1))
}
