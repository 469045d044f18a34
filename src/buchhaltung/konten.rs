//! Accounts of a company and what DATEV computes on them (D31): data of the company, read by its adviser first.

use super::model::{KontoAuskunft, KontoZeile};
use super::sql;
use crate::artikel::{self, Artikelgruppe};
use crate::db::tx::{Tx, WriteTx};
use crate::failure::Result;
use crate::import::Upserted;
use crate::rules::buchung::{Fall, Kontenplan, Konto, Rahmen};
use crate::rules::error::{Code, Refusal, refuse_if, required};
use crate::tenants;

/// The accounts of a company as they are now.
pub fn plan(tx: &Tx<'_>) -> Result<Kontenplan> {
    let einstellungen = tenants::load(tx)?;
    Ok(Kontenplan {
        konten: sql::konten(tx)?,
        funktionen: sql::funktionen(tx)?,
        rahmen: einstellungen.datev_rahmen,
        laenge: u32::try_from(einstellungen.datev_sachkontenlaenge.0).unwrap_or_default(),
    })
}

/// Stores an account in the place of the one with its case, rate and group (D31). One that DATEV would refuse is refused.
pub fn enter(tx: &WriteTx<'_>, zeile: KontoZeile) -> Result<(KontoAuskunft, Upserted)> {
    let fall = required(zeile.fall, "fall")?;
    let message = format_args!("Konten für {} gelten für jeden Satz. Bitte satz leer lassen.", fall.as_str());
    refuse_if(zeile.satz.is_some() && !fall.has_rate(), Code::FeldWiderspruch, "satz", message)?;
    let gruppe = zeile.artikelgruppe.map(|name| group_of(tx, &name)).transpose()?;
    let konto = Konto {
        fall,
        satz: zeile.satz,
        artikelgruppe_id: gruppe.as_ref().map(|gruppe| gruppe.id),
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
    let upserted = Upserted::by(old, &konto, || sql::store_konto(tx, &konto))?;
    let Konto { fall, satz, konto, bu, automatik, .. } = konto;
    let artikelgruppe = gruppe.map(|gruppe| gruppe.name);
    Ok((KontoAuskunft { fall, satz, artikelgruppe, konto, bu, automatik }, upserted))
}

fn group_of(tx: &Tx<'_>, name: &str) -> Result<Artikelgruppe> {
    let message = || format!("Die Artikelgruppe {name} gibt es nicht. Bitte Name oder Kürzel prüfen.");
    let missing = || Refusal::field(Code::FeldUngueltig, "artikelgruppe", message());
    Ok(artikel::gruppe_named(tx, name)?.ok_or_else(missing)?)
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
