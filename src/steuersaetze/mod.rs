//! Tax rates by date: data of the company, not code (D7).

use rusqlite::Connection;

use crate::db::error::Result;
use crate::db::tx::{Columns, TenantId, Tx};
use crate::rules::tax::Satz;

/// Gives a new company the rates that the law has.
pub fn copy_template(connection: &Connection, tenant: TenantId) -> Result<()> {
    connection.execute(
        "insert into steuersatz (tenant_id, schluessel, gueltig_von, gueltig_bis, bezeichnung, satz, kategorie)
         select ?1, schluessel, gueltig_von, gueltig_bis, bezeichnung, satz, kategorie from steuersatz_vorlage",
        [tenant],
    )?;
    Ok(())
}

/// All rates of the company.
pub fn all(tx: &Tx<'_>) -> Result<Vec<Satz>> {
    let statement =
        "select schluessel, satz, gueltig_von, gueltig_bis from steuersatz where tenant_id = :tenant";
    tx.all(statement, &[], |row| {
        let mut columns = Columns::of(row);
        Ok(Satz {
            schluessel: columns.take()?,
            satz: columns.take()?,
            gueltig_von: columns.take()?,
            gueltig_bis: columns.take()?,
        })
    })
}
