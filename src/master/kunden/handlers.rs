//! Handlers of the partner routes.

use uuid::Uuid;

use super::model::{Auswahl, Kunde, KundeAngelegt, KundeChange};
use super::{change, sql, verlauf};
use crate::master::anhaenge::{Besitzer, Owner};
use crate::platform::db::tx::Tx;
use crate::platform::failure::{Failure, Result};
use crate::platform::http::call::{Call, IfMatch};
use crate::platform::http::list_file::listed;
use crate::platform::http::reply::Reply;
use crate::platform::http::route::Write;
use crate::rules::change::Geaendert;
use crate::rules::error::HintCode;

const WHAT: &str = "Diesen Kunden";

pub fn list(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let auswahl = Auswahl::of(&call.query)?;
    listed!(call, "partner", Reply::list, |page| sql::list(tx, &auswahl, page))
}

pub fn get(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let kunde = found(tx, call.id(WHAT)?)?;
    Reply::resource(call, kunde.version, kunde.id, &kunde)
}

pub fn create(call: &Call<'_>) -> Result<Write> {
    let (mut change, mut hinweise) = call.body::<KundeChange>()?;
    // Only an import sets it (D1).
    change.kunden_id.ignore("kunden_id", &mut hinweise);
    if let Some(typen) = change.partner_typen.get() {
        typen.refuse_spediteur()?;
    }
    Ok(Box::new(move |tx| {
        let mut hinweise = hinweise.clone();
        let kunde = change::create(tx, change.clone(), &mut hinweise)?;
        if let Some(kundennr) = sql::find_double(tx, &kunde)? {
            let message = format!("Einen Kunden mit diesem Namen an diesem Ort gibt es schon: {kundennr}.");
            hinweise.add_field(HintCode::KundeDoppelt, "nachname_firma", message);
        }
        let (id, kunden_id, kundennr) = (kunde.id, kunde.kunden_id, kunde.kundennr);
        Ok(Reply::created(&KundeAngelegt { id, kundennr, kunden_id, hinweise })?.about(id))
    }))
}

pub fn change(call: &Call<'_>) -> Result<Write> {
    let (mut change, mut hinweise) = call.body::<KundeChange>()?;
    change.kunden_id.ignore("kunden_id", &mut hinweise);
    change.kundennr.ignore("kundennr", &mut hinweise);
    let (id, if_match, ignored) = (call.id(WHAT)?, call.if_match(), call.ignored(&hinweise)?);
    Ok(Box::new(move |tx| {
        let old = found(tx, id)?;
        IfMatch::check(if_match.as_ref(), old.version)?;
        let mut hinweise = hinweise.clone();
        ignored.silence(&mut hinweise, || Ok(&old))?;
        let kunde = change::change(tx, old, change.clone(), &mut hinweise)?;
        Ok(Reply::ok(&Geaendert { record: kunde, hinweise })?.about(id))
    }))
}

pub fn get_verlauf(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let (page, cut) = call.query.page()?;
    let kunde = found(tx, call.id(WHAT)?)?;
    Ok(Reply::list(verlauf::list(tx, kunde.id, page)?, cut).about(kunde.id))
}

impl Owner for Kunde {
    const WHAT: &str = WHAT;

    fn owner(tx: &Tx<'_>, id: Uuid) -> Result<Besitzer> {
        found(tx, id)?;
        Ok(Besitzer::Kunde(id))
    }
}

/// Returns the partner with this id, or a "not found" refusal.
pub fn found(tx: &Tx<'_>, id: Uuid) -> Result<Kunde> {
    sql::find(tx, id)?.ok_or_else(|| Failure::not_found(WHAT))
}
