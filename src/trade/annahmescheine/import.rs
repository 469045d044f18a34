//! Import of goods receipts (D22).

use super::create::{check_ranges, check_unused};
use super::model::{Annahmeschein, AnnahmescheinZeile};
use super::sql;
use crate::goods::kontrakte::KontraktBezug;
use crate::goods::waage;
use crate::master::{artikel, biozertifikate, kunden};
use crate::platform::db::seals::numbers;
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::Result;
use crate::platform::http::json::Json;
use crate::platform::http::wire::{At, FromJson};
use crate::platform::import::Upserted;
use crate::rules::error::{Code, HintCode, Refusal, refuse_if, required};
use crate::rules::fixed::Quantity;
use crate::rules::number::Reihe;
use crate::rules::receipt::AnnahmescheinStatus;
use crate::trade::belege;

/// Stores a receipt; its key is belegnummer. Absent and blank fields keep their values.
pub fn annahmeschein(tx: &WriteTx<'_>, row: &Json<'_>, at: &mut At<'_>) -> Result<Upserted> {
    let zeile = AnnahmescheinZeile::from_json(row, at)?;
    let belegnummer = required(zeile.belegnummer.clone(), "belegnummer")?;
    let old = sql::find_by_nummer(tx, &belegnummer)?;
    let is_computed = zeile.netto_menge_kg.is_none();
    let blank = || Annahmeschein::blank(tx.new_id(), belegnummer, tx.now());
    let new = with_row(tx, old.clone().unwrap_or_else(blank), zeile)?;
    for (feld, message) in new.bases_missing().filter(|_| is_computed) {
        at.field(feld, |at| at.hint(HintCode::BasisFehlt, message));
    }
    Upserted::by(old.as_ref(), &new, || {
        if old.is_none() {
            // Prevents the series from assigning an imported number again.
            numbers::reserve(tx, Reihe::Annahmeschein, &new.belegnummer)?;
        }
        sql::upsert(tx, &new, old.is_none())?;
        belege::update_receipts(tx, new.el_id.as_ref())
    })
}

fn with_row(tx: &Tx<'_>, mut schein: Annahmeschein, zeile: AnnahmescheinZeile) -> Result<Annahmeschein> {
    let before = schein.clone();
    take_named(tx, &mut schein, &zeile)?;
    // A settlement of ours says that the note is settled: its exported row is no declaration that another system did.
    let says_more = |status: &AnnahmescheinStatus| schein.abrechnung_id.is_none() || *status != schein.status;
    if let Some(status) = zeile.status.filter(says_more) {
        // Pairing its delivery with invoices also settles it; that is determined again after storing.
        let follows = schein.status == AnnahmescheinStatus::Abgerechnet && !schein.ist_abgerechnet;
        schein.ist_abgerechnet = status == AnnahmescheinStatus::Abgerechnet;
        schein.status = if follows && status == AnnahmescheinStatus::Offen { schein.status } else { status };
    }
    let AnnahmescheinZeile { netto_menge_kg, netto_betrag, .. } = zeile;
    zeile.apply_to(&mut schein);
    let weight = schein.anliefermenge_kg.or(netto_menge_kg).or(schein.netto_menge_kg);
    required(weight, "anliefermenge_kg")?;
    check_ranges(&schein)?;
    settle(&mut schein, &before, netto_menge_kg)?;
    schein.netto_betrag = netto_betrag.or(schein.netto_betrag);
    check_ranges(&schein)?;
    check_booked(&before, &schein)?;
    check_paid(tx, &before, &schein)?;
    if let (Some(wiegung), true) = (schein.wiegung_id, schein.status != AnnahmescheinStatus::Storniert) {
        check_unused(tx, wiegung, Some(schein.id))?;
    }
    Ok(schein)
}

/// Takes over the partner and article that a row names; the weighing, contract and certificate must exist.
fn take_named(tx: &Tx<'_>, schein: &mut Annahmeschein, zeile: &AnnahmescheinZeile) -> Result<()> {
    if let Some(kundennr) = &zeile.partner {
        let partner = kunden::must_have_number(tx, kundennr, "partner")?;
        (schein.partner_id, schein.partner_name) = (Some(partner.id), Some(partner.name));
    }
    if let Some(nummer) = &zeile.artikelnummer {
        let artikel = artikel::by_artikelnummer(tx, nummer)?;
        schein.artikel_bezeichnung = Some(artikel.bezeichnung.clone());
        schein.artikel_id = Some(artikel.id);
    }
    zeile.wiegung_id.map(|id| waage::finished(tx, id, schein.artikel_id)).transpose()?;
    let AnnahmescheinZeile { kontrakt_id, kontrakt_position_id, .. } = *zeile;
    let kontrakt = KontraktBezug { kontrakt_id, kontrakt_position_id }.checked(tx)?;
    if kontrakt.kontrakt_id.is_some() && kontrakt.kontrakt_id != schein.kontrakt_id {
        // A position belongs to its contract.
        schein.kontrakt_position_id = None;
    }
    schein.kontrakt_id = kontrakt.kontrakt_id.or(schein.kontrakt_id);
    schein.kontrakt_position_id = kontrakt.kontrakt_position_id.or(schein.kontrakt_position_id);
    zeile.biozertifikat_id.map(|id| biozertifikate::must_have(tx, id)).transpose()?;
    Ok(())
}

/// Refuses to change data that the receipt's delivery note has booked.
fn check_booked(before: &Annahmeschein, after: &Annahmeschein) -> Result<()> {
    // The receipt's own data may change: status, remark, laboratory values.
    let own = |schein: &Annahmeschein| Annahmeschein {
        status: before.status,
        ist_abgerechnet: before.ist_abgerechnet,
        bemerkung: None,
        feuchte_prozent: None,
        basisfeuchte_prozent: None,
        schwundfaktor: before.schwundfaktor,
        besatz_prozent: None,
        basisbesatz_prozent: None,
        ..schein.clone()
    };
    let Some(el) = &before.el_beleg_nummer else { return Ok(()) };
    let message =
        format_args!("Über die Lieferung gibt es schon den Lieferschein {el}. Bitte zuerst diesen ändern.");
    Ok(refuse_if(own(before) != own(after), Code::FeldWiderspruch, "belegnummer", message)?)
}

/// Refuses to change what a Gutschrift pays for, or what a scheme computes from measurements (D29).
fn check_paid(tx: &Tx<'_>, before: &Annahmeschein, after: &Annahmeschein) -> Result<()> {
    let paid = |schein: &Annahmeschein| {
        let is_cancelled = schein.status == AnnahmescheinStatus::Storniert;
        let whole = Annahmeschein {
            status: before.status,
            ist_abgerechnet: before.ist_abgerechnet,
            bemerkung: None,
            ..schein.clone()
        };
        (is_cancelled, whole)
    };
    if paid(before) == paid(after) {
        return Ok(());
    }
    let refuse = |message: String| Err(Refusal::field(Code::FeldWiderspruch, "belegnummer", message).into());
    if let Some(nummer) = sql::paid_by(tx, before.id)? {
        return refuse(format!("{nummer} bezahlt den Annahmeschein. Bitte zuerst diese stornieren."));
    }
    let computed = |schein: &Annahmeschein| {
        let follows = (schein.netto_menge_kg, schein.netto_betrag);
        (schein.anlieferung(), schein.preis_je_t, schein.artikel_id, schein.lieferdatum, follows)
    };
    match &before.schema {
        Some(schema) if computed(before) != computed(after) => refuse(format!(
            "Den Annahmeschein rechnet das Schema {schema}. Bitte Messwerte als Analyse nachtragen; was \
             sonst falsch ist, stornieren und neu anlegen."
        )),
        _ => Ok(()),
    }
}

/// Keeps a net quantity that was sent; otherwise recomputes it if its inputs changed.
fn settle(schein: &mut Annahmeschein, before: &Annahmeschein, sent: Option<Quantity>) -> Result<()> {
    if sent.is_some() {
        schein.netto_menge_kg = sent;
    } else if schein.schema_id.is_some() {
        return Ok(());
    } else if schein.netto_menge_kg.is_none() || schein.anlieferung() != before.anlieferung() {
        return schein.settle();
    }
    if (schein.netto_menge_kg, schein.preis_je_t) != (before.netto_menge_kg, before.preis_je_t) {
        schein.value()?;
    }
    Ok(())
}
