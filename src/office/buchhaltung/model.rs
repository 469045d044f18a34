//! Accounts and batches as they are sent.

use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::eingabe;
use crate::platform::db::record::record;
use crate::platform::http::wire::{Int, OneOf, Text};
use crate::rules::admin_event::AdminEvent;
use crate::rules::datev::{BuArt, Fall, Funktionsart, Rahmen};
use crate::rules::day::{Day, Instant};
use crate::rules::document::Seite;
use crate::rules::error::Hints;
use crate::rules::fixed::{Money, Percent};

eingabe! {
    /// A row of konten; its key is fall, satz and artikelgruppe (D31).
    pub struct KontoZeile {
        fall: OneOf<Fall>,
        satz: Percent,
        artikelgruppe: Text,
        konto: Int<1, 99_999_999>,
        bu: Text,
        automatik: bool,
    }
    nur_lesen: []
}

record! {
    /// An account of a company (D31).
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
    #[schemars(rename = "DatevKonto")]
    pub struct KontoAuskunft from konto as k {
        fall: Fall,
        satz: Option<Percent>,
        artikelgruppe: Option<String> = "g.name",
        konto: i64,
        bu: Option<String>,
        automatik: bool,
    }
}

eingabe! {
    /// A row of kontenfunktionen; its key is rahmen, von, bis and ab_jahr (D31).
    pub struct FunktionZeile {
        rahmen: OneOf<Rahmen>,
        von: Int<1, 9_999>,
        bis: Int<1, 9_999>,
        ab_jahr: Int<2_000, 9_999>,
        art: OneOf<Funktionsart>,
        satz: Percent,
        bezeichnung: Text,
    }
    nur_lesen: []
}

eingabe! {
    /// A row of bu_schluessel; its key is art, seite, satz and von (D31).
    pub struct SchluesselZeile {
        art: OneOf<BuArt>,
        seite: OneOf<Seite>,
        satz: Percent,
        von: Day,
        bis: Day,
        kurz: Text,
        lang: Text,
        bezeichnung: Text,
    }
    nur_lesen: []
}

eingabe! {
    /// Body of POST /datev/stapel (D32).
    pub struct NewStapel {
        bis: Day,
        von: Day,
        nur: bool,
        pruefen: bool,
        streng: bool,
        sperren: bool,
    }
    nur_lesen: []
}

eingabe! {
    pub struct Verwerfen { grund: Text }
    nur_lesen: []
}

record! {
    /// A batch of invoices that was handed over (D32).
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
    #[schemars(rename = "Buchungsstapel")]
    pub struct Stapel in datev_stapel as s {
        id: Uuid = fixed,
        nr: i64 = fixed,
        created_at: Instant = fixed as am,
        /// Null: from the beginning.
        von: Option<Day> = fixed,
        bis: Day = fixed,
        belege: i64 = fixed,
        zeilen: i64 = fixed,
        summe: Money = fixed,
        verworfen_am: Option<Instant> = fixed,
        verworfen_grund: Option<String> = fixed,
        /// The hints that were given when it was created, as JSON.
        #[serde(skip)]
        hinweise: String = fixed,
    }
}

record! {
    /// A file of a batch.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
    #[schemars(rename = "DatevDatei")]
    pub struct Datei from datev_datei as d {
        name: String,
        zeilen: i64,
        /// Of the file's content, in hexadecimal.
        sha256: String = "lower(hex(d.sha256))",
    }
}

/// A batch with its files.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "BuchungsstapelMitDateien")]
pub struct StapelMitDateien {
    #[serde(flatten)]
    pub stapel: Stapel,
    pub dateien: Vec<Datei>,
    #[schemars(with = "Hints")]
    pub hinweise: Box<serde_json::value::RawValue>,
}

/// Result of requesting a batch: a batch with a number; or none if nothing is new or nothing was to be
/// stored.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "BuchungsstapelAngelegt")]
pub struct StapelAngelegt {
    pub id: Option<Uuid>,
    pub nr: Option<i64>,
    pub belege: usize,
    pub zeilen: usize,
    /// Sum of the lines on partners' accounts, regardless of their side.
    pub summe: Money,
    pub dateien: Vec<Datei>,
    pub konten: Vec<KontoSumme>,
    pub hinweise: Hints,
    /// For the administration log; `None` if nothing was changed.
    #[serde(skip)]
    pub event: Option<AdminEvent>,
}

/// The RE and ER dated in one month.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Monat {
    /// The earliest date among them.
    pub first: Day,
    /// Number of final or open documents.
    pub belege: i64,
    /// Number of final documents in no live batch.
    pub neu: i64,
    pub offen: i64,
}

/// Totals of an account in a batch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "DatevKontoSumme")]
pub struct KontoSumme {
    pub konto: i64,
    pub zeilen: usize,
    /// Debit minus credit.
    pub saldo: Money,
}
