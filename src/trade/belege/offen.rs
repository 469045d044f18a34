//! Queries for the start page and the page of open items: the newest documents, unpaid invoices, sums of a
//! day.

use std::collections::BTreeMap;

use rusqlite::{Row, named_params};
use uuid::Uuid;

use super::eingabe::Auswahl;
use super::fluss::{Next, left};
use super::lager;
use super::model::Beleg;
use super::sql::{LIST, NamedPosition, UNBEZAHLT, faellig, filter, named_positions};
use crate::platform::db::list::{ListSql, Page};
use crate::platform::db::record::Record;
use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::platform::listing::{PageOf, Records};
use crate::rules::day::{Day, DayTime};
use crate::rules::document::BelegTyp;
use crate::rules::field::{Tabular, Typed, Value};
use crate::rules::fixed::{Money, Quantity, sums};

/// Returns the newest documents without counting all. If none lacks its e-invoice, the planner would
/// otherwise scan every document that ever became final.
pub fn newest(tx: &Tx<'_>, auswahl: &Auswahl<'_>, most: u32) -> Result<Vec<Beleg>> {
    let (filter, page) = (filter(auswahl), Page { limit: Some(most), offset: 0 });
    let from = match auswahl.ohne_erechnung {
        true => {
            "from beleg b indexed by beleg_ohne_erechnung join kunde k on k.tenant_id = b.tenant_id \
             and k.id = b.kunde_id"
        }
        false => LIST.from,
    };
    Ok(Records::read(tx, &ListSql { from, ..LIST }, &filter, page, i64::from(most))?.rows)
}

/// An unpaid document; as a row of a file it says its due date, too.
pub struct OffenerPosten(pub Beleg);

impl Record for OffenerPosten {
    fn of_row(row: &Row<'_>) -> rusqlite::Result<OffenerPosten> {
        Beleg::of_row(row).map(OffenerPosten)
    }
}

impl Tabular for OffenerPosten {
    fn headings() -> Vec<&'static str> {
        [Beleg::headings(), vec!["Fällig am"]].concat()
    }

    fn cells(&self) -> Vec<Value> {
        [self.0.cells(), vec![self.0.faellig().unwrap_or(self.0.datum()).value()]].concat()
    }
}

/// Lists one page of a selection that asks for unpaid documents, earliest due date first.
pub fn unpaid<P: PageOf<OffenerPosten>>(tx: &Tx<'_>, auswahl: &Auswahl<'_>, page: Page) -> Result<P> {
    tx.list(&UNBEZAHLT, &filter(auswahl), page)
}

/// Unsettled invoices of a type, overdue or not: their number and total.
pub struct Offen {
    pub typ: BelegTyp,
    pub is_overdue: bool,
    pub count: i64,
    pub brutto: Money,
}

/// Sums the unsettled invoices of a selection that asks for them, `most` at most, earliest due date first.
pub fn open_sums(tx: &Tx<'_>, auswahl: &Auswahl<'_>, most: i64) -> Result<Vec<Offen>> {
    let mut filter = filter(auswahl);
    filter.with(":today", tx.today());
    filter.with(":most", most);
    let select = concat!(
        "select typ, overdue, count(*), sum(brutto) from (select b.beleg_typ as typ, ",
        faellig!(),
        " < :today as overdue, b.summe_brutto as brutto from beleg b indexed by beleg_unbezahlt"
    );
    let rest = format!("{} limit :most) group by typ, overdue", UNBEZAHLT.order);
    tx.filtered(select, &filter, &rest, |row| {
        Ok(Offen { typ: row.get(0)?, is_overdue: row.get(1)?, count: row.get(2)?, brutto: row.get(3)? })
    })
}

/// Deliveries of a partner that are not wholly invoiced: their number, and the day of the oldest.
pub struct Unberechnet {
    pub kunde_id: Uuid,
    pub name: String,
    pub count: i64,
    pub ab: DayTime,
}

/// Most deliveries that are not invoiced looked at, the newest.
const UNINVOICED_MAX: i64 = 5_000;

/// Returns the partners of deliveries of a type of which something is left to invoice, by name.
pub fn uninvoiced(tx: &Tx<'_>, typ: BelegTyp) -> Result<Vec<Unberechnet>> {
    let statement = "select u.kunde_id, k.name, u.anzahl, u.ab from (
          select kunde_id, count(*) as anzahl, min(beleg_datum) as ab from (
            select kunde_id, beleg_datum from beleg indexed by beleg_rest
            where tenant_id = :tenant and beleg_typ = :typ
              and hat_rest = 1 and ohne_gegenbeleg = 0 and status <> 'storniert'
            order by beleg_datum desc, angelegt_am desc, id desc limit :most)
          group by kunde_id) u
          cross join kunde k on k.tenant_id = :tenant and k.id = u.kunde_id
        order by k.name, u.kunde_id";
    tx.all(statement, named_params! {":typ": typ, ":most": UNINVOICED_MAX}, |row| {
        Ok(Unberechnet { kunde_id: row.get(0)?, name: row.get(1)?, count: row.get(2)?, ab: row.get(3)? })
    })
}

/// Returns number and net total of a day's documents by type, without cancelled and cancelling ones; reads at most
/// `most` rows.
pub fn of_day(tx: &Tx<'_>, day: Day, most: i64) -> Result<Vec<(BelegTyp, i64, Money)>> {
    let statement = "select typ, count(*), sum(netto) from (
          select beleg_typ as typ, summe_netto as netto from beleg indexed by beleg_ordnung
          where tenant_id = :tenant and beleg_datum = :day and status <> 'storniert' and storno_von_beleg_id is null
          limit :most)
        group by typ";
    let params = named_params! {":day": day, ":most": most};
    tx.all(statement, params, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
}

/// Returns the quantity of each article of a document for which a counterpart may come, in the article's unit: what is
/// left of it and not closed.
pub fn open_of(tx: &Tx<'_>, beleg: &Beleg) -> Result<BTreeMap<Uuid, Quantity>> {
    if beleg.beleg_typ.ist_rechnung() {
        return lager::open_of(tx, beleg);
    }
    let positions = named_positions(tx, beleg.id)?;
    let left = left(tx, beleg, &positions, Next::Forward, Uuid::nil())?;
    let goes_on = |line: &&NamedPosition| line.menge > Quantity::ZERO && !line.ep_netto.is_negative();
    let open = positions.iter().filter(goes_on).filter_map(|line| {
        let left = left.get(&line.position).copied().filter(|left| !left.is_zero());
        line.artikel_id.zip(left)
    });
    Ok(sums(open)?)
}
