//! The price of a batch that settlements pay for: what they pay for its receipts, less costs, by its weight (D29h, HGB § 255 (1)).

use rusqlite::named_params;
use uuid::Uuid;

use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::rules::fixed::{Price, divide_rounded};

/// Units of a price in a cent, and of a quantity in one unit of the article.
const SCALE: i128 = 10_000 * 1_000_000;

/// Returns the price per unit of the article; `None` if no live final settlement pays for goods of the batch. Of a receipt
/// whose delivery lies in several batches, each has its share by weight.
pub fn of_batch(tx: &Tx<'_>, charge: Uuid, artikel: Uuid) -> Result<Option<Price>> {
    let statement = "select sum(p.lager_menge), (
              select sum(w.lager_menge) from beleg_position w
              where w.tenant_id = s.tenant_id and w.beleg_id = s.el_beleg_id and w.artikel_id = :artikel
                and w.lager_menge > 0), (
              select sum(x.betrag) from abrechnung_annahme x
              join abrechnung a on a.tenant_id = x.tenant_id and a.id = x.abrechnung_id and a.art <> 'abschlag'
              join beleg d on d.tenant_id = a.tenant_id and d.id = a.beleg_id and d.status <> 'storniert'
              where x.tenant_id = s.tenant_id and x.annahmeschein_id = s.id)
          from beleg_position p
          join beleg e on e.tenant_id = p.tenant_id and e.id = p.beleg_id and e.status <> 'storniert'
          join annahmeschein s on s.tenant_id = p.tenant_id and s.el_beleg_id = p.beleg_id
          join abrechnung f on f.tenant_id = s.tenant_id and f.id = s.abrechnung_id
          join beleg r on r.tenant_id = f.tenant_id and r.id = f.beleg_id and r.status <> 'storniert'
          where p.tenant_id = :tenant and p.charge_id = :charge and p.artikel_id = :artikel and p.lager_menge > 0
          group by s.id";
    let params = named_params! {":charge": charge, ":artikel": artikel};
    let receipts: Vec<[i64; 3]> =
        tx.all(statement, params, |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?]))?;
    let (mut menge, mut betrag) = (0, 0);
    for [part, whole, paid] in receipts.into_iter().map(|receipt| receipt.map(i128::from)) {
        menge += part;
        betrag += divide_rounded(paid * SCALE, whole) * part;
    }
    Ok(if menge > 0 { Some(Price::from_wide(divide_rounded(betrag, menge))?) } else { None })
}
