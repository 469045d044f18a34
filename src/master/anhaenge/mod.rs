//! Attachments of customers and articles (specification, POST /kunden/{id}/dokumente; D21f), and the source
//! files of documents (D28). Their content never changes.

mod model;
mod sql;

pub use model::{Anhang, AnhangAngelegt, Besitzer, NewAnhang};
pub use sql::{altered_content, digest, erase, ids_of, list as page, made_of, without_evidence};

use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::{Failure, Result};
use crate::platform::http::call::Call;
use crate::platform::http::reply::Reply;
use crate::platform::http::route::Write;
use crate::platform::http::upload::mime_type;
use crate::rules::bytes::{base64, hex};
use crate::rules::error::required;

/// A record type that has attachments.
pub trait Owner {
    /// The record's name in a refusal.
    const WHAT: &str;

    /// Returns the record with this id, or a refusal if there is none.
    fn owner(tx: &Tx<'_>, id: Uuid) -> Result<Besitzer>;
}

pub fn attach<O: Owner>(call: &Call<'_>) -> Result<Write> {
    let (new, hinweise) = call.body::<NewAnhang>()?;
    // Computed here rather than inside the transaction, which blocks other writers.
    let sha256 = new.inhalt_base64.as_ref().map(|inhalt| Sha256::digest(inhalt).into());
    let id = call.id(O::WHAT)?;
    Ok(Box::new(move |tx| {
        let besitzer = O::owner(tx, id)?;
        let dateiname = required(new.dateiname.clone(), "dateiname")?;
        let inhalt = required(new.inhalt_base64.as_deref(), "inhalt_base64")?;
        let sha256 = required(sha256, "inhalt_base64")?;
        let anhang = add(tx, besitzer, dateiname, new.beschreibung.clone(), &sha256, inhalt)?;
        let id = anhang.id;
        Ok(Reply::created(&AnhangAngelegt { anhang, hinweise: hinweise.clone() })?.about(id))
    }))
}

pub fn add(
    tx: &WriteTx<'_>,
    besitzer: Besitzer,
    dateiname: String,
    beschreibung: Option<String>,
    sha256: &[u8; 32],
    inhalt: &[u8],
) -> Result<Anhang> {
    let anhang = Anhang {
        id: tx.new_id(),
        beschreibung,
        mime_type: mime_type(&dateiname).to_owned(),
        groesse_bytes: inhalt.len() as i64,
        sha256: hex(sha256),
        erstellt_am: tx.now(),
        dateiname,
        inhalt_base64: None,
    };
    sql::insert(tx, besitzer, &anhang, sha256, inhalt)?;
    Ok(anhang)
}

/// Lists the attachments of a record without their content, as a raw array.
pub fn list<O: Owner>(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let besitzer = O::owner(tx, call.id(O::WHAT)?)?;
    let (page, cut) = call.query.page()?;
    Ok(Reply::array(sql::list(tx, besitzer, page)?, cut))
}

pub fn get<O: Owner>(call: &Call<'_>, tx: &Tx<'_>) -> Result<Reply> {
    let besitzer = O::owner(tx, call.id(O::WHAT)?)?;
    let id = call.second_id(WHAT)?;
    let (anhang, inhalt) = found(tx, besitzer, id, base64)?;
    let anhang = Anhang { inhalt_base64: Some(inhalt), ..anhang };
    Ok(Reply::ok(&anhang)?.with_weak_etag(call).about(id))
}

/// Finds one attachment of a record and applies `read` to its content.
pub fn found<T>(
    tx: &Tx<'_>,
    besitzer: Besitzer,
    id: Uuid,
    read: impl FnOnce(&[u8]) -> T,
) -> Result<(Anhang, T)> {
    sql::find(tx, besitzer, id, read)?.ok_or_else(|| Failure::not_found(WHAT))
}

pub const WHAT: &str = "Diesen Anhang";
