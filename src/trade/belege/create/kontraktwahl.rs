//! Which position of a contract an item takes that names the contract alone (D21g).

use super::bezug::{Bezug, Meant};
use super::header::Context;
use crate::goods::kontrakte::{self, Menge, Ungenannt, Wahl};
use crate::master::artikel::Artikel;
use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::rules::document::BelegTyp;
use crate::rules::error::{HintCode, Hints};
use crate::rules::fixed::Quantity;
use crate::trade::belege::eingabe::NewItem;
use crate::trade::belege::model::{Beleg, BelegPosition, Source};

/// What the items of a request take from contracts.
#[derive(Default)]
pub struct Kontraktwahl(Wahl);

impl Kontraktwahl {
    /// Names the position of the contract that an item names alone, with a hint if it is one of several; returns whether
    /// it is. `before` is the position that the item changes. What takes back has the contract of what it names, and the
    /// settlement of a goods receipt decides for its EL (D29g): both take the only position or none.
    pub fn choose(
        &mut self,
        tx: &Tx<'_>,
        context: &Context<'_>,
        item: &mut NewItem,
        (artikel, back): (Option<&Artikel>, Option<&(Bezug, Meant)>),
        before: Option<&BelegPosition>,
        hints: &mut Hints,
    ) -> Result<bool> {
        if let (Some((bezug, meant)), None, None) = (back, item.kontrakt_id, item.kontrakt_position_id) {
            (item.kontrakt_id, item.kontrakt_position_id) = bezug.contract(meant);
        }
        let (Some(kontrakt), None, Some(artikel)) = (item.kontrakt_id, item.kontrakt_position_id, artikel)
        else {
            return Ok(false);
        };
        let is_same =
            |had: &&BelegPosition| (had.kontrakt_id, had.artikel_id) == (Some(kontrakt), Some(artikel.id));
        let before = before.filter(is_same).and_then(|had| had.kontrakt_position_id);
        let of = (context.kunde.id, context.beleg.beleg_typ.seite());
        let Some(chosen) = self.0.position(tx, kontrakt, artikel, of, before)? else { return Ok(false) };
        let is_open = back.is_some()
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

/// Adds a hint for each item that brings goods of which the partner has an open contract, and that neither names one
/// nor is paired with what does.
pub fn hint_unnamed(
    tx: &Tx<'_>,
    beleg: &Beleg,
    positions: &[BelegPosition],
    source: Source,
    hints: &mut Hints,
) -> Result<()> {
    let names_none = |position: &&BelegPosition| {
        let is_goods = !position.menge.is_negative() && !position.ep_netto.is_negative();
        position.kontrakt_id.is_none() && is_goods && position.artikel_id.is_some()
    };
    let unnamed: Vec<_> = positions.iter().filter(names_none).collect();
    if unnamed.is_empty() || beleg.beleg_typ == BelegTyp::An || !kontrakte::has_open(tx, beleg.kunde_id)? {
        return Ok(());
    }
    let counting = kontrakte::counting_by_counterpart(tx, beleg.id)?;
    let mut ungenannt = Ungenannt::of(tx, beleg.kunde_id, beleg.beleg_typ.seite(), beleg.satz_datum());
    for position in unnamed.into_iter().filter(|position| !counting.contains(&position.position)) {
        let mut own = Hints::default();
        ungenannt.hint(position.artikel_id.unwrap_or_default(), &mut own)?;
        hints.extend(own.below(&source.path(position.position)));
    }
    Ok(())
}
