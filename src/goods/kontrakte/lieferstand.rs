//! Delivered and open quantities of contracts (D21g).

use std::collections::HashMap;

use uuid::Uuid;

use super::bezug::{KontraktBezug, side};
use super::model::{Kontrakt, Position};
use super::sql::{self, Bezahlt, Menge};
use super::toleranz::Toleranz;
use crate::master::artikel;
use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::rules::error::{Code, HintCode, Hints, refuse_if};
use crate::rules::fixed::Quantity;
use crate::rules::unit::Conversion;

/// A contract with its positions, its sums and the quantities they consist of.
pub(super) struct Stand {
    pub(super) kontrakt: Kontrakt,
    pub(super) mengen: Vec<Menge>,
    /// Its unit: its own, else that of the first article of its positions.
    einheit: Option<String>,
}

/// Completes contracts with their positions and the delivered, open and settled quantities.
pub fn complete(tx: &Tx<'_>, kontrakte: Vec<Kontrakt>) -> Result<Vec<Kontrakt>> {
    let ids: Vec<Uuid> = kontrakte.iter().map(|kontrakt| kontrakt.id).collect();
    let mut settled: HashMap<Uuid, Quantity> = HashMap::new();
    for Bezahlt { kontrakt_id, kg, .. } in sql::settled(tx, &ids)? {
        let sum = settled.entry(kontrakt_id).or_default();
        *sum = sum.plus(kg)?;
    }
    let with_settled = |Stand { kontrakt, einheit, .. }: Stand| {
        let from_kg = einheit.and_then(|einheit| Conversion::between("kg", &einheit));
        let kg = settled.get(&kontrakt.id).copied().unwrap_or_default();
        let abgerechnet = from_kg.map(|conversion| conversion.quantity(kg)).transpose()?;
        Ok(Kontrakt { abgerechnet, ..kontrakt })
    };
    counted(tx, kontrakte)?.into_iter().map(with_settled).collect()
}

pub(super) fn counted(tx: &Tx<'_>, kontrakte: Vec<Kontrakt>) -> Result<Vec<Stand>> {
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
        let einheit = unit(tx, kontrakt.gesamtmenge_einheit.as_ref(), &positionen)?;
        let geliefert = match &einheit {
            Some(einheit) => total(tx, &positionen, &mengen, einheit)?,
            None => None,
        };
        let offen = match (geliefert, agreed(&kontrakt, &positionen)?) {
            (Some(geliefert), Some(agreed)) => Some(agreed.minus(geliefert)?),
            _ => None,
        };
        Ok(Stand { kontrakt: Kontrakt { geliefert, offen, positionen, ..kontrakt }, mengen, einheit })
    };
    kontrakte.into_iter().map(with_all).collect()
}

/// An item that names a contract and whose goods count towards it.
pub struct Genannt {
    /// Path of the item in the request.
    pub path: String,
    pub position: i64,
    pub bezug: KontraktBezug,
    /// Whether the service chose its position among several.
    pub gewaehlt: bool,
    pub artikel: Uuid,
    /// Whether it brings goods rather than taking them back.
    pub liefert: bool,
}

/// Adds hints for the items of a document if more was delivered on their contract than agreed, if its unit
/// does not allow a sum, or if their counterparts name another contract. Counts the state after the document
/// was booked.
pub fn hint_delivered(tx: &Tx<'_>, beleg: Uuid, items: &[Genannt], hints: &mut Hints) -> Result<()> {
    if items.is_empty() {
        return Ok(());
    }
    let mut found: HashMap<Uuid, Stand> = HashMap::new();
    for id in items.iter().filter_map(|item| item.bezug.kontrakt_id) {
        if !found.contains_key(&id) {
            let stand = counted(tx, sql::find(tx, id)?.into_iter().collect())?;
            found.extend(stand.into_iter().map(|stand| (id, stand)));
        }
    }
    let contradictions = sql::contradictions(tx, beleg)?;
    for item in items {
        let mut own = Hints::default();
        let mut hint = |code, message: String| own.add_field(code, "kontrakt_id", message);
        if let Some(stand) = item.bezug.kontrakt_id.and_then(|id| found.get(&id)) {
            if stand.is_without_sum() {
                hint(HintCode::KontraktEinheit, stand.no_sum());
            }
            if let Some(message) = stand.excess(tx, item)? {
                hint(HintCode::KontraktUeberliefert, message);
            }
        }
        for (_, nummer) in contradictions.iter().filter(|(position, _)| *position == item.position) {
            let message = format!(
                "{nummer} nennt für dieselbe Ware einen anderen Kontrakt oder eine andere Position von ihm. \
                 Es gilt, was die Lieferung nennt."
            );
            hint(HintCode::KontraktWiderspruch, message);
        }
        hints.extend(own.below(&item.path));
    }
    Ok(())
}

/// Refuses changes to a contract that goods or documents already name: to the fields by which goods are
/// counted, and to a quantity below the delivered one (D22).
pub fn check_named(tx: &Tx<'_>, old: &Kontrakt, new: &Kontrakt) -> Result<()> {
    if !sql::is_named(tx, old.id)? {
        return Ok(());
    }
    let unit_of = |kontrakt: &Kontrakt| unit(tx, kontrakt.gesamtmenge_einheit.as_ref(), &kontrakt.positionen);
    let side_of = |kontrakt: &Kontrakt| kontrakt.kontrakt_typ.as_deref().and_then(side);
    let keeps = |old: &Position| {
        let is_same = |new: &Position| {
            new.id == old.id && old.artikel_id.is_none_or(|_| new.artikel_id == old.artikel_id)
        };
        new.positionen.iter().any(is_same)
    };
    let kept = [
        ("kontrakt_nr", old.kontrakt_nr != new.kontrakt_nr),
        ("partner_id", old.partner_id.is_some() && old.partner_id != new.partner_id),
        ("kontrakt_typ", side_of(old).is_some() && side_of(old) != side_of(new)),
        ("gesamtmenge_einheit", unit_of(old)? != unit_of(new)?),
        ("positionen", !old.positionen.iter().all(keeps)),
    ];
    for (feld, is_other) in kept {
        let message = format_args!(
            "Belege, Wiegungen oder Annahmescheine nennen den Kontrakt {}; Nummer, Partner, Richtung, \
             Einheit und die Artikel \
             seiner Positionen bleiben. Bitte ihn auf erledigt setzen und einen neuen anlegen.",
            old.kontrakt_nr
        );
        refuse_if(is_other, Code::WertUngueltig, feld, message)?;
    }
    check_delivered(tx, old, new)
}

/// Refuses to set or lower an agreed quantity, of the contract or a position, to less than was delivered. An
/// unchanged quantity passes.
fn check_delivered(tx: &Tx<'_>, old: &Kontrakt, new: &Kontrakt) -> Result<()> {
    let Some(stand) = counted(tx, sql::find(tx, old.id)?.into_iter().collect())?.pop() else { return Ok(()) };
    let is_less = |old: Option<Quantity>, new: Option<Quantity>, delivered: Quantity| {
        new.is_some_and(|new| new < delivered && old.is_none_or(|old| new < old))
    };
    let refuse = |is_less: bool, feld: &str, delivered: Quantity, einheit: &str| {
        let message = format_args!(
            "Geliefert sind schon {delivered} {einheit}. Weniger kann nicht vereinbart sein; was offen ist, \
             entfällt mit erledigt."
        );
        refuse_if(is_less, Code::WertUngueltig, feld, message)
    };
    if let Some(delivered) = stand.kontrakt.geliefert {
        let (before, after) = (agreed(old, &old.positionen)?, agreed(new, &new.positionen)?);
        let feld = if new.gesamtmenge.is_some() { "gesamtmenge" } else { "positionen" };
        let einheit = stand.einheit.as_deref().unwrap_or_default();
        refuse(is_less(before, after, delivered), feld, delivered, einheit)?;
    }
    for (at, position) in new.positionen.iter().enumerate() {
        let old = old.positionen.iter().find(|old| old.id == position.id);
        let Some((old, artikel)) = old.and_then(|old| Some((old, old.artikel_id?))) else { continue };
        if let Some((delivered, einheit)) = stand.delivered_on(tx, &[old], artikel)? {
            let is_less = is_less(old.menge, position.menge, delivered);
            refuse(is_less, &format!("positionen[{at}].menge"), delivered, &einheit)?;
        }
    }
    Ok(())
}

/// Adds a hint if the goods of a stored contract cannot be summed in its unit.
pub fn hint_unit(tx: &Tx<'_>, kontrakt: &Kontrakt, hints: &mut Hints) -> Result<()> {
    for stand in counted(tx, vec![kontrakt.clone()])?.iter().filter(|stand| stand.is_without_sum()) {
        hints.add_field(HintCode::KontraktEinheit, "gesamtmenge_einheit", stand.no_sum());
    }
    Ok(())
}

impl Stand {
    /// Whether its goods cannot be summed although it has a unit or names articles.
    fn is_without_sum(&self) -> bool {
        let names = |position: &Position| position.artikel_id.is_some();
        let has_unit = self.einheit.is_some() || self.kontrakt.positionen.iter().any(names);
        has_unit && self.kontrakt.geliefert.is_none()
    }

    fn no_sum(&self) -> String {
        format!(
            "Die Ware lässt sich mit der Einheit {} des Kontrakts {} nicht vergleichen; was geliefert ist, \
             bleibt offen. Bitte die Einheit des Kontrakts prüfen.",
            self.einheit.as_deref().unwrap_or_default(),
            self.kontrakt.kontrakt_nr
        )
    }

    /// Returns a message if more was delivered than agreed on the position of an item, on all that take its article if
    /// it names none, or on the whole contract.
    fn excess(&self, tx: &Tx<'_>, item: &Genannt) -> Result<Option<String>> {
        let Kontrakt { kontrakt_nr, positionen, offen, .. } = &self.kontrakt;
        let named = item.bezug.kontrakt_position_id.filter(|_| !item.gewaehlt);
        let meant = |position: &&Position| match named {
            Some(id) => position.id == id,
            None => position.artikel_id.is_none_or(|own| own == item.artikel),
        };
        let meant: Vec<&Position> = positionen.iter().filter(meant).collect();
        let mut bounds = Vec::new();
        if let Some((sum, einheit)) = self.delivered_on(tx, &meant, item.artikel)?
            && let Some(agreed) = total_of(meant.iter().map(|position| position.menge))?
        {
            let what = format!("{} des Kontrakts {kontrakt_nr}", called(&meant));
            bounds.push((what, einheit, agreed, agreed.minus(sum)?));
        }
        if let (Some(agreed), Some(open)) = (agreed(&self.kontrakt, positionen)?, *offen) {
            let einheit = self.einheit.clone().unwrap_or_default();
            bounds.push((format!("den Kontrakt {kontrakt_nr}"), einheit, agreed, open));
        }
        let toleranz = Toleranz::of(tx, &self.kontrakt)?;
        for (what, einheit, agreed, open) in bounds.into_iter().filter(|_| item.liefert) {
            if open.plus(toleranz.beyond(agreed)?)?.is_negative() {
                let over = open.abs();
                return Ok(Some(format!("Auf {what} sind {over} {einheit} mehr geliefert als vereinbart.")));
            }
        }
        Ok(None)
    }

    /// Returns the quantity delivered on some positions that take an article, in the unit of the contract, else of the
    /// article. What names no position counts where only these take its article.
    fn delivered_on(
        &self,
        tx: &Tx<'_>,
        positionen: &[&Position],
        artikel: Uuid,
    ) -> Result<Option<(Quantity, String)>> {
        let own = self.kontrakt.gesamtmenge_einheit.clone();
        let artikel = positionen.iter().find_map(|position| position.artikel_id).unwrap_or(artikel);
        let Some(einheit) = own.or(artikel::must_have(tx, artikel)?.einheit.clone()) else { return Ok(None) };
        let is_of = |menge: &&Menge| {
            let counts = |position: &&Position| match menge.kontrakt_position_id {
                Some(named) => position.id == named,
                None => position.artikel_id.is_none_or(|own| own == menge.artikel_id),
            };
            let all = self.kontrakt.positionen.iter().filter(counts);
            let ids: Vec<Uuid> = all.map(|position| position.id).collect();
            let is_meant = |id: &Uuid| positionen.iter().any(|position| position.id == *id);
            !ids.is_empty() && ids.iter().all(is_meant)
        };
        let (sum, _) = sum(self.mengen.iter().filter(is_of), &einheit)?;
        Ok(Some((sum, einheit)))
    }
}

/// Names positions in a message.
fn called(positionen: &[&Position]) -> String {
    let numbers: Vec<String> = positionen.iter().map(|position| position.position.to_string()).collect();
    let what = if numbers.len() == 1 { "Position" } else { "die Positionen" };
    format!("{what} {}", numbers.join(", "))
}

/// Returns the sum of some quantities; `None` if one is unknown, or there are none.
fn total_of(mengen: impl Iterator<Item = Option<Quantity>>) -> Result<Option<Quantity>> {
    let Some(mengen) = mengen.collect::<Option<Vec<_>>>().filter(|mengen| !mengen.is_empty()) else {
        return Ok(None);
    };
    Ok(Some(mengen.into_iter().try_fold(Quantity::ZERO, Quantity::plus)?))
}

fn unit(tx: &Tx<'_>, own: Option<&String>, positionen: &[Position]) -> Result<Option<String>> {
    if own.is_some() {
        return Ok(own.cloned());
    }
    let Some(id) = positionen.iter().find_map(|position| position.artikel_id) else { return Ok(None) };
    Ok(artikel::must_have(tx, id)?.einheit.clone())
}

/// Returns the agreed quantity: that of the contract, else the sum of its positions.
fn agreed(kontrakt: &Kontrakt, positionen: &[Position]) -> Result<Option<Quantity>> {
    if kontrakt.gesamtmenge.is_some() {
        return Ok(kontrakt.gesamtmenge);
    }
    let mut mengen = positionen.iter().filter_map(|position| position.menge);
    let Some(first) = mengen.next() else { return Ok(None) };
    Ok(Some(mengen.try_fold(first, Quantity::plus)?))
}

/// Returns the sum in the unit of a contract; `None` if the unit does not convert to that of an article that
/// its positions name, or if they name none and nothing delivered converts.
fn total(tx: &Tx<'_>, positionen: &[Position], mengen: &[Menge], einheit: &str) -> Result<Option<Quantity>> {
    let mut names_articles = false;
    for id in positionen.iter().filter_map(|position| position.artikel_id) {
        let artikel = artikel::must_have(tx, id)?;
        if artikel.einheit.as_deref().and_then(|own| Conversion::between(own, einheit)).is_none() {
            return Ok(None);
        }
        names_articles = true;
    }
    let (sum, compared) = sum(mengen.iter(), einheit)?;
    Ok((names_articles || compared || mengen.is_empty()).then_some(sum))
}

/// Returns the sum in a unit, and whether anything converted to it. Leaves out what does not convert, such as
/// freight.
pub fn sum<'m>(mengen: impl Iterator<Item = &'m Menge>, einheit: &str) -> Result<(Quantity, bool)> {
    let (mut sum, mut compared) = (Quantity::ZERO, false);
    for menge in mengen {
        let conversion = menge.einheit.as_deref().and_then(|own| Conversion::between(own, einheit));
        if let Some(conversion) = conversion {
            sum = sum.plus(conversion.quantity(menge.menge)?)?;
            compared = true;
        }
    }
    Ok((sum, compared))
}
