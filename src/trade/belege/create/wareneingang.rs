//! Goods received over the scale: creates a purchase delivery note from a goods receipt (D21a).

use uuid::Uuid;

use super::header::Context;
use super::steuer;
use crate::goods::chargen::Bewegung;
use crate::master::kunden::Kunde;
use crate::master::{artikel, steuersaetze, tenants};
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::Result;
use crate::rules::day::{Day, DayTime};
use crate::rules::document::{BelegStatus, BelegTyp};
use crate::rules::error::Hints;
use crate::rules::fixed::{Percent, Quantity};
use crate::rules::tax::Steuerkategorie;
use crate::rules::unit::Conversion;
use crate::rules::verweis::Verweis;
use crate::trade::belege::eingabe::{NewBeleg, NewItem};
use crate::trade::belege::model::{Beleg, BelegPosition, Source};
use crate::trade::belege::{create, fluss, lager, sql};

/// Books received goods by one EL; returns the document with its position, and the movements. Refusals and
/// hints name fields of the request that brought the goods.
pub fn receive(
    tx: &WriteTx<'_>,
    partner: Uuid,
    lieferdatum: Day,
    item: NewItem,
    hints: &mut Hints,
) -> Result<(Beleg, Vec<Bewegung>)> {
    let new = NewBeleg {
        beleg_typ: Some(BelegTyp::El),
        kunden_id: Some(Verweis::Id(partner)),
        lieferdatum: Some(lieferdatum),
        items: Some(vec![item]),
        ..NewBeleg::default()
    };
    let (beleg, bewegungen) = create::add(tx, &new, Source::Fields, hints)?;
    Ok((fluss::with_positions(tx, beleg)?, bewegungen))
}

/// The quantity of an article that a purchase delivery brought.
pub struct Geliefert {
    /// Zero if a later change gave it another partner or removed the article.
    pub kg: Quantity,
    /// Whether an invoice or a return is paired with some of it.
    pub is_met: bool,
}

/// Returns the quantity of an article that a delivery of a partner brought; `None` if it was cancelled.
pub fn delivered(tx: &Tx<'_>, beleg: Uuid, partner: Uuid, artikel: Uuid) -> Result<Option<Geliefert>> {
    let Some(beleg) = sql::find(tx, beleg)?.filter(|beleg| beleg.status != BelegStatus::Storniert) else {
        return Ok(None);
    };
    let (mut kg, mut moved) = (Quantity::ZERO, Quantity::ZERO);
    let of_artikel = |position: &BelegPosition| position.artikel_id == Some(artikel);
    for position in sql::positions(tx, beleg.id)?.into_iter().filter(of_artikel) {
        let in_kg = position.einheit.as_deref().and_then(|einheit| Conversion::between(einheit, "kg"));
        if let Some(in_kg) = in_kg.filter(|_| beleg.kunde_id == partner) {
            kg = kg.plus(in_kg.quantity(position.menge)?)?;
        }
        moved = moved.plus(position.lager_menge.unwrap_or_default())?;
    }
    let open = lager::open_of_article(tx, &beleg, artikel)?;
    Ok(Some(Geliefert { kg, is_met: open != moved }))
}

/// Returns the tax of goods delivered on a day, in a Gutschrift to the partner (D7): its rate and category.
/// The request names neither.
pub fn tax_of_delivery(
    tx: &Tx<'_>,
    kunde: &Kunde,
    artikel: Uuid,
    day: Day,
    hints: &mut Hints,
) -> Result<(Percent, Steuerkategorie)> {
    let (einstellungen, saetze) = (tenants::load(tx)?, steuersaetze::all(tx)?);
    let beleg = Beleg { beleg_typ: BelegTyp::Er, beleg_datum: DayTime(day), ..Beleg::default() };
    let context = Context::of(&beleg, kunde, &einstellungen, &saetze);
    let artikel = artikel::must_have(tx, artikel)?;
    let item = NewItem::default();
    let mut of_item = Hints::default();
    let tax = steuer::of_item(tx, &context, &item, Some(&artikel), None, &mut of_item)?;
    hints.extend(of_item.without_fields());
    Ok((tax.satz, tax.kategorie))
}

/// Creates a Gutschrift to a supplier; `with` stores what it settles before it becomes final. `satz_tage` are the rate dates of its
/// items.
pub fn bill(
    tx: &WriteTx<'_>,
    new: &NewBeleg,
    satz_tage: &[Day],
    with: impl FnOnce(&Beleg) -> Result<()>,
    hints: &mut Hints,
) -> Result<(Beleg, Vec<Bewegung>)> {
    create::add_with(tx, new, (Source::Items, satz_tage), with, hints)
}

pub fn is_live(tx: &Tx<'_>, beleg: Uuid) -> Result<bool> {
    Ok(sql::find(tx, beleg)?.is_some_and(|beleg| beleg.status != BelegStatus::Storniert))
}
