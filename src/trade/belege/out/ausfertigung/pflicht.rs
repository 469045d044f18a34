//! Which documents need an e-invoice, and what happens if one cannot be written (D26).

use super::rechnung;
use super::vorlage::Vorlage;
use crate::master::kunden::Kunde;
use crate::master::tenants::{ERechnungspflicht, Einstellungen};
use crate::papers::blatt::ERechnung;
use crate::papers::erechnung;
use crate::platform::failure::Result;
use crate::rules::error::{Code, HintCode, Hints, Refusal};
use crate::rules::fixed::Money;
use crate::rules::stammdaten::{self, Anrede};
use crate::rules::tax::Steuerkategorie;
use crate::trade::belege::model::{Beleg, BelegPosition};

pub const KEINE_RECHNUNG: &str =
    "E-Rechnungen gibt es nur zu Rechnungen (RE) und Gutschriften (ER mit gutschrift).";
pub const FREMD: &str = "Zu einer Eingangsrechnung schreibt der Lieferant die E-Rechnung.";
pub const OFFEN: &str = "Der Beleg ist noch offen. Beim Abschließen entsteht seine E-Rechnung.";
pub const NIE_FERTIG: &str = "Der Beleg wurde storniert, bevor er abgeschlossen war.";
pub const OHNE_FIRMA: &str =
    "Als der Beleg abgeschlossen wurde, fehlten Stammdaten der Firma; er hat keine E-Rechnung.";
const FIRMA_AUS: &str = "Die Firma schreibt keine E-Rechnungen (Einstellung e_rechnung ist aus).";
const KUNDE_AUS: &str = "Dieser Kunde bekommt keine E-Rechnungen (e_rechnung ist aus).";

/// Categories whose tax treatment depends on data of both parties in the document.
const UNTAXED: [Steuerkategorie; 4] = [
    Steuerkategorie::Steuerschuldumkehr,
    Steuerkategorie::IgLieferung,
    Steuerkategorie::Ausfuhr,
    Steuerkategorie::NichtSteuerbar,
];

/// Maximum amount, in cents, that needs no e-invoice (UStDV § 33).
const KLEINBETRAG: Money = Money::whole(250);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anlass {
    /// None is written, for this reason.
    Keine(&'static str),
    /// One is written if nothing is missing.
    Versuch,
    /// Missing data gives a hint.
    Hinweis,
    /// Missing data gives a refusal.
    Pflicht,
}

/// Why a document has no e-invoice, and the missing data if it should have one.
pub struct Ohne {
    pub grund: String,
    pub fehlt: Option<Vec<String>>,
}

impl Ohne {
    fn because(grund: &str) -> Ohne {
        Ohne { grund: grund.to_owned(), fehlt: None }
    }
}

impl Anlass {
    /// Determines the need from the settings of the company and its partner.
    pub fn of(
        beleg: &Beleg,
        positionen: &[BelegPosition],
        kunde: &Kunde,
        einstellungen: &Einstellungen,
    ) -> Anlass {
        let gutschrift = beleg.is_written_for_supplier();
        if !beleg.beleg_typ.ist_rechnung() {
            return Anlass::Keine(KEINE_RECHNUNG);
        }
        if einstellungen.e_rechnung == ERechnungspflicht::Aus {
            return Anlass::Keine(FIRMA_AUS);
        }
        if kunde.e_rechnung == stammdaten::ERechnung::Aus && !gutschrift {
            return Anlass::Keine(KUNDE_AUS);
        }
        let of_small = |position: &BelegPosition| einstellungen.is_kleinunternehmer(position.satz_datum);
        let is_untaxed = positionen.iter().all(of_small);
        if !is_needed(beleg, kunde, is_untaxed, gutschrift) {
            // Data missing for these is missing on the sheet as well (UStG § 14a).
            let says_why = positionen.iter().any(|position| UNTAXED.contains(&position.steuer_kategorie));
            return if says_why { Anlass::Hinweis } else { Anlass::Versuch };
        }
        // An issued document must be cancellable, whatever data is missing.
        let is_storno = beleg.storno_von_beleg_id.is_some();
        match einstellungen.e_rechnung {
            ERechnungspflicht::Pflicht if !is_storno => Anlass::Pflicht,
            _ => Anlass::Hinweis,
        }
    }

    /// Returns the e-invoice, or the reason why there is none.
    pub fn write(
        self,
        vorlage: &Vorlage<'_>,
        hints: &mut Hints,
    ) -> Result<std::result::Result<ERechnung, Ohne>> {
        if let Anlass::Keine(grund) = self {
            return Ok(Err(Ohne::because(grund)));
        }
        let rechnung = rechnung::rechnung(vorlage, hints);
        match erechnung::erechnung(&rechnung) {
            Ok(xml) => Ok(Ok(ERechnung { profil: rechnung.profil(), xml: xml.into_bytes() })),
            Err(missing) => {
                self.incomplete(missing.iter().map(ToString::to_string).collect(), hints).map(Err)
            }
        }
    }

    /// Handles missing data: returns what to store, or refuses.
    pub fn incomplete(self, missing: Vec<String>, hints: &mut Hints) -> Result<Ohne> {
        let message = format!("Für die E-Rechnung fehlt: {}.", missing.join("; "));
        let grund = format!("{message} Der Beleg wurde ohne E-Rechnung abgeschlossen.");
        match self {
            Anlass::Keine(grund) => Ok(Ohne::because(grund)),
            Anlass::Versuch => Ok(Ohne { grund, fehlt: None }),
            Anlass::Hinweis => {
                hints.add(HintCode::ErechnungUnvollstaendig, message);
                Ok(Ohne { grund, fehlt: Some(missing) })
            }
            Anlass::Pflicht => {
                let message = format!("{message} Bitte ergänzen und dann abschließen.");
                Err(Refusal::new(Code::ErechnungUnvollstaendig, message).into())
            }
        }
    }
}

/// Whether an e-invoice is needed: not for consumers, partners abroad, small amounts and sales of a
/// Kleinunternehmer; always for a Gutschrift to a supplier in Germany (UStG § 14 Abs. 2, UStDV §§ 33 and
/// 34a).
fn is_needed(beleg: &Beleg, kunde: &Kunde, of_kleinunternehmer: bool, gutschrift: bool) -> bool {
    let is_consumer = matches!(kunde.anrede, Some(Anrede::Herr | Anrede::Frau))
        && kunde.ust_id.is_none()
        && kunde.steuernummer.is_none()
        && kunde.betriebsnummer.is_none()
        && !kunde.partner_typen.lieferant;
    let is_abroad = kunde.staat != "DE";
    let is_small = beleg.summe_brutto.abs() <= KLEINBETRAG;
    !is_abroad && (gutschrift || !is_consumer && !is_small && !of_kleinunternehmer)
}
