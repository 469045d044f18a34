//! Forgets a partner (GDPR art. 17, D27): names and keeps what the law requires, and erases the rest.

use rusqlite::{Row, named_params};
use serde::Serialize;

use crate::goods::{chargen, kontrakte, waage};
use crate::master::biozertifikate;
use crate::master::kunden::{self, Erased, Kunde};
use crate::office::versand;
use crate::platform::db::seals::retention::Retention;
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::Result;
use crate::rules::day::{Day, Instant};
use crate::trade::{annahmescheine, belege, kasse};

const RETENTIONS: [Retention; 7] = [
    belege::RETENTION,
    waage::RETENTION,
    annahmescheine::RETENTION,
    kontrakte::RETENTION,
    chargen::RETENTION,
    biozertifikate::RETENTION,
    kasse::RETENTION,
];

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Records {
    /// What they are called, in German.
    pub kind: &'static str,
    pub count: i64,
    pub open: i64,
    /// Last day on which the law requires them.
    pub until: Day,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Forgotten {
    /// Nothing was erased: these records are still open and need the partner.
    Open(Vec<Records>),
    Done(Erased, Vec<Records>),
}

pub fn records(tx: &Tx<'_>, kunde: &Kunde) -> Result<Vec<Records>> {
    let mut found = Vec::new();
    for Retention { records: kind, years, of_partner } in RETENTIONS {
        let partner = named_params! {":partner": kunde.id};
        let (count, open, newest) = tx.one(of_partner, partner, |row| {
            Ok((row.get("anzahl")?, row.get("offen")?, newest(row)?.unwrap_or(tx.today())))
        })?;
        if count > 0 {
            found.push(Records { kind, count, open, until: newest.end_of_year_after(years) });
        }
    }
    Ok(found)
}

/// Returns the day of the newest record of a kind, from which its retention counts; `None` if a record has no
/// date, so that it may be of today. The later of document date and time of writing counts, since a document
/// may be dated long before it was written.
fn newest(row: &Row<'_>) -> rusqlite::Result<Option<Day>> {
    if row.get::<_, i64>("undatiert")? > 0 {
        return Ok(None);
    }
    let (tag, zeit): (Option<Day>, Option<Instant>) = (row.get("tag")?, row.get("zeit")?);
    Ok(tag.max(zeit.map(Day::in_berlin)))
}

/// Whether name and address are kept: the law still requires a record that names the partner.
pub fn keeps_name(tx: &Tx<'_>, records: &[Records]) -> bool {
    records.iter().any(|records| records.until >= tx.today())
}

/// Forgets a partner, unless an open record names it.
pub fn forget(tx: &WriteTx<'_>, kunde: &Kunde) -> Result<Forgotten> {
    let mut records = records(tx, kunde)?;
    if records.iter().any(|records| records.open > 0) {
        records.retain(|records| records.open > 0);
        return Ok(Forgotten::Open(records));
    }
    let erased = kunden::forget(tx, kunde, keeps_name(tx, &records))?;
    let emails = versand::forget(tx, kunde.id)?;
    kasse::delete_old(tx)?;
    Ok(Forgotten::Done(Erased { emails, ..erased }, records))
}
