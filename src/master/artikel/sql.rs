//! SQL statements for articles and their groups.

use std::collections::BTreeSet;
use std::sync::Arc;

use rusqlite::types::ToSql;
use rusqlite::{Row, named_params};
use serde_json::json;
use uuid::Uuid;

use super::model::{Artikel, ArtikelZeile, Artikelgruppe, Auswahl, Staffel};
use crate::platform::db::list::{Filter, ListSql, Order, Page, names};
use crate::platform::db::record::{Part, Record, member};
use crate::platform::db::tx::{Params, Tx, WriteTx};
use crate::platform::failure::Result;
use crate::platform::listing::PageOf;
use crate::platform::listing::verlauf::Verlauf;
use crate::rules::fixed::{Percent, Quantity};
use crate::rules::plausible::same_gtins;
use crate::rules::price::Tier;
use crate::rules::stammdaten::ArtikelStatus;
use crate::rules::text::{case_key, folded_key, natural_key, searchable};

/// History of articles and their tiers.
pub const VERLAUF: Verlauf = Verlauf::of("artikel_verlauf", ":artikel_id");

const LIST: ListSql<'_> = ListSql {
    columns: Artikel::COLUMNS,
    from: "from artikel a left join artikelgruppe g on g.tenant_id = a.tenant_id and g.id = a.artikelgruppe_id",
    count: "select count(*) from artikel a",
    ids_first: Some("a"),
    order: "order by a.artikelnummer_sort, a.id",
};

/// Sort orders of the list. `such_text` begins with the bezeichnung, folded: ä sorts like ae.
const ORDERS: [Order; 4] = [
    ("artikelnummer", LIST.order),
    ("-artikelnummer", "order by a.artikelnummer_sort desc, a.id desc"),
    ("bezeichnung", "order by a.such_text, a.id"),
    ("-bezeichnung", "order by a.such_text desc, a.id desc"),
];

pub const SORTIERUNG: &[&str] = &names(ORDERS);

/// The `from` clause if the stock is shown, too.
const FROM_WITH_STOCK: &str = "from artikel a
    left join artikelgruppe g on g.tenant_id = a.tenant_id and g.id = a.artikelgruppe_id
    left join artikel_bestand s on s.tenant_id = a.tenant_id and s.artikel_id = a.id";

const LIST_GRUPPEN: ListSql<'_> = ListSql {
    columns: Artikelgruppe::COLUMNS,
    from: "from artikelgruppe g",
    count: "select count(*) from artikelgruppe g",
    ids_first: None,
    order: "order by g.nummer nulls last, g.id",
};

impl Record for ArtikelZeile {
    fn of_row(row: &Row<'_>) -> rusqlite::Result<ArtikelZeile> {
        Ok(ArtikelZeile { artikel: Artikel::read(row)?, bestand: row.get("bestand")? })
    }

    fn write(row: &Row<'_>, json: &mut Vec<u8>) -> Result<()> {
        Artikel::write(row, json)?;
        let Some(bestand) = row.get::<_, Option<Quantity>>("bestand")? else { return Ok(()) };
        json.pop();
        member(json, ",\"bestand\":", &bestand)?;
        json.push(b'}');
        Ok(())
    }
}

/// Lists one page of the active articles.
pub fn list<P: PageOf<ArtikelZeile>>(tx: &Tx<'_>, auswahl: &Auswahl<'_>, page: Page) -> Result<P> {
    let mut filter = Filter::of("a");
    filter.when("a.status = :status", ":status", Some(ArtikelStatus::Aktiv));
    filter.when("a.artikelnummer_key = :nummer", ":nummer", auswahl.artikelnummer.map(case_key));
    filter.when("a.artikelgruppe_id = :gruppe", ":gruppe", auswahl.gruppe);
    filter.contains_words("a.such_text", auswahl.suche);
    let sql = LIST.in_order(&ORDERS, auswahl.sortierung, &mut filter);
    if !auswahl.mit_bestand {
        let columns = format!("{}, null as bestand", Artikel::COLUMNS);
        return tx.list(&ListSql { columns: &columns, ..sql }, &filter, page);
    }
    list_with_stock(tx, sql, &filter, page)
}

/// Lists one page of the articles, of any status, whose stock is not zero.
pub fn list_in_stock<P: PageOf<ArtikelZeile>>(
    tx: &Tx<'_>,
    suche: Option<&str>,
    sortierung: Option<&str>,
    page: Page,
) -> Result<P> {
    let mut filter = Filter::of("a");
    filter.and(
        "exists (select 1 from artikel_bestand b where b.tenant_id = a.tenant_id \
         and b.artikel_id = a.id and b.bestand <> 0)",
    );
    filter.contains_words("a.such_text", suche);
    list_with_stock(tx, LIST.in_order(&ORDERS, sortierung, &mut filter), &filter, page)
}

fn list_with_stock<P: PageOf<ArtikelZeile>>(
    tx: &Tx<'_>,
    sql: ListSql<'_>,
    filter: &Filter<'_>,
    page: Page,
) -> Result<P> {
    let columns = format!("{}, coalesce(s.bestand, 0) as bestand", Artikel::COLUMNS);
    tx.list(&ListSql { columns: &columns, from: FROM_WITH_STOCK, ..sql }, filter, page)
}

pub fn list_gruppen<P: PageOf<Artikelgruppe>>(tx: &Tx<'_>, page: Page) -> Result<P> {
    tx.list(&LIST_GRUPPEN, &Filter::of("g"), page)
}

/// Finds an article of any status.
pub fn find(tx: &Tx<'_>, id: Uuid) -> Result<Option<Arc<Artikel>>> {
    let read = || {
        let statement = format!("{LIST} where a.tenant_id = :tenant and a.id = :id");
        Ok(tx.optional(&statement, named_params! {":id": id}, Artikel::read)?.map(Arc::new))
    };
    Ok(tx.cached("article by id", id.as_bytes(), read)?.as_ref().clone())
}

/// Finds the articles that a number can mean: artikelnummer first, then artikelnr (D6); two at most.
pub fn find_by_number(tx: &Tx<'_>, number: &str) -> Result<Vec<Arc<Artikel>>> {
    if let Some(found) = find_by_artikelnummer(tx, number)? {
        return Ok(vec![found]);
    }
    let by_nr =
        format!("{LIST} where a.tenant_id = :tenant and a.artikelnr_key = :key order by a.id limit 2");
    tx.all(&by_nr, named_params! {":key": case_key(number)}, |row| Ok(Arc::new(Artikel::read(row)?)))
}

/// Whether a number refers to this article: artikelnummer first, then artikelnr (D6).
pub fn number_means(tx: &Tx<'_>, number: &str, artikel: &Artikel) -> Result<bool> {
    match find_by_artikelnummer(tx, number)? {
        Some(found) => Ok(found.id == artikel.id),
        None => Ok(artikel.artikelnr.as_ref().is_some_and(|own| case_key(own) == case_key(number))),
    }
}

/// Sums the movements of an article, in its unit.
pub fn stock(tx: &Tx<'_>, artikel: Uuid) -> Result<Quantity> {
    let statement = "select bestand from artikel_bestand where tenant_id = :tenant and artikel_id = :artikel";
    Ok(tx.optional(statement, named_params! {":artikel": artikel}, |row| row.get(0))?.unwrap_or_default())
}

/// Returns the active tiers of an article, smallest first.
pub fn tiers(tx: &Tx<'_>, artikel: Uuid) -> Result<Arc<Vec<Tier>>> {
    let statement = "select ab_menge, preis from staffelpreis
        where tenant_id = :tenant and artikel_id = :artikel and aktiv = 1
        order by ab_menge";
    let tier = |row: &Row<'_>| Ok(Tier { ab_menge: row.get(0)?, preis: row.get(1)? });
    let read = || tx.all(statement, named_params! {":artikel": artikel}, tier);
    tx.cached("tiers", artikel.as_bytes(), read)
}

/// Returns the units of all articles, in lower case.
pub fn units(tx: &Tx<'_>) -> Result<BTreeSet<String>> {
    let statement = "select distinct einheit from artikel where tenant_id = :tenant and einheit is not null";
    let units = tx.all(statement, &[], |row| row.get::<_, String>(0))?;
    Ok(units.iter().map(|unit| case_key(unit)).collect())
}

pub fn gruppen_satz(tx: &Tx<'_>, gruppe: i64) -> Result<Option<Percent>> {
    let statement = "select mwst_satz from artikelgruppe where tenant_id = :tenant and id = :id";
    let read = || Ok(tx.optional(statement, named_params! {":id": gruppe}, |row| row.get(0))?.flatten());
    Ok(*tx.cached("rate of a group", &gruppe.to_be_bytes(), read)?)
}

pub fn find_by_artikelnummer(tx: &Tx<'_>, artikelnummer: &str) -> Result<Option<Arc<Artikel>>> {
    let key = case_key(artikelnummer);
    let read = || {
        let statement = format!("{LIST} where a.tenant_id = :tenant and a.artikelnummer_key = :key");
        Ok(tx.optional(&statement, named_params! {":key": key}, Artikel::read)?.map(Arc::new))
    };
    Ok(tx.cached("article by number", key.as_bytes(), read)?.as_ref().clone())
}

/// Finds the article with this EAN; `None` if several have it.
/// EANs are compared as numbers: 12, 13 and 14 digits with zeros in front are the same.
pub fn find_by_ean(tx: &Tx<'_>, ean: &str) -> Result<Option<Uuid>> {
    let statement = "select id from artikel where tenant_id = :tenant
        and ean in (select value from json_each(:eans)) limit 2";
    let eans = json!(same_gtins(ean)).to_string();
    let found = tx.all(statement, named_params! {":eans": eans}, |row| row.get(0))?;
    Ok(if found.len() == 1 { found.first().copied() } else { None })
}

pub fn find_tier(tx: &Tx<'_>, artikel: Uuid, ab_menge: Quantity) -> Result<Option<Staffel>> {
    let statement = "select preis, aktiv from staffelpreis
        where tenant_id = :tenant and artikel_id = :artikel and ab_menge = :ab_menge";
    let params = named_params! {":artikel": artikel, ":ab_menge": ab_menge};
    tx.optional(statement, params, |row| Ok(Staffel { ab_menge, preis: row.get(0)?, aktiv: row.get(1)? }))
}

pub fn upsert_tier(tx: &WriteTx<'_>, artikel: Uuid, tier: &Staffel) -> Result<()> {
    tx.changed("artikel", artikel);
    let Staffel { ab_menge, preis, aktiv } = tier;
    let row = named_params! {":artikel_id": artikel, ":ab_menge": ab_menge, ":preis": preis, ":aktiv": aktiv};
    tx.upsert("staffelpreis", &["artikel_id", "ab_menge"], row)
}

pub fn delete_tier(tx: &WriteTx<'_>, artikel: Uuid, ab_menge: Quantity) -> Result<()> {
    tx.changed("artikel", artikel);
    let statement = "delete from staffelpreis
        where tenant_id = :tenant and artikel_id = :artikel and ab_menge = :ab_menge";
    tx.execute(statement, named_params! {":artikel": artikel, ":ab_menge": ab_menge}).map(drop)
}

/// Finds the first group with this value in the column.
pub fn gruppe_by(tx: &Tx<'_>, column: &str, value: &dyn ToSql) -> Result<Option<Artikelgruppe>> {
    let statement =
        format!("{LIST_GRUPPEN} where g.tenant_id = :tenant and g.{column} = :value order by g.id");
    tx.optional(&statement, &[(":value", value)], Artikelgruppe::read)
}

pub fn next_gruppe_id(tx: &Tx<'_>) -> Result<i64> {
    let statement = "select coalesce(max(id), 0) + 1 from artikelgruppe where tenant_id = :tenant";
    tx.one(statement, &[], |row| row.get(0))
}

pub fn insert(tx: &WriteTx<'_>, artikel: &Artikel) -> Result<()> {
    with_keys(artikel, |keys| tx.insert("artikel", &[&artikel.values(Part::All)[..], keys].concat()))
}

pub fn update(tx: &WriteTx<'_>, artikel: &Artikel) -> Result<()> {
    let store = |keys: Params<'_>| {
        tx.update("artikel", artikel.id, &[&artikel.values(Part::Mutable)[..], keys].concat())
    };
    with_keys(artikel, store)
}

/// Adds the columns by which articles are searched and sorted.
fn with_keys(artikel: &Artikel, store: impl FnOnce(Params<'_>) -> Result<()>) -> Result<()> {
    let optional = [&artikel.bezeichnung2, &artikel.artikelnr, &artikel.ean];
    let fields = [&artikel.bezeichnung, &artikel.artikelnummer];
    let searched = fields.into_iter().chain(optional.into_iter().flatten()).map(String::as_str);
    store(named_params! {
        ":artikelnummer_key": case_key(&artikel.artikelnummer),
        ":artikelnummer_sort": natural_key(&artikel.artikelnummer),
        ":artikelnr_key": artikel.artikelnr.as_deref().map(case_key),
        ":such_text": searchable(searched),
    })
}

pub fn upsert_gruppe(tx: &WriteTx<'_>, gruppe: &Artikelgruppe) -> Result<()> {
    let keys: Params<'_> = named_params! {
        ":name_key": folded_key(&gruppe.name),
        ":kuerzel_key": gruppe.kuerzel.as_deref().map(case_key),
    };
    tx.upsert("artikelgruppe", &["id"], &[&gruppe.values(Part::All)[..], keys].concat())
}

/// Whether the article has ever had a movement.
pub fn has_moved(tx: &Tx<'_>, artikel: Uuid) -> Result<bool> {
    let statement = "select 1 from artikel_bestand where tenant_id = :tenant and artikel_id = :artikel";
    tx.exists(statement, named_params! {":artikel": artikel})
}
