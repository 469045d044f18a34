//! The partner of a document: how it is named (D1), and whether it may have one (D3).

use crate::master::kunden::Kunde;
use crate::master::laender;
use crate::platform::failure::Result;
use crate::rules::day::Day;
use crate::rules::document::Lagerrolle;
use crate::rules::error::{Checked, Code, HintCode, Hints, Refusal};
use crate::rules::fixed::sums;
use crate::rules::plausible::country_of_eu_ust_id;
use crate::rules::stammdaten::KundeStatus;
use crate::rules::tax::{Gebiet, Steuerpartner};
use crate::trade::belege::model::{Beleg, BelegPosition};

/// Adds a hint if the partner is locked or inactive; [`check_goods`] refuses what he may not have (D3).
pub fn hint_status(kunde: &Kunde, hints: &mut Hints) {
    match kunde.status {
        KundeStatus::Gesperrt => {
            hints.add_field(HintCode::KundeGesperrt, "kunden_id", format!("{} ist gesperrt.", kunde.name));
        }
        KundeStatus::Inaktiv => {
            hints.add(HintCode::KundeInaktiv, format!("{} ist inaktiv.", kunde.name));
        }
        KundeStatus::Aktiv => {}
    }
}

/// Refuses a document that moves or orders more goods of a locked partner than before, except invoices that
/// the partner sends (D3).
pub fn check_goods(beleg: &Beleg, kunde: &Kunde, has_more: bool) -> Checked<()> {
    let is_his_invoice = beleg.beleg_typ.ist_fremdrechnung() && !beleg.is_written_for_supplier();
    match kunde.status {
        KundeStatus::Gesperrt if has_more && !is_his_invoice => Err(locked(kunde)),
        _ => Ok(()),
    }
}

/// Whether a quote or an order contains more of an article than before; all of it is more for another partner. What has no
/// article, as a line of text, orders nothing.
pub fn orders_more(
    beleg: &Beleg,
    before: Option<(&Beleg, &[BelegPosition])>,
    after: &[BelegPosition],
) -> Result<bool> {
    if beleg.beleg_typ.lagerrolle() != Lagerrolle::Keine {
        return Ok(false);
    }
    let before = before.filter(|(old, _)| old.kunde_id == beleg.kunde_id);
    let goods = |one: &BelegPosition| Some((one.artikel_id?, one.lager_menge.unwrap_or(one.menge)));
    let before = sums(before.into_iter().flat_map(|(_, positions)| positions).filter_map(goods))?;
    let mut after = sums(after.iter().filter_map(goods))?.into_iter();
    Ok(after.any(|(artikel, menge)| menge > before.get(&artikel).copied().unwrap_or_default()))
}

fn locked(kunde: &Kunde) -> Box<Refusal> {
    let message = format!(
        "{} ist gesperrt: keine neuen Aufträge und keine Ware. Was schon geliefert ist, lässt sich \
         berechnen. Bitte den Status des Kunden prüfen.",
        kunde.name
    );
    Refusal::field(Code::KundeGesperrt, "kunden_id", message)
}

/// Replaces the terms of payment of a document by the partner's.
pub fn with_terms(beleg: Beleg, kunde: &Kunde) -> Beleg {
    Beleg {
        zahlungsziel_tage: kunde.zahlungsziel_tage,
        zahlungsbedingung: None,
        skonto_tage: kunde.skonto_tage,
        skonto_prozent: kunde.skonto_prozent,
        ..beleg
    }
}

/// Returns what of a partner decides his tax for goods of a day.
pub fn steuerpartner(kunde: &Kunde, day: Day) -> Steuerpartner {
    let country = kunde.ust_id.as_deref().and_then(country_of_eu_ust_id);
    let gebiet = match laender::gebiet(&kunde.staat) {
        // Northern Ireland counts as EU for goods.
        Gebiet::Drittland if country == Some("XI") => Gebiet::Eu,
        gebiet => gebiet,
    };
    let fremde_ust_id = country.is_some_and(|country| country != "DE");
    Steuerpartner { steuerart: kunde.besteuerungen.on(day), gebiet, fremde_ust_id }
}
