//! What the routes of partners do.

use sha2::{Digest, Sha256};

use super::model::{AnhangAngelegt, AnhangEingabe, KundeAngelegt, KundeEingabe, KundeGeaendert};
use super::{change, sql};
use crate::db::error::{Failure, Result};
use crate::db::tx::Tx;
use crate::http::call::{Call, IfMatch};
use crate::http::reply::Reply;
use crate::http::route::WriteWork;
use crate::http::upload::{Dateiname, Inhalt, hex, mime_type};
use crate::http::wire::{Text, ignore, required};

const WHAT: &str = "Diesen Kunden";

/// GET /kunden
pub fn list(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let query = &call.query;
    let (page, cut) = query.page()?;
    let listing = sql::list(tx, query.search("suche")?, query.one_of("partner_typ")?, page)?;
    Ok(Reply::ok(&listing)?.with_cut_limit(cut))
}

/// GET /kunden/{id}
pub fn get(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let kunde = sql::find(tx, call.id(WHAT)?)?.ok_or_else(|| Failure::not_found(WHAT))?;
    Reply::resource(call, kunde.version, kunde.id, &kunde)
}

/// POST /kunden
pub fn create(call: &Call<'_>) -> Result<WriteWork> {
    let (mut eingabe, mut hinweise) = call.body::<KundeEingabe>()?;
    // These come by import or PUT (D3, D18).
    ignore(&mut eingabe.kunden_id, "kunden_id", &mut hinweise);
    ignore(&mut eingabe.status, "status", &mut hinweise);
    ignore(&mut eingabe.steuerart, "steuerart", &mut hinweise);
    ignore(&mut eingabe.skonto_tage, "skonto_tage", &mut hinweise);
    ignore(&mut eingabe.skonto_prozent, "skonto_prozent", &mut hinweise);
    if let Some(typen) = eingabe.partner_typen.get() {
        typen.refuse_spediteur()?;
    }
    Ok(Box::new(move |tx| {
        let kunde = change::create(tx, eingabe, &mut hinweise)?;
        let (id, kunden_id, kundennr) = (kunde.id, kunde.kunden_id, kunde.kundennr);
        Ok(Reply::created(&KundeAngelegt { id, kundennr, kunden_id, hinweise })?.about(id))
    }))
}

/// PUT /kunden/{id}
pub fn change(call: &Call<'_>) -> Result<WriteWork> {
    let (mut eingabe, mut hinweise) = call.body::<KundeEingabe>()?;
    ignore(&mut eingabe.kunden_id, "kunden_id", &mut hinweise);
    ignore(&mut eingabe.kundennr, "kundennr", &mut hinweise);
    let (id, if_match) = (call.id(WHAT)?, call.if_match());
    Ok(Box::new(move |tx| {
        let old = sql::find(tx, id)?.ok_or_else(|| Failure::not_found(WHAT))?;
        IfMatch::check(if_match.as_ref(), old.version)?;
        let kunde = change::change(tx, old, eingabe, &mut hinweise)?;
        Ok(Reply::ok(&KundeGeaendert { kunde, hinweise })?.about(id))
    }))
}

/// POST /kunden/{id}/dokumente
pub fn attach(call: &Call<'_>) -> Result<WriteWork> {
    let (eingabe, hinweise) = call.body::<AnhangEingabe>()?;
    let sha256 = eingabe.inhalt_base64.get().map(|Inhalt(inhalt)| Sha256::digest(inhalt).into());
    let id = call.id(WHAT)?;
    Ok(Box::new(move |tx| {
        let kunde = sql::find(tx, id)?.ok_or_else(|| Failure::not_found(WHAT))?;
        let Dateiname(dateiname) = required(eingabe.dateiname.value(), "dateiname")?;
        let Inhalt(inhalt) = required(eingabe.inhalt_base64.value(), "inhalt_base64")?;
        let sha256: [u8; 32] = required(sha256, "inhalt_base64")?;
        let beschreibung = eingabe.beschreibung.value().map(|Text(text)| text);
        let mime_type = mime_type(&dateiname);
        let anhang = sql::insert_anhang(
            tx,
            kunde.id,
            &dateiname,
            beschreibung.as_deref(),
            mime_type,
            &sha256,
            &inhalt,
        )?;
        let groesse_bytes = inhalt.len();
        let sha256 = hex(&sha256);
        let angelegt = AnhangAngelegt { id: anhang, dateiname, mime_type, groesse_bytes, sha256, hinweise };
        Ok(Reply::created(&angelegt)?.about(anhang))
    }))
}
