//! Hand-overs as they are sent.

use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use super::tabellen::SCHRITTE;
use crate::platform::db::record::record;
use crate::rules::day::{Day, Instant};
use crate::rules::error::Hints;
use crate::{choice, eingabe};

choice! {
    /// The progress of a hand-over.
    pub enum UeberlassungStand {
        Wartet = "wartet",
        Laeuft = "laeuft",
        Fertig = "fertig",
        Fehlgeschlagen = "fehlgeschlagen",
    }
}

record! {
    /// A hand-over of the data of a period (D36): a job and its result.
    #[derive(Debug, Clone, Serialize, JsonSchema)]
    #[schemars(rename = "Datenueberlassung")]
    pub struct Ueberlassung from z3 as z {
        id: Uuid,
        von: Day,
        bis: Day,
        /// Whether PDF, e-invoice and attachments of each document are included.
        mit_belegen: bool,
        stand: UeberlassungStand = |schritt, beendet_am, hat_datei| { stand(schritt, beendet_am, hat_datei) },
        /// Number of finished steps, out of `schritte`.
        schritt: i64,
        schritte: i64 = { SCHRITTE as i64 },
        created_at: Instant = "z.angelegt_am",
        beendet_am: Option<Instant>,
        /// Rows of all tables.
        zeilen: Option<i64>,
        bytes: Option<i64>,
        /// Of the file, in hexadecimal.
        sha256: Option<String> = "nullif(lower(hex(z.sha256)), '')",
        /// Why there is no file, as a German sentence.
        fehler: Option<String>,
    } with {
        hat_datei: "z.sha256 is not null",
    }
}

fn stand(schritt: i64, beendet_am: Option<Instant>, hat_datei: bool) -> UeberlassungStand {
    match (beendet_am, hat_datei) {
        (None, _) if schritt == 0 => UeberlassungStand::Wartet,
        (None, _) => UeberlassungStand::Laeuft,
        (Some(_), true) => UeberlassungStand::Fertig,
        (Some(_), false) => UeberlassungStand::Fehlgeschlagen,
    }
}

eingabe! {
    /// Body of POST /z3.
    pub struct NewUeberlassung {
        von: Day,
        bis: Day,
        mit_belegen: bool,
    }
    nur_lesen: [..Ueberlassung, "hinweise"]
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "DatenueberlassungAngelegt")]
pub struct UeberlassungAngelegt {
    #[serde(flatten)]
    pub ueberlassung: Ueberlassung,
    pub hinweise: Hints,
}

/// The file of a hand-over.
#[derive(Debug, Clone)]
pub struct Ergebnis {
    /// Rows of all tables.
    pub zeilen: u64,
    pub bytes: u64,
    pub sha256: [u8; 32],
}
