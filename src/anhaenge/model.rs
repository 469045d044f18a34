//! Attachments as they go over the wire.

use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::eingabe;
use crate::http::upload::{Dateiname, Inhalt};
use crate::http::wire::Text;
use crate::rules::day::Instant;
use crate::rules::error::Hints;

/// Whose attachment it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Besitzer {
    /// A customer.
    Kunde(Uuid),
    /// An article.
    Artikel(Uuid),
    /// A document: the file that it was made of (D28).
    Beleg(Uuid),
}

/// An attachment (D21f).
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[allow(missing_docs)]
pub struct Anhang {
    pub id: Uuid,
    pub dateiname: String,
    pub beschreibung: Option<String>,
    pub mime_type: String,
    pub groesse_bytes: i64,
    pub sha256: String,
    pub erstellt_am: Instant,
    /// In the answer about a single attachment only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inhalt_base64: Option<String>,
}

eingabe! {
    /// A new attachment: body of a POST.
    pub struct NewAnhang {
        dateiname: Dateiname,
        inhalt_base64: Inhalt,
        beschreibung: Text,
    }
    nur_lesen: ["id", "mime_type", "groesse_bytes", "sha256", "erstellt_am"]
}

/// Confirmation of a POST of an attachment.
#[derive(Debug, Serialize, JsonSchema)]
#[allow(missing_docs)]
pub struct AnhangAngelegt {
    #[serde(flatten)]
    pub anhang: Anhang,
    pub hinweise: Hints,
}
