//! Documents that become final without a request: at the end of their day, and by the command
//! line (D4).

use rusqlite::named_params;
use uuid::Uuid;

use super::lifecycle::{finalise, settle};
use super::model::Beleg;
use super::sql;
use crate::db::tx::{Tx, WriteTx};
use crate::failure::{Failure, Result};
use crate::tenants;

/// Documents that one call finalises at most, so that no request waits long behind it.
const AT_ONCE: i64 = 100;

/// Finalises open documents whose day of creation is over in Berlin, of the types that the
/// company chose; how many there were. Call again until there are none.
pub fn finalise_past_days(tx: &WriteTx<'_>) -> Result<usize> {
    let mut done = 0;
    for typ in &tenants::load(tx)?.abschluss_tagesende {
        let statement =
            "select id from beleg where tenant_id = :tenant and status = 'offen' and beleg_typ = :typ
            and angelegt_am < :today order by angelegt_am, id limit :at_once";
        let params = named_params! {
            ":typ": typ,
            ":today": tx.today().begin_in_berlin(),
            ":at_once": AT_ONCE,
        };
        let ids: Vec<Uuid> = tx.all(statement, params, |row| row.get(0))?;
        for id in &ids {
            let beleg =
                sql::find(tx, *id)?.ok_or_else(|| Failure::Broken("a listed document is gone".into()))?;
            finalise(tx, beleg)?;
        }
        done += ids.len();
    }
    Ok(done)
}

/// Finalises a document by its number.
pub fn finalise_number(tx: &WriteTx<'_>, number: &str) -> Result<()> {
    finalise(tx, by_number(tx, number)?).map(drop)
}

/// Settles a finalised document by its number.
pub fn settle_number(tx: &WriteTx<'_>, number: &str) -> Result<()> {
    settle(tx, by_number(tx, number)?).map(drop)
}

fn by_number(tx: &Tx<'_>, number: &str) -> Result<Beleg> {
    let found = sql::find_by_number(tx, number)?;
    found.ok_or_else(|| Failure::Broken(format!("there is no document {number} in this company")))
}
