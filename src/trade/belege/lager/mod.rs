//! What documents do to the stock (D8).
//!
//! A request withdraws the positions that a document had and enters those that it has. Both change portions of goods
//! ([`crate::rules::pairing`]); the movements to be booked are what the portions that came moved, less what those
//! that went had moved.

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
mod sql;

pub use batch::{batch_missing, charge_for, complete_charge};
pub use change::Rebooking;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use uuid::Uuid;

use super::model::{Beleg, BelegPosition};
use crate::goods::chargen::{self, Bewegung, Buchung, Charge, Gebucht, Inventur, Ursache};
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::Result;
use crate::rules::document::Seite;
use crate::rules::error::{Code, Hints, Refusal, Refusals};
use crate::rules::fixed::{Quantity, sums};
use crate::rules::pairing::{Pairing, created};
use booking::{Booking, moving, place, role};
use change::{Followed, Gruppe, Movements};
use fefo::Fefo;
use pairing_bound::PairingBound;
use portions::Portions;

/// What a request did to the stock, for the confirmation.
#[derive(Default)]
pub struct Rebooked {
    pub bewegungen: Vec<Bewegung>,
    /// A position of the document may have met something.
    pub has_met: bool,
    /// More goods of an article move to the customer, or come from the supplier, than before.
    pub moves_on: bool,
}

/// Withdraws what a document had, enters what it has and books what follows.
pub fn rebook(tx: &WriteTx<'_>, change: Rebooking<'_>, hints: &mut Hints) -> Result<Rebooked> {
    let mut booking = Booking {
        tx,
        change,
        fefo: Fefo::new(tx, change),
        bound: PairingBound::new(change.beleg.id),
        movements: Movements::new(),
        touched: BTreeSet::new(),
        unmet: open::Unmet::default(),
        withdrawn: Movements::new(),
        followed: Followed::new(),
        bezuege: RefCell::default(),
        walked: HashMap::new(),
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
    booking.book()
}

/// How much of each article of a document has met nothing, in the article's unit.
pub fn open_of(tx: &Tx<'_>, beleg: &Beleg) -> Result<BTreeMap<Uuid, Quantity>> {
    let positions = super::sql::positions(tx, beleg.id)?;
    let articles: BTreeSet<Uuid> = moving(&positions).map(|(_, (artikel, _))| artikel).collect();
    let mut open = BTreeMap::new();
    for artikel in articles {
        let menge = open_of_article(tx, beleg, artikel)?;
        open.extend((!menge.is_zero()).then_some((artikel, menge)));
    }
    Ok(open)
}

/// How much of an article of a document has met nothing, in the article's unit.
pub fn open_of_article(tx: &Tx<'_>, beleg: &Beleg, artikel: Uuid) -> Result<Quantity> {
    let [role, _] = change::roles(beleg.beleg_typ);
    let mut open = Quantity::ZERO;
    for portion in sql::open_portions_of(tx, beleg, artikel, role)? {
        open = open.plus(portion.menge)?;
    }
    Ok(open)
}

/// The batches whose goods a position speaks of.
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
    /// Takes away all positions of a document; those that had met them meet others.
    fn withdraw(&mut self, old: &Beleg, positions: &[BelegPosition]) -> Result<()> {
        let articles: BTreeSet<Uuid> = moving(positions).map(|(_, (artikel, _))| artikel).collect();
        for (artikel, portions) in sql::portions_of(self.tx, old, articles)? {
            let gruppe = Gruppe { kunde: old.kunde_id, artikel, seite: old.beleg_typ.seite() };
            let mut pairing = Pairing::new(Portions { booking: self, gruppe });
            pairing.withdraw(old.id, &portions)?;
        }
        Ok(())
    }

    /// Enters the positions: within a document what takes back comes before the rest.
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
            if pairing.moved_back.contains(&entry.place) {
                self.hint_moved_back(&entry);
            }
            entered.push((gruppe, entry));
        }
        // What is left of a position in the end: others of the document meet and set free after it.
        for (gruppe, entry) in entered {
            self.check_contradiction(gruppe, &entry)?;
            self.hint_passed_over(gruppe, &entry)?;
            self.hint_unmet_bezug(&entry)?;
        }
        Ok(())
    }

    /// Stores what is open, notes the batches, books the movements.
    fn book(mut self) -> Result<Rebooked> {
        std::mem::take(&mut self.errors).into_result()?;
        self.bound.hint_left_open(self.tx, self.hints)?;
        self.keep_followers()?;
        let received = self.note_batches()?;
        std::mem::take(&mut self.unmet).store(self.tx)?;
        // Goods-receipt notes are about deliveries of suppliers alone.
        let is_purchase = self.change.beleg.beleg_typ.seite() == Seite::Einkauf;
        let belege = self.followed.keys().chain([&self.change.beleg.id]);
        super::lifecycle::abrechnung::note_receipts(self.tx, belege.filter(|_| is_purchase))?;
        self.hint_rebatched()?;
        let booked = self.book_movements()?;
        self.update_receipts(received)?;
        check_stock(&booked, self.change, self.hints)?;
        self.check_locked(&booked)?;
        self.hint_counted(&booked)?;
        let moves_on = self.moves_on()?;
        let bewegungen = booked.into_iter().map(|booked| booked.bewegung).collect();
        Ok(Rebooked { bewegungen, has_met: self.has_met, moves_on })
    }

    /// Whether more goods of an article go to the customer, or come from the supplier, than before the request; all of
    /// them, where the document had another partner.
    fn moves_on(&self) -> Result<bool> {
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

    /// Names the stocktakings that the movements of a document of before contradict (D8).
    fn hint_counted(&mut self, booked: &[Gebucht]) -> Result<()> {
        let (tx, own) = (self.tx, self.change.beleg);
        let precedes = |booked: &Gebucht, inventur: &Inventur| {
            // Ids grow with time.
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

/// No receipt may leave a batch that was used already, be it withdrawn or because another document says more of the batch;
/// of a new document only the receipts of others count. Selling more than there is is a matter of
/// the settings (D8). The stock counts as it is after the whole request.
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
        chargen::check_not_negative(charge, change.einstellungen, hints)?;
    }
    Ok(())
}
