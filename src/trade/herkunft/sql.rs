//! SQL statements that follow the movements of batches.

use rusqlite::{ToSql, named_params};
use uuid::Uuid;

use super::model::{Beteiligter, Bilanz, Buchung, Knoten};
use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::rules::fixed::Quantity;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Schritt {
    /// Towards the inputs and their suppliers.
    Rueckwaerts,
    /// Towards the outputs and their recipients.
    Vorwaerts,
}

/// Limits of what is read per batch.
#[derive(Debug, Clone, Copy)]
pub struct Weite {
    /// The newest movements of each batch.
    pub bewegungen: i64,
    /// Batches or documents of each batch.
    pub funde: i64,
}

impl Weite {
    fn params(&self) -> [(&str, &dyn ToSql); 2] {
        [(":bewegungen", &self.bewegungen), (":funde", &self.funde)]
    }
}

/// Joins a movement of a production order with its data.
const OF_ORDER: &str = "join produktionsauftrag v on v.tenant_id = m.tenant_id and v.id = m.pa_id
    join charge c on c.tenant_id = m.tenant_id and c.id = m.charge_id
    join artikel a on a.tenant_id = c.tenant_id and a.id = c.artikel_id";

/// Returns the SQL for the batches on the other side of a batch's production orders, without cancelled
/// orders. `:sign` is that of the batch's own movements: 1 if an order created it, −1 if one consumed it.
fn all_neighbours() -> String {
    format!(
        "select {} from lagerbewegung m {OF_ORDER}
         where m.tenant_id = :tenant and sign(m.menge) = -:sign and v.status = 'erledigt' and m.pa_id in (
           select o.pa_id from lagerbewegung o
           where o.tenant_id = :tenant and o.charge_id = :charge and o.pa_id is not null and sign(o.menge) = :sign)
         group by v.id, c.id order by v.id, c.id",
        Knoten::COLUMNS
    )
}

/// Does the same for the newest movements only. They are selected by the index, which does not contain the
/// order.
fn newest_neighbours() -> String {
    format!(
        "select {} from (
           select pa_id from lagerbewegung
           where tenant_id = :tenant and pa_id is not null and id in (
             select id from lagerbewegung
             where tenant_id = :tenant and charge_id = :charge and sign(menge) = :sign
             order by id desc limit :bewegungen)
             and exists (select 1 from produktionsauftrag d
               where d.tenant_id = :tenant and d.id = pa_id and d.status = 'erledigt')
           group by pa_id order by max(id) desc limit :funde) o
         cross join lagerbewegung m
           on m.tenant_id = :tenant and m.pa_id = o.pa_id and sign(m.menge) = -:sign
         {OF_ORDER}
         group by v.id, c.id order by v.id, c.id limit :funde",
        Knoten::COLUMNS
    )
}

pub fn neighbours(
    tx: &Tx<'_>,
    charge: Uuid,
    schritt: Schritt,
    tiefe: i64,
    weite: Option<Weite>,
) -> Result<Vec<Knoten>> {
    let sign = match schritt {
        Schritt::Rueckwaerts => 1,
        Schritt::Vorwaerts => -1,
    };
    let all = named_params! {":charge": charge, ":sign": sign};
    let found = match weite {
        None => tx.all(&all_neighbours(), all, Knoten::read)?,
        Some(weite) => tx.all(&newest_neighbours(), &[all, &weite.params()].concat(), Knoten::read)?,
    };
    Ok(found.into_iter().map(|knoten| Knoten { tiefe, von: charge, ..knoten }).collect())
}

/// A partner and a document. Name and address of a final document are those it was finalised with.
const PARTNER: &str = "k.id as partner_id, k.kundennr, coalesce(b.kunden_name, k.name) as name,
    iif(b.kunden_name is null, k.strasse, b.kunden_strasse) as strasse,
    iif(b.kunden_name is null, k.plz, b.kunden_plz) as plz, iif(b.kunden_name is null, k.ort, b.kunden_ort) as ort,
    iif(b.kunden_name is null, k.staat, b.kunden_staat) as staat, :sign * sum(m.menge) as menge, a.einheit,
    b.id as beleg_id, b.beleg_nummer, b.beleg_typ, b.beleg_datum as datum, c.id as charge_id, c.charge_nr";

/// Joins a movement of a document with its data.
const OF_DOCUMENT: &str = "join beleg b on b.tenant_id = m.tenant_id and b.id = m.beleg_id
    join kunde k on k.tenant_id = b.tenant_id and k.id = b.kunde_id
    join charge c on c.tenant_id = m.tenant_id and c.id = m.charge_id
    join artikel a on a.tenant_id = c.tenant_id and a.id = c.artikel_id";

/// Returns the SQL for the suppliers (`EL`, `ER`) or recipients (`LS`, `RE`) of a batch: one row per
/// document, without reversed movements.
fn all_partners() -> String {
    in_order(&format!(
        "select {PARTNER} from lagerbewegung m {OF_DOCUMENT}
         where m.tenant_id = :tenant and m.charge_id = :charge and b.beleg_typ in (:lieferung, :rechnung)
         group by b.id having sum(m.menge) <> 0"
    ))
}

/// Does the same for the newest movements only; each document counts with all its movements of the batch.
fn newest_partners() -> String {
    in_order(&format!(
        "select {PARTNER} from (
           select distinct beleg_id from lagerbewegung
           where tenant_id = :tenant and beleg_id is not null and id in (
             select id from lagerbewegung
             where tenant_id = :tenant and charge_id = :charge and sign(menge) = :sign
             order by id desc limit :bewegungen)) n
         cross join lagerbewegung m
           on m.tenant_id = :tenant and m.beleg_id = n.beleg_id and +m.charge_id = :charge
         {OF_DOCUMENT}
         where b.beleg_typ in (:lieferung, :rechnung)
         group by b.id having sum(m.menge) <> 0 order by b.id desc limit :funde"
    ))
}

/// The supplier of goods that no document brought in: opening stock, or a batch created by a client.
const SUPPLIER_OF_OPENING_STOCK: &str = "select k.id as partner_id, k.kundennr, k.name, k.strasse, k.plz,
    k.ort, k.staat, coalesce(c.eroeffnung, 0) as menge, a.einheit, null as beleg_id, null as beleg_nummer,
    null as beleg_typ, null as datum, c.id as charge_id, c.charge_nr
  from charge c
    join kunde k on k.tenant_id = c.tenant_id and k.id = c.partner_id
    join artikel a on a.tenant_id = c.tenant_id and a.id = c.artikel_id
  where c.tenant_id = :tenant and c.id = :charge
    and (coalesce(c.eroeffnung, 0) <> 0 or c.eingang_quelle = 'manuell' and not exists (
      select 1 from lagerbewegung m
      where m.tenant_id = c.tenant_id and m.charge_id = c.id and m.beleg_id is not null and m.menge > 0))";

/// Wraps a statement so that its rows can be read as [`Beteiligter`].
fn in_order(found: &str) -> String {
    format!("select {} from ({found}) f order by f.beleg_id", Beteiligter::COLUMNS)
}

pub fn partners(
    tx: &Tx<'_>,
    charge: Uuid,
    schritt: Schritt,
    weite: Option<Weite>,
) -> Result<Vec<Beteiligter>> {
    let (lieferung, rechnung, sign) = match schritt {
        Schritt::Rueckwaerts => ("EL", "ER", 1),
        Schritt::Vorwaerts => ("LS", "RE", -1),
    };
    let all = named_params! {
        ":charge": charge,
        ":lieferung": lieferung,
        ":rechnung": rechnung,
        ":sign": sign,
    };
    let mut found = match weite {
        None => tx.all(&all_partners(), all, Beteiligter::read)?,
        Some(weite) => tx.all(&newest_partners(), &[all, &weite.params()].concat(), Beteiligter::read)?,
    };
    if schritt == Schritt::Rueckwaerts {
        found.extend(tx.all(
            &in_order(SUPPLIER_OF_OPENING_STOCK),
            named_params! {":charge": charge},
            Beteiligter::read,
        )?);
    }
    Ok(found)
}

/// Sums incoming, outgoing and corrected quantities of a batch: sales and production inputs are outgoing,
/// stocktakings are corrections, everything else is incoming; returns are deducted on their side.
pub fn balance(tx: &Tx<'_>, charge: Uuid) -> Result<Bilanz> {
    let statement =
        "select coalesce(sum(iif(ist_abgang or gezaehlt, 0, menge)), 0), coalesce(-sum(iif(ist_abgang, menge, 0)), 0),
          coalesce(sum(iif(gezaehlt, menge, 0)), 0)
        from (select m.menge, m.inventur_id is not null as gezaehlt, \
        coalesce(t.seite = 'verkauf', m.pa_id is not null and m.menge < 0) as ist_abgang
              from lagerbewegung m left join beleg b on b.tenant_id = m.tenant_id and b.id = m.beleg_id
                left join belegtyp t on t.typ = b.beleg_typ
                left join produktionsauftrag v on v.tenant_id = m.tenant_id and v.id = m.pa_id
              where m.tenant_id = :tenant and m.charge_id = :charge and v.status is not 'storniert')";
    let [eingang, abgang, korrektur]: [Quantity; 3] =
        tx.one(statement, named_params! {":charge": charge}, |row| {
            Ok([row.get(0)?, row.get(1)?, row.get(2)?])
        })?;
    Ok(Bilanz { eingang, abgang, korrektur, bestand: eingang.minus(abgang)?.plus(korrektur)? })
}

/// Lists the movements of a batch, newest first.
pub fn movements(tx: &Tx<'_>, charge: Uuid, limit: u32, offset: u32) -> Result<Vec<Buchung>> {
    let statement = format!(
        "select {} from (select id from lagerbewegung where tenant_id = :tenant and charge_id = :charge
            order by id desc limit :limit offset :offset) n
          join lagerbewegung m on m.tenant_id = :tenant and m.id = n.id
          left join beleg b on b.tenant_id = m.tenant_id and b.id = m.beleg_id
          left join kunde k on k.tenant_id = b.tenant_id and k.id = b.kunde_id
          left join produktionsauftrag v on v.tenant_id = m.tenant_id and v.id = m.pa_id
          left join inventur i on i.tenant_id = m.tenant_id and i.id = m.inventur_id
        order by m.id desc",
        Buchung::COLUMNS
    );
    let params = named_params! {":charge": charge, ":limit": limit, ":offset": offset};
    tx.all(&statement, params, Buchung::read)
}

pub fn count_movements(tx: &Tx<'_>, charge: Uuid) -> Result<i64> {
    let statement = "select count(*) from lagerbewegung where tenant_id = :tenant and charge_id = :charge";
    tx.one(statement, named_params! {":charge": charge}, |row| row.get(0))
}

/// The total that a document moved of an article in a batch.
#[derive(Debug)]
pub struct Umschlag {
    /// The article's bezeichnung.
    pub artikel: String,
    pub einheit: Option<String>,
    /// Id and number of the batch, if there is one.
    pub charge: Option<(Uuid, String)>,
    /// Signed: positive if it came in.
    pub menge: Quantity,
}

/// Sums the movements of a document by article and batch, without reversed ones.
pub fn moved_by_document(tx: &Tx<'_>, beleg: Uuid) -> Result<Vec<Umschlag>> {
    let statement = "select a.bezeichnung, a.einheit, m.charge_id, c.charge_nr, m.menge
        from (select artikel_id, charge_id, sum(menge) as menge from lagerbewegung
              where tenant_id = :tenant and beleg_id = :beleg
              group by artikel_id, charge_id having sum(menge) <> 0) m
          join artikel a on a.tenant_id = :tenant and a.id = m.artikel_id
          left join charge c on c.tenant_id = :tenant and c.id = m.charge_id
        order by a.artikelnummer_sort, c.charge_nr";
    tx.all(statement, named_params! {":beleg": beleg}, |row| {
        let (id, nummer): (Option<Uuid>, Option<String>) = (row.get(2)?, row.get(3)?);
        Ok(Umschlag {
            artikel: row.get(0)?,
            einheit: row.get(1)?,
            charge: id.zip(nummer),
            menge: row.get(4)?,
        })
    })
}
