//! The history of a partner: the fields that each change touched; append-only, never pruned.

use std::collections::HashSet;

use rusqlite::named_params;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::model::{Kunde, KundeVerlaufseintrag};
use crate::platform::db::columns::StoredJson;
use crate::platform::db::list::{Filter, ListSql, Page};
use crate::platform::db::seals::evidence::{self, Digest, Subject};
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::Result;
use crate::platform::listing::{Listing, Records};
use crate::rules::felder::{self, Aenderung, COMMAND_LINE, GeaendertesFeld};

/// Fields that every change touches and that carry no information.
const FIELDS_IGNORED: [&str; 1] = ["updated_at"];

/// Field that only the change of a forgotten partner has; its old value holds the ids of the deleted
/// attachments.
const ANHAENGE: &str = "anhaenge";

/// Maximum bytes in a page of a history.
const PAGE_BYTES_MAX: usize = 1 << 20;

const LIST: ListSql<'_> = ListSql {
    columns: "v.version, v.am, v.key_id, coalesce(s.bezeichnung, v.key_id), v.felder",
    from: "from kunde_verlauf v left join api_key s on s.tenant_id = v.tenant_id and s.id = v.key_id",
    count: "select count(*) from kunde_verlauf v",
    ids_first: None,
    order: "order by v.version",
};

/// The columns hashed into the chain of evidence; sha256 stands for the content. They must not change: another
/// column would change the digest of every existing row, so it needs a new kind of row.
const EVIDENCE: &str = "select kunde_id, version, am, key_id, sha256 from kunde_verlauf
    where tenant_id = :tenant and kunde_id = :id and version = :version";

/// Records the fields that a change touched; nothing if it touched none.
pub fn write(tx: &WriteTx<'_>, old: &Kunde, new: &Kunde) -> Result<()> {
    let changed = changed(old, new)?;
    if changed.is_empty() {
        return Ok(());
    }
    add(tx, new, &changed)
}

/// Records that a partner was forgotten: which fields and attachments were erased, but not their content.
/// Then erases the content of all earlier changes.
pub fn forget(tx: &WriteTx<'_>, new: &Kunde, fields: &[String], attachments: &[Uuid]) -> Result<()> {
    let null = || RawValue::NULL.to_owned();
    let gone = fields.iter().map(|feld| GeaendertesFeld { feld: feld.clone(), alt: null(), neu: null() });
    let anhaenge = serde_json::value::to_raw_value(attachments)?;
    let anhaenge = GeaendertesFeld { feld: ANHAENGE.to_owned(), alt: anhaenge, neu: null() };
    add(tx, new, &gone.chain([anhaenge]).collect::<Vec<_>>())?;
    let statement = format!(
        "update kunde_verlauf as v set felder = '[]'
         where v.tenant_id = :tenant and v.kunde_id = :kunde and v.version < :version and {HAS_CONTENT}"
    );
    tx.execute(&statement, named_params! {":kunde": new.id, ":version": new.version}).map(drop)
}

/// Condition: the change still has content and is not itself the record that the partner was forgotten.
const HAS_CONTENT: &str = "v.felder <> '[]'
    and not exists (select 1 from json_each(v.felder) f where f.value ->> 'feld' = 'anhaenge')";

pub fn with_content(tx: &Tx<'_>, kunde: Uuid) -> Result<i64> {
    let statement = format!(
        "select count(*) from kunde_verlauf v where v.tenant_id = :tenant and v.kunde_id = :kunde and {HAS_CONTENT}"
    );
    tx.one(&statement, named_params! {":kunde": kunde}, |row| row.get(0))
}

/// Returns the attachments that were deleted because their partners were forgotten.
pub fn forgotten_attachments(tx: &Tx<'_>) -> Result<HashSet<Uuid>> {
    let statement =
        "select a.value from kunde_verlauf v, json_each(iif(json_valid(v.felder), v.felder, '[]')) f,
          json_each(f.value, '$.alt') a
        where v.tenant_id = :tenant and f.value ->> 'feld' = 'anhaenge'";
    let ids = tx.all(statement, &[], |row| row.get::<_, String>(0))?;
    Ok(ids.iter().filter_map(|id| Uuid::parse_str(id).ok()).collect())
}

/// Records these changes of a partner.
pub fn add(tx: &WriteTx<'_>, new: &Kunde, changed: &[GeaendertesFeld]) -> Result<()> {
    let felder = serde_json::to_string(changed)?;
    tx.insert(
        "kunde_verlauf",
        named_params! {
            ":kunde_id": new.id,
            ":version": new.version,
            ":am": tx.now(),
            ":key_id": tx.key_id(),
            ":sha256": Digest::from(Sha256::digest(&felder)),
            ":felder": felder,
        },
    )?;
    keep(tx, Subject::Partner(new.id, new.version))
}

pub fn differing(old: &Kunde, new: &Kunde) -> Result<Vec<String>> {
    Ok(changed(old, new)?.into_iter().map(|field| field.feld).collect())
}

fn changed(old: &Kunde, new: &Kunde) -> Result<Vec<GeaendertesFeld>> {
    let mut changed = felder::differing(old, new)?;
    changed.retain(|field| !FIELDS_IGNORED.contains(&field.feld.as_str()));
    Ok(changed)
}

/// Lists what each change of a partner touched, newest first.
pub fn changes(tx: &Tx<'_>, kunde: Uuid, page: Page) -> Result<Records<Aenderung>> {
    let sql = ListSql { columns: "v.am, v.key_id, v.felder", order: "order by v.version desc", ..LIST };
    tx.list(&sql, &Filter::equal("v", "kunde_id", kunde), page)
}

/// Lists the history of a partner, oldest change first.
pub fn list(tx: &Tx<'_>, kunde: Uuid, page: Page) -> Result<Listing> {
    let statement = "select count(*) from kunde_verlauf where tenant_id = :tenant and kunde_id = :kunde";
    let count = tx.one(statement, named_params! {":kunde": kunde}, |row| row.get(0))?;
    tx.written(&LIST, &Filter::equal("v", "kunde_id", kunde), page, count, PAGE_BYTES_MAX, |row, rows| {
        rows.push(&KundeVerlaufseintrag {
            version: row.get(0)?,
            am: row.get(1)?,
            key_id: row.get(2)?,
            geaendert_von: row.get::<_, Option<String>>(3)?.unwrap_or_else(|| COMMAND_LINE.to_owned()),
            felder: row.get::<_, StoredJson>(4)?.0,
        })
    })
}

/// Returns the digest of the current state of a change in the chain of evidence; `None` if there is no such
/// change.
pub fn digest(tx: &Tx<'_>, subject: Subject) -> Result<Option<Digest>> {
    let Subject::Partner(id, version) = subject else { return Ok(None) };
    evidence::digest(tx, EVIDENCE, named_params! {":id": id, ":version": version})
}

fn keep(tx: &WriteTx<'_>, subject: Subject) -> Result<()> {
    evidence::keep(tx, subject, digest(tx, subject)?)
}

pub fn without_evidence(tx: &Tx<'_>) -> Result<Vec<Subject>> {
    let statement = "select v.kunde_id, v.version from kunde_verlauf v where v.tenant_id = :tenant
          and not exists (select 1 from nachweis n
            where n.tenant_id = v.tenant_id and n.id = v.kunde_id and n.version = v.version and n.art = 'kunde')
        order by v.kunde_id, v.version";
    tx.all(statement, &[], |row| Ok(Subject::Partner(row.get(0)?, row.get(1)?)))
}

/// Finds the first change of a company whose fields do not match their sha256. Ignores changes that were
/// erased when the partner was forgotten.
pub fn altered_content(tx: &Tx<'_>) -> Result<Option<Subject>> {
    let statement = "with vergessen as (
          select n.kunde_id, max(n.version) as version
          from kunde_verlauf n, json_each(iif(json_valid(n.felder), n.felder, '[]')) f
          where n.tenant_id = :tenant and f.value ->> 'feld' = 'anhaenge' group by n.kunde_id)
        select v.kunde_id, v.version, v.sha256, cast(v.felder as blob) as inhalt
        from kunde_verlauf v left join vergessen n on n.kunde_id = v.kunde_id
        where v.tenant_id = :tenant and not (v.felder = '[]' and v.version < coalesce(n.version, 0))
        order by v.kunde_id, v.version";
    evidence::altered_content(tx, statement, |row| Ok(Subject::Partner(row.get(0)?, row.get(1)?)))
}
