//! What becomes of the notes that a document settles (D29i, D29j). Settlements are made by `abrechnungen`; a document only
//! knows whether it is one.

use rusqlite::{Row, named_params};
use uuid::Uuid;

use super::sql;
use crate::db::tx::{Tx, WriteTx};
use crate::failure::Result;
use crate::rules::error::{Checked, Code, Refusal, refuse_if};

/// The items of a settlement follow from its notes.
pub fn check_items_stay(tx: &Tx<'_>, beleg: Uuid) -> Result<()> {
    let statement = "select 1 from abrechnung where tenant_id = :tenant and beleg_id = :beleg";
    let message = "Die Positionen dieser Gutschrift folgen aus den Annahmescheinen. Bitte sie stornieren und neu abrechnen.";
    let is_settlement = tx.exists(statement, named_params! {":beleg": beleg})?;
    Ok(refuse_if(is_settlement, Code::AbrechnungNichtAenderbar, "items", message)?)
}

/// Notes come to the state that follows from their settlement, which became final or was cancelled; the feed tells of them.
pub fn follow(tx: &WriteTx<'_>, beleg: Uuid) -> Result<()> {
    let statement = "select s.id, s.status, s.stand from abrechnung a
        join abrechnung_annahme x on x.tenant_id = a.tenant_id and x.abrechnung_id = a.id
        join annahmeschein_stand s on s.tenant_id = x.tenant_id and s.id = x.annahmeschein_id
        where a.tenant_id = :tenant and a.beleg_id = :beleg";
    sql::follow_receipts(tx, statement, beleg)
}

/// An advance that a final settlement has taken off, and a final one with a supplement, are not cancelled before those.
pub fn check_last(tx: &Tx<'_>, beleg: Uuid) -> Result<()> {
    let statement = "select d.beleg_nummer from abrechnung a
        join abrechnung_annahme x on x.tenant_id = a.tenant_id and x.abrechnung_id = a.id
        join abrechnung_annahme y on y.tenant_id = x.tenant_id and y.annahmeschein_id = x.annahmeschein_id
        join abrechnung f on f.tenant_id = y.tenant_id and f.id = y.abrechnung_id
        join beleg d on d.tenant_id = f.tenant_id and d.id = f.beleg_id
        where a.tenant_id = :tenant and a.beleg_id = :beleg and d.status <> 'storniert'
          and (a.art = 'abschlag' and f.art = 'end' or a.art = 'end' and f.art = 'nachverguetung')
        order by d.beleg_nummer limit 1";
    let last: Option<String> =
        tx.optional(statement, named_params! {":beleg": beleg}, |row: &Row<'_>| row.get(0))?;
    Ok(no_follower(last)?)
}

fn no_follower(nummer: Option<String>) -> Checked<()> {
    let Some(nummer) = nummer else { return Ok(()) };
    let message = format!("{nummer} baut auf dieser Abrechnung auf. Bitte zuerst {nummer} stornieren.");
    Err(Refusal::new(Code::AbrechnungHatFolge, message))
}
