//! Stock movements of documents (D8).
//!
//! A request withdraws a document's old positions and enters its new ones. Both change portions of goods
//! ([`crate::rules::pairing`]). The movements to book are those of the added portions less those of the
//! removed ones.

mod batch;
mod booking;
mod change;
mod contradiction;
mod fefo;
mod follow;
mod gesperrt;
mod open;
mod pairing_bound;
mod portions;
mod receipt;
mod record;
mod search;
mod settle;
mod settled_price;
mod sql;

pub use batch::{batch_missing, charge_for, complete_charge};
pub use change::Rebooking;
pub use receipt::price_batches;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use uuid::Uuid;

use super::model::{Beleg, BelegPosition};
use crate::goods::chargen::{self, Bewegung, Buchung, Charge, Gebucht, Inventur, Ursache};
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::Result;
use crate::rules::document::Seite;
use crate::rules::error::{Code, Hints, Refusal, Refusals};
use crate::rules::fixed::{Quantity, sums};
use crate::rules::pairing::{Pairing, Stage, created};
use booking::{Booking, moving, place, role};
use change::{AffectedPositions, Gruppe, Movements};
use fefo::Fefo;
use pairing_bound::PairingBound;
use portions::Portions;

/// The effect of a request on the stock, for the confirmation.
#[derive(Default)]
pub struct Rebooked {
    pub bewegungen: Vec<Bewegung>,
    /// Whether a position of the document may have been paired.
    pub has_met: bool,
    /// Whether more goods of an article go to the customer, or come from the supplier, than before.
    pub moves_more_goods: bool,
}

/// Withdraws the old positions of a document, enters the new ones and books the resulting movements.
pub fn rebook(tx: &WriteTx<'_>, change: Rebooking<'_>, hints: &mut Hints) -> Result<Rebooked> {
    let mut booking = Booking {
        tx,
        change,
        fefo: Fefo::new(tx, change),
        bound: PairingBound::new(change.beleg.id),
        movements: Movements::new(),
        touched: BTreeSet::new(),
        unmet: open::Unmet::default(),
        unsettled: HashSet::new(),
        closed: BTreeMap::new(),
        withdrawn: Movements::new(),
        followed: AffectedPositions::new(),
        bezuege: RefCell::default(),
        search_stops: HashMap::new(),
        has_met: false,
        errors: Refusals::default(),
        hints,
    };
    if let Some((old, positions)) = change.withdrawn {
        booking.withdraw(old, positions)?;
        if old.kunde_id != change.beleg.kunde_id {
            booking.withdrawn = booking.movements.clone();
        }
    }
    booking.check_named_batches()?;
    booking.bound.begin_to_enter();
    booking.fefo.begin(&booking.movements)?;
    booking.enter()?;
    let rebooked = booking.book()?;
    super::fluss::settle_rests(tx)?;
    Ok(rebooked)
}

/// Returns the quantity of each article of a document for which a counterpart may come, in the article's unit: what is
/// open and not closed (D38).
pub fn open_of(tx: &Tx<'_>, beleg: &Beleg) -> Result<BTreeMap<Uuid, Quantity>> {
    let positions = super::sql::positions(tx, beleg.id)?;
    let articles: BTreeSet<Uuid> = moving(&positions).map(|(_, (artikel, _))| artikel).collect();
    let [role, _] = change::roles(beleg.beleg_typ);
    let mut open = Vec::new();
    for artikel in articles {
        let portions = sql::open_portions_of(tx, beleg, artikel, role)?;
        let portions = portions.into_iter().filter(|portion| portion.stage != Stage::Closed);
        open.extend(portions.map(|portion| (artikel, portion.menge)));
    }
    Ok(sums(open)?)
}

/// Returns the unpaired quantity of an article of a document, in the article's unit.
pub fn open_of_article(tx: &Tx<'_>, beleg: &Beleg, artikel: Uuid) -> Result<Quantity> {
    let [role, _] = change::roles(beleg.beleg_typ);
    let mut open = Quantity::ZERO;
    for portion in sql::open_portions_of(tx, beleg, artikel, role)? {
        open = open.plus(portion.menge)?;
    }
    Ok(open)
}

/// Returns the batches that hold the goods of a position.
pub fn batches_of(tx: &Tx<'_>, beleg: &Beleg, position: &BelegPosition) -> Result<Vec<Uuid>> {
    if let Some(charge) = position.charge_id {
        return Ok(vec![charge]);
    }
    let Some((_, (artikel, menge))) = moving(std::slice::from_ref(position)).next() else {
        return Ok(Vec::new());
    };
    let gruppe = Gruppe { kunde: beleg.kunde_id, artikel, seite: beleg.beleg_typ.seite() };
    let found: BTreeSet<_> =
        sql::batches_of(tx, gruppe, role(beleg, menge), place(position))?.into_iter().flatten().collect();
    Ok(found.into_iter().collect())
}

impl Booking<'_> {
    /// Removes all positions of a document; their counterparts are paired with others.
    fn withdraw(&mut self, old: &Beleg, positions: &[BelegPosition]) -> Result<()> {
        let articles: BTreeSet<Uuid> = moving(positions).map(|(_, (artikel, _))| artikel).collect();
        for (artikel, portions) in sql::portions_of(self.tx, old, articles)? {
            let gruppe = Gruppe { kunde: old.kunde_id, artikel, seite: old.beleg_typ.seite() };
            let mut pairing = Pairing::new(Portions { booking: self, gruppe });
            pairing.withdraw(old.id, &portions)?;
        }
        Ok(())
    }

    /// Enters the positions: within a document, those that take goods back come first.
    fn enter(&mut self) -> Result<()> {
        let Rebooking { beleg, positions, .. } = self.change;
        let mut moving: Vec<_> = moving(positions).collect();
        moving.sort_by_key(|(position, (_, menge))| created((role(beleg, *menge), place(position))));
        self.unmet = open::Unmet::before(self.tx, self.change, &moving)?;
        let mut entered = Vec::new();
        for (position, (artikel, menge)) in moving {
            let gruppe = Gruppe { kunde: beleg.kunde_id, artikel, seite: beleg.beleg_typ.seite() };
            let mut pairing = Pairing::new(Portions { booking: self, gruppe });
            let entry = pairing.store.entry_of(role(beleg, menge), position)?;
            pairing.enter(&entry, menge.abs())?;
            let (moved_back, beyond) = (pairing.moved_back, pairing.beyond);
            if moved_back.contains(&entry.place) {
                self.hint_moved_back(&entry);
            }
            if let Some(beyond) = beyond.get(&entry.place).copied().filter(|beyond| *beyond != menge.abs()) {
                self.hint_beyond(&entry, menge, beyond)?;
            }
            entered.push((gruppe, entry));
        }
        // Checked last, because other positions of the document pair and free goods after a position is
        // entered.
        for (gruppe, entry) in entered {
            self.check_contradiction(gruppe, &entry)?;
            self.hint_passed_over(gruppe, &entry)?;
            self.hint_unmet_bezug(&entry)?;
        }
        Ok(())
    }

    /// Stores the open portions, records the batches and books the movements.
    fn book(mut self) -> Result<Rebooked> {
        std::mem::take(&mut self.errors).into_result()?;
        self.bound.hint_left_open(self.tx, self.hints)?;
        self.store_affected_versions()?;
        let received = self.note_batches()?;
        std::mem::take(&mut self.unmet).store(self.tx)?;
        self.settle_open()?;
        self.hint_closed()?;
        // Only deliveries of suppliers have goods receipts.
        let is_purchase = self.change.beleg.beleg_typ.seite() == Seite::Einkauf;
        let belege = self.followed.keys().chain([&self.change.beleg.id]);
        super::lifecycle::abrechnung::update_receipts(self.tx, belege.filter(|_| is_purchase))?;
        self.hint_rebatched()?;
        let booked = self.book_movements()?;
        self.update_receipts(received)?;
        check_stock(&booked, self.change, self.hints)?;
        self.check_locked(&booked)?;
        self.hint_counted(&booked)?;
        let moves_more_goods = self.moves_more_goods()?;
        let bewegungen = booked.into_iter().map(|booked| booked.bewegung).collect();
        Ok(Rebooked { bewegungen, has_met: self.has_met, moves_more_goods })
    }

    /// Whether more goods of an article go to the customer, or come from the supplier, than before the
    /// request; all goods count as more if the document had another partner.
    fn moves_more_goods(&self) -> Result<bool> {
        let of_articles =
            |movements: &Movements| sums(movements.iter().map(|((_, artikel, _), menge)| (*artikel, *menge)));
        let before = of_articles(&self.withdrawn)?;
        for (artikel, menge) in of_articles(&self.movements)? {
            let more = menge.minus(before.get(&artikel).copied().unwrap_or_default())?;
            let is_sale = self.change.beleg.beleg_typ.seite() == Seite::Verkauf;
            if !more.is_zero() && more.is_negative() == is_sale {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Adds hints for stocktakings that the movements contradict because the document belongs before the
    /// count (D8).
    fn hint_counted(&mut self, booked: &[Gebucht]) -> Result<()> {
        let (tx, own) = (self.tx, self.change.beleg);
        let precedes = |booked: &Gebucht, inventur: &Inventur| {
            // Ids grow with time, so they compare creation times.
            let id = booked.bewegung.beleg_id.unwrap_or(own.id);
            let liefertag = || match id == own.id {
                true => Ok(own.liefertag()),
                false => super::sql::liefertag(tx, id),
            };
            Ok(id < inventur.id || liefertag()? < inventur.tag())
        };
        chargen::hint_outdated(tx, booked, precedes, self.hints)
    }

    fn book_movements(&self) -> Result<Vec<Gebucht>> {
        let own = self.change.beleg;
        let mut belege = BTreeMap::from([(own.id, (own.beleg_nummer.clone(), own.beleg_typ))]);
        let mut buchungen = Vec::new();
        for ((beleg, artikel_id, charge_id), menge) in &self.movements {
            if menge.is_zero() {
                continue;
            }
            if !belege.contains_key(beleg) {
                belege.insert(*beleg, super::sql::number_and_type(self.tx, *beleg)?);
            }
            buchungen.push(Buchung {
                artikel_id: *artikel_id,
                charge_id: *charge_id,
                ursache: Ursache::Beleg(*beleg),
                menge: *menge,
                ist_eingang: belege[beleg].1.seite() == Seite::Einkauf,
            });
        }
        let mut booked = chargen::book(self.tx, &buchungen)?;
        for Gebucht { bewegung, .. } in &mut booked {
            let beleg = bewegung.beleg_id.and_then(|id| belege.get(&id));
            bewegung.beleg_nummer = beleg.map(|(number, _)| number.clone());
        }
        Ok(booked)
    }
}

/// Refuses to take a receipt out of a batch that has already been used, whether it is withdrawn or moved
/// because another document states the batch. For a new document only the receipts of others count.
/// Overselling is allowed or refused by the settings (D8). Checks the stock after the whole request.
fn check_stock(booked: &[Gebucht], change: Rebooking<'_>, hints: &mut Hints) -> Result<()> {
    let charges = booked.iter().filter_map(|booked| booked.charge.as_ref());
    let last: BTreeMap<Uuid, &Charge> = charges.map(|charge| (charge.id, charge)).collect();
    for charge in last.into_values().filter(|charge| charge.bestand.is_negative()) {
        let of_charge = || booked.iter().filter(|booked| booked.bewegung.charge_id == Some(charge.id));
        let sum = |counts: &dyn Fn(&Gebucht) -> bool| {
            let parts = of_charge().filter(|booked| counts(booked)).map(|booked| booked.bewegung.menge);
            parts.into_iter().try_fold(Quantity::ZERO, Quantity::plus)
        };
        if !sum(&|_| true)?.is_negative() {
            continue;
        }
        let may_leave = |booked: &Gebucht| {
            change.withdrawn.is_none() && booked.bewegung.beleg_id == Some(change.beleg.id)
        };
        if sum(&|booked| booked.ist_eingang && !may_leave(booked))?.is_negative() {
            let message = format!(
                "Charge {}: Bestand {}. Aus dem Eingang wurde schon verkauft; bitte erst diese Belege ändern. War nur \
                 die Chargennummer falsch, berichtigt PUT /api/v1/chargen/{{id}} die Charge selbst.",
                charge.charge_nr, charge.bestand
            );
            return Err(Refusal::new(Code::ChargeBereitsVerwendet, message).into());
        }
        // What others move because their goods were named is never refused (D38).
        let is_own = |booked: &Gebucht| booked.bewegung.beleg_id == Some(change.beleg.id);
        match sum(&is_own)?.is_negative() {
            true => chargen::check_not_negative(charge, change.einstellungen, hints)?,
            false => chargen::hint_negative(charge, hints),
        }
    }
    Ok(())
}
