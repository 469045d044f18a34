//! Effects of a document on the receipts that it settles (D29i, D29j). `abrechnungen` creates settlements; a
//! document only knows whether it is one.

use rusqlite::{Row, named_params};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::platform::db::columns::Json;
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::Result;
use crate::rules::error::{Code, Refusal, refuse_if};
use crate::rules::settlement::AbrechnungsPosten;

/// A receipt of a settlement, and the first of its positions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Abgerechnet {
    pub position: i64,
    #[serde(flatten)]
    pub posten: AbrechnungsPosten,
}

/// Returns the receipts that a document settles; none for a supplement, which does not compute them again.
pub fn notes(tx: &Tx<'_>, beleg: Uuid) -> Result<Vec<Abgerechnet>> {
    let statement = "select x.position, x.inhalt from abrechnung a
        join abrechnung_annahme x on x.tenant_id = a.tenant_id and x.abrechnung_id = a.id
        where a.tenant_id = :tenant and a.beleg_id = :beleg and a.art <> 'nachverguetung' order by x.nr";
    tx.all(statement, named_params! {":beleg": beleg}, |row| {
        let (position, Json(posten)) = (row.get(0)?, row.get(1)?);
        Ok(Abgerechnet { position, posten })
    })
}

/// Refuses to change the positions of a settlement, because they follow from its receipts.
pub fn refuse_other_positions(tx: &Tx<'_>, beleg: Uuid) -> Result<()> {
    let statement = "select 1 from abrechnung where tenant_id = :tenant and beleg_id = :beleg";
    let message = "Die Positionen dieser Gutschrift folgen aus den Annahmescheinen. Bitte sie stornieren \
        und neu abrechnen.";
    let is_settlement = tx.exists(statement, named_params! {":beleg": beleg})?;
    Ok(refuse_if(is_settlement, Code::AbrechnungNichtAenderbar, "items", message)?)
}

/// Updates the status of the receipts after their settlement became final or was cancelled, and reports it to
/// the feed.
pub fn follow(tx: &WriteTx<'_>, beleg: Uuid) -> Result<()> {
    let statement = "select s.id, s.status, s.stand from abrechnung a
        join abrechnung_annahme x on x.tenant_id = a.tenant_id and x.abrechnung_id = a.id
        join annahmeschein_stand s on s.tenant_id = x.tenant_id and s.id = x.annahmeschein_id
        where a.tenant_id = :tenant and a.beleg_id = :beleg";
    follow_receipts(tx, statement, beleg)
}

/// Updates the status of these documents' receipts from what their goods are paired with (D21a), and reports
/// it to the feed.
pub fn update_receipts<'b>(tx: &WriteTx<'_>, belege: impl IntoIterator<Item = &'b Uuid>) -> Result<()> {
    let statement = "select id, status, stand from annahmeschein_stand where tenant_id = :tenant \
        and el_beleg_id = :beleg";
    belege.into_iter().try_for_each(|beleg| follow_receipts(tx, statement, *beleg))
}

/// Updates the status of receipts; `statement` selects those of a document, each with its old and its new
/// status.
fn follow_receipts(tx: &WriteTx<'_>, statement: &str, beleg: Uuid) -> Result<()> {
    let follow = "insert into annahmeschein_stand (tenant_id, id, status) values (:tenant, :id, :status)";
    let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    let notes: Vec<(Uuid, String, String)> = tx.all(statement, named_params! {":beleg": beleg}, row)?;
    for (id, status, stand) in notes {
        if status != stand {
            tx.execute(follow, named_params! {":id": id, ":status": stand})?;
        }
        tx.changed("annahmeschein", id);
    }
    Ok(())
}

/// Refuses to cancel an advance before the final settlement that deducts it, or a final settlement before its
/// supplement.
pub fn check_last(tx: &Tx<'_>, beleg: Uuid) -> Result<()> {
    let statement = "select d.beleg_nummer from abrechnung a
        join abrechnung_annahme x on x.tenant_id = a.tenant_id and x.abrechnung_id = a.id
        join abrechnung_annahme y on y.tenant_id = x.tenant_id and y.annahmeschein_id = x.annahmeschein_id
        join abrechnung f on f.tenant_id = y.tenant_id and f.id = y.abrechnung_id
        join beleg d on d.tenant_id = f.tenant_id and d.id = f.beleg_id
        where a.tenant_id = :tenant and a.beleg_id = :beleg and d.status <> 'storniert'
          and (a.art = 'abschlag' and f.art = 'end' or a.art = 'end' and f.art = 'nachverguetung')
        order by d.beleg_nummer limit 1";
    let last = tx.optional(statement, named_params! {":beleg": beleg}, |row| row.get::<_, String>(0))?;
    let Some(nummer) = last else { return Ok(()) };
    let message = format!("{nummer} baut auf dieser Abrechnung auf. Bitte zuerst {nummer} stornieren.");
    Err(Refusal::new(Code::AbrechnungHatFolge, message).into())
}
