//! Accounts of a company and what DATEV computes on them (D31): data of the company, read by its adviser first.

use rusqlite::named_params;

use super::model::{FunktionZeile, KontoZeile};
use crate::artikel;
use crate::db::record::{Part, columns};
use crate::db::tx::{Params, Tx, WriteTx};
use crate::failure::Result;
use crate::http::json::Json;
use crate::http::wire::{At, FromJson};
use crate::import::Upserted;
use crate::rules::buchung::{Fall, Funktion, Funktionsart, Kontenplan, Konto, Rahmen};
use crate::rules::error::{Code, Refusal, refuse_if, required};
use crate::rules::fixed::Percent;
use crate::tenants;

columns! {
    Konto in konto as k {
        fall: fixed,
        satz: fixed,
        artikelgruppe_id: fixed,
        konto: mutable,
        bu: mutable,
        automatik: mutable,
    }
}

columns! {
    Funktion in konto_funktion as f {
        rahmen: fixed,
        von: fixed,
        bis: fixed,
        ab_jahr: fixed,
        art: mutable,
        satz: mutable,
    }
}

/// The accounts of a company as they are now.
pub fn plan(tx: &Tx<'_>) -> Result<Kontenplan> {
    let einstellungen = tenants::load(tx)?;
    let konten = format!(
        "select {} from konto k where k.tenant_id = :tenant order by k.fall, k.satz, k.artikelgruppe_id",
        Konto::COLUMNS
    );
    let funktionen =
        format!("select {} from konto_funktion f where f.tenant_id = :tenant", Funktion::COLUMNS);
    Ok(Kontenplan {
        konten: tx.all(&konten, &[], Konto::read)?,
        funktionen: tx.all(&funktionen, &[], Funktion::read)?,
        rahmen: einstellungen.datev_rahmen,
        laenge: u32::try_from(einstellungen.datev_sachkontenlaenge.0).unwrap_or_default(),
    })
}

/// Stores an account; its key is case, rate and group (D31). One that DATEV would refuse is refused.
pub fn import(tx: &WriteTx<'_>, row: &Json<'_>, at: &mut At<'_>) -> Result<Upserted> {
    let zeile = KontoZeile::from_json(row, at)?;
    let fall = required(zeile.fall, "fall")?;
    let message = format_args!("Konten für {} gelten für jeden Satz. Bitte satz leer lassen.", fall.as_str());
    refuse_if(zeile.satz.is_some() && !fall.has_rate(), Code::FeldWiderspruch, "satz", message)?;
    let konto = Konto {
        fall,
        satz: zeile.satz,
        artikelgruppe_id: zeile.artikelgruppe.map(|name| group_of(tx, &name)).transpose()?,
        konto: required(zeile.konto, "konto")?,
        bu: zeile.bu,
        automatik: zeile.automatik.unwrap_or_default(),
    };
    store(tx, &konto)
}

/// Stores an account in the place of the one with its key.
pub fn store(tx: &WriteTx<'_>, konto: &Konto) -> Result<Upserted> {
    let plan = plan(tx)?;
    plan.check(konto, konto.satz, tx.today().year())?;
    let key = |known: &&Konto| {
        (known.fall, known.satz, known.artikelgruppe_id) == (konto.fall, konto.satz, konto.artikelgruppe_id)
    };
    let old = plan.konten.iter().find(key);
    Upserted::by(old, konto, || {
        delete(tx, konto.fall, konto.satz, konto.artikelgruppe_id)?;
        tx.insert("konto", &konto.values(Part::All))
    })
}

/// Takes an account away; whether there was one.
pub fn delete(tx: &WriteTx<'_>, fall: Fall, satz: Option<Percent>, gruppe: Option<i64>) -> Result<bool> {
    let statement = "delete from konto where tenant_id = :tenant and fall = :fall and satz is :satz
        and artikelgruppe_id is :gruppe";
    let key: Params<'_> = named_params! {":fall": fall, ":satz": satz, ":gruppe": gruppe};
    Ok(tx.execute(statement, key)? > 0)
}

fn group_of(tx: &Tx<'_>, name: &str) -> Result<i64> {
    let message = || format!("Die Artikelgruppe {name} gibt es nicht. Bitte Name oder Kürzel prüfen.");
    let missing = || Refusal::field(Code::FeldUngueltig, "artikelgruppe", message());
    Ok(artikel::gruppe_named(tx, name)?.ok_or_else(missing)?.id)
}

/// Stores what DATEV computes on accounts of a range; its key is chart, range and year.
pub fn import_funktion(tx: &WriteTx<'_>, row: &Json<'_>, at: &mut At<'_>) -> Result<Upserted> {
    let zeile = FunktionZeile::from_json(row, at)?;
    let von = required(zeile.von, "von")?;
    let new = Funktion {
        rahmen: required(zeile.rahmen, "rahmen")?,
        von,
        bis: zeile.bis.unwrap_or(von),
        ab_jahr: required(zeile.ab_jahr, "ab_jahr")?,
        art: required(zeile.art, "art")?,
        satz: zeile.satz,
    };
    refuse_if(new.bis < von, Code::FeldWiderspruch, "bis", "bis liegt vor von.")?;
    let message = "Einen Kontenrahmen haben nur 03 und 04. Bitte einen der beiden angeben.";
    refuse_if(new.rahmen == Rahmen::Keiner, Code::WertUngueltig, "rahmen", message)?;
    let message = "Zu satz gehört der Steuersatz in %, zu frei keiner. Bitte satz prüfen.";
    let wants_rate = match new.art {
        Funktionsart::Satz => new.satz.is_none(),
        Funktionsart::Frei => new.satz.is_some(),
        Funktionsart::Sonder => false,
    };
    refuse_if(wants_rate, Code::FeldWiderspruch, "satz", message)?;
    let find = format!(
        "select {} from konto_funktion f where f.tenant_id = :tenant and f.rahmen = :rahmen and f.von = :von
           and f.bis = :bis and f.ab_jahr = :ab_jahr",
        Funktion::COLUMNS
    );
    let key =
        named_params! {":rahmen": new.rahmen, ":von": new.von, ":bis": new.bis, ":ab_jahr": new.ab_jahr};
    let old = tx.optional(&find, key, Funktion::read)?;
    let store = || tx.upsert("konto_funktion", &["rahmen", "von", "bis", "ab_jahr"], &new.values(Part::All));
    Upserted::by(old.as_ref(), &new, store)
}
