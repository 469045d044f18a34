//! A scheme: its deductions, surcharges and costs, and the limits that lock a delivery (D29b to D29d).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::choice;
use crate::rules::fixed::Zahl;

choice! {
    /// What a settlement pays (D29i).
    pub enum Abrechnungsart {
        /// The amount owed, less the advances.
        End = "end",
        /// A part, before the final settlement.
        Abschlag = "abschlag",
        /// More, or less, for goods already settled.
        Nachverguetung = "nachverguetung",
    }
}

choice! {
    /// What a step changes.
    pub enum Wirkung {
        /// The paid quantity.
        Menge = "menge",
        /// The price per t.
        Preis = "preis",
        /// The costs: amounts taken off the value of the goods, or added to it.
        Kosten = "kosten",
    }
}

choice! {
    /// How a step finds its rate (D29c).
    pub enum Schrittregel {
        /// The rate times the difference to the basis; or, with `schritt`, the rate times the number of steps in
        /// that difference, complete ones or also a started one.
        Faktor = "faktor",
        /// `(wert − basis) / (100 − basis)`, plus the rate for handling.
        Standardgewicht = "standardgewicht",
        /// The rate of the row that contains the value.
        Tabelle = "tabelle",
        /// The rate of the interval that contains the difference, or of each interval it passes through.
        Staffel = "staffel",
        /// The same rate for each receipt.
        Fest = "fest",
    }
}

choice! {
    /// The side of a value on which something applies.
    pub enum Basisseite {
        Ueber = "ueber",
        Unter = "unter",
    }
}

choice! {
    /// The unit of a step's rate.
    pub enum SatzEinheit {
        Prozent = "%",
        EuroJeTonne = "EUR/t",
        /// Per receipt.
        Euro = "EUR",
    }
}

choice! {
    /// What a step does with a receipt whose Merkmal was not measured.
    pub enum Fehlt {
        Sperren = "sperren",
        /// The step does not apply.
        Keine = "keine",
    }
}

choice! {
    /// What happens if a limit is crossed.
    pub enum Grenzfolge {
        Hinweis = "hinweis",
        Sperren = "sperren",
        Abweisen = "abweisen",
    }
}

choice! {
    /// The quantity with which goods enter the stock (D29b).
    pub enum Bestand {
        Netto = "netto",
        Brutto = "brutto",
    }
}

choice! {
    /// Whether each receipt is settled by its own values or by the mean of all receipts settled together
    /// (D29e).
    pub enum Mittelung {
        JeAnlieferung = "je_anlieferung",
        Partie = "partie",
    }
}

/// The content of a version of a scheme. Stored as JSON: a field added later needs a default.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "AbrechnungsschemaInhalt")]
pub struct Schema {
    pub bestand: Bestand,
    /// Decimals of the settled price: 2 to 4.
    pub preis_stellen: i64,
    pub mittelung: Mittelung,
    /// Whether the goods need a certificate that is valid on the day of delivery.
    pub bio: bool,
    pub grenzen: Vec<Grenze>,
    pub schritte: Vec<Schritt>,
}

impl Schema {
    /// Whether receipts settled together share one mean (D29e).
    pub fn is_partie(&self) -> bool {
        self.mittelung == Mittelung::Partie
    }

    /// Codes of the Merkmale that its steps and limits need, each once.
    pub fn asked(&self) -> Vec<String> {
        let steps = self.schritte.iter().filter_map(|step| step.merkmal.as_ref());
        let mut asked: Vec<String> = Vec::new();
        for code in steps.chain(self.grenzen.iter().map(|grenze| &grenze.merkmal)) {
            if !asked.contains(code) {
                asked.push(code.clone());
            }
        }
        asked
    }

    /// Whether goods enter the stock with their weighed quantity (D29h).
    pub fn books_gross(&self) -> bool {
        self.bestand == Bestand::Brutto
    }
}

/// A limit; a value exactly on it is within (D29d).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "AbrechnungsGrenze")]
pub struct Grenze {
    pub merkmal: String,
    pub richtung: Basisseite,
    pub wert: Zahl,
    pub aktion: Grenzfolge,
    /// The message for a person.
    pub text: String,
}

/// A step (D29c). Its rule decides which fields it has; [`check`](super::check()) refuses others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "AbrechnungsSchritt")]
pub struct Schritt {
    /// Order among the steps of the same wirkung.
    pub nr: i64,
    pub code: String,
    pub text: String,
    pub wirkung: Wirkung,
    pub regel: Schrittregel,
    pub merkmal: Option<String>,
    pub richtung: Option<Basisseite>,
    /// The step applies beyond this value.
    pub basis: Option<Zahl>,
    /// The difference counts from this value on; null: from the basis.
    pub zaehlt_ab: Option<Zahl>,
    /// Values beyond this one count as this one.
    pub grenzwert: Option<Zahl>,
    /// The difference is counted in steps of this size.
    pub schritt: Option<Zahl>,
    /// Whether a begun step counts as a whole one.
    pub angefangen: bool,
    /// Positive for deductions of quantity, negative for deductions of price and costs.
    pub satz: Option<Zahl>,
    pub einheit: SatzEinheit,
    /// Reference of the rate. Quantity: brutto, vorher; price: grundpreis, vorher; costs per t: brutto,
    /// netto, nach:CODE. null if the rate refers to nothing.
    pub bezug: Option<String>,
    pub zeilen: Vec<SchrittZeile>,
    /// For a staffel: each interval counts at its own rate, instead of the whole difference at the rate of
    /// the last one.
    pub gestaffelt: bool,
    pub fehlt: Fehlt,
}

/// A row of a table, both ends included, or an interval of a staffel, up to and including its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "AbrechnungsSchrittZeile")]
pub struct SchrittZeile {
    /// null in a staffel.
    pub von: Option<Zahl>,
    pub bis: Zahl,
    pub satz: Zahl,
}

/// Returns the code in `nach:CODE`: the step after which the weight for costs is taken.
pub(super) fn after(bezug: &str) -> Option<&str> {
    bezug.strip_prefix("nach:")
}
