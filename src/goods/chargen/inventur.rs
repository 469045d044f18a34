//! Stocktaking: the count becomes the stock, and the difference is booked as a movement of its own kind (D8).

use std::sync::Arc;

use uuid::Uuid;

use super::model::{Charge, Inventur};
use super::sql;
use super::stock::{Buchung, Gebucht, Ursache, book};
use crate::master::artikel::{self, Artikel};
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::Result;
use crate::rules::day::Day;
use crate::rules::error::{Code, HintCode, Hints, Refusal, refuse_if};
use crate::rules::fixed::{Quantity, sums};

/// The batch or article to count, with its stock by movements.
pub struct Gezaehlt {
    pub artikel: Arc<Artikel>,
    /// `None`: an article without batches.
    charge: Option<Charge>,
    pub bestand: Quantity,
    /// Its latest stocktaking.
    pub last: Option<Uuid>,
}

impl Gezaehlt {
    pub fn batch(tx: &Tx<'_>, charge: Charge) -> Result<Gezaehlt> {
        let artikel = artikel::must_have(tx, charge.artikel_id)?;
        Ok(Gezaehlt { artikel, bestand: charge.bestand, last: charge.inventur_id, charge: Some(charge) })
    }

    pub fn article(tx: &Tx<'_>, artikel: Arc<Artikel>) -> Result<Gezaehlt> {
        let (bestand, last) = sql::article_stock(tx, artikel.id)?;
        Ok(Gezaehlt { artikel, charge: None, bestand, last })
    }

    pub fn charge_id(&self) -> Option<Uuid> {
        self.charge.as_ref().map(|charge| charge.id)
    }

    /// Refuses to count an article with batches as a whole.
    fn check(&self, tx: &Tx<'_>) -> Result<()> {
        let Gezaehlt { artikel, charge, .. } = self;
        if charge.is_some() || !artikel.chargenpflichtig && !sql::has_batches(tx, artikel.id)? {
            return Ok(());
        }
        let message = format!(
            "Der Artikel {} wird in Chargen geführt. Bitte jede Charge zählen: POST /api/v1/chargen/{{id}}/inventur, \
             im Import mit der Spalte charge_nr.",
            artikel.artikelnummer
        );
        Err(Refusal::new(Code::ChargeFehlt, message).into())
    }
}

/// Stores the count, even if it matches the stock, and books the difference.
pub fn store(
    tx: &WriteTx<'_>,
    gezaehlt: &Gezaehlt,
    bestand: Quantity,
    grund: String,
    external_ref: Option<String>,
) -> Result<Inventur> {
    gezaehlt.check(tx)?;
    let message =
        "Gezählt wird eine Menge ab 0. Bitte den Bestand angeben, der da ist, nicht den Unterschied.";
    refuse_if(bestand.is_negative(), Code::WertUngueltig, "bestand", message)?;
    let (artikel_id, charge_id, bestand_vorher) =
        (gezaehlt.artikel.id, gezaehlt.charge_id(), gezaehlt.bestand);
    let differenz = bestand.minus(bestand_vorher)?;
    let inventur = Inventur {
        id: tx.new_id(),
        artikel_id,
        charge_id,
        bestand_vorher,
        bestand,
        differenz,
        grund,
        external_ref,
        created_at: tx.now(),
        key_id: tx.key_id().map(str::to_owned),
    };
    sql::insert_inventur(tx, &inventur)?;
    if !differenz.is_zero() {
        let ursache = Ursache::Inventur(inventur.id);
        book(tx, &[Buchung { artikel_id, charge_id, ursache, menge: differenz, ist_eingang: false }])?;
    }
    sql::record_inventur(tx, &inventur)?;
    Ok(inventur)
}

/// Adds a hint for each stocktaking that a request outdates: it changes counted stock by movements that
/// `precedes` places before the count.
pub fn hint_outdated(
    tx: &Tx<'_>,
    booked: &[Gebucht],
    precedes: impl Fn(&Gebucht, &Inventur) -> Result<bool>,
    hints: &mut Hints,
) -> Result<()> {
    if booked.is_empty() || !sql::has_inventuren(tx)? {
        return Ok(());
    }
    let key = |booked: &Gebucht| (booked.bewegung.artikel_id, booked.bewegung.charge_id);
    let sums = sums(booked.iter().map(|booked| (key(booked), booked.bewegung.menge)))?;
    for booked in booked.iter().filter(|booked| !sums[&key(booked)].is_zero()) {
        let last = match &booked.charge {
            Some(charge) => charge.inventur_id,
            None => sql::article_stock(tx, booked.bewegung.artikel_id)?.1,
        };
        let Some(last) = last else { continue };
        let inventur = sql::find_inventur(tx, last)?;
        if precedes(booked, &inventur)? {
            hint_precedes(tx, &inventur, booked.bewegung.charge_nr.as_deref(), hints)?;
        }
    }
    Ok(())
}

/// Adds a hint for each stocktaking after which a document moved what it counted, while the document was made before it, or
/// its goods move on an earlier day.
pub fn hint_counted_since(tx: &Tx<'_>, beleg: Uuid, day: Day, hints: &mut Hints) -> Result<()> {
    if !sql::has_inventuren(tx)? {
        return Ok(());
    }
    for (inventur, charge_nr) in sql::counted_before_movements_of(tx, beleg)? {
        let inventur = sql::find_inventur(tx, inventur)?;
        // Ids grow with time, so they compare creation times.
        if beleg < inventur.id || day < inventur.tag() {
            hint_precedes(tx, &inventur, charge_nr.as_deref(), hints)?;
        }
    }
    Ok(())
}

fn hint_precedes(tx: &Tx<'_>, inventur: &Inventur, charge_nr: Option<&str>, hints: &mut Hints) -> Result<()> {
    let what = match charge_nr {
        Some(charge_nr) => format!("Die Charge {charge_nr}"),
        None => format!("Der Artikel {}", artikel::must_have(tx, inventur.artikel_id)?.artikelnummer),
    };
    let message = format!(
        "{what} wurde am {} gezählt; diese Änderung gehört in die Zeit davor. Bitte den Bestand prüfen und, wenn \
         er nicht mehr stimmt, neu zählen.",
        inventur.tag().german()
    );
    hints.add(HintCode::InventurUeberholt, message);
    Ok(())
}
