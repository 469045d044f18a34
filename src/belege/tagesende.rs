//! Documents that become final at the end of their day (D4).

use rusqlite::named_params;
use uuid::Uuid;

use super::lifecycle::finalise;
use super::sql;
use crate::db::tx::{Tx, WriteTx};
use crate::failure::{Failure, Result};
use crate::rules::day::Instant;
use crate::rules::document::BelegTyp;
use crate::rules::error::{Code, Hints};
use crate::tenants;

/// Documents of one call at most, so that no request waits long behind it.
const DOCUMENTS_PER_CALL_MAX: i64 = 100;

/// Where the end of a day goes on: behind the document that was created then and has this id.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Behind(Option<(Instant, Uuid)>);

/// Finalises open documents whose day of creation is over in Berlin, of the types that the company chose: some of those
/// behind `behind`. Where to go on, if there may be more. One that lacks what its e-invoice needs stays open where the
/// company wants none without (D26).
pub fn finalise_past_days(tx: &WriteTx<'_>, behind: Behind) -> Result<Option<Behind>> {
    let mut due = Vec::new();
    for typ in &tenants::load(tx)?.abschluss_tagesende {
        due.extend(past(tx, *typ, behind)?);
    }
    due.sort_unstable();
    due.truncate(usize::try_from(DOCUMENTS_PER_CALL_MAX).unwrap_or_default());
    for (_, id) in &due {
        let beleg = sql::find(tx, *id)?.ok_or_else(|| Failure::Broken("a listed document is gone".into()))?;
        match finalise(tx, beleg, &mut Hints::default()) {
            Err(Failure::Refused(refusal)) if refusal.code == Code::ErechnungUnvollstaendig => {}
            done => drop(done?),
        }
    }
    Ok(due.last().map(|last| Behind(Some(*last))))
}

/// The next open documents of a type whose day is over, in the order of their creation.
fn past(tx: &Tx<'_>, typ: BelegTyp, behind: Behind) -> Result<Vec<(Instant, Uuid)>> {
    let (angelegt_am, id) = behind.0.unwrap_or((Instant::from_millis(0), Uuid::nil()));
    let statement = "select angelegt_am, id from beleg where tenant_id = :tenant and status = 'offen' and beleg_typ = :typ
        and angelegt_am < :today and (angelegt_am, id) > (:angelegt_am, :id) order by angelegt_am, id limit :at_once";
    let params = named_params! {
        ":typ": typ,
        ":today": tx.today().begin_in_berlin(),
        ":angelegt_am": angelegt_am,
        ":id": id,
        ":at_once": DOCUMENTS_PER_CALL_MAX,
    };
    tx.all(statement, params, |row| Ok((row.get(0)?, row.get(1)?)))
}
