//! Contracts as they go over the wire.

use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::eingabe;
use crate::http::wire::{Int, Liste, LongText, Text};
use crate::rules::day::{Day, DayTime};
use crate::rules::fixed::{Price, Quantity};

/// A contract (specification, Kontrakt), with what was delivered on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[allow(missing_docs)]
pub struct Kontrakt {
    pub id: Uuid,
    pub kontrakt_nr: String,
    pub kontrakt_typ: Option<String>,
    pub partner_id: Option<Uuid>,
    pub gueltig_von: Option<DayTime>,
    pub gueltig_bis: Option<DayTime>,
    pub erfassungsdatum: Option<DayTime>,
    pub gesamtmenge: Option<Quantity>,
    pub gesamtmenge_einheit: Option<String>,
    pub mengenart: Option<String>,
    pub paritat: Option<String>,
    pub zahlungsbedingung: Option<String>,
    pub erntejahr: Option<i64>,
    pub erledigt: bool,
    pub notizen: Option<String>,
    pub referenz: Option<String>,
    pub partner_name: Option<String>,
    /// Delivered on this contract, in its unit: gesamtmenge_einheit, else that of the first article of its
    /// positions; null where there is neither (D21g).
    pub geliefert: Option<Quantity>,
    /// gesamtmenge, else the sum of the positions, minus geliefert; below zero where more was delivered.
    pub offen: Option<Quantity>,
    pub positionen: Vec<Position>,
}

eingabe! {
    /// A row of kontrakte; its key is kontrakt_nr. `partner` is a kundennr (D22).
    pub struct KontraktZeile {
        kontrakt_nr: Text,
        kontrakt_typ: Text,
        partner: Text,
        gueltig_von: Day,
        gueltig_bis: Day,
        erfassungsdatum: Day,
        gesamtmenge: Quantity,
        gesamtmenge_einheit: Text,
        mengenart: Text,
        paritat: Text,
        zahlungsbedingung: Text,
        erntejahr: Int<1900, 2200>,
        erledigt: bool,
        notizen: LongText,
        referenz: Text,
        positionen: Liste<PositionZeile, MAX_POSITIONEN>,
    }
    nur_lesen: ["id", "partner_id", "partner_name", "geliefert", "offen"]
}

eingabe! {
    /// A position of a contract in an import.
    pub struct PositionZeile {
        id: uuid::Uuid,
        position: Int<1, 10_000>,
        artikelnummer: Text,
        menge: Quantity,
        preis: Price,
    }
    nur_lesen: []
}

/// Positions of a contract at most.
const MAX_POSITIONEN: usize = 1_000;

/// A position of a contract.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "KontraktPosition")]
#[allow(missing_docs)]
pub struct Position {
    pub id: Uuid,
    pub position: i64,
    pub artikel_id: Option<Uuid>,
    pub menge: Option<Quantity>,
    pub preis: Option<Price>,
}
