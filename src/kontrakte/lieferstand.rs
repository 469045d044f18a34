//! What was delivered on contracts, and what is open (D21g).

use std::collections::HashMap;

use uuid::Uuid;

use super::model::{Kontrakt, Position};
use super::sql::{self, Menge};
use crate::artikel;
use crate::db::tx::Tx;
use crate::failure::Result;
use crate::rules::error::{HintCode, Hints};
use crate::rules::fixed::Quantity;
use crate::rules::unit::Conversion;

/// The contracts with their positions, what was delivered and what is open.
pub fn complete(tx: &Tx<'_>, kontrakte: Vec<Kontrakt>) -> Result<Vec<Kontrakt>> {
    let ids: Vec<Uuid> = kontrakte.iter().map(|kontrakt| kontrakt.id).collect();
    let mut positions: HashMap<Uuid, Vec<Position>> = HashMap::new();
    for (kontrakt, position) in sql::positions_of(tx, &ids)? {
        positions.entry(kontrakt).or_default().push(position);
    }
    let mut delivered: HashMap<Uuid, Vec<Menge>> = HashMap::new();
    for menge in sql::quantities(tx, &ids)? {
        delivered.entry(menge.kontrakt_id).or_default().push(menge);
    }
    let with_all = |kontrakt: Kontrakt| {
        let positionen = positions.remove(&kontrakt.id).unwrap_or_default();
        let mengen = delivered.remove(&kontrakt.id).unwrap_or_default();
        let einheit = unit(tx, &kontrakt, &positionen)?;
        let geliefert = einheit.map(|einheit| sum(&mengen, &einheit)).transpose()?;
        let offen = match (geliefert, agreed(&kontrakt, &positionen)?) {
            (Some(geliefert), Some(agreed)) => Some(agreed.minus(geliefert)?),
            _ => None,
        };
        Ok(Kontrakt { geliefert, offen, positionen, ..kontrakt })
    };
    kontrakte.into_iter().map(with_all).collect()
}

/// Notes about the items of a document that more was delivered on their contract than was agreed. It counts as it
/// is after the document was booked.
pub fn hint_overdelivered(
    tx: &Tx<'_>,
    items: impl Iterator<Item = (String, Uuid)>,
    hints: &mut Hints,
) -> Result<()> {
    let items: Vec<_> = items.collect();
    let mut ids: Vec<Uuid> = items.iter().map(|(_, kontrakt)| *kontrakt).collect();
    ids.sort_unstable();
    ids.dedup();
    let mut over = HashMap::new();
    for id in ids {
        let complete = complete(tx, sql::find(tx, id)?.into_iter().collect())?;
        let beyond =
            complete.into_iter().filter(|kontrakt| kontrakt.offen.is_some_and(Quantity::is_negative));
        over.extend(beyond.map(|kontrakt| (kontrakt.id, kontrakt)));
    }
    for (path, kontrakt) in items.into_iter().filter_map(|(path, id)| Some((path, over.get(&id)?))) {
        let beyond = kontrakt.offen.unwrap_or_default().abs();
        let message =
            format!("Auf den Kontrakt {} sind {beyond} mehr geliefert als vereinbart.", kontrakt.kontrakt_nr);
        let mut own = Hints::default();
        own.add_field(HintCode::KontraktUeberliefert, "kontrakt_id", message);
        hints.extend(own.below(&path));
    }
    Ok(())
}

/// The unit of a contract: its own, else that of the first article that its positions name.
fn unit(tx: &Tx<'_>, kontrakt: &Kontrakt, positionen: &[Position]) -> Result<Option<String>> {
    if kontrakt.gesamtmenge_einheit.is_some() {
        return Ok(kontrakt.gesamtmenge_einheit.clone());
    }
    let Some(id) = positionen.iter().find_map(|position| position.artikel_id) else { return Ok(None) };
    Ok(artikel::must_have(tx, id)?.einheit.clone())
}

/// What was agreed: the quantity of the contract, else of all its positions.
fn agreed(kontrakt: &Kontrakt, positionen: &[Position]) -> Result<Option<Quantity>> {
    if kontrakt.gesamtmenge.is_some() {
        return Ok(kontrakt.gesamtmenge);
    }
    let mut mengen = positionen.iter().filter_map(|position| position.menge);
    let Some(first) = mengen.next() else { return Ok(None) };
    Ok(Some(mengen.try_fold(first, Quantity::plus)?))
}

/// The sum in a unit. What does not convert, such as freight, is left out.
fn sum(mengen: &[Menge], einheit: &str) -> Result<Quantity> {
    let mut sum = Quantity::ZERO;
    for menge in mengen {
        let conversion = menge.einheit.as_deref().and_then(|own| Conversion::between(own, einheit));
        if let Some(conversion) = conversion {
            sum = sum.plus(conversion.quantity(menge.menge)?)?;
        }
    }
    Ok(sum)
}
