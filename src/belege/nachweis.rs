//! What the chain of evidence has of documents: each final one, each version of its history, each PDF.

use rusqlite::named_params;
use uuid::Uuid;

use crate::db::evidence::{self, Digest, Subject};
use crate::db::tx::{Tx, WriteTx};
use crate::failure::Result;

/// The columns are part of the chain: a further one is a further form of its rows.
const DOCUMENT: &str = "select kette_nr, pruefsumme from beleg
    where tenant_id = :tenant and id = :id and kette_nr is not null";
/// Of a version, its positions too where they are not those of the version before.
const VERSION: &str = "select v.beleg_id, v.version, v.am, v.key_id, v.aktion, v.beleg, p.positionen
    from beleg_verlauf v left join beleg_verlauf_positionen p
      on p.tenant_id = v.tenant_id and p.beleg_id = v.beleg_id and p.version = v.version
    where v.tenant_id = :tenant and v.beleg_id = :id and v.version = :version";
/// The content of a PDF stands in it by its sha256.
const PDF: &str = "select beleg_id, id, dateiname, sha256, erstellt_am from beleg_pdf
    where tenant_id = :tenant and beleg_id = :beleg and id = :id";

/// What the record of a row of evidence holds now; none where there is no such record.
pub fn digest(tx: &Tx<'_>, subject: Subject) -> Result<Option<Digest>> {
    match subject {
        Subject::Document(id) => evidence::digest(tx, DOCUMENT, named_params! {":id": id}),
        Subject::Version(id, version) => {
            evidence::digest(tx, VERSION, named_params! {":id": id, ":version": version})
        }
        Subject::Pdf(beleg, id) => evidence::digest(tx, PDF, named_params! {":beleg": beleg, ":id": id}),
        Subject::Attachment(_) | Subject::Partner(..) => Ok(None),
    }
}

/// Takes a record into the chain that was just written.
pub fn keep(tx: &WriteTx<'_>, subject: Subject) -> Result<()> {
    evidence::keep(tx, subject, digest(tx, subject)?)
}

pub fn without_evidence(tx: &Tx<'_>) -> Result<Vec<Subject>> {
    let documents = "select b.id from beleg b where b.tenant_id = :tenant and b.kette_nr is not null
          and not exists (select 1 from nachweis n
            where n.tenant_id = b.tenant_id and n.id = b.id and n.version is null and n.art = 'beleg')
        order by b.kette_nr";
    let mut found: Vec<_> = tx.all(documents, &[], |row| row.get(0).map(Subject::Document))?;
    let versions = "select v.beleg_id, v.version from beleg_verlauf v where v.tenant_id = :tenant
          and not exists (select 1 from nachweis n
            where n.tenant_id = v.tenant_id and n.id = v.beleg_id and n.version = v.version and n.art = 'verlauf')
        order by v.beleg_id, v.version";
    tx.each(versions, &[], |row| {
        found.push(Subject::Version(row.get(0)?, row.get(1)?));
        Ok(())
    })?;
    let pdfs = "select p.beleg_id, p.id from beleg_pdf p where p.tenant_id = :tenant
          and not exists (select 1 from nachweis n
            where n.tenant_id = p.tenant_id and n.id = p.id and n.version is null and n.art = 'pdf')
        order by p.beleg_id, p.id";
    tx.each(pdfs, &[], |row| {
        found.push(Subject::Pdf(row.get(0)?, row.get(1)?));
        Ok(())
    })?;
    Ok(found)
}

/// The first PDF of a company whose content is not what its sha256 says.
pub fn altered_pdf(tx: &Tx<'_>) -> Result<Option<Subject>> {
    let statement = "select beleg_id, id, sha256, inhalt from beleg_pdf
        where tenant_id = :tenant order by beleg_id, id";
    evidence::altered_content(tx, statement, |row| {
        Ok(Subject::Pdf(row.get::<_, Uuid>(0)?, row.get::<_, Uuid>(1)?))
    })
}
