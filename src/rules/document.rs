//! Documents: their types, sides and states (specification; D3, D4, D8, D10).

use super::choice::Choice;
use crate::choice;

choice! {
    /// The seven types of documents.
    pub enum BelegTyp {
        /// Quote.
        An = "AN",
        /// Order.
        Au = "AU",
        /// Delivery note.
        Ls = "LS",
        /// Invoice.
        Re = "RE",
        /// Purchase order.
        Bs = "BS",
        /// Purchase delivery note.
        El = "EL",
        /// Purchase invoice.
        Er = "ER",
    }
}

/// Whether a document sells or buys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Seite {
    Verkauf,
    Einkauf,
}

/// What a document does to the stock (D8).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lagerrolle {
    /// AN, AU, BS: nothing.
    Keine,
    /// LS, EL: goods move.
    Lieferung,
    /// RE, ER: goods move as far as no delivery moved them.
    Rechnung,
}

impl BelegTyp {
    /// Reads an abbreviation in any case, with the aliases VR and VL (D10).
    pub fn parse_alias(text: &str) -> Option<BelegTyp> {
        match text.to_ascii_uppercase().as_str() {
            "VR" => Some(BelegTyp::Re),
            "VL" => Some(BelegTyp::Ls),
            other => BelegTyp::parse(other),
        }
    }

    /// Whether this type sells or buys.
    pub const fn seite(self) -> Seite {
        match self {
            BelegTyp::An | BelegTyp::Au | BelegTyp::Ls | BelegTyp::Re => Seite::Verkauf,
            BelegTyp::Bs | BelegTyp::El | BelegTyp::Er => Seite::Einkauf,
        }
    }

    /// What this type does to the stock.
    pub const fn lagerrolle(self) -> Lagerrolle {
        match self {
            BelegTyp::An | BelegTyp::Au | BelegTyp::Bs => Lagerrolle::Keine,
            BelegTyp::Ls | BelegTyp::El => Lagerrolle::Lieferung,
            BelegTyp::Re | BelegTyp::Er => Lagerrolle::Rechnung,
        }
    }

    /// The type it is paired with: LS and RE, EL and ER.
    pub const fn gegenstueck(self) -> Option<BelegTyp> {
        match self {
            BelegTyp::Ls => Some(BelegTyp::Re),
            BelegTyp::Re => Some(BelegTyp::Ls),
            BelegTyp::El => Some(BelegTyp::Er),
            BelegTyp::Er => Some(BelegTyp::El),
            _ => None,
        }
    }

    /// RE and ER: a price is required, a negative sum is a credit note, a storno has a counter
    /// document once finalised.
    pub const fn ist_rechnung(self) -> bool {
        matches!(self, BelegTyp::Re | BelegTyp::Er)
    }
}

choice! {
    /// States of a document (D3).
    pub enum BelegStatus {
        Offen = "offen",
        Abgeschlossen = "abgeschlossen",
        Erledigt = "erledigt",
        Storniert = "storniert",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_read_in_any_case_and_by_alias() {
        let table = [("re", "RE"), ("VR", "RE"), ("vl", "LS"), ("Er", "ER"), ("XX", ""), ("", "")];
        for (text, canonical) in table {
            assert_eq!(BelegTyp::parse_alias(text).map_or("", BelegTyp::as_str), canonical, "{text}");
        }
    }
}
