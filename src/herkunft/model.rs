//! The genealogy of a batch as it goes over the wire (D21d).

use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::chargen::Charge;
use crate::rules::day::{Day, Instant};
use crate::rules::document::BelegTyp;
use crate::rules::error::Hints;
use crate::rules::fixed::Quantity;

#[derive(Debug, Serialize, JsonSchema)]
pub struct Herkunft {
    pub charge: Charge,
    #[serde(skip)]
    pub artikelnummer: String,
    /// Batches that went into it, the nearest first.
    pub rueckwaerts: Vec<Knoten>,
    /// Batches that it went into, the nearest first.
    pub vorwaerts: Vec<Knoten>,
    /// Who delivered it and the batches that went into it.
    pub lieferanten: Vec<Beteiligter>,
    /// Who got it and the batches that it went into.
    pub empfaenger: Vec<Beteiligter>,
    pub bilanz: Bilanz,
    /// What is missing, for the header X-Hinweise and the sheet.
    #[serde(skip)]
    pub hinweise: Hints,
}

/// A batch on the way, and the production order that leads to it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Knoten {
    /// Production orders between this batch and the one that was asked for.
    pub tiefe: i64,
    pub charge_id: Uuid,
    pub charge_nr: String,
    pub fremde_charge_nr: Option<String>,
    pub artikel_id: Uuid,
    pub artikelnummer: String,
    pub artikel_bezeichnung: String,
    /// What of this batch went in or came out, in the unit of the article.
    pub menge: Quantity,
    pub einheit: Option<String>,
    pub ueber: Ueber,
    /// The batch on the other side of the order, nearer to the one that was asked for.
    #[serde(skip)]
    pub von: Uuid,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Ueber {
    pub art: &'static str,
    pub id: Uuid,
    pub nummer: String,
    pub datum: Option<Day>,
}

/// A supplier or a recipient, document by document.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Beteiligter {
    pub partner_id: Uuid,
    pub kundennr: String,
    pub name: String,
    pub strasse: Option<String>,
    pub plz: Option<String>,
    pub ort: Option<String>,
    pub staat: Option<String>,
    /// In the unit of the article; returns are deducted.
    pub menge: Quantity,
    pub einheit: Option<String>,
    /// null for the supplier of opening stock.
    pub beleg_id: Option<Uuid>,
    pub beleg_nummer: Option<String>,
    #[serde(skip)]
    pub beleg_typ: Option<BelegTyp>,
    pub datum: Option<Day>,
    pub charge_id: Uuid,
    pub charge_nr: String,
}

/// What came in, what went out, what is left, without what was reversed.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct Bilanz {
    pub eingang: Quantity,
    pub abgang: Quantity,
    pub bestand: Quantity,
}

#[derive(Debug, Clone)]
pub struct Buchung {
    pub am: Instant,
    /// Signed, in the unit of the article.
    pub menge: Quantity,
    pub beleg_id: Option<Uuid>,
    pub beleg_typ: Option<BelegTyp>,
    pub pa_id: Option<Uuid>,
    /// Of the document or of the order; none: opening stock.
    pub nummer: Option<String>,
    pub partner: Option<String>,
}
