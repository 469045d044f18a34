//! Handlers of the batch routes.

use std::sync::Arc;

use uuid::Uuid;

use super::inventur::{self, Gezaehlt};
use super::model::{
    Auswahl, Charge, ChargeAngelegt, ChargeChange, InventurBestaetigung, NewCharge, NewInventur, Verfuegbar,
};
use super::{change, sql, stock, verfuegbar, verlauf};
use crate::master::artikel::{self, Artikel};
use crate::master::{biozertifikate, kunden};
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::{Failure, Result};
use crate::platform::http::call::{Call, IfMatch};
use crate::platform::http::list_file::listed;
use crate::platform::http::param::{Param, ParamKind};
use crate::platform::http::query::Query;
use crate::platform::http::reply::Reply;
use crate::platform::http::route::Write;
use crate::platform::listing::Listing;
use crate::rules::change::Geaendert;
use crate::rules::error::{Code, HintCode, Hints, Refusal, required};
use crate::rules::fixed::Quantity;
use crate::rules::repeat::Wiederholt;

pub const WHAT: &str = "Diese Charge";

pub const AVAILABLE: &[Param] = &[
    Param::uuid("artikel_id", "der Artikel (oder artikelnr)"),
    Param::text("artikelnr", "Nummer des Artikels (oder artikel_id)"),
    Param::new("menge", ParamKind::Quantity, "gesuchte Menge: dann mit Vorschlag"),
    Param::text("einheit", "Einheit der Menge; ohne Angabe die des Artikels"),
    Param::int("lagerhalle_id", "nur diese Lagerhalle"),
    Param::int("niederlassung_id", "nur diese Niederlassung"),
    Param::day("mhd_ab", "nur mindestens so lange haltbare"),
    Param::text("herkunftsland", "nur aus diesem Land"),
    Param::flag("nur_bio", "true: nur mit Biozertifikat"),
    Param::flag("abgelaufen", "true: auch abgelaufene"),
    Param::limit(Some(200)),
    Param::OFFSET,
];

pub fn list(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let auswahl = Auswahl::of(&call.query)?;
    listed!(call, "chargen", Reply::array, |page| sql::list(tx, &auswahl, page))
}

pub fn available(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let query = &call.query;
    let (page, cut) = query.page()?;
    let artikel = asked_article(query, tx)?;
    let mut notes = Hints::default();
    let wanted = wanted(query, &artikel, &mut notes)?;
    let auswahl = Verfuegbar::of(query)?;
    let (batches, missing) = verfuegbar::list(tx, artikel.id, &auswahl, wanted)?;
    let offset = usize::try_from(page.offset).unwrap_or(usize::MAX);
    let limit = page.limit.map_or(usize::MAX, |limit| limit as usize);
    let shown = batches.iter().skip(offset).take(limit);
    let reply = Reply::array(Listing::from_page(shown, batches.len())?, cut).with_notes(&notes);
    Ok(match missing {
        Some(missing) => reply.with("x-fehlmenge", missing.to_string()),
        None => reply,
    })
}

fn asked_article(query: &Query, tx: &Tx<'_>) -> Result<Arc<Artikel>> {
    let missing = || {
        let message = "Es fehlt der Artikel. Bitte artikel_id oder artikelnr angeben.";
        Refusal::field(Code::ParameterFehlt, "artikel_id", message)
    };
    let artikel = artikel::named(tx, query.uuid("artikel_id")?, query.text("artikelnr"))?;
    Ok(artikel.ok_or_else(missing)?)
}

/// Returns the requested quantity in the unit of the article.
fn wanted(query: &Query, artikel: &Artikel, notes: &mut Hints) -> Result<Option<Quantity>> {
    let Some(text) = query.text("menge") else { return Ok(None) };
    let parsed = Quantity::parse(text).ok().filter(|parsed| parsed.value > Quantity::ZERO);
    let parsed = parsed.ok_or_else(|| Query::refuse("menge", "Hier wird eine Menge über 0 erwartet."))?;
    if parsed.rounded {
        notes.add_field(HintCode::Gerundet, "menge", "Die Menge wurde auf 6 Nachkommastellen gerundet.");
    }
    let conversion = artikel.conversion_from(query.text("einheit"))?;
    Ok(Some(conversion.quantity(parsed.value)?))
}

pub fn get(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let charge = found(tx, call.id(WHAT)?)?;
    Reply::resource(call, charge.version, charge.id, &charge)
}

pub fn change(call: &Call<'_>) -> Result<Write> {
    let (change, hinweise) = call.body::<ChargeChange>()?;
    let (id, if_match, ignored) = (call.id(WHAT)?, call.if_match(), call.ignored(&hinweise)?);
    Ok(Box::new(move |tx| {
        let old = found(tx, id)?;
        IfMatch::check(if_match.as_ref(), old.version)?;
        let mut hinweise = hinweise.clone();
        ignored.silence(&mut hinweise, || Ok(&old))?;
        let record = change::change(tx, old, change.clone(), &mut hinweise)?;
        Ok(Reply::ok(&Geaendert { record, hinweise })?.about(id))
    }))
}

pub fn get_verlauf(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let (page, cut) = call.query.page()?;
    let charge = found(tx, call.id(WHAT)?)?;
    Ok(Reply::list(verlauf::list(tx, charge.id, page)?, cut).about(charge.id))
}

pub fn create(call: &Call<'_>) -> Result<Write> {
    let (new, hinweise) = call.body::<NewCharge>()?;
    Ok(Box::new(move |tx| {
        let mut hinweise = hinweise.clone();
        let charge = checked(tx, new.clone(), &mut hinweise)?;
        let Charge { id, charge_nr, .. } = stock::create(tx, charge)?;
        let message =
            "Die Charge wurde ohne Bestand angelegt. Bestand bucht ein Einkaufsbeleg oder der Import.";
        hinweise.add(HintCode::BestandNichtGebucht, message);
        let angelegt = ChargeAngelegt { id, charge_nr, bestand: Quantity::ZERO, hinweise };
        Ok(Reply::created(&angelegt)?.about(id))
    }))
}

pub fn count_charge(call: &Call<'_>) -> Result<Write> {
    count(call, WHAT, |tx, id| Gezaehlt::batch(tx, found(tx, id)?))
}

pub fn count_artikel(call: &Call<'_>) -> Result<Write> {
    count(call, artikel::WHAT, |tx, id| Gezaehlt::article(tx, artikel::found(tx, id)?))
}

/// Books a stocktaking of the batch or article in the path; a known external_ref returns the existing one.
fn count(
    call: &Call<'_>,
    what: &'static str,
    named: fn(&WriteTx<'_>, Uuid) -> Result<Gezaehlt>,
) -> Result<Write> {
    let (new, hinweise) = call.body::<NewInventur>()?;
    let id = call.id(what)?;
    Ok(Box::new(move |tx| {
        let gezaehlt = named(tx, id)?;
        if let Some(external_ref) = &new.external_ref
            && let Some(known) = sql::find_inventur_by_ref(tx, external_ref)?
        {
            let is_same = (known.artikel_id, known.charge_id) == (gezaehlt.artikel.id, gezaehlt.charge_id())
                && (Some(known.bestand), Some(&known.grund)) == (new.bestand, new.grund.as_ref());
            let about = known.id;
            let which = format!("einer Inventur vom {}", known.tag().german());
            return Ok(Reply::ok(&Wiederholt::of(known, &which, !is_same, hinweise.clone()))?.about(about));
        }
        let bestand = required(new.bestand, "bestand")?;
        let grund = required(new.grund.clone(), "grund")?;
        let inventur = inventur::store(tx, &gezaehlt, bestand, grund, new.external_ref.clone())?;
        let about = inventur.id;
        let answer = InventurBestaetigung { inventur, hinweise: hinweise.clone() };
        Ok(Reply::created(&answer)?.about(about))
    }))
}

pub fn found(tx: &Tx<'_>, id: Uuid) -> Result<Charge> {
    sql::find(tx, id)?.ok_or_else(|| Failure::not_found(WHAT))
}

/// Builds the batch that a body describes; checks that every referenced id exists.
fn checked(tx: &WriteTx<'_>, mut new: NewCharge, hinweise: &mut Hints) -> Result<Charge> {
    let artikel = artikel::by_id(tx, required(new.artikel_id, "artikel_id")?)?;
    if let Some(charge_nr) = &new.charge_nr {
        stock::check_charge_nr(tx, artikel.id, charge_nr)?;
    }
    new.partner_id.map(|partner| kunden::by_id(tx, partner)).transpose()?;
    new.biozertifikat_id.map(|id| biozertifikate::must_have(tx, id)).transpose()?;
    let conversion = stock::to_article_unit(new.einheit.as_deref(), &artikel, hinweise)?;
    new.einheit = artikel.einheit.clone().or(new.einheit);
    new.eingang_menge = new.eingang_menge.map(|menge| conversion.quantity(menge)).transpose()?;
    new.eingang_ep = new.eingang_ep.map(|ep| conversion.price(ep)).transpose()?;
    let mut charge = Charge {
        artikel_id: artikel.id,
        partner_id: new.partner_id,
        eingang_quelle: new.eingang_quelle.unwrap_or_default(),
        ..Charge::default()
    };
    new.apply_to(&mut charge);
    Ok(charge)
}
