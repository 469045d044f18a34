//! Finalising documents at the end of their day (D4).

use rusqlite::named_params;
use uuid::Uuid;

use super::{finalise, hint_doubtful, try_to_finalise};
use crate::master::tenants;
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::{Failure, Result};
use crate::rules::day::Instant;
use crate::rules::document::{BelegTyp, Tagesabschluss};
use crate::rules::error::{Code, HintCode, Hints};
use crate::trade::belege::eingabe::Auswahl;
use crate::trade::belege::model::Beleg;
use crate::trade::belege::sql;

/// Maximum number of documents per call, so that no request waits long.
const DOCUMENTS_PER_CALL_MAX: i64 = 100;

/// Hints that keep a Gutschrift open (D4).
const DOUBTS: [HintCode; 4] = [
    HintCode::SteuerausweisPruefen,
    HintCode::BesteuerungUnbekannt,
    HintCode::GutschriftNichtVereinbart,
    HintCode::ErechnungUnvollstaendig,
];

/// Refusals that leave only this document open (D25, D26); they occur before anything of it is stored.
const STAYS_OPEN: [Code; 2] = [Code::ErechnungUnvollstaendig, Code::TextZuLang];

/// Position to continue from: after the document with this creation time and id.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ResumePosition(Option<(Instant, Uuid)>);

/// Finalises some open documents, after `behind`, of the kinds that the company chose, whose day of creation
/// in Berlin is over. Returns where to continue if there may be more. A document stays open if it lacks data
/// for its e-invoice and the company requires one (D26), if its sheet is too long (D25), or if it is an RE or a
/// Gutschrift that needs a person's review (D4).
pub fn finalise_past_days(tx: &WriteTx<'_>, behind: ResumePosition) -> Result<Option<ResumePosition>> {
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
    Ok(due.last().map(|last| ResumePosition(Some(*last))))
}

/// Whether finalising an RE or a Gutschrift would yield a hint that needs a person's review first.
fn is_doubtful(tx: &WriteTx<'_>, beleg: &Beleg) -> Result<bool> {
    if !beleg.is_written_for_supplier() {
        let mut said = Hints::default();
        if beleg.beleg_typ == BelegTyp::Re {
            hint_doubtful(tx, beleg, &mut said)?;
        }
        return Ok(said.iter().any(|hint| hint.code == HintCode::SteuerausweisPruefen));
    }
    let said = try_to_finalise(tx, beleg.clone(), Hints::default())?.hinweise;
    Ok(said.iter().any(|hint| DOUBTS.contains(&hint.code)))
}

/// Selects the RE and Gutschriften that are still open after their day and need a person's review (D4). `None` if
/// the company leaves all of them open.
pub fn waiting(tx: &Tx<'_>) -> Result<Option<Auswahl<'static>>> {
    let chosen = &tenants::load(tx)?.abschluss_tagesende;
    let reviewed = [Tagesabschluss::Re, Tagesabschluss::Gs].into_iter().filter(|kind| chosen.contains(kind));
    let typen: Vec<_> = reviewed.map(|kind| kind.typ_und_art().0.as_str()).collect();
    let offen_seit = Some(tx.today().begin_in_berlin());
    Ok((!typen.is_empty()).then(|| Auswahl { typen, offen_seit, ..Auswahl::default() }))
}

/// Returns the next open documents of a kind whose day is over, in order of creation.
fn past(tx: &Tx<'_>, kind: Tagesabschluss, behind: ResumePosition) -> Result<Vec<(Instant, Uuid)>> {
    let (angelegt_am, id) = behind.0.unwrap_or((Instant::from_millis(0), Uuid::nil()));
    let (typ, art) = kind.typ_und_art();
    let statement = "select angelegt_am, id from beleg where tenant_id = :tenant and status = 'offen' \
        and beleg_typ = :typ
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
