//! A received e-invoice as plain values.

use crate::choice;
use crate::papers::erechnung::model::Partei;
use crate::rules::day::Day;
use crate::rules::fixed::{Money, Percent, Price, Quantity};
use crate::rules::tax::Steuerkategorie;

choice! {
    pub enum Format {
        /// ZUGFeRD 1.0, before EN 16931.
        Zugferd1 = "zugferd1",
        /// Cross Industry Invoice of the United Nations: ZUGFeRD 2, Factur-X, XRechnung.
        Cii = "cii",
        /// Universal Business Language 2.1: XRechnung, Peppol.
        Ubl = "ubl",
    }
}

/// Why nothing could be read: a German sentence that says what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unlesbar {
    /// The file is broken, protected, too large when unpacked, or of another kind.
    Datei(String),
    /// The file is readable but holds no invoice.
    KeineRechnung(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gelesen {
    pub format: Format,
    /// BT-3: a number of UNTDID 1001.
    pub typ: Option<String>,
    /// Whether it is a credit note, by its type or as UBL CreditNote: positive quantities are credited.
    pub ist_gutschrift: bool,
    /// Whether it is marked as a test, or as a copy.
    pub ist_test: bool,
    pub ist_kopie: bool,
    /// BT-1.
    pub nummer: Option<String>,
    /// BT-2.
    pub datum: Option<Day>,
    /// BT-5.
    pub waehrung: Option<String>,
    /// BT-9: of several the latest.
    pub faellig: Option<Day>,
    /// Whether it names several due dates.
    pub hat_raten: bool,
    /// Cash discounts, the first agreed one first.
    pub skonti: Vec<Skonto>,
    /// BT-72.
    pub lieferdatum: Option<Day>,
    /// BT-73.
    pub leistung_von: Option<Day>,
    /// BT-74.
    pub leistung_bis: Option<Day>,
    /// BT-20, in words.
    pub zahlungsbedingung: Option<String>,
    /// BG-4.
    pub verkaeufer: Partei,
    /// BG-7.
    pub kaeufer: Partei,
    /// BT-84: accounts to pay to, without blanks.
    pub ibans: Vec<String>,
    /// BG-25.
    pub zeilen: Vec<Zeile>,
    /// BG-20 and BG-21, of the document as a whole.
    pub zuschlaege: Vec<Zuschlag>,
    /// BG-23.
    pub gruppen: Vec<Steuergruppe>,
    /// BG-22.
    pub summen: Summen,
    /// Values in the file that cannot be used as they are, as sentences.
    pub zweifel: Vec<String>,
}

/// A discount for payment within some days.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Skonto {
    pub tage: i64,
    pub prozent: Percent,
}

impl Gelesen {
    /// Whether it is a credit note below zero: by the standard a debt, which hardly any sender means.
    pub fn has_doubtful_signs(&self) -> bool {
        let total = self.summen.brutto.or(self.summen.netto);
        self.ist_gutschrift && total.is_some_and(|total| total.is_negative())
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Zeile {
    /// BT-126.
    pub nummer: Option<String>,
    /// BT-129.
    pub menge: Option<Quantity>,
    /// BT-130: UN/ECE code.
    pub einheit: Option<String>,
    /// BT-146: net price of `basis` units.
    pub preis: Option<Price>,
    /// BT-149: number of units that the price is for; `None` means one.
    pub basis: Option<Quantity>,
    /// BT-150: UN/ECE code of that unit; `None` means that of the quantity.
    pub basis_einheit: Option<String>,
    /// The charges of the line (BT-141) less its allowances (BT-136).
    pub zuschlag: Money,
    /// BT-131.
    pub netto: Option<Money>,
    /// BT-151.
    pub steuer_kategorie: Option<Steuerkategorie>,
    /// BT-152; `None` if the line does not state it and the document has several rates.
    pub mwst_satz: Option<Percent>,
    /// BT-153.
    pub bezeichnung: Option<String>,
    /// BT-154.
    pub beschreibung: Option<String>,
    /// BT-155: the seller's article number.
    pub verkaeufer_nr: Option<String>,
    /// BT-156: the buyer's article number.
    pub kaeufer_nr: Option<String>,
    /// BT-157: GTIN.
    pub gtin: Option<String>,
    /// BT-159: country of origin.
    pub herkunftsland: Option<String>,
    /// Batch, from the field that the syntax has for it or from an attribute of that name (BG-32).
    pub charge: Option<String>,
    /// Best-before date, likewise.
    pub mhd: Option<Day>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Zuschlag {
    /// BT-92 with the opposite sign, or BT-99: the amount added to the net total.
    pub betrag: Money,
    /// BT-97, BT-104.
    pub grund: Option<String>,
    /// BT-95, BT-102.
    pub steuer_kategorie: Option<Steuerkategorie>,
    /// BT-96, BT-103.
    pub mwst_satz: Option<Percent>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Steuergruppe {
    /// BT-118.
    pub steuer_kategorie: Option<Steuerkategorie>,
    /// BT-119.
    pub mwst_satz: Option<Percent>,
    /// BT-116.
    pub netto: Option<Money>,
    /// BT-117.
    pub steuer: Option<Money>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summen {
    /// BT-106.
    pub positionen: Option<Money>,
    /// BT-109.
    pub netto: Option<Money>,
    /// BT-110.
    pub mwst: Option<Money>,
    /// BT-112.
    pub brutto: Option<Money>,
    /// BT-113.
    pub bezahlt: Option<Money>,
    /// BT-114: the amount by which the amount to pay was rounded.
    pub rundung: Option<Money>,
    /// BT-115.
    pub zahlbetrag: Option<Money>,
}
