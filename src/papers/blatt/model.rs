//! The content of a sheet, before it is laid out.

use crate::rules::day::Day;
use crate::rules::document::Profil;
use crate::rules::fixed::{Money, Percent, Price, Quantity};

/// A sheet: one document as its recipient reads it. Texts may have any length and contain any character.
pub struct Blatt {
    /// Kind and number of the document: `Rechnung RE-2026-000123`.
    pub titel: String,
    /// The document it refers to: `Storno zu Rechnung RE-2026-000120 vom 03.11.2026`.
    pub untertitel: Option<String>,
    /// Date of the document, which is also the date of the file.
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
    /// Postcode and town, and the country if abroad; never cut.
    pub ort: Vec<String>,
}

/// The company (D24). Fields that are `None` are not printed.
#[derive(Debug, Clone, Default)]
pub struct Absender {
    pub firma: String,
    pub strasse: String,
    pub plz: String,
    pub ort: String,
    /// Name of the company's country, if the recipient is in another one.
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
    /// Whether the logo contains the company's name, so that it is not printed beside it.
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
    /// ENTWURF: the document is still open.
    Entwurf,
    /// TEST: not a real document.
    Test,
}

/// The embedded e-invoice (D26), attached as `factur-x.xml`.
pub struct ERechnung {
    pub xml: Vec<u8>,
    pub profil: Profil,
}

pub enum Abschnitt {
    /// Paragraphs: introduction, remarks, reasons for a tax exemption.
    Text {
        ueberschrift: Option<String>,
        /// Line breaks inside a paragraph are kept.
        absaetze: Vec<String>,
    },
    /// The positions. Columns for prices and for discounts appear if a position has some.
    Positionen(Vec<Position>),
    Summen(Summen),
    Tabelle(Tabelle),
    Zahlung(Zahlung),
    /// Lines to sign on, side by side, with the text below each; at most three.
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
    /// Details of these goods: batch, best-before date, origin, control body, weights.
    pub merkmale: Vec<Angabe>,
    pub menge: Quantity,
    /// Unit: `t`, `kg`, `Stk`.
    pub einheit: Option<String>,
    /// `None` on delivery notes and goods receipts.
    pub preis: Option<Preis>,
}

#[derive(Debug, Clone, Copy)]
pub struct Preis {
    pub einzelpreis: Price,
    /// Zero if there is no discount.
    pub rabatt: Percent,
    /// Shown if the positions have different rates.
    pub mwst_satz: Percent,
    pub betrag: Money,
}

/// Sums of a document (D7).
pub struct Summen {
    pub gruppen: Vec<Steuergruppe>,
    pub netto: Money,
    pub steuer: Money,
    pub brutto: Money,
    /// Label of the total: `Rechnungsbetrag`, `Gutschriftsbetrag`.
    pub bezeichnung: String,
}

pub struct Steuergruppe {
    pub satz: Percent,
    pub netto: Money,
    pub steuer: Money,
    /// The reason for no tax, or for this rate: `Innergemeinschaftliche Lieferung`, `§ 24 UStG`.
    pub grund: Option<String>,
}

pub struct Tabelle {
    pub ueberschrift: Option<String>,
    /// Column headings; the first column takes the width that the others leave.
    pub spalten: Vec<String>,
    /// Rows; cells missing at the end are empty.
    pub zeilen: Vec<Zeile>,
}

impl Tabelle {
    /// Whether a column, other than the first one, holds numbers, which are right-aligned.
    pub fn has_numbers(&self, at: usize) -> bool {
        let is_number = |wert: &Wert| !matches!(wert, Wert::Leer | Wert::Text(_));
        at > 0 && self.zeilen.iter().filter_map(|zeile| zeile.zellen.get(at)).any(is_number)
    }
}

pub struct Zeile {
    pub zellen: Vec<Wert>,
    /// Whether it is a sum of the rows above: bold, below a line.
    pub summe: bool,
}

pub enum Wert {
    Leer,
    /// A left-aligned text; right-aligned in a column of numbers, where it is a formatted number or date.
    Text(String),
    Menge(Quantity, String),
    Prozent(Percent),
    Zahl(Quantity),
    Betrag(Money),
    /// Euro per this unit.
    Preis(Price, String),
}

pub struct Zahlung {
    pub richtung: Zahlrichtung,
    pub betrag: Money,
    pub faellig: Option<Day>,
    pub skonto: Option<Skonto>,
    pub bedingung: Option<String>,
    /// The account to pay to: the company's, or that of the partner who is paid. If it is the company's and
    /// the amount is above zero, an EPC QR code is drawn.
    pub konto: Option<Konto>,
    pub verwendungszweck: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Zahlrichtung {
    Empfaenger,
    /// The company pays: a Gutschrift.
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
