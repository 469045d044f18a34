//! The rows of a day are chained: each has `sha256(the one before ‖ its content)`, so that none can
//! be altered, removed or inserted without breaking what stands behind it. The head of each day
//! says how many rows there are; each day knows the one before it.

use rusqlite::{Connection, OptionalExtension};
use sha2::{Digest, Sha256};

use super::row::Row;
use crate::platform::db::proof::seal::Content;
use crate::platform::failure::Result;

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

pub const DAY: &str =
    "siegel('audit_tag', tag, vortag, letzte_nr, pruefsumme, ab_nr, ab_pruefsumme, mac_ab_nr)";

/// The seal of the head of the log, as it stands.
pub fn log_seal() -> String {
    log_seal_of("letzter_tag", "geloescht_bis")
}

/// The seal of a head of the log with these values.
pub fn log_seal_of(last: &str, dropped: &str) -> String {
    format!("siegel('audit_kopf', {last}, {dropped})")
}

/// The checksum of a row. Every part has its type and length before it, so that nothing can be moved from one to the
/// next.
pub fn link(before: Pruefsumme, tag: i64, number: i64, row: &Row, route: Option<&str>) -> Pruefsumme {
    let mut content = Content::with_room();
    [tag, number, row.am].into_iter().for_each(|number| content.number(number));
    content.bytes(row.request_id.as_bytes());
    content.optional(row.key_id.as_deref(), |content, id| content.text(id.as_bytes()));
    content.optional(row.person, Content::number);
    content.optional(row.tenant_id, Content::number);
    [&row.adresse, &row.methode, &row.pfad].into_iter().for_each(|text| content.text(text.as_bytes()));
    content.optional(route, |content, route| content.text(route.as_bytes()));
    let numbers = [i64::from(row.status), row.dauer_us, row.bytes_ein, row.bytes_aus, row.anzahl];
    numbers.into_iter().for_each(|number| content.number(number));
    content.optional(row.subjekt, |content, id| content.bytes(id.as_bytes()));
    content.optional(row.code.as_deref(), |content, code| content.text(code.as_bytes()));
    Sha256::new().chain_update(before).chain_update(content.as_bytes()).finalize().into()
}
