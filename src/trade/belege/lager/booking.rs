//! Working state of a request's effect on the stock.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use uuid::Uuid;

use super::change::{AffectedPositions, Gruppe, Movements, PairingFact, Rebooking, roles};
use super::fefo::Fefo;
use super::open::Unmet;
use super::pairing_bound::PairingBound;
use super::settle;
use crate::master::artikel;
use crate::platform::db::tx::WriteTx;
use crate::platform::failure::Result;
use crate::rules::document::Seite;
use crate::rules::error::{HintCode, Hints, Refusals};
use crate::rules::fixed::Quantity;
use crate::rules::pairing::{Bezug, Portion, PositionKey, Role, Search, SentPosition};
use crate::trade::belege::model::{Beleg, BelegPosition};
use crate::trade::belege::sql::number_and_type;

pub struct Booking<'r> {
    pub tx: &'r WriteTx<'r>,
    pub change: Rebooking<'r>,
    pub fefo: Fefo<'r>,
    pub bound: PairingBound,
    pub movements: Movements,
    /// Movements that the document took back when it changed to another partner; empty otherwise.
    pub withdrawn: Movements,
    /// Positions whose portions changed.
    pub touched: BTreeSet<(Role, PositionKey)>,
    /// Open portions of the document, not stored yet.
    pub unmet: Unmet,
    /// Positions of which goods were met or set free, whose open goods are to be put where they belong.
    pub unsettled: HashSet<(Gruppe, Role, PositionKey)>,
    /// Deliveries, each with its article, of which the request closed what is left.
    pub closed: BTreeMap<(Uuid, PositionKey), Quantity>,
    pub followed: AffectedPositions,
    /// Documents of a partner that positions reference, each looked up once.
    pub bezuege: RefCell<BTreeMap<(Uuid, Uuid), Option<Bezug>>>,
    /// Where each date search stopped (with and without a batch); anything older is out of reach.
    pub search_stops: HashMap<(Gruppe, Search, bool), Option<Uuid>>,
    /// Whether a position of the document has been paired.
    pub has_met: bool,
    pub errors: Refusals,
    pub hints: &'r mut Hints,
}

impl<'r> Booking<'r> {
    /// Puts open goods where they belong by what has been met by now.
    pub fn settle_open(&mut self) -> Result<()> {
        for (gruppe, role, place) in std::mem::take(&mut self.unsettled) {
            let key = (gruppe.artikel, place);
            match settle::settle_open(self.tx, gruppe, role, place)? {
                Some((rest, false)) => drop(self.closed.insert(key, rest)),
                Some((_, true)) => {}
                None => drop(self.closed.remove(&key)),
            }
        }
        Ok(())
    }

    /// Says of which deliveries the rest was closed by this request (D38).
    pub fn hint_closed(&mut self) -> Result<()> {
        for ((artikel, place), rest) in std::mem::take(&mut self.closed) {
            let (nummer, _) = number_and_type(self.tx, place.beleg)?;
            let einheit = artikel::must_have(self.tx, artikel)?.einheit.clone().unwrap_or_default();
            let message = format!(
                "Von {nummer}, Position {}, sind {rest} {einheit} übrig, höchstens 1 %; dieser Rest ist geschlossen.",
                place.position
            );
            self.hints.add(HintCode::RestGeschlossen, message);
        }
        Ok(())
    }

    /// Returns the entered position with this key, if it is of this document.
    pub fn own(&self, place: PositionKey) -> Option<&'r BelegPosition> {
        // Positions are numbered from 1.
        let at = usize::try_from(place.position - 1).ok()?;
        self.change.positions.get(at).filter(|_| place.beleg == self.change.beleg.id)
    }

    /// Adds the movements of a portion that was added or, if `went`, removed.
    pub fn count(&mut self, seite: Seite, artikel: Uuid, portion: &Portion, went: bool) -> Result<()> {
        for (role, place) in portion.movers() {
            let is_in = (seite == Seite::Einkauf) ^ role.takes_back() ^ went;
            let menge = if is_in { portion.menge } else { -portion.menge };
            let moved = self.movements.entry((place.beleg, artikel, portion.charge)).or_default();
            *moved = moved.plus(menge)?;
        }
        self.touched.extend(portion.positions());
        self.count_facts(artikel, portion, went)
    }

    /// Adds the facts about other documents' positions that share a portion that was added or, if `went`,
    /// removed.
    fn count_facts(&mut self, artikel: Uuid, portion: &Portion, went: bool) -> Result<()> {
        for (role, place) in portion.positions() {
            let others = portion.positions().filter(|(other, _)| *other != role);
            let met: Vec<_> = others.map(|(_, other)| PairingFact::Met(other.beleg)).collect();
            if place.beleg == self.change.beleg.id {
                self.has_met |= !met.is_empty();
                continue;
            }
            let followed = self.followed.entry(place.beleg).or_default();
            let facts = followed.entry((role, place.position, artikel)).or_default();
            for fact in met.into_iter().chain([PairingFact::Batch(portion.charge)]) {
                let more = facts.entry(fact).or_default();
                *more = if went { more.minus(portion.menge)? } else { more.plus(portion.menge)? };
            }
        }
        Ok(())
    }

    /// Splits a quantity over automatically chosen batches; empty if the company does not want that or no
    /// batch can be chosen.
    pub fn choose(
        &mut self,
        entry: &SentPosition,
        artikel: Uuid,
        menge: Quantity,
    ) -> Result<Vec<(Option<Uuid>, Quantity)>> {
        let chosen = self.fefo.choose(artikel, menge)?;
        if !chosen.is_empty() {
            self.bound.check_parts(chosen.len())?;
            let message = "Die Charge wurde nach Mindesthaltbarkeit gewählt.";
            self.hint(entry, HintCode::ChargeAutomatisch, "charge_id", message);
        }
        Ok(chosen)
    }

    pub fn hint_moved_back(&mut self, entry: &SentPosition) {
        let message = "Die Ware der Rechnung hatte kein Lieferschein bewegt; die Rücknahme wurde gebucht.";
        self.hint(entry, HintCode::RuecknahmeGebucht, "menge", message);
    }

    /// Adds a hint about a field of an entered position.
    pub fn hint(&mut self, entry: &SentPosition, code: HintCode, feld: &str, message: &str) {
        let mut hints = Hints::default();
        hints.add_field(code, feld, message);
        self.hints.extend(hints.below(&self.change.source.path(entry.place.position)));
    }
}

/// Iterates over the positions that take part in the stock, each with its article and quantity.
pub fn moving(positions: &[BelegPosition]) -> impl Iterator<Item = (&BelegPosition, (Uuid, Quantity))> {
    let quantity = |position: &BelegPosition| position.artikel_id.zip(position.lager_menge);
    let moving = positions.iter().filter(|position| position.lager_buchen);
    moving.filter_map(move |position| Some((position, quantity(position)?)))
}

pub fn role(beleg: &Beleg, menge: Quantity) -> Role {
    roles(beleg.beleg_typ)[usize::from(menge.is_negative())]
}

pub fn place(position: &BelegPosition) -> PositionKey {
    PositionKey { beleg: position.beleg_id, position: position.position }
}
