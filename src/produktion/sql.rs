//! Statements on production orders and recipes.

use rusqlite::{Row, named_params};
use uuid::Uuid;

use super::model::{PaInput, PaOutput, Produktionsauftrag, Rezeptur, Rezepturzeile};
use crate::db::list::{Filter, ListSql, Page};
use crate::db::tx::{Columns, Tx, WriteTx};
use crate::failure::Result;
use crate::listing::Listing;
use crate::rules::day::Day;
use crate::rules::fixed::Quantity;
use crate::rules::recipe::Zeilenart;

const LIST: ListSql<'_> = ListSql {
    columns: "v.id, v.pa_nummer, v.rezeptur_id, v.rezeptur_version, v.produktions_datum,
        v.niederlassung_id, v.lagerhalle_id, v.status, v.bezeichnung, v.bemerkung, v.geplant_am, v.gestartet_am,
        v.erledigt_am, v.rezeptur_bezeichnung, v.rezeptur_typ, v.faktor, v.zugewiesen_an, v.angelegt_am, v.version",
    from: "from produktionsauftrag v",
    count: "select count(*) from produktionsauftrag v",
    ids_first: None,
    // Descending, SQLite puts null last.
    order: "order by v.produktions_datum desc, v.id",
};

fn auftrag(row: &Row<'_>) -> rusqlite::Result<Produktionsauftrag> {
    let mut columns = Columns::of(row);
    Ok(Produktionsauftrag {
        id: columns.take()?,
        pa_nummer: columns.take()?,
        rezeptur_id: columns.take()?,
        rezeptur_version: columns.take()?,
        produktions_datum: columns.take()?,
        niederlassung_id: columns.take()?,
        lagerhalle_id: columns.take()?,
        status: columns.take()?,
        bezeichnung: columns.take()?,
        bemerkung: columns.take()?,
        geplant_am: columns.take()?,
        gestartet_am: columns.take()?,
        erledigt_am: columns.take()?,
        rezeptur_bezeichnung: columns.take()?,
        rezeptur_typ: columns.take()?,
        faktor: columns.take()?,
        zugewiesen_an: columns.take()?,
        created_at: columns.take()?,
        version: columns.take()?,
        inputs: None,
        outputs: None,
    })
}

/// What a list of orders is filtered by; von and bis mean produktions_datum.
#[allow(missing_docs)]
pub struct Auswahl {
    pub status: Option<&'static str>,
    pub von: Option<Day>,
    pub bis: Option<Day>,
    pub artikel: Option<Uuid>,
}

/// One page of orders, without their lines.
pub fn list(tx: &Tx<'_>, auswahl: &Auswahl, page: Page) -> Result<Listing> {
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
    tx.list(&LIST, &filter, page, |row, rows| rows.push(&auftrag(row)?))
}

/// An order by id, without its lines.
pub fn find(tx: &Tx<'_>, id: Uuid) -> Result<Option<Produktionsauftrag>> {
    let statement = format!("{LIST} where v.tenant_id = :tenant and v.id = :id");
    tx.optional(&statement, named_params! {":id": id}, auftrag)
}

/// The same order with what goes in and what comes out.
pub fn with_lines(tx: &Tx<'_>, auftrag: Produktionsauftrag) -> Result<Produktionsauftrag> {
    let (inputs, outputs) = (Some(inputs(tx, auftrag.id)?), Some(outputs(tx, auftrag.id)?));
    Ok(Produktionsauftrag { inputs, outputs, ..auftrag })
}

/// What goes into an order, in the order of the recipe.
pub fn inputs(tx: &Tx<'_>, auftrag: Uuid) -> Result<Vec<PaInput>> {
    let statement = "select i.id, i.pa_id, i.artikel_id, i.charge_id, i.soll_menge, i.ist_menge, i.einheit,
          i.position, i.bemerkung, a.bezeichnung, a.artikelnr, c.charge_nr, c.fremde_charge_nr
        from pa_input i
          join artikel a on a.tenant_id = i.tenant_id and a.id = i.artikel_id
          left join charge c on c.tenant_id = i.tenant_id and c.id = i.charge_id
        where i.tenant_id = :tenant and i.pa_id = :pa order by i.position, i.id";
    tx.all(statement, named_params! {":pa": auftrag}, |row| {
        let mut columns = Columns::of(row);
        Ok(PaInput {
            id: columns.take()?,
            pa_id: columns.take()?,
            artikel_id: columns.take()?,
            charge_id: columns.take()?,
            soll_menge: columns.take()?,
            ist_menge: columns.take()?,
            einheit: columns.take()?,
            position: columns.take()?,
            bemerkung: columns.take()?,
            artikel_bezeichnung: columns.take()?,
            artikelnr: columns.take()?,
            charge_nr: columns.take()?,
            fremde_charge_nr: columns.take()?,
        })
    })
}

/// What comes out of an order, in the order of the recipe.
pub fn outputs(tx: &Tx<'_>, auftrag: Uuid) -> Result<Vec<PaOutput>> {
    let statement = "select o.id, o.pa_id, o.artikel_id, o.soll_menge, o.ist_menge, o.einheit, o.position,
          o.bemerkung, a.bezeichnung, a.artikelnr, c.charge_nr, o.charge_id, o.charge_nr, o.mhd
        from pa_output o
          join artikel a on a.tenant_id = o.tenant_id and a.id = o.artikel_id
          left join charge c on c.tenant_id = o.tenant_id and c.id = o.charge_id
        where o.tenant_id = :tenant and o.pa_id = :pa order by o.position, o.id";
    tx.all(statement, named_params! {":pa": auftrag}, |row| {
        let mut columns = Columns::of(row);
        Ok(PaOutput {
            id: columns.take()?,
            pa_id: columns.take()?,
            artikel_id: columns.take()?,
            soll_menge: columns.take()?,
            ist_menge: columns.take()?,
            einheit: columns.take()?,
            position: columns.take()?,
            bemerkung: columns.take()?,
            artikel_bezeichnung: columns.take()?,
            artikelnr: columns.take()?,
            neue_charge_nr: columns.take()?,
            charge_id: columns.take()?,
            charge_nr: columns.take()?,
            mhd: columns.take()?,
        })
    })
}

/// Adds an order.
pub fn insert(tx: &WriteTx<'_>, auftrag: &Produktionsauftrag) -> Result<()> {
    tx.insert(
        "produktionsauftrag",
        named_params! {
            ":id": auftrag.id,
            ":pa_nummer": auftrag.pa_nummer,
            ":status": auftrag.status,
            ":rezeptur_id": auftrag.rezeptur_id,
            ":rezeptur_version": auftrag.rezeptur_version,
            ":rezeptur_bezeichnung": auftrag.rezeptur_bezeichnung,
            ":rezeptur_typ": auftrag.rezeptur_typ,
            ":faktor": auftrag.faktor,
            ":produktions_datum": auftrag.produktions_datum.map(|day| day.0),
            ":niederlassung_id": auftrag.niederlassung_id,
            ":lagerhalle_id": auftrag.lagerhalle_id,
            ":zugewiesen_an": auftrag.zugewiesen_an,
            ":bezeichnung": auftrag.bezeichnung,
            ":bemerkung": auftrag.bemerkung,
            ":geplant_am": auftrag.geplant_am,
            ":angelegt_am": auftrag.created_at,
        },
    )
}

/// Stores the state an order came into.
pub fn update_status(tx: &WriteTx<'_>, auftrag: &Produktionsauftrag) -> Result<()> {
    tx.update(
        "produktionsauftrag",
        auftrag.id,
        named_params! {
            ":status": auftrag.status,
            ":geplant_am": auftrag.geplant_am,
            ":gestartet_am": auftrag.gestartet_am,
            ":erledigt_am": auftrag.erledigt_am,
            ":version": auftrag.version,
        },
    )
}

/// Adds a line of a recipe to an order.
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
    tx.insert(
        "pa_input",
        named_params! {
            ":id": next_line_id(tx, Zeilenart::Input)?,
            ":pa_id": line.pa_id,
            ":position": line.position,
            ":artikel_id": line.artikel_id,
            ":charge_id": line.charge_id,
            ":soll_menge": Quantity::ZERO,
            ":ist_menge": line.ist_menge,
            ":einheit": line.einheit,
            ":bemerkung": line.bemerkung,
        },
    )
}

fn next_line_id(tx: &Tx<'_>, art: Zeilenart) -> Result<i64> {
    let statement = match art {
        Zeilenart::Input => "select coalesce(max(id), 0) + 1 from pa_input where tenant_id = :tenant",
        Zeilenart::Output => "select coalesce(max(id), 0) + 1 from pa_output where tenant_id = :tenant",
    };
    tx.one(statement, &[], |row| row.get(0))
}

/// Stores what went in, and from which batch.
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

/// Stores what came out, and the batch it makes.
pub fn update_output(tx: &WriteTx<'_>, line: &PaOutput) -> Result<()> {
    let statement = "update pa_output set ist_menge = :ist_menge, charge_id = :charge_id,
          charge_nr = :charge_nr, mhd = :mhd
        where tenant_id = :tenant and id = :id";
    let params = named_params! {
        ":id": line.id,
        ":ist_menge": line.ist_menge,
        ":charge_id": line.charge_id,
        ":charge_nr": line.charge_nr,
        ":mhd": line.mhd.map(|day| day.0),
    };
    tx.execute(statement, params).map(drop)
}

fn rezeptur(row: &Row<'_>) -> rusqlite::Result<Rezeptur> {
    let mut columns = Columns::of(row);
    Ok(Rezeptur {
        id: columns.take()?,
        version: columns.take()?,
        bezeichnung: columns.take()?,
        typ: columns.take()?,
        aktiv: columns.take()?,
    })
}

/// The newest active version of a recipe.
pub fn newest_active(tx: &Tx<'_>, id: i64) -> Result<Option<Rezeptur>> {
    let statement = "select id, version, bezeichnung, typ, aktiv from rezeptur
        where tenant_id = :tenant and id = :id and aktiv = 1 order by version desc limit 1";
    tx.optional(statement, named_params! {":id": id}, rezeptur)
}

/// A version of a recipe.
pub fn find_version(tx: &Tx<'_>, id: i64, version: i64) -> Result<Option<Rezeptur>> {
    let statement = "select id, version, bezeichnung, typ, aktiv from rezeptur
        where tenant_id = :tenant and id = :id and version = :version";
    tx.optional(statement, named_params! {":id": id, ":version": version}, rezeptur)
}

/// The id of the recipe with this name, or the next free one.
pub fn recipe_id(tx: &Tx<'_>, bezeichnung_key: &str) -> Result<i64> {
    let statement = "select coalesce(
          (select min(id) from rezeptur where tenant_id = :tenant and bezeichnung_key = :key),
          (select max(id) + 1 from rezeptur where tenant_id = :tenant), 1)";
    tx.one(statement, named_params! {":key": bezeichnung_key}, |row| row.get(0))
}

/// The lines of one kind of a version of a recipe.
pub fn recipe_lines(tx: &Tx<'_>, rezeptur: &Rezeptur, art: Zeilenart) -> Result<Vec<Rezepturzeile>> {
    let statement = "select artikel_id, menge, einheit, bemerkung from rezeptur_zeile
        where tenant_id = :tenant and rezeptur_id = :id and version = :version and art = :art order by position";
    let params = named_params! {":id": rezeptur.id, ":version": rezeptur.version, ":art": art.as_str()};
    tx.all(statement, params, |row| {
        let mut columns = Columns::of(row);
        Ok(Rezepturzeile {
            artikel_id: columns.take()?,
            menge: columns.take()?,
            einheit: columns.take()?,
            bemerkung: columns.take()?,
        })
    })
}

/// Adds a version of a recipe or stores a changed one.
pub fn upsert_recipe(tx: &WriteTx<'_>, rezeptur: &Rezeptur, bezeichnung_key: &str) -> Result<()> {
    let statement = "insert into rezeptur (tenant_id, id, version, bezeichnung, typ, aktiv, bezeichnung_key)
        values (:tenant, :id, :version, :bezeichnung, :typ, :aktiv, :key)
        on conflict (tenant_id, id, version) do update set bezeichnung = :bezeichnung, typ = :typ, aktiv = :aktiv,
          bezeichnung_key = :key";
    let params = named_params! {
        ":id": rezeptur.id,
        ":version": rezeptur.version,
        ":bezeichnung": rezeptur.bezeichnung,
        ":typ": rezeptur.typ,
        ":aktiv": rezeptur.aktiv,
        ":key": bezeichnung_key,
    };
    tx.execute(statement, params).map(drop)
}

/// Replaces the lines of one kind of a version of a recipe.
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
        tx.insert(
            "rezeptur_zeile",
            named_params! {
                ":rezeptur_id": rezeptur.id,
                ":version": rezeptur.version,
                ":art": art.as_str(),
                ":position": index as i64 + 1,
                ":artikel_id": line.artikel_id,
                ":menge": line.menge,
                ":einheit": line.einheit,
                ":bemerkung": line.bemerkung,
            },
        )?;
    }
    Ok(())
}
