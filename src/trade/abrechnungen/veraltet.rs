//! Whether a correction of a settlement would now pay something else (D29j).

use uuid::Uuid;

use super::model::{Abrechnung, Auswahl, NewAbrechnung};
use super::rechnen::{Grundlage, bases, computed};
use super::{kontrakt, sql};
use crate::platform::db::columns::Json;
use crate::platform::db::list::Page;
use crate::platform::db::tx::Tx;
use crate::platform::failure::{Failure, Result, or_refusal};
use crate::platform::listing::Records;
use crate::rules::error::Hints;
use crate::rules::fixed::Price;
use crate::rules::settlement::{AbrechnungsPosten, AbrechnungsTeil, Abrechnungsart};
use crate::trade::annahmescheine::{self, Annahmeschein, day_of};
use crate::trade::belege;

pub fn list(tx: &Tx<'_>, auswahl: &Auswahl, page: Page) -> Result<Records<Abrechnung>> {
    let mut found = sql::list(tx, auswahl, page)?;
    found.rows.iter_mut().try_for_each(|one| settle(tx, one))?;
    Ok(found)
}

pub fn find(tx: &Tx<'_>, id: Uuid) -> Result<Option<Abrechnung>> {
    exact(tx, sql::find(tx, id)?)
}

/// Finds the settlement of a document.
pub fn of_document(tx: &Tx<'_>, beleg: Uuid) -> Result<Option<Abrechnung>> {
    exact(tx, sql::of_document(tx, beleg)?)
}

fn exact(tx: &Tx<'_>, mut found: Option<Abrechnung>) -> Result<Option<Abrechnung>> {
    found.iter_mut().try_for_each(|one| settle(tx, one))?;
    Ok(found)
}

/// Computes `veraltet` where anything that decides it was written since.
fn settle(tx: &Tx<'_>, one: &mut Abrechnung) -> Result<()> {
    if one.veraltet {
        // What can no longer be computed is not paid as it was.
        one.veraltet = or_refusal(pays_other(tx, one))?.unwrap_or(true);
    }
    Ok(())
}

fn pays_other(tx: &Tx<'_>, one: &Abrechnung) -> Result<bool> {
    let posten = sql::posten(tx, one.id)?;
    let gone = || Failure::Broken(format!("a receipt of {} is gone", one.beleg_nummer));
    let find = |Json(posten): &Json<AbrechnungsPosten>| {
        annahmescheine::find(tx, posten.annahmeschein_id)?.ok_or_else(gone)
    };
    let scheine = posten.iter().map(find).collect::<Result<Vec<_>>>()?;
    let kunde = crate::master::kunden::by_id(tx, one.partner_id)?;
    let mut kontrakte = kontrakt::Kontrakte::of(tx, &kunde, one.art);
    let states_no_price = NewAbrechnung::stored(&sql::request(tx, one.id)?.0)?.preis_je_t.is_none();
    let unsaid = &mut Hints::default();
    let bases = match one.art {
        // A supplement pays for the weight of its final, which stays while it lives.
        Abrechnungsart::Nachverguetung => Vec::new(),
        Abrechnungsart::End | Abrechnungsart::Abschlag => bases(tx, &scheine, unsaid)?,
    };
    let mut bases = bases.into_iter();
    for (schein, Json(posten)) in scheine.iter().zip(&posten) {
        let tax = belege::tax_of_delivery(tx, &kunde, posten.artikel_id, day_of(tx, schein), unsaid)?;
        if tax != (posten.mwst_satz, posten.steuer_kategorie) {
            return Ok(true);
        }
        let Some(basis) = bases.next() else { continue };
        let agreed = |teil: &AbrechnungsTeil| match (schein.kontrakt_id, teil.kontrakt_position_id) {
            (Some(kontrakt), Some(position)) if states_no_price => {
                kontrakte.price_now(kontrakt, posten.artikel_id, position)
            }
            _ => Ok(None),
        };
        if is_paid_otherwise(&basis, schein, posten, agreed)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a receipt has another weight, other costs or other prices now; `agreed`: the price that its contract has now.
fn is_paid_otherwise(
    basis: &Grundlage,
    schein: &Annahmeschein,
    posten: &AbrechnungsPosten,
    mut agreed: impl FnMut(&AbrechnungsTeil) -> Result<Option<Price>>,
) -> Result<bool> {
    let is_fixed = posten.abschlag_je_t.is_some();
    let of_first = posten.teile.first().map(|teil| teil.grundpreis);
    let rechnung = computed(basis, schein, of_first)?;
    if rechnung.netto_kg != posten.rechnung.netto_kg {
        return Ok(true);
    }
    if is_fixed {
        return Ok(false);
    }
    for teil in &posten.teile {
        let now = computed(basis, schein, Some(teil.grundpreis))?.preis_je_t;
        if now != Some(teil.preis_je_t) || agreed(teil)?.is_some_and(|agreed| agreed != teil.grundpreis) {
            return Ok(true);
        }
    }
    Ok(rechnung.kosten != posten.rechnung.kosten)
}
