//! Weighings as they go over the wire.

use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::eingabe;
use crate::http::wire::{Gewicht, Kennung, LongText, OneOf, Text};
use crate::rules::day::Instant;
use crate::rules::error::Hints;
use crate::rules::fixed::Quantity;
use crate::rules::weighing::{Richtung, WiegungStatus};

/// A weighing (specification, Wiegung; what a POST stores besides is shown, too: D18).
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[allow(missing_docs)]
pub struct Wiegung {
    pub id: Uuid,
    pub wiegeschein_nr: String,
    pub status: WiegungStatus,
    pub richtung: Option<Richtung>,
    pub kennzeichen: Option<String>,
    pub fahrer: Option<String>,
    pub gewicht_erst_kg: Quantity,
    pub gewicht_zweit_kg: Option<Quantity>,
    pub gewicht_netto_kg: Option<Quantity>,
    pub ts_erst: Instant,
    pub ts_zweit: Option<Instant>,
    pub waage_id: i64,
    pub partner_id: Uuid,
    pub artikel_id: Option<Uuid>,
    pub charge_id: Option<Uuid>,
    pub niederlassung_id: Option<i64>,
    pub lagerhalle_id: Option<i64>,
    pub kontrakt_id: Option<Uuid>,
    pub kontrakt_position_id: Option<Uuid>,
    /// The first live document that refers to it.
    pub beleg_id: Option<Uuid>,
    pub fremdwiegung: bool,
    pub bemerkung: Option<String>,
    pub storno_grund: Option<String>,
    pub partner_name: Option<String>,
    pub artikel_bezeichnung: Option<String>,
    /// In the answer about a single weighing only (specification).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub charge_nr: Option<Option<String>>,
    #[serde(skip)]
    pub version: i64,
}

eingabe! {
    /// A new weighing: body of POST /wiegungen.
    pub struct NewWiegung {
        waage_id: Kennung,
        gewicht_erst_kg: Gewicht,
        partner_id: Uuid,
        kennzeichen: Text,
        fahrer: Text,
        artikel_id: Uuid,
        richtung: OneOf<Richtung>,
        niederlassung_id: Kennung,
        lagerhalle_id: Kennung,
        charge_id: Uuid,
        kontrakt_id: Uuid,
        kontrakt_position_id: Uuid,
        fremdwiegung: bool,
        bemerkung: LongText,
    }
    nur_lesen: ["id", "wiegeschein_nr", "status", "gewicht_zweit_kg", "gewicht_netto_kg", "ts_erst", "ts_zweit",
        "beleg_id", "partner_name", "artikel_bezeichnung", "charge_nr", "storno_grund"]
}

eingabe! {
    /// The second weight: body of PUT /wiegungen/{id}/zweitwiegung.
    pub change Zweitwiegung {
        gewicht_zweit_kg: Gewicht,
        charge_id: Uuid,
        kontrakt_id: Uuid,
        kontrakt_position_id: Uuid,
        niederlassung_id: Kennung,
        lagerhalle_id: Kennung,
        richtung: OneOf<Richtung>,
    }
    nur_lesen: ["id", "wiegeschein_nr", "status", "gewicht_erst_kg", "gewicht_netto_kg", "ts_erst", "ts_zweit",
        "waage_id", "partner_id", "artikel_id", "kennzeichen", "fahrer", "beleg_id", "fremdwiegung", "bemerkung",
        "partner_name", "artikel_bezeichnung", "charge_nr", "storno_grund"]
}

eingabe! {
    /// Why something is cancelled: body of a storno of weighings, documents and goods-receipt notes.
    pub struct Storno {
        grund: Text,
    }
    nur_lesen: []
}

/// Confirmation of a write on a weighing.
#[derive(Debug, Serialize, JsonSchema)]
#[allow(missing_docs)]
pub struct WiegungBestaetigung {
    pub id: Uuid,
    pub wiegeschein_nr: String,
    pub status: WiegungStatus,
    pub gewicht_netto_kg: Option<Quantity>,
    pub richtung: Option<Richtung>,
    pub hinweise: Hints,
}
