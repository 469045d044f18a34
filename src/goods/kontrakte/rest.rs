//! What is left of the positions of a contract, and which of them goods take that name the contract alone (D21g).

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use uuid::Uuid;

use super::lieferstand::sum;
use super::model::{Kontrakt, Position};
use super::sql::{self, Menge};
use crate::master::artikel::Artikel;
use crate::platform::db::tx::Tx;
use crate::platform::failure::{Failure, Result};
use crate::rules::document::Seite;
use crate::rules::fixed::Quantity;

/// A position of a contract, with what is left of it.
pub struct Rest {
    pub position: Position,
    /// Not negative; `None` if the position has no quantity.
    pub offen: Option<Quantity>,
    /// What was taken beyond its quantity.
    pub ueber: Quantity,
}

impl Rest {
    /// Returns its price and what is left of it, in words; `einheit` is that of both.
    pub fn terms(&self, einheit: Option<&str>) -> String {
        let menge = |offen| format!("davon offen {offen} {}", einheit.unwrap_or_default());
        let offen = self.offen.map_or("ohne Menge".to_owned(), menge);
        format!("{}, {offen}", self.price(einheit))
    }

    pub fn price(&self, einheit: Option<&str>) -> String {
        let price = |preis| format!("{preis} EUR je {}", einheit.unwrap_or("Einheit"));
        self.position.preis.map_or("ohne Preis".to_owned(), price)
    }

    /// Takes a quantity, up to what is left; returns the part beyond it.
    fn take(&mut self, menge: Quantity) -> Result<Quantity> {
        let Some(offen) = self.offen else { return Ok(Quantity::ZERO) };
        let taken = menge.min(offen);
        self.offen = Some(offen.minus(taken)?);
        Ok(menge.minus(taken)?)
    }
}

/// Returns what is no longer left of a contract for settlements: what live ones paid at its prices, and what documents
/// delivered that no goods receipt made (D29g).
pub fn taken(tx: &Tx<'_>, kontrakt: Uuid) -> Result<Vec<Menge>> {
    let mut mengen = sql::quantities_by_hand(tx, kontrakt)?;
    mengen.extend(sql::settled(tx, &[kontrakt])?.into_iter().map(|paid| Menge {
        kontrakt_id: kontrakt,
        kontrakt_position_id: paid.kontrakt_position_id,
        artikel_id: paid.artikel_id,
        menge: paid.kg,
        einheit: Some("kg".to_owned()),
    }));
    Ok(mengen)
}

/// Returns what some quantities leave of the positions of an article, in a unit: what names no position fills them one
/// after the other.
pub fn rests(
    positionen: &[Position],
    artikel: Uuid,
    mengen: &[Menge],
    einheit: Option<&str>,
) -> Result<Vec<Rest>> {
    let taken = |position: Option<Uuid>| {
        let meant = |menge: &&Menge| menge.kontrakt_position_id == position && menge.artikel_id == artikel;
        let sum = einheit.map(|einheit| sum(mengen.iter().filter(meant), einheit)).transpose()?;
        Ok::<_, Failure>(sum.map(|(sum, _)| sum).unwrap_or_default().max(Quantity::ZERO))
    };
    let mut rests = Vec::new();
    for position in positionen.iter().filter(|position| position.artikel_id == Some(artikel)) {
        let mut rest = Rest { position: position.clone(), offen: position.menge, ueber: Quantity::ZERO };
        rest.ueber = rest.take(taken(Some(position.id))?)?;
        rests.push(rest);
    }
    let beyond = rests.iter_mut().try_fold(taken(None)?, |loose, rest| rest.take(loose))?;
    if let Some(last) = rests.last_mut() {
        last.ueber = last.ueber.plus(beyond)?;
    }
    Ok(rests)
}

/// The positions that the items of a request take from contracts, each contract looked up once.
#[derive(Default)]
pub struct Wahl {
    /// By contract and article; `None` for a contract that does not apply to them.
    known: BTreeMap<(Uuid, Uuid), Option<Moeglich>>,
    /// What the items took so far.
    taken: Vec<Menge>,
}

/// The positions of a contract that have an article.
struct Moeglich {
    kontrakt_nr: String,
    /// Unit of their quantities and prices.
    einheit: Option<String>,
    rests: Vec<Rest>,
}

impl Wahl {
    /// Returns the position that goods of an article take from a contract that they name alone: the only one, else the
    /// one that they had `before`, else the first of which something is left, else the last.
    pub fn position(
        &mut self,
        tx: &Tx<'_>,
        kontrakt: Uuid,
        artikel: &Artikel,
        (partner, seite): (Uuid, Seite),
        before: Option<Uuid>,
    ) -> Result<Option<Gewaehlt>> {
        let known = match self.known.entry((kontrakt, artikel.id)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(free) => {
                let found = sql::find(tx, kontrakt)?.filter(|kontrakt| kontrakt.binds(partner, seite));
                free.insert(
                    found.map(|kontrakt| Moeglich::of(tx, kontrakt, artikel, &self.taken)).transpose()?,
                )
            }
        };
        Ok(known.as_ref().and_then(|possible| possible.chosen(before)))
    }

    /// Lowers what later items find of the position that an item takes.
    pub fn take(&mut self, menge: Menge) -> Result<()> {
        let possible = self.known.get_mut(&(menge.kontrakt_id, menge.artikel_id));
        if let Some(Some(Moeglich { einheit: Some(einheit), rests, .. })) = possible
            && let Some(rest) =
                rests.iter_mut().find(|rest| Some(rest.position.id) == menge.kontrakt_position_id)
        {
            let (taken, _) = sum([&menge].into_iter(), einheit)?;
            rest.take(taken.max(Quantity::ZERO))?;
        }
        self.taken.push(menge);
        Ok(())
    }
}

/// The position of a contract that was chosen for an item.
pub struct Gewaehlt {
    pub position: Uuid,
    /// Which of several it is, with its price and what is left of it; `None` if it is the only one.
    pub of_several: Option<String>,
}

impl Moeglich {
    fn of(tx: &Tx<'_>, kontrakt: Kontrakt, artikel: &Artikel, taken: &[Menge]) -> Result<Moeglich> {
        let positionen = sql::positions(tx, kontrakt.id)?;
        let einheit = kontrakt.gesamtmenge_einheit.or_else(|| artikel.einheit.clone());
        let has_article = |position: &&Position| position.artikel_id == Some(artikel.id);
        let is_several = positionen.iter().filter(has_article).count() > 1;
        // Nobody asks what is left of the only one.
        let mut mengen = if is_several { sql::quantities(tx, &[kontrakt.id])? } else { Vec::new() };
        mengen.extend_from_slice(taken);
        let rests = rests(&positionen, artikel.id, &mengen, einheit.as_deref())?;
        Ok(Moeglich { kontrakt_nr: kontrakt.kontrakt_nr, einheit, rests })
    }

    fn chosen(&self, before: Option<Uuid>) -> Option<Gewaehlt> {
        let had = || self.rests.iter().find(|rest| before == Some(rest.position.id));
        let free = || self.rests.iter().find(|rest| rest.offen != Some(Quantity::ZERO));
        let rest = had().or_else(free).or(self.rests.last())?;
        let of_several = (self.rests.len() > 1).then(|| self.said(rest));
        Some(Gewaehlt { position: rest.position.id, of_several })
    }

    fn said(&self, rest: &Rest) -> String {
        format!(
            "Der Kontrakt {} hat mehrere Positionen für diesen Artikel; es gilt Position {} ({}). \
             Soll es eine andere sein, bitte kontrakt_position_id angeben.",
            self.kontrakt_nr,
            rest.position.position,
            rest.terms(self.einheit.as_deref())
        )
    }
}
