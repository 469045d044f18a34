//! The accounts of a company and what DATEV computes on them (D31). They belong to the company, and its tax
//! adviser checks them first.

use super::model::{KontoAuskunft, KontoZeile};
use super::sql;
use crate::master::artikel::{self, Artikelgruppe};
use crate::master::tenants;
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::Result;
use crate::platform::import::Upserted;
use crate::rules::choice::Choice;
use crate::rules::datev::{Automatik, Fall, Kontenplan, Konto, Rahmen};
use crate::rules::error::{Code, HintCode, Hints, Refusal, refuse_if, required};
use crate::rules::fixed::Percent;

/// Loads the current accounts of a company.
pub fn plan(tx: &Tx<'_>) -> Result<Kontenplan> {
    let einstellungen = tenants::load(tx)?;
    Ok(Kontenplan {
        konten: sql::konten(tx)?,
        funktionen: sql::funktionen(tx)?,
        schluessel: sql::schluessel(tx)?,
        rahmen: einstellungen.datev_rahmen,
        laenge: u32::try_from(einstellungen.datev_sachkontenlaenge.0).unwrap_or_default(),
    })
}

/// Stores an account, replacing the one with the same case, rate and group (D31). Refuses an account that
/// DATEV would refuse.
pub fn enter(tx: &WriteTx<'_>, zeile: KontoZeile, hints: &mut Hints) -> Result<(KontoAuskunft, Upserted)> {
    let fall = required(zeile.fall, "fall")?;
    let message =
        format_args!("Das Konto gilt für jeden Satz: {}. Bitte satz leer lassen.", fall.in_words(None));
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
    plan.check(&konto, konto.satz, tx.today())?;
    if let Some(unknown) = plan.unknown_key(&konto) {
        hints.add_field(HintCode::BuUnbekannt, "bu", unknown);
    }
    let old = plan.konten.iter().find(|known| known.key() == konto.key());
    let upserted = Upserted::by(old, &konto, || sql::store_konto(tx, &konto))?;
    let Konto { fall, satz, konto, bu, automatik, .. } = konto;
    let artikelgruppe = gruppe.map(|gruppe| gruppe.name);
    Ok((KontoAuskunft { fall, satz, artikelgruppe, konto, bu, automatik }, upserted))
}

/// An account as pages show it.
pub struct Gezeigt {
    pub konto: Konto,
    /// Name of its article group.
    pub artikelgruppe: Option<String>,
    /// What DATEV computes on it this year.
    pub automatik: Option<Automatik>,
}

/// Returns the accounts of a company by case, rate and group.
pub fn shown(tx: &Tx<'_>) -> Result<Vec<Gezeigt>> {
    let (plan, jahr) = (plan(tx)?, tx.today().year());
    let with_automatik = |(konto, artikelgruppe): (Konto, Option<String>)| {
        let automatik = plan.automatik(&konto, jahr);
        Gezeigt { konto, artikelgruppe, automatik }
    };
    Ok(sql::named_konten(tx)?.into_iter().map(with_automatik).collect())
}

/// Joins case, rate and group of positions into one text such as `erloes/19/Büro`: the field of a
/// KONTO_FEHLT.
pub fn feld(fall: Fall, satz: Option<Percent>, gruppe: Option<&str>) -> String {
    let rate = satz.map(|satz| satz.decimal().normalize().to_string());
    let parts = [Some(fall.as_str()), rate.as_deref(), gruppe];
    parts.into_iter().flatten().collect::<Vec<_>>().join("/")
}

/// Parses the output of [`feld`].
pub fn of_feld(feld: &str) -> Option<(Fall, Option<Percent>, Option<&str>)> {
    let (fall, rest) = feld.split_once('/').map_or((feld, None), |(fall, rest)| (fall, Some(rest)));
    let fall = Fall::parse(fall)?;
    let Some(named) = rest.filter(|_| fall.has_rate()) else { return Some((fall, None, rest)) };
    let (rate, gruppe) = named.split_once('/').map_or((named, None), |(rate, rest)| (rate, Some(rest)));
    Some(match Percent::parse(rate) {
        Ok(rate) => (fall, Some(rate.value), gruppe),
        Err(_) => (fall, None, Some(named)),
    })
}

fn group_of(tx: &Tx<'_>, name: &str) -> Result<Artikelgruppe> {
    let message = || format!("Die Artikelgruppe {name} gibt es nicht. Bitte Name oder Kürzel prüfen.");
    let missing = || Refusal::field(Code::FeldUngueltig, "artikelgruppe", message());
    Ok(artikel::gruppe_named(tx, name)?.ok_or_else(missing)?)
}

/// Proposed accounts: case, rate, and the account in SKR03 and in SKR04 (DATEV's charts of 2026).
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

/// The account for the sales of a Kleinunternehmer, which are all exempt (§ 19 UStG), in SKR03 and in SKR04.
const OF_KLEINUNTERNEHMER: (i64, i64) = (8_192, 4_184);

/// Returns the proposals of a chart: case, rate as a user types it, and account of four digits.
fn proposed(rahmen: Rahmen, is_kleinunternehmer: bool) -> impl Iterator<Item = (Fall, &'static str, i64)> {
    let of_chart = move |(fall, satz, skr03, skr04): &(Fall, &'static str, i64, i64)| {
        let (skr03, skr04) = match fall {
            Fall::ErloesFrei if is_kleinunternehmer => OF_KLEINUNTERNEHMER,
            _ => (*skr03, *skr04),
        };
        (*fall, *satz, if rahmen == Rahmen::Skr04 { skr04 } else { skr03 })
    };
    PROPOSED.iter().map(of_chart)
}

/// Returns a file of accounts that can be imported after the tax adviser has checked it; for a company that
/// is not a Kleinunternehmer.
pub fn proposal(rahmen: Rahmen) -> String {
    let mut file = String::from("\u{feff}fall;satz;artikelgruppe;konto;bu;automatik\r\n");
    for (fall, satz, konto) in proposed(rahmen, false) {
        file.push_str(&format!("{};{satz};;{konto};;\r\n", fall.as_str()));
    }
    file
}

/// Returns the proposals of the company's chart for which it has no account yet, with as many digits as its
/// accounts have; empty if it uses another chart.
pub fn missing_proposed(tx: &Tx<'_>) -> Result<Vec<KontoZeile>> {
    let plan = plan(tx)?;
    if plan.rahmen == Rahmen::Keiner {
        return Ok(Vec::new());
    }
    let factor = 10_i64.pow(plan.laenge.saturating_sub(4));
    let zeile = |(fall, satz, konto): (Fall, &str, i64)| {
        let satz = Percent::parse(&satz.replace(',', ".")).ok().map(|parsed| parsed.value);
        let is_known = plan.konten.iter().any(|known| known.key() == (fall, satz, None));
        let (fall, konto) = (Some(fall), Some(konto * factor));
        (!is_known).then(|| KontoZeile { fall, satz, konto, ..KontoZeile::default() })
    };
    let is_kleinunternehmer = tenants::load(tx)?.is_kleinunternehmer(tx.today());
    Ok(proposed(plan.rahmen, is_kleinunternehmer).filter_map(zeile).collect())
}
