//! Comparing both logs and the evidence with a backup: what the backup has must still be there. This finds what a proof of
//! the file alone cannot: old rows that were put back together with their old head.

use rusqlite::{Connection, OptionalExtension, params};

use super::chain::Pruefsumme;
use super::heads::{Head, copied_heads};
use crate::platform::db::migrate::is_of_this_version;
use crate::platform::db::proof::evidence;
use crate::platform::failure::{Failure, Result};
use crate::platform::gate::access::key::mac_secret;
use crate::platform::gate::administration;
use crate::rules::day::Day;

/// The first thing of a backup that is missing or different, in words.
pub fn against(connection: &Connection, backup: &Connection) -> Result<Option<String>> {
    if !is_of_this_version(backup)? {
        return Err(Failure::Broken(
            "die Sicherung ist auf einem älteren Stand: sie woanders zurückholen, dann vergleichen".into(),
        ));
    }
    if mac_secret(connection)? != mac_secret(backup)? {
        return Err(Failure::Broken("das ist die Sicherung einer anderen Datenbank".into()));
    }
    for head in copied_heads(backup)?.iter().filter(|head| head.number > 0) {
        if let Some(what) = missing(connection, head)? {
            return Ok(Some(format!("{}{what}, seit der Sicherung", Day::of_number(head.tag))));
        }
    }
    match administration::CHAIN.against(connection, backup)? {
        None => evidence::CHAIN.against(connection, backup),
        missing => Ok(missing),
    }
}

/// What happened to the rows of a day that a backup has.
fn missing(connection: &Connection, kept: &Head) -> Result<Option<String>> {
    let dropped: Option<i64> =
        connection.query_row("select max(geloescht_bis) from audit_kopf", [], |row| row.get(0))?;
    if dropped.is_some_and(|until| kept.tag <= until) {
        return Ok(None);
    }
    let day = "select letzte_nr, ab_nr, ab_pruefsumme from audit_tag where tag = ?1";
    let day = connection.query_row(day, [kept.tag], |row| <(i64, i64, Pruefsumme)>::try_from(row));
    let Some((last, first, before)) = day.optional()? else {
        return Ok(Some(": der ganze Tag wurde entfernt".to_owned()));
    };
    if kept.number < first {
        return Ok(None);
    }
    let now: Option<Pruefsumme> = if kept.number == first {
        Some(before)
    } else {
        let row = "select pruefsumme from audit where tag = ?1 and lfd_nr = ?2";
        connection.query_row(row, params![kept.tag, kept.number], |row| row.get(0)).optional()?
    };
    Ok(match now {
        Some(now) if now == kept.pruefsumme => None,
        Some(_) => Some(format!(": Zeilen bis Zeile {} wurden geändert", kept.number)),
        None => Some(format!(", Zeile {} wurde entfernt", last + 1)),
    })
}
