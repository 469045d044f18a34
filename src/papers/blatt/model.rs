//! What a sheet says.

use crate::rules::day::Day;
use crate::rules::document::Profil;
use crate::rules::fixed::{Money, Percent, Price, Quantity};

/// A sheet: one document as its recipient reads it. Texts may be of any length and hold any character.
pub struct Blatt {
    /// What it is, and its number: `Rechnung RE-2026-000123`.
    pub titel: String,
    /// What it refers to: `Storno zu Rechnung RE-2026-000120 vom 03.11.2026`.
    pub untertitel: Option<String>,
    /// The day of the document, which is that of the file, too.
    pub datum: Day,
    pub absender: Absender,
    pub anschrift: Anschrift,
    /// The block beside the address: date, customer number, contact, delivery date.
    pub angaben: Vec<Angabe>,
    pub abschnitte: Vec<Abschnitt>,
    pub aufdruck: Option<Aufdruck>,
    pub erechnung: Option<ERechnung>,
}

/// The lines of the address window.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Anschrift {
    /// Name, person, street.
    pub zeilen: Vec<String>,
    /// Postcode and town, country if abroad: never cut.
    pub ort: Vec<String>,
}

/// The company (D24). What is none is not printed.
#[derive(Debug, Clone, Default)]
pub struct Absender {
    pub firma: String,
    pub strasse: String,
    pub plz: String,
    pub ort: String,
    /// The country as the recipient reads it, where that is another one.
    pub staat: Option<String>,
    pub ust_id: Option<String>,
    pub steuernummer: Option<String>,
    pub registernummer: Option<String>,
    /// Register court, managing directors.
    pub rechnungstext: Option<String>,
    pub kontakt_name: Option<String>,
    pub telefon: Option<String>,
    pub email: Option<String>,
    pub konto: Option<Konto>,
    pub oeko_kontrollstelle: Option<String>,
    /// PNG or JPEG as [`super::check_logo`] accepts it.
    pub logo: Option<Vec<u8>>,
    /// The logo says it, so that its name does not stand beside it.
    pub name_im_logo: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Konto {
    pub inhaber: String,
    pub iban: String,
    pub bic: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Angabe {
    pub name: String,
    pub wert: String,
}

impl Angabe {
    pub fn new(name: &str, wert: impl Into<String>) -> Angabe {
        Angabe { name: name.to_owned(), wert: wert.into() }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aufdruck {
    /// ENTWURF: the document is open.
    Entwurf,
    /// TEST: the document is none.
    Test,
}

/// The e-invoice inside (D26): attached as `factur-x.xml`.
pub struct ERechnung {
    pub xml: Vec<u8>,
    pub profil: Profil,
}

pub enum Abschnitt {
    /// Paragraphs: introduction, notes, reasons of a tax exemption.
    Text {
        ueberschrift: Option<String>,
        /// Line breaks inside a paragraph are kept.
        absaetze: Vec<String>,
    },
    /// The positions. Columns of prices and of discounts are there if one position has such.
    Positionen(Vec<Position>),
    Summen(Summen),
    Tabelle(Tabelle),
    Zahlung(Zahlung),
    /// Lines to sign on, side by side, with what stands below each: at most three.
    Unterschriften(Vec<String>),
}

#[derive(Clone)]
pub struct Position {
    pub nummer: i64,
    pub artikelnummer: Option<String>,
    /// Name of the article, or the text of a position without one.
    pub bezeichnung: String,
    pub bezeichnung2: Option<String>,
    /// Up to 4,000 characters (D14).
    pub langtext: Option<String>,
    /// Batch, best-before date, origin, control body, weights: what is said of these goods.
    pub merkmale: Vec<Angabe>,
    pub menge: Quantity,
    /// `t`, `kg`, `Stk`.
    pub einheit: Option<String>,
    /// None on delivery notes and goods receipts.
    pub preis: Option<Preis>,
}

#[derive(Debug, Clone, Copy)]
pub struct Preis {
    pub einzelpreis: Price,
    /// Zero if there is none.
    pub rabatt: Percent,
    /// Shown where the positions differ in it.
    pub mwst_satz: Percent,
    pub betrag: Money,
}

/// Sums of a document (D7).
pub struct Summen {
    pub gruppen: Vec<Steuergruppe>,
    pub netto: Money,
    pub steuer: Money,
    pub brutto: Money,
    /// What it is called: `Rechnungsbetrag`, `Gutschriftsbetrag`.
    pub bezeichnung: String,
}

pub struct Steuergruppe {
    pub satz: Percent,
    pub netto: Money,
    pub steuer: Money,
    /// Why there is no tax, or this one: `Innergemeinschaftliche Lieferung`, `§ 24 UStG`.
    pub grund: Option<String>,
}

pub struct Tabelle {
    pub ueberschrift: Option<String>,
    /// Headings of its columns; the first column takes the width that the others leave.
    pub spalten: Vec<String>,
    /// Its rows; a cell that is missing at the end is empty.
    pub zeilen: Vec<Zeile>,
}

impl Tabelle {
    /// Whether a column, other than the first one, has numbers, which stand at its right.
    pub fn has_numbers(&self, at: usize) -> bool {
        let is_number = |wert: &Wert| !matches!(wert, Wert::Leer | Wert::Text(_));
        at > 0 && self.zeilen.iter().filter_map(|zeile| zeile.zellen.get(at)).any(is_number)
    }
}

pub struct Zeile {
    pub zellen: Vec<Wert>,
    /// It is a sum of those above: a line above it, and bold.
    pub summe: bool,
}

pub enum Wert {
    Leer,
    /// Words, from the left; a number or a date as words stands under numbers, from the right.
    Text(String),
    Menge(Quantity, String),
    Prozent(Percent),
    Zahl(Quantity),
    Betrag(Money),
    /// Euro for one of this unit.
    Preis(Price, String),
}

pub struct Zahlung {
    pub richtung: Zahlrichtung,
    pub betrag: Money,
    pub faellig: Option<Day>,
    pub skonto: Option<Skonto>,
    pub bedingung: Option<String>,
    /// Where to: the company's account, or that of the partner who is paid. With one of the company's and an amount above
    /// zero there is an EPC QR code.
    pub konto: Option<Konto>,
    pub verwendungszweck: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Zahlrichtung {
    Empfaenger,
    /// The company: a Gutschrift.
    Absender,
    /// The company has the recipient's mandate (SEPA direct debit).
    Lastschrift,
}

#[derive(Debug, Clone, Copy)]
pub struct Skonto {
    pub bis: Day,
    pub prozent: Percent,
    pub betrag: Money,
}
