//! Change histories of master data: which fields each change of a record touched; append-only, never pruned
//! (D22).

use rusqlite::named_params;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use uuid::Uuid;

use super::{Listing, Records};
use crate::platform::db::columns::StoredJson;
use crate::platform::db::list::{Filter, ListSql, Page};
use crate::platform::db::tx::{Params, Tx, WriteTx};
use crate::platform::failure::Result;
use crate::rules::day::Instant;
use crate::rules::felder::{Aenderung, COMMAND_LINE, GeaendertesFeld};

/// A page of a history ends at this many bytes.
const PAGE_BYTES_MAX: usize = 1 << 20;

/// The history table of one kind of record.
pub struct Verlauf {
    table: &'static str,
    /// The parameter of the column that refers to the record.
    owner: &'static str,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct StammdatenVerlaufseintrag {
    /// The number of the change among the changes of its record.
    pub nr: i64,
    pub am: Instant,
    /// Null for the command line.
    pub key_id: Option<String>,
    pub geaendert_von: String,
    #[schemars(with = "Vec<GeaendertesFeld>")]
    pub felder: Box<RawValue>,
}

impl Verlauf {
    pub const fn of(table: &'static str, owner: &'static str) -> Verlauf {
        Verlauf { table, owner }
    }

    pub fn add(&self, tx: &WriteTx<'_>, id: Uuid, changed: &[GeaendertesFeld]) -> Result<()> {
        let (felder, nr) = (serde_json::to_string(changed)?, self.last(tx, id)? + 1);
        let own: Params<'_> = &[(self.owner, &id)];
        let columns: Params<'_> = named_params! {
            ":nr": nr,
            ":am": tx.now(),
            ":key_id": tx.key_id(),
            ":felder": felder,
        };
        tx.insert(self.table, &[own, columns].concat())
    }

    /// Returns the number of a record's last change, which is also their count.
    pub fn last(&self, tx: &Tx<'_>, id: Uuid) -> Result<i64> {
        let statement = format!(
            "select coalesce(max(nr), 0) from {} where tenant_id = :tenant and {} = :id",
            self.table,
            self.column()
        );
        tx.one(&statement, named_params! {":id": id}, |row| row.get(0))
    }

    /// Returns the version of a record, which increases with each change.
    pub fn version(&self, tx: &Tx<'_>, id: Uuid) -> Result<i64> {
        Ok(self.last(tx, id)? + 1)
    }

    /// Returns the changes of a record, newest first.
    pub fn changes(&self, tx: &Tx<'_>, id: Uuid, page: Page) -> Result<Records<Aenderung>> {
        let [from, count] = self.from();
        let (columns, order) = ("v.am, v.key_id, v.felder", "order by v.nr desc");
        let sql = ListSql { columns, from: &from, count: &count, ids_first: None, order };
        tx.list(&sql, &Filter::equal("v", self.column(), id), page)
    }

    /// Returns the same as the interface shows it, oldest first.
    pub fn list(&self, tx: &Tx<'_>, id: Uuid, page: Page) -> Result<Listing> {
        let [from, count] = self.from();
        let (columns, order) = ("v.nr, v.am, v.key_id, v.felder", "order by v.nr");
        let sql = ListSql { columns, from: &from, count: &count, ids_first: None, order };
        let filter = Filter::equal("v", self.column(), id);
        tx.written(&sql, &filter, page, self.last(tx, id)?, PAGE_BYTES_MAX, |row, rows| {
            let key_id: Option<String> = row.get(2)?;
            rows.push(&StammdatenVerlaufseintrag {
                nr: row.get(0)?,
                am: row.get(1)?,
                geaendert_von: key_id.clone().unwrap_or_else(|| COMMAND_LINE.to_owned()),
                key_id,
                felder: row.get::<_, StoredJson>(3)?.0,
            })
        })
    }

    fn column(&self) -> &'static str {
        self.owner.trim_start_matches(':')
    }

    fn from(&self) -> [String; 2] {
        let from = format!("from {} v", self.table);
        [from.clone(), format!("select count(*) {from}")]
    }
}

/// Describes the change of a part that changes as a whole, such as a tier or a position; `old` is `None` for
/// an added part, `new` for a removed one.
pub fn part<T: Serialize>(feld: &str, old: Option<&T>, new: Option<&T>) -> Result<GeaendertesFeld> {
    Ok(GeaendertesFeld { feld: feld.to_owned(), alt: to_raw_value(&old)?, neu: to_raw_value(&new)? })
}
