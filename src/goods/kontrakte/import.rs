//! Import of contracts (D22).

use uuid::Uuid;

use super::change::{apply, change, store};
use super::model::{Kontrakt, KontraktChange, KontraktZeile, Position, PositionEingabe, PositionZeile};
use super::sql;
use crate::master::{artikel, kunden};
use crate::platform::db::tx::WriteTx;
use crate::platform::failure::{Failure, Result};
use crate::platform::http::json::Json;
use crate::platform::http::wire::{At, FromJson};
use crate::platform::import::{self, Upserted};
use crate::rules::change::{Change, Said};
use crate::rules::error::{Code, Hints, refuse_if, required};
use crate::rules::felder::GeaendertesFeld;

/// Stores a contract; its key is kontrakt_nr. Absent and blank fields keep their values, also in a contract
/// that documents name (D22).
pub fn kontrakt(tx: &WriteTx<'_>, row: &Json<'_>, at: &mut At<'_>) -> Result<Upserted> {
    let mut zeile = KontraktZeile::from_json(row, at)?;
    let kontrakt_nr = required(zeile.kontrakt_nr.take(), "kontrakt_nr")?;
    let positionen = zeile.positionen.take();
    let found = match sql::find_by_nr(tx, &kontrakt_nr)? {
        Some(found) => Some(Kontrakt { positionen: sql::positions(tx, found.id)?, ..found }),
        None => None,
    };
    let blank = || Kontrakt { id: tx.new_id(), kontrakt_nr, ..Kontrakt::default() };
    let named = named(tx, &mut zeile)?;
    let mut new = found.clone().unwrap_or_else(blank);
    zeile.apply_to(&mut new);
    let mut new = apply(tx, &new, named)?;
    for (index, zeile) in positionen.into_iter().flatten().enumerate() {
        let position = position(tx, &new.positionen, index, zeile)?;
        match new.positionen.iter_mut().find(|known| known.id == position.id) {
            Some(known) => *known = position,
            None => new.positionen.push(position),
        }
    }
    let changed = store(tx, found.as_ref(), &new, at.hints())?;
    Ok(Upserted::of(found.is_none(), changed))
}

/// Takes from a row the partner and the scheme that it names, as a client would send them.
fn named(tx: &WriteTx<'_>, zeile: &mut KontraktZeile) -> Result<KontraktChange> {
    let partner_of = |kundennr: String| kunden::must_have_number(tx, &kundennr, "partner");
    let partner = zeile.partner.take().map(partner_of).transpose()?;
    let (partner_id, schema) = (partner.map(|partner| partner.id).change(), zeile.schema.take().change());
    Ok(KontraktChange { partner_id, schema, ..KontraktChange::default() })
}

/// Returns a position with the values of its row; finds an existing one by its id, else by its place.
fn position(tx: &WriteTx<'_>, known: &[Position], index: usize, zeile: PositionZeile) -> Result<Position> {
    let (place, id) = (zeile.position.unwrap_or(index as i64 + 1), zeile.id);
    let is_meant = |known: &&Position| id.map_or(known.position == place, |id| known.id == id);
    let old = known.iter().find(is_meant);
    let article_of = |nummer: String| artikel::by_artikelnummer(tx, &nummer);
    let artikel = zeile.artikelnummer.map(article_of).transpose()?;
    if let (None, Some(id)) = (old, id) {
        let message = "Diese Position gehört zu einem anderen Kontrakt. Bitte die id prüfen oder weglassen.";
        refuse_if(sql::has_position(tx, id)?, Code::FeldWiderspruch, "positionen", message)?;
    }
    Ok(Position {
        id: old.map(|old| old.id).or(id).unwrap_or_else(|| tx.new_id()),
        position: place,
        artikel_id: artikel.map(|artikel| artikel.id).or(old.and_then(|old| old.artikel_id)),
        menge: zeile.menge.or(old.and_then(|old| old.menge)),
        preis: zeile.preis.or(old.and_then(|old| old.preis)),
    })
}

/// Converts an unchanged position to the form in which a client sends it.
fn sent(Position { id, position, artikel_id, menge, preis }: Position) -> PositionEingabe {
    PositionEingabe { id: Some(id), position: Some(position), artikel_id, artikelnr: None, menge, preis }
}

/// Restores the fields and positions of a contract to their values before a change, by an ordinary change;
/// removes a position that the change had added (D22).
pub fn put_back(tx: &WriteTx<'_>, id: Uuid, felder: &[GeaendertesFeld]) -> Result<()> {
    let (changed, own): (Vec<_>, Vec<_>) = felder.iter().partition(|feld| feld.feld == "positionen");
    let mut before = import::put_back::<KontraktChange>(&own)?;
    if !changed.is_empty() {
        let mut positionen = sql::positions(tx, id)?;
        for position in changed {
            let [old, new] = [&position.alt, &position.neu].map(|text| serde_json::from_str(text.get()));
            let [old, new]: [Option<Position>; 2] = [old?, new?];
            positionen.retain(|position| new.as_ref().is_none_or(|new| new.id != position.id));
            positionen.extend(old);
        }
        before.positionen = Change::Set(positionen.into_iter().map(sent).collect());
    }
    let kontrakt = sql::find(tx, id)?.ok_or_else(|| Failure::not_found("Diesen Kontrakt"))?;
    change(tx, kontrakt, before, &mut Hints::default())
}
