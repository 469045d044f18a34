//! Documents that become final at the end of their day (D4).

use rusqlite::named_params;
use uuid::Uuid;

use super::{finalise, try_to_finalise};
use crate::master::tenants;
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::{Failure, Result};
use crate::rules::day::Instant;
use crate::rules::document::Tagesabschluss;
use crate::rules::error::{Code, HintCode, Hints};
use crate::trade::belege::eingabe::Auswahl;
use crate::trade::belege::model::Beleg;
use crate::trade::belege::sql;

/// Documents of one call at most, so that no request waits long behind it.
const DOCUMENTS_PER_CALL_MAX: i64 = 100;

/// What keeps a Gutschrift open (D4).
const DOUBTS: [HintCode; 3] =
    [HintCode::SteuerausweisPruefen, HintCode::GutschriftNichtVereinbart, HintCode::ErechnungUnvollstaendig];

/// Refusals that leave a document open while the day of the others ends (D25, D26): before anything of it is stored.
const STAYS_OPEN: [Code; 2] = [Code::ErechnungUnvollstaendig, Code::TextZuLang];

/// Where the end of a day goes on: behind the document that was created then and has this id.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Behind(Option<(Instant, Uuid)>);

/// Finalises open documents whose day of creation is over in Berlin, of the kinds that the company chose: some of those
/// behind `behind`. Where to go on, if there may be more. One that lacks what its e-invoice needs stays open where the
/// company wants none without (D26), one whose sheet is too long (D25), and a Gutschrift that somebody must look at (D4).
pub fn finalise_past_days(tx: &WriteTx<'_>, behind: Behind) -> Result<Option<Behind>> {
    let mut due = Vec::new();
    for kind in &tenants::load(tx)?.abschluss_tagesende {
        due.extend(past(tx, *kind, behind)?);
    }
    due.sort_unstable();
    due.truncate(usize::try_from(DOCUMENTS_PER_CALL_MAX).unwrap_or_default());
    for (_, id) in &due {
        let beleg = sql::find(tx, *id)?.ok_or_else(|| Failure::Broken("a listed document is gone".into()))?;
        if is_doubtful(tx, &beleg)? {
            continue;
        }
        match finalise(tx, beleg, &mut Hints::default()) {
            Err(Failure::Refused(refusal)) if STAYS_OPEN.contains(&refusal.code) => {}
            done => drop(done?),
        }
    }
    Ok(due.last().map(|last| Behind(Some(*last))))
}

/// Whether a Gutschrift would become final with a hint that somebody must look at before.
fn is_doubtful(tx: &WriteTx<'_>, beleg: &Beleg) -> Result<bool> {
    if !beleg.is_written_for_supplier() {
        return Ok(false);
    }
    let said = try_to_finalise(tx, beleg.clone(), Hints::default())?.hinweise;
    Ok(said.iter().any(|hint| DOUBTS.contains(&hint.code)))
}

/// Which Gutschriften are open although their day is over: somebody must look at them (D4). None where the company
/// leaves all of them open.
pub fn waiting(tx: &Tx<'_>) -> Result<Option<Auswahl<'static>>> {
    let chosen = tenants::load(tx)?.abschluss_tagesende.contains(&Tagesabschluss::Gs);
    let (typ, _) = Tagesabschluss::Gs.typ_und_art();
    let gutschrift_vor = Some(tx.today().begin_in_berlin());
    Ok(chosen.then(|| Auswahl { typen: vec![typ.as_str()], gutschrift_vor, ..Auswahl::default() }))
}

/// The next open documents of a kind whose day is over, in the order of their creation.
fn past(tx: &Tx<'_>, kind: Tagesabschluss, behind: Behind) -> Result<Vec<(Instant, Uuid)>> {
    let (angelegt_am, id) = behind.0.unwrap_or((Instant::from_millis(0), Uuid::nil()));
    let (typ, art) = kind.typ_und_art();
    let statement = "select angelegt_am, id from beleg where tenant_id = :tenant and status = 'offen' and beleg_typ = :typ
        and rechnungsart is :art and angelegt_am < :today and (angelegt_am, id) > (:angelegt_am, :id)
        order by angelegt_am, id limit :at_once";
    let params = named_params! {
        ":typ": typ,
        ":art": art,
        ":today": tx.today().begin_in_berlin(),
        ":angelegt_am": angelegt_am,
        ":id": id,
        ":at_once": DOCUMENTS_PER_CALL_MAX,
    };
    tx.all(statement, params, |row| Ok((row.get(0)?, row.get(1)?)))
}
