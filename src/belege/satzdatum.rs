//! What an invoice bills is taxed at the rate of the day on which it was delivered (D7, UStG § 27 (1)).

use super::header::Context;
use super::model::{Beleg, BelegPosition, Source};
use super::sql::{self, Lieferung};
use super::steuer;
use super::summen::with_sums;
use crate::artikel;
use crate::db::tx::{Tx, WriteTx};
use crate::failure::Result;
use crate::kunden::Kunde;
use crate::rules::error::{HintCode, Hints};
use crate::rules::fixed::{Percent, Quantity};
use crate::steuersaetze;
use crate::tenants::Einstellungen;

/// Whether the rate of a position was derived, and depends on when it was delivered: the document says no day itself.
fn depends_on_delivery(beleg: &Beleg, position: &BelegPosition) -> bool {
    beleg.beleg_typ.ist_rechnung()
        && beleg.lieferdatum.or(beleg.leistung_bis).is_none()
        && !position.satz_gesendet
        && !position.mwst_satz.is_zero()
        && position.artikel_id.is_some()
        && !position.menge.is_negative()
}

/// Brings derived rates of an invoice, whose items were just written and paired, to the day of their deliveries. The
/// document with its sums.
pub fn follow_deliveries(
    tx: &WriteTx<'_>,
    beleg: Beleg,
    kunde: &Kunde,
    einstellungen: &Einstellungen,
    positions: &mut [BelegPosition],
    hints: &mut Hints,
) -> Result<Beleg> {
    let saetze = &steuersaetze::all(tx)?;
    let context =
        Context { source: Source::Items, beleg: &beleg, kunde, auto_price: true, einstellungen, saetze };
    let mut is_changed = false;
    for position in positions.iter_mut().filter(|position| depends_on_delivery(&beleg, position)) {
        let mut own = Hints::default();
        if let Some(satz) = delivered_rate(tx, &context, position, &mut own)? {
            position.mwst_satz = satz;
            sql::set_rate(tx, position)?;
            is_changed = true;
        }
        hints.extend(own.below(&Source::Items.path(position.position)));
    }
    if !is_changed {
        return Ok(beleg);
    }
    let beleg = with_sums(beleg, positions, false, hints)?;
    sql::update(tx, &beleg)?;
    Ok(beleg)
}

/// The rate of the deliveries of a position where it is another one than it has. Where they are of different rates, or
/// only some of it was delivered, it keeps its own, which is said.
fn delivered_rate(
    tx: &Tx<'_>,
    context: &Context<'_>,
    position: &BelegPosition,
    hints: &mut Hints,
) -> Result<Option<Percent>> {
    let Some(artikel_id) = position.artikel_id else { return Ok(None) };
    let artikel = artikel::must_have(tx, artikel_id)?;
    let (deliveries, met) = deliveries_of(tx, position)?;
    let mut others = Vec::new();
    for lieferung in &deliveries {
        let satz = steuer::on_day(tx, context, &artikel, lieferung.tag)?;
        others.extend(satz.filter(|satz| *satz != position.mwst_satz));
    }
    let Some(first) = others.first() else { return Ok(None) };
    let is_one = others.len() == deliveries.len() && others.iter().all(|satz| satz == first);
    if is_one && Some(met) == position.lager_menge {
        return Ok(Some(*first));
    }
    let numbers: Vec<_> = deliveries.iter().map(|lieferung| lieferung.beleg_nummer.as_str()).collect();
    let message = format!(
        "Nicht alles ist an Tagen mit demselben Steuersatz geliefert ({}); es bleibt bei {} %. Bitte die Position teilen \
         oder mwst_satz angeben.",
        numbers.join(", "),
        position.mwst_satz
    );
    hints.add_field(HintCode::SteuersatzGeteilt, "mwst_satz", message);
    Ok(None)
}

/// The deliveries that a position has met, and how much they are. One that it names counts even if nothing of it is open
/// any more.
fn deliveries_of(tx: &Tx<'_>, position: &BelegPosition) -> Result<(Vec<Lieferung>, Quantity)> {
    let mut deliveries = sql::deliveries_of(tx, position)?;
    let named = position.bezug_beleg_id.filter(|_| deliveries.is_empty());
    if let Some(named) = named.map(|named| sql::find(tx, named)).transpose()?.flatten()
        && named.beleg_typ.ist_lieferung()
    {
        let (tag, menge) = (named.liefertag(), position.lager_menge);
        let menge = menge.unwrap_or_default();
        deliveries.push(Lieferung { beleg_nummer: named.beleg_nummer, tag, menge });
    }
    let mut met = Quantity::ZERO;
    for lieferung in &deliveries {
        met = met.plus(lieferung.menge)?;
    }
    Ok((deliveries, met))
}

/// Says which invoices keep their rates although those of the day of a delivery, which they have met, are others.
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
    for id in sql::invoices_of(tx, delivery.id)? {
        let Some(invoice) = sql::find(tx, id)? else { continue };
        let context = Context {
            source: Source::Items,
            beleg: &invoice,
            kunde,
            auto_price: true,
            einstellungen,
            saetze,
        };
        for position in
            sql::positions(tx, id)?.iter().filter(|position| depends_on_delivery(&invoice, position))
        {
            let mut own = Hints::default();
            let others =
                delivered_rate(tx, &context, position, &mut own)?.is_some() || own.iter().next().is_some();
            if others {
                let message = format!(
                    "{} behält seine Steuersätze, obwohl am Tag der Lieferung andere galten. Zum Neuberechnen bitte dort \
                     items senden.",
                    invoice.beleg_nummer
                );
                hints.add(HintCode::SaetzeUnveraendert, message);
            }
        }
    }
    Ok(())
}
