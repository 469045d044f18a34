//! The content of an e-invoice, before it becomes XML.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::xml::is_blank;
use crate::choice;
use crate::rules::day::Day;
use crate::rules::document::{Profil, Rechnungsart};
use crate::rules::fixed::{Money, Percent, Price, Quantity};
use crate::rules::kennnummer::plain;
use crate::rules::tax::{Steuerart, Steuerkategorie};

impl Profil {
    /// The edition of the rules that the XML follows, stored with each e-invoice.
    pub const fn edition(self) -> &'static str {
        match self {
            Profil::Zugferd => "Factur-X 1.09 / ZUGFeRD 2.5, EN 16931-1:2017",
            Profil::XRechnung => "XRechnung 3.0.2",
        }
    }

    /// BT-24, the specification identifier.
    pub(super) const fn specification(self) -> &'static str {
        match self {
            Profil::Zugferd => "urn:cen.eu:en16931:2017",
            Profil::XRechnung => "urn:cen.eu:en16931:2017#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0",
        }
    }

    /// BT-23, the business process, which only XRechnung requires (PEPPOL-EN16931-R001).
    pub(super) const fn process(self) -> Option<&'static str> {
        match self {
            Profil::Zugferd => None,
            Profil::XRechnung => Some("urn:fdc:peppol.eu:2017:poacc:billing:01:1.0"),
        }
    }
}

choice! {
    /// BT-3, the type of the document: a number of UNTDID 1001.
    pub enum Typ {
        Rechnung = "380",
        /// An invoice with a negative sum; its signs are reversed (D26).
        Rechnungskorrektur = "381",
        Storno = "384",
        /// A self-billed invoice, or its reversal.
        Gutschrift = "389",
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rechnung {
    /// The profile that the customer wants; see [`Rechnung::profil`].
    pub gewuenscht: Profil,
    pub art: Rechnungsart,
    /// BT-1: beleg_nummer.
    pub nummer: String,
    /// BT-2: beleg_datum.
    pub datum: Day,
    /// BG-3: the document that this one reverses.
    pub storno_von: Option<Bezug>,
    /// BG-3: the invoices that a correction names.
    pub berichtigt: Vec<Bezug>,
    /// BG-3: the settlements that this one builds on; its items say how.
    pub vorausgegangen: Vec<Bezug>,
    /// BT-72: the day of the delivery; if there is only a period, its last day.
    pub lieferdatum: Option<Day>,
    /// BT-73: first day of a period of delivery.
    pub leistung_von: Option<Day>,
    /// BT-74: its last day.
    pub leistung_bis: Option<Day>,
    /// BT-9 and BT-20.
    pub zahlung: Zahlungsbedingungen,
    /// BT-10: Leitweg-ID, or another reference by which the buyer recognises the invoice.
    pub kaeuferreferenz: Option<String>,
    /// BT-12: kontrakt_nr.
    pub kontrakt: Option<String>,
    /// BT-13: the buyer's order number.
    pub bestellnummer: Option<String>,
    /// BT-16: number of the delivery note or the weighing slip.
    pub lieferschein: Option<String>,
    /// BT-22: further remarks.
    pub bemerkungen: Vec<String>,
    /// Whether a position has a rate of § 24 UStG.
    pub durchschnittssatz: bool,
    /// BG-4: the seller. This is the company, but in a Gutschrift the supplier.
    pub verkaeufer: Partei,
    /// BG-7: the buyer. This is the customer, but in a Gutschrift the company.
    pub kaeufer: Partei,
    /// BG-25.
    pub positionen: Vec<Position>,
}

/// A reference to another document: BT-25 and BT-26.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bezug {
    /// BT-25: its number.
    pub nummer: String,
    /// BT-26: its day.
    pub datum: Day,
}

impl fmt::Display for Bezug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} vom {}", self.nummer, self.datum.german())
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Zahlungsbedingungen {
    /// Days after `datum` until payment is due (BT-9).
    pub ziel_tage: Option<i64>,
    /// In words (BT-20).
    pub text: Option<String>,
    /// Discount for earlier payment (BT-20).
    pub skonto: Option<Skonto>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Skonto {
    /// Days after `datum`.
    pub tage: i64,
    pub prozent: Percent,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Partei {
    /// BT-29, BT-46: its number at the other party: kundennr.
    pub kennung: Option<String>,
    /// BT-27, BT-44: name.
    pub name: String,
    /// BT-30, BT-47: number in the register of companies.
    pub registernummer: Option<String>,
    /// BT-33: register court, managing directors; only for the seller.
    pub rechtliches: Option<String>,
    /// BT-35, BT-50.
    pub strasse: Option<String>,
    /// BT-38, BT-53.
    pub plz: Option<String>,
    /// BT-37, BT-52.
    pub ort: Option<String>,
    /// BT-40, BT-55: ISO 3166-1 alpha-2.
    pub staat: String,
    /// BT-31, BT-48: VAT id with its country.
    pub ust_id: Option<String>,
    /// BT-32: tax number; only for the seller.
    pub steuernummer: Option<String>,
    /// BT-34, BT-49: an e-mail address, or scheme and identifier as Peppol writes them: `0204:991-01234-56`.
    pub e_adresse: Option<String>,
    /// BG-6, BG-9.
    pub kontakt: Kontakt,
    /// BT-84: the account to pay to; only for the seller.
    pub iban: Option<String>,
    /// BT-86.
    pub bic: Option<String>,
    /// BT-85: the account holder.
    pub kontoinhaber: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kontakt {
    /// BT-41, BT-56: a person or a department.
    pub name: Option<String>,
    /// BT-42, BT-57.
    pub telefon: Option<String>,
    /// BT-43, BT-58.
    pub email: Option<String>,
}

/// A line: BG-25.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Position {
    /// BT-126: its number, from 1.
    pub position: i64,
    /// BT-127: a remark on this line.
    pub bemerkung: Option<String>,
    /// BT-129: quantity.
    pub menge: Quantity,
    /// BT-130: unit, as in the interface.
    pub einheit: Option<String>,
    /// BT-146: net price of a unit, before the discount.
    pub ep_netto: Price,
    /// BT-138: discount.
    pub rabatt_prozent: Percent,
    /// BT-131: net total.
    pub gesamtpreis: Money,
    /// BT-151: why it is taxed or not.
    pub steuer_kategorie: Steuerkategorie,
    /// BT-152: rate of the tax.
    pub mwst_satz: Percent,
    /// How the seller was taxed on the day of the goods: decides which exemption `E` means.
    pub steuerart: Option<Steuerart>,
    /// BT-153: name.
    pub bezeichnung: String,
    /// BT-154: description, with `langtext`.
    pub bezeichnung2: Option<String>,
    /// BT-154: description, with `bezeichnung2`.
    pub langtext: Option<String>,
    /// BT-155, in a Gutschrift BT-156: the company's article number.
    pub artikelnummer: Option<String>,
    /// BT-157: GTIN; anything else is omitted.
    pub ean: Option<String>,
    /// BT-159: ISO 3166-1 alpha-2; any other text becomes an attribute.
    pub herkunftsland: Option<String>,
    /// BT-133: the buyer's cost centre; the company's own kostenstelle is therefore written only in a
    /// Gutschrift.
    pub kostenstelle: Option<String>,
    /// BG-32: batch, best-before date, control body and other details.
    pub merkmale: Vec<Merkmal>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merkmal {
    /// BT-160: its name, such as "Charge".
    pub name: Cow<'static, str>,
    /// BT-161: its value.
    pub wert: String,
}

impl Rechnung {
    /// The profile in which the invoice is written. A Gutschrift is ZUGFeRD, because XRechnung requires a
    /// contact of the seller (BR-DE-2), and the seller is the farmer.
    pub fn profil(&self) -> Profil {
        match self.art {
            Rechnungsart::Rechnung => self.gewuenscht,
            Rechnungsart::Gutschrift => Profil::Zugferd,
        }
    }

    /// BT-72: when the delivery was made or completed.
    pub(super) fn delivered(&self) -> Option<Day> {
        self.lieferdatum.or(self.leistung_bis).or(self.leistung_von)
    }

    /// Whether VAT ids are shown: an invoice outside the scope of the tax must not have one (BR-O-02).
    pub(super) fn shows_vat_ids(&self) -> bool {
        self.positionen.iter().any(|position| position.steuer_kategorie != Steuerkategorie::NichtSteuerbar)
    }

    /// BG-3: the invoices that this one reverses or corrects. Receivers of XRechnung use a schema with room
    /// for only one (UN/CEFACT D16B); the notes of the invoice name all.
    pub(super) fn preceding(&self) -> impl Iterator<Item = &Bezug> {
        let most = if self.profil() == Profil::XRechnung { 1 } else { usize::MAX };
        self.storno_von.iter().chain(&self.berichtigt).chain(&self.vorausgegangen).take(most)
    }

    pub(super) fn has(&self, kategorien: &[Steuerkategorie]) -> bool {
        self.positionen.iter().any(|position| kategorien.contains(&position.steuer_kategorie))
    }
}

impl Partei {
    /// The VAT id in capitals without blanks.
    pub(super) fn vat_id(&self) -> Option<String> {
        self.ust_id.as_deref().map(plain).filter(|id| !id.is_empty())
    }

    pub(super) fn iban(&self) -> Option<String> {
        self.iban.as_deref().map(plain).filter(|iban| !iban.is_empty())
    }

    /// BT-29 of a seller. The standard identifies the seller by a number (BR-CO-26), and a tax number alone
    /// does not count; so the tax number is repeated here if there is neither a VAT id nor a register number.
    pub(super) fn seller_id(&self, shows_vat_ids: bool) -> Option<&str> {
        let own = filled(&self.kennung);
        let other = filled(&self.registernummer).is_some() || shows_vat_ids && self.vat_id().is_some();
        if own.is_some() || other { own } else { filled(&self.steuernummer) }
    }

    /// Scheme (list EAS) and value of the electronic address.
    pub(super) fn electronic_address(&self) -> Option<(&str, &str)> {
        /// Number of a place of business (GLN), Leitweg-ID, German VAT id.
        const SCHEMES: [&str; 3] = ["0088", "0204", "9930"];
        let address = filled(&self.e_adresse)?.trim();
        match address.split_once(':') {
            _ if address.contains('@') => Some(("EM", address)),
            Some((scheme, value)) if SCHEMES.contains(&scheme) && !is_blank(value) => Some((scheme, value)),
            _ => None,
        }
    }
}

pub(super) fn filled(text: &Option<String>) -> Option<&str> {
    text.as_deref().filter(|text| !is_blank(text))
}
