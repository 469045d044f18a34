//! What documents do to the stock: after every change the pairs of the partners and articles
//! concerned are formed anew, and whatever differs from what was booked is booked (D8). A new document
//! comes last: it goes on where those before it left the pairs ([`offen`]).

mod batch;
mod offen;
mod placer;
mod rows;

pub use batch::{BatchInformation, charge_for};
pub use rows::Gruppe;

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use uuid::Uuid;

use super::model::{Beleg, BelegPosition};
use super::sql;
use crate::artikel::{self, Artikel};
use crate::chargen::{self, Bewegung, Buchung, Charge, Ursache};
use crate::db::error::{Failure, Result};
use crate::db::tx::WriteTx;
use crate::rules::document::{BelegStatus, Seite};
use crate::rules::error::{Code, Hints, PositionErrors, Refusal};
use crate::rules::fixed::{Price, Quantity};
use crate::rules::stock::{Anteil, Ergebnis, Genannt, pair};
use crate::rules::unit::Conversion;
use crate::tenants::Einstellungen;
use offen::{LeftOpen, Newest, Stand};
use placer::Placer;
use rows::{Konten, Konto, Zeile, booked_by, booked_of, pools, posten, take_booked, zeilen};

/// The state of some groups before a change.
#[derive(Default)]
pub struct Vorher {
    gruppen: BTreeSet<Gruppe>,
    /// What each position had booked, and what counterparts had booked for it: its batches,
    /// should it be on its own again.
    positionen: HashMap<Uuid, Ergebnis>,
}

/// Takes down the pairs as they are, before a document is changed or cancelled.
pub fn before(tx: &WriteTx<'_>, gruppen: BTreeSet<Gruppe>) -> Result<Vorher> {
    let mut positionen = HashMap::new();
    for gruppe in &gruppen {
        offen::spread_of(tx, *gruppe)?;
        let zeilen = zeilen(tx, *gruppe)?;
        let mut booked = pools(&booked_of(tx, *gruppe)?);
        let posten = posten(tx, *gruppe, &zeilen)?;
        let ergebnisse = pair(&posten, |at, rest, _| {
            // A document that delivers and takes back of one batch has booked the difference alone.
            if let Genannt::Charge(charge) = posten[at].genannt {
                return Ok(vec![Anteil { charge: Some(charge), menge: rest }]);
            }
            Ok::<_, Failure>(take_booked(&mut booked, &zeilen[at], rest))
        })?;
        positionen.extend(zeilen.iter().map(|zeile| zeile.id).zip(ergebnisse));
    }
    Ok(Vorher { gruppen, positionen })
}

/// What kind of request books.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anlass<'e> {
    /// A new document with these positions.
    Anlage(&'e [BelegPosition]),
    /// PUT with items or another partner: the positions of the document are as new.
    NeuePositionen,
    /// PUT without items.
    Aenderung,
    /// A document is cancelled.
    Storno,
}

/// What a request has changed.
pub struct Umbuchung<'e> {
    /// The document.
    pub beleg: &'e Beleg,
    /// What was done to it.
    pub anlass: Anlass<'e>,
    /// The groups that it was in, and how they stood.
    pub vorher: Vorher,
    /// The groups that it is in.
    pub gruppen: BTreeSet<Gruppe>,
    /// The settings of the company.
    pub einstellungen: &'e Einstellungen,
}

/// Forms the pairs anew and books what differs; the movements, for the confirmation.
pub fn rebook(tx: &WriteTx<'_>, umbuchung: Umbuchung<'_>, hints: &mut Hints) -> Result<Vec<Bewegung>> {
    let Umbuchung { beleg, anlass, vorher, gruppen, einstellungen } = umbuchung;
    let mut soll = Konten::new();
    let is_new = matches!(anlass, Anlass::Anlage(_));
    let mut newest = match anlass {
        Anlass::Anlage(positions) => Newest::of(tx, beleg, positions)?,
        _ => None,
    };
    // A new document has booked nothing yet.
    let mut ist = if is_new { Konten::new() } else { booked_by(tx, beleg.id)? };
    let mut left_open = LeftOpen::default();
    let mut prices = HashMap::new();
    let mut errors = PositionErrors::default();
    for gruppe in vorher.gruppen.union(&gruppen) {
        let stand = Stand::of(tx, *gruppe, newest.as_mut())?;
        let artikel = artikel::must_have(tx, gruppe.artikel)?;
        let posten = posten(tx, *gruppe, &stand.zeilen)?;
        let mut placer = Placer {
            tx,
            gruppe: *gruppe,
            artikel: &artikel,
            zeilen: &stand.zeilen,
            posten: &posten,
            own: beleg.id,
            own_is_new: is_new || anlass == Anlass::NeuePositionen,
            booked: pools(&stand.booked),
            vorher: &vorher.positionen,
            fefo: einstellungen.fefo,
            fefo_stock: None,
            errors: &mut errors,
            hints,
        };
        let mut paarung = stand.paarung();
        for (at, zeile) in stand.zeilen.iter().enumerate() {
            let ergebnis = paarung.enter(&posten[at], |rest, covered| placer.place(at, rest, covered))?;
            add_to(&mut soll, gruppe, zeile, &ergebnis)?;
            let charge = note_charge(tx, zeile, &ergebnis)?;
            left_open.see(&stand, zeile, charge, &ergebnis);
            let price = price_per_article_unit(zeile, &artikel)?;
            for anteil in &ergebnis.eigen {
                prices.entry((zeile.beleg_id, gruppe.artikel, anteil.charge)).or_insert(price);
            }
        }
        stand.keep(tx, *gruppe, &paarung, &mut left_open)?;
        ist.extend(stand.booked);
    }
    errors.into_result()?;
    left_open.insert(tx, beleg)?;
    let booked = book_difference(tx, beleg, &ist, &soll, &prices)?;
    check_stock(&booked, is_new, einstellungen, hints)?;
    Ok(booked.into_iter().map(|gebucht| gebucht.bewegung).collect())
}

/// Adds what a position should have booked.
fn add_to(soll: &mut Konten, gruppe: &Gruppe, zeile: &Zeile, ergebnis: &Ergebnis) -> Result<()> {
    for anteil in &ergebnis.eigen {
        let signed = if gruppe.einkauf { anteil.menge } else { -anteil.menge };
        let konto = soll.entry((zeile.beleg_id, gruppe.artikel, anteil.charge)).or_default();
        *konto = konto.plus(signed)?;
    }
    Ok(())
}

/// Notes the one batch that covers a position, and says which it has now. A named one stays, and a finalised position
/// never changes (D8).
fn note_charge(tx: &WriteTx<'_>, zeile: &Zeile, ergebnis: &Ergebnis) -> Result<Option<Uuid>> {
    let charge = ergebnis.einzige_charge();
    if zeile.charge_gesendet || zeile.status != BelegStatus::Offen || zeile.charge_id == charge {
        return Ok(zeile.charge_id);
    }
    sql::set_position_charge(tx, zeile.beleg_id, zeile.position, charge)?;
    Ok(charge)
}

fn price_per_article_unit(zeile: &Zeile, artikel: &Artikel) -> Result<Price> {
    let conversion = match (&zeile.einheit, &artikel.einheit) {
        (Some(einheit), Some(own)) => Conversion::between(einheit, own).unwrap_or(Conversion::NONE),
        _ => Conversion::NONE,
    };
    Ok(conversion.price(zeile.ep_netto)?)
}

/// A movement that was booked, and its batch afterwards.
struct Gebucht {
    bewegung: Bewegung,
    einkauf: bool,
    charge: Option<Charge>,
}

/// Books the difference between what is booked and what should be.
fn book_difference(
    tx: &WriteTx<'_>,
    beleg: &Beleg,
    ist: &Konten,
    soll: &Konten,
    prices: &HashMap<Konto, Price>,
) -> Result<Vec<Gebucht>> {
    let mut keys: Vec<_> = ist.keys().chain(soll.keys()).collect();
    keys.sort_unstable();
    keys.dedup();
    let mut belege = HashMap::from([(beleg.id, (beleg.beleg_nummer.clone(), beleg.beleg_typ))]);
    let mut buchungen = Vec::new();
    for key @ (beleg_id, artikel_id, charge_id) in keys {
        let should = soll.get(key).copied().unwrap_or_default();
        let menge = should.minus(ist.get(key).copied().unwrap_or_default())?;
        if menge.is_zero() {
            continue;
        }
        let (_, typ) = match belege.entry(*beleg_id) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(sql::number_and_type(tx, *beleg_id)?),
        };
        buchungen.push(Buchung {
            artikel_id: *artikel_id,
            charge_id: *charge_id,
            ursache: Ursache::Beleg(*beleg_id),
            menge,
            ist_eingang: typ.seite() == Seite::Einkauf,
            ep: prices.get(key).copied(),
        });
    }
    let chargen = chargen::book(tx, &buchungen)?;
    let confirmed = |(buchung, charge): (Buchung, Option<Charge>)| {
        let beleg_id = buchung.ursache.beleg();
        let bewegung = Bewegung {
            beleg_id,
            beleg_nummer: beleg_id.and_then(|id| belege.get(&id)).map(|(number, _)| number.clone()),
            artikel_id: buchung.artikel_id,
            charge_id: buchung.charge_id,
            charge_nr: charge.as_ref().map(|charge| charge.charge_nr.clone()),
            menge: buchung.menge,
            einheit: artikel::must_have(tx, buchung.artikel_id)?.einheit.clone(),
        };
        Ok(Gebucht { bewegung, einkauf: buchung.ist_eingang, charge })
    };
    buchungen.into_iter().zip(chargen).map(confirmed).collect()
}

/// No receipt may be withdrawn that was used already; selling more than there is is a matter of
/// the settings (D8). The stock counts as it is after the whole request.
fn check_stock(
    gebucht: &[Gebucht],
    is_new: bool,
    einstellungen: &Einstellungen,
    hints: &mut Hints,
) -> Result<()> {
    let mut last: BTreeMap<Uuid, &Charge> = BTreeMap::new();
    for charge in gebucht.iter().filter_map(|gebucht| gebucht.charge.as_ref()) {
        last.insert(charge.id, charge);
    }
    for charge in last.into_values().filter(|charge| charge.bestand.is_negative()) {
        let of_charge = || gebucht.iter().filter(|g| g.bewegung.charge_id == Some(charge.id));
        let sum = |einkauf: bool| {
            let parts = of_charge().filter(|g| g.einkauf == einkauf).map(|g| g.bewegung.menge);
            parts.into_iter().try_fold(Quantity::ZERO, Quantity::plus)
        };
        let (received, sold) = (sum(true)?, sum(false)?);
        if !received.plus(sold)?.is_negative() {
            continue;
        }
        if received.is_negative() && !is_new {
            let message = format!(
                "Charge {}: Bestand {}. Aus dem Eingang wurde schon verkauft; bitte erst diese Belege ändern.",
                charge.charge_nr, charge.bestand
            );
            return Err(Refusal::new(Code::ChargeBereitsVerwendet, message).into());
        }
        chargen::check_not_negative(charge, einstellungen, hints)?;
    }
    Ok(())
}
