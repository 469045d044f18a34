//! Statements on receipts and their lines.

use rusqlite::{Row, named_params};
use uuid::Uuid;

use super::model::Barverkauf;
use crate::db::list::{Filter, ListSql, Page};
use crate::db::tx::{Columns, Tx, WriteTx};
use crate::failure::Result;
use crate::listing::{Listing, Rows};
use crate::rules::day::{Day, Instant};
use crate::rules::error::{Code, Refusal};
use crate::rules::fixed::{Money, Percent, Price, Quantity};
use crate::rules::kasse::BonArt;
use crate::rules::text::natural_key;

/// Receipts stand in the order of the list; `cross join` keeps the planner from beginning with
/// the lines.
const LIST: ListSql<'_> = ListSql {
    columns: "z.id, z.bon_id, z.artikel_id, z.bezeichnung, coalesce(z.ean, a.ean), z.menge, z.einheit,
        z.einzelpreis, z.mwst_satz, z.gesamt, b.datum, b.kassiert_am, b.bon_nr, b.art, b.storniert,
        b.storno_von_bon_id, b.zahlart, b.kasse_id, b.kunde_id, coalesce(a.artikelnummer, z.artikelnummer),
        a.artikelnr, a.bezeichnung2, z.gesamt - z.steuer, z.steuer",
    from: "from bon b cross join barverkauf z on z.tenant_id = b.tenant_id and z.bon_id = b.id
        left join artikel a on a.tenant_id = z.tenant_id and a.id = z.artikel_id",
    count: "select coalesce(sum(b.zeilen), 0) from bon b",
    ids_first: None,
    order: "order by b.datum, b.bon_nr_sort, z.id",
};

fn write(row: &Row<'_>, rows: &mut Rows) -> Result<()> {
    let mut columns = Columns::of(row);
    rows.push(&Barverkauf {
        id: columns.take()?,
        bon_id: columns.take()?,
        artikel_id: columns.take()?,
        bezeichnung: columns.text()?,
        ean: columns.optional_text()?,
        menge: columns.take()?,
        einheit: columns.optional_text()?,
        einzelpreis: columns.take()?,
        mwst_satz: columns.take()?,
        gesamt: columns.take()?,
        datum: columns.take()?,
        kassiert_at: columns.take()?,
        bon_nr: columns.text()?,
        art: columns.take()?,
        storniert: columns.take()?,
        storno_von_bon_id: columns.take()?,
        zahlart: columns.optional_text()?,
        kasse_id: columns.take()?,
        kunde_id: columns.take()?,
        artikelnummer: columns.optional_text()?,
        artikelnr: columns.optional_text()?,
        bezeichnung2: columns.optional_text()?,
        netto: columns.take()?,
        steuer: columns.take()?,
    })
}

/// What a list of receipt lines is filtered by (specification, Kasse).
#[allow(missing_docs)]
pub struct Auswahl<'a> {
    pub von: Option<Day>,
    pub bis: Option<Day>,
    pub zahlart: Option<&'a str>,
    pub kasse: Option<Uuid>,
    pub bon_nr: Option<&'a str>,
    pub nur_verkaeufe: bool,
}

/// One page of receipt lines.
pub fn list(tx: &Tx<'_>, auswahl: &Auswahl<'_>, page: Page) -> Result<Listing> {
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
        None => tx.list(&LIST, &filter, page, write),
        Some(way) if page.offset >= way.count => Ok(Listing::empty(way.count)),
        Some(way) => tx.page(&LIST, &filter, Page { offset: way.offset, ..page }, way.count, write),
    }
}

/// How a page of all lines is found: their number, the day of its first line, and how many lines of
/// that day stand before it.
struct Way {
    count: i64,
    from: Option<Day>,
    offset: i64,
}

/// Of the first page only the number is wanted. For another it walks day by day: a company has thousands of
/// days, and millions of lines.
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

/// Largest id of a line (specification: int32).
const MAX_ZEILEN_ID: i64 = i32::MAX as i64;

/// A receipt as it is stored, without what is computed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Bon {
    pub id: Uuid,
    pub bon_nr: String,
    pub kasse_id: Option<Uuid>,
    pub kassiert_am: Instant,
    pub art: BonArt,
    pub storno_von_bon_id: Option<Uuid>,
    pub zahlart: Option<String>,
    pub kunde_id: Option<Uuid>,
}

const BON: &str =
    "select id, bon_nr, kasse_id, kassiert_am, art, storno_von_bon_id, zahlart, kunde_id, zeilen from bon";

fn bon(row: &Row<'_>) -> rusqlite::Result<(Bon, i64)> {
    let mut columns = Columns::of(row);
    let bon = Bon {
        id: columns.take()?,
        bon_nr: columns.take()?,
        kasse_id: columns.take()?,
        kassiert_am: columns.take()?,
        art: columns.take()?,
        storno_von_bon_id: columns.take()?,
        zahlart: columns.take()?,
        kunde_id: columns.take()?,
    };
    Ok((bon, columns.take()?))
}

/// A receipt and the number of its lines.
pub fn find(tx: &Tx<'_>, id: Uuid) -> Result<Option<(Bon, i64)>> {
    let statement = format!("{BON} where tenant_id = :tenant and id = :id");
    tx.optional(&statement, named_params! {":id": id}, bon)
}

/// The receipts that have a number: one at each register, as a rule.
pub fn find_by_nr(tx: &Tx<'_>, bon_nr: &str) -> Result<Vec<(Bon, i64)>> {
    let statement = format!("{BON} where tenant_id = :tenant and bon_nr = :bon_nr limit 100");
    tx.all(&statement, named_params! {":bon_nr": bon_nr}, bon)
}

/// Registers that a refusal names at most.
const NAMED_KASSEN: i64 = 20;

/// The registers that have a receipt of this number; none stands for a receipt without one.
pub fn kassen_with(tx: &Tx<'_>, bon_nr: &str) -> Result<Vec<Option<Uuid>>> {
    let statement = "select distinct kasse_id from bon where tenant_id = :tenant and bon_nr = :bon_nr
        order by kasse_id limit :limit";
    tx.all(statement, named_params! {":bon_nr": bon_nr, ":limit": NAMED_KASSEN}, |row| row.get(0))
}

/// The place of a line of a reversal that adds goods instead of taking them back: only what the original took
/// back itself (a returned deposit) has a positive quantity there.
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

/// Adds a receipt or stores a changed one.
pub fn upsert(tx: &WriteTx<'_>, bon: &Bon, is_new: bool) -> Result<()> {
    let columns = named_params! {
        ":bon_nr": bon.bon_nr,
        ":bon_nr_sort": natural_key(&bon.bon_nr),
        ":kasse_id": bon.kasse_id,
        ":kassiert_am": bon.kassiert_am,
        ":datum": Day::in_berlin(bon.kassiert_am),
        ":art": bon.art,
        ":storno_von_bon_id": bon.storno_von_bon_id,
        ":zahlart": bon.zahlart,
        ":kunde_id": bon.kunde_id,
    };
    if !is_new {
        return tx.update("bon", bon.id, columns);
    }
    let own: [(&str, &dyn rusqlite::ToSql); 1] = [(":id", &bon.id)];
    tx.insert("bon", &[&own[..], columns].concat())
}

/// Computes what follows from the lines of a receipt: their number, where that may have changed,
/// and whether it is reversed: it has reversals, and with them the gross total of each rate is 0
/// (D22). Unknown receipts are nothing to do.
pub fn recompute(tx: &WriteTx<'_>, bon: Uuid, zeilen: Option<i64>) -> Result<()> {
    tx.execute(
        "update bon set zeilen = coalesce(:zeilen, zeilen), storniert =
           exists (select 1 from bon r
             where r.tenant_id = :tenant and r.storno_von_bon_id = :id and r.art = 'storno')
           and not exists (select 1 from barverkauf z
             where z.tenant_id = :tenant and z.bon_id in (select :id union all select r.id from bon r
               where r.tenant_id = :tenant and r.storno_von_bon_id = :id and r.art = 'storno')
             group by z.mwst_satz having sum(z.gesamt) <> 0)
         where tenant_id = :tenant and id = :id",
        named_params! {":id": bon, ":zeilen": zeilen},
    )?;
    Ok(())
}

/// A line as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Zeile {
    pub id: i64,
    pub bon_id: Uuid,
    pub position: i64,
    pub artikel_id: Option<Uuid>,
    pub artikelnummer: Option<String>,
    pub bezeichnung: String,
    pub ean: Option<String>,
    pub menge: Quantity,
    pub einheit: Option<String>,
    pub einzelpreis: Price,
    pub mwst_satz: Percent,
    pub gesamt: Money,
    pub steuer: Money,
}

const ZEILE: &str = "select z.id, z.bon_id, z.position, z.artikel_id, z.artikelnummer, z.bezeichnung, z.ean,
    z.menge, z.einheit, z.einzelpreis, z.mwst_satz, z.gesamt, z.steuer from barverkauf z";

fn zeile(row: &Row<'_>) -> rusqlite::Result<Zeile> {
    let mut columns = Columns::of(row);
    Ok(Zeile {
        id: columns.take()?,
        bon_id: columns.take()?,
        position: columns.take()?,
        artikel_id: columns.take()?,
        artikelnummer: columns.take()?,
        bezeichnung: columns.take()?,
        ean: columns.take()?,
        menge: columns.take()?,
        einheit: columns.take()?,
        einzelpreis: columns.take()?,
        mwst_satz: columns.take()?,
        gesamt: columns.take()?,
        steuer: columns.take()?,
    })
}

/// A line by its id.
pub fn find_zeile(tx: &Tx<'_>, id: i64) -> Result<Option<Zeile>> {
    let statement = format!("{ZEILE} where z.tenant_id = :tenant and z.id = :id");
    tx.optional(&statement, named_params! {":id": id}, zeile)
}

/// A line by its place in a receipt.
pub fn find_zeile_at(tx: &Tx<'_>, bon: Uuid, position: i64) -> Result<Option<Zeile>> {
    let statement =
        format!("{ZEILE} where z.tenant_id = :tenant and z.bon_id = :bon and z.position = :position");
    tx.optional(&statement, named_params! {":bon": bon, ":position": position}, zeile)
}

/// The next id of a line.
pub fn next_zeilen_id(tx: &Tx<'_>) -> Result<i64> {
    let statement = "select coalesce(max(id), 0) + 1 from barverkauf where tenant_id = :tenant";
    let next = tx.one(statement, &[], |row| row.get(0))?;
    if next <= MAX_ZEILEN_ID {
        return Ok(next);
    }
    let message = "Es gibt schon eine Zeile mit der größten id. Bitte die id der Zeilen angeben.";
    Err(Refusal::field(Code::FeldFehlt, "id", message).into())
}

/// Adds a line or stores a changed one; its receipt and its place never change.
pub fn upsert_zeile(tx: &WriteTx<'_>, zeile: &Zeile) -> Result<()> {
    tx.execute(
        "insert into barverkauf (tenant_id, id, bon_id, position, artikel_id, artikelnummer, bezeichnung, ean,
           menge, einheit, einzelpreis, mwst_satz, gesamt, steuer)
         values (:tenant, :id, :bon_id, :position, :artikel_id, :artikelnummer, :bezeichnung, :ean, :menge,
           :einheit, :einzelpreis, :mwst_satz, :gesamt, :steuer)
         on conflict (tenant_id, id) do update set artikel_id = :artikel_id, artikelnummer = :artikelnummer,
           bezeichnung = :bezeichnung, ean = :ean, menge = :menge, einheit = :einheit,
           einzelpreis = :einzelpreis, mwst_satz = :mwst_satz, gesamt = :gesamt, steuer = :steuer",
        named_params! {
            ":id": zeile.id,
            ":bon_id": zeile.bon_id,
            ":position": zeile.position,
            ":artikel_id": zeile.artikel_id,
            ":artikelnummer": zeile.artikelnummer,
            ":bezeichnung": zeile.bezeichnung,
            ":ean": zeile.ean,
            ":menge": zeile.menge,
            ":einheit": zeile.einheit,
            ":einzelpreis": zeile.einzelpreis,
            ":mwst_satz": zeile.mwst_satz,
            ":gesamt": zeile.gesamt,
            ":steuer": zeile.steuer,
        },
    )?;
    Ok(())
}
