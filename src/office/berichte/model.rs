//! Reports as they are sent.

use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::auswahl;
use crate::platform::http::query::Query;
use crate::rules::choice::Choice;
use crate::rules::datev::Fall;
use crate::rules::day::Day;
use crate::rules::error::Hints;
use crate::rules::fixed::Money;
use crate::rules::umsatzsteuer::{FallSumme, IntrastatJahr, Kennzahl, Quartal, ZmArt, ZmZeile};

auswahl! {
    /// Selects groups of documents: those that match every field.
    pub struct Auswahl of (query: &Query) {
        /// A figure of the VAT return.
        kennzahl: Option<i64> = query.int("kennzahl")?,
        fall: Option<Fall> = query.one_of("fall")?.and_then(Fall::parse),
        zm: Option<ZmArt> = query.one_of("zm")?.and_then(ZmArt::parse),
        /// The customer's VAT id, as the recapitulative statement writes it.
        ust_id: Option<String> = query.text("ust_id").map(str::to_owned),
    }
}

/// Figures of the VAT return (D35).
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "UmsatzsteuerBericht")]
pub struct Umsatzsteuer {
    pub von: Day,
    pub bis: Day,
    /// Year of the form to which the figures belong.
    pub formular: i64,
    /// Number of documents in the report.
    pub belege: usize,
    pub kennzahlen: Vec<Kennzahl>,
    pub faelle: Vec<FallSumme>,
    /// Those of them that were delivered in another month than that of their date, at most a hundred.
    pub anderer_monat: Vec<AndererMonat>,
    pub anderer_monat_anzahl: usize,
    pub hinweise: Hints,
}

/// A document whose goods were delivered in another month.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AndererMonat {
    pub beleg_id: Uuid,
    pub beleg_nummer: String,
    pub beleg_datum: Day,
    pub leistungsdatum: Day,
    pub summe_brutto: Money,
}

/// The contribution of a document to a sum of a report.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BerichtBeleg {
    pub beleg_id: Uuid,
    pub beleg_nummer: String,
    pub beleg_datum: Day,
    pub kunden_name: String,
    /// Net; also given if the figure has no base.
    pub basis: Money,
    /// Tax as the figure counts it, else as the document states it; 0 if there is none.
    pub steuer: Money,
}

/// The recapitulative statement (D35).
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ZmBericht")]
pub struct Zm {
    pub von: Day,
    pub bis: Day,
    pub zeilen: Vec<ZmZeile>,
    pub quartale: Vec<Quartal>,
    pub hinweise: Hints,
}

/// Goods from and to the EU against the thresholds of Intrastat (D35).
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "IntrastatBericht")]
pub struct Intrastat {
    pub von: Day,
    pub bis: Day,
    pub jahre: Vec<IntrastatJahr>,
    pub hinweise: Hints,
}
