//! The mail server of a company, as who manages it entered it.

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
        /// TLS begins on the open connection (RFC 3207); without it nothing is said.
        Starttls = "starttls",
        /// TLS from the first byte (RFC 8314).
        Tls = "tls",
        /// None: to this machine alone.
        Keine = "keine",
    }
}

/// Its password is readable, for the mail server wants it; so it has no `Debug`.
#[derive(Clone, PartialEq, Eq)]
pub struct Postausgang {
    pub server: String,
    pub port: u16,
    pub verschluesselung: Verschluesselung,
    pub benutzer: Option<String>,
    pub passwort: Option<String>,
    /// The address that mails come from.
    pub absender: String,
    pub antwort_an: Option<String>,
    /// A certificate that is trusted beside the public ones (PEM): of a mail server in the house.
    pub zertifikat: Option<String>,
    /// What a new mail begins with, with [`super::PLACEHOLDERS`].
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

/// Enters the mail server of a company, or takes it away with its password.
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
