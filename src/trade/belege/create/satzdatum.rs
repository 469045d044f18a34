//! Tax rates by day of delivery: an invoice is taxed at the rate of the day its goods were delivered (D7,
//! UStG § 27 (1)).

use std::collections::BTreeMap;

use super::header::Context;
use super::steuer::{self, Steuer};
use crate::master::kunden::Kunde;
use crate::master::tenants::Einstellungen;
use crate::master::{artikel, steuersaetze};
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::Result;
use crate::rules::day::Day;
use crate::rules::document::BelegStatus;
use crate::rules::error::{HintCode, Hints};
use crate::rules::fixed::Quantity;
use crate::trade::belege::eingabe::NewItem;
use crate::trade::belege::model::{Beleg, BelegPosition, Source};
use crate::trade::belege::sql::{self, Lieferung};

/// Whether the rate date of a position is that of its delivery, because the document states no day itself.
fn depends_on_delivery(beleg: &Beleg, position: &BelegPosition) -> bool {
    beleg.beleg_typ.ist_rechnung()
        && beleg.lieferdatum.or(beleg.leistung_bis).is_none()
        && position.artikel_id.is_some()
        && !position.menge.is_negative()
}

/// Sets the rate dates of an invoice, whose items were just stored and paired, to its delivery days, and its derived rates to theirs;
/// returns whether a rate changed.
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
        if let Some((datum, steuer)) = delivered_tax(tx, &context, lieferungen, position, &mut own)? {
            position.satz_datum = datum;
            if !position.satz_gesendet {
                follows |= steuer.satz != position.mwst_satz;
                (position.mwst_satz, position.steuer_kategorie) = (steuer.satz, steuer.kategorie);
            }
            sql::set_rate(tx, position)?;
        }
        hints.extend(own.below(&Source::Items.path(position.position)));
    }
    Ok(follows)
}

/// Returns the last day of a position's deliveries and the tax of that day. If they have different taxes, or only part of it was
/// delivered, it keeps its own day, with a hint where that is another tax.
fn delivered_tax(
    tx: &Tx<'_>,
    context: &Context<'_>,
    lieferungen: &[Lieferung],
    position: &BelegPosition,
    hints: &mut Hints,
) -> Result<Option<(Day, Steuer)>> {
    let Some(artikel_id) = position.artikel_id else { return Ok(None) };
    let artikel = artikel::must_have(tx, artikel_id)?;
    let (mut met, mut taxes, mut numbers) = (Quantity::ZERO, Vec::new(), Vec::new());
    let is_own = |lieferung: &&Lieferung| lieferung.position == position.position && lieferung.is_certain;
    for lieferung in lieferungen.iter().filter(is_own) {
        let (item, mut unsaid) = (NewItem::default(), Hints::default());
        let of_day = (lieferung.datum, &mut unsaid);
        taxes.push((lieferung.datum, steuer::on_day(tx, context, &item, Some(&artikel), None, of_day)?));
        numbers.push(lieferung.beleg_nummer.as_str());
        met = met.plus(lieferung.menge)?;
    }
    let Some((last, steuer)) = taxes.iter().copied().max_by_key(|(datum, _)| *datum) else { return Ok(None) };
    if taxes.iter().all(|(_, one)| *one == steuer) && Some(met) == position.lager_menge {
        return Ok(Some((last, steuer)));
    }
    if position.satz_gesendet || taxes.iter().all(|(_, one)| one.satz == position.mwst_satz) {
        return Ok(None);
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

/// Adds a hint for positions that a change leaves as they are but that would get other rates now, or whose rate is in
/// doubt for a partner abroad.
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
            true => delivered_tax(tx, &context, &lieferungen, &asked, &mut unsaid)?,
            false => None,
        };
        if delivered.map_or(tax, |(_, tax)| tax).satz != position.mwst_satz {
            let message = "Die Steuersätze bleiben, obwohl nach der Änderung andere gälten. Zum \
                Neuberechnen bitte items mitsenden.";
            hints.add(HintCode::SaetzeUnveraendert, message);
            return Ok(());
        }
        if let Some(doubt) = unsaid.iter().find(|hint| hint.code == HintCode::SteuerAuslandPruefen) {
            hints.add(doubt.code, doubt.message.as_str());
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
            if !position.satz_gesendet && depends_on_delivery(&invoice, position) {
                let delivered = delivered_tax(tx, &context, &lieferungen, position, &mut doubts)?;
                differs |= delivered.is_some_and(|(_, tax)| tax.satz != position.mwst_satz);
            }
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
