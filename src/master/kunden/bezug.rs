//! How requests reference a partner: by integer, uuid or number (D1).

use uuid::Uuid;

use super::model::Kunde;
use super::sql::{find, find_by_kunden_id, find_by_kundennr};
use crate::platform::db::tx::Tx;
use crate::platform::failure::{Failure, Result};
use crate::rules::error::{Code, Refusal};
use crate::rules::verweis::Verweis;

pub fn find_by_verweis(tx: &Tx<'_>, verweis: &Verweis) -> Result<Option<Kunde>> {
    match verweis {
        Verweis::Nummer(kunden_id) => find_by_kunden_id(tx, *kunden_id),
        Verweis::Id(id) => find(tx, *id),
        Verweis::Name(_) => Ok(None),
    }
}

/// Returns the partner with this partner_id, or a refusal.
pub fn by_id(tx: &Tx<'_>, id: Uuid) -> Result<Kunde> {
    let unknown = || Refusal::unknown(Code::PartnerNichtGefunden, "partner_id", "Diesen Partner");
    Ok(find(tx, id)?.ok_or_else(unknown)?)
}

/// Returns the partner identified by kunden_id, kundennummer or both; `None` if neither was sent.
pub fn named(tx: &Tx<'_>, kunden_id: Option<&Verweis>, kundennummer: Option<&str>) -> Result<Option<Kunde>> {
    let there = |found: Option<Kunde>, feld| found.ok_or_else(|| Failure::from(not_found(feld)));
    let by_id = kunden_id.map(|verweis| there(find_by_verweis(tx, verweis)?, "kunden_id")).transpose()?;
    let by_number =
        kundennummer.map(|number| there(find_by_kundennr(tx, number)?, "kundennummer")).transpose()?;
    match (by_id, by_number) {
        (Some(a), Some(b)) if a.id != b.id => Err(contradiction("kundennummer").into()),
        (a, b) => Ok(a.or(b)),
    }
}

pub fn missing() -> Box<Refusal> {
    let message = ("Es fehlt der Kunde oder Lieferant.", "Bitte kunden_id oder kundennummer angeben.");
    Refusal::field(Code::KundeFehlt, "kunden_id", message)
}

pub fn contradiction(feld: &str) -> Box<Refusal> {
    let message = ("Die Angaben nennen verschiedene Kunden.", "Bitte nur eine davon senden.");
    Refusal::field(Code::KundeWiderspruch, feld, message)
}

fn not_found(feld: &str) -> Box<Refusal> {
    let message = ("Diesen Kunden oder Lieferanten gibt es nicht.", "Bitte die Nummer prüfen.");
    Refusal::field(Code::KundeNichtGefunden, feld, message)
}

/// Returns the partner of a filter; the nil id, which matches nothing, if it does not exist (D1).
pub fn of_filter(tx: &Tx<'_>, verweis: Option<&Verweis>) -> Result<Option<Uuid>> {
    let Some(verweis) = verweis else { return Ok(None) };
    Ok(Some(find_by_verweis(tx, verweis)?.map_or(Uuid::nil(), |kunde| kunde.id)))
}
