//! A note in a settlement, as it is printed and kept (D29g, D29l).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::rechnung::Rechnung;
use super::values::Messwert;
use crate::rules::day::Day;
use crate::rules::fixed::{Money, Percent, Price, Quantity};
use crate::rules::tax::Steuerkategorie;

/// A note in a settlement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AbrechnungsPosten {
    pub annahmeschein_id: Uuid,
    pub belegnummer: String,
    pub lieferdatum: Option<Day>,
    pub artikel_id: Uuid,
    pub artikel_bezeichnung: Option<String>,
    pub wiegeschein_nr: Option<String>,
    /// Number and version of the scheme; null: as the note says (D23).
    pub schema: Option<String>,
    pub schema_version: Option<i64>,
    /// The version of its analyses that was used; 0: none.
    pub analyse: i64,
    /// The values that it was computed with: of a partie their mean.
    pub werte: Vec<Messwert>,
    pub ist_mittel: bool,
    /// With what its own values were measured: a device, or several with what each measured.
    pub geraet: Option<String>,
    /// Of its lieferdatum (D7), and why it is that one.
    pub mwst_satz: Percent,
    pub steuer_kategorie: Steuerkategorie,
    /// What is paid for, by price: a note that crosses the quantity of a contract has two parts.
    pub teile: Vec<AbrechnungsTeil>,
    /// Quantities and costs of the note, and the price rows of its first part.
    pub rechnung: Rechnung,
    /// What is settled, net: of an advance or supplement that alone.
    pub betrag: Money,
    /// Of an advance: its price per t.
    pub abschlag_je_t: Option<Price>,
    /// Of an advance: its share of goods and costs.
    pub abschlag_prozent: Option<Percent>,
    /// Advances that are taken off, net.
    pub abschlaege: Money,
}

impl AbrechnungsPosten {
    /// Whether a part is paid in advance, and the value is settled later (D29i).
    pub fn is_advance(&self) -> bool {
        self.abschlag_je_t.is_some() || self.abschlag_prozent.is_some()
    }
}

/// A quantity at one price.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AbrechnungsTeil {
    /// kontrakt_nr; null: without one.
    pub kontrakt: Option<String>,
    pub kg: Quantity,
    pub grundpreis: Price,
    /// After the price rows.
    pub preis_je_t: Price,
    pub ware: Money,
}
