//! Forgetting a partner (GDPR art. 17, D27): erases master data, attachments and the values in its history.

use serde::Serialize;

use super::model::Kunde;
use super::{sql, verlauf};
use crate::master::anhaenge::{self, Besitzer};
use crate::platform::db::tx::WriteTx;
use crate::platform::failure::Result;
use crate::rules::stammdaten::KundeStatus;

const FORGOTTEN_NAME: &str = "(vergessen)";

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Erased {
    /// Fields of the master data.
    pub fields: Vec<String>,
    /// Number of changes whose old and new values were erased.
    pub changes: i64,
    pub attachments: i64,
    /// Number of e-mails with documents whose recipient and text were erased.
    pub emails: i64,
}

/// Erases the data of a partner. With `keeps_name`, because records name the partner, it erases only what
/// they do not need: contact data, bank account, notes. A second call finds nothing to erase.
pub fn forget(tx: &WriteTx<'_>, old: &Kunde, keeps_name: bool) -> Result<Erased> {
    let reduced = if keeps_name { without_contact(old.clone()) } else { without_anything(old.clone()) };
    let new = Kunde { version: old.version + 1, updated_at: tx.now(), ..reduced };
    let fields = verlauf::differing(old, &new)?;
    let attachments = anhaenge::ids_of(tx, Besitzer::Kunde(old.id))?;
    let changes = verlauf::with_content(tx, old.id)?;
    if fields.is_empty() && attachments.is_empty() && changes == 0 {
        return Ok(Erased::default());
    }
    sql::update(tx, &new)?;
    verlauf::forget(tx, &new, &fields, &attachments)?;
    anhaenge::erase(tx, Besitzer::Kunde(old.id))?;
    Ok(Erased { fields, changes, attachments: attachments.len() as i64, emails: 0 })
}

/// A blocked (gesperrt) partner stays blocked, so that nobody delivers to it again.
fn without_contact(kunde: Kunde) -> Kunde {
    let is_locked = kunde.status == KundeStatus::Gesperrt;
    Kunde {
        status: if is_locked { KundeStatus::Gesperrt } else { KundeStatus::Inaktiv },
        email: None,
        telefon: None,
        telefon2: None,
        iban: None,
        bic: None,
        e_adresse: None,
        notizen: None,
        ..kunde
    }
}

/// Keeps ids, number and dates of the record: other programs know it by them.
fn without_anything(kunde: Kunde) -> Kunde {
    let Kunde { id, kunden_id, kundennr, staat, status, created_at, .. } = without_contact(kunde);
    Kunde {
        id,
        kunden_id,
        kundennr,
        name: FORGOTTEN_NAME.to_owned(),
        nachname_firma: FORGOTTEN_NAME.to_owned(),
        staat,
        status,
        created_at,
        ..Kunde::default()
    }
}
