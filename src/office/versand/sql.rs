//! Mails sent with a document: when, by whom, to whom, and with which result.

use rusqlite::named_params;
use uuid::Uuid;

use super::brief::Brief;
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::Result;
use crate::rules::day::Instant;
use crate::rules::error::{Code, Refusal};

/// Most mails of a document that are shown.
const SHOWN_MAX: i64 = 50;

/// The result of sending a mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ergebnis {
    /// The mail server accepted it.
    Gesendet,
    /// It was not sent; the sentence says why.
    NichtGesendet(String),
    /// The mail server may have it; the sentence says why this is uncertain.
    Ungewiss(String),
}

impl Ergebnis {
    fn stored(&self) -> (&'static str, Option<&str>) {
        match self {
            Ergebnis::Gesendet => ("gesendet", None),
            Ergebnis::NichtGesendet(why) => ("nicht_gesendet", Some(why)),
            Ergebnis::Ungewiss(why) => ("ungewiss", Some(why)),
        }
    }
}

pub struct Versand {
    pub am: Instant,
    pub key_id: Option<String>,
    /// `None` if it was erased with the partner.
    pub an: Option<String>,
    pub betreff: Option<String>,
    pub anlagen: String,
    /// `None` while it is being sent; stays so if the service ended meanwhile.
    pub ergebnis: Option<String>,
    pub meldung: Option<String>,
}

/// Records that a mail is about to be sent; refuses a mail that was recorded before.
pub fn begin(tx: &WriteTx<'_>, brief: &Brief, beleg: Uuid, kunde: Uuid) -> Result<()> {
    let known = "select 1 from versand where tenant_id = :tenant and id = :id";
    if tx.exists(known, named_params! {":id": brief.id})? {
        let message = "Dieses Formular wurde schon abgeschickt. Was daraus geworden ist, steht auf der Seite \
             des Belegs unter „E-Mails“.";
        return Err(Refusal::new(Code::ZwischenzeitlichGeaendert, message).into());
    }
    tx.insert(
        "versand",
        named_params! {
            ":id": brief.id,
            ":beleg_id": beleg,
            ":kunde_id": kunde,
            ":am": tx.now(),
            ":key_id": tx.key_id(),
            ":an": brief.an.join(", "),
            ":betreff": brief.betreff,
            ":text": brief.text,
            ":anlagen": brief.anlagen.iter().map(|anlage| anlage.name.as_str()).collect::<Vec<_>>().join(", "),
        },
    )
}

pub fn end(tx: &WriteTx<'_>, id: Uuid, ergebnis: &Ergebnis) -> Result<()> {
    let (ergebnis, meldung) = ergebnis.stored();
    let statement =
        "update versand set ergebnis = :ergebnis, meldung = :meldung where tenant_id = :tenant and id = :id";
    tx.execute(statement, named_params! {":ergebnis": ergebnis, ":meldung": meldung, ":id": id}).map(drop)
}

/// Returns the mails of a document, the newest first.
pub fn of_document(tx: &Tx<'_>, beleg: Uuid) -> Result<Vec<Versand>> {
    tx.all(
        "select am, key_id, an, betreff, anlagen, ergebnis, meldung from versand
         where tenant_id = :tenant and beleg_id = :beleg order by id desc limit :most",
        named_params! {":beleg": beleg, ":most": SHOWN_MAX},
        |row| {
            Ok(Versand {
                am: row.get(0)?,
                key_id: row.get(1)?,
                an: row.get(2)?,
                betreff: row.get(3)?,
                anlagen: row.get(4)?,
                ergebnis: row.get(5)?,
                meldung: row.get(6)?,
            })
        },
    )
}

/// Erases the partner's data in mails: recipients, subjects, texts. Returns the number of mails.
pub fn forget(tx: &WriteTx<'_>, kunde: Uuid) -> Result<i64> {
    let statement = "update versand set an = null, betreff = null, text = null, meldung = null
        where tenant_id = :tenant and kunde_id = :kunde and an is not null";
    Ok(tx.execute(statement, named_params! {":kunde": kunde})? as i64)
}
