//! What `check` names of settlements.

use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;

/// Returns a receipt whose live final settlement pays for goods that its delivery does not bring (any more), with the
/// number of the settlement. The surplus item has no article, so it is apart (D29h).
pub fn without_goods(tx: &Tx<'_>) -> Result<Option<(String, String)>> {
    let statement = "with bezahlt as (
          select s.belegnummer, s.el_beleg_id, s.artikel_id, d.beleg_nummer, d.kunde_id, coalesce((
              select sum(p.lager_menge) from beleg_position p
              where p.tenant_id = a.tenant_id and p.beleg_id = a.beleg_id and p.artikel_id = s.artikel_id
                and p.position >= x.position and p.position < coalesce((
                  select min(n.position) from abrechnung_annahme n
                  where n.tenant_id = x.tenant_id and n.abrechnung_id = x.abrechnung_id and n.nr > x.nr), 1e9)), 0) as menge
          from abrechnung a
          join beleg d on d.tenant_id = a.tenant_id and d.id = a.beleg_id and d.status <> 'storniert'
          join abrechnung_annahme x on x.tenant_id = a.tenant_id and x.abrechnung_id = a.id
          join annahmeschein s on s.tenant_id = x.tenant_id and s.id = x.annahmeschein_id
          where a.tenant_id = :tenant and a.art = 'end')
        select z.belegnummer, z.beleg_nummer from bezahlt z
        left join beleg e on e.tenant_id = :tenant and e.id = z.el_beleg_id
        where z.menge <> 0 and (e.id is null or e.status = 'storniert' or e.kunde_id <> z.kunde_id
          or z.menge <> coalesce((select sum(p.lager_menge) from beleg_position p
            where p.tenant_id = :tenant and p.beleg_id = e.id and p.artikel_id = z.artikel_id), 0))
        order by z.beleg_nummer, z.belegnummer limit 1";
    tx.optional(statement, &[], |row| Ok((row.get(0)?, row.get(1)?)))
}
