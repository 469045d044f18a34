//! Import of batches with opening stock, and of stocktakings (D22).

use uuid::Uuid;

use super::inventur::{self, Gezaehlt};
use super::model::{Charge, ChargeZeile, InventurZeile};
use super::stock::{Buchung, Ursache, book, check_charge_nr, create, set_opening_stock, to_article_unit};
use super::{change, sql};
use crate::master::{artikel, biozertifikate, kunden};
use crate::platform::db::tx::WriteTx;
use crate::platform::failure::Result;
use crate::platform::http::json::Json;
use crate::platform::http::wire::{At, FromJson};
use crate::platform::import::Upserted;
use crate::rules::error::{Code, Refusal, refuse_if, required};
use crate::rules::fixed::Quantity;
use crate::rules::unit::Conversion;

/// Stores a batch; its key is the article and charge_nr. Absent fields keep their values. Only a new batch
/// takes opening stock; the stock of an existing one is changed by stocktaking (D8).
pub fn charge(tx: &WriteTx<'_>, row: &Json<'_>, at: &mut At<'_>) -> Result<Upserted> {
    let mut zeile = ChargeZeile::from_json(row, at)?;
    let artikelnummer = required(zeile.artikelnummer.take(), "artikelnummer")?;
    let artikel = artikel::by_artikelnummer(tx, &artikelnummer)?;
    let artikel_id = artikel.id;
    let charge_nr = required(zeile.charge_nr.take(), "charge_nr")?;
    let einheit = zeile.einheit.take();
    let conversion = to_article_unit(einheit.as_deref(), &artikel, at.hints())?;
    let bestand = zeile.bestand.map(|bestand| conversion.quantity(bestand)).transpose()?;
    let found = sql::find_by_nr(tx, artikel_id, &charge_nr)?;
    let today = found.as_ref().map(|charge| charge.bestand);
    let (charge, changed) = match found {
        Some(old) => {
            let new = with_row(tx, old.clone(), zeile, conversion)?;
            let changed = new != old;
            (change::store(tx, &old, new, at.hints())?.id, changed)
        }
        None => {
            check_charge_nr(tx, artikel_id, &charge_nr)?;
            let einheit = artikel.einheit.clone().or(einheit);
            let blank = Charge { charge_nr, artikel_id, einheit, ..Charge::default() };
            (create(tx, with_row(tx, blank, zeile, conversion)?)?.id, true)
        }
    };
    match bestand {
        Some(bestand) if today.is_none() => book_opening_stock(tx, artikel_id, charge, bestand)?,
        // A list that was exported says what is there.
        Some(bestand) if today == Some(bestand) => {}
        Some(bestand) => {
            let is_other = bestand != sql::opening_stock(tx, charge)?.unwrap_or_default();
            let message = "Die Charge gibt es schon, mit einem anderen Anfangsbestand. Was heute da ist, \
                 bucht eine Inventur \
                 (Import inventur oder POST /api/v1/chargen/{id}/inventur); hier bitte die Spalte bestand leeren.";
            refuse_if(is_other, Code::WertUngueltig, "bestand", message)?;
        }
        None => {}
    }
    Ok(Upserted::of(today.is_none(), changed))
}

fn with_row(
    tx: &WriteTx<'_>,
    mut charge: Charge,
    mut zeile: ChargeZeile,
    conversion: Conversion,
) -> Result<Charge> {
    let partner_of = |kundennr: &String| kunden::must_have_number(tx, kundennr, "partner");
    let partner = zeile.partner.as_ref().map(partner_of).transpose()?;
    zeile.biozertifikat_id.map(|id| biozertifikate::must_have(tx, id)).transpose()?;
    zeile.eingang_menge = zeile.eingang_menge.map(|menge| conversion.quantity(menge)).transpose()?;
    zeile.eingang_ep = zeile.eingang_ep.map(|ep| conversion.price(ep)).transpose()?;
    charge.partner_id = partner.map(|kunde| kunde.id).or(charge.partner_id);
    zeile.apply_to(&mut charge);
    Ok(charge)
}

fn book_opening_stock(tx: &WriteTx<'_>, artikel_id: Uuid, charge: Uuid, bestand: Quantity) -> Result<()> {
    if bestand.is_zero() {
        return Ok(());
    }
    let ursache = Ursache::Eroeffnung;
    let buchung =
        Buchung { artikel_id, charge_id: Some(charge), ursache, menge: bestand, ist_eingang: false };
    book(tx, &[buchung])?;
    set_opening_stock(tx, charge, bestand)
}

/// Default reason of an imported stocktaking.
const GRUND_IMPORT: &str = "Inventur";

/// Stores a row of an import. The same count for the same reason on the same day is the same stocktaking, so
/// a file may be imported twice.
pub fn inventur(tx: &WriteTx<'_>, row: &Json<'_>, at: &mut At<'_>) -> Result<Upserted> {
    let zeile = InventurZeile::from_json(row, at)?;
    let artikel = artikel::by_artikelnummer(tx, &required(zeile.artikelnummer, "artikelnummer")?)?;
    let gezaehlt = match &zeile.charge_nr {
        None => Gezaehlt::article(tx, artikel)?,
        Some(charge_nr) => {
            let unknown = || Refusal::unknown(Code::ChargeNichtGefunden, "charge_nr", "Diese Charge");
            Gezaehlt::batch(tx, sql::find_by_nr(tx, artikel.id, charge_nr)?.ok_or_else(unknown)?)?
        }
    };
    let bestand = required(zeile.bestand, "bestand")?;
    let grund = zeile.grund.unwrap_or_else(|| GRUND_IMPORT.to_owned());
    let last = gezaehlt.last.map(|id| sql::find_inventur(tx, id)).transpose()?;
    let today = last.filter(|last| last.tag() == tx.today());
    if today.is_some_and(|last| (last.bestand, &last.grund) == (bestand, &grund)) {
        return Ok(Upserted::Unchanged);
    }
    inventur::store(tx, &gezaehlt, bestand, grund, None)?;
    Ok(Upserted::Created)
}
