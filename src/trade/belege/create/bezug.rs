//! The document that an item is bound to (D6, D7, D8).

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
use crate::trade::belege::eingabe::NewItem;
use crate::trade::belege::model::{Beleg, BelegPosition};
use crate::trade::belege::sql::{self, NamedPosition};

pub struct Named {
    pub beleg: Beleg,
    positions: Vec<NamedPosition>,
}

/// Positions of named documents that are kept.
const NAMED_POSITIONS_MAX: usize = 10_000;

/// What the items of a request name, looked up once, as a thousand may name the same.
#[derive(Default)]
pub struct AllNamed(BTreeMap<Uuid, Rc<Named>>);

impl AllNamed {
    pub fn find(&mut self, tx: &Tx<'_>, id: Uuid) -> Result<Rc<Named>> {
        if let Some(known) = self.0.get(&id) {
            return Ok(Rc::clone(known));
        }
        let unknown = || Refusal::unknown(Code::BelegNichtGefunden, "bezug_beleg_id", "Diesen Beleg");
        let beleg = sql::find(tx, id)?.ok_or_else(unknown)?;
        let named = Rc::new(Named { beleg, positions: sql::named_positions(tx, id)? });
        let kept: usize = self.0.values().map(|known| known.positions.len()).sum();
        if kept + named.positions.len() > NAMED_POSITIONS_MAX {
            self.0.clear();
        }
        self.0.insert(id, Rc::clone(&named));
        Ok(named)
    }
}

impl Named {
    /// The last position of its article in this invoice, where an item of a negative quantity takes it back (D6, D7).
    pub fn taken_back(
        &self,
        typ: BelegTyp,
        item: &NewItem,
        artikel: Option<&Artikel>,
    ) -> Option<&NamedPosition> {
        let artikel = artikel.filter(|_| item.menge.is_some_and(Quantity::is_negative))?;
        let is_taken_back = |position: &&NamedPosition| {
            let is_billed = !position.menge.is_negative() && !position.ep_netto.is_negative();
            position.artikel_id == artikel.id && is_billed
        };
        let is_invoice = typ.ist_rechnung() && self.beleg.beleg_typ == typ;
        self.positions.iter().rev().find(is_taken_back).filter(|_| is_invoice)
    }

    /// It must be a live document of the same partner that the item can take: for goods one with the article, of the other
    /// side, and for what takes back one whose goods it can take back; for the rest an invoice (D8).
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
        let message = "Der Bezug passt nicht: Er muss ein nicht stornierter Beleg desselben Partners mit diesem Artikel \
            sein, zur Rechnung die Lieferung (oder umgekehrt), zur Gutschrift die Rechnung oder Rücklieferung, zur \
            Rücklieferung die Lieferung, Rechnung oder Gutschrift; ohne Artikel eine Rechnung.";
        refuse_if(!is_fit, Code::BezugPasstNicht, "bezug_beleg_id", message)
    }
}
