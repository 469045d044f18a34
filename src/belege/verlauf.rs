//! The history of a document: the version before each change, append-only, never pruned (D4).

use rusqlite::named_params;
use serde_json::value::RawValue;
use uuid::Uuid;

use super::model::{Beleg, Verlaufseintrag};
use super::sql;
use crate::choice;
use crate::db::error::{Failure, Result};
use crate::db::list::{Filter, ListSql, Listing, Page};
use crate::db::tx::{Tx, WriteTx};

choice! {
    /// What changed a document.
    pub enum Aktion {
        Aendern = "aendern",
        Abschliessen = "abschliessen",
        Storno = "storno",
        Erledigen = "erledigen",
    }
}

const LIST: ListSql = ListSql {
    select: "select v.version, v.am, v.key_id, v.aktion, v.beleg from beleg_verlauf v",
    count: "select count(*) from beleg_verlauf v",
    late: None,
    order: "order by v.version",
};

/// Keeps a document as it is before a change.
pub fn write(tx: &WriteTx<'_>, beleg: &Beleg, aktion: Aktion) -> Result<()> {
    let full = sql::with_positions(tx, beleg.clone())?;
    let json = serde_json::to_string(&full)
        .map_err(|error| Failure::Broken(format!("a document cannot be written: {error}")))?;
    tx.insert(
        "beleg_verlauf",
        named_params! {
            ":beleg_id": beleg.id,
            ":version": beleg.version,
            ":am": tx.now(),
            ":key_id": tx.key_id(),
            ":aktion": aktion.as_str(),
            ":beleg": json,
        },
    )
}

/// The history of a document, the oldest version first.
pub fn list(tx: &Tx<'_>, beleg: Uuid, page: Page) -> Result<Listing> {
    let mut filter = Filter::of("v");
    filter.when("v.beleg_id = :beleg", ":beleg", Some(beleg));
    tx.list(&LIST, &filter, page, |row, rows| {
        let json: String = row.get(4)?;
        let damaged = |error: serde_json::Error| {
            rusqlite::Error::FromSqlConversionFailure(4, rusqlite::types::Type::Text, Box::new(error))
        };
        rows.push(&Verlaufseintrag {
            version: row.get(0)?,
            am: row.get(1)?,
            key_id: row.get(2)?,
            aktion: row.get(3)?,
            beleg: RawValue::from_string(json).map_err(damaged)?,
        })
    })
}
