//! The export of a register as it came (D22): an auditor gets it unaltered (D36).

use std::path::Path;

use rusqlite::named_params;
use sha2::{Digest, Sha256};

use crate::db::tx::WriteTx;
use crate::failure::Result;
use crate::rules::day::Day;

/// For how many whole years after that of its last day a file is kept (AO § 147 (3): records of each sale).
const YEARS: i16 = 10;

pub struct Kassendatei {
    dateiname: String,
    /// The first and the last cash day.
    days: (Day, Day),
    sha256: [u8; 32],
    /// A zip.
    inhalt: Vec<u8>,
}

impl Kassendatei {
    pub fn of(path: &Path, days: (Day, Day), inhalt: Vec<u8>) -> Kassendatei {
        let name = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let name = name.file_stem().unwrap_or_default().to_string_lossy();
        let sha256 = Sha256::digest(&inhalt).into();
        Kassendatei { dateiname: format!("{name}.zip"), days, sha256, inhalt }
    }
}

/// Keeps a file, once.
pub fn keep(tx: &WriteTx<'_>, datei: &Kassendatei) -> Result<()> {
    let statement = "select 1 from kassendatei where tenant_id = :tenant and sha256 = :sha256";
    if tx.exists(statement, named_params! {":sha256": datei.sha256})? {
        return Ok(());
    }
    let Kassendatei { dateiname, days: (von, bis), sha256, inhalt } = datei;
    tx.insert(
        "kassendatei",
        named_params! {
            ":id": tx.new_id(),
            ":dateiname": dateiname,
            ":von": von,
            ":bis": bis,
            ":sha256": sha256,
            ":erhalten_am": tx.now(),
            ":inhalt": inhalt,
        },
    )
}

/// Deletes what the law no longer wants: customers may be named in it.
pub fn delete_old(tx: &WriteTx<'_>) -> Result<()> {
    let statement = "delete from kassendatei where tenant_id = :tenant and bis < :first";
    let first = Day::in_month(tx.today().year() - i64::from(YEARS), 1, 1);
    tx.execute(statement, named_params! {":first": first}).map(drop)
}
