//! The rows of a day are chained: each has `sha256(the one before ‖ its content)`, so that none can
//! be altered, removed or inserted without breaking what stands behind it. The head of each day
//! says how many rows there are; each day knows the one before it.

use rusqlite::{Connection, OptionalExtension};
use sha2::{Digest, Sha256};

use super::{COLUMNS, Row};
use crate::db::error::Result;
use crate::rules::day::{Day, Instant};

/// The checksum of a row, and of all before it on its day.
pub type Pruefsumme = [u8; 32];

/// What the first row of a day is chained to: the day, and the one that was begun before it.
pub fn beginning(tag: i64, vortag: Option<i64>) -> Pruefsumme {
    let mut digest = Sha256::new();
    digest.update(tag.to_le_bytes());
    digest.update([u8::from(vortag.is_some())]);
    digest.update(vortag.unwrap_or_default().to_le_bytes());
    digest.finalize().into()
}

/// The route of a row by its name: the number alone could come to mean another.
pub fn route_name(connection: &Connection, route: Option<i64>) -> Result<Option<String>> {
    let Some(route) = route else { return Ok(None) };
    let statement = "select methode || ' ' || muster from route where id = ?1";
    Ok(connection.prepare_cached(statement)?.query_row([route], |row| row.get(0)).optional()?)
}

/// The checksum of a row. Every part has its length before it, so that nothing can be moved from
/// one to the next.
pub fn link(before: Pruefsumme, tag: i64, number: i64, row: &Row, route: Option<&str>) -> Pruefsumme {
    let mut digest = Sha256::new();
    digest.update(before);
    let numbers = [
        Some(tag),
        Some(number),
        Some(row.am),
        row.tenant_id,
        Some(i64::from(row.status)),
        Some(row.dauer_us),
        Some(row.bytes_ein),
        Some(row.bytes_aus),
        Some(row.anzahl),
    ];
    for number in numbers {
        digest.update([u8::from(number.is_some())]);
        digest.update(number.unwrap_or_default().to_le_bytes());
    }
    let subject = row.subjekt.map(|id| id.into_bytes());
    let texts = [
        Some(&row.request_id.as_bytes()[..]),
        row.key_id.as_deref().map(str::as_bytes),
        Some(row.adresse.as_bytes()),
        Some(row.methode.as_bytes()),
        Some(row.pfad.as_bytes()),
        route.map(str::as_bytes),
        subject.as_ref().map(|id| &id[..]),
    ];
    for text in texts {
        let length = text.map_or(-1, |text| text.len() as i64);
        digest.update(length.to_le_bytes());
        digest.update(text.unwrap_or_default());
    }
    digest.finalize().into()
}

/// What [`verify`] came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// The log is whole: so many rows.
    Whole(i64),
    /// The first thing that is wrong, in words.
    Broken(String),
}

/// A day as its head has it.
struct Head {
    tag: i64,
    vortag: Option<i64>,
    letzte_nr: i64,
    pruefsumme: Pruefsumme,
    ab_nr: i64,
    ab_pruefsumme: Pruefsumme,
}

/// Recomputes the chains of all days; run it on one snapshot.
pub fn verify(connection: &Connection, now: Instant) -> Result<Finding> {
    let mut statement = connection.prepare(
        "select tag, vortag, letzte_nr, pruefsumme, ab_nr, ab_pruefsumme from audit_tag order by tag",
    )?;
    let heads = statement.query_map([], |row| {
        Ok(Head {
            tag: row.get(0)?,
            vortag: row.get(1)?,
            letzte_nr: row.get(2)?,
            pruefsumme: row.get(3)?,
            ab_nr: row.get(4)?,
            ab_pruefsumme: row.get(5)?,
        })
    })?;
    let heads = heads.collect::<rusqlite::Result<Vec<_>>>()?;
    if let Some(sentence) = missing_day(connection, &heads, now)? {
        return Ok(Finding::Broken(sentence));
    }
    let mut rows = 0;
    for head in &heads {
        match verify_day(connection, head)? {
            Finding::Whole(of_day) => rows += of_day,
            broken => return Ok(broken),
        }
    }
    Ok(Finding::Whole(rows))
}

/// A day that is gone, or one that came in past its head.
fn missing_day(connection: &Connection, heads: &[Head], now: Instant) -> Result<Option<String>> {
    let kopf: Option<(i64, Option<i64>)> = connection
        .query_row("select letzter_tag, geloescht_bis from audit_kopf where id = 1", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .optional()?;
    let Some((last, dropped_until)) = kopf else {
        return Ok(heads
            .first()
            .map(|head| format!("{}: the head of the log was removed", Day::of_number(head.tag))));
    };
    if dropped_until.is_some_and(|until| until >= now.utc_day()) {
        return Ok(Some("days that are not over were dropped".to_owned()));
    }
    let has_day = |tag: i64| heads.iter().any(|head| head.tag == tag);
    let is_dropped = |tag: i64| dropped_until.is_some_and(|until| tag <= until);
    let expected = heads.iter().filter_map(|head| head.vortag).chain([last]);
    if let Some(tag) = expected.into_iter().find(|tag| !has_day(*tag) && !is_dropped(*tag)) {
        return Ok(Some(format!("{}: the whole day was removed", Day::of_number(tag))));
    }
    let strange: Option<(i64, i64)> = connection
        .query_row(
            "select tag, lfd_nr from audit where tag not in (select tag from audit_tag) order by tag, lfd_nr",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .optional()?;
    Ok(strange.map(|(tag, number)| format!("{}, row {number}: was inserted", Day::of_number(tag))))
}

fn verify_day(connection: &Connection, head: &Head) -> Result<Finding> {
    let mut statement = connection.prepare_cached(&format!(
        "select {COLUMNS}, lfd_nr, pruefsumme from audit where tag = ?1 order by lfd_nr"
    ))?;
    let mut rows = statement.query([head.tag])?;
    let (mut before, mut last) = (head.ab_pruefsumme, head.ab_nr);
    let broken = |number: i64, what: &str| {
        Ok(Finding::Broken(format!("{}, row {number}: was {what}", Day::of_number(head.tag))))
    };
    if head.ab_nr == 0 && before != beginning(head.tag, head.vortag) {
        return broken(1, "altered");
    }
    while let Some(row) = rows.next()? {
        let (number, pruefsumme): (i64, Vec<u8>) = (row.get(14)?, row.get(15)?);
        if number > head.letzte_nr || number <= last {
            return broken(number, "inserted");
        }
        if number != last + 1 {
            return broken(last + 1, "removed");
        }
        // A value of another type than ours was altered, too.
        let Ok(row) = Row::read(row) else { return broken(number, "altered") };
        let route = route_name(connection, row.route_id)?;
        let expected = link(before, head.tag, number, &row, route.as_deref());
        if pruefsumme != expected {
            return broken(number, "altered");
        }
        (before, last) = (expected, number);
    }
    if last != head.letzte_nr {
        return broken(last + 1, "removed");
    }
    if before != head.pruefsumme {
        return broken(last, "altered");
    }
    Ok(Finding::Whole(last - head.ab_nr))
}
