//! Imports rows of a file into the accounts (D31).

use super::model::{FunktionZeile, KontoZeile, SchluesselZeile};
use super::{konten, sql};
use crate::platform::db::tx::WriteTx;
use crate::platform::failure::Result;
use crate::platform::http::json::Json;
use crate::platform::http::wire::{At, FromJson};
use crate::platform::import::Upserted;
use crate::rules::datev::{BuSchluessel, Funktion, Funktionsart, Rahmen, is_bu};
use crate::rules::error::{Code, refuse_if, required};

/// Stores an account; its key is case, rate and group.
pub fn konto(tx: &WriteTx<'_>, row: &Json<'_>, at: &mut At<'_>) -> Result<Upserted> {
    let zeile = KontoZeile::from_json(row, at)?;
    konten::enter(tx, zeile, at.hints()).map(|(_, upserted)| upserted)
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

/// Stores what a tax key means; its key is kind, side, rate and first day.
pub fn schluessel(tx: &WriteTx<'_>, row: &Json<'_>, at: &mut At<'_>) -> Result<Upserted> {
    let zeile = SchluesselZeile::from_json(row, at)?;
    let new = BuSchluessel {
        art: required(zeile.art, "art")?,
        seite: required(zeile.seite, "seite")?,
        satz: zeile.satz.unwrap_or_default(),
        von: required(zeile.von, "von")?,
        bis: zeile.bis,
        kurz: zeile.kurz,
        lang: zeile.lang,
        bezeichnung: zeile.bezeichnung,
    };
    refuse_if(new.bis.is_some_and(|bis| bis < new.von), Code::FeldWiderspruch, "bis", "bis liegt vor von.")?;
    let message = "Es fehlt der Schlüssel. Bitte kurz, lang oder beide angeben.";
    refuse_if(new.kurz.is_none() && new.lang.is_none(), Code::FeldFehlt, "kurz", message)?;
    let message = "Ein BU-Schlüssel hat kurz 1 oder 2 Ziffern, lang 3 oder 4. Bitte den Schlüssel prüfen.";
    for (feld, bu, digits) in [("kurz", &new.kurz, 1..=2), ("lang", &new.lang, 3..=4)] {
        let is_wrong = bu.as_ref().is_some_and(|bu| !is_bu(bu, digits));
        refuse_if(is_wrong, Code::KontoUngueltig, feld, message)?;
    }
    let old = sql::find_schluessel(tx, &new)?;
    Upserted::by(old.as_ref(), &new, || sql::store_schluessel(tx, &new))
}
