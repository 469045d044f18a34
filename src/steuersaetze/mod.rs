//! Tax rates by date: data of the company, not code (D7).

use crate::db::error::Result;
use crate::db::tx::{Columns, Tx};
use crate::rules::tax::Satz;

/// All rates of the company.
pub fn all(tx: &Tx<'_>) -> Result<Vec<Satz>> {
    let statement =
        "select schluessel, satz, gueltig_von, gueltig_bis from steuersatz where tenant_id = :tenant";
    tx.all(statement, &[], |row| {
        let mut columns = Columns::of(row);
        Ok(Satz {
            schluessel: columns.next()?,
            satz: columns.next()?,
            gueltig_von: columns.next()?,
            gueltig_bis: columns.next()?,
        })
    })
}
