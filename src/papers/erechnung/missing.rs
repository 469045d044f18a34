//! What an e-invoice needs but lacks, and where to enter it (D26, hint ERECHNUNG_UNVOLLSTAENDIG).
//!
//! A document that passes here is accepted by the validators of `tests/erechnung`: the schemas and rules of
//! Factur-X, EN 16931 and XRechnung. In addition, the law requires full addresses, not only the country (§ 14
//! Abs. 4 UStG).

use std::fmt;

use super::betraege::Betraege;
use super::laender;
use super::model::{Partei, Position, Rechnung, filled};
use super::xml::is_blank;
use crate::rules::document::{Profil, Rechnungsart};
use crate::rules::fixed::Percent;
use crate::rules::plausible::{is_email, is_iban};
use crate::rules::tax::Steuerkategorie::{
    self, Ausfuhr, IgLieferung, NichtSteuerbar, Steuerpflichtig, Steuerschuldumkehr,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wo {
    /// In the master data of the company (`partnerd tenant set`).
    Firma,
    Kunde,
    Beleg,
    Position(i64),
}

/// A field that is missing or has an unsuitable value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fehlt {
    pub wo: Wo,
    pub feld: &'static str,
    /// What belongs there, in German.
    pub was: &'static str,
}

impl Fehlt {
    /// An amount of 10^12 or more.
    pub(super) const fn zu_gross() -> Fehlt {
        Fehlt {
            wo: Wo::Beleg,
            feld: "items",
            was: "Beträge unter 1.000.000.000.000 EUR, auch vor Abzug der Rabatte",
        }
    }
}

impl fmt::Display for Wo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wo::Firma => f.write_str("Firma"),
            Wo::Kunde => f.write_str("Kunde"),
            Wo::Beleg => f.write_str("Beleg"),
            Wo::Position(position) => write!(f, "Position {position}"),
        }
    }
}

impl fmt::Display for Fehlt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({})", self.wo, self.feld, self.was)
    }
}

/// Returns what is missing; nothing if [`write`](super::write) gives a valid e-invoice.
pub fn missing(rechnung: &Rechnung) -> Vec<Fehlt> {
    let (verkaeufer, kaeufer) = match rechnung.art {
        Rechnungsart::Rechnung => (Wo::Firma, Wo::Kunde),
        Rechnungsart::Gutschrift => (Wo::Kunde, Wo::Firma),
    };
    let mut list = List(Vec::new());
    list.document(rechnung);
    list.party(verkaeufer, &rechnung.verkaeufer, rechnung.profil());
    list.seller(verkaeufer, rechnung);
    list.party(kaeufer, &rechnung.kaeufer, rechnung.profil());
    list.buyer(kaeufer, rechnung);
    if rechnung.profil() == Profil::XRechnung {
        list.xrechnung(verkaeufer, kaeufer, rechnung);
    }
    let outside = rechnung.has(&[NichtSteuerbar]);
    for position in &rechnung.positionen {
        list.position(position, outside);
    }
    if Betraege::of(rechnung).is_err() {
        list.0.push(Fehlt::zu_gross());
    }
    list.0
}

struct List(Vec<Fehlt>);

impl List {
    fn require(&mut self, is_there: bool, wo: Wo, feld: &'static str, was: &'static str) {
        if !is_there {
            self.0.push(Fehlt { wo, feld, was });
        }
    }

    fn document(&mut self, rechnung: &Rechnung) {
        let numbers = [Some(&rechnung.nummer), rechnung.storno_von.as_ref().map(|bezug| &bezug.nummer)];
        let numbered = numbers.into_iter().flatten().all(|number| !is_blank(number));
        self.require(numbered, Wo::Beleg, "beleg_nummer", "Belegnummer");
        self.require(!rechnung.positionen.is_empty(), Wo::Beleg, "items", "mindestens eine Position");
        // § 14 Abs. 4 Satz 1 Nr. 6 UStG, BR-IC-11.
        self.require(rechnung.delivered().is_some(), Wo::Beleg, "lieferdatum", "Tag der Lieferung");
        // BR-29.
        let in_order = rechnung.leistung_von.zip(rechnung.leistung_bis).is_none_or(|(von, bis)| von <= bis);
        self.require(in_order, Wo::Beleg, "leistung_bis", "nicht vor leistung_von");
    }

    /// Checks what both parties must have (§ 14 Abs. 4 Satz 1 Nr. 1 UStG). Not every place has streets, and
    /// not every country has postal codes.
    fn party(&mut self, wo: Wo, partei: &Partei, profil: Profil) {
        let name = if wo == Wo::Firma { "firma" } else { "nachname_firma" };
        self.require(!is_blank(&partei.name), wo, name, "Name");
        self.require(wo != Wo::Firma || filled(&partei.strasse).is_some(), wo, "strasse", "Straße");
        let coded = partei.staat == "DE" || wo == Wo::Firma || profil == Profil::XRechnung;
        self.require(!coded || filled(&partei.plz).is_some(), wo, "plz", "Postleitzahl");
        self.require(filled(&partei.ort).is_some(), wo, "ort", "Ort");
        let known = laender::is_known(&partei.staat);
        self.require(known, wo, "staat", "Land, das die Norm kennt (zwei Buchstaben)");
        let formed = partei.vat_id().is_none_or(|id| laender::is_vat_id(&id));
        self.require(formed, wo, "ust_id", "USt-IdNr. mit ihrem Land, z. B. DE123456789");
        let addressed = filled(&partei.e_adresse).is_none() || partei.electronic_address().is_some();
        let address = "E-Mail-Adresse, oder Schema und Kennung, z. B. 0204:991-01234-56";
        self.require(addressed, wo, Self::address(wo), address);
    }

    fn address(wo: Wo) -> &'static str {
        if wo == Wo::Firma { "email" } else { "e_adresse" }
    }

    /// Checks how the tax office (§ 14 Abs. 4 Satz 1 Nr. 2 UStG) and the buyer (BR-CO-26) identify the
    /// seller.
    fn seller(&mut self, wo: Wo, rechnung: &Rechnung) {
        let seller = &rechnung.verkaeufer;
        let (vat, tax) = (seller.vat_id().is_some(), filled(&seller.steuernummer).is_some());
        if rechnung.has(&[IgLieferung, Ausfuhr]) {
            self.require(vat, wo, "ust_id", "USt-IdNr.");
        } else {
            self.require(vat || tax, wo, "ust_id", "USt-IdNr. oder Steuernummer");
        }
        let shows_vat_ids = rechnung.shows_vat_ids();
        let known =
            shows_vat_ids || seller.seller_id(false).is_some() || filled(&seller.registernummer).is_some();
        let number = "Steuernummer: ein nicht steuerbarer Umsatz zeigt keine USt-IdNr.";
        self.require(known, wo, "steuernummer", number);
        let payable = seller.iban().is_none_or(|iban| is_iban(&iban));
        self.require(payable, wo, "iban", "IBAN mit richtiger Prüfziffer");
    }

    /// BR-IC-02, BR-AE-02: the buyer must be a business.
    fn buyer(&mut self, wo: Wo, rechnung: &Rechnung) {
        let buyer = &rechnung.kaeufer;
        let vat = buyer.vat_id().is_some();
        if rechnung.has(&[IgLieferung]) {
            self.require(vat, wo, "ust_id", "USt-IdNr.");
        } else if rechnung.has(&[Steuerschuldumkehr]) {
            self.require(vat || filled(&buyer.registernummer).is_some(), wo, "ust_id", "USt-IdNr.");
        }
    }

    fn xrechnung(&mut self, verkaeufer: Wo, kaeufer: Wo, rechnung: &Rechnung) {
        let reference = filled(&rechnung.kaeuferreferenz).is_some();
        self.require(reference, kaeufer, "kaeuferreferenz", "Leitweg-ID oder Bestellzeichen des Käufers");
        for (wo, partei) in [(verkaeufer, &rechnung.verkaeufer), (kaeufer, &rechnung.kaeufer)] {
            let there = filled(&partei.e_adresse).is_some();
            self.require(there, wo, Self::address(wo), "elektronische Adresse");
        }
        let seller = &rechnung.verkaeufer;
        self.require(seller.iban().is_some(), verkaeufer, "iban", "IBAN");
        let kontakt = &seller.kontakt;
        self.require(filled(&kontakt.name).is_some(), verkaeufer, "kontakt_name", "Ansprechpartner");
        // BR-DE-27.
        let digits =
            filled(&kontakt.telefon).unwrap_or_default().chars().filter(char::is_ascii_digit).count();
        self.require(digits >= 3, verkaeufer, "kontakt_telefon", "Telefonnummer des Ansprechpartners");
        // BR-DE-28.
        let mail = filled(&kontakt.email).is_some_and(|email| is_email(email.trim()));
        self.require(mail, verkaeufer, "kontakt_email", "E-Mail-Adresse des Ansprechpartners");
    }

    fn position(&mut self, position: &Position, outside: bool) {
        /// BR-CO-17 rounds the rate to whole per cent, and would refuse the tax at a lower rate.
        const LOWEST: Percent = Percent::from_units(Percent::UNIT / 2);
        let wo = Wo::Position(position.position);
        self.require(!is_blank(&position.bezeichnung), wo, "bezeichnung", "Bezeichnung");
        let (kategorie, satz) = (position.steuer_kategorie, position.mwst_satz);
        if kategorie == Steuerpflichtig {
            let reason = "Grund, warum keine Steuer anfällt: Z, E, AE, K, G oder O";
            self.require(!satz.is_zero(), wo, "steuer_kategorie", reason);
            let enough = satz.is_zero() || satz >= LOWEST;
            self.require(enough, wo, "mwst_satz", "Steuersatz von mindestens 0,5 %");
        } else {
            self.require(satz.is_zero(), wo, "mwst_satz", "0 %, oder steuer_kategorie S");
        }
        // BR-O-11 to BR-O-14.
        let alone = !outside || kategorie == Steuerkategorie::NichtSteuerbar;
        self.require(alone, wo, "steuer_kategorie", "O, oder eine Rechnung ohne nicht steuerbare Positionen");
    }
}
