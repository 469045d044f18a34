//! SQL statements for attachments.

use rusqlite::{ToSql, named_params};
use uuid::Uuid;

use super::model::{Anhang, Besitzer};
use crate::platform::db::list::{Filter, ListSql, Page};
use crate::platform::db::record::Part;
use crate::platform::db::seals::evidence::{self, Digest, Subject};
use crate::platform::db::tx::{Params, Tx, WriteTx};
use crate::platform::failure::Result;
use crate::platform::listing::PageOf;

const LIST: ListSql<'_> = ListSql {
    columns: Anhang::COLUMNS,
    from: "from anhang a",
    count: "select count(*) from anhang a",
    ids_first: None,
    order: "order by a.id",
};

/// Returns the table of a record and its id.
fn owner(besitzer: Besitzer) -> (&'static str, Uuid) {
    match besitzer {
        Besitzer::Kunde(id) => ("kunde", id),
        Besitzer::Artikel(id) => ("artikel", id),
        Besitzer::Beleg(id) => ("beleg", id),
    }
}

/// Returns the condition that selects the attachments of `:besitzer`, and the value of that parameter.
fn is_owned(besitzer: Besitzer) -> (String, Uuid) {
    let (table, id) = owner(besitzer);
    (format!("a.{table}_id = :besitzer"), id)
}

pub fn list<P: PageOf<Anhang>>(tx: &Tx<'_>, besitzer: Besitzer, page: Page) -> Result<P> {
    let (is_owned, id) = is_owned(besitzer);
    let mut filter = Filter::of("a");
    filter.when(&is_owned, ":besitzer", Some(id));
    tx.list(&LIST, &filter, page)
}

pub fn find<T>(
    tx: &Tx<'_>,
    besitzer: Besitzer,
    id: Uuid,
    read: impl FnOnce(&[u8]) -> T,
) -> Result<Option<(Anhang, T)>> {
    let (is_owned, besitzer) = is_owned(besitzer);
    let columns = Anhang::COLUMNS;
    let statement = format!(
        "select {columns}, a.inhalt from anhang a where a.tenant_id = :tenant and a.id = :id and {is_owned}"
    );
    let params = named_params! {":id": id, ":besitzer": besitzer};
    tx.optional(&statement, params, |row| Ok((Anhang::read(row)?, read(row.get_ref("inhalt")?.as_blob()?))))
}

/// Finds the document that was created from this file: the document's id and the attachment's.
pub fn made_of(tx: &Tx<'_>, sha256: &[u8; 32]) -> Result<Option<(Uuid, Uuid)>> {
    let statement = "select beleg_id, id from anhang
        where tenant_id = :tenant and sha256 = :sha256 and beleg_id is not null order by id limit 1";
    tx.optional(statement, named_params! {":sha256": sha256}, |row| Ok((row.get(0)?, row.get(1)?)))
}

pub fn ids_of(tx: &Tx<'_>, besitzer: Besitzer) -> Result<Vec<Uuid>> {
    let (is_owned, besitzer) = is_owned(besitzer);
    let statement =
        format!("select a.id from anhang a where a.tenant_id = :tenant and {is_owned} order by a.id");
    tx.all(&statement, named_params! {":besitzer": besitzer}, |row| row.get(0))
}

/// Deletes the attachments of a record. The chain of evidence still shows that they existed.
pub fn erase(tx: &WriteTx<'_>, besitzer: Besitzer) -> Result<()> {
    let (is_owned, besitzer) = is_owned(besitzer);
    let statement = format!("delete from anhang as a where a.tenant_id = :tenant and {is_owned}");
    tx.execute(&statement, named_params! {":besitzer": besitzer}).map(drop)
}

pub fn insert(
    tx: &WriteTx<'_>,
    besitzer: Besitzer,
    anhang: &Anhang,
    sha256: &[u8; 32],
    inhalt: &[u8],
) -> Result<()> {
    let (table, id) = owner(besitzer);
    tx.changed(table, id);
    let column = format!(":{table}_id");
    let own: Params<'_> = &[(column.as_str(), &id as &dyn ToSql), (":sha256", sha256), (":inhalt", &inhalt)];
    tx.insert("anhang", &[&anhang.values(Part::All)[..], own].concat())?;
    keep(tx, Subject::Attachment(anhang.id))
}

/// The columns hashed into the chain of evidence; sha256 stands for the content. They must not change: another
/// column would change the digest of every existing row, so it needs a new kind of row. Customer and document
/// share a column, because their uuids never collide.
const EVIDENCE: &str =
    "select id, coalesce(kunde_id, beleg_id), artikel_id, dateiname, beschreibung, mime_type, sha256, erstellt_am
    from anhang where tenant_id = :tenant and id = :id";

/// Returns the digest of the current state of an attachment in the chain of evidence; `None` if there is no
/// such attachment.
pub fn digest(tx: &Tx<'_>, subject: Subject) -> Result<Option<Digest>> {
    let Subject::Attachment(id) = subject else { return Ok(None) };
    evidence::digest(tx, EVIDENCE, named_params! {":id": id})
}

/// Adds an attachment that was just written to the chain of evidence.
pub fn keep(tx: &WriteTx<'_>, subject: Subject) -> Result<()> {
    evidence::keep(tx, subject, digest(tx, subject)?)
}

pub fn without_evidence(tx: &Tx<'_>) -> Result<Vec<Subject>> {
    let statement = "select a.id from anhang a where a.tenant_id = :tenant
          and not exists (select 1 from nachweis n
            where n.tenant_id = a.tenant_id and n.id = a.id and n.version is null and n.art = 'anhang')
        order by a.id";
    tx.all(statement, &[], |row| row.get(0).map(Subject::Attachment))
}

/// Finds the first attachment of a company whose content does not match its sha256.
pub fn altered_content(tx: &Tx<'_>) -> Result<Option<Subject>> {
    let statement = "select id, sha256, inhalt from anhang where tenant_id = :tenant order by id";
    evidence::altered_content(tx, statement, |row| row.get(0).map(Subject::Attachment))
}
