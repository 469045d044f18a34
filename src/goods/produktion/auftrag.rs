//! Creating a production order (specification, POST /produktionsauftraege; D13).

use super::model::{AuftragBestaetigung, NewAuftrag, Produktionsauftrag, Rezeptur};
use super::sql;
use crate::platform::db::seals::numbers;
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::Result;
use crate::rules::error::{Code, HintCode, Hints, Refusal, refuse_if};
use crate::rules::fixed::Quantity;
use crate::rules::number::Reihe;
use crate::rules::recipe::{PaStatus, Zeilenart, scaled};

pub fn create(tx: &WriteTx<'_>, new: NewAuftrag, mut hinweise: Hints) -> Result<AuftragBestaetigung> {
    let message = "Der Faktor muss über 0 sein.";
    let is_too_low = new.faktor.is_some_and(|faktor| faktor <= Quantity::ZERO);
    refuse_if(is_too_low, Code::FaktorUngueltig, "faktor", message)?;
    if new.rezeptur_id.is_none() && new.faktor.is_some() {
        let message = "Ohne rezeptur_id gibt es nichts zu vervielfachen; der Faktor ist 1.";
        hinweise.add_field(HintCode::FeldIgnoriert, "faktor", message);
    }
    let faktor = new.faktor.filter(|_| new.rezeptur_id.is_some()).unwrap_or(Quantity::whole(1));
    let rezeptur = new.rezeptur_id.map(|id| recipe(tx, id)).transpose()?;
    let auftrag = order(tx, new, faktor, rezeptur.as_ref())?;
    sql::insert(tx, &auftrag)?;
    if let Some(rezeptur) = &rezeptur {
        copy_lines(tx, &auftrag, rezeptur, &mut hinweise)?;
    }
    Ok(AuftragBestaetigung {
        id: auftrag.id,
        pa_nummer: auftrag.pa_nummer,
        status: auftrag.status,
        rezeptur_id: auftrag.rezeptur_id,
        rezeptur_version: auftrag.rezeptur_version,
        hinweise,
    })
}

/// Builds the new order: status planned if it has a day.
fn order(
    tx: &WriteTx<'_>,
    new: NewAuftrag,
    faktor: Quantity,
    rezeptur: Option<&Rezeptur>,
) -> Result<Produktionsauftrag> {
    let is_planned = new.produktions_datum.is_some();
    let mut auftrag = Produktionsauftrag {
        id: tx.new_id(),
        pa_nummer: numbers::next(tx, Reihe::Produktionsauftrag, tx.today().year())?,
        rezeptur_version: rezeptur.map(|rezeptur| rezeptur.version),
        status: if is_planned { PaStatus::Geplant } else { PaStatus::Schwebend },
        geplant_am: is_planned.then(|| tx.now()),
        rezeptur_bezeichnung: rezeptur.map(|rezeptur| rezeptur.bezeichnung.clone()),
        rezeptur_typ: rezeptur.and_then(|rezeptur| rezeptur.typ.clone()),
        created_at: tx.now(),
        version: 1,
        ..Produktionsauftrag::default()
    };
    new.apply_to(&mut auftrag);
    auftrag.faktor = faktor;
    Ok(auftrag)
}

fn recipe(tx: &Tx<'_>, id: i64) -> Result<Rezeptur> {
    let found = sql::newest_active(tx, id)?;
    Ok(found.ok_or_else(|| {
        let message = "Diese Rezeptur gibt es nicht, oder keine ihrer Versionen ist aktiv.";
        Refusal::field(Code::RezepturNichtGefunden, "rezeptur_id", message)
    })?)
}

/// Copies the lines of a recipe, scaled by the factor, into an order.
fn copy_lines(
    tx: &WriteTx<'_>,
    auftrag: &Produktionsauftrag,
    rezeptur: &Rezeptur,
    hinweise: &mut Hints,
) -> Result<()> {
    for (art, name) in [(Zeilenart::Input, "inputs"), (Zeilenart::Output, "outputs")] {
        for (index, zeile) in sql::recipe_lines(tx, rezeptur, art)?.into_iter().enumerate() {
            let (soll_menge, rounded) = scaled(zeile.menge, auftrag.faktor, zeile.einheit.as_deref(), art)?;
            if rounded {
                let message = format!("Die Sollmenge wurde auf {soll_menge} gerundet.");
                hinweise.add_field(HintCode::Gerundet, format!("{name}[{index}].soll_menge"), message);
            }
            sql::insert_line(tx, auftrag.id, art, index as i64 + 1, soll_menge, &zeile)?;
        }
    }
    Ok(())
}
