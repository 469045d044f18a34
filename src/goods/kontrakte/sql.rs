//! SQL statements for contracts.

use rusqlite::named_params;
use serde_json::json;
use uuid::Uuid;

use super::model::{Auswahl, Kontrakt, Position};
use crate::platform::db::feed::followed::Art;
use crate::platform::db::list::{Filter, ListSql, Page};
use crate::platform::db::record::{Part, record};
use crate::platform::db::seals::retention::Retention;
use crate::platform::db::tx::{Params, Tx, WriteTx};
use crate::platform::failure::Result;
use crate::platform::listing::Records;
use crate::platform::listing::verlauf::Verlauf;
use crate::rules::day::Day;
use crate::rules::fixed::Quantity;
use crate::rules::text::searchable;

/// History of contracts and their positions.
pub const VERLAUF: Verlauf = Verlauf::of("kontrakt_verlauf", ":kontrakt_id");

const LIST: ListSql<'_> = ListSql {
    columns: Kontrakt::COLUMNS,
    from: "from kontrakt v left join kunde k on k.tenant_id = v.tenant_id and k.id = v.partner_id
        left join abrechnungsschema sc on sc.tenant_id = v.tenant_id and sc.id = v.schema_id",
    count: "select count(*) from kontrakt v",
    ids_first: None,
    order: "order by v.erfassungsdatum desc, v.id",
};

pub fn list(tx: &Tx<'_>, auswahl: &Auswahl<'_>, page: Page) -> Result<Records<Kontrakt>> {
    let mut filter = Filter::of("v");
    filter.when("v.kontrakt_typ = :typ", ":typ", auswahl.typ);
    filter.when("v.partner_id = :partner", ":partner", auswahl.partner);
    filter.when("v.erledigt = :erledigt", ":erledigt", auswahl.erledigt);
    filter.when("v.erntejahr = :erntejahr", ":erntejahr", auswahl.erntejahr);
    filter.when("v.erfassungsdatum >= :von", ":von", auswahl.von);
    filter.when("v.erfassungsdatum <= :bis", ":bis", auswahl.bis);
    filter.contains_words("v.such_text", auswahl.suche);
    tx.list(&LIST, &filter, page)
}

pub fn find(tx: &Tx<'_>, id: Uuid) -> Result<Option<Kontrakt>> {
    tx.find_by(&LIST, "v.id", &id)
}

/// Lists the open contracts with the number of document positions that name each; those ending last come
/// first, `most` at most.
pub fn named_open(tx: &Tx<'_>, most: i64) -> Result<Vec<(Uuid, i64)>> {
    let statement = "select v.id, (select count(*) from beleg_position p indexed by beleg_position_kontrakt
            where p.tenant_id = :tenant and p.kontrakt_id = v.id)
        from kontrakt v indexed by kontrakt_offen where v.tenant_id = :tenant and v.erledigt = 0
        order by v.gueltig_bis desc, v.id limit :most";
    let named = tx.all(statement, named_params! {":most": most}, |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(named.into_iter().filter(|(_, positions)| *positions > 0).collect())
}

/// Open contracts of a partner that are looked at for an article, at most: of those with an end, and of those without.
const OPEN_LOOKED_AT_MAX: i64 = 50;

/// Whether a partner has a contract that is not settled.
pub fn has_open(tx: &Tx<'_>, partner: Uuid) -> Result<bool> {
    let statement = "select 1 from kontrakt indexed by kontrakt_partner_offen
        where tenant_id = :tenant and partner_id = :partner and erledigt = 0";
    tx.exists(statement, named_params! {":partner": partner})
}

/// Lists the open contracts of a partner with a position of an article that have not ended by a day, those ending first
/// in front. Reads a bounded number of index rows, however many contracts there were.
pub fn open_for(tx: &Tx<'_>, partner: Uuid, artikel: Uuid, day: Day) -> Result<Vec<Uuid>> {
    let statement = "select v.id from (
          select * from (select id, gueltig_bis from kontrakt indexed by kontrakt_partner_offen
            where tenant_id = :tenant and partner_id = :partner and erledigt = 0 and gueltig_bis >= :day
            order by gueltig_bis, id limit :most)
          union all
          select * from (select id, gueltig_bis from kontrakt indexed by kontrakt_partner_offen
            where tenant_id = :tenant and partner_id = :partner and erledigt = 0 and gueltig_bis is null
            order by gueltig_bis, id limit :most)) v
        cross join kontrakt_position p indexed by kontrakt_position_artikel
          on p.tenant_id = :tenant and p.artikel_id = :artikel and p.kontrakt_id = v.id
        group by v.id order by min(v.gueltig_bis) nulls last, v.id";
    let params =
        named_params! {":partner": partner, ":artikel": artikel, ":day": day, ":most": OPEN_LOOKED_AT_MAX};
    tx.all(statement, params, |row| row.get(0))
}

/// Whether more than so many positions of documents name a contract.
pub fn is_named_by_more(tx: &Tx<'_>, kontrakt: Uuid, most: i64) -> Result<bool> {
    let statement = "select 1 from beleg_position indexed by beleg_position_kontrakt
        where tenant_id = :tenant and kontrakt_id = :id limit 1 offset :most";
    tx.exists(statement, named_params! {":id": kontrakt, ":most": most})
}

/// Returns the positions of a document whose counterparts name a contract, so that their goods count for it.
pub fn counting_by_counterpart(tx: &Tx<'_>, beleg: Uuid) -> Result<Vec<i64>> {
    let met = [("lieferung", "rechnung"), ("rechnung", "lieferung")].map(|(own, other)| {
        format!(
            "select l.{own}_position from lager_paar l join beleg_position o on o.tenant_id = :tenant
               and o.beleg_id = l.{other}_id and o.position = l.{other}_position
             where l.tenant_id = :tenant and l.{own}_id = :beleg and o.kontrakt_id is not null"
        )
    });
    tx.all(&met.join(" union "), named_params! {":beleg": beleg}, |row| row.get(0))
}

pub fn number(tx: &Tx<'_>, id: Uuid) -> Result<Option<String>> {
    let statement = "select kontrakt_nr from kontrakt where tenant_id = :tenant and id = :id";
    tx.optional(statement, named_params! {":id": id}, |row| row.get(0))
}

/// Returns the number of a contract with that of its position, where one is named: "K-1, Position 2".
pub fn named(tx: &Tx<'_>, id: Uuid, position: Option<Uuid>) -> Result<Option<String>> {
    let statement = "select k.kontrakt_nr || coalesce(', Position ' || p.position, '')
        from kontrakt k left join kontrakt_position p on p.tenant_id = k.tenant_id and p.kontrakt_id = k.id
          and p.id = :position
        where k.tenant_id = :tenant and k.id = :id";
    tx.optional(statement, named_params! {":id": id, ":position": position}, |row| row.get(0))
}

pub fn find_by_nr(tx: &Tx<'_>, kontrakt_nr: &str) -> Result<Option<Kontrakt>> {
    tx.find_by(&LIST, "v.kontrakt_nr", &kontrakt_nr)
}

#[derive(Debug, Clone)]
pub struct Menge {
    pub kontrakt_id: Uuid,
    /// The position of the contract, if named.
    pub kontrakt_position_id: Option<Uuid>,
    pub artikel_id: Uuid,
    /// The quantity, in the following unit.
    pub menge: Quantity,
    pub einheit: Option<String>,
}

/// Returns the quantities delivered on some contracts, to be summed; each is of one article, in its own unit.
/// Goods count where they moved (D21g): deliveries less returns, plus invoices for goods that they moved
/// themselves and that match no delivery, less credits for goods that they moved and that match no return.
/// Goods of several positions count once: for the contract of the delivery (or return), else of the invoice
/// (or credit); a return or credit that names none counts for the contract of the goods it takes back. The
/// statement names its index so that the planner never scans all positions, whatever its statistics.
/// Positions without an article or with a negative price have no goods (D8).
pub fn quantities(tx: &Tx<'_>, kontrakte: &[Uuid]) -> Result<Vec<Menge>> {
    quantities_of(tx, kontrakte, QUANTITIES)
}

/// Returns the quantities delivered on a contract by documents that no goods receipt made: those of receipts count once
/// they are settled (D29g). What was settled and taken back is less.
pub fn quantities_by_hand(tx: &Tx<'_>, kontrakt: Uuid) -> Result<Vec<Menge>> {
    let statement = QUANTITIES
        .replace("where kam", "where kam and not ist_abgerechnet and not ist_angenommen")
        .replace("where ging", "where ging and not ist_angenommen")
        .replace(
            "/* open */",
            "where not exists (select 1 from annahmeschein s where s.tenant_id = :tenant and s.el_beleg_id = b.id)
               and not exists (select 1 from abrechnung a where a.tenant_id = :tenant and a.beleg_id = b.id)",
        );
    quantities_of(tx, &[kontrakt], &statement)
}

fn quantities_of(tx: &Tx<'_>, kontrakte: &[Uuid], statement: &str) -> Result<Vec<Menge>> {
    let of_role = ["lieferung", "rechnung", "rueckgabe", "gutschrift"].map(|role| {
        format!(
            "select l.id from genannt cross join lager_paar l on l.tenant_id = :tenant
               and l.{role}_id = genannt.beleg_id
               and l.{role}_position = genannt.position"
        )
    });
    let statement = statement.replace("/* shared */", &of_role.join(" union "));
    tx.all(&statement, named_params! {":kontrakte": hex(kontrakte)}, |row| {
        Ok(Menge {
            kontrakt_id: row.get(0)?,
            kontrakt_position_id: row.get(1)?,
            artikel_id: row.get(2)?,
            menge: row.get(3)?,
            einheit: row.get(4)?,
        })
    })
}

const QUANTITIES: &str = "with genannt as (
    select p.beleg_id, p.position, p.artikel_id, p.kontrakt_id, p.kontrakt_position_id
    from beleg_position p indexed by beleg_position_kontrakt
    where p.tenant_id = :tenant and p.kontrakt_id in (select unhex(value) from json_each(:kontrakte))
      and p.artikel_id is not null),
  ware as (
    select l.artikel_id, l.menge, l.lieferung_id is not null or l.bewegt_von is 'rechnung' as kam,
      l.rueckgabe_id is not null or l.zurueck_von is 'gutschrift' as ging,
      exists (select 1 from abrechnung a where a.tenant_id = :tenant and a.beleg_id = l.rechnung_id) as ist_abgerechnet,
      l.rechnung_id is null and exists (select 1 from annahmeschein s
        where s.tenant_id = :tenant and s.el_beleg_id = l.lieferung_id) as ist_angenommen,
      coalesce(d.kontrakt_id, i.kontrakt_id) as hin,
      iif(d.kontrakt_id is null or d.kontrakt_id is i.kontrakt_id,
        coalesce(d.kontrakt_position_id, i.kontrakt_position_id), d.kontrakt_position_id) as hin_position,
      coalesce(r.kontrakt_id, c.kontrakt_id) as her,
      iif(r.kontrakt_id is null or r.kontrakt_id is c.kontrakt_id,
        coalesce(r.kontrakt_position_id, c.kontrakt_position_id), r.kontrakt_position_id) as her_position
    from lager_paar l
      left join beleg_position d on d.tenant_id = :tenant and d.beleg_id = l.lieferung_id
        and d.position = l.lieferung_position
      left join beleg_position i on i.tenant_id = :tenant and i.beleg_id = l.rechnung_id
        and i.position = l.rechnung_position
      left join beleg_position r on r.tenant_id = :tenant and r.beleg_id = l.rueckgabe_id
        and r.position = l.rueckgabe_position
      left join beleg_position c on c.tenant_id = :tenant and c.beleg_id = l.gutschrift_id
        and c.position = l.gutschrift_position
    where l.id in (/* shared */)),
  gezaehlt as (
    select genannt.kontrakt_id, genannt.kontrakt_position_id, genannt.artikel_id, o.menge
    from genannt join beleg b on b.tenant_id = :tenant and b.id = genannt.beleg_id
      cross join lager_offen o on o.tenant_id = :tenant and o.kunde_id = b.kunde_id and o.beleg_typ = b.beleg_typ
        and o.artikel_id = genannt.artikel_id and o.fach in (0, 1, 2, 3, 4, 5) and o.beleg_id = genannt.beleg_id
        and o.position = genannt.position
      /* open */
    union all select hin, hin_position, artikel_id, menge from ware where kam
    union all select coalesce(her, hin),
        iif(her is null or her is hin, coalesce(her_position, hin_position), her_position), artikel_id, -menge
      from ware where ging)
  select gezaehlt.kontrakt_id, gezaehlt.kontrakt_position_id, gezaehlt.artikel_id, sum(gezaehlt.menge), a.einheit
  from gezaehlt join artikel a on a.tenant_id = :tenant and a.id = gezaehlt.artikel_id
  where gezaehlt.kontrakt_id in (select unhex(value) from json_each(:kontrakte))
  group by 1, 2, 3";

/// Returns the quantities in kg that live settlements paid at the prices of some contracts, per position and article
/// (D29g). Advances do not count.
pub fn settled(tx: &Tx<'_>, kontrakte: &[Uuid]) -> Result<Vec<Bezahlt>> {
    let statement = format!(
        "select {} from abrechnung_annahme x join json_each(x.kontrakt_teile) t
         join annahmeschein s on s.tenant_id = x.tenant_id and s.id = x.annahmeschein_id
         join abrechnung a on a.tenant_id = x.tenant_id and a.id = x.abrechnung_id
         join beleg b on b.tenant_id = a.tenant_id and b.id = a.beleg_id
         where x.tenant_id = :tenant and x.kontrakt_id in (select unhex(value) from json_each(:kontrakte))
           and b.status <> 'storniert'
         group by 1, 2, 3",
        Bezahlt::COLUMNS
    );
    tx.all(&statement, named_params! {":kontrakte": hex(kontrakte)}, Bezahlt::read)
}

record! {
    /// The quantity of one article paid at the price of a contract position; without one, at that of the contract.
    pub struct Bezahlt from abrechnung_annahme as x {
        kontrakt_id: Uuid,
        kontrakt_position_id: Option<Uuid> = "unhex(t.value ->> 'position')",
        artikel_id: Uuid = "s.artikel_id",
        kg: Quantity = "sum(t.value ->> 'kg')",
    }
}

/// Finds the positions of a document whose counterpart names another contract or contract position (D21g):
/// the number of the position, and that of the counterpart's document.
pub fn contradictions(tx: &Tx<'_>, beleg: Uuid) -> Result<Vec<(i64, String)>> {
    let pairs = [
        ("lieferung", "rechnung"),
        ("rechnung", "lieferung"),
        ("rueckgabe", "gutschrift"),
        ("gutschrift", "rueckgabe"),
    ];
    let met = pairs.map(|(own, other)| {
        format!(
            "select {own}_position as position, {other}_id as beleg, {other}_position as dort from lager_paar
             where tenant_id = :tenant and {own}_id = :beleg and {other}_id is not null"
        )
    });
    let statement = format!(
        "select distinct p.position, b.beleg_nummer from ({}) l
           join beleg_position p on p.tenant_id = :tenant and p.beleg_id = :beleg and p.position = l.position
           join beleg_position o on o.tenant_id = :tenant and o.beleg_id = l.beleg and o.position = l.dort
           join beleg b on b.tenant_id = :tenant and b.id = l.beleg
         where p.kontrakt_id <> o.kontrakt_id or p.kontrakt_position_id <> o.kontrakt_position_id
         order by p.position, b.id",
        met.join(" union all ")
    );
    tx.all(&statement, named_params! {":beleg": beleg}, |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Encodes ids as a list for `json_each` and `unhex`.
fn hex(ids: &[Uuid]) -> String {
    json!(ids.iter().map(|id| id.simple().to_string()).collect::<Vec<_>>()).to_string()
}

pub fn upsert(tx: &WriteTx<'_>, kontrakt: &Kontrakt, is_new: bool) -> Result<()> {
    let fields = [Some(&kontrakt.kontrakt_nr), kontrakt.referenz.as_ref()];
    let such_text = searchable(fields.into_iter().flatten().map(String::as_str));
    let own: Params<'_> = named_params! {":such_text": such_text};
    match is_new {
        true => tx.insert("kontrakt", &[&kontrakt.values(Part::All)[..], own].concat()),
        false => tx.update("kontrakt", kontrakt.id, &[&kontrakt.values(Part::Mutable)[..], own].concat()),
    }
}

pub fn positions(tx: &Tx<'_>, kontrakt: Uuid) -> Result<Vec<Position>> {
    let found = positions_of(tx, &[kontrakt])?;
    Ok(found.into_iter().map(|(_, position)| position).collect())
}

/// Returns the positions of some contracts, each with its contract, in order.
pub fn positions_of(tx: &Tx<'_>, kontrakte: &[Uuid]) -> Result<Vec<(Uuid, Position)>> {
    let statement = format!(
        "select {}, p.kontrakt_id from kontrakt_position p
         where p.tenant_id = :tenant and p.kontrakt_id in (select unhex(value) from json_each(:kontrakte))
         order by p.position, p.id",
        Position::COLUMNS
    );
    tx.all(&statement, named_params! {":kontrakte": hex(kontrakte)}, |row| {
        Ok((row.get("kontrakt_id")?, Position::read(row)?))
    })
}

/// Whether a document, a weighing or a goods receipt names a contract.
pub fn is_named(tx: &Tx<'_>, kontrakt: Uuid) -> Result<bool> {
    let statement = "select 1 from kontrakt v where v.tenant_id = :tenant and v.id = :id and (
        exists (select 1 from beleg_position where tenant_id = :tenant and kontrakt_id = :id)
        or exists (select 1 from wiegung where tenant_id = :tenant and kontrakt_id = :id)
        or exists (select 1 from annahmeschein where tenant_id = :tenant and kontrakt_id = :id))";
    tx.exists(statement, named_params! {":id": kontrakt})
}

/// Whether a position with this id exists in any contract.
pub fn has_position(tx: &Tx<'_>, id: Uuid) -> Result<bool> {
    let statement = "select 1 from kontrakt_position where tenant_id = :tenant and id = :id";
    tx.exists(statement, named_params! {":id": id})
}

/// Deletes a position of a contract that nothing references.
pub fn delete_position(tx: &WriteTx<'_>, kontrakt: Uuid, position: Uuid) -> Result<()> {
    tx.changed("kontrakt", kontrakt);
    let statement = "delete from kontrakt_position where tenant_id = :tenant and id = :id";
    tx.execute(statement, named_params! {":id": position}).map(drop)
}

/// Deletes a contract with its positions. If other records reference it, deletes nothing and returns their
/// tables.
pub fn delete(tx: &WriteTx<'_>, kontrakt: Uuid) -> Result<Vec<String>> {
    let mut naming = tx.referring(Art::Kontrakt, kontrakt)?;
    naming.retain(|table| table != "kontrakt_position");
    if !naming.is_empty() {
        return Ok(naming);
    }
    for position in positions(tx, kontrakt)? {
        delete_position(tx, kontrakt, position.id)?;
    }
    tx.delete(Art::Kontrakt, kontrakt)
}

/// Inserts a position if `is_new`, otherwise updates its mutable columns. The feed reports the contract as
/// changed.
pub fn upsert_position(tx: &WriteTx<'_>, kontrakt: Uuid, position: &Position, is_new: bool) -> Result<()> {
    tx.changed("kontrakt", kontrakt);
    if !is_new {
        return tx.update("kontrakt_position", position.id, &position.values(Part::Mutable));
    }
    let own: Params<'_> = named_params! {":kontrakt_id": kontrakt};
    tx.insert("kontrakt_position", &[&position.values(Part::All)[..], own].concat())
}

pub const RETENTION: Retention = Retention {
    records: "Kontrakte",
    years: 8,
    of_partner: "select count(*) as anzahl, count(*) filter (where erledigt = 0) as offen,
          count(*) filter (where coalesce(gueltig_bis, erfassungsdatum, gueltig_von) is null) as undatiert,
          max(coalesce(gueltig_bis, erfassungsdatum, gueltig_von)) as tag, null as zeit
        from kontrakt where tenant_id = :tenant and partner_id = :partner",
};
