//! SQL statements for the flow of documents.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Row, named_params};
use uuid::Uuid;

use super::name::Next;
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::Result;
use crate::rules::document::{BelegStatus, BelegTyp};
use crate::rules::fixed::Quantity;
use crate::trade::belege::genannt::{of_same_order, position_names};
use crate::trade::belege::model::Beleg;
use crate::trade::belege::sql::{NamedPosition, named_positions, number_and_type};

/// Returns the quantities of a document's positions, in its roles, that are paired in a way that leaves none of them for
/// `next`.
pub fn paired(
    tx: &Tx<'_>,
    beleg: Uuid,
    roles: [&str; 2],
    next: Next,
    except: Uuid,
) -> Result<Vec<(i64, Quantity)>> {
    let taker = match next {
        Next::Forward => "true",
        Next::Return => "rueckgabe_id is not null",
        Next::Credit => "gutschrift_id is not null",
    };
    let of = |role: &str| {
        format!(
            "select {role}_position as position, menge from lager_paar
             where tenant_id = :tenant and {role}_id = :beleg and {taker} and lieferung_id is not :except
               and rechnung_id is not :except and rueckgabe_id is not :except and gutschrift_id is not :except"
        )
    };
    let statement = roles.map(of).join(" union all ");
    let statement = format!("select position, sum(menge) from ({statement}) group by position");
    tx.all(&statement, named_params! {":beleg": beleg, ":except": except}, |row| {
        Ok((row.get(0)?, row.get(1)?))
    })
}

/// What a position names of another, where no goods are paired over it.
pub struct Name {
    /// Number of the position that is named.
    pub named: i64,
    /// The document and the position that name it.
    pub by: (Uuid, Uuid),
    /// What counts of it: of what was delivered from an order returns are deducted, and what a delivery of the order and
    /// its invoice share counts once.
    pub menge: Quantity,
}

/// Returns what is named of a document's positions for `next`, the youngest name first.
pub fn named(tx: &Tx<'_>, beleg: Uuid, next: Next, except: Uuid) -> Result<Vec<Name>> {
    let statement = "select v.position, f.beleg_id, f.position_id, max(0, f.menge
          - coalesce((select sum(l.menge) from lager_paar l where l.tenant_id = f.tenant_id
              and l.lieferung_id = f.beleg_id and l.lieferung_position = p.position and l.rueckgabe_id is not null), 0)
          - coalesce((select sum(l.menge) from lager_paar l
              cross join beleg_position d on d.tenant_id = l.tenant_id and d.beleg_id = l.lieferung_id
                and d.position = l.lieferung_position
              cross join beleg_fluss g on g.tenant_id = d.tenant_id and g.beleg_id = d.beleg_id and g.position_id = d.id
                and g.von_position_id = f.von_position_id
              where l.tenant_id = f.tenant_id and l.rechnung_id = f.beleg_id and l.rechnung_position = p.position), 0))
        from beleg_fluss f
          cross join beleg_position v on v.tenant_id = f.tenant_id and v.id = f.von_position_id
          cross join beleg_position p on p.tenant_id = f.tenant_id and p.id = f.position_id
        where f.tenant_id = :tenant and f.von_beleg_id = :beleg and f.beleg_id <> :except and (p.menge < 0) = :back
        order by f.beleg_id desc, p.position desc";
    let params = named_params! {":beleg": beleg, ":except": except, ":back": next != Next::Forward};
    tx.all(statement, params, |row| {
        Ok(Name { named: row.get(0)?, by: (row.get(1)?, row.get(2)?), menge: row.get(3)? })
    })
}

/// Returns what other documents of a type name of an order's positions, less what returns and credits took back of it.
pub fn named_by(tx: &Tx<'_>, order: Uuid, own: &Beleg) -> Result<Vec<(i64, Quantity)>> {
    let statement = "select v.position, max(0, f.menge
          - coalesce((select sum(l.menge) from lager_paar l where l.tenant_id = f.tenant_id
              and l.lieferung_id = f.beleg_id and l.lieferung_position = p.position and l.rueckgabe_id is not null), 0)
          - coalesce((select sum(l.menge) from lager_paar l where l.tenant_id = f.tenant_id
              and l.rechnung_id = f.beleg_id and l.rechnung_position = p.position and l.gutschrift_id is not null), 0)
          - coalesce((select sum(g.menge) from beleg_fluss g
              cross join beleg_position c on c.tenant_id = g.tenant_id and c.id = g.position_id and c.menge < 0
              where g.tenant_id = f.tenant_id and g.von_beleg_id = f.beleg_id and g.von_position_id = f.position_id), 0))
        from beleg_fluss f
          cross join beleg b on b.tenant_id = f.tenant_id and b.id = f.beleg_id and b.beleg_typ = :typ and b.id <> :own
          cross join beleg_position v on v.tenant_id = f.tenant_id and v.id = f.von_position_id
          cross join beleg_position p on p.tenant_id = f.tenant_id and p.id = f.position_id and p.menge > 0
        where f.tenant_id = :tenant and f.von_beleg_id = :beleg";
    let params = named_params! {":beleg": order, ":typ": own.beleg_typ, ":own": own.id};
    tx.all(statement, params, |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Takes a part of what a position names of another away; a name that lost all of it stays without a quantity.
pub fn shorten(tx: &WriteTx<'_>, of: Uuid, (beleg, position): (Uuid, Uuid), part: Quantity) -> Result<()> {
    let statement = "update beleg_fluss set menge = menge - :part
        where tenant_id = :tenant and beleg_id = :beleg and position_id = :position and von_position_id = :of";
    let params = named_params! {":beleg": beleg, ":position": position, ":of": of, ":part": part};
    tx.execute(statement, params).map(drop)
}

/// Returns what is left of the positions of a delivery and closed, because the invoice that names them leaves no more.
pub fn closed(tx: &Tx<'_>, beleg: &Beleg) -> Result<Vec<(i64, Quantity)>> {
    let statement = "select p.position, o.menge from (select 4 as fach union all select 5) g
          cross join beleg_position p
          cross join lager_offen o on o.tenant_id = p.tenant_id and o.kunde_id = :kunde and o.beleg_typ = :typ
            and o.artikel_id = p.artikel_id and o.fach = g.fach and o.beleg_id = p.beleg_id and o.position = p.position
        where p.tenant_id = :tenant and p.beleg_id = :beleg";
    let params = named_params! {":beleg": beleg.id, ":kunde": beleg.kunde_id, ":typ": beleg.beleg_typ};
    tx.all(statement, params, |row| Ok((row.get(0)?, row.get(1)?)))
}

/// What the positions of a document name where no goods are paired over it: document and position that are named, the own
/// position, and the quantity.
pub type Names = BTreeMap<(Uuid, Uuid, Uuid), Quantity>;

pub fn names(tx: &Tx<'_>, beleg: Uuid) -> Result<Names> {
    let statement = "select von_beleg_id, von_position_id, position_id, menge from beleg_fluss
        where tenant_id = :tenant and beleg_id = :beleg";
    let names = tx.all(statement, named_params! {":beleg": beleg}, |row| {
        Ok(((row.get(0)?, row.get(1)?, row.get(2)?), row.get(3)?))
    })?;
    Ok(names.into_iter().collect())
}

pub fn insert(tx: &WriteTx<'_>, beleg: Uuid, names: &Names) -> Result<()> {
    for ((von_beleg, von_position, position), menge) in names {
        let values = named_params! {
            ":von_beleg_id": von_beleg,
            ":von_position_id": von_position,
            ":beleg_id": beleg,
            ":position_id": position,
            ":menge": menge,
        };
        tx.insert("beleg_fluss", values)?;
    }
    Ok(())
}

pub fn delete(tx: &WriteTx<'_>, beleg: Uuid) -> Result<()> {
    let statement = "delete from beleg_fluss where tenant_id = :tenant and beleg_id = :beleg";
    tx.execute(statement, named_params! {":beleg": beleg}).map(drop)
}

/// Returns the live documents that name a position which this document no longer has, or any of it.
pub fn naming(tx: &Tx<'_>, beleg: Uuid, any: bool) -> Result<Vec<Uuid>> {
    let statement = "select distinct b.id
        from beleg_position p indexed by beleg_position_bezug
          cross join beleg b on b.tenant_id = p.tenant_id and b.id = p.beleg_id
        where p.tenant_id = :tenant and p.bezug_beleg_id = :beleg and b.status <> 'storniert'
          and (:any or p.bezug_position_id is not null and not exists (
            select 1 from beleg_position n where n.tenant_id = p.tenant_id and n.id = p.bezug_position_id))
        order by b.id";
    tx.all(statement, named_params! {":beleg": beleg, ":any": any}, |row| row.get(0))
}

/// Deletes what names a position that this document no longer has, or any of it; returns the documents that named it.
pub fn delete_names(tx: &WriteTx<'_>, beleg: Uuid, any: bool) -> Result<Vec<Uuid>> {
    let names = "from beleg_fluss where tenant_id = :tenant and von_beleg_id = :beleg and (:any or not exists (
        select 1 from beleg_position n where n.tenant_id = beleg_fluss.tenant_id and n.id = von_position_id))";
    let params = named_params! {":beleg": beleg, ":any": any};
    let naming = tx.all(&format!("select distinct beleg_id {names}"), params, |row| row.get(0))?;
    tx.execute(&format!("delete {names}"), params)?;
    Ok(naming)
}

/// Returns what a credit of a return takes back, with the number of its document: the position of the invoice that was
/// paired with what came back, else of the delivery. `None` if the return stands for itself.
pub fn invoiced(
    tx: &Tx<'_>,
    beleg: Uuid,
    position: &NamedPosition,
) -> Result<Option<(String, NamedPosition)>> {
    let shares = "select rechnung_id, rechnung_position, lieferung_id, lieferung_position from lager_paar
        where tenant_id = :tenant and rueckgabe_id = :beleg and rueckgabe_position = :position order by id limit 1";
    let names = "select l.rechnung_id, l.rechnung_position, d.beleg_id, d.position
        from beleg_position r
          cross join beleg_position d on d.tenant_id = r.tenant_id and d.id = r.bezug_position_id
          left join lager_paar l on l.tenant_id = d.tenant_id and l.lieferung_id = d.beleg_id
            and l.lieferung_position = d.position and l.rechnung_id is not null
        where r.tenant_id = :tenant and r.beleg_id = :beleg and r.position = :position order by l.id limit 1";
    let params = named_params! {":beleg": beleg, ":position": position.position};
    for statement in [shares, names] {
        let found: Option<[Option<(Uuid, i64)>; 2]> = tx.optional(statement, params, |row| {
            let place = |at| Ok::<_, rusqlite::Error>(row.get::<_, Option<Uuid>>(at)?.zip(row.get(at + 1)?));
            Ok([place(0)?, place(2)?])
        })?;
        let Some((beleg, number)) = found.into_iter().flatten().flatten().next() else { continue };
        let line = named_positions(tx, beleg)?.into_iter().find(|line| line.position == number);
        let Some(line) = line else { continue };
        return Ok(Some((number_and_type(tx, beleg)?.0, line)));
    }
    Ok(None)
}

/// Returns the documents of which the request changed what they are tied to, which triggers have marked, and what those
/// name: of an order is left what its deliveries leave.
pub fn with_unclear_rest(tx: &Tx<'_>) -> Result<Vec<Uuid>> {
    let statement =
        "select id from beleg indexed by beleg_rest_unklar where tenant_id = :tenant and hat_rest is null
        union
        select f.von_beleg_id from beleg b indexed by beleg_rest_unklar
          cross join beleg_fluss f on f.tenant_id = b.tenant_id and f.beleg_id = b.id
        where b.tenant_id = :tenant and b.hat_rest is null";
    tx.all(statement, &[], |row| row.get(0))
}

/// Records whether something of a document is left. It is no change of the document: the feed does not tell of it.
pub fn set_rest(tx: &WriteTx<'_>, beleg: Uuid, has_rest: bool) -> Result<()> {
    let statement = "update beleg set hat_rest = :rest where tenant_id = :tenant and id = :id";
    tx.execute(statement, named_params! {":rest": has_rest, ":id": beleg}).map(drop)
}

/// Another position that one of a document is tied to.
#[derive(Debug, Clone)]
pub struct Tie {
    pub own_position: i64,
    pub beleg_id: Uuid,
    pub beleg_nummer: String,
    pub beleg_typ: BelegTyp,
    pub status: BelegStatus,
    pub position_id: Uuid,
    pub position: i64,
    /// In the unit of the article; without an article in that of what is named.
    pub menge: Quantity,
    /// All that the other position says, in the same unit.
    pub whole: Quantity,
    /// Whether the other position takes back.
    pub takes_back: bool,
    /// Whether the own position names the other one, and whether that names the own one.
    pub is_named: bool,
    pub names_own: bool,
    pub is_paired: bool,
}

impl Tie {
    fn read(row: &Row<'_>) -> rusqlite::Result<Tie> {
        Ok(Tie {
            own_position: row.get(0)?,
            beleg_id: row.get(1)?,
            beleg_nummer: row.get(2)?,
            beleg_typ: row.get(3)?,
            status: row.get(4)?,
            position_id: row.get(5)?,
            position: row.get(6)?,
            menge: row.get(7)?,
            whole: row.get(8)?,
            takes_back: row.get(9)?,
            is_named: row.get(10)?,
            names_own: row.get(11)?,
            is_paired: row.get(12)?,
        })
    }
}

/// Returns the positions that share goods with those of a document in its roles; oldest document first.
pub fn paired_with(tx: &Tx<'_>, beleg: Uuid, own: [&str; 2]) -> Result<Vec<Tie>> {
    // What an invoice and a delivery made of the same order share counts as named by the invoice.
    let [bills, delivers] =
        [["rechnung", "gutschrift"], ["lieferung", "rueckgabe"]].map(|roles| own == roles);
    let names = if bills { of_same_order!("p", "o") } else { "false" };
    let is_named = if delivers { of_same_order!("o", "p") } else { "false" };
    let others = ["lieferung", "rechnung", "rueckgabe", "gutschrift"];
    let pairs = own.iter().flat_map(|own| others.iter().map(move |other| (own, other)));
    let met = pairs.filter(|(own, other)| own != other).map(|(own, other)| {
        format!(
            "select {own}_position as eigene, {other}_id as beleg, {other}_position as position, menge from lager_paar
             where tenant_id = :tenant and {own}_id = :beleg and {other}_id is not null"
        )
    });
    let statement = format!(
        "select l.eigene, b.id, b.beleg_nummer, b.beleg_typ, b.status, p.id, p.position, sum(l.menge),
           abs(p.lager_menge), p.menge < 0, {} or {names}, {} or {is_named}, 1
         from ({}) l
           cross join beleg b on b.tenant_id = :tenant and b.id = l.beleg
           cross join beleg_position p on p.tenant_id = :tenant and p.beleg_id = l.beleg and p.position = l.position
           cross join beleg_position o on o.tenant_id = :tenant and o.beleg_id = :beleg and o.position = l.eigene
         group by l.eigene, b.id, p.position order by l.eigene, b.id, p.position",
        position_names!("o", "p"),
        position_names!("p", "o"),
        met.collect::<Vec<_>>().join(" union all ")
    );
    tx.all(&statement, named_params! {":beleg": beleg}, Tie::read)
}

/// Returns the positions of live documents that name those of a document, or are named by them, without goods being
/// paired over it.
pub fn named_with(tx: &Tx<'_>, beleg: Uuid) -> Result<Vec<Tie>> {
    let statement =
        "select o.position, b.id, b.beleg_nummer, b.beleg_typ, b.status, p.id, p.position, f.menge,
          abs(coalesce(p.lager_menge, p.menge)), p.menge < 0, 1, 0, 0
        from beleg_fluss f
          cross join beleg_position o on o.tenant_id = f.tenant_id and o.id = f.position_id
          cross join beleg_position p on p.tenant_id = f.tenant_id and p.id = f.von_position_id
          cross join beleg b on b.tenant_id = f.tenant_id and b.id = f.von_beleg_id and b.status <> 'storniert'
        where f.tenant_id = :tenant and f.beleg_id = :beleg and f.menge > 0
        union all
        select o.position, b.id, b.beleg_nummer, b.beleg_typ, b.status, p.id, p.position, f.menge,
          abs(coalesce(p.lager_menge, p.menge)), p.menge < 0, 0, 1, 0
        from beleg_fluss f
          cross join beleg_position o on o.tenant_id = f.tenant_id and o.id = f.von_position_id
          cross join beleg_position p on p.tenant_id = f.tenant_id and p.id = f.position_id
          cross join beleg b on b.tenant_id = f.tenant_id and b.id = f.beleg_id
        where f.tenant_id = :tenant and f.von_beleg_id = :beleg and f.menge > 0
        order by 1, 2, 7";
    tx.all(statement, named_params! {":beleg": beleg}, Tie::read)
}

/// Maximum number of documents looked at for a circle.
const LOOKED_AT_MAX: usize = 1_000;

/// Whether positions of a document name another one, directly or by others: those of the same article, and whatever
/// credits take back of invoices.
pub fn leads_to(tx: &Tx<'_>, named: &Beleg, own: Uuid, artikel: Option<Uuid>) -> Result<bool> {
    let statement = "select distinct p.bezug_beleg_id from beleg_position p
          join beleg c on c.tenant_id = p.tenant_id and c.id = p.beleg_id
          join beleg b on b.tenant_id = p.tenant_id and b.id = p.bezug_beleg_id and b.kunde_id = c.kunde_id
        where p.tenant_id = :tenant and p.beleg_id = :id and b.status <> 'storniert'
          and (p.artikel_id is :artikel or p.menge < 0 and b.beleg_typ = c.beleg_typ and b.rechnungsart is not null)";
    let (mut seen, mut next) = (BTreeSet::from([named.id]), vec![named.id]);
    while let Some(id) = next.pop().filter(|_| seen.len() <= LOOKED_AT_MAX) {
        let params = named_params! {":id": id, ":artikel": artikel};
        let named: Vec<Uuid> = tx.all(statement, params, |row| row.get(0))?;
        next.extend(named.into_iter().filter(|id| seen.insert(*id)));
    }
    Ok(seen.contains(&own))
}
