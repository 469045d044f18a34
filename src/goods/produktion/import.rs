//! Import of recipes (D22).

use super::model::{Rezeptur, RezepturZeile, Rezepturzeile, Zutat};
use super::sql;
use crate::master::artikel;
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::Result;
use crate::platform::http::json::Json;
use crate::platform::http::wire::{At, FromJson};
use crate::platform::import::Upserted;
use crate::rules::error::{Code, refuse_if, required};
use crate::rules::fixed::Quantity;
use crate::rules::recipe::Zeilenart;
use crate::rules::text::folded_key;

/// Stores a version of a recipe; its key is id or bezeichnung, plus version (from 1).
pub fn rezeptur(tx: &WriteTx<'_>, row: &Json<'_>, at: &mut At<'_>) -> Result<Upserted> {
    let zeile = RezepturZeile::from_json(row, at)?;
    let bezeichnung = zeile.bezeichnung;
    let version = zeile.version.unwrap_or(1);
    let id = match (zeile.id, &bezeichnung) {
        (Some(id), _) => id,
        (None, Some(bezeichnung)) => sql::recipe_id(tx, &folded_key(bezeichnung))?,
        (None, None) => required(None, "bezeichnung")?,
    };
    let old = sql::find_version(tx, id, version)?;
    let bezeichnung = bezeichnung.or_else(|| Some(old.as_ref()?.bezeichnung.clone()));
    let new = Rezeptur {
        id,
        version,
        bezeichnung: required(bezeichnung, "bezeichnung")?,
        typ: zeile.typ.or(old.as_ref().and_then(|old| old.typ.clone())),
        aktiv: zeile.aktiv.unwrap_or(old.as_ref().is_none_or(|old| old.aktiv)),
    };
    let mut changed = old.as_ref() != Some(&new);
    if changed {
        sql::upsert_recipe(tx, &new, &folded_key(&new.bezeichnung))?;
    }
    let names_lines = zeile.inputs.is_some() || zeile.outputs.is_some();
    let lists = [(Zeilenart::Input, zeile.inputs, "inputs"), (Zeilenart::Output, zeile.outputs, "outputs")];
    for (art, liste, name) in lists {
        if let Some(liste) = liste {
            changed |= replace_lines(tx, &new, art, liste, name)?;
        }
    }
    if old.is_none() || names_lines {
        check_has_lines(tx, &new)?;
    }
    Ok(Upserted::of(old.is_none(), changed))
}

/// Refuses a version without lines: it could be the newest, and every order from it would be empty.
fn check_has_lines(tx: &Tx<'_>, rezeptur: &Rezeptur) -> Result<()> {
    let inputs = sql::recipe_lines(tx, rezeptur, Zeilenart::Input)?;
    let outputs = sql::recipe_lines(tx, rezeptur, Zeilenart::Output)?;
    let message =
        "Die Rezeptur hat keine Zeilen. Bitte inputs oder outputs angeben; das geht nur in einer JSON-Datei.";
    refuse_if(inputs.is_empty() && outputs.is_empty(), Code::FeldFehlt, "inputs", message)?;
    Ok(())
}

/// Replaces the lines of a kind if they differ; returns whether they did.
fn replace_lines(
    tx: &WriteTx<'_>,
    rezeptur: &Rezeptur,
    art: Zeilenart,
    liste: Vec<Zutat>,
    name: &str,
) -> Result<bool> {
    let zutaten = liste.into_iter().enumerate();
    let lines = zutaten.map(|(index, zutat)| line(tx, zutat, &format!("{name}[{index}]")));
    let lines = lines.collect::<Result<Vec<_>>>()?;
    let differ = sql::recipe_lines(tx, rezeptur, art)? != lines;
    if differ {
        sql::replace_recipe_lines(tx, rezeptur, art, &lines)?;
    }
    Ok(differ)
}

/// Checks a line: the article must exist, the quantity must be above 0, and the unit must convert to the
/// article's.
fn line(tx: &Tx<'_>, zutat: Zutat, path: &str) -> Result<Rezepturzeile> {
    checked_line(tx, zutat).map_err(|failure| failure.below(path))
}

fn checked_line(tx: &Tx<'_>, zutat: Zutat) -> Result<Rezepturzeile> {
    let artikelnummer = required(zutat.artikelnummer, "artikelnummer")?;
    let artikel = artikel::by_artikelnummer(tx, &artikelnummer)?;
    let menge = required(zutat.menge, "menge")?;
    refuse_if(menge <= Quantity::ZERO, Code::MengeUngueltig, "menge", "Die Menge muss über 0 sein.")?;
    let einheit = zutat.einheit.or_else(|| artikel.einheit.clone());
    artikel.conversion_from(einheit.as_deref())?;
    Ok(Rezepturzeile { artikel_id: artikel.id, menge, einheit, bemerkung: zutat.bemerkung })
}
