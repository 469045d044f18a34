//! The flow of documents by position: what may name what, what is left of it, and the names over which no goods are
//! paired (D38).

mod flow;
mod left;
mod name;
mod rest;
mod sql;
mod ties;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use uuid::Uuid;

pub use flow::{Flow, Step, flows};
use left::open_for;
pub use left::{Left, allocated, left, take};
pub use name::{Next, may_name};
pub use rest::{has_rest, settle_rests};
use sql::Names;
pub use sql::{invoiced, leads_to};
pub use ties::{add_ties, is_left, left_for, with_counterparts, with_positions};

use super::model::{Beleg, BelegPosition, Source};
use super::sql::{NamedPosition, find, named_positions, number_and_type, positions};
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::Result;
use crate::rules::document::Lagerrolle;
use crate::rules::error::{HintCode, Hints};
use crate::rules::fixed::Quantity;

/// The table of documents, by which the feed knows them.
const BELEG: &str = "beleg";

/// A document that positions name, with its positions, and what is left of them for what these do with it.
struct Named {
    beleg: Beleg,
    lines: Vec<NamedPosition>,
    left: Left,
    /// The same, but an order is open for invoices as long as it was not invoiced, delivered or not.
    open: Left,
}

/// Stores which quantities the positions of a document name where no goods are paired over it, in place of what stood
/// there before. The feed tells of each document of which more or less is named than before.
pub fn store(
    tx: &WriteTx<'_>,
    beleg: &Beleg,
    positions: &[BelegPosition],
    had_any: bool,
    hints: &mut Hints,
) -> Result<()> {
    let mut before = Names::new();
    if had_any {
        before = sql::names(tx, beleg.id)?;
        sql::delete(tx, beleg.id)?;
    }
    let mut names = Names::new();
    let mut known: BTreeMap<(Uuid, Next), Option<Named>> = BTreeMap::new();
    for position in positions {
        let Some(id) = position.bezug_beleg_id else { continue };
        let next = Next::of(beleg.beleg_typ, position.menge.is_negative());
        let named = match known.entry((id, next)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(Named::of(tx, id, next, beleg)?),
        };
        if let Some(named) = named {
            add_name(beleg, position, named, &mut names, hints)?;
        }
    }
    sql::insert(tx, beleg.id, &names)?;
    let more = names.iter().filter(|(name, menge)| before.get(name) != Some(menge)).map(|(name, _)| name);
    for (named, ..) in more.chain(before.keys().filter(|name| !names.contains_key(name))) {
        tx.changed(BELEG, *named);
    }
    Ok(())
}

/// Takes out what a cancelled document names. The feed tells of what named it: that shows it no more.
pub fn withdraw(tx: &WriteTx<'_>, beleg: &Beleg) -> Result<()> {
    store(tx, beleg, &[], true, &mut Hints::default())?;
    sql::naming(tx, beleg.id, true)?.into_iter().for_each(|id| tx.changed(BELEG, id));
    Ok(())
}

/// Has the feed tell of the orders that a delivery or invoice names whose pairs the request changed: something else is
/// left of them (D38).
pub fn tell_orders(tx: &WriteTx<'_>, beleg: Uuid) -> Result<()> {
    sql::names(tx, beleg)?.into_keys().for_each(|(named, ..)| tx.changed(BELEG, named));
    Ok(())
}

impl Named {
    fn of(tx: &Tx<'_>, id: Uuid, next: Next, own: &Beleg) -> Result<Option<Named>> {
        let found = find(tx, id)?.filter(|named| named.is_live() && named.kunde_id == own.kunde_id);
        let Some(beleg) = found else { return Ok(None) };
        let lines = named_positions(tx, id)?;
        let left = left(tx, &beleg, &lines, next, own.id)?;
        let open = match beleg.beleg_typ.lagerrolle() {
            Lagerrolle::Keine => open_for(tx, &beleg, &lines, own)?,
            _ => left.clone(),
        };
        Ok(Some(Named { beleg, lines, left, open }))
    }
}

fn add_name(
    beleg: &Beleg,
    position: &BelegPosition,
    named: &mut Named,
    names: &mut Names,
    hints: &mut Hints,
) -> Result<()> {
    let Named { beleg: of, lines, left, open } = named;
    let takes_back = position.menge.is_negative();
    let is_meant = |line: &&NamedPosition| match position.bezug_position_id {
        Some(id) => line.id == id,
        None => {
            let is_same = line.artikel_id == position.artikel_id;
            is_same && may_name(beleg.beleg_typ, takes_back, of.beleg_typ, line.menge.is_negative())
        }
    };
    let meant: Vec<_> = lines.iter().filter(is_meant).collect();
    let moves_goods = |line: &&NamedPosition| line.lager_buchen;
    if position.lager_buchen
        && of.beleg_typ.lagerrolle() != Lagerrolle::Keine
        && meant.iter().any(moves_goods)
    {
        return Ok(());
    }
    hint_beyond(position, of, (&meant, open), hints)?;
    for (line, part) in allocated(&meant, left, stock(position))? {
        take(left, line, part)?;
        if !part.is_zero() {
            names.insert((of.id, line.id, position.id), part);
        }
    }
    Ok(())
}

/// Adds a hint if a position says more than what it names has left for its kind. What credits take back beyond an invoice
/// is said with its amount, too (`credited`).
fn hint_beyond(
    position: &BelegPosition,
    of: &Beleg,
    (meant, open): (&[&NamedPosition], &mut Left),
    hints: &mut Hints,
) -> Result<()> {
    let (menge, mut rest) = (stock(position), stock(position));
    for line in meant {
        let left = open.entry(line.position).or_default();
        let part = rest.min(*left);
        (*left, rest) = (left.minus(part)?, rest.minus(part)?);
    }
    let is_credit = position.menge.is_negative() && of.beleg_typ.ist_rechnung();
    if rest.is_zero() || is_credit || meant.is_empty() {
        return Ok(());
    }
    let path = Source::Items.path(position.position);
    if rest == menge {
        let message = format!(
            "Von {} ist für diese Position nichts mehr offen; sie steht für sich. Bitte den Bezug prüfen.",
            of.beleg_nummer
        );
        hints.add_field(HintCode::BezugOhneMenge, format!("{path}.bezug_beleg_id"), message);
    } else {
        let message = format!(
            "Die Position sagt {menge}, von {} waren noch {} offen; {rest} mehr. Bitte die Mengen vergleichen.",
            of.beleg_nummer,
            menge.minus(rest)?
        );
        hints.add_field(HintCode::MengeAbweichend, format!("{path}.menge"), message);
    }
    Ok(())
}

/// Takes from the youngest names what a position no longer has because a PUT lowered its quantity, with a hint for each
/// (D38).
pub fn shorten(
    tx: &WriteTx<'_>,
    beleg: &Beleg,
    [before, after]: [&[BelegPosition]; 2],
    hints: &mut Hints,
) -> Result<()> {
    let had = |position: &BelegPosition| before.iter().find(|before| before.id == position.id).map(stock);
    let lowered: Vec<_> =
        after.iter().filter(|position| had(position).is_some_and(|had| stock(position) < had)).collect();
    for next in [Next::Forward, Next::Credit].into_iter().filter(|_| !lowered.is_empty()) {
        let names = sql::named(tx, beleg.id, next, Uuid::nil())?;
        for position in &lowered {
            let own: Vec<_> = names.iter().filter(|name| name.named == position.position).collect();
            let whole = own.iter().try_fold(Quantity::ZERO, |sum, name| sum.plus(name.menge))?;
            let mut over = whole.minus(stock(position))?;
            for name in own {
                let part = name.menge.min(over);
                if part <= Quantity::ZERO {
                    break;
                }
                over = over.minus(part)?;
                sql::shorten(tx, position.id, name.by, part)?;
                tx.changed(BELEG, name.by.0);
                let (nummer, _) = number_and_type(tx, name.by.0)?;
                let message = format!(
                    "{nummer} nennt {part} mehr, als Position {} noch hat; darum ist der Bezug gekürzt.",
                    position.position
                );
                hints.add(HintCode::BezugGeloest, message);
            }
        }
    }
    Ok(())
}

/// The quantity of a position in the unit of its article, without its sign.
fn stock(position: &BelegPosition) -> Quantity {
    position.lager_menge.unwrap_or(position.menge).abs()
}

/// Sets names of other documents free after a document was written again, with a hint for each of these: those whose
/// position is gone; if it has another partner now, all but those of that partner's documents, who named it before.
pub fn release(tx: &WriteTx<'_>, beleg: &Beleg, is_handed_over: bool, hints: &mut Hints) -> Result<()> {
    let naming = sql::naming(tx, beleg.id, is_handed_over)?;
    sql::delete_names(tx, beleg.id, is_handed_over)?.into_iter().for_each(|id| tx.changed(BELEG, id));
    for id in naming {
        let Some(other) = find(tx, id)? else { continue };
        if is_handed_over && other.kunde_id == beleg.kunde_id {
            store(tx, &other, &positions(tx, id)?, true, &mut Hints::default())?;
            continue;
        }
        let what = match is_handed_over {
            true => "nennt diesen Beleg, der jetzt einem anderen Partner gehört",
            false => "nennt eine Position, die es hier nicht mehr gibt",
        };
        hints.add(HintCode::BezugGeloest, format!("{} {what}; der Bezug ist gelöst.", other.beleg_nummer));
    }
    Ok(())
}
