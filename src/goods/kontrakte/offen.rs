//! The open contract of a partner that goods could count for and do not name (D21g).

use std::collections::BTreeMap;

use uuid::Uuid;

use super::lieferstand::counted;
use super::model::Kontrakt;
use super::rest::rests;
use super::sql;
use crate::master::artikel;
use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::rules::day::{Day, DayTime};
use crate::rules::document::Seite;
use crate::rules::error::{HintCode, Hints};
use crate::rules::fixed::Quantity;

/// Contracts for the article whose remainder is computed, at most.
const COUNTED_MAX: usize = 3;
/// Document positions that name a contract, up to which its remainder is computed.
const POSITIONS_MAX: i64 = 200;

/// The contracts that goods of a partner do not name, each article looked up once.
pub struct Ungenannt<'u> {
    tx: &'u Tx<'u>,
    partner: Uuid,
    seite: Seite,
    day: Day,
    known: BTreeMap<Uuid, Option<String>>,
}

impl<'u> Ungenannt<'u> {
    pub fn of(tx: &'u Tx<'u>, partner: Uuid, seite: Seite, day: Day) -> Ungenannt<'u> {
        Ungenannt { tx, partner, seite, day, known: BTreeMap::new() }
    }

    /// Adds a hint if the partner has an open contract for the article of goods that name none.
    pub fn hint(&mut self, artikel: Uuid, hints: &mut Hints) -> Result<()> {
        if !self.known.contains_key(&artikel) {
            let message = self.message(artikel)?;
            self.known.insert(artikel, message);
        }
        if let Some(message) = self.known.get(&artikel).into_iter().flatten().next() {
            hints.add_field(HintCode::KontraktOffen, "kontrakt_id", message);
        }
        Ok(())
    }

    /// Describes the contract that ends first among those of which something is left.
    fn message(&self, artikel: Uuid) -> Result<Option<String>> {
        let mut counted = 0;
        for id in sql::open_for(self.tx, self.partner, artikel, self.day)? {
            let Some(kontrakt) = sql::find(self.tx, id)?.filter(|kontrakt| self.applies(kontrakt)) else {
                continue;
            };
            if counted == COUNTED_MAX {
                break;
            }
            counted += 1;
            let nummer = kontrakt.kontrakt_nr.clone();
            if let Some(terms) = self.terms(kontrakt, artikel)? {
                return Ok(Some(format!(
                    "Der Partner hat für diesen Artikel den offenen Kontrakt {nummer} ({terms}). Soll die Ware darauf \
                     zählen, bitte kontrakt_id angeben."
                )));
            }
        }
        Ok(None)
    }

    fn applies(&self, kontrakt: &Kontrakt) -> bool {
        kontrakt.binds(self.partner, self.seite)
            && kontrakt.gueltig_von.is_none_or(|DayTime(first)| first <= self.day)
    }

    /// Returns price and remainder of a contract for an article; `None` if nothing is left of it.
    fn terms(&self, kontrakt: Kontrakt, artikel: Uuid) -> Result<Option<String>> {
        let artikel = artikel::must_have(self.tx, artikel)?;
        let einheit = kontrakt.gesamtmenge_einheit.clone().or_else(|| artikel.einheit.clone());
        let is_counted = !sql::is_named_by_more(self.tx, kontrakt.id, POSITIONS_MAX)?;
        if !is_counted {
            let positionen = sql::positions(self.tx, kontrakt.id)?;
            let rests = rests(&positionen, artikel.id, &[], einheit.as_deref())?;
            let price = rests.first().map(|rest| rest.price(einheit.as_deref()));
            return Ok(price.map(|price| format!("{price}; was offen ist, zeigt der Kontrakt")));
        }
        let Some(stand) = counted(self.tx, vec![kontrakt])?.pop() else { return Ok(None) };
        let is_left = |offen: Option<Quantity>| offen.is_none_or(|offen| offen > Quantity::ZERO);
        if !is_left(stand.kontrakt.offen) {
            return Ok(None);
        }
        let rests = rests(&stand.kontrakt.positionen, artikel.id, &stand.mengen, einheit.as_deref())?;
        let rest = rests.iter().find(|rest| is_left(rest.offen));
        Ok(rest.map(|rest| rest.terms(einheit.as_deref())))
    }
}
