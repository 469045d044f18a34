//! Contracts as an import brings them (D22).

use uuid::Uuid;

use super::model::{Kontrakt, KontraktZeile, Position, PositionZeile};
use super::sql;
use crate::artikel;
use crate::db::tx::WriteTx;
use crate::failure::Result;
use crate::http::json::Json;
use crate::http::wire::{At, FromJson};
use crate::import::Upserted;
use crate::kunden;
use crate::rules::change::fill_each;
use crate::rules::day::{Day, DayTime};
use crate::rules::error::{Code, refuse_if, required};

/// Stores a contract; its key is kontrakt_nr. Absent and blank fields stay as they are.
pub fn kontrakt(tx: &WriteTx<'_>, row: &Json<'_>, at: &mut At<'_>) -> Result<Upserted> {
    let mut zeile = KontraktZeile::from_json(row, at)?;
    let kontrakt_nr = required(zeile.kontrakt_nr.take(), "kontrakt_nr")?;
    let positionen = zeile.positionen.take();
    let found = sql::find_by_nr(tx, &kontrakt_nr)?;
    let is_new = found.is_none();
    let blank = || Kontrakt { id: tx.new_id(), kontrakt_nr, ..Kontrakt::default() };
    let old = found.unwrap_or_else(blank);
    let new = with_row(tx, old.clone(), zeile)?;
    if is_new || new != old {
        sql::upsert(tx, &new, is_new)?;
    }
    let mut changed = new != old;
    for (index, position) in positionen.into_iter().flatten().enumerate() {
        changed |= store_position(tx, new.id, index, position)?;
    }
    Ok(Upserted::of(is_new, changed))
}

fn with_row(tx: &WriteTx<'_>, old: Kontrakt, zeile: KontraktZeile) -> Result<Kontrakt> {
    let day = |sent: Option<Day>, old: Option<DayTime>| sent.map(DayTime).or(old);
    let partner_of = |kundennr: String| kunden::must_have_number(tx, &kundennr, "partner");
    let partner = zeile.partner.map(partner_of).transpose()?;
    let (gueltig_von, gueltig_bis) =
        (day(zeile.gueltig_von, old.gueltig_von), day(zeile.gueltig_bis, old.gueltig_bis));
    let message = "gueltig_bis liegt vor gueltig_von.";
    let ends_before = gueltig_von.zip(gueltig_bis).is_some_and(|(von, bis)| bis < von);
    refuse_if(ends_before, Code::DatumUngueltig, "gueltig_bis", message)?;
    let mut kontrakt = Kontrakt {
        partner_id: partner.as_ref().map(|partner| partner.id).or(old.partner_id),
        partner_name: partner.map(|partner| partner.name).or(old.partner_name),
        gueltig_von,
        gueltig_bis,
        erfassungsdatum: day(zeile.erfassungsdatum, old.erfassungsdatum),
        erledigt: zeile.erledigt.unwrap_or(old.erledigt),
        ..old
    };
    fill_each! { zeile => kontrakt:
        kontrakt_typ, gesamtmenge, gesamtmenge_einheit, mengenart, paritat, zahlungsbedingung, erntejahr,
        notizen, referenz
    }
    Ok(kontrakt)
}

/// Stores a position, found by its id, else by its place; whether anything was different.
fn store_position(tx: &WriteTx<'_>, kontrakt: Uuid, index: usize, zeile: PositionZeile) -> Result<bool> {
    let place = zeile.position.unwrap_or(index as i64 + 1);
    let known = sql::positions(tx, kontrakt)?;
    let id = zeile.id;
    let old =
        known.into_iter().find(|position| id.map_or(position.position == place, |id| position.id == id));
    let article_of = |nummer: String| artikel::by_artikelnummer(tx, &nummer);
    let artikel = zeile.artikelnummer.map(article_of).transpose()?;
    let new = Position {
        id: old.as_ref().map(|old| old.id).or(id).unwrap_or_else(|| tx.new_id()),
        position: place,
        artikel_id: artikel.map(|artikel| artikel.id).or(old.as_ref().and_then(|old| old.artikel_id)),
        menge: zeile.menge.or(old.as_ref().and_then(|old| old.menge)),
        preis: zeile.preis.or(old.as_ref().and_then(|old| old.preis)),
    };
    if old.as_ref() == Some(&new) {
        return Ok(false);
    }
    sql::upsert_position(tx, kontrakt, &new, old.is_none())?;
    Ok(true)
}
