//! Which credits name an invoice and take something of it back (D4).

use std::collections::BTreeSet;

use rusqlite::named_params;
use uuid::Uuid;

use super::model::Beleg;
use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;

/// Maximum number of credits that a refusal names.
const CREDITS_NAMED_MAX: i64 = 5;

/// Returns the numbers of the live credits that name an invoice and take something of it back.
pub fn credits_of(tx: &Tx<'_>, invoice: &Beleg) -> Result<Vec<String>> {
    let statement = "select distinct c.beleg_nummer
        from beleg_position p indexed by beleg_position_bezug
          join beleg c on c.tenant_id = p.tenant_id and c.id = p.beleg_id
        where p.tenant_id = :tenant and p.bezug_beleg_id = :id and p.menge < 0 and c.beleg_typ = :typ
          and c.status <> 'storniert' and c.storno_von_beleg_id is null
        order by c.beleg_nummer limit :most";
    let params = named_params! {":id": invoice.id, ":typ": invoice.beleg_typ, ":most": CREDITS_NAMED_MAX};
    tx.all(statement, params, |row| row.get(0))
}

/// Maximum number of documents looked at for a circle.
const LOOKED_AT_MAX: usize = 1_000;

/// Whether an invoice takes something back from another one, or from one that does.
pub fn takes_back(tx: &Tx<'_>, invoice: &Beleg, from: Uuid) -> Result<bool> {
    let statement = "select distinct p.bezug_beleg_id from beleg_position p
          join beleg b on b.tenant_id = p.tenant_id and b.id = p.bezug_beleg_id
        where p.tenant_id = :tenant and p.beleg_id = :id and p.menge < 0 and p.bezug_beleg_id is not null
          and b.beleg_typ = :typ and b.status <> 'storniert'";
    let (mut seen, mut next) = (BTreeSet::from([invoice.id]), vec![invoice.id]);
    while let Some(id) = next.pop().filter(|_| seen.len() <= LOOKED_AT_MAX) {
        let params = named_params! {":id": id, ":typ": invoice.beleg_typ};
        let taken: Vec<Uuid> = tx.all(statement, params, |row| row.get(0))?;
        next.extend(taken.into_iter().filter(|id| seen.insert(*id)));
    }
    Ok(seen.contains(&from))
}
