//! The history of a document: its version before each change; append-only, never pruned (D4).
//!
//! A change of notes or status leaves the positions unchanged. Identical positions are stored once for
//! consecutive versions and added to each version when it is read. A version created by another request
//! (`folgen`) has only its affected positions (D4); the next version stores all positions again.

use rusqlite::named_params;
use rusqlite::types::Value;
use serde_json::value::RawValue;
use uuid::Uuid;

use crate::platform::db::list::{Filter, ListSql, Page};
use crate::platform::db::record::record;
use crate::platform::db::seals::evidence::Subject;
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::{Failure, Result};
use crate::platform::listing::{Listing, Records};
use crate::rules::day::Instant;
use crate::rules::document::BelegAktion;
use crate::trade::belege::fluss;
use crate::trade::belege::model::{Beleg, Verlaufseintrag};
use crate::trade::belege::out::nachweis;
use crate::trade::belege::out::packen::{deflated, inflated};

const LIST: ListSql<'_> = ListSql {
    columns: "v.version, v.am, v.key_id, v.aktion, v.beleg,
        (select p.positionen from beleg_verlauf_positionen p
         where p.tenant_id = v.tenant_id and p.beleg_id = v.beleg_id and p.version <= v.version
         order by p.version desc limit 1)",
    from: "from beleg_verlauf v",
    count: "select count(*) from beleg_verlauf v",
    ids_first: None,
    order: "order by v.version",
};

/// Maximum bytes in a page of a history: a dozen versions of a document of 1,000 positions.
const PAGE_BYTES_MAX: usize = 8 << 20;

/// Stores the current version of a document before a change.
pub fn write(tx: &WriteTx<'_>, beleg: &Beleg, aktion: BelegAktion) -> Result<()> {
    write_version(tx, &fluss::with_counterparts(tx, beleg.clone())?, aktion)
}

/// Stores a version of a document that already has its positions.
pub fn write_version(tx: &WriteTx<'_>, beleg: &Beleg, aktion: BelegAktion) -> Result<()> {
    let head = serde_json::to_string(&Beleg { positionen: None, ..beleg.clone() })?;
    let positions = stored(serde_json::to_string(beleg.positionen.as_deref().unwrap_or_default())?)?;
    tx.insert(
        "beleg_verlauf",
        named_params! {
            ":beleg_id": beleg.id,
            ":version": beleg.version,
            ":am": tx.now(),
            ":key_id": tx.key_id(),
            ":aktion": aktion,
            ":beleg": head,
        },
    )?;
    if !are_kept(tx, beleg.id, &positions)? {
        tx.insert(
            "beleg_verlauf_positionen",
            named_params! {":beleg_id": beleg.id, ":version": beleg.version, ":positionen": positions},
        )?;
    }
    nachweis::keep(tx, Subject::Version(beleg.id, beleg.version))
}

/// Whether the previous version has the same positions.
fn are_kept(tx: &Tx<'_>, beleg: Uuid, positions: &Value) -> Result<bool> {
    let statement = "select positionen = :positionen from beleg_verlauf_positionen
        where tenant_id = :tenant and beleg_id = :beleg order by version desc limit 1";
    let params = named_params! {":beleg": beleg, ":positionen": positions};
    Ok(tx.optional(statement, params, |row| row.get(0))?.unwrap_or(false))
}

/// Lists the history of a document, oldest version first.
pub fn list(tx: &Tx<'_>, beleg: Uuid, page: Page) -> Result<Listing> {
    let filter = Filter::equal("v", "beleg_id", beleg);
    let count = tx.count(&LIST, &filter)?;
    tx.written(&LIST, &filter, page, count, PAGE_BYTES_MAX, |row, rows| {
        let (head, positions): (String, Value) = (row.get(4)?, row.get(5)?);
        rows.push(&Verlaufseintrag {
            version: row.get(0)?,
            am: row.get(1)?,
            key_id: row.get(2)?,
            aktion: row.get(3)?,
            beleg: RawValue::from_string(whole(&head, &positions_of(positions)?))?,
        })
    })
}

record! {
    #[derive(Debug)]
    pub struct Verlaufsschritt from beleg_verlauf as v {
        am: Instant,
        /// `None`: the command line or the service itself.
        key_id: Option<String>,
        aktion: BelegAktion,
    }
}

/// Lists the events of a document, newest first, without the stored versions.
pub fn steps(tx: &Tx<'_>, beleg: Uuid, page: Page) -> Result<Records<Verlaufsschritt>> {
    let sql = ListSql { columns: Verlaufsschritt::COLUMNS, order: "order by v.version desc", ..LIST };
    tx.list(&sql, &Filter::equal("v", "beleg_id", beleg), page)
}

/// Maximum bytes of positions stored as plain JSON, which can be read without this program.
const PLAIN_BYTES_MAX: usize = 64 << 10;

/// Encodes positions for storage: as JSON, compressed if long.
fn stored(json: String) -> Result<Value> {
    match json.len() <= PLAIN_BYTES_MAX {
        true => Ok(Value::Text(json)),
        false => Ok(Value::Blob(deflated(json.as_bytes())?)),
    }
}

fn positions_of(stored: Value) -> Result<String> {
    let broken = || Failure::Broken("positions in a history are neither JSON nor that packed".into());
    match stored {
        Value::Text(json) => Ok(json),
        Value::Blob(packed) => String::from_utf8(inflated(&packed)?).map_err(|_| broken()),
        _ => Err(broken()),
    }
}

/// Joins a version with its positions, which become the last member.
fn whole(head: &str, positions: &str) -> String {
    format!("{},\"positionen\":{positions}}}", head.strip_suffix('}').unwrap_or(head))
}
