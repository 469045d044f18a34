//! What a batch remembers of its oldest receipt: which document it was, and at what price (D8).

use rusqlite::{Row, named_params};
use uuid::Uuid;

use crate::artikel;
use crate::chargen;
use crate::db::record::record;
use crate::db::tx::{Tx, WriteTx};
use crate::failure::Result;
use crate::rules::fixed::{Percent, Price};
use crate::rules::price::discounted;
use crate::rules::stammdaten::EingangQuelle;
use crate::rules::unit::Conversion;

/// Brings a batch to its oldest receipt that stands; these documents moved goods of it just now.
pub fn update(tx: &WriteTx<'_>, charge: Uuid, moved: impl Iterator<Item = Uuid>) -> Result<()> {
    let Some(charge) = chargen::find(tx, charge)? else { return Ok(()) };
    if charge.eingang_quelle != EingangQuelle::Beleg {
        return Ok(());
    }
    let first = |statement: &str| {
        tx.optional(statement, named_params! {":charge": charge.id}, |row| row.get::<_, Uuid>(0))
    };
    let known = [charge.eingang_beleg_id, first(OLDEST)?];
    let mut receipt = None;
    for beleg in moved.chain(known.into_iter().flatten()) {
        if receipt.is_none_or(|receipt| beleg < receipt) && has_received(tx, beleg, charge.id)? {
            receipt = Some(beleg);
        }
    }
    let receipt = match receipt {
        Some(receipt) => Some(receipt),
        None => first(OLDEST_BY_MOVEMENTS)?,
    };
    let price_of = |beleg| price(tx, beleg, charge.id, charge.artikel_id);
    let price = receipt.map(price_of).transpose()?.flatten();
    if (receipt, price) == (charge.eingang_beleg_id, charge.eingang_ep) {
        return Ok(());
    }
    chargen::set_receipt(tx, charge.id, receipt, price)
}

/// The oldest purchase with a position in this batch that has brought goods in. Sales stand in the same index: they come
/// after the receipt, so that few are looked at.
const OLDEST: &str =
    "select p.beleg_id from beleg_position p join beleg b on b.tenant_id = p.tenant_id and b.id = p.beleg_id
       join belegtyp t on t.typ = b.beleg_typ
     where p.tenant_id = :tenant and p.charge_id = :charge and t.seite = 'einkauf'
       and (select sum(m.menge) from lagerbewegung m
            where m.tenant_id = p.tenant_id and m.beleg_id = p.beleg_id and m.artikel_id = p.artikel_id
              and m.charge_id = :charge) > 0
     order by p.beleg_id limit 1";

/// The oldest purchase that has brought goods into this batch, though none of its positions notes it: an invoice that
/// took over goods in several batches. All that was ever received or reversed is looked at, so only where nothing else
/// is found.
const OLDEST_BY_MOVEMENTS: &str =
    "select m.beleg_id from lagerbewegung m join beleg b on b.tenant_id = m.tenant_id and b.id = m.beleg_id
       join belegtyp t on t.typ = b.beleg_typ
     where m.tenant_id = :tenant and m.charge_id = :charge and m.menge > 0 and t.seite = 'einkauf'
       and (select sum(o.menge) from lagerbewegung o
            where o.tenant_id = m.tenant_id and o.beleg_id = m.beleg_id and o.artikel_id = m.artikel_id
              and o.charge_id = :charge) > 0
     order by m.beleg_id limit 1";

fn has_received(tx: &Tx<'_>, beleg: Uuid, charge: Uuid) -> Result<bool> {
    let moved = "select coalesce(sum(m.menge), 0) > 0 and t.seite = 'einkauf'
        from beleg b join belegtyp t on t.typ = b.beleg_typ join lagerbewegung m on m.tenant_id = b.tenant_id and m.beleg_id = b.id
          join charge c on c.tenant_id = m.tenant_id and c.id = m.charge_id and c.artikel_id = m.artikel_id
        where b.tenant_id = :tenant and b.id = :beleg and m.charge_id = :charge";
    Ok(tx
        .one(moved, named_params! {":beleg": beleg, ":charge": charge}, |row| row.get::<_, Option<bool>>(0))?
        .unwrap_or(false))
}

/// Whether goods of the position lie in the batch.
const IS_IN: &str =
    "exists (select 1 from lager_offen o where o.tenant_id = p.tenant_id and o.kunde_id = b.kunde_id
      and o.beleg_typ = b.beleg_typ and o.artikel_id = p.artikel_id and o.ist_genannt in (0, 1)
      and o.beleg_id = p.beleg_id and o.position = p.position and o.charge_id is :charge)
    or exists (select 1 from lager_paar l where l.tenant_id = p.tenant_id and l.lieferung_id = p.beleg_id
      and l.lieferung_position = p.position and l.charge_id is :charge)
    or exists (select 1 from lager_paar l where l.tenant_id = p.tenant_id and l.rechnung_id = p.beleg_id
      and l.rechnung_position = p.position and l.charge_id is :charge and l.bewegt_von = 'rechnung')";

/// Net price per unit of the article of what a receipt brought into a batch; that of the invoice which met it where it
/// had none.
fn price(tx: &Tx<'_>, beleg: Uuid, charge: Uuid, artikel: Uuid) -> Result<Option<Price>> {
    let own = format!(
        "select {}, p.position from beleg_position p join beleg b on b.tenant_id = p.tenant_id and b.id = p.beleg_id
         where p.tenant_id = :tenant and p.beleg_id = :beleg and p.artikel_id = :artikel and p.lager_buchen = 1
           and p.lager_menge > 0
         order by ({IS_IN}) desc, p.charge_id is :charge desc, p.position limit 1",
        PriceOfPosition::COLUMNS
    );
    let params = named_params! {":beleg": beleg, ":artikel": artikel, ":charge": charge};
    let with_position = |row: &Row<'_>| Ok((row.get::<_, i64>("position")?, PriceOfPosition::read(row)?));
    let Some((position, line)) = tx.optional(&own, params, with_position)? else {
        return Ok(None);
    };
    let met = format!(
        "select {} from lager_paar l
          join beleg_position p
            on p.tenant_id = l.tenant_id and p.beleg_id = l.rechnung_id and p.position = l.rechnung_position
        where l.tenant_id = :tenant and l.lieferung_id = :beleg and l.lieferung_position = :position
          and l.rechnung_id is not null
        order by l.rechnung_id, l.rechnung_position limit 1",
        PriceOfPosition::COLUMNS
    );
    let params = named_params! {":beleg": beleg, ":position": position};
    let line = match line.ep_netto.is_zero() {
        true => tx.optional(&met, params, PriceOfPosition::read)?.unwrap_or(line),
        false => line,
    };
    let conversion = artikel::must_have(tx, artikel)?.conversion_from(line.einheit.as_deref());
    let conversion = conversion.unwrap_or(Conversion::NONE);
    Ok(Some(conversion.price(discounted(line.ep_netto, line.rabatt_prozent)?)?))
}

record! {
    pub struct PriceOfPosition from beleg_position as p {
        einheit: Option<String>,
        ep_netto: Price,
        rabatt_prozent: Percent,
    }
}
