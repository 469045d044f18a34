//! The history of a partner: which fields each change touched, append-only, never pruned.

use std::collections::BTreeMap;

use rusqlite::named_params;
use serde::Serialize;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::model::{GeaendertesFeld, Kunde, KundeVerlaufseintrag};
use crate::db::evidence::{self, Digest, Subject};
use crate::db::list::{Filter, ListSql, Page};
use crate::db::tx::{Tx, WriteTx};
use crate::failure::{Failure, Result};
use crate::listing::Listing;

/// Fields that every change touches, and which say nothing.
const ALWAYS: [&str; 1] = ["updated_at"];

/// Who changes without a key.
const COMMAND_LINE: &str = "Kommandozeile";

/// A page of a history ends when it has so many bytes.
const PAGE_BYTES: usize = 1 << 20;

const LIST: ListSql<'_> = ListSql {
    columns: "v.version, v.am, v.key_id, coalesce(s.bezeichnung, v.key_id), v.felder",
    from: "from kunde_verlauf v left join api_key s on s.tenant_id = v.tenant_id and s.id = v.key_id",
    count: "select count(*) from kunde_verlauf v",
    ids_first: None,
    order: "order by v.version",
};

/// The content stands in it by its sha256. The columns are part of the chain: a further one is a further form of its
/// rows.
const EVIDENCE: &str = "select kunde_id, version, am, key_id, sha256 from kunde_verlauf
    where tenant_id = :tenant and kunde_id = :id and version = :version";

/// Notes what a change touched; nothing where it touched nothing.
pub fn write(tx: &WriteTx<'_>, old: &Kunde, new: &Kunde) -> Result<()> {
    let changed = changed(old, new)?;
    if changed.is_empty() {
        return Ok(());
    }
    let felder = json(&changed)?;
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

/// The fields that differ, by their names, with the texts that answers show.
fn changed(old: &Kunde, new: &Kunde) -> Result<Vec<GeaendertesFeld>> {
    let (old, mut new) = (fields(old)?, fields(new)?);
    let differing = old.into_iter().filter_map(|(feld, alt)| {
        let neu = new.remove(&feld)?;
        let differs = alt.get() != neu.get() && !ALWAYS.contains(&feld.as_str());
        differs.then_some(GeaendertesFeld { feld, alt, neu })
    });
    Ok(differing.collect())
}

fn fields(kunde: &Kunde) -> Result<BTreeMap<String, Box<RawValue>>> {
    serde_json::from_str(&json(kunde)?).map_err(broken)
}

fn json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(broken)
}

fn broken(error: serde_json::Error) -> Failure {
    Failure::Broken(format!("the fields of a partner cannot be written: {error}"))
}

/// The history of a partner, the oldest change first.
pub fn list(tx: &Tx<'_>, kunde: Uuid, page: Page) -> Result<Listing> {
    let statement = "select count(*) from kunde_verlauf where tenant_id = :tenant and kunde_id = :kunde";
    let count = tx.one(statement, named_params! {":kunde": kunde}, |row| row.get(0))?;
    let mut filter = Filter::of("v");
    filter.when("v.kunde_id = :kunde", ":kunde", Some(kunde));
    tx.page_until(&LIST, &filter, page, count, PAGE_BYTES, |row, rows| {
        let damaged = |error: serde_json::Error| {
            rusqlite::Error::FromSqlConversionFailure(4, rusqlite::types::Type::Text, Box::new(error))
        };
        rows.push(&KundeVerlaufseintrag {
            version: row.get(0)?,
            am: row.get(1)?,
            key_id: row.get(2)?,
            geaendert_von: row.get::<_, Option<String>>(3)?.unwrap_or_else(|| COMMAND_LINE.to_owned()),
            felder: RawValue::from_string(row.get(4)?).map_err(damaged)?,
        })
    })
}

/// What a change in the chain of evidence holds now; none where there is no such change.
pub fn digest(tx: &Tx<'_>, subject: Subject) -> Result<Option<Digest>> {
    let Subject::Partner(id, version) = subject else { return Ok(None) };
    evidence::digest(tx, EVIDENCE, named_params! {":id": id, ":version": version})
}

fn keep(tx: &WriteTx<'_>, subject: Subject) -> Result<()> {
    evidence::keep(tx, subject, digest(tx, subject)?)
}

/// The changes that have no evidence.
pub fn without_evidence(tx: &Tx<'_>) -> Result<Vec<Subject>> {
    let statement = "select v.kunde_id, v.version from kunde_verlauf v where v.tenant_id = :tenant
          and not exists (select 1 from nachweis n
            where n.tenant_id = v.tenant_id and n.id = v.kunde_id and n.version = v.version and n.art = 'kunde')
        order by v.kunde_id, v.version";
    tx.all(statement, &[], |row| Ok(Subject::Partner(row.get(0)?, row.get(1)?)))
}

/// The first change of a company whose fields are not what their sha256 says.
pub fn altered_content(tx: &Tx<'_>) -> Result<Option<Subject>> {
    let statement = "select kunde_id, version, sha256, cast(felder as blob) as inhalt from kunde_verlauf
        where tenant_id = :tenant order by kunde_id, version";
    evidence::altered_content(tx, statement, |row| Ok(Subject::Partner(row.get(0)?, row.get(1)?)))
}
