//! Response models of till receipt lines, and the export from which they came.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::platform::db::record::record;
use crate::platform::http::query::Query;
use crate::platform::http::wire::{Int, OneOf, Text};
use crate::rules::day::{Day, Instant};
use crate::rules::fixed::{Money, Percent, Price, Quantity};
use crate::rules::kasse::BonArt;
use crate::{auswahl, eingabe};

record! {
    /// A line of a receipt (specification, Barverkauf).
    #[derive(Debug, Serialize, JsonSchema)]
    pub struct Barverkauf from barverkauf as z {
        id: i64,
        bon_id: Uuid,
        artikel_id: Option<Uuid>,
        bezeichnung: String,
        ean: Option<String> = "coalesce(z.ean, a.ean)",
        menge: Quantity,
        einheit: Option<String>,
        /// Gross.
        einzelpreis: Price,
        mwst_satz: Percent,
        /// Gross.
        gesamt: Money,
        /// The cash day: that of kassiert_at in Berlin.
        datum: Day = "b.datum",
        kassiert_at: Instant = "b.kassiert_am",
        bon_nr: String = "b.bon_nr",
        art: BonArt = "b.art",
        storniert: bool = "b.storniert",
        storno_von_bon_id: Option<Uuid> = "b.storno_von_bon_id",
        zahlart: Option<String> = "b.zahlart",
        kasse_id: Option<Uuid> = "b.kasse_id",
        kunde_id: Option<Uuid> = "b.kunde_id",
        artikelnummer: Option<String> = "coalesce(a.artikelnummer, z.artikelnummer)",
        artikelnr: Option<String> = "a.artikelnr",
        bezeichnung2: Option<String> = "a.bezeichnung2",
        netto: Money = "z.gesamt - z.steuer",
        steuer: Money,
    }
}

/// A line id: int32 (specification).
pub type ZeilenId = Int<1, { i32::MAX as i64 }>;

auswahl! {
    /// Filters of a list of receipt lines (specification, Kasse).
    pub struct Auswahl<'a> of (query: &'a Query) {
        von: Option<Day> = query.day("von")?,
        bis: Option<Day> = query.day("bis")?,
        zahlart: Option<&'a str> = query.text("zahlart"),
        kasse: Option<Uuid> = query.uuid("kasse_id")?,
        bon_nr: Option<&'a str> = query.text("bon_nr"),
        nur_verkaeufe: bool = query.flag("nur_verkaeufe")?,
    }
}

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

/// The original export of a register.
pub struct Kassendatei {
    pub dateiname: String,
    /// The first and the last cash day.
    pub days: (Day, Day),
    pub sha256: [u8; 32],
    /// As a zip.
    pub inhalt: Vec<u8>,
}

impl Kassendatei {
    pub fn of(path: &Path, days: (Day, Day), inhalt: Vec<u8>) -> Kassendatei {
        let name = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let name = name.file_stem().unwrap_or_default().to_string_lossy();
        let sha256 = Sha256::digest(&inhalt).into();
        Kassendatei { dateiname: format!("{name}.zip"), days, sha256, inhalt }
    }
}
