//! The portions of one partner and article, as the store for the pairing of a request.

use rusqlite::named_params;
use uuid::Uuid;

use super::batch::{self, batch_locked, batch_missing};
use super::booking::{Booking, place};
use super::change::{Gruppe, roles};
use super::search::{self, Part};
use super::sql;
use crate::goods::chargen::{self, Numbered};
use crate::master::artikel;
use crate::platform::db::record::record;
use crate::platform::failure::{Failure, Result};
use crate::rules::day::Day;
use crate::rules::document::Seite;
use crate::rules::error::Hints;
use crate::rules::fixed::Quantity;
use crate::rules::pairing::{
    Bezug, Named, Portion, PortionKind, PositionKey, Reach, Role, Search, SentPosition, Stage, Store, Target,
};
use crate::rules::text::case_key;
use crate::trade::belege::model::BelegPosition;
use crate::trade::belege::sql::{directions, place_of};

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
        bezug_position: Option<Uuid> = "p.bezug_position_id",
        datum: Day = "b.beleg_datum",
        /// Whether no counterpart is expected any more.
        is_closed: bool = "b.ohne_gegenbeleg",
    }
}

impl Portions<'_, '_> {
    /// Returns an entered position of the document as input for the pairing.
    pub fn entry_of(&mut self, role: Role, position: &BelegPosition) -> Result<SentPosition> {
        let said = Said {
            charge_id: position.charge_id,
            charge_gesendet: position.charge_gesendet,
            fremde_charge_nr: position.fremde_charge_nr.clone(),
            mhd: position.mhd.map(|day| day.0),
            bezug: position.bezug_beleg_id,
            bezug_position: position.bezug_position_id,
            datum: self.booking.change.beleg.datum(),
            is_closed: self.booking.change.beleg.ohne_gegenbeleg,
        };
        let states_batch = position.charge_id.is_some() || position.states_batch();
        let before = self.booking.change.withdrawn.map_or(&[][..], |(_, positions)| positions);
        let had: Vec<_> = before.iter().filter_map(|position| position.charge_id).collect();
        Ok(SentPosition { states_batch, ..self.entry_that(role, place(position), &said, &had)? })
    }

    /// Returns a position as input for the pairing; one entered earlier states its batch through its goods.
    fn entry_that(
        &mut self,
        role: Role,
        place: PositionKey,
        said: &Said,
        had: &[Uuid],
    ) -> Result<SentPosition> {
        let bezug = self.bezug(said)?;
        let names_order = bezug.is_none() && said.bezug.is_some();
        let reach = if role.takes_back() || bezug.is_some() { Reach::Any } else { self.reach(said) };
        let named = Named::default();
        let entry = SentPosition { role, place, named, states_batch: false, bezug, names_order, reach };
        Ok(SentPosition { named: self.named(&entry, said, had)?, ..entry })
    }

    /// Returns the batch that a position names; `had` are the batches its document brought in before.
    fn named(&mut self, entry: &SentPosition, said: &Said, had: &[Uuid]) -> Result<Named> {
        let (tx, Gruppe { artikel, kunde, seite }) = (self.booking.tx, self.gruppe);
        let number = |fremde: &str| Some(Uuid::new_v5(&kunde, case_key(fremde).as_bytes()));
        match (said.charge_id.filter(|_| said.charge_gesendet), &said.fremde_charge_nr) {
            (Some(id), _) if seite == Seite::Einkauf => {
                let own = chargen::find(tx, id)?.filter(|charge| charge.partner_id == Some(kunde));
                let fremde = own.and_then(|charge| charge.fremde_charge_nr);
                Ok(Named {
                    charge: Some(id),
                    number: fremde.and_then(|fremde| number(&fremde)),
                    former: None,
                })
            }
            (Some(id), _) => Ok(Named { charge: Some(id), ..Named::default() }),
            (None, Some(fremde)) => {
                let numbered = chargen::numbered(tx, artikel, kunde, fremde, said.mhd)?;
                let charge = self.numbered(entry, said, had, &numbered)?;
                let former = numbered.first().map(|former| former.charge).filter(|_| charge.is_none());
                Ok(Named { charge, number: number(fremde), former })
            }
            (None, None) => Ok(Named::default()),
        }
    }

    /// Returns the batch of a supplier's number (D8): one that the document brought in before, or one that
    /// has the number. If goods are taken back, or an invoice matches a delivery in it, also one that had the
    /// number until a correction.
    fn numbered(
        &mut self,
        entry: &SentPosition,
        said: &Said,
        had: &[Uuid],
        numbered: &[Numbered],
    ) -> Result<Option<Uuid>> {
        let before = numbered.iter().filter(|known| had.contains(&known.charge));
        let before = before.min_by_key(|known| said.charge_id != Some(known.charge));
        if let Some(known) = before.or(numbered.first().filter(|known| !known.is_former)) {
            return Ok(Some(known.charge));
        }
        for Numbered { charge, .. } in numbered {
            let named = Named { charge: Some(*charge), ..Named::default() };
            let search = Search {
                charge: Some(Some(*charge)),
                bezug: entry.bezug.map(|bezug| bezug.to(Role::Delivery)),
                reach: entry.reach,
                ..Search::oldest(PortionKind::OpenDelivery, named)
            };
            let meets = entry.role == Role::Invoice && self.first(&search)?.is_some();
            if meets || entry.role.takes_back() {
                return Ok(Some(*charge));
            }
        }
        Ok(None)
    }

    /// Finds the first portion in reach, among those that name a batch or those that do not. Continues where
    /// the last search stopped, so that a request passes over unreachable portions only once.
    fn walk(&mut self, search: &Search, is_named: bool) -> Result<Option<Portion>> {
        let key = (self.gruppe, *search, is_named);
        let search_stops = self.booking.search_stops.get(&key).copied();
        if search_stops == Some(None) {
            return Ok(None);
        }
        let part = Part { is_named: Some(is_named), after: search_stops.flatten() };
        let found = search::first(self.booking.tx, self.gruppe, search, part)?;
        self.booking.search_stops.insert(key, found.as_ref().map(|found| found.leading().1.beleg));
        Ok(found)
    }

    fn reach(&self, said: &Said) -> Reach {
        let months = match self.booking.change.einstellungen.paarung_monate.0 {
            // A thousand years cover any age.
            0 => 12_000,
            months => months,
        };
        match said {
            Said { is_closed: true, .. } => Reach::Nothing,
            // The end of a short month counts as the last day of a long one, so that reach is symmetric in
            // both directions.
            Said { datum, .. } => Reach::Dated {
                from: datum.plus_months(-months),
                to: datum.plus_months(months).max(datum.tomorrow().plus_months(months).yesterday()),
            },
        }
    }

    /// Remembers that goods of these positions were met or set free: what is open of them may be found elsewhere.
    fn unsettle(&mut self, portion: &Portion) {
        let forward = portion.positions().filter(|(role, _)| !role.takes_back());
        self.booking.unsettled.extend(forward.map(|(role, place)| (self.gruppe, role, place)));
    }

    /// Returns what a position names among goods, with the roles it has; nothing if that is gone, cancelled or another
    /// partner's, or if it is an order.
    fn bezug(&self, said: &Said) -> Result<Option<Bezug>> {
        let (tx, Some(beleg)) = (self.booking.tx, said.bezug) else { return Ok(None) };
        let key = (self.gruppe.kunde, beleg);
        let known = self.booking.bezuege.borrow().get(&key).copied();
        let bezug = match known {
            Some(known) => known,
            None => {
                let bezug = directions(tx, beleg, self.gruppe.kunde)?.map(|(typ, forward, back)| {
                    let [onward, backward] = roles(typ);
                    Bezug {
                        beleg,
                        position: None,
                        roles: [forward.then_some(onward), back.then_some(backward)],
                    }
                });
                self.booking.bezuege.borrow_mut().insert(key, bezug);
                bezug
            }
        };
        let (Some(bezug), Some(id)) = (bezug, said.bezug_position) else { return Ok(bezug) };
        let place = place_of(tx, id)?.filter(|(of, _)| *of == beleg);
        Ok(place.map(|(_, position)| Bezug { position: Some(position), ..bezug }))
    }
}

impl Store for Portions<'_, '_> {
    type Error = Failure;

    fn first(&mut self, search: &Search) -> Result<Option<Portion>> {
        if self.booking.unmet.meets_nothing {
            return Ok(None);
        }
        if search.exactly.is_some() || search.stage.is_some() {
            self.booking.settle_open()?;
        }
        if search.bezug.is_some() || !matches!(search.reach, Reach::Dated { .. }) {
            return search::first(self.booking.tx, self.gruppe, search, Part::default());
        }
        // Portions that name no batch are the same for every batch searched.
        let unnamed = self.walk(&Search { named: Named::default(), ..*search }, false)?;
        let found = [unnamed, self.walk(search, true)?].into_iter().flatten();
        Ok(found.min_by_key(|found| (found.leading().1, found.nr)))
    }

    fn proposed(
        &mut self,
        entry: &SentPosition,
        target: &Target,
        charge: Option<Option<Uuid>>,
    ) -> Result<Option<Portion>> {
        if self.booking.unmet.meets_nothing {
            return Ok(None);
        }
        match entry.role.takes_back() {
            false => search::proposed(self.booking.tx, self.gruppe, entry.named, target),
            true => search::taken_back(self.booking.tx, self.gruppe, entry, (target, charge)),
        }
    }

    fn of_same_order(&mut self, entry: &SentPosition) -> Result<Vec<Target>> {
        search::of_same_order(self.booking.tx, self.gruppe, entry)
    }

    fn waits(&mut self, entry: &SentPosition) -> Result<Quantity> {
        search::waits(self.booking.tx, entry)
    }

    fn waiting(&mut self, entry: &SentPosition) -> Result<Option<Portion>> {
        search::waiting(self.booking.tx, self.gruppe, entry)
    }

    fn may_match(&mut self, own: &Portion, found: &Portion) -> Result<bool> {
        self.booking.bound.may_match(self.booking.tx, own, found)
    }

    fn take(&mut self, portion: &Portion, menge: Quantity) -> Result<()> {
        if menge == portion.menge {
            self.booking.bound.went(portion);
        }
        sql::take(self.booking.tx, self.gruppe, portion, menge)?;
        self.unsettle(portion);
        // What is left of its position may be found now, though it is older than where a search has stopped.
        if portion.whole != menge {
            let finds_it = |search: &Search| search.stage == Some(Stage::Begun) || search.exactly.is_some();
            self.booking.search_stops.retain(|(_, search, _), _| !finds_it(search));
        }
        let taken = Portion { menge, ..portion.clone() };
        self.booking.count(self.gruppe.seite, self.gruppe.artikel, &taken, true)
    }

    fn add(&mut self, portion: Portion) -> Result<()> {
        self.booking.count(self.gruppe.seite, self.gruppe.artikel, &portion, false)?;
        let Some(portion) = self.booking.unmet.keep(self.gruppe, portion) else { return Ok(()) };
        self.booking.bound.came(&portion);
        self.unsettle(&portion);
        self.booking.search_stops.retain(|(_, search, _), _| search.kind != portion.kind());
        sql::add(self.booking.tx, self.gruppe, &portion)
    }

    fn last_nr(&mut self, role: Role, place: PositionKey) -> Result<Option<i64>> {
        sql::last_nr(self.booking.tx, self.gruppe, role, place)
    }

    fn entry(&mut self, role: Role, place: PositionKey, batch: Option<Uuid>) -> Result<SentPosition> {
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
        let had: Vec<_> = said.charge_id.into_iter().chain(batch).collect();
        self.entry_that(role, place, &said, &had)
    }

    fn are_purchases(&self) -> bool {
        self.gruppe.seite == Seite::Einkauf
    }

    /// Returns the batches for the goods of a position; if it must name one but does not, records an error
    /// and returns none.
    fn batches_for(
        &mut self,
        entry: &SentPosition,
        menge: Quantity,
    ) -> Result<Vec<(Option<Uuid>, Quantity)>> {
        let (tx, Gruppe { artikel, kunde, .. }) = (self.booking.tx, self.gruppe);
        if let Some(charge) = entry.named.charge {
            return Ok(vec![(Some(charge), menge)]);
        }
        let position = self.booking.own(entry.place).ok_or_else(|| {
            Failure::Broken(format!("goods were to be placed for the old position {:?}", entry.place))
        })?;
        // A PUT repeated the inherited batch: keep it, unless the position has the supplier's number of
        // another.
        if let (Some(inherited), None) = (position.charge_id, entry.named.number) {
            return Ok(vec![(Some(inherited), menge)]);
        }
        let artikel = artikel::must_have(tx, artikel)?;
        if position.states_batch() {
            let mut hints = Hints::default();
            let charge = batch::new_charge(tx, kunde, &artikel, position, entry.named.former, &mut hints)?;
            self.booking.hints.extend(hints.below(&self.booking.change.source.path(entry.place.position)));
            return Ok(vec![(Some(charge), menge)]);
        }
        if !artikel.chargenpflichtig {
            return Ok(vec![(None, menge)]);
        }
        if self.gruppe.seite == Seite::Verkauf && !entry.role.takes_back() {
            let chosen = self.booking.choose(entry, artikel.id, menge)?;
            if !chosen.is_empty() {
                return Ok(chosen);
            }
        }
        let is_locked = self.booking.fefo.has_locked_only(artikel.id);
        let refusal =
            if is_locked { batch_locked() } else { batch_missing(self.booking.change.beleg.beleg_typ) };
        let refusal = refusal.below(&self.booking.change.source.path(entry.place.position));
        self.booking.errors.keep::<()>(Err(refusal));
        Ok(Vec::new())
    }
}
