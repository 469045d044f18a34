//! The document that an item references by bezug_beleg_id (D6, D7, D8).

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use uuid::Uuid;

use super::header::Context;
use crate::master::artikel::Artikel;
use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::rules::document::{BelegStatus, BelegTyp, Lagerrolle};
use crate::rules::error::{Checked, Code, Refusal, refuse_if};
use crate::rules::fixed::Quantity;
use crate::trade::belege::credited;
use crate::trade::belege::eingabe::NewItem;
use crate::trade::belege::model::{Beleg, BelegPosition};
use crate::trade::belege::sql::{self, NamedPosition};

pub struct Named {
    pub beleg: Beleg,
    positions: Vec<NamedPosition>,
    /// Whether it takes back from the document of the request, once that was asked.
    takes_back: Cell<Option<bool>>,
}

/// Positions that a refusal names, at most.
const POSITIONS_SHOWN_MAX: usize = 5;

/// Maximum number of positions of referenced documents kept in memory.
const NAMED_POSITIONS_MAX: usize = 10_000;

/// The documents that a request's items reference, each looked up once: a thousand items may reference the
/// same one.
#[derive(Default)]
pub struct AllNamed(BTreeMap<Uuid, Rc<Named>>);

impl AllNamed {
    pub fn find(&mut self, tx: &Tx<'_>, id: Uuid) -> Result<Rc<Named>> {
        if let Some(known) = self.0.get(&id) {
            return Ok(Rc::clone(known));
        }
        let unknown = || Refusal::unknown(Code::BelegNichtGefunden, "bezug_beleg_id", "Diesen Beleg");
        let beleg = sql::find(tx, id)?.ok_or_else(unknown)?;
        let named =
            Rc::new(Named { beleg, positions: sql::named_positions(tx, id)?, takes_back: Cell::default() });
        let kept: usize = self.0.values().map(|known| known.positions.len()).sum();
        if kept + named.positions.len() > NAMED_POSITIONS_MAX {
            self.0.clear();
        }
        self.0.insert(id, Rc::clone(&named));
        Ok(named)
    }
}

impl Named {
    /// Finds the position of this invoice whose price and tax an item of negative quantity takes back (D6): of those
    /// with its article (and its batch, if it sends one) the one of exactly this quantity, `lager_menge` in the article's
    /// unit; else any, if all agree, or if the item sends what they differ in. Refuses to guess among others.
    pub fn taken_back(
        &self,
        typ: BelegTyp,
        item: &NewItem,
        artikel: Option<&Artikel>,
        lager_menge: Option<Quantity>,
    ) -> Checked<Option<&NamedPosition>> {
        let is_invoice = typ.ist_rechnung() && self.beleg.beleg_typ == typ;
        let Some((artikel, menge)) =
            artikel.zip(lager_menge).filter(|(_, menge)| is_invoice && menge.is_negative())
        else {
            return Ok(None);
        };
        let is_billed = |position: &&NamedPosition| {
            let is_taken = !position.menge.is_negative() && !position.ep_netto.is_negative();
            position.artikel_id == artikel.id && is_taken
        };
        let billed: Vec<_> = self.positions.iter().filter(is_billed).collect();
        let of_batch = billed.iter().filter(|position| position.charge_id == item.charge_id);
        let of_batch: Vec<_> = of_batch.copied().filter(|_| item.charge_id.is_some()).collect();
        let meant = if of_batch.is_empty() { billed } else { of_batch };
        let exact: Vec<_> = meant.iter().copied().filter(|position| position.menge == -menge).collect();
        for candidates in [&exact, &meant] {
            if let Some(last) = candidates.last()
                && candidates.iter().all(|other| item.is_taken_alike(other, last))
            {
                return Ok(Some(*last));
            }
        }
        if meant.is_empty() { Ok(None) } else { Err(self.ambiguous(&meant)) }
    }

    fn ambiguous(&self, meant: &[&NamedPosition]) -> Box<Refusal> {
        let shown = meant.iter().take(POSITIONS_SHOWN_MAX).map(|position| {
            let NamedPosition { position, menge, ep_netto, rabatt_prozent, mwst_satz, .. } = position;
            format!("Position {position}: {menge} zu {ep_netto} EUR, Rabatt {rabatt_prozent} %, Steuer {mwst_satz} %")
        });
        let shown: Vec<_> = shown.collect();
        let what = format!(
            "{} berechnet diesen Artikel verschieden ({}).",
            self.beleg.beleg_nummer,
            shown.join("; ")
        );
        let advice =
            "Bitte ep_netto (mit rabatt_prozent) und mwst_satz senden, oder genau die Menge einer Position.";
        Refusal::field(Code::BezugMehrdeutig, "bezug_beleg_id", (what, advice))
    }

    /// Refuses to take back from an invoice that takes back from this one, directly or by others: neither could be
    /// cancelled before the other (D4).
    pub fn refuse_circle(&self, tx: &Tx<'_>, context: &Context<'_>, position: &BelegPosition) -> Result<()> {
        let (own, other) = (&context.beleg, &self.beleg);
        let is_credit = position.menge.is_negative() && own.beleg_typ == other.beleg_typ;
        if !is_credit || !own.beleg_typ.ist_rechnung() {
            return Ok(());
        }
        let is_circle = match self.takes_back.get() {
            Some(known) => known,
            None => credited::takes_back(tx, other, own.id)?,
        };
        self.takes_back.set(Some(is_circle));
        let message = format_args!(
            "Der Bezug passt nicht: {} nimmt selbst von diesem Beleg zurück.",
            other.beleg_nummer
        );
        Ok(refuse_if(is_circle, Code::BezugPasstNicht, "bezug_beleg_id", message)?)
    }

    /// Refuses a document unless it is live, of the same partner and fits the item: for goods, the
    /// counterpart with the same article; for goods taken back, also a document that contains them; for other
    /// items, an invoice (D8).
    pub fn check(&self, context: &Context<'_>, position: &BelegPosition) -> Checked<()> {
        let (own, typ) = (context.beleg.beleg_typ, self.beleg.beleg_typ);
        let any = |is_so: fn(Quantity) -> bool| self.positions.iter().any(|position| is_so(position.menge));
        let (forward, back) = (any(|menge| !menge.is_negative()), any(Quantity::is_negative));
        let has_artikel = self.positions.iter().any(|other| Some(other.artikel_id) == position.artikel_id);
        let (is_counterpart, is_same) = (Some(typ) == own.gegenstueck(), typ == own);
        let can_take = match (own.lagerrolle(), position.menge.is_negative()) {
            _ if position.artikel_id.is_none() || position.ep_netto.is_negative() => typ.ist_rechnung(),
            (Lagerrolle::Keine, _) => false,
            (_, false) => has_artikel && is_counterpart,
            (Lagerrolle::Lieferung, true) => has_artikel && (is_counterpart || is_same && forward),
            (Lagerrolle::Rechnung, true) => has_artikel && (is_same && forward || is_counterpart && back),
        };
        let is_live = self.beleg.status != BelegStatus::Storniert;
        let is_fit = can_take && is_live && self.beleg.kunde_id == context.kunde.id;
        let message = "Der Bezug passt nicht: Er muss ein nicht stornierter Beleg desselben Partners mit \
            diesem Artikel \
            sein, zur Rechnung die Lieferung (oder umgekehrt), zur Gutschrift die Rechnung oder Rücklieferung, zur \
            Rücklieferung die Lieferung, Rechnung oder Gutschrift; ohne Artikel eine Rechnung.";
        refuse_if(!is_fit, Code::BezugPasstNicht, "bezug_beleg_id", message)
    }
}

impl NewItem {
    /// Whether it takes the same from either position: what it sends itself does not matter.
    fn is_taken_alike(&self, one: &NamedPosition, other: &NamedPosition) -> bool {
        let price = |of: &NamedPosition| (of.ep_netto, of.rabatt_prozent, of.einheit.clone());
        let tax = |of: &NamedPosition| (of.mwst_satz, of.steuer_kategorie);
        (self.ep_netto.is_some() || price(one) == price(other))
            && (self.mwst_satz.is_some() || tax(one) == tax(other))
    }
}
