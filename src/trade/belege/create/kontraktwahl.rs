//! Which position of a contract an item takes that names the contract alone (D21g).

use super::header::Context;
use crate::goods::kontrakte::{Menge, Wahl};
use crate::master::artikel::Artikel;
use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::rules::error::{HintCode, Hints};
use crate::rules::fixed::Quantity;
use crate::trade::belege::eingabe::NewItem;
use crate::trade::belege::model::{BelegPosition, Source};

/// What the items of a request take from contracts.
#[derive(Default)]
pub struct Kontraktwahl(Wahl);

impl Kontraktwahl {
    /// Names the position of the contract that an item names alone, with a hint if it is one of several; returns whether
    /// it is. `before` is the position that the item changes. What takes back counts for what it takes back, and the
    /// settlement of a goods receipt decides for its EL (D29g): both take the only position or none.
    pub fn choose(
        &mut self,
        tx: &Tx<'_>,
        context: &Context<'_>,
        item: &mut NewItem,
        (artikel, takes_back): (Option<&Artikel>, bool),
        before: Option<&BelegPosition>,
        hints: &mut Hints,
    ) -> Result<bool> {
        let (Some(kontrakt), None, Some(artikel)) = (item.kontrakt_id, item.kontrakt_position_id, artikel)
        else {
            return Ok(false);
        };
        let is_same =
            |had: &&BelegPosition| (had.kontrakt_id, had.artikel_id) == (Some(kontrakt), Some(artikel.id));
        let before = before.filter(is_same).and_then(|had| had.kontrakt_position_id);
        let of = (context.kunde.id, context.beleg.beleg_typ.seite());
        let Some(chosen) = self.0.position(tx, kontrakt, artikel, of, before)? else { return Ok(false) };
        let is_open = takes_back
            || item.menge.is_some_and(Quantity::is_negative)
            || matches!(context.source, Source::Fields);
        if let Some(message) = &chosen.of_several {
            if is_open {
                return Ok(false);
            }
            hints.add_field(HintCode::KontraktPositionGewaehlt, "kontrakt_id", message);
        }
        item.kontrakt_position_id = Some(chosen.position);
        Ok(chosen.of_several.is_some())
    }

    /// Lowers what later items find of the contract position that an item takes.
    pub fn take(&mut self, position: &BelegPosition) -> Result<()> {
        let BelegPosition { kontrakt_id, kontrakt_position_id, artikel_id, menge, .. } = *position;
        let (Some(kontrakt_id), Some(artikel_id)) = (kontrakt_id, artikel_id) else { return Ok(()) };
        let einheit = position.einheit.clone();
        self.0.take(Menge { kontrakt_id, kontrakt_position_id, artikel_id, menge, einheit })
    }
}
