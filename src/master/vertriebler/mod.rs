//! Sales representatives: master data that other records reference by id or name (D9).

use rusqlite::named_params;

use crate::eingabe;
use crate::platform::db::tx::{Params, Tx, WriteTx};
use crate::platform::failure::Result;
use crate::platform::http::json::Json;
use crate::platform::http::wire::{At, FromJson, Int, Text};
use crate::platform::import::{Import, Upserted};
use crate::rules::change::Change;
use crate::rules::error::{HintCode, Hints, required};
use crate::rules::text::Folded;
use crate::rules::verweis::Verweis;

pub const IMPORTS: &[Import] =
    &[Import::of::<VertrieblerZeile>("vertriebler", &[&["id"], &["name"]], import)];

pub fn resolve_change(
    tx: &Tx<'_>,
    change: &Change<Verweis>,
    old: Option<i64>,
    hints: &mut Hints,
) -> Result<Option<i64>> {
    match change {
        Change::Keep => Ok(old),
        Change::Clear => Ok(None),
        Change::Set(vb_id) => resolve(tx, vb_id, hints),
    }
}

/// Returns the representative that a request references; `None` with a hint if unknown or ambiguous (D9).
fn resolve(tx: &Tx<'_>, vb_id: &Verweis, hints: &mut Hints) -> Result<Option<i64>> {
    let found = match vb_id {
        Verweis::Nummer(id) => {
            by_id(tx, *id)?.map_or_else(|| by_name(tx, &id.to_string()), |id| Ok(Some(id)))?
        }
        Verweis::Id(id) => by_name(tx, &id.to_string())?,
        Verweis::Name(name) => by_name(tx, name)?,
    };
    if found.is_none() {
        let message = "Der Vertriebler ist nicht bekannt oder nicht eindeutig; das Feld bleibt leer.";
        hints.add_field(HintCode::VertrieblerUnbekannt, "vb_id", message);
    }
    Ok(found)
}

fn by_id(tx: &Tx<'_>, id: i64) -> Result<Option<i64>> {
    let statement = "select id from vertriebler where tenant_id = :tenant and id = :id";
    tx.optional(statement, named_params! {":id": id}, |row| row.get(0))
}

fn by_name(tx: &Tx<'_>, name: &str) -> Result<Option<i64>> {
    let statement = "select id from vertriebler where tenant_id = :tenant
        and (name_spelled in (:spelled, :stripped) or name_stripped in (:spelled, :stripped)) limit 2";
    let Folded { spelled, stripped } = Folded::new(name);
    let params = named_params! {":spelled": spelled, ":stripped": stripped};
    let found = tx.all(statement, params, |row| row.get(0))?;
    Ok(if found.len() == 1 { found.first().copied() } else { None })
}

eingabe! {
    /// A row of vertriebler; its key is the id if given, else the name (D22).
    pub struct VertrieblerZeile {
        id: Int<1, { i32::MAX as i64 }>,
        name: Text,
    }
    nur_lesen: []
}

/// Returns the id of the representative with exactly this name (D22), or the next free id.
fn id_of(tx: &Tx<'_>, name: &str) -> Result<i64> {
    let statement = "select coalesce(
           (select min(id) from vertriebler where tenant_id = :tenant and name = :name),
           (select max(id) + 1 from vertriebler where tenant_id = :tenant), 1)";
    tx.one(statement, named_params! {":name": name}, |row| row.get(0))
}

fn import(tx: &WriteTx<'_>, row: &Json<'_>, at: &mut At<'_>) -> Result<Upserted> {
    let zeile = VertrieblerZeile::from_json(row, at)?;
    let name = required(zeile.name, "name")?;
    let id = zeile.id.map_or_else(|| id_of(tx, &name), Ok)?;
    let statement = "select name from vertriebler where tenant_id = :tenant and id = :id";
    let old: Option<String> = tx.optional(statement, named_params! {":id": id}, |row| row.get(0))?;
    let Folded { spelled, stripped } = Folded::new(&name);
    let row: Params<'_> =
        named_params! {":id": id, ":name": name, ":name_spelled": spelled, ":name_stripped": stripped};
    Upserted::by(old.as_ref(), &name, || tx.upsert("vertriebler", &["id"], row))
}
