//! Accounts of a company and what DATEV computes on them (D31): data of the company, read by its adviser first.

use rusqlite::named_params;

use super::model::{FunktionZeile, KontoAuskunft, KontoZeile};
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

/// The accounts as they are shown.
pub fn list(tx: &Tx<'_>) -> Result<Vec<KontoAuskunft>> {
    let statement = format!(
        "select {} from konto k left join artikelgruppe g on g.tenant_id = k.tenant_id and g.id = k.artikelgruppe_id
         where k.tenant_id = :tenant order by k.fall, k.satz, g.name",
        KontoAuskunft::COLUMNS
    );
    tx.all(&statement, &[], KontoAuskunft::read)
}

pub fn import(tx: &WriteTx<'_>, row: &Json<'_>, at: &mut At<'_>) -> Result<Upserted> {
    enter(tx, KontoZeile::from_json(row, at)?)
}

/// Stores an account in the place of the one with its case, rate and group (D31). One that DATEV would refuse is refused.
pub fn enter(tx: &WriteTx<'_>, zeile: KontoZeile) -> Result<Upserted> {
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
    let plan = plan(tx)?;
    plan.check(&konto, konto.satz, tx.today().year())?;
    let key = |known: &&Konto| {
        (known.fall, known.satz, known.artikelgruppe_id) == (konto.fall, konto.satz, konto.artikelgruppe_id)
    };
    let old = plan.konten.iter().find(key);
    Upserted::by(old, &konto, || {
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

/// What a chart proposes: case, rate, and the account in SKR03 and in SKR04 (DATEV's charts of 2026).
const PROPOSED: &[(Fall, &str, i64, i64)] = &[
    (Fall::Erloes, "7", 8_300, 4_300),
    (Fall::Erloes, "19", 8_400, 4_400),
    (Fall::Erloes, "0", 8_290, 4_290),
    (Fall::ErloesIg, "", 8_125, 4_125),
    (Fall::ErloesAusfuhr, "", 8_120, 4_120),
    (Fall::Erloes13b, "", 8_337, 4_337),
    (Fall::ErloesFrei, "", 8_100, 4_100),
    (Fall::ErloesNichtSteuerbar, "", 8_338, 4_338),
    (Fall::Aufwand, "7", 3_300, 5_300),
    (Fall::Aufwand, "19", 3_400, 5_400),
    (Fall::Aufwand, "7,8", 3_540, 5_540),
    (Fall::Aufwand, "5,5", 3_505, 5_505),
    (Fall::AufwandOhne, "", 3_200, 5_200),
    (Fall::AufwandIg, "7", 3_420, 5_420),
    (Fall::AufwandIg, "19", 3_425, 5_425),
    (Fall::Aufwand13b, "19", 3_123, 5_923),
];

/// A file of accounts to import, once the adviser has read it.
pub fn proposal(rahmen: Rahmen) -> String {
    let mut file = String::from("\u{feff}fall;satz;artikelgruppe;konto;bu;automatik\r\n");
    for (fall, satz, skr03, skr04) in PROPOSED {
        let konto = if rahmen == Rahmen::Skr04 { skr04 } else { skr03 };
        file.push_str(&format!("{};{satz};;{konto};;\r\n", fall.as_str()));
    }
    file
}
