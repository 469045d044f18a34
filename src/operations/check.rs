//! The proof of a database: integrity, schema, references, stock, numbers, checksums.

use rusqlite::Connection;
use serde::Serialize;

use super::bounds;
use super::sealing::broken_evidence;
use crate::goods::{chargen, produktion, waage};
use crate::interface::aenderungen;
use crate::master::{anhaenge, kunden, tenants};
use crate::office::buchhaltung;
use crate::platform::db::Clock;
use crate::platform::db::migrate::{fresh_schema, schema};
use crate::platform::db::seals::check::Check;
use crate::platform::db::seals::seal::Secret;
use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::platform::gate::audit::{self, Sealed};
use crate::trade::{abrechnungen, annahmescheine, belege, kasse};

fn checks() -> impl Iterator<Item = &'static Check> {
    [
        kunden::CHECKS,
        chargen::CHECKS,
        waage::CHECKS,
        produktion::CHECKS,
        kasse::CHECKS,
        belege::CHECKS,
        annahmescheine::CHECKS,
        buchhaltung::CHECKS,
        aenderungen::CHECKS,
    ]
    .into_iter()
    .flatten()
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CheckLine {
    pub rule: String,
    pub violations: i64,
    /// The first thing that is wrong, or what there is to know of it, in words.
    pub finding: Option<String>,
}

impl CheckLine {
    fn counted(rule: &str, violations: i64) -> CheckLine {
        CheckLine { rule: rule.to_owned(), violations, finding: None }
    }

    fn found(rule: &str, finding: Option<String>) -> CheckLine {
        CheckLine { rule: rule.to_owned(), violations: i64::from(finding.is_some()), finding }
    }
}

/// Steps of [`check`]: each rule of the slices, and eight besides.
pub fn steps() -> usize {
    checks().count() + 8
}

/// Runs every check on one snapshot of a connection that seals with this secret. `began` gets the name of each
/// before it runs; a failure of it ends the run.
pub fn check(
    connection: &mut Connection,
    secret: Option<&Secret>,
    clock: &Clock,
    began: impl Fn(&str) -> Result<()>,
) -> Result<Vec<CheckLine>> {
    let snapshot = connection.transaction()?;
    began("Seiten und Indizes")?;
    let mut lines = structure(&snapshot)?;
    for check in checks() {
        began(check.rule)?;
        lines.push(CheckLine::counted(check.rule, count(&snapshot, check.violations)?));
    }
    let bounds = "Werte liegen in den Grenzen ihrer Felder, oder es ist bekannt";
    began(bounds)?;
    lines.push(CheckLine { finding: bounds::in_words(&snapshot)?, ..CheckLine::counted(bounds, 0) });
    lines.extend(contents(&snapshot, clock, &began)?);
    let (is_sealed, seals) = match audit::sealed(&snapshot, secret)? {
        Sealed::Since(_, how) => (true, CheckLine { finding: Some(how), ..CheckLine::counted(SEALS, 0) }),
        Sealed::Not(why) => (false, CheckLine { finding: Some(why), ..CheckLine::counted(SEALS, 0) }),
        Sealed::Broken(what) => (false, CheckLine::found(SEALS, Some(what))),
    };
    let evidence = "abgeschlossene Belege, Verläufe, PDF und Anhänge sind, wie sie geschrieben wurden";
    began(evidence)?;
    lines.push(CheckLine::found(evidence, broken_evidence(&snapshot, is_sealed, clock)?));
    let log = "im Protokoll wurde keine Zeile geändert, entfernt oder eingefügt";
    began(log)?;
    lines.push(CheckLine::found(log, audit::verify(&snapshot, secret, clock(), |_, _| Ok(()))?.err()));
    lines.push(seals);
    Ok(lines)
}

fn structure(connection: &Connection) -> Result<Vec<CheckLine>> {
    let integrity = "select count(*) from pragma_integrity_check where integrity_check <> 'ok'";
    let foreign_keys = "select count(*) from pragma_foreign_key_check";
    let (live, fresh) = (schema(connection)?, fresh_schema()?);
    let differs = live.iter().filter(|part| !fresh.contains(part)).count()
        + fresh.iter().filter(|part| !live.contains(part)).count();
    Ok(vec![
        CheckLine::counted("Seiten und Indizes sind heil", count(connection, integrity)?),
        CheckLine::counted("Verweise führen irgendwohin", count(connection, foreign_keys)?),
        CheckLine::counted("der Aufbau ist der dieser Version", differs as i64),
    ])
}

fn count(connection: &Connection, sql: &str) -> Result<i64> {
    Ok(connection.query_row(sql, [], |row| row.get(0))?)
}

/// Holds where there is nothing to look at them with, too; the finding says so.
const SEALS: &str = "die Siegel von Protokoll und Belegen halten, soweit sie zu prüfen sind";

/// Names the first stored content that is not what its sha256 says.
fn altered_content(tx: &Tx<'_>) -> Result<Option<String>> {
    for altered in [belege::altered_pdf, anhaenge::altered_content, kunden::altered_content] {
        if let Some(subject) = altered(tx)? {
            return Ok(Some(format!("der Inhalt von {subject} wurde geändert")));
        }
    }
    for altered in [buchhaltung::altered_datei, kasse::altered_file] {
        if let Some(name) = altered(tx)? {
            return Ok(Some(format!("{name} wurde geändert")));
        }
    }
    Ok(None)
}

/// Whether what was stored whole is what its sha256 says.
fn contents(
    connection: &Connection,
    clock: &Clock,
    began: impl Fn(&str) -> Result<()>,
) -> Result<Vec<CheckLine>> {
    let files = "PDF, Anhänge, Dateien für DATEV und der Kassen und der Verlauf von Partnern sind, was ihr \
         sha256 nennt";
    began(files)?;
    let altered = first(connection, clock, altered_content);
    let files = CheckLine::found(files, altered?);
    let erechnungen = "E-Rechnungen sind, was ihr sha256 nennt";
    began(erechnungen)?;
    let altered = first(connection, clock, belege::altered_erechnung)?;
    let altered = altered.map(|nummer| format!("die E-Rechnung von {nummer} wurde geändert"));
    let stapel = "Rechnungen aus übergebenen Zeiträumen sind in einem Stapel, oder es ist bekannt";
    began(stapel)?;
    let left = first(connection, clock, |tx| {
        let left = buchhaltung::not_handed_over(tx)?;
        Ok(left.map(|(count, nummer)| format!("{count} sind es nicht, als erste {nummer}")))
    });
    let stapel = CheckLine { finding: left?, ..CheckLine::counted(stapel, 0) };
    let settled = "Abgerechnete Ware steht in ihren Lieferscheinen, oder es ist bekannt";
    began(settled)?;
    let without = first(connection, clock, |tx| {
        let without = abrechnungen::without_goods(tx)?;
        Ok(without
            .map(|(schein, nummer)| format!("die Ware von {schein}, bezahlt mit {nummer}, steht dort nicht")))
    });
    let settled = CheckLine { finding: without?, ..CheckLine::counted(settled, 0) };
    Ok(vec![files, CheckLine::found(erechnungen, altered), stapel, settled])
}

/// What the first company comes to that has anything to say.
fn first(
    connection: &Connection,
    clock: &Clock,
    look: impl Fn(&Tx<'_>) -> Result<Option<String>>,
) -> Result<Option<String>> {
    for tenant in tenants::list(connection)? {
        if let Some(found) = look(&Tx::new(connection, tenant.id, clock()))? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::Arc;

    use super::*;
    use crate::platform::db::file::connection::open_to_look;
    use crate::platform::db::migrate::migrate;
    use crate::platform::db::seals::seal;
    use crate::platform::failure::Failure;
    use crate::rules::day::Instant;

    #[test]
    fn each_step_is_counted_and_any_may_be_the_last() {
        let folder = tempfile::TempDir::new().unwrap();
        let database = folder.path().join("test.db");
        migrate(&database, Instant::from_millis(0)).unwrap();
        let mut connection = open_to_look(&database).unwrap();
        seal::install(&connection, None).unwrap();
        let clock: Clock = Arc::new(|| Instant::from_millis(0));
        for last in 1..=steps() + 1 {
            let begun = Cell::new(0);
            let began = |_: &str| {
                begun.set(begun.get() + 1);
                if begun.get() == last { Err(Failure::Broken("given up".to_owned())) } else { Ok(()) }
            };
            let checked = check(&mut connection, None, &clock, began);
            assert_eq!((checked.is_ok(), begun.get()), (last > steps(), last.min(steps())));
        }
    }
}
