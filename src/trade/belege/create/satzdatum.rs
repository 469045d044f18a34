//! Tax rates by day of delivery: an invoice is taxed at the rate of the day its goods were delivered (D7,
//! UStG § 27 (1)).

use std::collections::BTreeMap;

use super::header::Context;
use super::steuer;
use crate::master::kunden::Kunde;
use crate::master::tenants::Einstellungen;
use crate::master::{artikel, steuersaetze};
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::Result;
use crate::rules::document::BelegStatus;
use crate::rules::error::{HintCode, Hints};
use crate::rules::fixed::{Percent, Quantity};
use crate::trade::belege::eingabe::NewItem;
use crate::trade::belege::model::{Beleg, BelegPosition, Source};
use crate::trade::belege::sql::{self, Lieferung};

/// Whether the rate of a position was derived and depends on its delivery, because the document states no day
/// itself.
fn depends_on_delivery(beleg: &Beleg, position: &BelegPosition) -> bool {
    beleg.beleg_typ.ist_rechnung()
        && beleg.lieferdatum.or(beleg.leistung_bis).is_none()
        && !position.satz_gesendet
        && !position.mwst_satz.is_zero()
        && position.artikel_id.is_some()
        && !position.menge.is_negative()
}

/// Sets the derived rates of an invoice, whose items were just stored and paired, to those of its delivery
/// days; returns whether one changed.
pub fn follow_deliveries(
    tx: &WriteTx<'_>,
    beleg: &Beleg,
    kunde: &Kunde,
    einstellungen: &Einstellungen,
    lieferungen: &[Lieferung],
    positions: &mut [BelegPosition],
    hints: &mut Hints,
) -> Result<bool> {
    let mut depending: Vec<_> =
        positions.iter_mut().filter(|position| depends_on_delivery(beleg, position)).collect();
    if depending.is_empty() {
        return Ok(false);
    }
    let saetze = &steuersaetze::all(tx)?;
    let context = Context::of(beleg, kunde, einstellungen, saetze);
    let mut follows = false;
    for position in &mut depending {
        let mut own = Hints::default();
        if let Some(satz) = delivered_rate(tx, &context, lieferungen, position, &mut own)? {
            position.mwst_satz = satz;
            sql::set_rate(tx, position)?;
            follows = true;
        }
        hints.extend(own.below(&Source::Items.path(position.position)));
    }
    Ok(follows)
}

/// Returns the rate of a position's deliveries if it differs from the position's own. If they have different
/// rates, or only part of it was delivered, it keeps its own, with a hint.
fn delivered_rate(
    tx: &Tx<'_>,
    context: &Context<'_>,
    lieferungen: &[Lieferung],
    position: &BelegPosition,
    hints: &mut Hints,
) -> Result<Option<Percent>> {
    let Some(artikel_id) = position.artikel_id else { return Ok(None) };
    let artikel = artikel::must_have(tx, artikel_id)?;
    let (mut met, mut others, mut numbers) = (Quantity::ZERO, Vec::new(), Vec::new());
    let is_own = |lieferung: &&Lieferung| lieferung.position == position.position && lieferung.is_certain;
    for lieferung in lieferungen.iter().filter(is_own) {
        let satz = steuer::on_day(tx, context, &artikel, lieferung.datum)?;
        others.push(satz.filter(|satz| *satz != position.mwst_satz));
        numbers.push(lieferung.beleg_nummer.as_str());
        met = met.plus(lieferung.menge)?;
    }
    let Some(other) = others.iter().flatten().next() else { return Ok(None) };
    if others.iter().all(|satz| satz.as_ref() == Some(other)) && Some(met) == position.lager_menge {
        return Ok(Some(*other));
    }
    numbers.dedup();
    let message = format!(
        "Nicht alles ist an Tagen mit demselben Steuersatz geliefert ({}); es bleibt bei {} %. Bitte die \
         Position teilen oder mwst_satz angeben.",
        numbers.join(", "),
        position.mwst_satz
    );
    hints.add_field(HintCode::SteuersatzGeteilt, "mwst_satz", message);
    Ok(None)
}

/// Adds a hint for each position of an invoice that met a delivery by guess: neither its papers nor its rate follow that
/// (D38).
pub fn hint_guessed(lieferungen: &[Lieferung], hints: &mut Hints) {
    let mut guessed: BTreeMap<i64, &Lieferung> = BTreeMap::new();
    for lieferung in lieferungen.iter().filter(|lieferung| !lieferung.is_certain) {
        guessed.entry(lieferung.position).or_insert(lieferung);
    }
    for (position, lieferung) in guessed {
        let message = format!(
            "Vermutlich gehört die Position zu {} vom {}; auf dem Papier steht das nicht. Gehört sie dazu, bitte \
             bezug_position_id senden.",
            lieferung.beleg_nummer,
            lieferung.datum.german()
        );
        let path = Source::Items.path(position);
        hints.add_field(HintCode::LieferungVermutet, format!("{path}.bezug_position_id"), message);
    }
}

/// Adds a hint for positions that a change leaves as they are but that would get other rates now.
pub fn hint_kept_rates(
    tx: &Tx<'_>,
    beleg: &Beleg,
    kunde: &Kunde,
    einstellungen: &Einstellungen,
    positions: &[BelegPosition],
    hints: &mut Hints,
) -> Result<()> {
    let saetze = &steuersaetze::all(tx)?;
    let context = Context::of(beleg, kunde, einstellungen, saetze);
    let lieferungen = sql::certain_deliveries(tx, beleg.id)?;
    // A position that takes back an invoice keeps that invoice's rates.
    let takes_back =
        |position: &BelegPosition| position.menge.is_negative() && position.bezug_beleg_id.is_some();
    for position in positions.iter().filter(|position| !position.satz_gesendet && !takes_back(position)) {
        let artikel = position.artikel_id.map(|id| artikel::must_have(tx, id)).transpose()?;
        let mut unsaid = Hints::default();
        let tax = steuer::of_item(tx, &context, &NewItem::default(), artikel.as_deref(), None, &mut unsaid)?;
        let asked = BelegPosition { mwst_satz: tax.satz, ..position.clone() };
        let delivered = match depends_on_delivery(beleg, &asked) {
            true => delivered_rate(tx, &context, &lieferungen, &asked, &mut unsaid)?,
            false => None,
        };
        if delivered.unwrap_or(tax.satz) != position.mwst_satz {
            let message = "Die Steuersätze bleiben, obwohl nach der Änderung andere gälten. Zum \
                Neuberechnen bitte items mitsenden.";
            hints.add(HintCode::SaetzeUnveraendert, message);
            return Ok(());
        }
    }
    Ok(())
}

/// Adds hints for invoices that keep their rates although other rates applied on the day of a paired
/// delivery.
pub fn hint_invoices_keep_rates(
    tx: &Tx<'_>,
    delivery: &Beleg,
    kunde: &Kunde,
    einstellungen: &Einstellungen,
    hints: &mut Hints,
) -> Result<()> {
    if !delivery.beleg_typ.ist_lieferung() {
        return Ok(());
    }
    let saetze = &steuersaetze::all(tx)?;
    for (id, met) in sql::invoices_of(tx, delivery.id)? {
        let Some(invoice) = sql::find(tx, id)? else { continue };
        let context = Context::of(&invoice, kunde, einstellungen, saetze);
        let lieferungen = sql::certain_deliveries(tx, id)?;
        let mut doubts = Hints::default();
        let mut differs = false;
        for position in sql::positions(tx, id)?.iter().filter(|position| met.contains(&position.position)) {
            differs |= depends_on_delivery(&invoice, position)
                && delivered_rate(tx, &context, &lieferungen, position, &mut doubts)?.is_some();
        }
        if differs || doubts.iter().next().is_some() {
            let advice = match invoice.status {
                BelegStatus::Offen => "dort items senden",
                _ => "ihn stornieren und neu anlegen",
            };
            let message = format!(
                "{} behält seine Steuersätze, obwohl am Tag der Lieferung andere galten. Zum Neuberechnen \
                 bitte {advice}.",
                invoice.beleg_nummer
            );
            hints.add(HintCode::SaetzeUnveraendert, message);
        }
    }
    Ok(())
}
