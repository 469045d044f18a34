//! Which batches the rest of a position comes from or goes to, when nothing covers it.

use std::collections::HashMap;

use uuid::Uuid;

use super::batch::{complete_charge, create_charge};
use super::rows::{Gruppe, Zeile, booked_by, genannt, take_booked};
use crate::artikel::Artikel;
use crate::belege::items::batch_missing;
use crate::chargen;
use crate::db::error::Result;
use crate::db::tx::WriteTx;
use crate::rules::error::{HintCode, Hints, PositionErrors, Refusal};
use crate::rules::fixed::Quantity;
use crate::rules::stock::{Anteil, Ergebnis, Genannt, Posten, take, without};

/// Says which batches the rest of a position comes from or goes to.
#[allow(missing_docs)]
pub struct Placer<'p> {
    pub tx: &'p WriteTx<'p>,
    pub gruppe: Gruppe,
    pub artikel: &'p Artikel,
    pub zeilen: &'p [Zeile],
    pub posten: &'p [Posten],
    pub own: Uuid,
    pub own_is_new: bool,
    pub booked: HashMap<Uuid, Vec<Anteil>>,
    pub vorher: &'p HashMap<Uuid, Ergebnis>,
    pub fefo: bool,
    /// What is left of each batch for those that choose by themselves.
    pub fefo_stock: Option<Vec<(Uuid, Quantity)>>,
    pub errors: &'p mut PositionErrors,
    pub hints: &'p mut Hints,
}

impl Placer<'_> {
    /// The parts of `rest`; a position that names nothing where it must is noted as an error.
    pub fn place(&mut self, at: usize, mut rest: Quantity, covered: &[Anteil]) -> Result<Vec<Anteil>> {
        let zeile = &self.zeilen[at];
        let genannt = match &self.posten[at].genannt {
            // An earlier item of the same document may have made the batch meanwhile.
            Genannt::Neu(_) => genannt(self.tx, self.gruppe, zeile)?,
            known => known.clone(),
        };
        if let Genannt::Charge(charge) = genannt {
            self.fill_in(charge, zeile)?;
            return Ok(vec![Anteil { charge: Some(charge), menge: rest }]);
        }
        let mut parts = Vec::new();
        let is_new = self.own_is_new && zeile.beleg_id == self.own;
        if let (Some(vorher), false) = (self.vorher.get(&zeile.id), is_new) {
            // What it had booked stays where it was; what a counterpart had booked is followed.
            let own = vorher.eigen.iter().map(|part| Anteil { menge: part.menge.abs(), ..*part });
            let mut open: Vec<_> = own.chain(without(&vorher.geerbt, covered)).collect();
            take(&mut open, &mut rest, &mut parts);
        } else if !is_new {
            parts = take_booked(&mut self.booked, zeile, rest);
            rest = parts.iter().try_fold(rest, |rest, part| rest.minus(part.menge))?;
        }
        if !rest.is_zero() {
            self.place_anew(zeile, is_new, rest, &mut parts)?;
        }
        Ok(parts)
    }

    fn place_anew(
        &mut self,
        zeile: &Zeile,
        is_new: bool,
        rest: Quantity,
        parts: &mut Vec<Anteil>,
    ) -> Result<()> {
        // Of a new position, or one that has a new partner, the batch it has is another's.
        if let Some(charge) = zeile.charge_id.filter(|_| !(is_new && zeile.has_batch_information())) {
            parts.push(Anteil { charge: Some(charge), menge: rest });
        } else if zeile.has_batch_information() {
            let charge = self.create(zeile)?;
            parts.push(Anteil { charge: Some(charge), menge: rest });
        } else if !self.artikel.chargenpflichtig {
            parts.push(Anteil { charge: None, menge: rest });
        } else if self.fefo && !self.gruppe.einkauf && !zeile.menge.is_negative() {
            self.choose(zeile, rest, parts)?;
        } else {
            self.refuse(zeile);
        }
        Ok(())
    }

    /// Takes what expires first; the last batch gives what is missing (D8, fefo).
    fn choose(&mut self, zeile: &Zeile, mut rest: Quantity, parts: &mut Vec<Anteil>) -> Result<()> {
        if self.fefo_stock.is_none() {
            self.fefo_stock = Some(self.stock_without_own()?);
        }
        let Some(stock) = &mut self.fefo_stock else { return Ok(()) };
        let Some((last, _)) = stock.iter().rev().find(|(_, menge)| *menge > Quantity::ZERO).or(stock.last())
        else {
            self.refuse(zeile);
            return Ok(());
        };
        let last = *last;
        for (charge, left) in stock.iter_mut().filter(|(_, left)| *left > Quantity::ZERO) {
            let menge = rest.min(*left);
            *left = left.minus(menge)?;
            rest = rest.minus(menge)?;
            if !menge.is_zero() {
                parts.push(Anteil { charge: Some(*charge), menge });
            }
        }
        if !rest.is_zero() {
            match parts.iter_mut().find(|part| part.charge == Some(last)) {
                Some(part) => part.menge = part.menge.plus(rest)?,
                None => parts.push(Anteil { charge: Some(last), menge: rest }),
            }
        }
        let feld = format!("items[{}].charge_id", zeile.position - 1);
        let message = "Die Charge wurde nach Mindesthaltbarkeit gewählt.";
        self.hints.add_field(HintCode::ChargeAutomatisch, feld, message);
        Ok(())
    }

    /// Stock by batch, as if the document had booked nothing yet.
    fn stock_without_own(&self) -> Result<Vec<(Uuid, Quantity)>> {
        let mut stock = chargen::with_stock(self.tx, self.artikel.id)?;
        for ((_, artikel, charge), menge) in booked_by(self.tx, self.own)? {
            let found = stock.iter_mut().find(|(id, _)| artikel == self.artikel.id && Some(*id) == charge);
            if let Some((_, left)) = found {
                *left = left.minus(menge)?;
            }
        }
        // What items of the same document name is not there for those that choose.
        let own = self.posten.iter().filter(|posten| posten.beleg == self.own);
        for posten in own {
            let named = stock.iter_mut().find(|(id, _)| posten.genannt == Genannt::Charge(*id));
            if let Some((_, left)) = named {
                *left = left.minus(posten.menge)?;
            }
        }
        Ok(stock)
    }

    fn create(&self, zeile: &Zeile) -> Result<Uuid> {
        create_charge(self.tx, self.gruppe.kunde, self.artikel, &zeile.batch_information())
    }

    fn fill_in(&self, charge: Uuid, zeile: &Zeile) -> Result<()> {
        if !self.gruppe.einkauf || zeile.beleg_id != self.own {
            return Ok(());
        }
        complete_charge(self.tx, charge, &zeile.batch_information())
    }

    fn refuse(&mut self, zeile: &Zeile) {
        let refusal = batch_missing(zeile.typ);
        let refusal = if zeile.beleg_id == self.own {
            refusal.below(&format!("items[{}]", zeile.position - 1))
        } else {
            Refusal::new(refusal.code, format!("Beleg {}: {}", zeile.beleg_nummer, refusal.message))
        };
        self.errors.keep::<()>(Err(refusal));
    }
}
