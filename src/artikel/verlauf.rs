//! The history of an article: which of its fields and tiers each change touched, append-only, never pruned (D22).

use rusqlite::named_params;
use serde_json::value::to_raw_value;
use uuid::Uuid;

use super::model::{Artikel, ArtikelVerlaufseintrag, Staffel};
use crate::db::columns::StoredJson;
use crate::db::list::{Filter, ListSql, Page};
use crate::db::tx::{Tx, WriteTx};
use crate::failure::Result;
use crate::listing::{Listing, Records};
use crate::rules::felder::{self, Aenderung, COMMAND_LINE, GeaendertesFeld};

/// A page of a history ends when it has so many bytes.
const PAGE_BYTES_MAX: usize = 1 << 20;

const LIST: ListSql<'_> = ListSql {
    columns: "v.nr, v.am, v.key_id, v.felder",
    from: "from artikel_verlauf v",
    count: "select count(*) from artikel_verlauf v",
    ids_first: None,
    order: "order by v.nr",
};

pub fn write(tx: &WriteTx<'_>, old: &Artikel, new: &Artikel) -> Result<()> {
    add(tx, new.id, &felder::differing(old, new)?)
}

pub fn write_tier(tx: &WriteTx<'_>, artikel: Uuid, old: Option<&Staffel>, new: &Staffel) -> Result<()> {
    let feld = "staffelpreise".to_owned();
    let (alt, neu) = (to_raw_value(&old)?, to_raw_value(new)?);
    add(tx, artikel, &[GeaendertesFeld { feld, alt, neu }])
}

fn add(tx: &WriteTx<'_>, artikel: Uuid, changed: &[GeaendertesFeld]) -> Result<()> {
    let felder = serde_json::to_string(changed)?;
    tx.insert(
        "artikel_verlauf",
        named_params! {
            ":artikel_id": artikel,
            ":nr": last(tx, artikel)? + 1,
            ":am": tx.now(),
            ":key_id": tx.key_id(),
            ":felder": felder,
        },
    )
}

/// The number of the last change of an article, and so how many there are.
pub fn last(tx: &Tx<'_>, artikel: Uuid) -> Result<i64> {
    let statement = "select coalesce(max(nr), 0) from artikel_verlauf where tenant_id = :tenant and artikel_id = :artikel";
    tx.one(statement, named_params! {":artikel": artikel}, |row| row.get(0))
}

/// What each change of an article touched, the newest first.
pub fn changes(tx: &Tx<'_>, artikel: Uuid, page: Page) -> Result<Records<Aenderung>> {
    let sql = ListSql { columns: "v.am, v.key_id, v.felder", order: "order by v.nr desc", ..LIST };
    tx.list(&sql, &Filter::equal("v", "artikel_id", artikel), page)
}

pub fn list(tx: &Tx<'_>, artikel: Uuid, page: Page) -> Result<Listing> {
    tx.written(
        &LIST,
        &Filter::equal("v", "artikel_id", artikel),
        page,
        last(tx, artikel)?,
        PAGE_BYTES_MAX,
        |row, rows| {
            let key_id: Option<String> = row.get(2)?;
            rows.push(&ArtikelVerlaufseintrag {
                nr: row.get(0)?,
                am: row.get(1)?,
                geaendert_von: key_id.clone().unwrap_or_else(|| COMMAND_LINE.to_owned()),
                key_id,
                felder: row.get::<_, StoredJson>(3)?.0,
            })
        },
    )
}
