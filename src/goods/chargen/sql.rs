//! SQL statements for batches.

use rusqlite::types::ToSql;
use rusqlite::{Row, named_params};
use uuid::Uuid;

use super::model::{Auswahl, Charge, Inventur, Lagerposten, Verfuegbar};
use crate::platform::db::list::{Filter, ListSql, Order, Page, names};
use crate::platform::db::record::Part;
use crate::platform::db::seals::retention::Retention;
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::{Failure, Result};
use crate::platform::listing::{PageOf, Records};
use crate::rules::day::Day;
use crate::rules::fixed::Quantity;
use crate::rules::text::case_key;

const LIST: ListSql<'_> = ListSql {
    columns: Charge::COLUMNS,
    from: "from charge c
    join artikel a on a.tenant_id = c.tenant_id and a.id = c.artikel_id
    left join kunde k on k.tenant_id = c.tenant_id and k.id = c.partner_id",
    count: "select count(*) from charge c",
    ids_first: Some("c"),
    order: "order by c.id",
};

/// Sort orders of the list; batches without a best-before date come last.
const ORDERS: [Order; 6] = [
    ("created_at", LIST.order),
    ("-created_at", "order by c.id desc"),
    ("charge_nr", "order by c.charge_nr_key, c.id"),
    ("-charge_nr", "order by c.charge_nr_key desc, c.id desc"),
    ("mhd", "order by c.mhd nulls last, c.id"),
    ("-mhd", "order by c.mhd desc nulls last, c.id desc"),
];

pub const SORTIERUNG: &[&str] = &names(ORDERS);

/// Matches batches whose own or foreign number contains the search text. Each number has a subquery, so that
/// SQLite scans two indexes instead of the table.
const NUMBERED: &str = "c.id in (
    select n.id from charge n where n.tenant_id = :tenant and instr(n.charge_nr_key, :suche) > 0
    union all select f.id from charge f
      where f.tenant_id = :tenant and f.fremde_charge_key is not null and instr(f.fremde_charge_key, :suche) > 0)";

/// Lists one page of batches in order of creation: ids grow with time.
pub fn list<P: PageOf<Charge>>(tx: &Tx<'_>, auswahl: &Auswahl, page: Page) -> Result<P> {
    let mut filter = Filter::of("c");
    filter.when(NUMBERED, ":suche", auswahl.suche.as_deref());
    filter.when("c.artikel_id = :artikel", ":artikel", auswahl.artikel);
    filter.when("c.partner_id = :partner", ":partner", auswahl.partner);
    if auswahl.mit_bestand {
        filter.and("c.bestand > 0");
    }
    filter.when("c.mhd <= :mhd_bis", ":mhd_bis", auswahl.mhd_bis);
    tx.list(&LIST.in_order(&ORDERS, auswahl.sortierung, &mut filter), &filter, page)
}

/// Counts the batches with stock and a best-before date up to `until`, and how many of them expired before
/// `today`; `most` at most.
pub fn expiring(tx: &Tx<'_>, today: Day, until: Day, most: i64) -> Result<(i64, i64)> {
    let statement = "select count(*), count(*) filter (where mhd < :today) from (
          select mhd from charge indexed by charge_mhd
          where tenant_id = :tenant and bestand > 0 and mhd <= :until order by mhd limit :most)";
    let params = named_params! {":today": today, ":until": until, ":most": most};
    tx.one(statement, params, |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Returns the batches of an article that goods can be taken from, in the order in which they should leave: by
/// best-before date, then age, without date last (D8, fefo).
pub fn available(tx: &Tx<'_>, artikel: Uuid, auswahl: &Verfuegbar) -> Result<Vec<Charge>> {
    let mut filter = Filter::equal("c", "artikel_id", artikel);
    filter.and("c.bestand > 0 and c.gesperrt = 0");
    let today = (!auswahl.abgelaufen).then(|| tx.today());
    filter.when("(c.mhd is null or c.mhd >= :today)", ":today", today);
    filter.when("c.lagerhalle_id = :halle", ":halle", auswahl.lagerhalle);
    filter.when("c.niederlassung_id = :niederlassung", ":niederlassung", auswahl.niederlassung);
    filter.when("c.mhd >= :mhd", ":mhd", auswahl.mhd_ab);
    filter.when("c.herkunftsland = :land", ":land", auswahl.herkunftsland);
    if auswahl.nur_bio {
        filter.and("c.biozertifikat_id is not null");
    }
    tx.filtered(LIST, &filter, "order by c.mhd nulls last, c.id", Charge::read)
}

pub fn find(tx: &Tx<'_>, id: Uuid) -> Result<Option<Charge>> {
    tx.find_by(&LIST, "c.id", &id)
}

/// Finds a batch by its number, which is unique per article.
pub fn find_by_nr(tx: &Tx<'_>, artikel: Uuid, charge_nr: &str) -> Result<Option<Charge>> {
    let statement =
        format!("{LIST} where c.tenant_id = :tenant and c.artikel_id = :artikel and c.charge_nr_key = :key");
    tx.optional(&statement, named_params! {":artikel": artikel, ":key": case_key(charge_nr)}, Charge::read)
}

/// A batch that has a supplier's number, or had it until a correction.
#[derive(Debug, Clone, Copy)]
pub struct Numbered {
    pub charge: Uuid,
    pub is_former: bool,
}

/// Maximum number of batches found for one supplier's number.
const NUMBERED_MAX: i64 = 100;

/// Finds the batches of an article with a supplier's number, then those that formerly had it, each oldest
/// first. Where both best-before dates are known, they must match. A former number matches the date that the
/// batch had then or has now; if only the date was corrected, the former date must match exactly.
pub fn numbered(
    tx: &Tx<'_>,
    artikel: Uuid,
    partner: Uuid,
    fremde_charge_nr: &str,
    mhd: Option<Day>,
) -> Result<Vec<Numbered>> {
    let statement = "select id, 0 as frueher from charge
         where tenant_id = :tenant and artikel_id = :artikel and partner_id = :partner
           and fremde_charge_key = :key and (mhd is null or :mhd is null or mhd = :mhd)
         union all
         select v.charge_id, 1 from charge_verlauf v join charge c on c.tenant_id = v.tenant_id and c.id = v.charge_id
         where v.tenant_id = :tenant and v.artikel_id = :artikel and v.partner_id = :partner
           and v.fremde_charge_key = :key
           and iif(c.partner_id is v.partner_id and c.fremde_charge_key is v.fremde_charge_key, v.mhd = :mhd,
             :mhd is null or v.mhd is null or v.mhd = :mhd or c.mhd is null or c.mhd = :mhd)
         order by frueher, id limit :most";
    let params = named_params! {
        ":artikel": artikel,
        ":partner": partner,
        ":key": case_key(fremde_charge_nr),
        ":mhd": mhd,
        ":most": NUMBERED_MAX,
    };
    tx.all(statement, params, |row| Ok(Numbered { charge: row.get(0)?, is_former: row.get(1)? }))
}

/// Returns the number of another batch of the same article and partner with the same supplier's number.
pub fn other_with_fremde(tx: &Tx<'_>, charge: &Charge) -> Result<Option<String>> {
    let Some(fremde) = charge.fremde_charge_nr.as_deref() else { return Ok(None) };
    let params = named_params! {
        ":artikel": charge.artikel_id,
        ":partner": charge.partner_id,
        ":key": case_key(fremde),
        ":id": charge.id,
    };
    tx.optional(
        "select charge_nr from charge
         where tenant_id = :tenant and artikel_id = :artikel and partner_id is :partner
           and fremde_charge_key = :key and id <> :id
         order by id limit 1",
        params,
        |row| row.get(0),
    )
}

/// A batch and its stock, ordered as batches should leave: by best-before date, then age, without date last
/// (D8, fefo).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Vorrat {
    mhd: (bool, Option<Day>),
    pub charge: Uuid,
    /// In the unit of the article.
    pub bestand: Quantity,
}

impl From<&Charge> for Vorrat {
    fn from(charge: &Charge) -> Vorrat {
        let mhd = charge.mhd.map(|day| day.0);
        Vorrat { mhd: (mhd.is_none(), mhd), charge: charge.id, bestand: charge.bestand }
    }
}

fn vorrat(row: &Row<'_>) -> rusqlite::Result<Vorrat> {
    let mhd: Option<Day> = row.get(0)?;
    Ok(Vorrat { mhd: (mhd.is_none(), mhd), charge: row.get(1)?, bestand: row.get(2)? })
}

/// Returns the batches of an article that have stock and may leave on a day, in the order in which they
/// leave, until their stock reaches the wanted quantity.
pub fn with_stock(tx: &Tx<'_>, artikel: Uuid, day: Day, wanted: Quantity) -> Result<Vec<Vorrat>> {
    let (mut found, mut missing) = (Vec::new(), wanted.units());
    // Two queries, each in index order, so that no more rows are read than needed.
    let dated: &[_] = named_params! {":artikel": artikel, ":day": day};
    let undated: &[_] = named_params! {":artikel": artikel};
    for (which, params) in [("(mhd is null) = 0 and mhd >= :day", dated), ("(mhd is null) = 1", undated)] {
        let statement = format!(
            "select mhd, id, bestand from charge
             where tenant_id = :tenant and artikel_id = :artikel and (bestand > 0) = 1 and gesperrt = 0 and {which}
             order by mhd, id"
        );
        tx.each_while(&statement, params, |row| {
            if missing > 0 {
                let batch = vorrat(row)?;
                missing = missing.saturating_sub(batch.bestand.units());
                found.push(batch);
            }
            Ok(missing > 0)
        })?;
    }
    Ok(found)
}

/// Whether an article has stock in a locked batch.
pub fn has_locked_stock(tx: &Tx<'_>, artikel: Uuid) -> Result<bool> {
    let statement = "select 1 from charge
        where tenant_id = :tenant and artikel_id = :artikel and (bestand > 0) = 1 and gesperrt = 1";
    tx.exists(statement, named_params! {":artikel": artikel})
}

/// Whether a batch referenced this partner before it was corrected.
pub fn had_partner(tx: &Tx<'_>, partner: Uuid) -> Result<bool> {
    let statement = "select 1 from charge_verlauf where tenant_id = :tenant and partner_id = :partner";
    tx.exists(statement, named_params! {":partner": partner})
}

pub fn has_batches(tx: &Tx<'_>, artikel: Uuid) -> Result<bool> {
    let statement = "select 1 from charge where tenant_id = :tenant and artikel_id = :artikel";
    tx.exists(statement, named_params! {":artikel": artikel})
}

const LAGER: ListSql<'_> = ListSql {
    columns: Lagerposten::COLUMNS,
    from: "from artikel_bestand s join artikel a on a.tenant_id = s.tenant_id and a.id = s.artikel_id
      left join artikelgruppe g on g.tenant_id = a.tenant_id and g.id = a.artikelgruppe_id
      left join charge c on c.tenant_id = s.tenant_id and c.artikel_id = s.artikel_id and c.bestand <> 0",
    count: "select count(*) from artikel_bestand s join artikel a on a.tenant_id = s.tenant_id and a.id = s.artikel_id
      left join charge c on c.tenant_id = s.tenant_id and c.artikel_id = s.artikel_id and c.bestand <> 0",
    ids_first: None,
    order: "order by g.nummer nulls last, g.name, a.artikelnummer_sort, a.id, c.mhd nulls last, c.id",
};

/// Returns the counting list, sorted by group and article; of all groups or of one.
pub fn lager(tx: &Tx<'_>, gruppe: Option<i64>, page: Page) -> Result<Records<Lagerposten>> {
    let mut filter = Filter::of("s");
    filter.when("a.artikelgruppe_id = :gruppe", ":gruppe", gruppe);
    filter.and(
        "(c.id is not null or s.bestand <> 0 and a.chargenpflichtig = 0 and not exists (select 1 from charge n
           where n.tenant_id = s.tenant_id and n.artikel_id = s.artikel_id))",
    );
    tx.list(&LAGER, &filter, page)
}

/// The counted batches of an article that have stock.
#[derive(Debug, Clone, Copy)]
pub struct Lagernd {
    /// Number of batches; [`COUNTED`] at most.
    pub chargen: i64,
    pub mhd: Option<Day>,
}

/// Maximum number of batches of an article that [`in_stock`] counts.
pub const COUNTED: i64 = 1_000;

/// Counts the batches of an article with stock and returns their earliest best-before date.
pub fn in_stock(tx: &Tx<'_>, artikel: Uuid) -> Result<Lagernd> {
    let statement = "select count(*), min(mhd) from (
        select mhd from charge where tenant_id = :tenant and artikel_id = :artikel and (bestand > 0) = 1
        order by mhd is null, mhd limit :most)";
    let params = named_params! {":artikel": artikel, ":most": COUNTED};
    tx.one(statement, params, |row| Ok(Lagernd { chargen: row.get(0)?, mhd: row.get(1)? }))
}

/// Finds the batch without stock that should leave last, among those of an article that may leave on a day.
pub fn last_without_stock(tx: &Tx<'_>, artikel: Uuid, day: Day) -> Result<Option<Vorrat>> {
    // Two queries, each in index order, so that batches that expired long ago are not read.
    let last = |which: &str, params: &[(&str, &dyn ToSql)]| {
        let statement = format!(
            "select mhd, id, bestand from charge
             where tenant_id = :tenant and artikel_id = :artikel and (bestand > 0) = 0 and gesperrt = 0 and {which}
             order by mhd desc, id desc limit 1"
        );
        tx.optional(&statement, params, vorrat)
    };
    let undated = last("(mhd is null) = 1", named_params! {":artikel": artikel})?;
    match undated {
        Some(undated) => Ok(Some(undated)),
        None => last("(mhd is null) = 0 and mhd >= :day", named_params! {":artikel": artikel, ":day": day}),
    }
}

pub fn opening_stock(tx: &Tx<'_>, charge: Uuid) -> Result<Option<Quantity>> {
    let statement = "select eroeffnung from charge where tenant_id = :tenant and id = :id";
    Ok(tx.optional(statement, named_params! {":id": charge}, |row| row.get(0))?.flatten())
}

pub fn insert(tx: &WriteTx<'_>, charge: &Charge) -> Result<()> {
    let own = named_params! {
        ":charge_nr_key": case_key(&charge.charge_nr),
        ":fremde_charge_key": charge.fremde_charge_nr.as_deref().map(case_key),
    };
    tx.insert("charge", &[&charge.values(Part::All)[..], own].concat())
}

/// Stores the changed master data of a batch; only movements change its stock.
pub fn update_master_data(tx: &WriteTx<'_>, charge: &Charge) -> Result<()> {
    let own = named_params! {":fremde_charge_key": charge.fremde_charge_nr.as_deref().map(case_key)};
    tx.update("charge", charge.id, &[&charge.values(Part::Mutable)[..], own].concat())
}

/// Number of positions, and of movements, of a batch among which its open documents are looked for.
const LOOKED_AT_MAX: i64 = 1_000;

/// Returns the numbers of open documents that name a batch or moved goods of it, the newest first, among the newest positions
/// and the largest withdrawals: the order of the indexes, so that no more are read.
pub fn open_documents_of(tx: &Tx<'_>, charge: Uuid, most: usize) -> Result<Vec<String>> {
    let statement = "select b.beleg_nummer from (
          select beleg_id from (select beleg_id from beleg_position
            where tenant_id = :tenant and charge_id = :charge order by beleg_id desc limit :looked_at)
          union
          select beleg_id from (select beleg_id from lagerbewegung
            where tenant_id = :tenant and charge_id = :charge order by menge limit :looked_at)) d
          cross join beleg b on b.tenant_id = :tenant and b.id = d.beleg_id and b.status = 'offen'
        order by b.id desc limit :most";
    let params = named_params! {":charge": charge, ":looked_at": LOOKED_AT_MAX, ":most": i64::try_from(most).unwrap_or(i64::MAX)};
    tx.all(statement, params, |row| row.get(0))
}

const INVENTUR: ListSql<'_> = ListSql {
    columns: Inventur::COLUMNS,
    from: "from inventur i",
    count: "select count(*) from inventur i",
    ids_first: None,
    order: "order by i.id",
};

pub fn find_inventur(tx: &Tx<'_>, id: Uuid) -> Result<Inventur> {
    let found = tx.find_by(&INVENTUR, "i.id", &id)?;
    found.ok_or_else(|| Failure::Broken("a stocktaking that is noted is not there".into()))
}

pub fn find_inventur_by_ref(tx: &Tx<'_>, external_ref: &str) -> Result<Option<Inventur>> {
    tx.find_by(&INVENTUR, "i.external_ref", &external_ref)
}

/// Whether the company has any stocktaking.
pub fn has_inventuren(tx: &Tx<'_>) -> Result<bool> {
    tx.exists("select 1 from inventur where tenant_id = :tenant", &[])
}

/// Returns the stock of an article and its latest stocktaking.
pub fn article_stock(tx: &Tx<'_>, artikel: Uuid) -> Result<(Quantity, Option<Uuid>)> {
    let statement = "select bestand, inventur_id from artikel_bestand
        where tenant_id = :tenant and artikel_id = :artikel";
    let kept =
        tx.optional(statement, named_params! {":artikel": artikel}, |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(kept.unwrap_or_default())
}

/// Returns the latest stocktaking of each batch, or article without batches, of which a document has moved something since,
/// with the number of the batch.
pub fn counted_before_movements_of(tx: &Tx<'_>, beleg: Uuid) -> Result<Vec<(Uuid, Option<String>)>> {
    let statement = "select coalesce(c.inventur_id, s.inventur_id) as inventur, c.charge_nr
        from lagerbewegung m
          left join charge c on c.tenant_id = m.tenant_id and c.id = m.charge_id
          left join artikel_bestand s on s.tenant_id = m.tenant_id and s.artikel_id = m.artikel_id
            and m.charge_id is null
        where m.tenant_id = :tenant and m.beleg_id = :beleg and m.id > inventur
        group by m.artikel_id, m.charge_id having sum(m.menge) <> 0";
    tx.all(statement, named_params! {":beleg": beleg}, |row| Ok((row.get(0)?, row.get(1)?)))
}

pub fn insert_inventur(tx: &WriteTx<'_>, inventur: &Inventur) -> Result<()> {
    tx.insert("inventur", &inventur.values(Part::All))
}

/// Records a stocktaking in its batch, or in its article without batches.
pub fn record_inventur(tx: &WriteTx<'_>, inventur: &Inventur) -> Result<()> {
    let Inventur { id, artikel_id, charge_id, bestand, .. } = inventur;
    match charge_id {
        Some(charge) => tx.update("charge", *charge, named_params! {":inventur_id": id}),
        None => {
            tx.changed("artikel", *artikel_id);
            let row = named_params! {":artikel_id": artikel_id, ":bestand": bestand, ":inventur_id": id};
            tx.upsert("artikel_bestand", &["artikel_id"], row)
        }
    }
}

pub const RETENTION: Retention = Retention {
    records: "Chargen",
    years: 10,
    of_partner: "select count(distinct c.id) as anzahl, 0 as offen, 0 as undatiert, null as tag,
          max(max(c.angelegt_am, coalesce(l.am, 0))) as zeit
        from charge c left join lagerbewegung l on l.tenant_id = c.tenant_id and l.charge_id = c.id
        where c.tenant_id = :tenant and c.id in (
          select id from charge where tenant_id = :tenant and partner_id = :partner
          union select charge_id from charge_verlauf where tenant_id = :tenant and partner_id = :partner)",
};
