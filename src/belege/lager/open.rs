//! New documents of which everything is open (`lager_neu`).
//!
//! Most of what is delivered or invoiced is never met, and a row for each of its positions would touch a page each. One
//! row says so for the whole document, until something comes that could meet it or until there are many lines of them:
//! then they are spread over `lager_offen`.

use rusqlite::named_params;
use uuid::Uuid;

use super::change::{Change, Gruppe};
use super::sql;
use crate::belege::model::{Beleg, BelegPosition};
use crate::db::tx::{Tx, WriteTx};
use crate::failure::Result;
use crate::rules::document::BelegTyp;
use crate::rules::fixed::Quantity;
use crate::rules::pairing::{Place, Portion};

/// So many lines of a partner and type wait in `lager_neu` at most, besides those of the newest document.
const LINES: i64 = 512;

/// Forgets a document of which all is open; whether it was one.
pub fn forget(tx: &WriteTx<'_>, beleg: &Beleg) -> Result<bool> {
    let delete = "delete from lager_neu where tenant_id = :tenant and kunde_id = :kunde and beleg_typ = :typ
        and beleg_id = :beleg";
    let params = named_params! {":kunde": beleg.kunde_id, ":typ": beleg.beleg_typ, ":beleg": beleg.id};
    Ok(tx.execute(delete, params)? > 0)
}

/// Spreads all that a partner has open on the side of a document.
pub fn spread_all(tx: &WriteTx<'_>, beleg: &Beleg) -> Result<()> {
    let types = [Some(beleg.beleg_typ), beleg.beleg_typ.gegenstueck()];
    types.into_iter().flatten().try_for_each(|typ| spread(tx, beleg.kunde_id, typ))
}

/// Spreads the new documents of a partner and type over their positions.
fn spread(tx: &WriteTx<'_>, kunde: Uuid, typ: BelegTyp) -> Result<()> {
    let spread = tx.execute(
        "insert into lager_offen
           (tenant_id, kunde_id, beleg_typ, artikel_id, ist_genannt, beleg_id, position, nr, charge_id, genannt_id, menge)
         select tenant_id, kunde_id, beleg_typ, artikel_id, genannt_id is not null, beleg_id, position, 0, charge_id,
           genannt_id, lager_menge
         from (select n.*, p.artikel_id, p.position, p.charge_id, p.lager_menge,
             iif(p.charge_gesendet or p.fremde_charge_nr is not null, p.charge_id, null) as genannt_id
           from lager_neu n cross join beleg_position p on p.tenant_id = n.tenant_id and p.beleg_id = n.beleg_id
           where n.tenant_id = :tenant and n.kunde_id = :kunde and n.beleg_typ = :typ
             and p.lager_buchen = 1 and p.artikel_id is not null)
         order by artikel_id, 5, beleg_id, position",
        named_params! {":kunde": kunde, ":typ": typ},
    )?;
    if spread > 0 {
        let delete =
            "delete from lager_neu where tenant_id = :tenant and kunde_id = :kunde and beleg_typ = :typ";
        tx.execute(delete, named_params! {":kunde": kunde, ":typ": typ})?;
    }
    Ok(())
}

/// What a document leaves open, kept until its end: it is stored in one row if it is all of a new document.
#[derive(Default)]
pub struct Unmet {
    /// Only for a document that takes nothing back, whose own portions nobody looks for.
    keeps: bool,
    meets_nothing: bool,
    /// Some of the document is not open.
    is_met: bool,
    lines: usize,
    portions: Vec<(Gruppe, Portion)>,
}

impl Unmet {
    /// Before these positions of a document, by article and quantity, are entered.
    pub fn before(
        tx: &WriteTx<'_>,
        change: Change<'_>,
        positions: &[(&BelegPosition, (Uuid, Quantity))],
    ) -> Result<Unmet> {
        let (beleg, lines) = (change.beleg, positions.len());
        let Some(counterpart) = beleg.beleg_typ.gegenstueck().filter(|_| lines > 0) else {
            return Ok(Unmet::default());
        };
        if positions.iter().any(|(_, (_, menge))| menge.is_negative()) {
            spread_all(tx, beleg)?;
            return Ok(Unmet::default());
        }
        let meets_nothing = !is_open(tx, beleg.kunde_id, counterpart)?;
        if !meets_nothing {
            spread(tx, beleg.kunde_id, counterpart)?;
        }
        Ok(Unmet { keeps: true, meets_nothing, lines, ..Unmet::default() })
    }

    pub fn meets_nothing(&self) -> bool {
        self.meets_nothing
    }

    pub fn is_all(&self) -> bool {
        self.keeps && !self.is_met
    }

    /// The batches of what is kept of a position. Positions are entered in their order.
    pub fn batches_of(&self, place: Place) -> Vec<Option<Uuid>> {
        let before = self.portions.partition_point(|(_, portion)| portion.leading().1 < place);
        let portions = self.portions[before..].iter().map(|(_, portion)| portion);
        portions.take_while(|portion| portion.leading().1 == place).map(|portion| portion.charge).collect()
    }

    /// Keeps an open portion of the document; gives back what is to be stored at once.
    pub fn keep(&mut self, gruppe: Gruppe, portion: Portion) -> Option<Portion> {
        let is_open = portion.positions().count() == 1 && portion.nr.is_none();
        if !self.keeps || !is_open {
            self.is_met = true;
            return Some(portion);
        }
        self.portions.push((gruppe, portion));
        None
    }

    pub fn store(self, tx: &WriteTx<'_>, beleg: &Beleg) -> Result<()> {
        let mut portions = self.portions;
        let mut last = None;
        for (_, portion) in &mut portions {
            let (_, place) = portion.leading();
            let nr = match last {
                Some((before, nr)) if before == place => nr + 1,
                _ => 0,
            };
            last = Some((place, nr));
            portion.nr = Some(nr);
        }
        // One part of each position, and nothing of it met. A quantity that rounds to 0 in the article's unit has none.
        let one_of_each = portions.len() == self.lines && portions.iter().all(|(_, part)| part.nr == Some(0));
        let is_whole = !self.is_met && !portions.is_empty() && one_of_each;
        if is_whole && store_whole(tx, beleg, self.lines as i64)? {
            return Ok(());
        }
        portions.iter().try_for_each(|(gruppe, portion)| sql::add(tx, *gruppe, portion))
    }
}

/// Whether anything is open of a partner's documents of a type: it is asked once instead of for each article, for as
/// a rule nothing is.
fn is_open(tx: &Tx<'_>, kunde: Uuid, typ: BelegTyp) -> Result<bool> {
    let open = "
        select 1 from lager_offen where tenant_id = :tenant and kunde_id = :kunde and beleg_typ = :typ
        union all
        select 1 from lager_neu where tenant_id = :tenant and kunde_id = :kunde and beleg_typ = :typ";
    tx.exists(open, named_params! {":kunde": kunde, ":typ": typ})
}

/// Stores a document of which all is open; not one that is older than others, because it was changed or the clock was
/// set back.
fn store_whole(tx: &WriteTx<'_>, beleg: &Beleg, lines: i64) -> Result<bool> {
    let (kunde, typ) = (beleg.kunde_id, beleg.beleg_typ);
    let last = "select beleg_id, zeilen from lager_neu
        where tenant_id = :tenant and kunde_id = :kunde and beleg_typ = :typ order by beleg_id desc limit 1";
    let last: Option<(Uuid, i64)> =
        tx.optional(last, named_params! {":kunde": kunde, ":typ": typ}, |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
    let before = match last {
        Some((newest, _)) if newest > beleg.id => return Ok(false),
        Some((_, before)) if before < LINES => before,
        Some(_) => {
            spread(tx, kunde, typ)?;
            0
        }
        None => 0,
    };
    let params = named_params! {
        ":kunde_id": kunde,
        ":beleg_typ": typ,
        ":beleg_id": beleg.id,
        ":zeilen": before + lines,
    };
    tx.insert("lager_neu", params)?;
    Ok(true)
}
