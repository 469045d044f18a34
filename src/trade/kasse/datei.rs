//! The export of a register as it came (D22): an auditor gets it unaltered (D36).

use super::model::Kassendatei;
use super::sql;
use crate::platform::db::tx::WriteTx;
use crate::platform::failure::Result;
use crate::rules::day::Day;

/// For how many whole years after that of its last day a file is kept (AO § 147 (3): records of each sale).
const YEARS: i64 = 10;

/// Keeps a file, once.
pub fn keep(tx: &WriteTx<'_>, datei: &Kassendatei) -> Result<()> {
    if sql::has_file(tx, datei.sha256)? { Ok(()) } else { sql::insert_file(tx, datei) }
}

/// Deletes what the law no longer wants: customers may be named in it.
pub fn delete_old(tx: &WriteTx<'_>) -> Result<()> {
    sql::delete_files_before(tx, Day::in_month(tx.today().year() - YEARS, 1, 1))
}
