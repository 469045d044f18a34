//! SQL statements for production orders and recipes.

use std::collections::BTreeMap;

use rusqlite::named_params;
use uuid::Uuid;

use super::model::{Auswahl, PaInput, PaOutput, Produktionsauftrag, Rezeptur, Rezepturzeile};
use crate::platform::db::list::{Filter, ListSql, Order, Page, names};
use crate::platform::db::record::{Part, Record};
use crate::platform::db::tx::{Params, Tx, WriteTx};
use crate::platform::failure::Result;
use crate::platform::listing::PageOf;
use crate::rules::fixed::Quantity;
use crate::rules::recipe::Zeilenart;

const LIST: ListSql<'_> = ListSql {
    columns: Produktionsauftrag::COLUMNS,
    from: "from produktionsauftrag v",
    count: "select count(*) from produktionsauftrag v",
    ids_first: None,
    // SQLite sorts null last in descending order.
    order: "order by v.produktions_datum desc, v.id",
};

/// Sort orders of the page; the interface has only the first (D16).
const ORDERS: [Order; 2] =
    [("-produktions_datum", LIST.order), ("produktions_datum", "order by v.produktions_datum, v.id desc")];

pub const SORTIERUNG: &[&str] = &names(ORDERS);

pub fn list<P: PageOf<Produktionsauftrag>>(tx: &Tx<'_>, auswahl: &Auswahl, page: Page) -> Result<P> {
    let mut filter = filter(auswahl);
    tx.list(&LIST.in_order(&ORDERS, auswahl.sortierung, &mut filter), &filter, page)
}

fn filter(auswahl: &Auswahl) -> Filter<'_> {
    let mut filter = Filter::of("v");
    filter.when("v.status = :status", ":status", auswahl.status);
    filter.when("v.produktions_datum >= :von", ":von", auswahl.von);
    filter.when("v.produktions_datum <= :bis", ":bis", auswahl.bis);
    let names_article =
        "v.id in (select pa_id from pa_input where tenant_id = :tenant and artikel_id = :artikel
           union select pa_id from pa_output where tenant_id = :tenant and artikel_id = :artikel)";
    filter.when(names_article, ":artikel", auswahl.artikel);
    filter
}

/// Sums inputs or outputs by unit, without cancelled orders: first the planned, then the actual quantities.
pub fn sums(tx: &Tx<'_>, auswahl: &Auswahl, art: Zeilenart) -> Result<[BTreeMap<String, Quantity>; 2]> {
    let mut filter = filter(auswahl);
    filter.and("v.status <> 'storniert'");
    let select = format!(
        "select coalesce(l.einheit, ''), sum(l.soll_menge), sum(l.ist_menge)
         from produktionsauftrag v cross join {} l on l.tenant_id = v.tenant_id and l.pa_id = v.id",
        table(art)
    );
    let (mut soll, mut ist) = (BTreeMap::new(), BTreeMap::new());
    tx.filtered(select, &filter, "group by 1", |row| {
        soll.insert(row.get(0)?, row.get(1)?);
        let was: Option<Quantity> = row.get(2)?;
        ist.extend(was.map(|sum| row.get(0).map(|unit| (unit, sum))).transpose()?);
        Ok(())
    })?;
    Ok([soll, ist])
}

/// Finds an order by id, without its lines.
pub fn find(tx: &Tx<'_>, id: Uuid) -> Result<Option<Produktionsauftrag>> {
    tx.find_by(&LIST, "v.id", &id)
}

pub fn with_lines(tx: &Tx<'_>, auftrag: Produktionsauftrag) -> Result<Produktionsauftrag> {
    let (inputs, outputs) = (Some(inputs(tx, auftrag.id)?), Some(outputs(tx, auftrag.id)?));
    Ok(Produktionsauftrag { inputs, outputs, ..auftrag })
}

/// Returns the inputs of an order, in the order of the recipe.
pub fn inputs(tx: &Tx<'_>, auftrag: Uuid) -> Result<Vec<PaInput>> {
    lines(tx, auftrag, Zeilenart::Input, PaInput::COLUMNS)
}

/// Returns the outputs of an order, in the order of the recipe.
pub fn outputs(tx: &Tx<'_>, auftrag: Uuid) -> Result<Vec<PaOutput>> {
    lines(tx, auftrag, Zeilenart::Output, PaOutput::COLUMNS)
}

fn lines<T: Record>(tx: &Tx<'_>, auftrag: Uuid, art: Zeilenart, columns: &str) -> Result<Vec<T>> {
    let statement = format!(
        "select {columns} from {} l
          join artikel a on a.tenant_id = l.tenant_id and a.id = l.artikel_id
          left join charge c on c.tenant_id = l.tenant_id and c.id = l.charge_id
        where l.tenant_id = :tenant and l.pa_id = :pa order by l.position, l.id",
        table(art)
    );
    tx.all(&statement, named_params! {":pa": auftrag}, T::of_row)
}

const fn table(art: Zeilenart) -> &'static str {
    match art {
        Zeilenart::Input => "pa_input",
        Zeilenart::Output => "pa_output",
    }
}

pub fn insert(tx: &WriteTx<'_>, auftrag: &Produktionsauftrag) -> Result<()> {
    tx.insert("produktionsauftrag", &auftrag.values(Part::All))
}

pub fn update_status(tx: &WriteTx<'_>, auftrag: &Produktionsauftrag) -> Result<()> {
    tx.update("produktionsauftrag", auftrag.id, &auftrag.values(Part::Mutable))
}

pub fn insert_line(
    tx: &WriteTx<'_>,
    auftrag: Uuid,
    art: Zeilenart,
    position: i64,
    soll_menge: Quantity,
    zeile: &Rezepturzeile,
) -> Result<()> {
    let columns = named_params! {
        ":id": next_line_id(tx, art)?,
        ":pa_id": auftrag,
        ":position": position,
        ":artikel_id": zeile.artikel_id,
        ":soll_menge": soll_menge,
        ":einheit": zeile.einheit,
        ":bemerkung": zeile.bemerkung,
    };
    match art {
        Zeilenart::Input => tx.insert("pa_input", columns),
        Zeilenart::Output => tx.insert("pa_output", columns),
    }
}

/// Inserts a further part of a line that is split over several batches; the first part keeps the planned
/// quantity.
pub fn insert_part(tx: &WriteTx<'_>, line: &PaInput) -> Result<()> {
    let id = next_line_id(tx, Zeilenart::Input)?;
    let part = PaInput { id, soll_menge: Quantity::ZERO, ..line.clone() };
    tx.insert("pa_input", &part.values(Part::All))
}

fn next_line_id(tx: &Tx<'_>, art: Zeilenart) -> Result<i64> {
    let statement = match art {
        Zeilenart::Input => {
            "select 1 + max(coalesce((select max(id) from pa_input where tenant_id = :tenant), 0),
               coalesce((select bis from pa_input_geloescht where tenant_id = :tenant), 0))"
        }
        Zeilenart::Output => "select coalesce(max(id), 0) + 1 from pa_output where tenant_id = :tenant",
    };
    tx.one(statement, &[], |row| row.get(0))
}

pub fn update_input(tx: &WriteTx<'_>, line: &PaInput) -> Result<()> {
    let statement = "update pa_input set ist_menge = :ist_menge, charge_id = :charge_id
        where tenant_id = :tenant and id = :id";
    let params = named_params! {":id": line.id, ":ist_menge": line.ist_menge, ":charge_id": line.charge_id};
    tx.execute(statement, params).map(drop)
}

/// Deletes the further parts that a line was split into.
pub fn delete_parts(tx: &WriteTx<'_>, line: &PaInput) -> Result<()> {
    let statement = "delete from pa_input
        where tenant_id = :tenant and pa_id = :pa and position = :position and id <> :id";
    let params = named_params! {":pa": line.pa_id, ":position": line.position, ":id": line.id};
    tx.execute(statement, params).map(drop)
}

pub fn update_output(tx: &WriteTx<'_>, line: &PaOutput) -> Result<()> {
    let statement = "update pa_output set ist_menge = :ist_menge, charge_id = :charge_id,
          charge_nr = :charge_nr, mhd = :mhd, biozertifikat_id = :biozertifikat_id
        where tenant_id = :tenant and id = :id";
    let params = named_params! {
        ":id": line.id,
        ":ist_menge": line.ist_menge,
        ":charge_id": line.charge_id,
        ":charge_nr": line.charge_nr,
        ":mhd": line.mhd,
        ":biozertifikat_id": line.biozertifikat_id,
    };
    tx.execute(statement, params).map(drop)
}

pub fn newest_active(tx: &Tx<'_>, id: i64) -> Result<Option<Rezeptur>> {
    recipe(tx, "r.aktiv = 1 order by r.version desc limit 1", named_params! {":id": id})
}

pub fn find_version(tx: &Tx<'_>, id: i64, version: i64) -> Result<Option<Rezeptur>> {
    recipe(tx, "r.version = :version", named_params! {":id": id, ":version": version})
}

fn recipe(tx: &Tx<'_>, which: &str, params: Params<'_>) -> Result<Option<Rezeptur>> {
    let columns = Rezeptur::COLUMNS;
    let statement =
        format!("select {columns} from rezeptur r where r.tenant_id = :tenant and r.id = :id and {which}");
    tx.optional(&statement, params, Rezeptur::read)
}

pub fn recipe_id(tx: &Tx<'_>, bezeichnung_key: &str) -> Result<i64> {
    let statement = "select coalesce(
          (select min(id) from rezeptur where tenant_id = :tenant and bezeichnung_key = :key),
          (select max(id) + 1 from rezeptur where tenant_id = :tenant), 1)";
    tx.one(statement, named_params! {":key": bezeichnung_key}, |row| row.get(0))
}

pub fn recipe_lines(tx: &Tx<'_>, rezeptur: &Rezeptur, art: Zeilenart) -> Result<Vec<Rezepturzeile>> {
    let statement = format!(
        "select {} from rezeptur_zeile z
         where z.tenant_id = :tenant and z.rezeptur_id = :id and z.version = :version and z.art = :art
         order by z.position",
        Rezepturzeile::COLUMNS
    );
    let params = named_params! {":id": rezeptur.id, ":version": rezeptur.version, ":art": art.as_str()};
    tx.all(&statement, params, Rezepturzeile::read)
}

pub fn upsert_recipe(tx: &WriteTx<'_>, rezeptur: &Rezeptur, bezeichnung_key: &str) -> Result<()> {
    let own = named_params! {":bezeichnung_key": bezeichnung_key};
    tx.upsert("rezeptur", &["id", "version"], &[&rezeptur.values(Part::All)[..], own].concat())
}

pub fn replace_recipe_lines(
    tx: &WriteTx<'_>,
    rezeptur: &Rezeptur,
    art: Zeilenart,
    lines: &[Rezepturzeile],
) -> Result<()> {
    let statement = "delete from rezeptur_zeile
        where tenant_id = :tenant and rezeptur_id = :id and version = :version and art = :art";
    let params = named_params! {":id": rezeptur.id, ":version": rezeptur.version, ":art": art.as_str()};
    tx.execute(statement, params)?;
    for (index, line) in lines.iter().enumerate() {
        let place: Params<'_> = named_params! {
            ":rezeptur_id": rezeptur.id,
            ":version": rezeptur.version,
            ":art": art.as_str(),
            ":position": index as i64 + 1,
        };
        tx.insert("rezeptur_zeile", &[place, &line.values(Part::All)[..]].concat())?;
    }
    Ok(())
}
