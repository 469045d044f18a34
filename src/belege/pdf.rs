//! The PDF archive of documents: append-only, the newest is served (specification, BelegPdf; D21c).

use rusqlite::named_params;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::eingabe::NewPdf;
use super::lifecycle::finalise;
use super::model::{Beleg, BelegPdf, PdfBestaetigung};
use super::{nachweis, sql};
use crate::db::evidence::Subject;
use crate::db::tx::{Tx, WriteTx};
use crate::failure::Result;
use crate::rules::bytes::{base64, hex};
use crate::rules::document::BelegStatus;
use crate::rules::error::{Checked, Code, Hints, Refusal, required};

/// How every PDF begins.
const SIGNATURE: &[u8] = b"%PDF-";

/// The newest archived PDF of a document, if the document is final or cancelled.
pub fn newest(tx: &Tx<'_>, beleg: &Beleg) -> Result<Option<BelegPdf>> {
    if beleg.status == BelegStatus::Offen {
        return Ok(None);
    }
    tx.optional(
        "select dateiname, inhalt, erstellt_am from beleg_pdf
         where tenant_id = :tenant and beleg_id = :beleg order by id desc limit 1",
        named_params! {":beleg": beleg.id},
        |row| {
            Ok(BelegPdf {
                beleg_id: beleg.id,
                dateiname: row.get(0)?,
                mime_type: "application/pdf",
                datei_base64: base64(row.get_ref(1)?.as_blob()?),
                erstellt_am: row.get(2)?,
            })
        },
    )
}

/// Refuses content that is no PDF.
pub fn check_signature(pdf: &NewPdf) -> Checked<()> {
    match &pdf.datei_base64 {
        Some(inhalt) if !inhalt.starts_with(SIGNATURE) => {
            let message = "Der Inhalt ist kein PDF: er muss mit %PDF- beginnen.";
            Err(Refusal::field(Code::FeldUngueltig, "datei_base64", message))
        }
        _ => Ok(()),
    }
}

/// Archives a PDF; the first one makes an open document final. The same content as the newest
/// is not archived again. The confirmation, and whether anything was archived.
pub fn archive(
    tx: &WriteTx<'_>,
    beleg: Beleg,
    pdf: &NewPdf,
    sha256: Option<[u8; 32]>,
    hinweise: Hints,
) -> Result<(PdfBestaetigung, bool)> {
    let inhalt = required(pdf.datei_base64.as_deref(), "datei_base64")?;
    let sha256 = required(sha256, "datei_base64")?;
    let newest = newest_digest(tx, beleg.id)?;
    let known = newest.as_ref().filter(|(_, digest)| *digest == sha256).map(|(id, _)| *id);
    let id = match known {
        Some(id) => id,
        None => {
            let by_number = || format!("{}.pdf", beleg.beleg_nummer);
            let dateiname = pdf.dateiname.clone().unwrap_or_else(by_number);
            insert(tx, beleg.id, &dateiname, &sha256, inhalt)?
        }
    };
    let finalises = pdf.abschliessen.unwrap_or(true) && beleg.status == BelegStatus::Offen;
    let was_final = beleg.ereignis_am.is_some();
    let beleg = if finalises {
        finalise(tx, beleg)?
    } else if was_final && known.is_none() {
        note_event(tx, beleg)?
    } else {
        beleg
    };
    let bestaetigung = PdfBestaetigung {
        id,
        beleg_id: beleg.id,
        beleg_nummer: beleg.beleg_nummer,
        pdf_archiv_count: count(tx, beleg.id)?.to_string(),
        sha256: hex(&sha256),
        status: beleg.status,
        hinweise,
    };
    Ok((bestaetigung, known.is_none()))
}

/// The digest of an upload, computed before the writer's turn.
pub fn digest(pdf: &NewPdf) -> Option<[u8; 32]> {
    pdf.datei_base64.as_ref().map(|inhalt| Sha256::digest(inhalt).into())
}

/// A document that was final before has a new PDF: the polling list shows it again (D11).
fn note_event(tx: &WriteTx<'_>, beleg: Beleg) -> Result<Beleg> {
    let beleg = Beleg { ereignis_am: Some(sql::next_event(tx)?), ..beleg };
    sql::update(tx, &beleg)?;
    Ok(beleg)
}

fn newest_digest(tx: &Tx<'_>, beleg: Uuid) -> Result<Option<(Uuid, [u8; 32])>> {
    tx.optional(
        "select id, sha256 from beleg_pdf where tenant_id = :tenant and beleg_id = :beleg order by id desc limit 1",
        named_params! {":beleg": beleg},
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
}

fn count(tx: &Tx<'_>, beleg: Uuid) -> Result<i64> {
    let statement = "select count(*) from beleg_pdf where tenant_id = :tenant and beleg_id = :beleg";
    tx.one(statement, named_params! {":beleg": beleg}, |row| row.get(0))
}

fn insert(tx: &WriteTx<'_>, beleg: Uuid, dateiname: &str, sha256: &[u8; 32], inhalt: &[u8]) -> Result<Uuid> {
    let id = tx.new_id();
    tx.insert(
        "beleg_pdf",
        named_params! {
            ":id": id,
            ":beleg_id": beleg,
            ":dateiname": dateiname,
            ":sha256": sha256,
            ":inhalt": inhalt,
            ":erstellt_am": tx.now(),
        },
    )?;
    nachweis::keep(tx, Subject::Pdf(beleg, id))?;
    Ok(id)
}
