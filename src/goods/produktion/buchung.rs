//! Booking the stock of an order: completion takes the inputs from the stock and adds the outputs in batches
//! of their own; cancellation reverses that (D13).

use std::collections::BTreeMap;

use uuid::Uuid;

use super::model::{PaInput, PaOutput, Produktionsauftrag};
use super::sql;
use crate::goods::chargen::{self, Bewegung, Buchung, Charge, Gebucht, Inventur, Ursache};
use crate::master::artikel::{self, Artikel};
use crate::master::{biozertifikate, tenants};
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::{Failure, Result, keep_refused};
use crate::rules::day::Day;
use crate::rules::error::{Checked, Code, HintCode, Hints, Refusal, Refusals, refuse_if, required};
use crate::rules::fixed::Quantity;
use crate::rules::recipe::{weight, yield_is_doubtful};
use crate::rules::stammdaten::EingangQuelle;
use crate::rules::unit::Conversion;

/// Books a completed order and returns the movements for the confirmation.
pub fn complete(tx: &WriteTx<'_>, auftrag: &Produktionsauftrag, hints: &mut Hints) -> Result<Vec<Bewegung>> {
    let (inputs, outputs) = (sql::inputs(tx, auftrag.id)?, sql::outputs(tx, auftrag.id)?);
    let mut errors = Refusals::default();
    for (index, line) in inputs.iter().enumerate() {
        keep_refused(&mut errors, check_input(tx, line), &format!("inputs[{index}]"))?;
    }
    for (index, line) in outputs.iter().enumerate() {
        let checked = weighed(line.ist_menge).map(drop).map_err(Failure::from);
        keep_refused(&mut errors, checked, &format!("outputs[{index}]"))?;
    }
    errors.into_result()?;
    hint_outputs(tx, auftrag, &outputs, hints)?;
    hint_keeping(tx, auftrag, &inputs, &outputs, hints)?;
    hint_yield(tx, &inputs, &outputs, hints)?;
    let mut booking = Booking::of(tx, auftrag);
    for line in &inputs {
        booking.input(line)?;
    }
    for line in &outputs {
        booking.output(line)?;
    }
    let einstellungen = tenants::load(tx)?;
    for charge in booking.chargen.values() {
        chargen::check_not_negative(charge, &einstellungen, hints)?;
    }
    booking.finish(hints)
}

/// Reverses what a completed order booked and returns the movements. The outputs leave their batches, which
/// remain without stock (D13).
pub fn reverse(tx: &WriteTx<'_>, auftrag: &Produktionsauftrag, hints: &mut Hints) -> Result<Vec<Bewegung>> {
    let mut booking = Booking::of(tx, auftrag);
    let moved = chargen::moved_by_order(tx, auftrag.id)?;
    for (artikel, charge, menge) in &moved {
        booking.book(&*artikel::must_have(tx, *artikel)?, *charge, -*menge, !menge.is_negative())?;
    }
    let made = moved.iter().filter(|(.., menge)| !menge.is_negative()).filter_map(|(_, charge, _)| *charge);
    for charge in made.filter_map(|charge| booking.chargen.get(&charge)) {
        let message = format_args!(
            "Charge {}: Bestand {}. Aus ihr wurde schon entnommen; bitte erst diese Belege oder Aufträge stornieren.",
            charge.charge_nr, charge.bestand
        );
        refuse_if(charge.bestand.is_negative(), Code::ChargeBereitsVerwendet, "status", message)?;
    }
    booking.finish(hints)
}

/// Adds hints that a line without output creates no batch, and that a certificate has expired.
fn hint_outputs(
    tx: &Tx<'_>,
    auftrag: &Produktionsauftrag,
    outputs: &[PaOutput],
    hints: &mut Hints,
) -> Result<()> {
    let day = auftrag.tag(tx);
    for (index, line) in outputs.iter().enumerate() {
        let mut own = Hints::default();
        if line.ist_menge.is_some_and(Quantity::is_zero) {
            if let Some(feld) = line.of_batch() {
                let message = "Es kam nichts heraus; es wurde keine Charge angelegt.";
                own.add_field(HintCode::FeldIgnoriert, feld, message);
            }
        } else if let Some(id) = line.biozertifikat_id {
            biozertifikate::must_have(tx, id)?.hint_expired(day, &mut own);
        }
        hints.extend(own.below(&format!("outputs[{index}]")));
    }
    Ok(())
}

/// Adds a hint for each input whose batch has expired, and for each output that is to keep longer than the first of them
/// (D13).
fn hint_keeping(
    tx: &Tx<'_>,
    auftrag: &Produktionsauftrag,
    inputs: &[PaInput],
    outputs: &[PaOutput],
    hints: &mut Hints,
) -> Result<()> {
    let goes = |menge: Option<Quantity>| menge.is_some_and(|menge| !menge.is_zero());
    let mut first: Option<Charge> = None;
    for (index, line) in inputs.iter().enumerate().filter(|(_, line)| goes(line.ist_menge)) {
        let Some(charge) = line.charge_id.map(|id| chargen::find(tx, id)).transpose()?.flatten() else {
            continue;
        };
        let mut own = Hints::default();
        chargen::hint_expired(&charge, auftrag.tag(tx), &mut own);
        hints.extend(own.below(&format!("inputs[{index}]")));
        let is_earlier = first.as_ref().is_none_or(|first| charge.mhd < first.mhd);
        first = if charge.mhd.is_some() && is_earlier { Some(charge) } else { first };
    }
    let Some((first, earliest)) = first.and_then(|first| Some((first.charge_nr, first.mhd?.0))) else {
        return Ok(());
    };
    for (index, line) in outputs.iter().enumerate().filter(|(_, line)| goes(line.ist_menge)) {
        let Some(mhd) = line.mhd.filter(|mhd| mhd.0 > earliest) else { continue };
        let message = format!(
            "Haltbar bis {}, aber die eingesetzte Charge {first} nur bis {}. Bitte das Mindesthaltbarkeitsdatum prüfen.",
            mhd.0.german(),
            earliest.german()
        );
        hints.add_field(HintCode::MhdSpaeterAlsEinsatz, format!("outputs[{index}].mhd"), message);
    }
    Ok(())
}

/// Adds a hint if the output is implausible for the input, provided both are in units of mass (D13).
fn hint_yield(tx: &Tx<'_>, inputs: &[PaInput], outputs: &[PaOutput], hints: &mut Hints) -> Result<()> {
    let inputs = inputs.iter().map(|line| (line.artikel_id, line.ist_menge, line.einheit.as_deref()));
    let outputs = outputs.iter().map(|line| (line.artikel_id, line.ist_menge, line.einheit.as_deref()));
    let (Some(inputs), Some(outputs)) = (weight_of(tx, inputs)?, weight_of(tx, outputs)?) else {
        return Ok(());
    };
    if yield_is_doubtful(inputs, outputs) {
        let message = format!(
            "Hinein gingen {inputs} kg, heraus kamen {outputs} kg. Bitte die Mengen prüfen; sind sie falsch, den \
             Auftrag stornieren und neu anlegen."
        );
        hints.add_field(HintCode::AusbeutePruefen, "outputs", message);
    }
    Ok(())
}

/// Sums the weight of lines, in kg; `None` if there are none or one is in another unit.
fn weight_of<'l>(
    tx: &Tx<'_>,
    lines: impl Iterator<Item = (Uuid, Option<Quantity>, Option<&'l str>)>,
) -> Result<Option<Quantity>> {
    let mut sum = None;
    for (artikel, menge, einheit) in lines {
        let artikel = artikel::must_have(tx, artikel)?;
        let kg = weight(menge.unwrap_or_default(), einheit.or(artikel.einheit.as_deref()))?;
        let Some(kg) = kg else { return Ok(None) };
        sum = Some(sum.unwrap_or(Quantity::ZERO).plus(kg)?);
    }
    Ok(sum)
}

/// Requires the actual quantity on every line, and the batch for batch-tracked articles (D13).
fn check_input(tx: &Tx<'_>, line: &PaInput) -> Result<()> {
    let menge = weighed(line.ist_menge)?;
    let message = "Der Artikel wird in Chargen geführt. Bitte die charge_id angeben; \
        GET /api/v1/chargen/verfuegbar nennt die Chargen mit Bestand.";
    let is_tracked = || artikel::must_have(tx, line.artikel_id).map(|artikel| artikel.chargenpflichtig);
    let lacks_batch = line.charge_id.is_none() && !menge.is_zero() && is_tracked()?;
    refuse_if(lacks_batch, Code::ChargeFehlt, "charge_id", message)?;
    let named = line.charge_id.filter(|_| !menge.is_zero());
    let Some(charge) = named.map(|id| chargen::find(tx, id)).transpose()?.flatten() else { return Ok(()) };
    Ok(refuse_if(charge.gesperrt, Code::ChargeGesperrt, "charge_id", chargen::locked(&charge))?)
}

fn weighed(ist_menge: Option<Quantity>) -> Checked<Quantity> {
    required(ist_menge, "ist_menge")
}

impl Produktionsauftrag {
    /// The day of the production: today, where none was said.
    fn tag(&self, tx: &Tx<'_>) -> Day {
        self.produktions_datum.map_or_else(|| tx.today(), |day| day.0)
    }
}

struct Booking<'b> {
    tx: &'b WriteTx<'b>,
    auftrag: &'b Produktionsauftrag,
    gebucht: Vec<Gebucht>,
    /// The moved batches, as they are afterwards.
    chargen: BTreeMap<Uuid, Charge>,
}

impl<'b> Booking<'b> {
    fn of(tx: &'b WriteTx<'b>, auftrag: &'b Produktionsauftrag) -> Booking<'b> {
        Booking { tx, auftrag, gebucht: Vec::new(), chargen: BTreeMap::new() }
    }

    fn input(&mut self, line: &PaInput) -> Result<()> {
        let artikel = artikel::must_have(self.tx, line.artikel_id)?;
        let menge = in_article_unit(weighed(line.ist_menge)?, line.einheit.as_deref(), &artikel)?;
        self.book(&artikel, line.charge_id, -menge, false)
    }

    /// Books an output; creates a batch for a tracked article, or if batch data was sent (D13).
    fn output(&mut self, line: &PaOutput) -> Result<()> {
        let artikel = artikel::must_have(self.tx, line.artikel_id)?;
        let menge = in_article_unit(weighed(line.ist_menge)?, line.einheit.as_deref(), &artikel)?;
        if menge.is_zero() || !artikel.chargenpflichtig && line.of_batch().is_none() {
            return self.book(&artikel, None, menge, true);
        }
        if let Some(charge_nr) = &line.charge_nr {
            // An earlier output of this order may have taken the number.
            chargen::check_charge_nr(self.tx, artikel.id, charge_nr)?;
        }
        let new = Charge {
            charge_nr: line.charge_nr.clone().unwrap_or_default(),
            artikel_id: artikel.id,
            mhd: line.mhd,
            einheit: artikel.einheit.clone(),
            biozertifikat_id: line.biozertifikat_id,
            eingang_quelle: EingangQuelle::Produktion,
            niederlassung_id: self.auftrag.niederlassung_id,
            lagerhalle_id: self.auftrag.lagerhalle_id,
            ..Charge::default()
        };
        let charge_id = Some(chargen::create(self.tx, new)?.id);
        sql::update_output(self.tx, &PaOutput { charge_id, ..line.clone() })?;
        self.book(&artikel, charge_id, menge, true)
    }

    /// `ist_eingang`: an output of the order, or its reversal.
    fn book(
        &mut self,
        artikel: &Artikel,
        charge_id: Option<Uuid>,
        menge: Quantity,
        ist_eingang: bool,
    ) -> Result<()> {
        if menge.is_zero() {
            return Ok(());
        }
        let ursache = Ursache::Produktion(self.auftrag.id);
        let buchung = Buchung { artikel_id: artikel.id, charge_id, ursache, menge, ist_eingang };
        let booked = chargen::book(self.tx, &[buchung])?;
        for gebucht in booked {
            self.chargen.extend(gebucht.charge.clone().map(|charge| (charge.id, charge)));
            self.gebucht.push(gebucht);
        }
        Ok(())
    }

    /// Returns the movements; adds a hint for each stocktaking that they contradict because the order belongs
    /// before it (D8).
    fn finish(self, hints: &mut Hints) -> Result<Vec<Bewegung>> {
        let Produktionsauftrag { produktions_datum, erledigt_am, .. } = self.auftrag;
        let precedes = |_: &Gebucht, inventur: &Inventur| {
            let was_done = erledigt_am.is_some_and(|done| done <= inventur.created_at);
            Ok(was_done || produktions_datum.is_some_and(|day| day.0 < inventur.tag()))
        };
        chargen::hint_outdated(self.tx, &self.gebucht, precedes, hints)?;
        Ok(self.gebucht.into_iter().map(|gebucht| gebucht.bewegung).collect())
    }
}

fn in_article_unit(menge: Quantity, einheit: Option<&str>, artikel: &Artikel) -> Result<Quantity> {
    let (Some(einheit), Some(own)) = (einheit, artikel.einheit.as_deref()) else { return Ok(menge) };
    let conversion = Conversion::between(einheit, own).ok_or_else(|| {
        let message = format!("Die Einheit {einheit} lässt sich nicht in {own} umrechnen.");
        Refusal::new(Code::EinheitNichtUmrechenbar, message)
    })?;
    Ok(conversion.quantity(menge)?)
}
