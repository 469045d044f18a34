//! Sharing the net weight of a weighing among positions of live documents of one type (D12).

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use uuid::Uuid;

use super::header::Context;
use crate::goods::waage::FertigeWiegung;
use crate::master::tenants::Lagerbuchung;
use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::rules::document::{BelegTyp, Seite};
use crate::rules::error::{Checked, Code, HintCode, Hints, refuse_if};
use crate::rules::fixed::Quantity;
use crate::rules::unit::Conversion;
use crate::rules::weighing::Richtung;
use crate::trade::belege::eingabe::NewItem;
use crate::trade::belege::sql;

/// The shares of each weighing already taken, by other documents and by the items of this one so far.
pub struct Anteile {
    /// Number of items in the request that name each weighing.
    items: BTreeMap<Uuid, usize>,
    taken: BTreeMap<Uuid, Anteil>,
}

#[derive(Default)]
struct Anteil {
    /// In kg.
    taken: Quantity,
    is_shared: bool,
}

/// Whether an item takes a share: not if it moves no goods, deducts, or takes goods back.
pub fn takes_share(context: &Context<'_>, item: &NewItem) -> bool {
    let has_artikel = item.artikel_id.is_some() || item.artikelnr.is_some();
    let declines = may_decline(context) && item.lager_buchen == Some(false);
    has_artikel
        && !declines
        && !item.ep_netto.is_some_and(|price| price.is_negative())
        && !item.menge.is_some_and(Quantity::is_negative)
}

/// Whether the request decides which goods take part in the stock; otherwise the document's type does (D8).
fn may_decline(context: &Context<'_>) -> bool {
    context.beleg.beleg_typ.ist_rechnung() && context.einstellungen.lagerbuchung == Lagerbuchung::Beleg
}

impl Anteil {
    fn of_others(tx: &Tx<'_>, context: &Context<'_>, wiegung: &FertigeWiegung) -> Result<Anteil> {
        let mut anteil = Anteil::default();
        for (menge, einheit) in sql::sharing(tx, wiegung.wiegung.id, context.beleg, !may_decline(context))? {
            anteil.taken = anteil.taken.plus(weight(wiegung, menge, einheit.as_deref())?)?;
            anteil.is_shared = true;
        }
        Ok(anteil)
    }
}

impl Anteile {
    pub fn of(context: &Context<'_>, items: &[NewItem]) -> Anteile {
        let mut named = BTreeMap::new();
        for item in items.iter().filter(|item| takes_share(context, item)) {
            item.wiegung_id.into_iter().for_each(|wiegung| *named.entry(wiegung).or_default() += 1);
        }
        Anteile { items: named, taken: BTreeMap::new() }
    }

    /// Returns the weight that the others leave of a weighing, in kg.
    pub fn left(&mut self, tx: &Tx<'_>, context: &Context<'_>, wiegung: &FertigeWiegung) -> Result<Quantity> {
        let anteil = match self.taken.entry(wiegung.wiegung.id) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(Anteil::of_others(tx, context, wiegung)?),
        };
        Ok(wiegung.netto.minus(anteil.taken)?)
    }

    /// Whether other positions take a share.
    pub fn is_shared(&self, wiegung: &FertigeWiegung) -> bool {
        let id = wiegung.wiegung.id;
        self.items.get(&id).is_some_and(|items| *items > 1)
            || self.taken.get(&id).is_some_and(|anteil| anteil.is_shared)
    }

    /// Takes the share of a position, which may exceed the weighed amount if it is the only one.
    pub fn take(&mut self, wiegung: &FertigeWiegung, menge: Quantity, einheit: Option<&str>) -> Checked<()> {
        let weight = weight(wiegung, menge, einheit)?;
        let anteil = self.taken.entry(wiegung.wiegung.id).or_default();
        let taken = anteil.taken.plus(weight)?;
        let is_too_much = anteil.is_shared && taken > wiegung.netto;
        refuse_if(is_too_much, Code::WiegungBereitsVerwendet, "wiegung_id", USED_UP)?;
        *anteil = Anteil { taken, is_shared: true };
        Ok(())
    }
}

pub const USED_UP: &str =
    "Die Positionen von Belegen dieser Art nehmen zusammen mehr, als gewogen wurde. Bitte die Mengen prüfen.";

/// Returns the share of a quantity in a weighing, in kg: all of it if its unit is not one of mass.
fn weight(wiegung: &FertigeWiegung, menge: Quantity, einheit: Option<&str>) -> Checked<Quantity> {
    match einheit.and_then(|einheit| Conversion::between(einheit, "kg")) {
        Some(in_kg) => Ok(in_kg.quantity(menge)?),
        None => Ok(wiegung.netto),
    }
}

/// Adds hints where an item differs from its weighing; the item takes precedence (D12). For returned goods
/// the quantity is negative and the direction is reversed.
pub fn hint_contradictions(
    wiegung: &FertigeWiegung,
    typ: BelegTyp,
    menge: Quantity,
    einheit: Option<&str>,
    is_shared: bool,
    hints: &mut Hints,
) -> Checked<()> {
    if let Some(einheit) = einheit
        && let Some(weighed) = weight_in(einheit, wiegung.netto)?
        && menge.abs() != weighed
        && !is_shared
    {
        let message = format!("Gewogen wurden {weighed} {einheit}; die gesendete Menge gilt.");
        hints.add_field(HintCode::GewichtWiderspruch, "menge", message);
    }
    let comes_in = (typ.seite() == Seite::Einkauf) != menge.is_negative();
    let expected = if comes_in { Richtung::Eingang } else { Richtung::Ausgang };
    wiegung.hint_other_direction(expected, hints);
    Ok(())
}

/// Whether remaining positions share a weighing; `named` are the weighings of this document's positions.
pub fn is_shared(tx: &Tx<'_>, context: &Context<'_>, wiegung: Uuid, named: &[Uuid]) -> Result<bool> {
    let own = named.iter().filter(|other| **other == wiegung).count();
    Ok(own > 1 || !sql::sharing(tx, wiegung, context.beleg, !may_decline(context))?.is_empty())
}

/// Converts a weight in kg to a unit; `None` if that is not a unit of mass.
pub fn weight_in(einheit: &str, weight: Quantity) -> Checked<Option<Quantity>> {
    let conversion = Conversion::between("kg", einheit);
    Ok(conversion.map(|conversion| conversion.quantity(weight)).transpose()?)
}
