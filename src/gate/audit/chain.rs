//! The rows of a day are chained: each has `sha256(the one before ‖ its content)`, so that none can
//! be altered, removed or inserted without breaking what stands behind it. The head of each day
//! says how many rows there are; each day knows the one before it. A row says in which form its content is chained:
//! a further column is a further form.

use rusqlite::{Connection, OptionalExtension};
use sha2::{Digest, Sha256};

use super::row::Row;
use crate::db::seal::Content;
use crate::failure::Result;

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

/// The form in which rows of this version are chained.
pub const FORM: i64 = 3;

/// The form that came before it: without the error code.
const WITHOUT_CODE: i64 = 2;

/// The seal of a day's head.
pub const DAY: &str =
    "siegel('audit_tag', tag, vortag, letzte_nr, pruefsumme, ab_nr, ab_pruefsumme, mac_ab_nr)";

/// The seal of the head of the log, as it stands.
pub fn log_seal() -> String {
    log_seal_of("letzter_tag", "geloescht_bis", "bleibend")
}

/// The seal of a head of the log with these values. Rows that are kept count from the first one on: heads of versions
/// that kept none stay as they are.
pub fn log_seal_of(last: &str, dropped: &str, kept: &str) -> String {
    format!(
        "iif({kept} = 0, siegel('audit_kopf', {last}, {dropped}), siegel('audit_kopf', {last}, {dropped}, {kept}))"
    )
}

/// The seal of a row that is kept.
pub const KEPT: &str = "kurzsiegel('audit_bleibt', nr, tag, lfd_nr, pruefsumme)";

/// The checksum of a row of an older form, or of this one; none where nobody knows it.
pub fn link_in_form(
    form: i64,
    before: Pruefsumme,
    tag: i64,
    number: i64,
    row: &Row,
    route: Option<&str>,
) -> Option<Pruefsumme> {
    match form {
        1 => Some(first_form(before, tag, number, row, route)),
        WITHOUT_CODE | FORM => Some(in_form(form, before, tag, number, row, route)),
        _ => None,
    }
}

/// The checksum of a row.
pub fn link(before: Pruefsumme, tag: i64, number: i64, row: &Row, route: Option<&str>) -> Pruefsumme {
    in_form(FORM, before, tag, number, row, route)
}

/// Every part has its type and length before it, so that nothing can be moved from one to the next.
fn in_form(
    form: i64,
    before: Pruefsumme,
    tag: i64,
    number: i64,
    row: &Row,
    route: Option<&str>,
) -> Pruefsumme {
    let mut content = Content::with_room();
    [form, tag, number, row.am].into_iter().for_each(|number| content.number(number));
    content.bytes(row.request_id.as_bytes());
    content.optional(row.key_id.as_deref(), |content, id| content.text(id.as_bytes()));
    let (person, befehl) = row.actors();
    content.optional(person, |content, id| content.text(id.as_bytes()));
    content.optional(befehl, |content, text| content.text(text.as_bytes()));
    content.optional(row.tenant_id, Content::number);
    [&row.adresse, &row.methode, &row.pfad].into_iter().for_each(|text| content.text(text.as_bytes()));
    content.optional(route, |content, route| content.text(route.as_bytes()));
    let numbers = [i64::from(row.status), row.dauer_us, row.bytes_ein, row.bytes_aus, row.anzahl];
    numbers.into_iter().for_each(|number| content.number(number));
    content.optional(row.subjekt, |content, id| content.bytes(id.as_bytes()));
    if form > WITHOUT_CODE {
        content.optional(row.code.as_deref(), |content, code| content.text(code.as_bytes()));
    }
    Sha256::new().chain_update(before).chain_update(content.as_bytes()).finalize().into()
}

/// The content of a row as the first versions chained it.
fn first_form(before: Pruefsumme, tag: i64, number: i64, row: &Row, route: Option<&str>) -> Pruefsumme {
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
