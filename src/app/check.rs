//! The proof of a database: integrity, schema, references, stock, numbers, checksums.

use rusqlite::Connection;
use serde::Serialize;

use super::sealing::broken_evidence;
use crate::db::Clock;
use crate::db::check::Check;
use crate::db::migrate::{fresh_schema, schema};
use crate::db::seal::Secret;
use crate::db::tx::Tx;
use crate::failure::Result;
use crate::gate::audit::{self, Finding, Sealed};
use crate::{anhaenge, annahmescheine, belege, chargen, kasse, kunden, produktion, tenants, waage};

/// Every invariant, slice by slice.
fn checks() -> impl Iterator<Item = &'static Check> {
    [
        kunden::CHECKS,
        chargen::CHECKS,
        waage::CHECKS,
        produktion::CHECKS,
        kasse::CHECKS,
        belege::CHECKS,
        annahmescheine::CHECKS,
    ]
    .into_iter()
    .flatten()
}

/// A rule, and how often it is broken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct Line {
    pub rule: String,
    pub violations: i64,
    /// The first thing that is wrong, or what there is to know of it, in words.
    pub finding: Option<String>,
}

/// Runs every check on one snapshot of a connection that seals with this secret; `began` is told the name of each before
/// it runs.
pub fn check(
    connection: &mut Connection,
    secret: Option<&Secret>,
    clock: &Clock,
    began: impl Fn(&str),
) -> Result<Vec<Line>> {
    let snapshot = connection.transaction()?;
    let count = |sql: &str| -> Result<i64> { Ok(snapshot.query_row(sql, [], |row| row.get(0))?) };
    let line = |rule: &str, violations| Line { rule: rule.to_owned(), violations, finding: None };
    began("pages and indexes");
    let integrity = count("select count(*) from pragma_integrity_check where integrity_check <> 'ok'")?;
    let foreign_keys = count("select count(*) from pragma_foreign_key_check")?;
    let (live, fresh) = (schema(&snapshot)?, fresh_schema()?);
    let differs = live.iter().filter(|part| !fresh.contains(part)).count()
        + fresh.iter().filter(|part| !live.contains(part)).count();
    let mut lines = vec![
        line("pages and indexes are whole", integrity),
        line("references lead somewhere", foreign_keys),
        line("the schema is that of this version", differs as i64),
    ];
    for check in checks() {
        began(check.rule);
        lines.push(line(check.rule, count(check.violations)?));
    }
    began("checksums");
    let mut broken = 0;
    for tenant in tenants::list(&snapshot)? {
        broken += belege::broken_links(&Tx::new(&snapshot, tenant.id, clock()))?;
    }
    lines.push(line("checksums of final documents follow from their content", broken));
    let found = |rule: &str, finding: Option<String>| Line {
        rule: rule.to_owned(),
        violations: i64::from(finding.is_some()),
        finding,
    };
    let altered = "archived PDFs and attachments have the content that their sha256 names";
    began(altered);
    lines.push(found(altered, altered_content(&snapshot, clock)?));
    let (is_sealed, seals) = match audit::sealed(&snapshot, secret)? {
        Sealed::Since(_, how) => (true, Line { finding: Some(how), ..line(SEALS, 0) }),
        Sealed::Not(why) => (false, Line { finding: Some(why), ..line(SEALS, 0) }),
        Sealed::Broken(what) => (false, found(SEALS, Some(what))),
    };
    let erechnungen = "e-invoices are the bytes that their sha256 names";
    began(erechnungen);
    lines.push(found(erechnungen, altered_erechnung(&snapshot, clock)?));
    let evidence = "final documents, their history, PDFs and attachments are as they were written";
    began(evidence);
    lines.push(found(evidence, broken_evidence(&snapshot, is_sealed, clock)?));
    let log = "audit rows were not altered, removed or inserted";
    began(log);
    lines.push(match audit::verify(&snapshot, secret, clock())? {
        Finding::Whole(_) => line(log, 0),
        Finding::Broken(what) => found(log, Some(what)),
    });
    lines.push(seals);
    Ok(lines)
}

/// Whose finding says what the proofs above are worth.
const SEALS: &str = "log and documents are sealed with the secret of this machine";

/// The first e-invoice that is not what its sha256 says.
fn altered_erechnung(connection: &Connection, clock: &Clock) -> Result<Option<String>> {
    for tenant in tenants::list(connection)? {
        if let Some(nummer) = belege::altered_erechnung(&Tx::new(connection, tenant.id, clock()))? {
            return Ok(Some(format!("the e-invoice of {nummer} was altered")));
        }
    }
    Ok(None)
}

/// The first PDF or attachment whose content is not what its sha256 says.
fn altered_content(connection: &Connection, clock: &Clock) -> Result<Option<String>> {
    for tenant in tenants::list(connection)? {
        let tx = Tx::new(connection, tenant.id, clock());
        let altered = match belege::altered_pdf(&tx)? {
            Some(pdf) => Some(pdf),
            None => anhaenge::altered_content(&tx)?,
        };
        if let Some(subject) = altered {
            return Ok(Some(format!("the content of {subject} was altered")));
        }
    }
    Ok(None)
}
