//! The portions of one partner and article, as the pairing of a request sees them.

use rusqlite::named_params;
use uuid::Uuid;

use super::batch::{self, batch_locked, batch_missing};
use super::booking::{Booking, place};
use super::change::{Gruppe, roles};
use super::sql;
use crate::artikel;
use crate::belege::model::BelegPosition;
use crate::belege::sql::directions;
use crate::chargen;
use crate::db::record::record;
use crate::db::tx::Tx;
use crate::failure::{Failure, Result};
use crate::rules::day::Day;
use crate::rules::document::Seite;
use crate::rules::error::{HintCode, Refusal};
use crate::rules::fixed::Quantity;
use crate::rules::pairing::{Bezug, Named, Portion, PositionKey, Reach, Role, Search, SentPosition, Store};
use crate::rules::text::case_key;
use crate::tenants::Monate;

pub struct Portions<'p, 'r> {
    pub booking: &'p mut Booking<'r>,
    pub gruppe: Gruppe,
}

record! {
    pub struct Said from beleg_position as p {
        charge_id: Option<Uuid>,
        charge_gesendet: bool,
        fremde_charge_nr: Option<String>,
        mhd: Option<Day>,
        bezug: Option<Uuid> = "p.bezug_beleg_id",
        datum: Day = "b.beleg_datum",
        /// Nobody expects a counterpart any more.
        is_closed: bool = "b.ohne_gegenbeleg",
    }
}

impl Said {
    /// The batch that it named; `had`: those that it brought in before. What a number was corrected from means its batch
    /// to these, and to what meets or takes back a delivery (D8).
    pub fn named(&self, tx: &Tx<'_>, gruppe: Gruppe, role: Role, had: &[Uuid]) -> Result<Named> {
        let number = |fremde: &str| Uuid::new_v5(&gruppe.kunde, case_key(fremde).as_bytes());
        match (self.charge_id.filter(|_| self.charge_gesendet), &self.fremde_charge_nr) {
            (Some(id), _) if gruppe.seite == Seite::Einkauf => {
                let own = chargen::find(tx, id)?.filter(|charge| charge.partner_id == Some(gruppe.kunde));
                let fremde = own.and_then(|charge| charge.fremde_charge_nr);
                Ok(Named { charge: Some(id), number: fremde.as_deref().map(number) })
            }
            (Some(id), _) => Ok(Named { charge: Some(id), number: None }),
            (None, Some(fremde)) => {
                let (artikel, kunde) = (gruppe.artikel, gruppe.kunde);
                let charge = match chargen::find_fremde(tx, artikel, kunde, fremde, self.mhd)? {
                    Some(charge) => Some(charge),
                    None => chargen::find_former(tx, artikel, kunde, fremde, self.mhd)?
                        .filter(|former| role != Role::Delivery || had.contains(former)),
                };
                Ok(Named { charge, number: Some(number(fremde)) })
            }
            (None, None) => Ok(Named::default()),
        }
    }
}

impl Portions<'_, '_> {
    /// What a position of the document says that is entered.
    pub fn entry_of(&self, role: Role, position: &BelegPosition) -> Result<SentPosition> {
        let said = Said {
            charge_id: position.charge_id,
            charge_gesendet: position.charge_gesendet,
            fremde_charge_nr: position.fremde_charge_nr.clone(),
            mhd: position.mhd.map(|day| day.0),
            bezug: position.bezug_beleg_id,
            datum: self.booking.change.beleg.datum(),
            is_closed: self.booking.change.beleg.ohne_gegenbeleg,
        };
        let tells_of_batch = position.charge_id.is_some() || position.tells_of_batch();
        let before = self.booking.change.withdrawn.map_or(&[][..], |(_, positions)| positions);
        let had: Vec<_> = before.iter().filter_map(|position| position.charge_id).collect();
        Ok(SentPosition { tells_of_batch, ..self.entry_that(role, place(position), &said, &had)? })
    }

    /// What was said of a position; one that entered before tells of its batch by the goods that it has.
    fn entry_that(&self, role: Role, place: PositionKey, said: &Said, had: &[Uuid]) -> Result<SentPosition> {
        let named = said.named(self.booking.tx, self.gruppe, role, had)?;
        let bezug = said.bezug.map(|beleg| self.bezug(beleg)).transpose()?;
        let reach = if role.takes_back() { Reach::Any } else { self.reach(said) };
        Ok(SentPosition { role, place, named, tells_of_batch: false, bezug, reach })
    }

    fn reach(&self, said: &Said) -> Reach {
        let months = match self.booking.change.einstellungen.paarung_monate {
            // A thousand years are any age.
            Monate(0) => 12_000,
            Monate(months) => months,
        };
        match said {
            Said { bezug: Some(_), .. } => Reach::Any,
            Said { is_closed: true, .. } => Reach::Nothing,
            Said { datum, .. } => {
                Reach::Dated { from: datum.plus_months(-months), to: datum.plus_months(months) }
            }
        }
    }

    /// What the positions of a document that is named do with goods.
    fn bezug(&self, beleg: Uuid) -> Result<Bezug> {
        if let Some(known) = self.booking.bezuege.borrow().get(&beleg) {
            return Ok(*known);
        }
        let gone = || Failure::Broken(format!("the document {beleg} that a position names is gone"));
        let (typ, forward, back) = directions(self.booking.tx, beleg)?.ok_or_else(gone)?;
        let [onward, backward] = roles(typ);
        let bezug = Bezug { beleg, roles: [forward.then_some(onward), back.then_some(backward)] };
        self.booking.bezuege.borrow_mut().insert(beleg, bezug);
        Ok(bezug)
    }
}

impl Portions<'_, '_> {
    /// Says that a number which a batch had before its correction makes a batch of its own.
    fn hint_former(&mut self, entry: &SentPosition, position: &BelegPosition) -> Result<()> {
        let Some(fremde) = &position.fremde_charge_nr else { return Ok(()) };
        let (artikel, kunde, mhd) = (self.gruppe.artikel, self.gruppe.kunde, position.mhd.map(|day| day.0));
        let tx = self.booking.tx;
        if let Some(id) = chargen::find_former(tx, artikel, kunde, fremde, mhd)?
            && let Some(former) = chargen::find(tx, id)?
        {
            let message = format!(
                "Unter {fremde} stand bis zu ihrer Berichtigung die Charge {}; diese Lieferung bekommt eine eigene.",
                former.charge_nr
            );
            self.booking.hint(entry, HintCode::ChargeNrFrueher, "fremde_charge_nr", &message);
        }
        Ok(())
    }
}

impl Store for Portions<'_, '_> {
    type Error = Failure;

    fn first(&mut self, search: &Search) -> Result<Option<Portion>> {
        if self.booking.unmet.meets_nothing {
            return Ok(None);
        }
        sql::first(self.booking.tx, self.gruppe, search)
    }

    fn take(&mut self, portion: &Portion, menge: Quantity) -> Result<()> {
        sql::take(self.booking.tx, self.gruppe, portion, menge)?;
        let taken = Portion { menge, ..portion.clone() };
        self.booking.count(self.gruppe.seite, self.gruppe.artikel, &taken, true)
    }

    fn add(&mut self, portion: Portion) -> Result<()> {
        self.booking.count(self.gruppe.seite, self.gruppe.artikel, &portion, false)?;
        match self.booking.unmet.keep(self.gruppe, portion) {
            Some(portion) => sql::add(self.booking.tx, self.gruppe, &portion),
            None => Ok(()),
        }
    }

    fn last_nr(&mut self, role: Role, place: PositionKey) -> Result<Option<i64>> {
        sql::last_nr(self.booking.tx, self.gruppe, role, place)
    }

    fn entry(&mut self, role: Role, place: PositionKey) -> Result<SentPosition> {
        if let Some(own) = self.booking.own(place) {
            return self.entry_of(role, own);
        }
        let statement = format!(
            "select {} from beleg_position p join beleg b on b.tenant_id = p.tenant_id and b.id = p.beleg_id
             where p.tenant_id = :tenant and p.beleg_id = :beleg and p.position = :position",
            Said::COLUMNS
        );
        let params = named_params! {":beleg": place.beleg, ":position": place.position};
        let said = self.booking.tx.one(&statement, params, Said::read)?;
        self.entry_that(role, place, &said, said.charge_id.as_slice())
    }

    fn are_purchases(&self) -> bool {
        self.gruppe.seite == Seite::Einkauf
    }

    /// A position that names nothing where it must is noted as a mistake, and goes nowhere.
    fn batches_for(
        &mut self,
        entry: &SentPosition,
        menge: Quantity,
    ) -> Result<Vec<(Option<Uuid>, Quantity)>> {
        let tx = self.booking.tx;
        if let Some(charge) = entry.named.charge {
            return Ok(vec![(Some(charge), menge)]);
        }
        let position = self.booking.own(entry.place).ok_or_else(|| {
            Failure::Broken(format!("goods were to be placed for the old position {:?}", entry.place))
        })?;
        // A PUT repeated the batch that the position had: it stays there, unless it says the supplier's number of another.
        if let (Some(inherited), None) = (position.charge_id, entry.named.number) {
            return Ok(vec![(Some(inherited), menge)]);
        }
        let artikel = artikel::must_have(tx, self.gruppe.artikel)?;
        if position.tells_of_batch() {
            self.hint_former(entry, position)?;
            return Ok(vec![(Some(batch::charge_for(tx, self.gruppe.kunde, &artikel, position)?), menge)]);
        }
        if !artikel.chargenpflichtig {
            return Ok(vec![(None, menge)]);
        }
        if self.gruppe.seite == Seite::Verkauf && !entry.role.takes_back() {
            let chosen = self.booking.fefo.choose(artikel.id, menge)?;
            if !chosen.is_empty() {
                self.booking.hint_chosen(entry);
                return Ok(chosen);
            }
        }
        let refusal: Box<Refusal> = match self.booking.fefo.has_locked_only(artikel.id)? {
            true => batch_locked(),
            false => batch_missing(self.booking.change.beleg.beleg_typ),
        };
        let refusal = refusal.below(&self.booking.change.source.path(entry.place.position));
        self.booking.errors.keep::<()>(Err(refusal));
        Ok(Vec::new())
    }
}
