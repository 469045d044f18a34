//! The chain of evidence: a row for each record that, like the log of requests, must never be altered or lost, in
//! the order in which the records were written.
//!
//! Each row names a record and holds the sha256 of its content, chained to the row before. The slices that own the
//! records add the rows, and compute the digest of the current content for the check.

use rusqlite::{Connection, Row};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

pub use super::chain::Digest;
use super::chain::{Chain, FIRST};
use super::seal::Content;
use crate::platform::db::TenantId;
use crate::platform::db::tx::{Params, Tx, WriteTx};
use crate::platform::failure::{Failure, Result};

/// The record that a row is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    Document(Uuid),
    /// A version in the history of a document.
    Version(Uuid, i64),
    /// An archived PDF: the id of its document, and its own.
    Pdf(Uuid, Uuid),
    Attachment(Uuid),
    /// A version in the history of a partner.
    Partner(Uuid, i64),
}

impl Subject {
    /// The values of the columns art, id, beleg_id and version.
    fn columns(self) -> (&'static str, Uuid, Option<Uuid>, Option<i64>) {
        match self {
            Subject::Document(id) => ("beleg", id, None, None),
            Subject::Version(id, version) => ("verlauf", id, None, Some(version)),
            Subject::Pdf(beleg, id) => ("pdf", id, Some(beleg), None),
            Subject::Attachment(id) => ("anhang", id, None, None),
            Subject::Partner(id, version) => ("kunde", id, None, Some(version)),
        }
    }

    fn read(art: &str, id: Uuid, beleg: Option<Uuid>, version: Option<i64>) -> Option<Subject> {
        match (art, beleg, version) {
            ("beleg", None, None) => Some(Subject::Document(id)),
            ("verlauf", None, Some(version)) => Some(Subject::Version(id, version)),
            ("pdf", Some(beleg), None) => Some(Subject::Pdf(beleg, id)),
            ("anhang", None, None) => Some(Subject::Attachment(id)),
            ("kunde", None, Some(version)) => Some(Subject::Partner(id, version)),
            _ => None,
        }
    }
}

impl std::fmt::Display for Subject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Subject::Document(id) => write!(f, "Beleg {id}"),
            Subject::Version(id, version) => write!(f, "Stand {version} von Beleg {id}"),
            Subject::Pdf(beleg, id) => write!(f, "PDF {id} von Beleg {beleg}"),
            Subject::Attachment(id) => write!(f, "Anhang {id}"),
            Subject::Partner(id, version) => write!(f, "Stand {version} von Partner {id}"),
        }
    }
}

/// The sha256 over the columns of a record; `None` if there is no such record.
pub fn digest(tx: &Tx<'_>, sql: &str, params: Params<'_>) -> Result<Option<Digest>> {
    tx.optional(sql, params, |row| {
        let mut content = Content::default();
        for at in 0..row.as_ref().column_count() {
            content.value(row.get_ref(at)?);
        }
        Ok(Sha256::digest(content.as_bytes()).into())
    })
}

pub const CHAIN: Chain = Chain {
    table: "nachweis",
    name: "Kette der Nachweise",
    insert: "insert into nachweis (nr, pruefsumme, mac, tenant_id, art, id, beleg_id, version, sha256)
        values (?1, ?2, kurzsiegel('nachweis', ?1, ?2), ?3, ?4, ?5, ?6, ?7, ?8)",
    rows: "select n.nr, n.pruefsumme, n.mac is kurzsiegel('nachweis', n.nr, n.pruefsumme), null, n.tenant_id, n.art,
          n.id, n.beleg_id, n.version, n.sha256
        from nachweis n order by n.nr",
};

/// Adds a record that was just written to the chain, with the digest of its content.
pub fn keep(tx: &WriteTx<'_>, subject: Subject, digest: Option<Digest>) -> Result<()> {
    let sha256 = digest.ok_or_else(|| Failure::Broken(format!("{subject} wurde nicht geschrieben")))?;
    let (art, id, beleg, version) = subject.columns();
    CHAIN.append(tx.connection(), &[&tx.tenant(), &art, &id, &beleg, &version, &sha256])
}

/// Returns the first fault in the chain as a German sentence. `now` returns the digest of a record's current content;
/// if the record is missing, `may_be_gone` decides whether that is a fault. Seals are checked, with the secret of
/// this connection, only if the chain `is_sealed`.
pub fn verify(
    connection: &Connection,
    is_sealed: bool,
    may_be_gone: impl Fn(TenantId, Subject) -> bool,
    now: impl Fn(TenantId, Subject) -> Result<Option<Digest>>,
) -> Result<Option<String>> {
    let proof = CHAIN.verify(connection, is_sealed, |row| {
        let Some((tenant, subject, sha256)) = read(row)? else {
            return Ok(Some("die Kette der Nachweise hat eine Zeile einer anderen Version".to_owned()));
        };
        Ok(match now(tenant, subject)? {
            None if !may_be_gone(tenant, subject) => Some(format!("{subject} wurde entfernt")),
            Some(digest) if digest != sha256 => Some(format!("{subject} wurde geändert")),
            None | Some(_) => None,
        })
    })?;
    Ok(proof.err())
}

/// Parses a row; `None` if this version writes no such rows.
fn read(row: &Row<'_>) -> Result<Option<(TenantId, Subject, Digest)>> {
    let art: String = row.get(FIRST + 1)?;
    let subject = Subject::read(&art, row.get(FIRST + 2)?, row.get(FIRST + 3)?, row.get(FIRST + 4)?);
    let (tenant, sha256) = (row.get(FIRST)?, row.get(FIRST + 5)?);
    Ok(subject.map(|subject| (tenant, subject, sha256)))
}

/// Returns the first record whose content does not match its digest; `sql` selects them as `inhalt` and `sha256`.
pub fn altered_content<S>(
    tx: &Tx<'_>,
    sql: &str,
    subject: impl Fn(&Row<'_>) -> rusqlite::Result<S>,
) -> Result<Option<S>> {
    let mut altered = None;
    tx.each(sql, &[], |row| {
        let content = row.get_ref("inhalt")?.as_blob().map(Sha256::digest);
        let holds =
            content.is_ok_and(|digest| row.get_ref("sha256").is_ok_and(|kept| kept.as_blob() == Ok(&digest)));
        if !holds && altered.is_none() {
            altered = Some(subject(row)?);
        }
        Ok(())
    })?;
    Ok(altered)
}
