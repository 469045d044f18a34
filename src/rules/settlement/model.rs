//! A scheme: what is deducted, added and charged, and what locks a delivery (D29b to D29d).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::choice;
use crate::rules::fixed::Zahl;

choice! {
    /// What a settlement pays (D29i).
    pub enum Abrechnungsart {
        /// What is owed, less the advances.
        End = "end",
        /// A part, before the end.
        Abschlag = "abschlag",
        /// More, or less, for what was settled.
        Nachverguetung = "nachverguetung",
    }
}

choice! {
    /// What a step changes.
    pub enum Wirkung {
        /// The quantity that is paid.
        Menge = "menge",
        /// The price per t.
        Preis = "preis",
        /// What is taken off the value of the goods, or added to it.
        Kosten = "kosten",
    }
}

choice! {
    /// How a step finds its rate (D29c).
    pub enum Schrittregel {
        /// Difference to the basis times the rate, or begun or whole steps of it.
        Faktor = "faktor",
        /// `(wert − basis) / (100 − basis)`, plus the rate for handling.
        Standardgewicht = "standardgewicht",
        /// The rate of the row that the value is in.
        Tabelle = "tabelle",
        /// The rate of the interval that the difference is in, or of each interval that it goes through.
        Staffel = "staffel",
        /// The same for each note.
        Fest = "fest",
    }
}

choice! {
    /// On which side of a value something begins.
    pub enum Basisseite {
        Ueber = "ueber",
        Unter = "unter",
    }
}

choice! {
    /// Of what the rate of a step is.
    pub enum SatzEinheit {
        Prozent = "%",
        EuroJeTonne = "EUR/t",
        /// For each note.
        Euro = "EUR",
    }
}

choice! {
    /// What a step does with a note of which its Merkmal was not measured.
    pub enum Fehlt {
        Sperren = "sperren",
        /// It does not apply.
        Keine = "keine",
    }
}

choice! {
    /// What a limit does that is passed.
    pub enum Grenzfolge {
        Hinweis = "hinweis",
        Sperren = "sperren",
        Abweisen = "abweisen",
    }
}

choice! {
    /// Over which quantity goods come into the stock (D29b).
    pub enum Bestand {
        Netto = "netto",
        Brutto = "brutto",
    }
}

choice! {
    /// Whether each note is settled by its own values or by the mean of all that are settled together (D29e).
    pub enum Mittelung {
        JeAnlieferung = "je_anlieferung",
        Partie = "partie",
    }
}

/// What a version of a scheme says. Stored as JSON: a field that is added later needs a default.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "AbrechnungsschemaInhalt")]
pub struct Schema {
    pub bestand: Bestand,
    /// Decimals of the settled price: 2 to 4.
    pub preis_stellen: i64,
    pub mittelung: Mittelung,
    /// Whether the goods need a certificate that holds on the day of delivery.
    pub bio: bool,
    pub grenzen: Vec<Grenze>,
    pub schritte: Vec<Schritt>,
}

impl Schema {
    /// Whether notes that are settled together have one mean (D29e).
    pub fn is_partie(&self) -> bool {
        self.mittelung == Mittelung::Partie
    }

    /// What its steps and limits ask for, each once.
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

    /// Whether goods come into the stock as they were weighed (D29h).
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
    /// What a person is told.
    pub text: String,
}

/// A step (D29c). Which fields it has follows from its rule; [`check`](super::check()) refuses others.
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
    /// Beyond it the step applies.
    pub basis: Option<Zahl>,
    /// From here the difference counts; null: from the basis.
    pub zaehlt_ab: Option<Zahl>,
    /// Values beyond it count as this one.
    pub grenzwert: Option<Zahl>,
    /// The difference is counted in steps of so much.
    pub schritt: Option<Zahl>,
    /// A step that is begun counts as a whole one.
    pub angefangen: bool,
    /// Deductions of quantity are positive; of price and costs negative.
    pub satz: Option<Zahl>,
    pub einheit: SatzEinheit,
    /// Quantity: brutto, vorher; price: grundpreis, vorher; costs per t: brutto, netto, nach:CODE. null where the rate is
    /// of nothing.
    pub bezug: Option<String>,
    pub zeilen: Vec<SchrittZeile>,
    /// Of a staffel: each interval at its own rate, instead of the whole difference at that of the last one.
    pub gestaffelt: bool,
    pub fehlt: Fehlt,
}

/// A row of a table, both ends included, or an interval of a staffel, up to and with its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "AbrechnungsSchrittZeile")]
pub struct SchrittZeile {
    /// null in a staffel.
    pub von: Option<Zahl>,
    pub bis: Zahl,
    pub satz: Zahl,
}

/// The code of a step after which costs are asked, in `nach:CODE`.
pub(super) fn after(bezug: &str) -> Option<&str> {
    bezug.strip_prefix("nach:")
}
