//! Import of schemes, the rows of their tables and Merkmale (D22, D29).

use std::collections::BTreeMap;

use uuid::Uuid;

use super::gueltig::{Gueltig, merkmale};
use super::model::{MerkmalZeile, SchemaEingabe, TabellenZeile};
use super::{create, sql};
use crate::platform::db::tx::WriteTx;
use crate::platform::failure::{Failure, Result};
use crate::platform::http::json::Json;
use crate::platform::http::wire::{At, FromJson};
use crate::platform::import::file::{ParseError, Rows};
use crate::platform::import::{Stored, Upserted};
use crate::rules::day::Day;
use crate::rules::error::{Code, HintCode, Hints, Refusal, refuse_if, required};
use crate::rules::settlement::{Merkmal, SHIPPED, SchrittZeile, check};

/// Stores a Merkmal of the company; its key is code.
pub fn merkmal(tx: &WriteTx<'_>, row: &Json<'_>, at: &mut At<'_>) -> Result<Upserted> {
    let zeile = MerkmalZeile::from_json(row, at)?;
    let code = required(zeile.code, "code")?;
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let message = "Ein Code hat höchstens 40 Zeichen aus Buchstaben von a bis z, Ziffern und _.";
    let is_code = code.len() <= 40 && code.chars().all(is_word);
    refuse_if(!is_code, Code::WertUngueltig, "code", message)?;
    let new = Merkmal {
        code,
        bezeichnung: required(zeile.bezeichnung, "bezeichnung")?,
        einheit: required(zeile.einheit, "einheit")?,
        stellen: required(zeile.stellen, "stellen")?,
        mittel: required(zeile.mittel, "mittel")?,
    };
    let message = format_args!("Das Merkmal {} kennt der Dienst schon. Bitte weglassen.", new.code);
    let is_shipped = SHIPPED.iter().any(|(code, ..)| *code == new.code);
    refuse_if(is_shipped, Code::WertUngueltig, "code", message)?;
    let old = merkmale(tx)?.remove(&new.code);
    if let Some(old) = &old {
        let message = "Einheit und Nachkommastellen eines Merkmals bleiben. Bitte einen neuen Code nehmen.";
        let is_other = (&old.einheit, old.stellen) != (&new.einheit, new.stellen);
        refuse_if(is_other, Code::FeldWiderspruch, "stellen", message)?;
    }
    Upserted::by(old.as_ref(), &new, || sql::store_merkmal(tx, &new))
}

/// Stores a scheme; its key is nummer. If the row differs from the version valid on its gueltig_von, it
/// becomes the next version; absent fields keep their values.
pub fn schema(tx: &WriteTx<'_>, row: &Json<'_>, at: &mut At<'_>) -> Result<Upserted> {
    let zeile = SchemaEingabe::from_json(row, at)?;
    let nummer = required(zeile.nummer.clone(), "nummer")?;
    let Some(id) = sql::id_of(tx, &nummer)? else {
        let message = "Ein neues Schema braucht seine Artikel und Schritte. Bitte angeben; das geht nur in \
            einer JSON-Datei.";
        refuse_if(zeile.artikel.is_none(), Code::FeldFehlt, "artikel", message)?;
        note(at, create::create(tx, zeile, Hints::default())?.hinweise);
        return Ok(Upserted::Created);
    };
    let last = required(sql::find(tx, id, None)?, "nummer")?;
    let von = required(zeile.gueltig_von, "gueltig_von")?;
    let known = sql::find_valid(tx, id, von)?;
    let old = Gueltig::read(tx, known.unwrap_or_else(|| last.clone()))?;
    let neu = create::changed(tx, &last, &old, zeile)?;
    if neu.repeats(&old) {
        return Ok(Upserted::Unchanged);
    }
    note(at, create::store(tx, neu, Hints::default())?.hinweise);
    Ok(Upserted::Changed)
}

fn note(at: &mut At<'_>, hints: Hints) {
    for hint in hints.iter() {
        at.hint(HintCode::LagerkostenPruefen, hint.message.clone());
    }
}

/// Groups the rows by scheme; each group becomes one version.
pub fn by_scheme(rows: &Rows) -> std::result::Result<Vec<Vec<usize>>, ParseError> {
    let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for at in 0..rows.len() {
        let mut hints = Hints::default();
        let zeile = TabellenZeile::from_json(&rows.row(at), &mut rows.at(&mut hints));
        let complain = |refusal: Box<Refusal>| ParseError::at_line(rows.line(at), &refusal.message);
        groups.entry(zeile.map_err(complain)?.nummer.unwrap_or_default()).or_default().push(at);
    }
    Ok(groups.into_values().collect())
}

/// Stores the rows of a scheme's tables as its next version; steps that are not named keep their rows.
pub fn tables(tx: &WriteTx<'_>, rows: &[&Json<'_>], at: &mut At<'_>) -> Stored {
    let mut read = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        let zeile = TabellenZeile::from_json(row, at).map_err(|refusal| (index, refusal.into()))?;
        read.push(zeile);
    }
    let upserted = store_tables(tx, read)?;
    Ok(rows.iter().map(|_| upserted).collect())
}

fn store_tables(
    tx: &WriteTx<'_>,
    rows: Vec<TabellenZeile>,
) -> std::result::Result<Upserted, (usize, Failure)> {
    let first = |failure: Failure| (0, failure);
    let at = |index: usize| move |refusal: Box<Refusal>| (index, refusal.into());
    let mut tables: BTreeMap<String, Vec<SchrittZeile>> = BTreeMap::new();
    let (mut nummer, mut von) = (None, None);
    for (index, row) in rows.into_iter().enumerate() {
        let own = required(row.gueltig_von, "gueltig_von").map_err(at(index))?;
        let message = "Alle Zeilen eines Schemas haben dasselbe gueltig_von. Bitte angleichen.";
        let is_other = von.is_some_and(|von| von != own);
        refuse_if(is_other, Code::FeldWiderspruch, "gueltig_von", message).map_err(at(index))?;
        (nummer, von) = (Some(required(row.nummer, "nummer").map_err(at(index))?), Some(own));
        let zeile = SchrittZeile {
            von: row.von,
            bis: required(row.bis, "bis").map_err(at(index))?,
            satz: required(row.satz, "satz").map_err(at(index))?,
        };
        tables.entry(required(row.schritt, "schritt").map_err(at(index))?).or_default().push(zeile);
    }
    let (nummer, von) =
        (required(nummer, "nummer").map_err(at(0))?, required(von, "gueltig_von").map_err(at(0))?);
    let id = sql::id_of(tx, &nummer).map_err(first)?;
    let message = format_args!("Das Schema {nummer} gibt es nicht. Bitte erst die Schemata importieren.");
    refuse_if(id.is_none(), Code::WertUngueltig, "nummer", message).map_err(at(0))?;
    let id = required(id, "nummer").map_err(at(0))?;
    replace(tx, id, von, tables).map_err(first)
}

fn replace(
    tx: &WriteTx<'_>,
    id: Uuid,
    von: Day,
    tables: BTreeMap<String, Vec<SchrittZeile>>,
) -> Result<Upserted> {
    let last = required(sql::find(tx, id, None)?, "nummer")?;
    let based_on = sql::find_valid(tx, id, von)?.unwrap_or_else(|| last.clone());
    let old = Gueltig::read(tx, based_on)?;
    let mut inhalt = old.schema.clone();
    for (code, zeilen) in tables {
        let step = inhalt.schritte.iter_mut().find(|step| step.code == code && !step.zeilen.is_empty());
        let message =
            || format!("Einen Schritt {code} mit Zeilen hat das Schema nicht. Bitte den Code prüfen.");
        step.ok_or_else(|| Refusal::field(Code::WertUngueltig, "schritt", message()))?.zeilen = zeilen;
    }
    let inhalt = check(inhalt, &merkmale(tx)?)?;
    if inhalt == old.schema {
        return Ok(Upserted::Unchanged);
    }
    let neu = create::with_tables(tx, &last, &old.kopf, von, inhalt)?;
    create::store(tx, neu, Hints::default())?;
    Ok(Upserted::Changed)
}
