//! What documents come to: invoices that are not settled, and those of a day.

use rusqlite::named_params;

use super::sql::{Auswahl, UNBEZAHLT, faellig, filter};
use crate::db::tx::Tx;
use crate::failure::Result;
use crate::rules::day::Day;
use crate::rules::document::BelegTyp;
use crate::rules::fixed::Money;

/// Invoices of a type that are not settled: whether they are overdue, how many, and what they come to.
pub struct Offen {
    pub typ: BelegTyp,
    pub is_overdue: bool,
    pub count: i64,
    pub brutto: Money,
}

/// What is not settled of a selection that asks for that; of so many at most, what was due first before the rest.
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

/// Documents of a day by type, without those that were cancelled or cancel: how many, and what they come to, net.
pub fn of_day(tx: &Tx<'_>, day: Day) -> Result<Vec<(BelegTyp, i64, Money)>> {
    let statement = "select beleg_typ, count(*), sum(summe_netto) from beleg
        indexed by beleg_ordnung where tenant_id = :tenant and beleg_datum = :day and status <> 'storniert'
          and storno_von_beleg_id is null
        group by beleg_typ";
    tx.all(statement, named_params! {":day": day}, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
}
