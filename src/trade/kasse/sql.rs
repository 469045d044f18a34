//! SQL statements for till receipts and their lines.

use rusqlite::{Row, named_params};
use uuid::Uuid;

use super::model::{Auswahl, Barverkauf, Kassendatei};
use crate::platform::db::list::{Filter, ListSql, Page};
use crate::platform::db::record::{Part, record};
use crate::platform::db::seals::evidence;
use crate::platform::db::seals::retention::Retention;
use crate::platform::db::tx::{Params, Tx, WriteTx};
use crate::platform::failure::Result;
use crate::platform::listing::PageOf;
use crate::rules::day::{Day, Instant};
use crate::rules::error::{Code, Refusal};
use crate::rules::fixed::{Money, Percent, Price, Quantity};
use crate::rules::kasse::BonArt;
use crate::rules::text::natural_key;

/// Receipts are read in the order of the list; `cross join` keeps the planner from starting with the lines.
const LIST: ListSql<'_> = ListSql {
    columns: Barverkauf::COLUMNS,
    from: "from bon b cross join barverkauf z on z.tenant_id = b.tenant_id and z.bon_id = b.id
        left join artikel a on a.tenant_id = z.tenant_id and a.id = z.artikel_id",
    count: "select coalesce(sum(b.zeilen), 0) from bon b",
    ids_first: None,
    order: "order by b.datum, b.bon_nr_sort, z.id",
};

pub fn list<P: PageOf<Barverkauf>>(tx: &Tx<'_>, auswahl: &Auswahl<'_>, page: Page) -> Result<P> {
    let art = auswahl.nur_verkaeufe.then_some(BonArt::Verkauf);
    let by_days = auswahl.zahlart.is_none() && auswahl.kasse.is_none() && auswahl.bon_nr.is_none();
    let way = if by_days { Some(way(tx, auswahl, art, page.offset)?) } else { None };
    let mut filter = Filter::of("b");
    filter.when("b.datum >= :von", ":von", way.as_ref().and_then(|way| way.from).or(auswahl.von));
    filter.when("b.datum <= :bis", ":bis", auswahl.bis);
    filter.when("b.zahlart = :zahlart", ":zahlart", auswahl.zahlart);
    filter.when("b.kasse_id = :kasse", ":kasse", auswahl.kasse);
    filter.when("b.bon_nr = :bon_nr", ":bon_nr", auswahl.bon_nr);
    filter.when("b.art = :art", ":art", art);
    match way {
        None => tx.list(&LIST, &filter, page),
        Some(way) if page.offset >= way.count => Ok(P::empty(way.count)),
        Some(way) => P::read(tx, &LIST, &filter, Page { offset: way.offset, ..page }, way.count),
    }
}

/// How to find a page of all lines: their total number, the day of the page's first line, and the number of
/// lines of that day before it.
struct Way {
    count: i64,
    from: Option<Day>,
    offset: i64,
}

/// Counts the lines for the first page. For a later page it sums day by day, because a company has thousands
/// of days but millions of lines.
fn way(tx: &Tx<'_>, auswahl: &Auswahl<'_>, art: Option<BonArt>, offset: i64) -> Result<Way> {
    let mut filter = Filter::of("t");
    filter.when("t.datum >= :von", ":von", auswahl.von);
    filter.when("t.datum <= :bis", ":bis", auswahl.bis);
    filter.when("t.art = :art", ":art", art);
    if offset == 0 {
        let count = tx.filtered("select sum(t.zeilen) from kassentag t", &filter, "", |row| row.get(0))?;
        let count: Option<i64> = count.into_iter().next().flatten();
        return Ok(Way { count: count.unwrap_or_default(), from: None, offset });
    }
    let days = tx.filtered(
        "select t.datum, sum(t.zeilen) from kassentag t",
        &filter,
        "group by t.datum order by t.datum",
        |row| Ok((row.get::<_, Day>(0)?, row.get::<_, i64>(1)?)),
    )?;
    let mut way = Way { count: 0, from: None, offset };
    for (day, lines) in days {
        way.count += lines;
        if offset >= way.count {
            way.offset = offset - way.count;
        } else if way.from.is_none() {
            way.from = Some(day);
        }
    }
    Ok(way)
}

/// Maximum id of a line (specification: int32).
const ZEILEN_ID_MAX: i64 = i32::MAX as i64;

record! {
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Bon in bon as b {
        id: Uuid = fixed,
        bon_nr: String = mutable,
        kasse_id: Option<Uuid> = mutable,
        kassiert_am: Instant = mutable,
        art: BonArt = mutable,
        storno_von_bon_id: Option<Uuid> = mutable,
        zahlart: Option<String> = mutable,
        kunde_id: Option<Uuid> = mutable,
    }
}

fn bon(row: &Row<'_>) -> rusqlite::Result<(Bon, i64)> {
    Ok((Bon::read(row)?, row.get("zeilen")?))
}

pub fn find(tx: &Tx<'_>, id: Uuid) -> Result<Option<(Bon, i64)>> {
    let statement =
        format!("select {}, b.zeilen from bon b where b.tenant_id = :tenant and b.id = :id", Bon::COLUMNS);
    tx.optional(&statement, named_params! {":id": id}, bon)
}

/// Finds the receipts with a number: usually one per register.
pub fn find_by_nr(tx: &Tx<'_>, bon_nr: &str) -> Result<Vec<(Bon, i64)>> {
    let columns = Bon::COLUMNS;
    let statement = format!(
        "select {columns}, b.zeilen from bon b where b.tenant_id = :tenant and b.bon_nr = :bon_nr limit 100"
    );
    tx.all(&statement, named_params! {":bon_nr": bon_nr}, bon)
}

const KASSEN_NAMED_MAX: i64 = 20;

/// Returns the registers that have a receipt with this number; `None` stands for a receipt without a
/// register.
pub fn kassen_with(tx: &Tx<'_>, bon_nr: &str) -> Result<Vec<Option<Uuid>>> {
    let statement = "select distinct kasse_id from bon where tenant_id = :tenant and bon_nr = :bon_nr
        order by kasse_id limit :limit";
    tx.all(statement, named_params! {":bon_nr": bon_nr, ":limit": KASSEN_NAMED_MAX}, |row| row.get(0))
}

/// Finds the place of a line in a reversal that adds goods instead of taking them back. Positive quantities
/// are allowed only for lines that the original itself took back (a returned deposit).
pub fn adding_line(tx: &Tx<'_>, storno: Uuid, original: Option<Uuid>) -> Result<Option<i64>> {
    tx.optional(
        "select z.position from barverkauf z
         where z.tenant_id = :tenant and z.bon_id = :storno and z.menge > 0 and not exists
           (select 1 from barverkauf o where o.tenant_id = :tenant and o.bon_id = :original and o.menge = -z.menge)
         order by z.position limit 1",
        named_params! {":storno": storno, ":original": original},
        |row| row.get(0),
    )
}

pub fn upsert(tx: &WriteTx<'_>, bon: &Bon, is_new: bool) -> Result<()> {
    let own: Params<'_> = named_params! {
        ":bon_nr_sort": natural_key(&bon.bon_nr),
        ":datum": Day::in_berlin(bon.kassiert_am),
    };
    match is_new {
        true => tx.insert("bon", &[&bon.values(Part::All)[..], own].concat()),
        false => tx.update("bon", bon.id, &[&bon.values(Part::Mutable)[..], own].concat()),
    }
}

/// The condition that the reversals of a receipt leave something of a rate (`> 0`), or take back more of it than was
/// sold (`< 0`): the gross total with them, times that of the receipt itself.
fn of_a_rate(is_left: &str) -> String {
    format!(
        "exists (select 1 from barverkauf z where z.tenant_id = :tenant
           and z.bon_id in (select :id union all select r.id from bon r
             where r.tenant_id = :tenant and r.storno_von_bon_id = :id and r.art = 'storno')
           group by z.mwst_satz having sum(z.gesamt) * sum(iif(z.bon_id = :id, z.gesamt, 0)) {is_left})"
    )
}

/// Whether the reversals of a receipt take back more than it sold.
pub fn is_reversed_too_often(tx: &Tx<'_>, bon: Uuid) -> Result<bool> {
    tx.one(&format!("select {}", of_a_rate("< 0")), named_params! {":id": bon}, |row| row.get(0))
}

/// Updates the derived data of a receipt: the number of its lines, if given, and whether it is reversed,
/// which means that it has reversals and that they leave nothing of any rate (D22). Does nothing for an unknown
/// receipt.
pub fn recompute(tx: &WriteTx<'_>, bon: Uuid, zeilen: Option<i64>) -> Result<()> {
    tx.execute(
        &format!(
            "update bon set zeilen = coalesce(:zeilen, zeilen), storniert =
               exists (select 1 from bon r
                 where r.tenant_id = :tenant and r.storno_von_bon_id = :id and r.art = 'storno')
               and not {}
             where tenant_id = :tenant and id = :id",
            of_a_rate("> 0")
        ),
        named_params! {":id": bon, ":zeilen": zeilen},
    )?;
    Ok(())
}

record! {
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Zeile in barverkauf as z {
        id: i64 = fixed,
        bon_id: Uuid = fixed,
        position: i64 = fixed,
        artikel_id: Option<Uuid> = mutable,
        artikelnummer: Option<String> = mutable,
        bezeichnung: String = mutable,
        ean: Option<String> = mutable,
        menge: Quantity = mutable,
        einheit: Option<String> = mutable,
        einzelpreis: Price = mutable,
        mwst_satz: Percent = mutable,
        gesamt: Money = mutable,
        steuer: Money = mutable,
    }
}

pub fn find_zeile(tx: &Tx<'_>, id: i64) -> Result<Option<Zeile>> {
    let statement =
        format!("select {} from barverkauf z where z.tenant_id = :tenant and z.id = :id", Zeile::COLUMNS);
    tx.optional(&statement, named_params! {":id": id}, Zeile::read)
}

pub fn find_zeile_at(tx: &Tx<'_>, bon: Uuid, position: i64) -> Result<Option<Zeile>> {
    let statement = format!(
        "select {} from barverkauf z
         where z.tenant_id = :tenant and z.bon_id = :bon and z.position = :position",
        Zeile::COLUMNS
    );
    tx.optional(&statement, named_params! {":bon": bon, ":position": position}, Zeile::read)
}

pub fn next_zeilen_id(tx: &Tx<'_>) -> Result<i64> {
    let statement = "select coalesce(max(id), 0) + 1 from barverkauf where tenant_id = :tenant";
    let next = tx.one(statement, &[], |row| row.get(0))?;
    if next <= ZEILEN_ID_MAX {
        return Ok(next);
    }
    let message = "Es gibt schon eine Zeile mit der größten id. Bitte die id der Zeilen angeben.";
    Err(Refusal::field(Code::FeldFehlt, "id", message).into())
}

/// Inserts or updates a line; its receipt and place never change.
pub fn upsert_zeile(tx: &WriteTx<'_>, zeile: &Zeile) -> Result<()> {
    tx.upsert("barverkauf", &["id"], &zeile.values(Part::All))
}

#[derive(Debug)]
pub struct Summe {
    pub mwst_satz: Percent,
    pub zahlart: Option<String>,
    /// Including tax.
    pub gesamt: Money,
    pub steuer: Money,
}

/// Sums all lines of a day, including reversals.
pub fn sums_of_day(tx: &Tx<'_>, tag: Day) -> Result<Vec<Summe>> {
    let statement = "select z.mwst_satz, b.zahlart, sum(z.gesamt), sum(z.steuer)
        from bon b cross join barverkauf z on z.tenant_id = b.tenant_id and z.bon_id = b.id
        where b.tenant_id = :tenant and b.datum = :tag
        group by z.mwst_satz, b.zahlart order by z.mwst_satz, b.zahlart";
    tx.all(statement, named_params! {":tag": tag}, |row| {
        Ok(Summe { mwst_satz: row.get(0)?, zahlart: row.get(1)?, gesamt: row.get(2)?, steuer: row.get(3)? })
    })
}

pub fn has_file(tx: &Tx<'_>, sha256: [u8; 32]) -> Result<bool> {
    let statement = "select 1 from kassendatei where tenant_id = :tenant and sha256 = :sha256";
    tx.exists(statement, named_params! {":sha256": sha256})
}

pub fn insert_file(tx: &WriteTx<'_>, datei: &Kassendatei) -> Result<()> {
    let Kassendatei { dateiname, days: (von, bis), sha256, inhalt } = datei;
    tx.insert(
        "kassendatei",
        named_params! {
            ":id": tx.new_id(),
            ":dateiname": dateiname,
            ":von": von,
            ":bis": bis,
            ":sha256": sha256,
            ":erhalten_am": tx.now(),
            ":inhalt": inhalt,
        },
    )
}

/// Returns the name of the first stored file that does not match its sha256.
pub fn altered_file(tx: &Tx<'_>) -> Result<Option<String>> {
    let statement = "select dateiname, sha256, inhalt from kassendatei where tenant_id = :tenant order by id";
    evidence::altered_content(tx, statement, |row| row.get(0))
}

/// Deletes stored files whose last day is before this one.
pub fn delete_files_before(tx: &WriteTx<'_>, day: Day) -> Result<()> {
    let statement = "delete from kassendatei where tenant_id = :tenant and bis < :day";
    tx.execute(statement, named_params! {":day": day}).map(drop)
}

/// Retention of records that name a partner.
pub const RETENTION: Retention = Retention {
    records: "Bons",
    years: 8,
    of_partner: "select count(*) as anzahl, 0 as offen, 0 as undatiert, max(datum) as tag, null as zeit
        from bon where tenant_id = :tenant and kunde_id = :partner",
};
