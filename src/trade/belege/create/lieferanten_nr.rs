//! Suppliers' numbers for our articles (D28). A document read from a file keeps the numbers of its lines;
//! once it is final, each number is mapped to the article of its position.

use rusqlite::named_params;
use uuid::Uuid;

use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::Result;
use crate::rules::fixed::Money;
use crate::rules::text::case_key;
use crate::trade::belege::model::Beleg;

pub struct Zeile<'z> {
    /// Number of the position in the document, from 1.
    pub position: i64,
    pub nummer: &'z str,
    /// Total of the line, which identifies its position if the document changes before it is final.
    pub netto: Money,
}

/// Returns the article that a supplier means by its number, if a document confirmed one.
pub fn article(tx: &Tx<'_>, kunde: Uuid, nummer: &str) -> Result<Option<Uuid>> {
    let statement = "select artikel_id from artikel_lieferant
        where tenant_id = :tenant and kunde_id = :kunde and nummer = :nummer";
    tx.optional(statement, named_params! {":kunde": kunde, ":nummer": case_key(nummer)}, |row| row.get(0))
}

pub fn keep(tx: &WriteTx<'_>, beleg: &Beleg, zeilen: &[Zeile<'_>]) -> Result<()> {
    tx.insert_all("beleg_lieferanten_nr", zeilen, |zeile, store| {
        store(named_params! {
            ":beleg_id": beleg.id,
            ":position": zeile.position,
            ":nummer": case_key(zeile.nummer),
            ":netto": zeile.netto,
        })
    })
}

/// Learns the numbers from a document that has become final.
pub fn learn(tx: &WriteTx<'_>, beleg: &Beleg) -> Result<()> {
    if !beleg.beleg_typ.ist_fremdrechnung() {
        return Ok(());
    }
    let statement = "insert into artikel_lieferant (tenant_id, kunde_id, nummer, artikel_id)
        select n.tenant_id, :kunde, n.nummer, p.artikel_id
        from beleg_lieferanten_nr n
        join beleg_position p
          on p.tenant_id = n.tenant_id and p.beleg_id = n.beleg_id and p.position = n.position
        where n.tenant_id = :tenant and n.beleg_id = :beleg and p.artikel_id is not null and p.gesamtpreis = n.netto
        order by n.position
        on conflict (tenant_id, kunde_id, nummer) do update set artikel_id = excluded.artikel_id";
    tx.execute(statement, named_params! {":kunde": beleg.kunde_id, ":beleg": beleg.id}).map(drop)
}
