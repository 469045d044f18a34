//! Handlers of the document routes.

use uuid::Uuid;

use super::create;
use super::eingabe::{Auswahl, BelegChange, Erledigung, NewBeleg, NewEinlesen, NewPdf};
use super::einlesen::{self, Datei};
use super::lifecycle::{self, change, verlauf};
use super::model::{Beleg, BelegPdf, StatusBestaetigung};
use super::out::{ausfertigung, dokumente, pdf};
use super::{fluss, sql};
use crate::goods::waage::Storno;
use crate::master::anhaenge::{Besitzer, Owner};
use crate::platform::db::tx::Tx;
use crate::platform::failure::{Failure, Result};
use crate::platform::http::call::{Call, IfMatch};
use crate::platform::http::list_file::listed;
use crate::platform::http::reply::Reply;
use crate::platform::http::route::Write;
use crate::platform::http::wire::Leer;
use crate::rules::bytes::base64;
use crate::rules::choice::Choice;
use crate::rules::document::{BelegStatus, BelegTyp};
use crate::rules::error::{Hints, required};
use crate::rules::repeat::Angelegt;

const WHAT: &str = "Diesen Beleg";
const PDF: &str = "application/pdf";

pub fn list(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let auswahl = Auswahl::of(tx, &call.query)?;
    listed!(call, "belege", Reply::list, |page| sql::list(tx, &auswahl, page))
}

pub fn get(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let beleg = with_positions(tx, call.id(WHAT)?)?;
    Reply::resource(call, beleg.version, beleg.id, &beleg)
}

/// Returns a document with its positions.
pub fn with_positions(tx: &Tx<'_>, id: Uuid) -> Result<Beleg> {
    fluss::with_positions(tx, found(tx, id)?)
}
pub fn get_pdf(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let beleg = found(tx, call.id(WHAT)?)?;
    let mut notes = Hints::default();
    let draft = call.query.flag("vorschau")?;
    let pdf::Datei { dateiname, inhalt, erstellt_am } = pdf::newest(tx, &beleg, draft, &mut notes)?;
    let reply = if call.prefers(PDF) {
        Reply::file(PDF, &dateiname, inhalt)
    } else {
        let datei_base64 = base64(&inhalt);
        Reply::ok(&BelegPdf { beleg_id: beleg.id, dateiname, mime_type: PDF, datei_base64, erstellt_am })?
    };
    Ok(reply.with_weak_etag(call).with_notes(&notes).with("vary", "accept").about(beleg.id))
}

pub fn get_erechnung(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let beleg = found(tx, call.id(WHAT)?)?;
    let stored = ausfertigung::erechnung(tx, &beleg)?;
    let name = format!("{}.xml", beleg.beleg_nummer);
    Ok(Reply::file("application/xml", &name, stored.xml).with_weak_etag(call).about(beleg.id))
}

pub fn get_verlauf(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let (page, cut) = call.query.page()?;
    let beleg = found(tx, call.id(WHAT)?)?;
    Ok(Reply::list(verlauf::list(tx, beleg.id, page)?, cut).about(beleg.id))
}

pub fn poll(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let query = &call.query;
    let (page, cut) = query.page()?;
    let since = dokumente::since(query.text("since"))?;
    let typen = query.list_of("typen", BelegTyp::parse_alias)?;
    let status = query.list_of("status", BelegStatus::parse_any_case)?;
    let (listing, last) = dokumente::list(tx, since, &typen, &status, page)?;
    let reply = Reply::array(listing, cut).with_weak_etag(call);
    Ok(match last {
        Some(last) => reply.with("x-next-since", last.to_string()),
        None => reply,
    })
}

pub fn create(call: &Call<'_>) -> Result<Write> {
    let (new, hinweise) = call.body::<NewBeleg>()?;
    Ok(Box::new(move |tx| match create::create(tx, &new, hinweise.clone())? {
        Angelegt::Neu(bestaetigung) => Ok(Reply::created(&bestaetigung)?.about(bestaetigung.id)),
        Angelegt::Wiederholt(antwort) => Ok(Reply::ok(&antwort)?.about(antwort.record.id)),
    }))
}

pub fn change(call: &Call<'_>) -> Result<Write> {
    let (change, hinweise) = call.body::<BelegChange>()?;
    let (id, if_match, ignored) = (call.id(WHAT)?, call.if_match(), call.ignored(&hinweise)?);
    Ok(Box::new(move |tx| {
        let old = found(tx, id)?;
        IfMatch::check(if_match.as_ref(), old.version)?;
        let mut hinweise = hinweise.clone();
        ignored.silence(&mut hinweise, || with_positions(tx, id))?;
        Ok(Reply::ok(&change::change(tx, old, change.clone(), hinweise)?)?.about(id))
    }))
}

pub fn finalise(call: &Call<'_>) -> Result<Write> {
    let (_, hinweise) = call.optional_body::<Leer>()?;
    let (id, if_match) = (call.id(WHAT)?, call.if_match());
    let is_trial = call.query.is_trial()?;
    Ok(Box::new(move |tx| {
        let old = found(tx, id)?;
        IfMatch::check(if_match.as_ref(), old.version)?;
        let mut hinweise = hinweise.clone();
        if is_trial {
            return Ok(Reply::ok(&lifecycle::try_to_finalise(tx, old, hinweise)?)?.about(id));
        }
        let Beleg { id, beleg_nummer, status, .. } = lifecycle::finalise(tx, old, &mut hinweise)?;
        let bestaetigung = StatusBestaetigung { id, beleg_nummer, status, ablehnungen: None, hinweise };
        Ok(Reply::ok(&bestaetigung)?.about(id))
    }))
}

pub fn settle(call: &Call<'_>) -> Result<Write> {
    let (said, hinweise) = call.optional_body::<Erledigung>()?;
    let (id, if_match) = (call.id(WHAT)?, call.if_match());
    let closed = said.ohne_gegenbeleg == Some(true);
    Ok(Box::new(move |tx| {
        let old = found(tx, id)?;
        IfMatch::check(if_match.as_ref(), old.version)?;
        let mut hinweise = hinweise.clone();
        let Beleg { id, beleg_nummer, status, .. } = lifecycle::settle(tx, old, closed, &mut hinweise)?;
        Ok(Reply::ok(&StatusBestaetigung { id, beleg_nummer, status, ablehnungen: None, hinweise })?
            .about(id))
    }))
}

pub fn cancel(call: &Call<'_>) -> Result<Write> {
    let (storno, hinweise) = call.body::<Storno>()?;
    let (id, if_match) = (call.id(WHAT)?, call.if_match());
    Ok(Box::new(move |tx| {
        let old = found(tx, id)?;
        IfMatch::check(if_match.as_ref(), old.version)?;
        let grund = required(storno.grund.clone(), "grund")?;
        Ok(Reply::ok(&lifecycle::cancel(tx, old, grund, hinweise.clone())?)?.about(id))
    }))
}

pub fn archive_pdf(call: &Call<'_>) -> Result<Write> {
    let (new, hinweise) = call.body::<NewPdf>()?;
    pdf::check_signature(&new)?;
    let sha256 = pdf::digest(&new);
    let id = call.id(WHAT)?;
    Ok(Box::new(move |tx| {
        let (bestaetigung, is_new) = pdf::archive(tx, found(tx, id)?, &new, sha256, hinweise.clone())?;
        Ok(Reply::json(if is_new { 201 } else { 200 }, &bestaetigung)?.about(id))
    }))
}

pub fn einlesen(call: &Call<'_>) -> Result<Write> {
    let (new, hinweise) = call.body::<NewEinlesen>()?;
    let datei = Datei::read(new)?;
    Ok(Box::new(move |tx| {
        let (eingelesen, is_new) = einlesen::einlesen(tx, &datei, hinweise.clone())?;
        let reply = Reply::json(if is_new { 201 } else { 200 }, &eingelesen)?;
        Ok(match &eingelesen.beleg {
            Some(beleg) => reply.about(beleg.id),
            None => reply,
        })
    }))
}

impl Owner for Beleg {
    const WHAT: &str = WHAT;

    fn owner(tx: &Tx<'_>, id: Uuid) -> Result<Besitzer> {
        found(tx, id)?;
        Ok(Besitzer::Beleg(id))
    }
}

/// Returns a document without its positions, or a "not found" refusal.
pub fn found(tx: &Tx<'_>, id: Uuid) -> Result<Beleg> {
    sql::find(tx, id)?.ok_or_else(|| Failure::not_found(WHAT))
}
