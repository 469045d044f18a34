//! Imports rows of a file into the accounts (D31).

use super::model::{FunktionZeile, KontoZeile};
use super::{konten, sql};
use crate::platform::db::tx::WriteTx;
use crate::platform::failure::Result;
use crate::platform::http::json::Json;
use crate::platform::http::wire::{At, FromJson};
use crate::platform::import::Upserted;
use crate::rules::datev::{Funktion, Funktionsart, Rahmen};
use crate::rules::error::{Code, refuse_if, required};

/// Stores an account; its key is case, rate and group.
pub fn konto(tx: &WriteTx<'_>, row: &Json<'_>, at: &mut At<'_>) -> Result<Upserted> {
    konten::enter(tx, KontoZeile::from_json(row, at)?).map(|(_, upserted)| upserted)
}

/// Stores what DATEV computes on a range of accounts; its key is chart, range and year.
pub fn funktion(tx: &WriteTx<'_>, row: &Json<'_>, at: &mut At<'_>) -> Result<Upserted> {
    let zeile = FunktionZeile::from_json(row, at)?;
    let von = required(zeile.von, "von")?;
    let new = Funktion {
        rahmen: required(zeile.rahmen, "rahmen")?,
        von,
        bis: zeile.bis.unwrap_or(von),
        ab_jahr: required(zeile.ab_jahr, "ab_jahr")?,
        art: required(zeile.art, "art")?,
        satz: zeile.satz,
        bezeichnung: zeile.bezeichnung,
    };
    refuse_if(new.bis < von, Code::FeldWiderspruch, "bis", "bis liegt vor von.")?;
    let message = "Einen Kontenrahmen haben nur 03 und 04. Bitte einen der beiden angeben.";
    refuse_if(new.rahmen == Rahmen::Keiner, Code::WertUngueltig, "rahmen", message)?;
    let message =
        "Zu umsatzsteuer und vorsteuer gehört der Steuersatz in %, zu frei keiner. Bitte satz prüfen.";
    let is_wrong = match new.art {
        Funktionsart::Umsatzsteuer | Funktionsart::Vorsteuer => new.satz.is_none(),
        Funktionsart::Frei => new.satz.is_some(),
        Funktionsart::Sonder => false,
    };
    refuse_if(is_wrong, Code::FeldWiderspruch, "satz", message)?;
    let old = sql::find_funktion(tx, &new)?;
    Upserted::by(old.as_ref(), &new, || sql::store_funktion(tx, &new))
}
