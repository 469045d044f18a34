//! Statements on production orders and recipes.

use rusqlite::named_params;
use uuid::Uuid;

use super::model::{PaInput, PaOutput, Produktionsauftrag, Rezeptur, Rezepturzeile};
use crate::db::list::{Filter, ListSql, Page};
use crate::db::record::Part;
use crate::db::tx::{Params, Tx, WriteTx};
use crate::failure::Result;
use crate::listing::PageOf;
use crate::rules::day::Day;
use crate::rules::fixed::Quantity;
use crate::rules::recipe::Zeilenart;

const LIST: ListSql<'_> = ListSql {
    columns: Produktionsauftrag::COLUMNS,
    from: "from produktionsauftrag v",
    count: "select count(*) from produktionsauftrag v",
    ids_first: None,
    // Descending, SQLite puts null last.
    order: "order by v.produktions_datum desc, v.id",
};

/// What a list of orders is filtered by; von and bis mean produktions_datum.
pub struct Auswahl {
    pub status: Option<&'static str>,
    pub von: Option<Day>,
    pub bis: Option<Day>,
    pub artikel: Option<Uuid>,
}

pub fn list<P: PageOf<Produktionsauftrag>>(tx: &Tx<'_>, auswahl: &Auswahl, page: Page) -> Result<P> {
    let mut filter = Filter::of("v");
    filter.when("v.status = :status", ":status", auswahl.status);
    filter.when("v.produktions_datum >= :von", ":von", auswahl.von);
    filter.when("v.produktions_datum <= :bis", ":bis", auswahl.bis);
    filter.when(
        "v.id in (select pa_id from pa_input where tenant_id = :tenant and artikel_id = :artikel
           union select pa_id from pa_output where tenant_id = :tenant and artikel_id = :artikel)",
        ":artikel",
        auswahl.artikel,
    );
    tx.list(&LIST, &filter, page)
}

/// An order by id, without its lines.
pub fn find(tx: &Tx<'_>, id: Uuid) -> Result<Option<Produktionsauftrag>> {
    let statement = format!("{LIST} where v.tenant_id = :tenant and v.id = :id");
    tx.optional(&statement, named_params! {":id": id}, Produktionsauftrag::read)
}

pub fn with_lines(tx: &Tx<'_>, auftrag: Produktionsauftrag) -> Result<Produktionsauftrag> {
    let (inputs, outputs) = (Some(inputs(tx, auftrag.id)?), Some(outputs(tx, auftrag.id)?));
    Ok(Produktionsauftrag { inputs, outputs, ..auftrag })
}

/// What goes into an order, in the order of the recipe.
pub fn inputs(tx: &Tx<'_>, auftrag: Uuid) -> Result<Vec<PaInput>> {
    let statement = format!(
        "select {} from pa_input i
          join artikel a on a.tenant_id = i.tenant_id and a.id = i.artikel_id
          left join charge c on c.tenant_id = i.tenant_id and c.id = i.charge_id
        where i.tenant_id = :tenant and i.pa_id = :pa order by i.position, i.id",
        PaInput::COLUMNS
    );
    tx.all(&statement, named_params! {":pa": auftrag}, PaInput::read)
}

/// What comes out of an order, in the order of the recipe.
pub fn outputs(tx: &Tx<'_>, auftrag: Uuid) -> Result<Vec<PaOutput>> {
    let statement = format!(
        "select {} from pa_output o
          join artikel a on a.tenant_id = o.tenant_id and a.id = o.artikel_id
          left join charge c on c.tenant_id = o.tenant_id and c.id = o.charge_id
        where o.tenant_id = :tenant and o.pa_id = :pa order by o.position, o.id",
        PaOutput::COLUMNS
    );
    tx.all(&statement, named_params! {":pa": auftrag}, PaOutput::read)
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

/// Adds a further part of a line that several batches share; what should go in is said by the
/// first part.
pub fn insert_part(tx: &WriteTx<'_>, line: &PaInput) -> Result<()> {
    let id = next_line_id(tx, Zeilenart::Input)?;
    let part = PaInput { id, soll_menge: Quantity::ZERO, ..line.clone() };
    tx.insert("pa_input", &part.values(Part::All))
}

fn next_line_id(tx: &Tx<'_>, art: Zeilenart) -> Result<i64> {
    let statement = match art {
        Zeilenart::Input => "select coalesce(max(id), 0) + 1 from pa_input where tenant_id = :tenant",
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
          charge_nr = :charge_nr, mhd = :mhd
        where tenant_id = :tenant and id = :id";
    let params = named_params! {
        ":id": line.id,
        ":ist_menge": line.ist_menge,
        ":charge_id": line.charge_id,
        ":charge_nr": line.charge_nr,
        ":mhd": line.mhd,
    };
    tx.execute(statement, params).map(drop)
}

pub fn newest_active(tx: &Tx<'_>, id: i64) -> Result<Option<Rezeptur>> {
    let statement = format!(
        "select {} from rezeptur r
         where r.tenant_id = :tenant and r.id = :id and r.aktiv = 1 order by r.version desc limit 1",
        Rezeptur::COLUMNS
    );
    tx.optional(&statement, named_params! {":id": id}, Rezeptur::read)
}

pub fn find_version(tx: &Tx<'_>, id: i64, version: i64) -> Result<Option<Rezeptur>> {
    let statement = format!(
        "select {} from rezeptur r where r.tenant_id = :tenant and r.id = :id and r.version = :version",
        Rezeptur::COLUMNS
    );
    tx.optional(&statement, named_params! {":id": id, ":version": version}, Rezeptur::read)
}

/// The id of the recipe with this name, or the next free one.
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
