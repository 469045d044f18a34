//! Request and response models of attachments.

use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::eingabe;
use crate::platform::db::record::record;
use crate::platform::http::upload::{Dateiname, Inhalt};
use crate::platform::http::wire::Text;
use crate::rules::day::Instant;
use crate::rules::error::Hints;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Besitzer {
    Kunde(Uuid),
    Artikel(Uuid),
    /// A document: the attachment is the file that it was read from (D28).
    Beleg(Uuid),
}

record! {
    /// An attachment (D21f).
    #[derive(Debug, Clone, Serialize, JsonSchema)]
    pub struct Anhang in anhang as a {
        id: Uuid = fixed,
        dateiname: String = fixed,
        beschreibung: Option<String> = fixed,
        mime_type: String = fixed,
        groesse_bytes: i64 = "length(a.inhalt)",
        sha256: String = "lower(hex(a.sha256))",
        erstellt_am: Instant = fixed,
        /// Only in the answer about a single attachment.
        #[serde(skip_serializing_if = "Option::is_none")]
        inhalt_base64: Option<String> = { None },
    }
}

eingabe! {
    pub struct NewAnhang {
        dateiname: Dateiname,
        inhalt_base64: Inhalt,
        beschreibung: Text,
    }
    nur_lesen: [..Anhang]
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct AnhangAngelegt {
    #[serde(flatten)]
    pub anhang: Anhang,
    pub hinweise: Hints,
}
