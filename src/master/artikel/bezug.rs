//! How requests reference an article.

use std::sync::Arc;

use uuid::Uuid;

use super::model::Artikel;
use super::sql::{find, find_by_number, number_means};
use crate::platform::db::tx::Tx;
use crate::platform::failure::{Failure, Result};
use crate::rules::error::{Code, Refusal, refuse_if};

/// Returns an article that a row references and that must therefore exist.
pub fn must_have(tx: &Tx<'_>, id: Uuid) -> Result<Arc<Artikel>> {
    find(tx, id)?.ok_or_else(|| Failure::Broken("a row of an unknown article".into()))
}

/// Returns the article with this artikel_id, or a refusal.
pub fn by_id(tx: &Tx<'_>, id: Uuid) -> Result<Arc<Artikel>> {
    let unknown = || Refusal::unknown(Code::ArtikelNichtGefunden, "artikel_id", "Diesen Artikel");
    Ok(find(tx, id)?.ok_or_else(unknown)?)
}

/// Returns the article identified by artikel_id, artikelnr or both (D6); `None` if neither was sent.
pub fn named(tx: &Tx<'_>, artikel_id: Option<Uuid>, artikelnr: Option<&str>) -> Result<Option<Arc<Artikel>>> {
    let unknown = |feld| {
        let message = ("Diesen Artikel gibt es nicht.", "Bitte die Nummer prüfen.");
        Refusal::field(Code::ArtikelNichtGefunden, feld, message)
    };
    if let Some(id) = artikel_id {
        let artikel = find(tx, id)?.ok_or_else(|| unknown("artikel_id"))?;
        if let Some(number) = artikelnr
            && !number_means(tx, number, &artikel)?
        {
            let message =
                ("artikel_id und artikelnr nennen verschiedene Artikel.", "Bitte nur eines senden.");
            return Err(Refusal::field(Code::ArtikelWiderspruch, "artikelnr", message).into());
        }
        return Ok(Some(artikel));
    }
    let Some(number) = artikelnr else { return Ok(None) };
    let mut found = find_by_number(tx, number)?;
    let message =
        (format_args!("Die Nummer {number} haben mehrere Artikel."), "Bitte die artikel_id angeben.");
    refuse_if(found.len() > 1, Code::ArtikelMehrdeutig, "artikelnr", message)?;
    Ok(Some(found.pop().ok_or_else(|| unknown("artikelnr"))?))
}
