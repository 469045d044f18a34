//! Batches with opening stock as an import brings them (D22).

use super::model::ChargeZeile;
use super::sql;
use super::stock::{Buchung, NeueCharge, book, create, set_opening_stock};
use crate::db::error::Result;
use crate::db::tx::WriteTx;
use crate::http::json::Json;
use crate::http::wire::{At, FromJson, Int, Text, required};
use crate::import::Upserted;
use crate::laender::Staat;
use crate::rules::error::{Code, Refusal};
use crate::rules::fixed::Quantity;
use crate::rules::number::is_reserved_charge_nr;
use crate::rules::stammdaten::EingangQuelle;
use crate::{artikel, biozertifikate, kunden};

/// Stores a batch; its key is the article and charge_nr. Opening stock is compared with what was
/// imported before, and the difference is booked.
pub fn charge(tx: &WriteTx<'_>, row: &Json<'_>, at: &mut At<'_>) -> Result<Upserted> {
    let zeile = ChargeZeile::from_json(row, at)?;
    let Text(artikelnummer) = required(zeile.artikelnummer.value(), "artikelnummer")?;
    let artikel_id = artikel::by_artikelnummer(tx, &artikelnummer)?;
    let Text(charge_nr) = required(zeile.charge_nr.value(), "charge_nr")?;
    let bestand = zeile.bestand.value().unwrap_or_default();
    if is_reserved_charge_nr(&charge_nr) {
        let message = format!("Nummern wie {charge_nr} vergibt der Dienst selbst. Bitte eine andere wählen.");
        return Err(Refusal::field(Code::NummerReserviert, "charge_nr", message).into());
    }
    if let Some(old) = sql::find_by_nr(tx, artikel_id, &charge_nr)? {
        let imported = sql::opening_stock(tx, old.id)?.unwrap_or_default();
        let difference = bestand.minus(imported)?;
        if difference.is_zero() {
            return Ok(Upserted::Unchanged);
        }
        return book_opening_stock(tx, artikel_id, old.id, difference, bestand).map(|()| Upserted::Changed);
    }
    let partner_id = match zeile.partner.value() {
        None => None,
        Some(Text(kundennr)) => Some(kunden::must_have_number(tx, &kundennr, "partner")?.id),
    };
    let biozertifikat_id = zeile.biozertifikat_id.value().map(|Int(id)| id);
    if let Some(id) = biozertifikat_id {
        biozertifikate::must_exist(tx, id)?;
    }
    let einheit = zeile.einheit.value().map(|Text(text)| text);
    let einheit = einheit.or(artikel::find(tx, artikel_id)?.and_then(|artikel| artikel.einheit));
    let neu = NeueCharge {
        charge_nr: Some(charge_nr),
        artikel_id,
        partner_id,
        fremde_charge_nr: zeile.fremde_charge_nr.value().map(|Text(text)| text),
        mhd: zeile.mhd.value(),
        herkunftsland: zeile.herkunftsland.value().map(|Staat(iso2)| iso2),
        biozertifikat_id,
        einheit,
        eingang_menge: zeile.eingang_menge.value(),
        eingang_ep: zeile.eingang_ep.value(),
        eingang_quelle: EingangQuelle::Manuell,
        niederlassung_id: zeile.niederlassung_id.value().map(|Int(id)| id),
        lagerhalle_id: zeile.lagerhalle_id.value().map(|Int(id)| id),
    };
    let (id, _) = create(tx, &neu)?;
    if !bestand.is_zero() {
        book_opening_stock(tx, artikel_id, id, bestand, bestand)?;
    }
    Ok(Upserted::Created)
}

fn book_opening_stock(
    tx: &WriteTx<'_>,
    artikel_id: uuid::Uuid,
    charge: uuid::Uuid,
    difference: Quantity,
    bestand: Quantity,
) -> Result<()> {
    let buchung = Buchung {
        artikel_id,
        charge_id: Some(charge),
        beleg_id: None,
        menge: difference,
        ist_eingang: false,
        ep: None,
    };
    book(tx, &buchung)?;
    set_opening_stock(tx, charge, bestand)
}
