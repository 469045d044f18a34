//! The price of a batch that settlements pay for: what they pay for its receipts, less costs, by its weight (D29h, HGB § 255 (1)).

use rusqlite::named_params;
use uuid::Uuid;

use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::rules::fixed::{Money, Price, Quantity, divide_rounded};

/// Units of a price in a cent, and of a quantity in one unit of the article.
const SCALE: i128 = 10_000 * 1_000_000;

/// Returns the price per unit of the article; `None` if no live final settlement pays for goods of the batch.
pub fn of_batch(tx: &Tx<'_>, charge: Uuid, artikel: Uuid) -> Result<Option<Price>> {
    let statement = "select coalesce(sum(menge), 0), coalesce(sum(betrag), 0) from (
          select s.id, sum(p.lager_menge) as menge, (
              select sum(x.betrag) from abrechnung_annahme x
              join abrechnung a on a.tenant_id = x.tenant_id and a.id = x.abrechnung_id and a.art <> 'abschlag'
              join beleg d on d.tenant_id = a.tenant_id and d.id = a.beleg_id and d.status <> 'storniert'
              where x.tenant_id = s.tenant_id and x.annahmeschein_id = s.id) as betrag
          from beleg_position p
          join beleg e on e.tenant_id = p.tenant_id and e.id = p.beleg_id and e.status <> 'storniert'
          join annahmeschein s on s.tenant_id = p.tenant_id and s.el_beleg_id = p.beleg_id
          join abrechnung f on f.tenant_id = s.tenant_id and f.id = s.abrechnung_id
          join beleg r on r.tenant_id = f.tenant_id and r.id = f.beleg_id and r.status <> 'storniert'
          where p.tenant_id = :tenant and p.charge_id = :charge and p.artikel_id = :artikel
          group by s.id)";
    let params = named_params! {":charge": charge, ":artikel": artikel};
    let (menge, betrag): (Quantity, Money) =
        tx.one(statement, params, |row| Ok((row.get(0)?, row.get(1)?)))?;
    if menge <= Quantity::ZERO {
        return Ok(None);
    }
    let price = divide_rounded(i128::from(betrag.units()) * SCALE, i128::from(menge.units()));
    Ok(Some(Price::from_wide(price)?))
}
