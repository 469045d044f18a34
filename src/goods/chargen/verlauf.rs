//! The history of a batch: its version before each correction; append-only, never pruned (D8).

use rusqlite::{Row, named_params};
use uuid::Uuid;

use super::model::{Charge, ChargeVerlaufseintrag};
use crate::platform::db::columns::{Json, StoredJson};
use crate::platform::db::list::{Filter, ListSql, Page};
use crate::platform::db::record::{Record, columns};
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::Result;
use crate::platform::listing::{PageOf, Records};
use crate::rules::day::{Day, Instant};
use crate::rules::text::case_key;

const LIST: ListSql<'_> = ListSql {
    columns: "v.version, v.am, v.key_id, v.charge",
    from: "from charge_verlauf v",
    count: "select count(*) from charge_verlauf v",
    ids_first: None,
    order: "order by v.version",
};

pub fn keep(tx: &WriteTx<'_>, charge: &Charge) -> Result<()> {
    tx.insert(
        "charge_verlauf",
        named_params! {
            ":charge_id": charge.id,
            ":version": charge.version,
            ":am": tx.now(),
            ":key_id": tx.key_id(),
            ":artikel_id": charge.artikel_id,
            ":partner_id": charge.partner_id,
            ":fremde_charge_key": charge.fremde_charge_nr.as_deref().map(case_key),
            ":mhd": charge.mhd.map(|day| day.0),
            ":charge": Json(charge),
        },
    )
}

/// The values that a correction replaced, when and by whom.
#[derive(Debug)]
pub struct Berichtigt {
    pub am: Instant,
    pub key_id: Option<String>,
    pub mhd: Option<Day>,
    pub fremde_charge_nr: Option<String>,
    pub herkunftsland: Option<String>,
    pub sperrgrund: Option<String>,
}

columns! {
    Berichtigt from charge_verlauf as v {
        am,
        key_id,
        mhd,
        fremde_charge_nr = "v.charge ->> 'fremde_charge_nr'",
        herkunftsland = "v.charge ->> 'herkunftsland'",
        sperrgrund = "v.charge ->> 'sperrgrund'",
    }
}

/// Lists the values that corrections of a batch replaced, newest first.
pub fn corrections(tx: &Tx<'_>, charge: Uuid, page: Page) -> Result<Records<Berichtigt>> {
    let sql = ListSql { columns: Berichtigt::COLUMNS, order: "order by v.version desc", ..LIST };
    tx.list(&sql, &Filter::equal("v", "charge_id", charge), page)
}

impl Record for ChargeVerlaufseintrag {
    fn of_row(row: &Row<'_>) -> rusqlite::Result<ChargeVerlaufseintrag> {
        let charge = row.get::<_, StoredJson>(3)?.0;
        Ok(ChargeVerlaufseintrag { version: row.get(0)?, am: row.get(1)?, key_id: row.get(2)?, charge })
    }
}

/// Lists the history of a batch, oldest version first.
pub fn list<P: PageOf<ChargeVerlaufseintrag>>(tx: &Tx<'_>, charge: Uuid, page: Page) -> Result<P> {
    tx.list(&LIST, &Filter::equal("v", "charge_id", charge), page)
}
