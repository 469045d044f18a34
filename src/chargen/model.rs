//! Batches as they go over the wire.

use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::eingabe;
use crate::http::wire::{Int, Kennung, OneOf, Text};
use crate::laender::Staat;
use crate::rules::day::{Day, DayTime, Instant};
use crate::rules::error::Hints;
use crate::rules::fixed::{Price, Quantity};
use crate::rules::stammdaten::EingangQuelle;

/// A batch (specification, Charge).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[allow(missing_docs)]
pub struct Charge {
    pub id: Uuid,
    pub charge_nr: String,
    pub fremde_charge_nr: Option<String>,
    pub mhd: Option<DayTime>,
    pub herkunftsland: Option<String>,
    pub biozertifikat_id: Option<i64>,
    pub einheit: Option<String>,
    pub eingang_menge: Option<Quantity>,
    pub eingang_ep: Option<Price>,
    pub eingang_quelle: EingangQuelle,
    pub eingang_beleg_id: Option<Uuid>,
    pub niederlassung_id: Option<i64>,
    pub lagerhalle_id: Option<i64>,
    pub artikel_id: Uuid,
    pub partner_id: Option<Uuid>,
    pub artikel_bezeichnung: String,
    pub artikelnr: Option<String>,
    pub partner_name: Option<String>,
    /// Sum of its movements, in the unit of the article.
    pub bestand: Quantity,
    pub created_at: Instant,
    #[serde(skip)]
    pub version: i64,
}

eingabe! {
    /// A new batch: body of POST /chargen.
    pub struct NewCharge {
        artikel_id: Uuid,
        charge_nr: Text,
        fremde_charge_nr: Text,
        mhd: Day,
        herkunftsland: Staat,
        biozertifikat_id: Kennung,
        eingang_menge: Quantity,
        eingang_ep: Price,
        einheit: Text,
        niederlassung_id: Kennung,
        lagerhalle_id: Kennung,
        partner_id: Uuid,
        eingang_quelle: OneOf<EingangQuelle>,
    }
    nur_lesen: ["id", "bestand", "eingang_beleg_id", "artikel_bezeichnung", "artikelnr", "partner_name",
        "created_at"]
}

eingabe! {
    /// A correction of a batch: body of PUT /chargen/{id}.
    pub change ChargeChange {
        fremde_charge_nr: Text,
        mhd: Day,
        herkunftsland: Staat,
    }
    nur_lesen: ["id", "charge_nr", "biozertifikat_id", "einheit", "eingang_menge", "eingang_ep", "eingang_quelle",
        "eingang_beleg_id", "niederlassung_id", "lagerhalle_id", "artikel_id", "partner_id", "artikel_bezeichnung",
        "artikelnr", "partner_name", "bestand", "created_at"]
}

eingabe! {
    /// A row of an import of chargen (D22): `partner` is a kundennr, `bestand` the opening stock.
    pub struct ChargeZeile {
        artikelnummer: Text,
        charge_nr: Text,
        partner: Text,
        bestand: Quantity,
        fremde_charge_nr: Text,
        mhd: Day,
        herkunftsland: Staat,
        biozertifikat_id: Int<1, { i32::MAX as i64 }>,
        eingang_menge: Quantity,
        eingang_ep: Price,
        einheit: Text,
        niederlassung_id: Kennung,
        lagerhalle_id: Kennung,
    }
    nur_lesen: []
}

/// Confirmation of POST /chargen.
#[derive(Debug, Serialize, JsonSchema)]
#[allow(missing_docs)]
pub struct ChargeAngelegt {
    pub id: Uuid,
    pub charge_nr: String,
    pub bestand: Quantity,
    pub hinweise: Hints,
}

/// Answer to PUT /chargen/{id}.
#[derive(Debug, Serialize, JsonSchema)]
#[allow(missing_docs)]
pub struct ChargeGeaendert {
    #[serde(flatten)]
    pub charge: Charge,
    pub hinweise: Hints,
}

/// One entry of the history of a batch (D8): the version before a correction.
#[derive(Debug, Serialize, JsonSchema)]
#[allow(missing_docs)]
pub struct ChargeVerlaufseintrag {
    pub version: i64,
    pub am: Instant,
    pub key_id: Option<String>,
    #[schemars(with = "Charge")]
    pub charge: Box<serde_json::value::RawValue>,
}
