//! The PDF archive of documents: append-only, the newest is served (specification, BelegPdf; D21c).

use rusqlite::named_params;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::{ausfertigung, nachweis};
use crate::papers::blatt::draw;
use crate::platform::db::seals::evidence::Subject;
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::{Result, or_refusal};
use crate::rules::bytes::hex;
use crate::rules::day::Instant;
use crate::rules::document::{BelegStatus, Profil};
use crate::rules::error::{Checked, Code, Hints, Refusal, refuse_if};
use crate::trade::belege::eingabe::NewPdf;
use crate::trade::belege::lifecycle::finalise;
use crate::trade::belege::model::{Beleg, PdfBestaetigung};
use crate::trade::belege::sql;

const SIGNATURE: &[u8] = b"%PDF-";

/// A PDF of a document: an upload, or its sheet.
pub struct Datei {
    /// File name with extension.
    pub dateiname: String,
    pub inhalt: Vec<u8>,
    /// Time of the upload or of finalising; for a draft, the last change of its document.
    pub erstellt_am: Instant,
}

/// Returns the newest uploaded PDF of a document that is not open, else its sheet, drawn now; for an open one
/// its draft, if requested (D25). A refusal says why there is none. Adds hints about what the drawing lacks
/// to `notes`.
pub fn newest(tx: &Tx<'_>, beleg: &Beleg, draft: bool, notes: &mut Hints) -> Result<Datei> {
    if beleg.status == BelegStatus::Offen && !draft {
        let message = "Der Beleg ist noch offen. Einen Entwurf gibt es mit vorschau=true.";
        return Err(Refusal::new(Code::KeinPdf, message).into());
    }
    let uploaded = match beleg.status {
        BelegStatus::Offen => None,
        _ => newest_upload(tx, beleg.id)?,
    };
    if let Some(uploaded) = uploaded {
        return Ok(uploaded);
    }
    let drawn = draw(&ausfertigung::sheet(tx, beleg)?)?;
    notes.extend(drawn.hinweise);
    let dateiname = format!("{}.pdf", beleg.beleg_nummer);
    Ok(Datei { dateiname, inhalt: drawn.pdf, erstellt_am: beleg.blatt_am.unwrap_or(beleg.updated_at) })
}

/// Returns the PDF of a final document to send by e-mail.
pub fn outgoing(tx: &Tx<'_>, beleg: &Beleg) -> Result<Datei> {
    newest(tx, beleg, false, &mut Hints::default())
}

/// Returns its e-invoice as a separate file if the PDF does not contain it or the recipient wants it so
/// (XRechnung).
pub fn outgoing_xml(tx: &Tx<'_>, beleg: &Beleg) -> Result<Option<Datei>> {
    let Ok(erechnung) = or_refusal(ausfertigung::erechnung(tx, beleg))? else { return Ok(None) };
    if erechnung.profil != Profil::XRechnung && newest_digest(tx, beleg.id)?.is_none() {
        return Ok(None);
    }
    let dateiname = format!("{}.xml", beleg.beleg_nummer);
    let erstellt_am = beleg.blatt_am.unwrap_or(beleg.updated_at);
    Ok(Some(Datei { dateiname, inhalt: erechnung.xml, erstellt_am }))
}

fn newest_upload(tx: &Tx<'_>, beleg: Uuid) -> Result<Option<Datei>> {
    tx.optional(
        "select dateiname, inhalt, erstellt_am from beleg_pdf
         where tenant_id = :tenant and beleg_id = :beleg order by id desc limit 1",
        named_params! {":beleg": beleg},
        |row| Ok(Datei { dateiname: row.get(0)?, inhalt: row.get(1)?, erstellt_am: row.get(2)? }),
    )
}

pub fn check_signature(pdf: &NewPdf) -> Checked<()> {
    let is_other = pdf.datei_base64.as_ref().is_some_and(|inhalt| !inhalt.starts_with(SIGNATURE));
    let message = "Der Inhalt ist kein PDF: er muss mit %PDF- beginnen.";
    refuse_if(is_other, Code::FeldUngueltig, "datei_base64", message)
}

/// Archives a PDF; the first one makes an open document final. Content equal to the newest PDF is not
/// archived again. Without a file, the sheet counts as archived, and only a document that has one becomes
/// final (D25). Returns the confirmation, and whether anything was archived.
pub fn archive(
    tx: &WriteTx<'_>,
    beleg: Beleg,
    pdf: &NewPdf,
    sha256: Option<[u8; 32]>,
    mut hinweise: Hints,
) -> Result<(PdfBestaetigung, bool)> {
    let finalises = pdf.abschliessen.unwrap_or(true) && beleg.status == BelegStatus::Offen;
    // If finalising is refused, nothing is archived.
    let was_final = beleg.ereignis_am.is_some();
    let beleg = if finalises { finalise(tx, beleg, &mut hinweise)? } else { beleg };
    let (id, beleg, is_new) = match (pdf.datei_base64.as_deref(), sha256) {
        (Some(inhalt), Some(sha256)) => upload(tx, beleg, pdf, (inhalt, sha256), was_final)?,
        _ if beleg.blatt_am.is_some() => (beleg.id, beleg, false),
        _ => {
            let message = "Bitte ein PDF mitsenden: zu diesem Beleg entsteht keines von selbst.";
            return Err(Refusal::field(Code::FeldFehlt, "datei_base64", message).into());
        }
    };
    let bestaetigung = PdfBestaetigung {
        id,
        beleg_id: beleg.id,
        beleg_nummer: beleg.beleg_nummer,
        pdf_archiv_count: (uploads(tx, beleg.id)? + i64::from(beleg.blatt_am.is_some())).to_string(),
        sha256: sha256.map(|sha256| hex(&sha256)),
        status: beleg.status,
        hinweise,
    };
    Ok((bestaetigung, is_new))
}

/// Archives an upload unless it equals the newest one; returns its id, the document, and whether it is new.
fn upload(
    tx: &WriteTx<'_>,
    beleg: Beleg,
    pdf: &NewPdf,
    (inhalt, sha256): (&[u8], [u8; 32]),
    was_final: bool,
) -> Result<(Uuid, Beleg, bool)> {
    let newest = newest_digest(tx, beleg.id)?;
    if let Some((id, _)) = newest.filter(|(_, digest)| *digest == sha256) {
        return Ok((id, beleg, false));
    }
    let by_number = || format!("{}.pdf", beleg.beleg_nummer);
    let dateiname = pdf.dateiname.clone().unwrap_or_else(by_number);
    let id = insert(tx, beleg.id, &dateiname, &sha256, inhalt)?;
    if !was_final {
        return Ok((id, beleg, true));
    }
    // The polling list shows a document again that was already final (D11).
    let beleg = Beleg { ereignis_am: Some(sql::next_event(tx)?), ..beleg };
    sql::update(tx, &beleg)?;
    Ok((id, beleg, true))
}

/// Returns the digest of an upload; compute it before the write transaction.
pub fn digest(pdf: &NewPdf) -> Option<[u8; 32]> {
    pdf.datei_base64.as_ref().map(|inhalt| Sha256::digest(inhalt).into())
}

fn newest_digest(tx: &Tx<'_>, beleg: Uuid) -> Result<Option<(Uuid, [u8; 32])>> {
    tx.optional(
        "select id, sha256 from beleg_pdf where tenant_id = :tenant and beleg_id = :beleg order by id desc limit 1",
        named_params! {":beleg": beleg},
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
}

fn uploads(tx: &Tx<'_>, beleg: Uuid) -> Result<i64> {
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
    tx.changed("beleg", beleg);
    nachweis::keep(tx, Subject::Pdf(beleg, id))?;
    Ok(id)
}
