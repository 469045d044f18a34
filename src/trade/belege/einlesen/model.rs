//! Response models for reading an e-invoice (D28).

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::goods::chargen::Bewegung;
use crate::papers::erechnung::lesen::Verstoss;
use crate::rules::document::BelegStatus;
use crate::rules::error::Hints;
use crate::rules::fixed::{Money, Percent};

#[derive(Debug, Serialize, JsonSchema)]
pub struct Eingelesen {
    /// Body of POST /belege. Values are formatted as in responses, so the schema is not that of the request.
    #[schemars(with = "Map<String, Value>")]
    pub vorschlag: Value,
    pub gefunden: Gefunden,
    pub summen: Summenvergleich,
    pub regeln: Vec<Verstoss>,
    #[serde(flatten)]
    pub beleg: Option<BelegDerDatei>,
    /// Whether the document already existed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub idempotent: bool,
    pub hinweise: Hints,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Gefunden {
    pub partner: Option<GefundenerPartner>,
    pub artikel: Vec<GefundenerArtikel>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct GefundenerPartner {
    pub id: Uuid,
    pub kundennr: String,
    pub name: String,
    /// How the partner was found: ust_id, steuernummer, iban, name.
    pub durch: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct GefundenerArtikel {
    /// Number of the item, from 1.
    pub position: i64,
    pub artikel_id: Option<Uuid>,
    pub artikelnummer: Option<String>,
    /// How it was found: lieferantennummer, artikelnummer, ean.
    pub durch: Option<String>,
    pub lieferantennummer: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Summenvergleich {
    pub rechnung: GedruckteSummen,
    pub vorschlag: VorschlagSummen,
}

/// Totals that an invoice prints; for a credit note with reversed signs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct GedruckteSummen {
    pub summe_netto: Option<Money>,
    pub summe_mwst: Option<Money>,
    pub summe_brutto: Option<Money>,
    /// BT-114: amount to pay minus gross total.
    pub rundung: Option<Money>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct VorschlagSummen {
    pub summe_netto: Money,
    pub summe_mwst: Money,
    pub summe_brutto: Money,
    pub steuergruppen: Vec<VorschlagSteuergruppe>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct VorschlagSteuergruppe {
    /// `None` if the invoice states no rate and its tax implies none; then no ER is created.
    pub mwst_satz: Option<Percent>,
    pub basis: Money,
    pub steuer: Money,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct BelegDerDatei {
    pub id: Uuid,
    pub beleg_nummer: String,
    pub status: BelegStatus,
    pub summe_netto: Money,
    pub summe_mwst: Money,
    pub summe_brutto: Money,
    /// The attachment with the file; `None` if the document was created from another file.
    pub dokument_id: Option<Uuid>,
    pub lagerbewegungen: Vec<Bewegung>,
}
