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
use crate::rules::field::said;
use crate::rules::fixed::{Money, Percent, Price, Quantity};
use crate::rules::kasse::BonArt;
use crate::{auswahl, eingabe};

record! {
    /// A line of a receipt (specification, Barverkauf).
    #[derive(Debug, Serialize, JsonSchema)]
    pub struct Barverkauf from barverkauf as z {
        id: i64 => said("Zeile", "Kennung des Datensatzes."),
        bon_id: Uuid => said("Kennung des Bons", "id des Bons."),
        artikel_id: Option<Uuid>,
        bezeichnung: String
            => said("Bezeichnung", "Bezeichnung, wie sie auf dem Bon steht.")
            .aliases("artikelbezeichnung artikelname produktbezeichnung produktname produkt beschreibung bezeichnung1"),
        ean: Option<String> = "coalesce(z.ean, a.ean)"
            => said("EAN", "EAN der Zeile, sonst die des Artikels.")
            .aliases("gtin barcode eancode eannummer eannr"),
        menge: Quantity => said("Menge", "Menge; negativ auf Stornobons.").aliases("anzahl stueckzahl"),
        einheit: Option<String> => said("Einheit", "Einheit der Menge.").aliases("me mengeneinheit einh"),
        /// Gross.
        einzelpreis: Price
            => said("Einzelpreis brutto (EUR)", "Einzelpreis brutto.")
            .aliases("bruttopreis preisbrutto einzelpreisbrutto"),
        mwst_satz: Percent
            => said("Steuersatz (%)", "Steuersatz in Prozent.")
            .aliases("mwst mwstprozent ust ustsatz steuersatz umsatzsteuer umsatzsteuersatz"),
        /// Gross.
        gesamt: Money => said("Brutto (EUR)", "Zeilensumme brutto.").aliases("summe gesamtpreis gesamtbrutto"),
        /// The cash day: that of kassiert_at in Berlin.
        datum: Day = "b.datum" => said("Kassentag", "Kassentag: Kalendertag in Berlin."),
        kassiert_at: Instant = "b.kassiert_am"
            => said("Kassiert", "Zeitpunkt der Zahlung (UTC).")
            .aliases("datum datumuhrzeit datumzeit zeitpunkt verkaufsdatum"),
        bon_nr: String = "b.bon_nr"
            => said("Bon", "Nummer des Bons, fortlaufend in der Firma.").aliases("bonnummer bon"),
        art: BonArt = "b.art" => said("Art", "Art des Bons: verkauf oder storno (mit negativen Beträgen)."),
        storniert: bool = "b.storniert" => said("Storniert", "true, wenn der Bon ganz storniert ist."),
        storno_von_bon_id: Option<Uuid> = "b.storno_von_bon_id"
            => said("Storno von", "Nur auf Stornobons: id des ursprünglichen Bons."),
        zahlart: Option<String> = "b.zahlart"
            => said("Zahlart", "Zahlart, zum Beispiel bar, ec oder ls.").aliases("zahlungsart zahlweise"),
        kasse_id: Option<Uuid> = "b.kasse_id" => said("Kasse", "id der Kasse."),
        kunde_id: Option<Uuid> = "b.kunde_id",
        artikelnummer: Option<String> = "coalesce(a.artikelnummer, z.artikelnummer)"
            => said("Artikelnummer", "Artikelnummer.")
            .aliases("artikelnr artnr artikelno artikelcode materialnummer materialnr produktnummer produktnr sachnummer nr nummer"),
        artikelnr: Option<String> = "a.artikelnr" => said("Zweite Nummer", "Zweite, kurze Artikelnummer."),
        bezeichnung2: Option<String> = "a.bezeichnung2" => said("Zusatz", "Zweite Bezeichnung."),
        netto: Money = "z.gesamt - z.steuer" => said("Netto (EUR)", "gesamt ohne Steuer."),
        steuer: Money => said("Steuer (EUR)", "In gesamt enthaltene Steuer."),
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
