//! Proving both logs: checksums of all rows, and their seals where they were made with the secret of this machine.

use rusqlite::{Connection, OptionalExtension};

use super::beginning::{Sealed, sealed};
use super::chain::{DAY, Pruefsumme, beginning, link, log_seal, route_name};
use super::row::Row;
use crate::platform::db::all;
use crate::platform::db::proof::seal::Secret;
use crate::platform::failure::{Failure, Result};
use crate::platform::gate::administration;
use crate::rules::day::{Day, Instant};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// Both logs are whole: so many rows.
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
    mac_ab_nr: i64,
    /// Its seal is the one that this machine makes.
    holds: bool,
}

/// Proves the chains of all days; run it on one snapshot of a connection that seals with this secret.
pub fn verify(connection: &Connection, secret: Option<&Secret>, now: Instant) -> Result<Finding> {
    let finding = verify_while(connection, secret, now, &mut |_, _| true)?;
    finding.ok_or_else(|| Failure::Broken("der Beweis des Protokolls wurde abgebrochen".into()))
}

/// The same for somebody who watches: after each day `go_on` is told how many rows have been looked at, of how many, and
/// says whether to go on; none where it does not.
pub fn verify_while(
    connection: &Connection,
    secret: Option<&Secret>,
    now: Instant,
    go_on: &mut dyn FnMut(i64, i64) -> bool,
) -> Result<Option<Finding>> {
    let is_sealed = match sealed(connection, secret)? {
        Sealed::Since(..) => true,
        Sealed::Not(_) => false,
        Sealed::Broken(sentence) => return Ok(Some(Finding::Broken(sentence))),
    };
    let broken = |sentence| Ok(Some(Finding::Broken(sentence)));
    let heads = match read_heads(connection) {
        Ok(heads) => heads,
        Err(error) => return broken(format!("das Ende eines Tages wurde geändert ({error})")),
    };
    if let Some(sentence) = missing_day(connection, &heads, is_sealed, now)? {
        return broken(sentence);
    }
    let all = heads.iter().map(|head| head.letzte_nr.saturating_sub(head.ab_nr)).fold(0, i64::saturating_add);
    let mut rows = 0;
    for head in &heads {
        match verify_day(connection, head, is_sealed)? {
            Finding::Whole(of_day) => rows += of_day,
            broken => return Ok(Some(broken)),
        }
        if !go_on(rows, all) {
            return Ok(None);
        }
    }
    Ok(Some(match administration::verify(connection, is_sealed)? {
        Ok(changes) => Finding::Whole(rows + changes),
        Err(sentence) => Finding::Broken(sentence),
    }))
}

fn read_heads(connection: &Connection) -> rusqlite::Result<Vec<Head>> {
    let heads = format!(
        "select tag, vortag, letzte_nr, pruefsumme, ab_nr, ab_pruefsumme, mac_ab_nr, mac is {DAY}
         from audit_tag order by tag"
    );
    all(connection, &heads, [], |row| {
        Ok(Head {
            tag: row.get(0)?,
            vortag: row.get(1)?,
            letzte_nr: row.get(2)?,
            pruefsumme: row.get(3)?,
            ab_nr: row.get(4)?,
            ab_pruefsumme: row.get(5)?,
            mac_ab_nr: row.get(6)?,
            holds: row.get(7)?,
        })
    })
}

/// A day that is gone, or one that came in past its head.
fn missing_day(
    connection: &Connection,
    heads: &[Head],
    is_sealed: bool,
    now: Instant,
) -> Result<Option<String>> {
    let kopf = format!("select letzter_tag, geloescht_bis, mac is {} from audit_kopf", log_seal());
    let kopf = connection.query_row(&kopf, [], |row| <(i64, Option<i64>, bool)>::try_from(row)).optional()?;
    let Some((last, dropped_until, holds)) = kopf else {
        let of = heads.first().map(|head| format!("{}: ", Day::of_number(head.tag)));
        let is_gone = is_sealed || of.is_some();
        return Ok(
            is_gone.then(|| format!("{}das Ende des Protokolls wurde entfernt", of.unwrap_or_default()))
        );
    };
    if dropped_until.is_some_and(|until| until >= now.utc_day()) {
        return Ok(Some("Tage, die noch nicht vorbei sind, wurden gelöscht".to_owned()));
    }
    let has_day = |tag: i64| heads.iter().any(|head| head.tag == tag);
    let is_dropped = |tag: i64| dropped_until.is_some_and(|until| tag <= until);
    let expected = heads.iter().filter_map(|head| head.vortag).chain([last]);
    if let Some(tag) = expected.into_iter().find(|tag| !has_day(*tag) && !is_dropped(*tag)) {
        return Ok(Some(format!("{}: der ganze Tag wurde entfernt", Day::of_number(tag))));
    }
    if is_sealed && !holds {
        return Ok(Some(
            "das Ende des Protokolls wurde geändert: welche Tage es gibt, oder welche gelöscht wurden"
                .to_owned(),
        ));
    }
    let strange =
        "select tag, lfd_nr from audit where tag not in (select tag from audit_tag) order by tag, lfd_nr";
    let strange: Option<(i64, i64)> = connection.query_row(strange, [], |row| row.try_into()).optional()?;
    Ok(strange.map(|(tag, number)| format!("{}, Zeile {number} wurde eingefügt", Day::of_number(tag))))
}

fn verify_day(connection: &Connection, head: &Head, is_sealed: bool) -> Result<Finding> {
    let mut statement = connection.prepare_cached(&format!(
        "select {}, lfd_nr, pruefsumme, mac is kurzsiegel('audit', tag, lfd_nr, pruefsumme)
         from audit a where tag = ?1 order by lfd_nr",
        Row::COLUMNS
    ))?;
    let mut rows = statement.query([head.tag])?;
    let (mut before, mut last) = (head.ab_pruefsumme, head.ab_nr);
    let day = Day::of_number(head.tag);
    let broken = |number: i64, what: &str| Ok(Finding::Broken(format!("{day}, Zeile {number} wurde {what}")));
    if head.ab_nr == 0 && before != beginning(head.tag, head.vortag) {
        return broken(1, "geändert");
    }
    while let Some(row) = rows.next()? {
        let number: i64 = row.get(16)?;
        if number > head.letzte_nr || number <= last {
            return broken(number, "eingefügt");
        }
        if number != last + 1 {
            return broken(last + 1, "entfernt");
        }
        match verified_link(connection, head, row, before, is_sealed)? {
            Some(link) => (before, last) = (link, number),
            None => return broken(number, "geändert"),
        }
    }
    if last != head.letzte_nr {
        return broken(last + 1, "entfernt");
    }
    if before != head.pruefsumme {
        return broken(last, "geändert");
    }
    if is_sealed && !head.holds {
        return Ok(Finding::Broken(format!(
            "{day}: das Ende des Tages wurde geändert: Zeilen nach Zeile {last} oder vor der ersten wurden entfernt"
        )));
    }
    Ok(Finding::Whole(last - head.ab_nr))
}

/// The checksum of a row that follows the one with the checksum `before`; none where the row was altered.
fn verified_link(
    connection: &Connection,
    head: &Head,
    row: &rusqlite::Row<'_>,
    before: Pruefsumme,
    is_sealed: bool,
) -> Result<Option<Pruefsumme>> {
    let number: i64 = row.get(16)?;
    // A value of another type than ours was altered, too.
    let Ok(pruefsumme) = row.get::<_, Vec<u8>>(17) else { return Ok(None) };
    let has_seal = number <= head.mac_ab_nr || !is_sealed || row.get(18)?;
    let Ok(row) = Row::read(row) else { return Ok(None) };
    let route = route_name(connection, row.route_id)?;
    let expected = link(before, head.tag, number, &row, route.as_deref());
    Ok((pruefsumme == expected && has_seal).then_some(expected))
}
