//! What an item names by bezug_position_id or bezug_beleg_id, and which of its positions that is (D38).

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use uuid::Uuid;

use super::header::Context;
use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::rules::document::BelegTyp;
use crate::rules::error::{Checked, Code, Refusal, refuse_if};
use crate::rules::fixed::Quantity;
use crate::trade::belege::eingabe::NewItem;
use crate::trade::belege::fluss::{self, Left, Next, may_name};
use crate::trade::belege::model::{Beleg, BelegPosition};
use crate::trade::belege::sql::{self, NamedPosition};

/// A document that items name.
pub struct Named {
    pub beleg: Beleg,
    positions: Vec<NamedPosition>,
    /// What is left of its positions, less what items before took; looked up once it is asked.
    left: RefCell<BTreeMap<Next, Left>>,
    /// Whether its positions of an article name the document of the request, once that was asked.
    names_back: RefCell<BTreeMap<Option<Uuid>, bool>>,
}

/// What an item names: a document, or one position of it.
#[derive(Clone)]
pub struct Bezug {
    pub named: Rc<Named>,
    /// The index of the position.
    at: Option<usize>,
}

/// Positions that a refusal names, at most.
const POSITIONS_SHOWN_MAX: usize = 5;

/// Maximum number of positions of named documents kept in memory.
const NAMED_POSITIONS_MAX: usize = 10_000;

/// The documents that a request's items name, each looked up once: a thousand items may name the same one.
#[derive(Default)]
pub struct AllNamed(BTreeMap<Uuid, Rc<Named>>);

impl AllNamed {
    /// Finds what an item names. A name that the document had `before` is accepted, and names nothing, where what it
    /// named is gone.
    pub fn of(
        &mut self,
        tx: &Tx<'_>,
        kunde: Uuid,
        item: &mut NewItem,
        before: &[BelegPosition],
    ) -> Result<Option<Bezug>> {
        let place = match item.bezug_position_id {
            Some(id) => sql::place_of(tx, id)?,
            None => None,
        };
        let repeats = |known: &BelegPosition| match item.bezug_position_id {
            Some(id) => known.bezug_position_id == Some(id),
            None => known.bezug_position_id.is_none() && known.bezug_beleg_id == item.bezug_beleg_id,
        };
        let had = before.iter().find(|known| known.bezug_beleg_id.is_some() && repeats(known));
        if item.bezug_position_id.is_some() && place.is_none() {
            let unknown =
                || Refusal::unknown(Code::BelegNichtGefunden, "bezug_position_id", "Diese Position");
            item.bezug_beleg_id = had.ok_or_else(unknown)?.bezug_beleg_id;
            return Ok(None);
        }
        let Some(id) = place.map(|(beleg, _)| beleg).or(item.bezug_beleg_id) else { return Ok(None) };
        let message =
            "Diese Position steht nicht in dem Beleg in bezug_beleg_id. Bitte eines von beiden weglassen.";
        let is_other = item.bezug_beleg_id.is_some_and(|sent| sent != id);
        refuse_if(is_other, Code::BezugPasstNicht, "bezug_position_id", message)?;
        item.bezug_beleg_id = Some(id);
        let named = self.find(tx, id)?;
        if had.is_some() && (!named.beleg.is_live() || named.beleg.kunde_id != kunde) {
            return Ok(None);
        }
        let of_number = |number| named.positions.iter().position(|position| position.position == number);
        let at = place.and_then(|(_, number)| of_number(number));
        Ok(Some(Bezug { named, at }))
    }

    fn find(&mut self, tx: &Tx<'_>, id: Uuid) -> Result<Rc<Named>> {
        if let Some(known) = self.0.get(&id) {
            return Ok(Rc::clone(known));
        }
        let unknown = || Refusal::unknown(Code::BelegNichtGefunden, "bezug_beleg_id", "Diesen Beleg");
        let beleg = sql::find(tx, id)?.ok_or_else(unknown)?;
        let named = Rc::new(Named {
            beleg,
            positions: sql::named_positions(tx, id)?,
            left: RefCell::default(),
            names_back: RefCell::default(),
        });
        let kept: usize = self.0.values().map(|known| known.positions.len()).sum();
        if kept + named.positions.len() > NAMED_POSITIONS_MAX {
            self.0.clear();
        }
        self.0.insert(id, Rc::clone(&named));
        Ok(named)
    }
}

impl Bezug {
    pub fn position(&self) -> Option<&NamedPosition> {
        self.at.map(|at| &self.named.positions[at])
    }

    /// The field that names it.
    fn field(&self) -> &'static str {
        if self.at.is_some() { "bezug_position_id" } else { "bezug_beleg_id" }
    }

    /// The positions that an item with this article may mean: the named one, else those that it may name; of these the
    /// ones in its batch, if there are any.
    fn meant(&self, item: &Meant) -> Vec<&NamedPosition> {
        if let Some(position) = self.position() {
            return vec![position];
        }
        let other = self.named.beleg.beleg_typ;
        let is_meant = |position: &&NamedPosition| {
            position.artikel_id == item.artikel
                && !position.ep_netto.is_negative()
                && may_name(item.typ, item.takes_back, other, position.menge.is_negative())
        };
        let all: Vec<_> = self.named.positions.iter().filter(is_meant).collect();
        let in_batch = |position: &&&NamedPosition| position.charge_id == item.charge;
        match item.charge {
            Some(_) if all.iter().any(|position| in_batch(&position)) => {
                all.iter().copied().filter(|position| in_batch(&position)).collect()
            }
            _ => all,
        }
    }

    /// The contract and its position that an item takes over from what it names, where all that it may mean agree.
    pub fn contract(&self, item: &Meant) -> (Option<Uuid>, Option<Uuid>) {
        let mut meant = self.meant(item).into_iter();
        let of = |position: &NamedPosition| (position.kontrakt_id, position.kontrakt_position_id);
        let first = meant.next().map(of).unwrap_or_default();
        if meant.all(|position| of(position) == first) { first } else { (None, None) }
    }

    /// What is left of the named positions for an item without a quantity, in the unit of the article.
    pub fn left(&self, tx: &Tx<'_>, item: &Meant) -> Result<Quantity> {
        let meant = self.meant(item);
        self.named.with_left(tx, item, |left| {
            let left = meant.iter().map(|position| left.get(&position.position).copied().unwrap_or_default());
            Ok(left.into_iter().try_fold(Quantity::ZERO, Quantity::plus)?)
        })
    }

    /// Finds the position whose terms an item takes over, `menge` in the unit of the article: the named one; else of
    /// those that its quantity touches the first, if they agree in all that the item does not say itself. Refuses to
    /// guess what an item takes back; going on, it takes nothing over where they differ.
    pub fn terms(
        &self,
        tx: &Tx<'_>,
        item: &Meant,
        menge: Quantity,
        sent: &NewItem,
    ) -> Result<Option<&NamedPosition>> {
        if item.artikel.is_none() && self.at.is_none() {
            return Ok(None);
        }
        let meant = self.meant(item);
        let touched: Vec<_> = self.named.with_left(tx, item, |left| {
            let exact: Vec<_> =
                meant.iter().copied().filter(|line| left.get(&line.position) == Some(&menge.abs())).collect();
            let parts = fluss::allocated(&meant, left, menge.abs())?;
            parts.iter().try_for_each(|(line, part)| fluss::take(left, line, *part))?;
            let touched = parts.iter().map(|(line, _)| *line);
            Ok(if exact.is_empty() { touched.collect() } else { exact })
        })?;
        let Some(first) = touched.first().copied() else { return Ok(None) };
        if touched.iter().all(|other| sent.is_taken_alike(other, first)) {
            return Ok(Some(first));
        }
        if item.takes_back { Err(self.ambiguous(&touched).into()) } else { Ok(None) }
    }

    fn ambiguous(&self, meant: &[&NamedPosition]) -> Box<Refusal> {
        let shown = meant.iter().take(POSITIONS_SHOWN_MAX).map(|position| {
            let NamedPosition { position, menge, ep_netto, rabatt_prozent, mwst_satz, .. } = position;
            format!("Position {position}: {menge} zu {ep_netto} EUR, Rabatt {rabatt_prozent} %, Steuer {mwst_satz} %")
        });
        let shown: Vec<_> = shown.collect();
        let what = format!(
            "{} hat diesen Artikel zu verschiedenen Bedingungen ({}).",
            self.named.beleg.beleg_nummer,
            shown.join("; ")
        );
        let advice = "Bitte bezug_position_id senden, oder ep_netto (mit rabatt_prozent) und mwst_satz.";
        Refusal::field(Code::BezugMehrdeutig, "bezug_beleg_id", (what, advice))
    }

    /// Refuses to name what names this document, directly or by others: two invoices that take back from each other could
    /// never be cancelled (D4), and nothing would be before or after anything.
    pub fn refuse_circle(&self, tx: &Tx<'_>, own: &Beleg, artikel: Option<Uuid>) -> Result<()> {
        let other = &self.named.beleg;
        let known = self.named.names_back.borrow().get(&artikel).copied();
        let is_circle = match known {
            Some(known) => known,
            None => fluss::leads_to(tx, other, own.id, artikel)?,
        };
        self.named.names_back.borrow_mut().insert(artikel, is_circle);
        let message = format_args!(
            "Der Bezug passt nicht: {} nennt selbst diesen Beleg, oder einen, der ihn nennt.",
            other.beleg_nummer
        );
        Ok(refuse_if(is_circle, Code::BezugPasstNicht, self.field(), message)?)
    }

    /// Refuses what an item must not name: another partner's or a cancelled document, its own, or one without such a
    /// position (D38). An item without article or with a negative price may also name any live RE or ER.
    pub fn check(&self, context: &Context<'_>, item: &Meant, is_goods: bool) -> Checked<()> {
        let other = &self.named.beleg;
        let any = !is_goods && other.beleg_typ.ist_rechnung();
        let fits = |position: &NamedPosition| {
            position.artikel_id == item.artikel
                && may_name(item.typ, item.takes_back, other.beleg_typ, position.menge.is_negative())
        };
        let fits = match self.position() {
            Some(position) => fits(position),
            None => self.named.positions.iter().any(fits),
        };
        let is_fit = (any || fits)
            && other.is_live()
            && other.kunde_id == context.kunde.id
            && other.id != context.beleg.id;
        let message = "Der Bezug passt nicht. Genannt werden Positionen desselben Artikels in nicht stornierten \
            Belegen desselben Partners: zum Lieferschein Angebot, Auftrag oder Rechnung, zur Rechnung Angebot, Auftrag \
            oder Lieferschein, zum Auftrag das Angebot; im Einkauf ebenso; zur Rücklieferung Lieferung, Rechnung oder \
            Gutschrift, zur Gutschrift Rechnung oder Rücklieferung; ohne Artikel auch jede Rechnung.";
        refuse_if(!is_fit, Code::BezugPasstNicht, self.field(), message)
    }
}

/// What of an item decides which positions of a document it may mean.
#[derive(Debug, Clone, Copy)]
pub struct Meant {
    pub typ: BelegTyp,
    pub takes_back: bool,
    pub artikel: Option<Uuid>,
    pub charge: Option<Uuid>,
    /// The document that is written.
    pub own: Uuid,
}

impl Named {
    /// Looks up what is left for such an item, or takes from it.
    fn with_left<T>(
        &self,
        tx: &Tx<'_>,
        item: &Meant,
        then: impl FnOnce(&mut Left) -> Result<T>,
    ) -> Result<T> {
        let next = Next::of(item.typ, item.takes_back);
        let known = self.left.borrow().contains_key(&next);
        if !known {
            let left = fluss::left(tx, &self.beleg, &self.positions, next, item.own)?;
            self.left.borrow_mut().insert(next, left);
        }
        then(self.left.borrow_mut().entry(next).or_default())
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
