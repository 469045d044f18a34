//! The oldest receipt of a batch, which is the purchase that brought it in: its document and price (D8).

use std::collections::{BTreeMap, HashMap};

use rusqlite::named_params;
use uuid::Uuid;

use super::booking::Booking;
use super::settled_price;
use super::sql::OFFEN;
use crate::goods::chargen::{self, Charge};
use crate::master::artikel;
use crate::platform::db::record::record;
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::Result;
use crate::rules::fixed::{Percent, Price};
use crate::rules::price::discounted;
use crate::rules::stammdaten::EingangQuelle;
use crate::rules::unit::Conversion;

/// A position of the document being written that brought goods into a batch.
#[derive(Debug, Clone, Copy)]
pub struct ReceiptPosition {
    /// Whether the batch is recorded on the position.
    pub is_noted: bool,
    pub position: i64,
}

impl ReceiptPosition {
    /// Returns the position that determines the price: one on which the batch is recorded, else the first.
    pub fn or(self, other: ReceiptPosition) -> ReceiptPosition {
        let order = |brought: &ReceiptPosition| (!brought.is_noted, brought.position);
        if order(&other) < order(&self) { other } else { self }
    }
}

impl Booking<'_> {
    /// Updates batches to their oldest valid receipt, at the price of the position that brought them.
    pub fn update_receipts(&self, received: BTreeMap<Uuid, Option<ReceiptPosition>>) -> Result<()> {
        let mut moved: HashMap<Uuid, Vec<Uuid>> = HashMap::new();
        for ((beleg, _, charge), _) in self.movements.iter().filter(|(_, menge)| !menge.is_zero()) {
            charge.iter().for_each(|charge| moved.entry(*charge).or_default().push(*beleg));
        }
        let mut unpriced = HashMap::new();
        for (charge, brought) in received {
            let moved = moved.get(&charge).map_or(&[][..], Vec::as_slice);
            self.update_receipt(charge, moved, brought, &mut unpriced)?;
        }
        Ok(())
    }

    /// `moved`: documents that just moved goods of the batch; `gifts`: cache of whether a document has
    /// positions of an article without a price.
    fn update_receipt(
        &self,
        charge: Uuid,
        moved: &[Uuid],
        brought: Option<ReceiptPosition>,
        unpriced: &mut HashMap<(Uuid, Uuid), bool>,
    ) -> Result<()> {
        let (tx, own) = (self.tx, self.change.beleg.id);
        let Some(charge) = chargen::find(tx, charge)? else { return Ok(()) };
        if charge.eingang_quelle != EingangQuelle::Beleg {
            return Ok(());
        }
        let receipt = oldest(tx, &charge, moved)?;
        if let Some(receipt) = receipt
            && (moved.is_empty() && receipt != own && charge.eingang_beleg_id == Some(receipt))
            && !has_gifts(tx, receipt, charge.artikel_id, unpriced)?
        {
            // Nothing moved elsewhere, and an invoice sets the price only if the delivery has none.
            return Ok(());
        }
        if let Some(price) = settled_price::of_batch(tx, charge.id, charge.artikel_id)? {
            return chargen::set_receipt(tx, charge.id, receipt, Some(price));
        }
        let price_of = |beleg| match brought.filter(|_| beleg == own) {
            Some(brought) => price_at(tx, beleg, brought.position, charge.artikel_id),
            None => price(tx, beleg, charge.id, charge.artikel_id),
        };
        let price = receipt.map(price_of).transpose()?.flatten();
        if (receipt, price) == (charge.eingang_beleg_id, charge.eingang_ep) {
            return Ok(());
        }
        chargen::set_receipt(tx, charge.id, receipt, price)
    }
}

/// Updates the prices of the batches whose receipts a settlement pays for; for another document it does nothing.
pub fn price_batches(tx: &WriteTx<'_>, beleg: Uuid) -> Result<()> {
    let statement = "select distinct p.charge_id from abrechnung a
        join abrechnung_annahme x on x.tenant_id = a.tenant_id and x.abrechnung_id = a.id
        join annahmeschein s on s.tenant_id = x.tenant_id and s.id = x.annahmeschein_id
        join beleg_position p
          on p.tenant_id = s.tenant_id and p.beleg_id = s.el_beleg_id and p.artikel_id = s.artikel_id
        where a.tenant_id = :tenant and a.beleg_id = :beleg and p.charge_id is not null";
    for id in tx.all(statement, named_params! {":beleg": beleg}, |row| row.get::<_, Uuid>(0))? {
        let Some(charge) = chargen::find(tx, id)? else { continue };
        if charge.eingang_quelle != EingangQuelle::Beleg {
            continue;
        }
        let price = match settled_price::of_batch(tx, id, charge.artikel_id)? {
            Some(price) => Some(price),
            None => price_of_receipt(tx, &charge)?,
        };
        if price != charge.eingang_ep {
            chargen::set_receipt(tx, id, charge.eingang_beleg_id, price)?;
        }
    }
    Ok(())
}

/// Returns the price of a batch that no settlement pays for: that of its receipt.
fn price_of_receipt(tx: &Tx<'_>, charge: &Charge) -> Result<Option<Price>> {
    match charge.eingang_beleg_id {
        Some(beleg) => price(tx, beleg, charge.id, charge.artikel_id),
        None => Ok(charge.eingang_ep),
    }
}

/// Returns the oldest valid receipt of a batch; the documents `moved` just moved goods of it.
fn oldest(tx: &Tx<'_>, charge: &Charge, moved: &[Uuid]) -> Result<Option<Uuid>> {
    let first = |statement: &str| {
        tx.optional(statement, named_params! {":charge": charge.id}, |row| row.get::<_, Uuid>(0))
    };
    let known = [charge.eingang_beleg_id, first(OLDEST)?];
    let mut receipt = None;
    for beleg in moved.iter().copied().chain(known.into_iter().flatten()) {
        if receipt.is_none_or(|receipt| beleg < receipt) && has_received(tx, beleg, charge.id)? {
            receipt = Some(beleg);
        }
    }
    match receipt {
        Some(receipt) => Ok(Some(receipt)),
        None => first(OLDEST_BY_MOVEMENTS),
    }
}

fn has_gifts(
    tx: &Tx<'_>,
    beleg: Uuid,
    artikel: Uuid,
    known: &mut HashMap<(Uuid, Uuid), bool>,
) -> Result<bool> {
    if let Some(known) = known.get(&(beleg, artikel)) {
        return Ok(*known);
    }
    let statement = "select 1 from beleg_position where tenant_id = :tenant and beleg_id = :beleg
          and artikel_id = :artikel and ep_netto = 0";
    let has_gifts = tx.exists(statement, named_params! {":beleg": beleg, ":artikel": artikel})?;
    known.insert((beleg, artikel), has_gifts);
    Ok(has_gifts)
}

/// The oldest purchase that brought goods into the batch of one of its positions. Sales are in the same index
/// but come after the receipt, so few rows are read.
const OLDEST: &str =
    "select p.beleg_id from beleg_position p join beleg b on b.tenant_id = p.tenant_id and b.id = p.beleg_id
       join belegtyp t on t.typ = b.beleg_typ
     where p.tenant_id = :tenant and p.charge_id = :charge and t.seite = 'einkauf'
       and (select sum(m.menge) from lagerbewegung m
            where m.tenant_id = p.tenant_id and m.beleg_id = p.beleg_id and m.artikel_id = p.artikel_id
              and m.charge_id = :charge) > 0
     order by p.beleg_id limit 1";

/// The oldest purchase that brought goods into this batch without recording it on a position: an invoice that
/// took over goods in several batches. Reads everything ever received or reversed, so it is used only if
/// nothing else is found.
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
        from beleg b join belegtyp t on t.typ = b.beleg_typ \
        join lagerbewegung m on m.tenant_id = b.tenant_id and m.beleg_id = b.id
          join charge c on c.tenant_id = m.tenant_id and c.id = m.charge_id and c.artikel_id = m.artikel_id
        where b.tenant_id = :tenant and b.id = :beleg and m.charge_id = :charge";
    Ok(tx
        .one(moved, named_params! {":beleg": beleg, ":charge": charge}, |row| row.get::<_, Option<bool>>(0))?
        .unwrap_or(false))
}

/// Returns the price from the position of a receipt that brought goods into a batch.
fn price(tx: &Tx<'_>, beleg: Uuid, charge: Uuid, artikel: Uuid) -> Result<Option<Price>> {
    let is_in = format!(
        "exists (select 1 from lager_paar l where l.tenant_id = p.tenant_id and l.lieferung_id = p.beleg_id
           and l.lieferung_position = p.position and l.charge_id is :charge)
         or exists (select 1 from lager_paar l where l.tenant_id = p.tenant_id and l.rechnung_id = p.beleg_id
           and l.rechnung_position = p.position and l.charge_id is :charge and l.bewegt_von = 'rechnung')
         or exists (select 1 from {OFFEN} where o.tenant_id = p.tenant_id and o.kunde_id = b.kunde_id
           and o.beleg_typ = b.beleg_typ and o.artikel_id = p.artikel_id
           and o.beleg_id = p.beleg_id and o.position = p.position and o.charge_id is :charge)"
    );
    let own = format!(
        "select p.position from beleg_position p join beleg b on b.tenant_id = p.tenant_id and b.id = p.beleg_id
         where p.tenant_id = :tenant and p.beleg_id = :beleg and p.artikel_id = :artikel and p.lager_buchen = 1
           and p.lager_menge > 0
         order by ({is_in}) desc, p.charge_id is :charge desc, p.position"
    );
    let params = named_params! {":beleg": beleg, ":artikel": artikel, ":charge": charge};
    match tx.optional(&own, params, |row| row.get(0))? {
        Some(position) => price_at(tx, beleg, position, artikel),
        None => Ok(None),
    }
}

/// Returns the net price, per unit of the article, of a receipt's position; if it has none, that of the
/// paired invoice.
fn price_at(tx: &Tx<'_>, beleg: Uuid, position: i64, artikel: Uuid) -> Result<Option<Price>> {
    let own = format!(
        "select {} from beleg_position p
         where p.tenant_id = :tenant and p.beleg_id = :beleg and p.position = :position",
        PriceOfPosition::COLUMNS
    );
    let met = format!(
        "select {} from lager_paar l
          join beleg_position p
            on p.tenant_id = l.tenant_id and p.beleg_id = l.rechnung_id and p.position = l.rechnung_position
        where l.tenant_id = :tenant and l.lieferung_id = :beleg and l.lieferung_position = :position
          and l.rechnung_id is not null
        order by l.rechnung_id, l.rechnung_position",
        PriceOfPosition::COLUMNS
    );
    let params = named_params! {":beleg": beleg, ":position": position};
    let line = tx.one(&own, params, PriceOfPosition::read)?;
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
