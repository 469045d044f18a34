//! The mail server of a company, as its administrator entered it.

use rusqlite::types::FromSqlError;
use rusqlite::{Connection, Row, named_params};

use crate::choice;
use crate::platform::db::TenantId;
use crate::platform::db::tx::{Tx, WriteTx};
use crate::platform::failure::Result;
use crate::rules::choice::Choice;
use crate::rules::day::Instant;

choice! {
    pub enum Verschluesselung {
        /// TLS begins on the open connection (RFC 3207); nothing is sent without it.
        Starttls = "starttls",
        /// TLS from the first byte (RFC 8314).
        Tls = "tls",
        /// No encryption: only for a mail server on this machine.
        Keine = "keine",
    }
}

/// Has no `Debug`, because its password is plain text: the mail server asks for it.
#[derive(Clone, PartialEq, Eq)]
pub struct Postausgang {
    pub server: String,
    pub port: u16,
    pub verschluesselung: Verschluesselung,
    pub benutzer: Option<String>,
    pub passwort: Option<String>,
    /// The sender's address of all mails.
    pub absender: String,
    pub antwort_an: Option<String>,
    /// A certificate that is trusted in addition to the public ones (PEM), for a mail server in the house.
    pub zertifikat: Option<String>,
    /// Subject and text that a new mail starts with, including [`super::PLACEHOLDERS`].
    pub betreff: String,
    pub text: String,
}

const COLUMNS: &str =
    "server, port, verschluesselung, benutzer, passwort, absender, antwort_an, zertifikat, betreff, text";

pub fn load(tx: &Tx<'_>) -> Result<Option<Postausgang>> {
    let statement = format!("select {COLUMNS} from postausgang where tenant_id = :tenant");
    tx.optional(&statement, &[], read)
}

fn read(row: &Row<'_>) -> rusqlite::Result<Postausgang> {
    let kind: String = row.get("verschluesselung")?;
    Ok(Postausgang {
        server: row.get("server")?,
        port: row.get("port")?,
        verschluesselung: Verschluesselung::parse(&kind).ok_or(FromSqlError::InvalidType)?,
        benutzer: row.get("benutzer")?,
        passwort: row.get("passwort")?,
        absender: row.get("absender")?,
        antwort_an: row.get("antwort_an")?,
        zertifikat: row.get("zertifikat")?,
        betreff: row.get("betreff")?,
        text: row.get("text")?,
    })
}

/// Stores the mail server of a company, or removes it with its password.
pub fn store(
    connection: &Connection,
    tenant: TenantId,
    new: Option<&Postausgang>,
    now: Instant,
) -> Result<()> {
    WriteTx::carry_out(Tx::new(connection, tenant, now), None, |tx| {
        tx.execute("delete from postausgang where tenant_id = :tenant", &[])?;
        let Some(new) = new else { return Ok(()) };
        tx.insert(
            "postausgang",
            named_params! {
                ":server": new.server,
                ":port": new.port,
                ":verschluesselung": new.verschluesselung.as_str(),
                ":benutzer": new.benutzer,
                ":passwort": new.passwort,
                ":absender": new.absender,
                ":antwort_an": new.antwort_an,
                ":zertifikat": new.zertifikat,
                ":betreff": new.betreff,
                ":text": new.text,
            },
        )
    })
}
