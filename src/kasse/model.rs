//! Receipt lines as they go over the wire.

use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::eingabe;
use crate::http::wire::{Int, OneOf, Text};
use crate::rules::day::{Day, Instant};
use crate::rules::fixed::{Money, Percent, Price, Quantity};
use crate::rules::kasse::BonArt;

/// A line of a receipt (specification, Barverkauf).
#[derive(Debug, Serialize, JsonSchema)]
pub struct Barverkauf {
    pub id: i64,
    pub bon_id: Uuid,
    pub artikel_id: Option<Uuid>,
    pub bezeichnung: String,
    pub ean: Option<String>,
    pub menge: Quantity,
    pub einheit: Option<String>,
    /// Gross.
    pub einzelpreis: Price,
    pub mwst_satz: Percent,
    /// Gross.
    pub gesamt: Money,
    /// The cash day: that of kassiert_at in Berlin.
    pub datum: Day,
    pub kassiert_at: Instant,
    pub bon_nr: String,
    pub art: BonArt,
    pub storniert: bool,
    pub storno_von_bon_id: Option<Uuid>,
    pub zahlart: Option<String>,
    pub kasse_id: Option<Uuid>,
    pub kunde_id: Option<Uuid>,
    pub artikelnummer: Option<String>,
    pub artikelnr: Option<String>,
    pub bezeichnung2: Option<String>,
    pub netto: Money,
    pub steuer: Money,
}

/// A line id: int32 (specification).
pub type ZeilenId = Int<1, { i32::MAX as i64 }>;

eingabe! {
    /// A row of barverkaeufe (D22); `kunde` is a kundennr.
    pub struct BarverkaufZeile {
        id: ZeilenId,
        bon_id: Uuid,
        bon_nr: Text,
        kasse_id: Uuid,
        kassiert_at: Instant,
        art: OneOf<BonArt>,
        storno_von_bon_id: Uuid,
        zahlart: Text,
        kunde: Text,
        artikelnummer: Text,
        bezeichnung: Text,
        ean: Text,
        menge: Quantity,
        einheit: Text,
        einzelpreis: Price,
        mwst_satz: Percent,
        gesamt: Money,
        netto: Money,
        steuer: Money,
    }
    nur_lesen: [..Barverkauf]
}
