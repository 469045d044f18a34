//! What the routes of batches do.

use uuid::Uuid;

use super::model::{Charge, ChargeAenderung, ChargeAngelegt, ChargeEingabe, ChargeGeaendert};
use super::{change, sql, stock, verlauf};
use crate::db::error::{Failure, Result};
use crate::db::tx::{Tx, WriteTx};
use crate::http::call::{Call, IfMatch};
use crate::http::reply::Reply;
use crate::http::route::WriteWork;
use crate::http::wire::{Int, OneOf, Text};
use crate::laender::Staat;
use crate::rules::error::{Code, HintCode, Hints, Refusal, required};
use crate::rules::fixed::Quantity;
use crate::rules::stammdaten::EingangQuelle;
use crate::{artikel, biozertifikate, kunden};

const WHAT: &str = "Diese Charge";

/// GET /chargen
pub fn list(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let query = &call.query;
    let (page, cut) = query.page()?;
    let (artikel, partner) = (query.uuid("artikel_id")?, query.uuid("partner_id")?);
    let mit_bestand = query.flag("mit_bestand")?;
    Ok(Reply::array(sql::list(tx, artikel, partner, mit_bestand, page)?, cut))
}

/// GET /chargen/{id}
pub fn get(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let charge = found(tx, call.id(WHAT)?)?;
    Reply::resource(call, charge.version, charge.id, &charge)
}

/// PUT /chargen/{id}
pub fn change(call: &Call<'_>) -> Result<WriteWork> {
    let (eingabe, hinweise) = call.body::<ChargeAenderung>()?;
    let (id, if_match) = (call.id(WHAT)?, call.if_match());
    Ok(Box::new(move |tx| {
        let old = found(tx, id)?;
        IfMatch::check(if_match.as_ref(), old.version)?;
        let charge = change::change(tx, old, eingabe)?;
        Ok(Reply::ok(&ChargeGeaendert { charge, hinweise })?.about(id))
    }))
}

/// GET /chargen/{id}/verlauf
pub fn get_verlauf(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let (page, cut) = call.query.page()?;
    let charge = found(tx, call.id(WHAT)?)?;
    Ok(Reply::list(verlauf::list(tx, charge.id, page)?, cut).about(charge.id))
}

/// POST /chargen
pub fn create(call: &Call<'_>) -> Result<WriteWork> {
    let (eingabe, mut hinweise) = call.body::<ChargeEingabe>()?;
    Ok(Box::new(move |tx| {
        let neu = checked(tx, eingabe, &mut hinweise)?;
        let (id, charge_nr) = stock::create(tx, &neu)?;
        let message =
            "Die Charge wurde ohne Bestand angelegt. Bestand bucht ein Einkaufsbeleg oder der Import.";
        hinweise.add(HintCode::BestandNichtGebucht, message);
        let angelegt = ChargeAngelegt { id, charge_nr, bestand: Quantity::ZERO, hinweise };
        Ok(Reply::created(&angelegt)?.about(id))
    }))
}

fn found(tx: &Tx<'_>, id: Uuid) -> Result<Charge> {
    sql::find(tx, id)?.ok_or_else(|| Failure::not_found(WHAT))
}

/// The batch that a body asks for; every id in it is looked up.
fn checked(tx: &WriteTx<'_>, eingabe: ChargeEingabe, hinweise: &mut Hints) -> Result<stock::NeueCharge> {
    let artikel_id = required(eingabe.artikel_id.value(), "artikel_id")?;
    let artikel = artikel::find(tx, artikel_id)?.ok_or_else(|| {
        let message = "Diesen Artikel gibt es nicht. Bitte die artikel_id prüfen.";
        Refusal::field(Code::ArtikelNichtGefunden, "artikel_id", message)
    })?;
    let charge_nr = eingabe.charge_nr.value().map(|Text(text)| text);
    if let Some(charge_nr) = &charge_nr {
        stock::check_charge_nr(tx, artikel.id, charge_nr)?;
    }
    let partner_id = eingabe.partner_id.value();
    if let Some(partner) = partner_id
        && kunden::find(tx, partner)?.is_none()
    {
        let message = "Diesen Partner gibt es nicht. Bitte die partner_id prüfen.";
        return Err(Refusal::field(Code::PartnerNichtGefunden, "partner_id", message).into());
    }
    let biozertifikat_id = eingabe.biozertifikat_id.value().map(|Int(id)| id);
    if let Some(id) = biozertifikat_id {
        biozertifikate::must_have(tx, id)?;
    }
    let einheit = eingabe.einheit.value().map(|Text(text)| text);
    let conversion = stock::to_article_unit(einheit.as_deref(), &artikel, hinweise)?;
    Ok(stock::NeueCharge {
        charge_nr,
        artikel_id,
        partner_id,
        fremde_charge_nr: eingabe.fremde_charge_nr.value().map(|Text(text)| text),
        mhd: eingabe.mhd.value(),
        herkunftsland: eingabe.herkunftsland.value().map(|Staat(iso2)| iso2),
        biozertifikat_id,
        einheit: artikel.einheit.clone().or(einheit),
        eingang_menge: eingabe.eingang_menge.value().map(|menge| conversion.quantity(menge)).transpose()?,
        eingang_ep: eingabe.eingang_ep.value().map(|ep| conversion.price(ep)).transpose()?,
        eingang_quelle: eingabe.eingang_quelle.value().map_or(EingangQuelle::Manuell, |OneOf(quelle)| quelle),
        niederlassung_id: eingabe.niederlassung_id.value().map(|Int(id)| id),
        lagerhalle_id: eingabe.lagerhalle_id.value().map(|Int(id)| id),
    })
}
