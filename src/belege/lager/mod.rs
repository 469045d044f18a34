//! What documents do to the stock (D8).
//!
//! A request withdraws the positions that a document had and enters those that it has. Both change portions of goods
//! ([`crate::rules::pairing`]); the movements to be booked are what the portions that came moved, less what those
//! that went had moved.

mod adopt;
mod batch;
mod fefo;
mod note;
mod open;
mod portions;
mod receipt;
mod sql;

pub use adopt::adopt;
pub use batch::{BatchInformation, batch_missing, charge_for, complete_charge};

use std::collections::{BTreeMap, BTreeSet};

use uuid::Uuid;

use super::model::{Beleg, BelegPosition, Source};
use crate::artikel;
use crate::chargen::{self, Bewegung, Buchung, Charge, Gebucht, Ursache};
use crate::db::tx::WriteTx;
use crate::failure::Result;
use crate::rules::document::{BelegTyp, Seite};
use crate::rules::error::{Code, HintCode, Hints, PositionErrors, Refusal};
use crate::rules::fixed::Quantity;
use crate::rules::pairing::{Entry, Pairing, Place, Portion, Role, created};
use crate::tenants::Einstellungen;
use fefo::Fefo;
use portions::Portions;

/// Positions that may be paired with each other: of one partner and article, sales or purchases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gruppe {
    /// The partner.
    pub kunde: Uuid,
    /// The article.
    pub artikel: Uuid,
    /// Sales (LS, RE) or purchases (EL, ER).
    pub seite: Seite,
}

/// What has moved: the quantity of each document, article and batch, with its sign in the stock.
type Movements = BTreeMap<(Uuid, Uuid, Option<Uuid>), Quantity>;

/// A change of a document and its positions.
#[derive(Clone, Copy)]
pub struct Change<'r> {
    /// The document as it was, and its positions, which are withdrawn; none for a new one.
    pub withdrawn: Option<(&'r Beleg, &'r [BelegPosition])>,
    /// The document as it is.
    pub beleg: &'r Beleg,
    /// The positions that are entered; none when it is cancelled.
    pub positions: &'r [BelegPosition],
    /// Where the request names them.
    pub source: Source,
    /// The settings of the company.
    pub einstellungen: &'r Einstellungen,
}

/// Withdraws what a document had, enters what it has and books what follows; the movements, for the confirmation.
pub fn rebook(tx: &WriteTx<'_>, change: Change<'_>, hints: &mut Hints) -> Result<Vec<Bewegung>> {
    let mut booking = Booking {
        tx,
        change,
        fefo: Fefo::new(tx, change),
        movements: Movements::new(),
        touched: BTreeSet::new(),
        unmet: open::Unmet::default(),
        errors: PositionErrors::default(),
        hints,
    };
    if let Some((old, positions)) = change.withdrawn {
        booking.withdraw(old, positions)?;
    }
    booking.fefo.begin(&booking.movements)?;
    booking.enter()?;
    booking.book()
}

/// What a request does to the stock.
struct Booking<'r> {
    tx: &'r WriteTx<'r>,
    change: Change<'r>,
    fefo: Fefo<'r>,
    movements: Movements,
    /// Positions of which portions came or went.
    touched: BTreeSet<(Role, Place)>,
    /// Open portions of a new document.
    unmet: open::Unmet,
    errors: PositionErrors,
    hints: &'r mut Hints,
}

impl Gruppe {
    /// The type of document that has positions in this role.
    fn typ(self, role: Role) -> BelegTyp {
        match (self.seite, matches!(role, Role::Invoice | Role::Credit)) {
            (Seite::Verkauf, false) => BelegTyp::Ls,
            (Seite::Verkauf, true) => BelegTyp::Re,
            (Seite::Einkauf, false) => BelegTyp::El,
            (Seite::Einkauf, true) => BelegTyp::Er,
        }
    }
}

impl<'r> Booking<'r> {
    /// Takes away all positions of a document; those that had met them meet others.
    fn withdraw(&mut self, old: &Beleg, positions: &[BelegPosition]) -> Result<()> {
        if open::forget(self.tx, old)? {
            for (position, (artikel, menge)) in moving(positions) {
                let role = role(old, menge);
                let portion = Portion::of(role, place(position), menge.abs()).moved(role, position.charge_id);
                self.count(old.beleg_typ.seite(), artikel, &portion, true)?;
            }
            return Ok(());
        }
        let articles: BTreeSet<Uuid> = moving(positions).map(|(_, (artikel, _))| artikel).collect();
        if articles.is_empty() {
            return Ok(());
        }
        open::spread_all(self.tx, old)?;
        for (artikel, portions) in sql::portions_of(self.tx, old, articles)? {
            let gruppe = Gruppe { kunde: old.kunde_id, artikel, seite: old.beleg_typ.seite() };
            let mut pairing = Pairing::new(Portions { booking: self, gruppe });
            pairing.withdraw(old.id, &portions)?;
        }
        Ok(())
    }

    /// Enters the positions: within a document what takes back comes before the rest.
    fn enter(&mut self) -> Result<()> {
        let Change { beleg, positions, .. } = self.change;
        let mut moving: Vec<_> = moving(positions).collect();
        moving.sort_by_key(|(position, (_, menge))| created(role(beleg, *menge), place(position)));
        self.unmet = open::Unmet::before(self.tx, self.change, &moving)?;
        for (position, (artikel, menge)) in moving {
            let gruppe = Gruppe { kunde: beleg.kunde_id, artikel, seite: beleg.beleg_typ.seite() };
            let mut pairing = Pairing::new(Portions { booking: self, gruppe });
            let entry = pairing.store.entry_of(role(beleg, menge), position)?;
            pairing.enter(&entry, menge.abs())?;
            if pairing.moved_back.contains(&entry.place) {
                self.hint_moved_back(&entry);
            }
        }
        Ok(())
    }

    /// The position that is entered in this place.
    fn own(&self, place: Place) -> Option<&'r BelegPosition> {
        // They are numbered from 1.
        let at = usize::try_from(place.position - 1).ok()?;
        self.change.positions.get(at).filter(|_| place.beleg == self.change.beleg.id)
    }

    /// Counts what a portion that came, or `went`, moves.
    fn count(&mut self, seite: Seite, artikel: Uuid, portion: &Portion, went: bool) -> Result<()> {
        for (role, place) in portion.movers() {
            let is_in = (seite == Seite::Einkauf) ^ role.takes_back() ^ went;
            let menge = if is_in { portion.menge } else { -portion.menge };
            let moved = self.movements.entry((place.beleg, artikel, portion.charge)).or_default();
            *moved = moved.plus(menge)?;
        }
        self.touched.extend(portion.positions());
        Ok(())
    }

    fn hint_chosen(&mut self, entry: &Entry) {
        let message = "Die Charge wurde nach Mindesthaltbarkeit gewählt.";
        self.hint(entry, HintCode::ChargeAutomatisch, "charge_id", message);
    }

    fn hint_moved_back(&mut self, entry: &Entry) {
        let message = "Die Ware der Rechnung hatte kein Lieferschein bewegt; die Rücknahme wurde gebucht.";
        self.hint(entry, HintCode::RuecknahmeGebucht, "menge", message);
    }

    /// A hint about a field of a position that is entered.
    fn hint(&mut self, entry: &Entry, code: HintCode, feld: &str, message: &str) {
        let mut hints = Hints::default();
        hints.add_field(code, feld, message);
        self.hints.extend(hints.below(&self.change.source.path(entry.place.position)));
    }

    /// Stores what is open, notes the batches, books the movements.
    fn book(mut self) -> Result<Vec<Bewegung>> {
        std::mem::take(&mut self.errors).into_result()?;
        let received = self.note_batches()?;
        std::mem::take(&mut self.unmet).store(self.tx, self.change.beleg)?;
        let (booked, knapp) = self.book_movements()?;
        let moved = self.documents_by_batch();
        for charge in received {
            receipt::update(self.tx, charge, moved.get(&charge).into_iter().flatten().copied())?;
        }
        check_stock(&booked, self.change, self.hints)?;
        let bewegungen: Vec<_> = booked.into_iter().map(|booked| booked.bewegung).collect();
        let einstellungen = self.change.einstellungen;
        chargen::check_articles_not_negative(self.tx, &knapp, &bewegungen, einstellungen, self.hints)?;
        Ok(bewegungen)
    }

    /// The documents that moved something of each batch.
    fn documents_by_batch(&self) -> BTreeMap<Uuid, Vec<Uuid>> {
        let mut documents: BTreeMap<Uuid, Vec<Uuid>> = BTreeMap::new();
        for (beleg, _, charge) in self.movements.keys() {
            if let Some(charge) = charge {
                documents.entry(*charge).or_default().push(*beleg);
            }
        }
        documents
    }

    /// The movements that were booked, and the articles whose stock may be below 0 now.
    fn book_movements(&self) -> Result<(Vec<Booked>, BTreeSet<Uuid>)> {
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
        let Gebucht { chargen, knapp } = chargen::book(self.tx, &buchungen)?;
        let confirmed = |(buchung, charge): (Buchung, Option<Charge>)| {
            let beleg_id = buchung.ursache.beleg();
            let bewegung = Bewegung {
                beleg_id,
                beleg_nummer: beleg_id.and_then(|id| belege.get(&id)).map(|(number, _)| number.clone()),
                artikel_id: buchung.artikel_id,
                charge_id: buchung.charge_id,
                charge_nr: charge.as_ref().map(|charge| charge.charge_nr.clone()),
                menge: buchung.menge,
                einheit: artikel::must_have(self.tx, buchung.artikel_id)?.einheit.clone(),
            };
            Ok(Booked { bewegung, ist_eingang: buchung.ist_eingang, charge })
        };
        let booked = buchungen.into_iter().zip(chargen).map(confirmed).collect::<Result<_>>()?;
        Ok((booked, knapp))
    }
}

/// The positions that take part in the stock, each with its article and quantity.
fn moving(positions: &[BelegPosition]) -> impl Iterator<Item = (&BelegPosition, (Uuid, Quantity))> {
    let quantity = |position: &BelegPosition| position.artikel_id.zip(position.lager_menge);
    let moving = positions.iter().filter(|position| position.lager_buchen);
    moving.filter_map(move |position| Some((position, quantity(position)?)))
}

/// What a position of a document does with goods.
fn role(beleg: &Beleg, menge: Quantity) -> Role {
    match (beleg.beleg_typ.ist_rechnung(), menge.is_negative()) {
        (false, false) => Role::Delivery,
        (false, true) => Role::Return,
        (true, false) => Role::Invoice,
        (true, true) => Role::Credit,
    }
}

fn place(position: &BelegPosition) -> Place {
    Place { beleg: position.beleg_id, position: position.position }
}

/// A movement that was booked, and its batch afterwards.
struct Booked {
    bewegung: Bewegung,
    ist_eingang: bool,
    charge: Option<Charge>,
}

/// No receipt may be withdrawn that was used already; selling more than there is is a matter of
/// the settings (D8). The stock counts as it is after the whole request.
fn check_stock(booked: &[Booked], change: Change<'_>, hints: &mut Hints) -> Result<()> {
    let mut last: BTreeMap<Uuid, &Charge> = BTreeMap::new();
    for charge in booked.iter().filter_map(|booked| booked.charge.as_ref()) {
        last.insert(charge.id, charge);
    }
    for charge in last.into_values().filter(|charge| charge.bestand.is_negative()) {
        let of_charge = || booked.iter().filter(|booked| booked.bewegung.charge_id == Some(charge.id));
        let sum = |ist_eingang: bool| {
            let parts = of_charge().filter(|b| b.ist_eingang == ist_eingang).map(|b| b.bewegung.menge);
            parts.into_iter().try_fold(Quantity::ZERO, Quantity::plus)
        };
        let (received, sold) = (sum(true)?, sum(false)?);
        if !received.plus(sold)?.is_negative() {
            continue;
        }
        if received.is_negative() && change.withdrawn.is_some() {
            let message = format!(
                "Charge {}: Bestand {}. Aus dem Eingang wurde schon verkauft; bitte erst diese Belege ändern.",
                charge.charge_nr, charge.bestand
            );
            return Err(Refusal::new(Code::ChargeBereitsVerwendet, message).into());
        }
        chargen::check_not_negative(charge, change.einstellungen, hints)?;
    }
    Ok(())
}
