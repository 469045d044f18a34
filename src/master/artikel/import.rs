//! Import of articles, groups and tiers (D22).

use std::collections::HashMap;
use std::sync::Arc;

use super::change::{change, create, store_tier};
use super::model::{Artikel, ArtikelChange, GruppeZeile, Staffel};
use super::sql;
use crate::eingabe;
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::{Failure, Result};
use crate::platform::http::json::Json;
use crate::platform::http::wire::{At, FromJson, NotNegative, Text};
use crate::platform::import::file::{ParseError, Rows};
use crate::platform::import::{Stored, Upserted};
use crate::rules::change::Change;
use crate::rules::error::{Code, Hints, Refusal, required, required_text};
use crate::rules::fixed::{Price, Quantity};
use crate::rules::text::{case_key, folded_key};

eingabe! {
    pub struct StaffelZeile {
        artikelnummer: Text,
        ab_menge: NotNegative<Quantity>,
        preis: NotNegative<Price>,
        aktiv: bool,
    }
    nur_lesen: []
}

/// Stores a group; its key is kuerzel, or name if there is no kuerzel.
pub fn gruppe(tx: &WriteTx<'_>, row: &Json<'_>, at: &mut At<'_>) -> Result<Upserted> {
    let zeile = GruppeZeile::from_json(row, at)?;
    let found = match (&zeile.kuerzel, &zeile.name) {
        (Some(kuerzel), _) => sql::gruppe_by(tx, "kuerzel_key", &case_key(kuerzel))?,
        (None, Some(name)) => sql::gruppe_by(tx, "name_key", &folded_key(name))?,
        (None, None) => None,
    };
    let id = match (&found, zeile.id) {
        (Some(old), Some(id)) if id != old.id => return Err(other_id(&old.name, old.id)),
        (Some(old), _) => old.id,
        (None, Some(id)) => match sql::gruppe_by(tx, "id", &id)? {
            Some(taken) => return Err(other_id(&taken.name, taken.id)),
            None => id,
        },
        (None, None) => sql::next_gruppe_id(tx)?,
    };
    let mut new = found.clone().unwrap_or_default();
    zeile.apply_to(&mut new);
    new.id = id;
    required_text(&new.name, "name")?;
    Upserted::by(found.as_ref(), &new, || sql::upsert_gruppe(tx, &new))
}

fn other_id(name: &str, id: i64) -> Failure {
    Refusal::field(Code::FeldWiderspruch, "id", format!("Die Gruppe {name} hat die id {id}.")).into()
}

/// Creates or changes an article by its key, artikelnummer (D22).
pub fn artikel(tx: &WriteTx<'_>, row: &Json<'_>, at: &mut At<'_>) -> Result<Upserted> {
    let mut sent = ArtikelChange::from_json(row, at)?;
    let artikelnummer = required(sent.artikelnummer.get(), "artikelnummer")?;
    let Some(old) = sql::find_by_artikelnummer(tx, artikelnummer)? else {
        create(tx, sent, at.hints())?;
        return Ok(Upserted::Created);
    };
    // The number is the key, so only its spelling could differ.
    sent.artikelnummer = Change::Keep;
    Ok(Upserted::of(false, change(tx, &old, sent, at.hints())?.1))
}

/// Returns the article with this number, or a refusal (D22).
pub fn by_artikelnummer(tx: &Tx<'_>, artikelnummer: &str) -> Result<Arc<Artikel>> {
    let found = sql::find_by_artikelnummer(tx, artikelnummer)?;
    let message = format!("Den Artikel {artikelnummer} gibt es nicht. Bitte erst die Artikel importieren.");
    let missing = || Refusal::field(Code::ArtikelNichtGefunden, "artikelnummer", message);
    Ok(found.ok_or_else(missing)?)
}

/// Groups the rows by article. The tiers of one article are stored together, so it changes only once (D28).
pub fn by_article(rows: &Rows) -> std::result::Result<Vec<Vec<usize>>, ParseError> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for at in 0..rows.len() {
        let mut hints = Hints::default();
        let zeile = StaffelZeile::from_json(&rows.row(at), &mut rows.at(&mut hints));
        let complain = |refusal: Box<Refusal>| ParseError::at_line(rows.line(at), &refusal.message);
        let artikel = case_key(&zeile.map_err(complain)?.artikelnummer.unwrap_or_default());
        let group = *known.entry(artikel).or_insert(groups.len());
        match groups.get_mut(group) {
            Some(rows) => rows.push(at),
            None => groups.push(vec![at]),
        }
    }
    Ok(groups)
}

/// Stores the tiers of an article.
pub fn staffelpreise(tx: &WriteTx<'_>, rows: &[&Json<'_>], at: &mut At<'_>) -> Stored {
    let store =
        |(index, row): (usize, &&Json<'_>)| staffelpreis(tx, row, at).map_err(|failure| (index, failure));
    rows.iter().enumerate().map(store).collect()
}

/// Stores a tier; its key is the article and ab_menge.
fn staffelpreis(tx: &WriteTx<'_>, row: &Json<'_>, at: &mut At<'_>) -> Result<Upserted> {
    let zeile = StaffelZeile::from_json(row, at)?;
    let artikel = by_artikelnummer(tx, &required(zeile.artikelnummer, "artikelnummer")?)?.id;
    let ab_menge = required(zeile.ab_menge, "ab_menge")?;
    let preis = required(zeile.preis, "preis")?;
    let old = sql::find_tier(tx, artikel, ab_menge)?;
    let aktiv = zeile.aktiv.or(old.as_ref().map(|old| old.aktiv)).unwrap_or(true);
    store_tier(tx, artikel, old.as_ref(), &Staffel { ab_menge, preis, aktiv })
}
