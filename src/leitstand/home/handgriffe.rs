//! Health issues of everyday business: overdue invoices, contracts that are nearly full, batches near their
//! best-before date.

use crate::goods::{chargen, kontrakte};
use crate::leitstand::goods::chargen::SHELF_LIFE_SOON_DAYS;
use crate::leitstand::kit::health::HealthIssue;
use crate::leitstand::kit::page::{PageRequest, Snapshot};
use crate::leitstand::kit::parts::{number, or_blank};
use crate::platform::failure::{Result, locked};
use crate::rules::day::Day;
use crate::rules::document::Seite;
use crate::trade::belege::{self, Auswahl};

/// Most items counted, because the page stays open all day and reloads often.
const COUNTED_MAX: i64 = 500;

/// How long the issues of contracts are cached, in milliseconds: computing them reads the deliveries on all
/// contracts.
const CONTRACTS_HOLD_MILLIS: i64 = 10 * 60_000;

/// Most contracts that are named.
const CONTRACTS_NAMED_MAX: usize = 5;

pub fn issues(request: &PageRequest, db: &Snapshot<'_>) -> Result<Vec<HealthIssue>> {
    Ok([overdue(request, db)?, expiring(request, db)?, nearly_full(request, db)?].concat())
}

fn overdue(request: &PageRequest, db: &Snapshot<'_>) -> Result<Vec<HealthIssue>> {
    let faellig_bis = Some(db.tx.today().yesterday());
    let auswahl = Auswahl { unbezahlt: true, faellig_bis, ..Auswahl::default() };
    let sums = belege::open_sums(&db.tx, &auswahl, COUNTED_MAX + 1)?;
    if sums.iter().map(|sum| sum.count).sum::<i64>() > COUNTED_MAX {
        let text = format!("Mehr als {} Rechnungen sind überfällig.", number(COUNTED_MAX));
        return Ok(vec![HealthIssue::soon(text).at(request.of_firma("offen?tage=1"))]);
    }
    let in_words = |sum: &belege::Offen| {
        let (what, way) = match sum.typ.seite() {
            Seite::Verkauf => (["Rechnung ist", "Rechnungen sind"], "zu bekommen"),
            Seite::Einkauf => {
                (["Rechnung oder Gutschrift ist", "Rechnungen und Gutschriften sind"], "zu zahlen")
            }
        };
        let text = format!("{} überfällig: {} EUR {way}.", counted(sum.count, what), number(sum.brutto));
        HealthIssue::soon(text).at(request.of_firma(&format!("offen?typ={}&tage=1", sum.typ.as_str())))
    };
    Ok(sums.iter().map(in_words).collect())
}

fn counted(count: i64, [one, many]: [&str; 2]) -> String {
    match count {
        1 => format!("1 {one}"),
        count if count > COUNTED_MAX => format!("Mehr als {} {many}", number(COUNTED_MAX)),
        count => format!("{} {many}", number(count)),
    }
}

fn expiring(request: &PageRequest, db: &Snapshot<'_>) -> Result<Vec<HealthIssue>> {
    let today = db.tx.today();
    let until = Day::of_number(today.number() + SHELF_LIFE_SOON_DAYS);
    let (all, past) = chargen::expiring(&db.tx, today, until, COUNTED_MAX + 1)?;
    let words = ["Charge mit Bestand ist", "Chargen mit Bestand sind"];
    let issue = |count: i64, what: &str, which: &str| {
        let text = format!("{} {what}.", counted(count, words));
        (count > 0).then(|| HealthIssue::soon(text).at(request.of_firma(&format!("chargen?welche={which}"))))
    };
    let soon = format!("höchstens noch {SHELF_LIFE_SOON_DAYS} Tage haltbar");
    let issues = [issue(past, "abgelaufen", "abgelaufen"), issue(all - past, &soon, "bald")];
    Ok(issues.into_iter().flatten().collect())
}

fn nearly_full(request: &PageRequest, db: &Snapshot<'_>) -> Result<Vec<HealthIssue>> {
    if let Some((at, issues)) = locked(&request.app.contracts).get(&request.firma_id())
        && (request.now.millis() - at.millis()).abs() < CONTRACTS_HOLD_MILLIS
    {
        return Ok(issues.clone());
    }
    let issues = contracts(request, db)?;
    locked(&request.app.contracts).insert(request.firma_id(), (request.now, issues.clone()));
    Ok(issues)
}

fn contracts(request: &PageRequest, db: &Snapshot<'_>) -> Result<Vec<HealthIssue>> {
    let (full, is_cut) = kontrakte::nearly_full(&db.tx)?;
    let in_words = |kontrakt: &kontrakte::Kontrakt| {
        let (nr, percent) = (&kontrakt.kontrakt_nr, kontrakt.percent().unwrap_or_default());
        let partner = or_blank(&kontrakt.partner_name);
        let text = match percent {
            ..=100 => format!("Kontrakt {nr} {partner} ist zu {percent} % geliefert."),
            _ => format!("Auf Kontrakt {nr} {partner} ist mehr geliefert als vereinbart: {percent} %."),
        };
        HealthIssue::soon(text).at(request.page_of("kontrakte", kontrakt.id))
    };
    let mut issues: Vec<_> = full.iter().take(CONTRACTS_NAMED_MAX).map(in_words).collect();
    let left = full.len().saturating_sub(CONTRACTS_NAMED_MAX);
    if left > 0 || is_cut {
        let text = match left {
            0 => "Die offenen Kontrakte haben so viele Lieferungen, dass hier nicht auf alle gesehen wurde."
                .to_owned(),
            left => format!("Weitere {left} Kontrakte sind fast voll oder darüber."),
        };
        issues.push(HealthIssue::soon(text).at(request.of_firma("kontrakte?erledigt=false")));
    }
    Ok(issues)
}
