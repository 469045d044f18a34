//! The cases that decide which account a position is booked on (D31).

use crate::choice;
use crate::rules::document::Seite;
use crate::rules::fixed::Percent;
use crate::rules::tax::Steuerkategorie;

choice! {
    /// The case that decides which account a position is booked on (D31).
    pub enum Fall {
        Erloes = "erloes",
        ErloesIg = "erloes_ig",
        ErloesAusfuhr = "erloes_ausfuhr",
        Erloes13b = "erloes_13b",
        ErloesFrei = "erloes_frei",
        ErloesNichtSteuerbar = "erloes_nicht_steuerbar",
        Aufwand = "aufwand",
        AufwandOhne = "aufwand_ohne",
        AufwandIg = "aufwand_ig",
        Aufwand13b = "aufwand_13b",
        AufwandEinfuhr = "aufwand_einfuhr",
    }
}

impl Fall {
    /// Returns the case of a position (D31). A Kleinunternehmer deducts no input tax (§ 19 UStG).
    pub fn of(seite: Seite, kategorie: Steuerkategorie, is_kleinunternehmer: bool) -> Fall {
        use Steuerkategorie::*;
        match (seite, kategorie) {
            (Seite::Verkauf, Steuerpflichtig | Nullsatz) => Fall::Erloes,
            (Seite::Verkauf, IgLieferung) => Fall::ErloesIg,
            (Seite::Verkauf, Ausfuhr) => Fall::ErloesAusfuhr,
            (Seite::Verkauf, Steuerschuldumkehr) => Fall::Erloes13b,
            (Seite::Verkauf, Steuerfrei) => Fall::ErloesFrei,
            (Seite::Verkauf, NichtSteuerbar) => Fall::ErloesNichtSteuerbar,
            (Seite::Einkauf, Steuerpflichtig) if is_kleinunternehmer => Fall::AufwandOhne,
            (Seite::Einkauf, Steuerpflichtig) => Fall::Aufwand,
            (Seite::Einkauf, IgLieferung) => Fall::AufwandIg,
            (Seite::Einkauf, Steuerschuldumkehr) => Fall::Aufwand13b,
            (Seite::Einkauf, Ausfuhr) => Fall::AufwandEinfuhr,
            (Seite::Einkauf, Steuerfrei | Nullsatz | NichtSteuerbar) => Fall::AufwandOhne,
        }
    }

    pub fn seite(self) -> Seite {
        match self {
            Fall::Erloes
            | Fall::ErloesIg
            | Fall::ErloesAusfuhr
            | Fall::Erloes13b
            | Fall::ErloesFrei
            | Fall::ErloesNichtSteuerbar => Seite::Verkauf,
            Fall::Aufwand | Fall::AufwandOhne | Fall::AufwandIg | Fall::Aufwand13b | Fall::AufwandEinfuhr => {
                Seite::Einkauf
            }
        }
    }

    /// Whether DATEV extracts the tax from the booked gross amount, so that the result must equal the tax of
    /// the document.
    pub fn is_taxed(self) -> bool {
        matches!(self, Fall::Erloes | Fall::Aufwand)
    }

    /// Whether the company owes the tax because the supplier did not charge it: DATEV computes it as output
    /// tax and as input tax.
    pub fn is_owed_by_us(self) -> bool {
        matches!(self, Fall::AufwandIg | Fall::Aufwand13b)
    }

    /// The German name of the case, with the rate if there is one.
    pub fn in_words(self, satz: Option<Percent>) -> String {
        let fall = match self {
            Fall::Erloes => "Erlöse",
            Fall::ErloesIg => "Erlöse, Lieferung in die EU",
            Fall::ErloesAusfuhr => "Erlöse, Ausfuhr",
            Fall::Erloes13b => "Erlöse, der Kunde schuldet die Steuer (§\u{a0}13b)",
            Fall::ErloesFrei => "Erlöse, steuerfrei",
            Fall::ErloesNichtSteuerbar => "Erlöse, nicht steuerbar",
            Fall::Aufwand => "Einkauf",
            Fall::AufwandOhne => "Einkauf ohne Vorsteuer",
            Fall::AufwandIg => "Einkauf aus der EU",
            Fall::Aufwand13b => "Einkauf, die Firma schuldet die Steuer (§\u{a0}13b)",
            Fall::AufwandEinfuhr => "Einkauf, Einfuhr",
        };
        satz.map_or_else(|| fall.to_owned(), |satz| format!("{fall} {}", rate(satz)))
    }

    /// Whether the accounts of this case differ by rate.
    pub fn has_rate(self) -> bool {
        self.is_taxed() || self.is_owed_by_us()
    }
}

/// Formats a rate in German: `7,8 %`.
pub(super) fn rate(satz: Percent) -> String {
    format!("{} %", satz.decimal().normalize().to_string().replace('.', ","))
}
