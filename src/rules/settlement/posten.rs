//! A receipt in a settlement, as it is printed and stored (D29g, D29l).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::rechnung::Rechnung;
use super::values::Messwert;
use crate::rules::day::Day;
use crate::rules::fixed::{Money, Percent, Price, Quantity};
use crate::rules::tax::Steuerkategorie;

/// A receipt in a settlement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AbrechnungsPosten {
    pub annahmeschein_id: Uuid,
    pub belegnummer: String,
    pub lieferdatum: Option<Day>,
    pub artikel_id: Uuid,
    pub artikel_bezeichnung: Option<String>,
    pub wiegeschein_nr: Option<String>,
    /// Number and version of the scheme; null: settled as the receipt states (D23).
    pub schema: Option<String>,
    pub schema_version: Option<i64>,
    /// Version of the analyses that were used; 0: none.
    pub analyse: i64,
    /// The values used in the calculation; for a partie, their mean.
    pub werte: Vec<Messwert>,
    pub ist_mittel: bool,
    /// The device that measured this receipt's own values, not the mean. Several are listed, each with the Merkmale
    /// it measured.
    pub geraet: Option<String>,
    /// The rate on its lieferdatum (D7), and the category that explains it.
    pub mwst_satz: Percent,
    pub steuer_kategorie: Steuerkategorie,
    /// The paid parts, by price: a receipt that crosses the quantity of a contract has two.
    pub teile: Vec<AbrechnungsTeil>,
    /// Quantities and costs of the receipt, and the price rows of its first part.
    pub rechnung: Rechnung,
    /// The settled net amount; for an advance or supplement, that amount alone.
    pub betrag: Money,
    /// For an advance: its price per t.
    pub abschlag_je_t: Option<Price>,
    /// For an advance: its share of goods and costs.
    pub abschlag_prozent: Option<Percent>,
    /// Advances that are deducted, net.
    pub abschlaege: Money,
}

impl AbrechnungsPosten {
    /// Whether this is an advance, whose value is settled later (D29i).
    pub fn is_advance(&self) -> bool {
        self.abschlag_je_t.is_some() || self.abschlag_prozent.is_some()
    }
}

/// A quantity at one price.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AbrechnungsTeil {
    /// kontrakt_nr; null: without a contract.
    pub kontrakt: Option<String>,
    /// The position of that contract; null: it has none of this article.
    pub kontrakt_position_id: Option<Uuid>,
    pub kg: Quantity,
    pub grundpreis: Price,
    /// Price after the price rows.
    pub preis_je_t: Price,
    pub ware: Money,
}
