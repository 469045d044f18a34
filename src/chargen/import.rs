//! Batches with opening stock as an import brings them (D22).

use uuid::Uuid;

use super::model::{Charge, ChargeZeile};
use super::stock::{Buchung, Ursache, book, check_charge_nr, create, set_opening_stock, to_article_unit};
use super::{change, sql};
use crate::db::tx::WriteTx;
use crate::failure::Result;
use crate::http::json::Json;
use crate::http::wire::{At, FromJson};
use crate::import::Upserted;
use crate::rules::change::fill_each;
use crate::rules::day::DayTime;
use crate::rules::error::required;
use crate::rules::fixed::Quantity;
use crate::rules::unit::Conversion;
use crate::{artikel, biozertifikate, kunden};

/// Stores a batch; its key is the article and charge_nr. What is absent stays as it is. Opening
/// stock is compared with what was imported before, and the difference is booked.
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
    let is_new = found.is_none();
    let (charge, changed) = match found {
        Some(old) => {
            let new = with_row(tx, old.clone(), zeile, conversion)?;
            let changed = new != old;
            (change::store(tx, &old, new)?.id, changed)
        }
        None => {
            check_charge_nr(tx, artikel_id, &charge_nr)?;
            let einheit = artikel.einheit.clone().or(einheit);
            let blank = Charge { charge_nr, artikel_id, einheit, ..Charge::default() };
            (create(tx, with_row(tx, blank, zeile, conversion)?)?.id, true)
        }
    };
    let imported = sql::opening_stock(tx, charge)?.unwrap_or_default();
    let bestand = bestand.unwrap_or(imported);
    let difference = bestand.minus(imported)?;
    if !difference.is_zero() {
        book_opening_stock(tx, artikel_id, charge, difference, bestand)?;
    }
    Ok(Upserted::of(is_new, changed || !difference.is_zero()))
}

fn with_row(tx: &WriteTx<'_>, old: Charge, zeile: ChargeZeile, conversion: Conversion) -> Result<Charge> {
    let partner_of = |kundennr: &String| kunden::must_have_number(tx, kundennr, "partner");
    let partner = zeile.partner.as_ref().map(partner_of).transpose()?;
    zeile.biozertifikat_id.map(|id| biozertifikate::must_have(tx, id)).transpose()?;
    let eingang_menge = zeile.eingang_menge.map(|menge| conversion.quantity(menge)).transpose()?;
    let eingang_ep = zeile.eingang_ep.map(|ep| conversion.price(ep)).transpose()?;
    let mut charge = Charge {
        partner_id: partner.map(|kunde| kunde.id).or(old.partner_id),
        mhd: zeile.mhd.map(DayTime).or(old.mhd),
        eingang_menge: eingang_menge.or(old.eingang_menge),
        eingang_ep: eingang_ep.or(old.eingang_ep),
        ..old
    };
    fill_each! { zeile => charge:
        fremde_charge_nr, herkunftsland, biozertifikat_id, niederlassung_id, lagerhalle_id
    }
    Ok(charge)
}

fn book_opening_stock(
    tx: &WriteTx<'_>,
    artikel_id: Uuid,
    charge: Uuid,
    difference: Quantity,
    bestand: Quantity,
) -> Result<()> {
    let buchung = Buchung {
        artikel_id,
        charge_id: Some(charge),
        ursache: Ursache::Eroeffnung,
        menge: difference,
        ist_eingang: false,
    };
    book(tx, &[buchung])?;
    set_opening_stock(tx, charge, bestand)
}
