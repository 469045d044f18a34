//! An order is done: what went in leaves the stock, what came out enters it in batches of its own
//! (D13).

use std::collections::BTreeMap;

use uuid::Uuid;

use super::model::{PaInput, PaOutput, Produktionsauftrag};
use super::sql;
use crate::artikel::{self, Artikel};
use crate::chargen::{self, Bewegung, Buchung, Charge, Gebucht, Ursache};
use crate::db::tx::{Tx, WriteTx};
use crate::failure::{Failure, Result, keep_refused};
use crate::rules::error::{Checked, Code, HintCode, Hints, PositionErrors, Refusal, refuse_if, required};
use crate::rules::fixed::Quantity;
use crate::rules::stammdaten::EingangQuelle;
use crate::rules::unit::Conversion;
use crate::tenants;

/// Books an order that is done; the movements, for the confirmation.
pub fn complete(tx: &WriteTx<'_>, auftrag: &Produktionsauftrag, hints: &mut Hints) -> Result<Vec<Bewegung>> {
    let (inputs, outputs) = (sql::inputs(tx, auftrag.id)?, sql::outputs(tx, auftrag.id)?);
    let mut errors = PositionErrors::default();
    for (index, line) in inputs.iter().enumerate() {
        keep_refused(&mut errors, check_input(tx, line), &format!("inputs[{index}]"))?;
    }
    for (index, line) in outputs.iter().enumerate() {
        let checked = weighed(line.ist_menge).map(drop).map_err(Failure::from);
        keep_refused(&mut errors, checked, &format!("outputs[{index}]"))?;
    }
    errors.into_result()?;
    for (index, line) in outputs.iter().enumerate() {
        let named = [("charge_nr", line.charge_nr.is_some()), ("mhd", line.mhd.is_some())];
        let feld = named.into_iter().find(|(_, is_named)| *is_named).map(|(feld, _)| feld);
        if let (Some(feld), true) = (feld, line.ist_menge.is_some_and(Quantity::is_zero)) {
            let message = "Es kam nichts heraus; es wurde keine Charge angelegt.";
            hints.add_field(HintCode::FeldIgnoriert, format!("outputs[{index}].{feld}"), message);
        }
    }
    let mut booking = Booking { tx, auftrag, bewegungen: Vec::new(), chargen: BTreeMap::new() };
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
    Ok(booking.bewegungen)
}

/// All lines need what went in, and those of batch-tracked articles the batch (D13).
fn check_input(tx: &Tx<'_>, line: &PaInput) -> Result<()> {
    let menge = weighed(line.ist_menge)?;
    let message = "Der Artikel wird in Chargen geführt. Bitte die charge_id angeben; GET /api/v1/chargen/verfuegbar nennt die Chargen mit Bestand.";
    let is_tracked = || artikel::must_have(tx, line.artikel_id).map(|artikel| artikel.chargenpflichtig);
    let lacks_batch = line.charge_id.is_none() && !menge.is_zero() && is_tracked()?;
    refuse_if(lacks_batch, Code::ChargeFehlt, "charge_id", message)?;
    let named = line.charge_id.filter(|_| !menge.is_zero());
    let locked =
        named.map(|id| chargen::find(tx, id)).transpose()?.flatten().filter(|charge| charge.gesperrt);
    match locked {
        Some(charge) => {
            Err(Refusal::field(Code::ChargeGesperrt, "charge_id", chargen::locked(&charge)).into())
        }
        None => Ok(()),
    }
}

fn weighed(ist_menge: Option<Quantity>) -> Checked<Quantity> {
    required(ist_menge, "ist_menge")
}

struct Booking<'b> {
    tx: &'b WriteTx<'b>,
    auftrag: &'b Produktionsauftrag,
    bewegungen: Vec<Bewegung>,
    /// The batches that were moved, as they are afterwards.
    chargen: BTreeMap<Uuid, Charge>,
}

impl Booking<'_> {
    fn input(&mut self, line: &PaInput) -> Result<()> {
        let artikel = artikel::must_have(self.tx, line.artikel_id)?;
        let menge = in_article_unit(weighed(line.ist_menge)?, line.einheit.as_deref(), &artikel)?;
        self.book(&artikel, line.charge_id, -menge)
    }

    /// A batch is made for a tracked article, or where a number or a date was sent (D13).
    fn output(&mut self, line: &PaOutput) -> Result<()> {
        let artikel = artikel::must_have(self.tx, line.artikel_id)?;
        let menge = in_article_unit(weighed(line.ist_menge)?, line.einheit.as_deref(), &artikel)?;
        let makes_batch = artikel.chargenpflichtig || line.charge_nr.is_some() || line.mhd.is_some();
        if menge.is_zero() || !makes_batch {
            return self.book(&artikel, None, menge);
        }
        if let Some(charge_nr) = &line.charge_nr {
            // An output before this one may have taken it.
            chargen::check_charge_nr(self.tx, artikel.id, charge_nr)?;
        }
        let new = Charge {
            charge_nr: line.charge_nr.clone().unwrap_or_default(),
            artikel_id: artikel.id,
            mhd: line.mhd,
            einheit: artikel.einheit.clone(),
            eingang_menge: Some(menge),
            eingang_quelle: EingangQuelle::Produktion,
            niederlassung_id: self.auftrag.niederlassung_id,
            lagerhalle_id: self.auftrag.lagerhalle_id,
            ..Charge::default()
        };
        let charge_id = Some(chargen::create(self.tx, new)?.id);
        sql::update_output(self.tx, &PaOutput { charge_id, ..line.clone() })?;
        self.book(&artikel, charge_id, menge)
    }

    fn book(&mut self, artikel: &Artikel, charge_id: Option<Uuid>, menge: Quantity) -> Result<()> {
        if menge.is_zero() {
            return Ok(());
        }
        let ursache = Ursache::Produktion(self.auftrag.id);
        let buchung = Buchung { artikel_id: artikel.id, charge_id, ursache, menge, ist_eingang: false };
        let booked = chargen::book(self.tx, &[buchung])?;
        for Gebucht { bewegung, charge, .. } in booked {
            self.bewegungen.push(bewegung);
            self.chargen.extend(charge.map(|charge| (charge.id, charge)));
        }
        Ok(())
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
