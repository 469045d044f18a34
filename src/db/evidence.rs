//! The chain of evidence: what must never be altered or lost beside the log of requests, in the order in which it came.
//!
//! Each row says which record it is about and the sha256 of what that record holds, chained to the row before. The
//! slices that own the records add them and say what they hold now.

use rusqlite::types::FromSql;
use rusqlite::{Connection, Row, named_params};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::TenantId;
use super::seal::Content;
use super::tx::{Params, Tx, WriteTx};
use crate::failure::{Failure, Result};
use crate::rules::bytes::hex;

/// A sha256.
pub type Digest = [u8; 32];

/// What a row is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// A final document.
    Document(Uuid),
    /// A version in the history of a document.
    Version(Uuid, i64),
    /// An archived PDF: of this document, this one.
    Pdf(Uuid, Uuid),
    /// An attachment.
    Attachment(Uuid),
    /// A version in the history of a partner.
    Partner(Uuid, i64),
}

impl Subject {
    /// As it stands in the columns: art, id, beleg_id, version.
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
            Subject::Document(id) => write!(f, "document {id}"),
            Subject::Version(id, version) => write!(f, "version {version} of document {id}"),
            Subject::Pdf(beleg, id) => write!(f, "PDF {id} of document {beleg}"),
            Subject::Attachment(id) => write!(f, "attachment {id}"),
            Subject::Partner(id, version) => write!(f, "version {version} of partner {id}"),
        }
    }
}

/// The sha256 over the columns of a record; none where there is no such record.
pub fn digest(tx: &Tx<'_>, sql: &str, params: Params<'_>) -> Result<Option<Digest>> {
    tx.optional(sql, params, |row| {
        let mut content = Content::default();
        for at in 0..row.as_ref().column_count() {
            content.value(row.get_ref(at)?);
        }
        Ok(Sha256::digest(content.as_bytes()).into())
    })
}

/// The head is sealed anew only where its seal holds.
const HEAD: &str = "select letzte_nr, pruefsumme,
      mac is siegel('nachweis_kopf', letzte_nr, pruefsumme, mac_ab_nr)
    from nachweis_kopf where id = 1";

/// Takes a record into the chain that was just written, with what it holds.
pub fn keep(tx: &WriteTx<'_>, subject: Subject, digest: Option<Digest>) -> Result<()> {
    let digest = digest.ok_or_else(|| Failure::Broken(format!("{subject} was not written")))?;
    add(tx, subject, digest)
}

/// Adds a record at the end of the chain.
fn add(tx: &WriteTx<'_>, subject: Subject, sha256: Digest) -> Result<()> {
    let head: Option<(i64, Digest, bool)> =
        tx.optional(HEAD, &[], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let (last, before, holds) =
        head.ok_or_else(|| Failure::Broken("the head of the evidence is gone".into()))?;
    let number = last + 1;
    let pruefsumme = link(before, number, tx.tenant(), subject, &sha256);
    let (art, id, beleg, version) = subject.columns();
    tx.execute(
        "insert into nachweis (tenant_id, nr, art, id, beleg_id, version, sha256, pruefsumme, mac)
         values (:tenant, :nr, :art, :id, :beleg, :version, :sha256, :pruefsumme,
           kurzsiegel('nachweis', :nr, :pruefsumme))",
        named_params! {":nr": number, ":art": art, ":id": id, ":beleg": beleg, ":version": version,
        ":sha256": sha256, ":pruefsumme": pruefsumme},
    )?;
    tx.execute(
        "update nachweis_kopf set letzte_nr = :nr, pruefsumme = :pruefsumme,
           mac = iif(:holds, siegel('nachweis_kopf', :nr, :pruefsumme, mac_ab_nr), null) where id = 1",
        named_params! {":nr": number, ":pruefsumme": pruefsumme, ":holds": holds},
    )?;
    Ok(())
}

/// Seals the chain as it stands: what is there already is proved by checksums alone.
pub fn begin(connection: &Connection) -> Result<()> {
    connection.execute(
        "update nachweis_kopf set mac_ab_nr = letzte_nr,
           mac = siegel('nachweis_kopf', letzte_nr, pruefsumme, letzte_nr) where id = 1",
        [],
    )?;
    Ok(())
}

fn link(before: Digest, number: i64, tenant: TenantId, subject: Subject, sha256: &Digest) -> Digest {
    let (art, id, beleg, version) = subject.columns();
    let mut content = Content::default();
    [number, tenant].into_iter().for_each(|number| content.number(number));
    content.text(art.as_bytes());
    content.bytes(id.as_bytes());
    content.optional(beleg, |content, beleg| content.bytes(beleg.as_bytes()));
    content.optional(version, Content::number);
    content.bytes(sha256);
    Sha256::new().chain_update(before).chain_update(content.as_bytes()).finalize().into()
}

/// Where the chain ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// Number of the last row.
    pub number: i64,
    /// Its checksum.
    pub pruefsumme: Digest,
}

impl std::fmt::Display for Head {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "evidence row {} checksum {}", self.number, hex(&self.pruefsumme))
    }
}

/// The head of the chain, if there is one.
pub fn head(connection: &Connection) -> Result<Option<Head>> {
    let statement = "select letzte_nr, pruefsumme from nachweis_kopf where id = 1";
    let head = |row: &Row<'_>| Ok(Head { number: row.get(0)?, pruefsumme: row.get(1)? });
    first(connection, statement, [], head)
}

/// The checksum of a row.
pub fn checksum(connection: &Connection, number: i64) -> Result<Option<Digest>> {
    first(connection, "select pruefsumme from nachweis where nr = ?1", [number], |row| row.get(0))
}

fn first<T>(
    connection: &Connection,
    sql: &str,
    params: impl rusqlite::Params,
    map: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Option<T>> {
    use rusqlite::OptionalExtension;
    Ok(connection.query_row(sql, params, map).optional()?)
}

/// From which row on there are seals, and whether that of the head is ours.
const SEAL_OF_HEAD: &str =
    "select mac_ab_nr, mac is siegel('nachweis_kopf', letzte_nr, pruefsumme, mac_ab_nr)
    from nachweis_kopf";

/// The chain with, in its last column, whether the seal of the row is ours.
const ROWS: &str = "select n.nr, n.tenant_id, n.art, n.id, n.beleg_id, n.version, n.sha256, n.pruefsumme,
      n.mac is kurzsiegel('nachweis', n.nr, n.pruefsumme)
    from nachweis n order by n.nr";

/// The first thing that is wrong with the chain, in words; `now` says what a record holds now. Seals are looked at
/// where it `is_sealed` with the secret of this connection; `may_be_gone` is asked of a record that is not there.
pub fn verify(
    connection: &Connection,
    is_sealed: bool,
    may_be_gone: impl Fn(TenantId, Subject) -> bool,
    now: impl Fn(TenantId, Subject) -> Result<Option<Digest>>,
) -> Result<Option<String>> {
    let Some(head) = head(connection)? else {
        return Ok(Some("the head of the evidence was removed".to_owned()));
    };
    let (ab, holds): (i64, bool) =
        connection.query_row(SEAL_OF_HEAD, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut statement = connection.prepare(ROWS)?;
    let mut rows = statement.query([])?;
    let (mut before, mut last): (Digest, i64) = ([0; 32], 0);
    while let Some(row) = rows.next()? {
        let number: i64 = row.get(0)?;
        if number != last + 1 {
            return Ok(Some(format!("row {} of the evidence was removed", last + 1)));
        }
        let altered = || Ok(Some(format!("row {number} of the evidence was altered")));
        let Some((tenant, subject, sha256)) = read(row)? else { return altered() };
        let expected = link(before, number, tenant, subject, &sha256);
        let sealed = number <= ab || !is_sealed || row.get(8)?;
        if column::<Digest>(row, 7) != Some(expected) || !sealed {
            return altered();
        }
        let holds = now(tenant, subject)?;
        match holds {
            None if !may_be_gone(tenant, subject) => return Ok(Some(format!("{subject} was removed"))),
            Some(digest) if digest != sha256 => return Ok(Some(format!("{subject} was altered"))),
            None | Some(_) => (before, last) = (expected, number),
        }
    }
    if last < head.number {
        return Ok(Some(format!("row {} of the evidence was removed", last + 1)));
    }
    let is_whole = (last, before) == (head.number, head.pruefsumme) && (holds || !is_sealed);
    Ok((!is_whole).then(|| "the head of the evidence was altered".to_owned()))
}

/// What a row says; none where it cannot be one of ours.
fn read(row: &Row<'_>) -> Result<Option<(TenantId, Subject, Digest)>> {
    let (Some(art), Some(id)) = (column::<String>(row, 2), column::<Uuid>(row, 3)) else { return Ok(None) };
    let (Some(beleg), Some(version)) = (column(row, 4), column(row, 5)) else { return Ok(None) };
    let Some(sha256) = column(row, 6) else { return Ok(None) };
    let tenant = row.get(1)?;
    Ok(Subject::read(&art, id, beleg, version).map(|subject| (tenant, subject, sha256)))
}

/// A column of the type that we write; what has another was altered.
fn column<T: FromSql>(row: &Row<'_>, at: usize) -> Option<T> {
    row.get(at).ok()
}

/// The first record whose content is not what its sha256 says: they are the columns `sha256` and `inhalt`.
pub fn altered_content(
    tx: &Tx<'_>,
    sql: &str,
    subject: impl Fn(&Row<'_>) -> rusqlite::Result<Subject>,
) -> Result<Option<Subject>> {
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
