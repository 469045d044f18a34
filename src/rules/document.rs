//! Documents: their types, sides and states (specification; D3, D4, D8, D10).

use super::choice::Choice;
use crate::choice;

choice! {
    #[derive(Default)]
    pub enum BelegTyp {
        /// Quote.
        #[default]
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

choice! {
    /// Whether an RE or ER is an ordinary invoice or a self-billed one (D24).
    #[derive(Default)]
    pub enum Rechnungsart {
        /// An invoice of the company or of its supplier.
        #[default]
        Rechnung = "rechnung",
        /// An ER that the company writes for its supplier (self-billing, § 14 Abs. 2 UStG).
        Gutschrift = "gutschrift",
    }
}

choice! {
    /// How two positions were tied (D38).
    pub enum VerknuepfungArt {
        /// A request named the position or its document.
        Genannt = "genannt",
        /// They met by exactly their quantity.
        Genau = "genau",
        /// They were met because nobody said otherwise.
        Vorgeschlagen = "vorgeschlagen",
    }
}

choice! {
    /// The profile in which the e-invoice is written (D24: `e_rechnung` of a kunde).
    #[derive(Default)]
    pub enum Profil {
        /// EN 16931 of Factur-X and ZUGFeRD, for everybody.
        #[default]
        Zugferd = "zugferd",
        /// XRechnung, for authorities and customers that ask for it.
        XRechnung = "xrechnung",
    }
}

choice! {
    /// Kinds of documents that may become final at the end of their day (D4). ER is the supplier's own
    /// invoice, GS an ER that the company writes for its supplier.
    pub enum Tagesabschluss {
        An = "AN",
        Au = "AU",
        Ls = "LS",
        Re = "RE",
        Bs = "BS",
        El = "EL",
        Er = "ER",
        Gs = "GS",
    }
}

impl Tagesabschluss {
    pub fn typ_und_art(self) -> (BelegTyp, Option<Rechnungsart>) {
        let typ = BelegTyp::parse(self.as_str()).unwrap_or(BelegTyp::Er);
        (typ, Rechnungsart::of(typ, self == Tagesabschluss::Gs))
    }
}

/// A kind of document that can be named in a setting.
pub trait Belegart: Choice {
    /// Parses a name in any case, or an alias.
    fn named(text: &str) -> Option<Self>;
    fn in_words(self) -> &'static str;
}

impl Belegart for BelegTyp {
    fn named(text: &str) -> Option<BelegTyp> {
        BelegTyp::parse_alias(text)
    }

    fn in_words(self) -> &'static str {
        self.bezeichnung()
    }
}

impl Belegart for Tagesabschluss {
    fn named(text: &str) -> Option<Tagesabschluss> {
        let typ = BelegTyp::parse_alias(text).map(BelegTyp::as_str);
        Tagesabschluss::parse_any_case(typ.unwrap_or(text))
    }

    fn in_words(self) -> &'static str {
        match self {
            Tagesabschluss::Gs => "Gutschrift an den Lieferanten",
            other => other.typ_und_art().0.bezeichnung(),
        }
    }
}

impl Rechnungsart {
    /// Returns the kind of an RE or ER, chosen by `gutschrift`; `None` for other types.
    pub fn of(typ: BelegTyp, gutschrift: bool) -> Option<Rechnungsart> {
        let art = if gutschrift { Rechnungsart::Gutschrift } else { Rechnungsart::Rechnung };
        typ.ist_rechnung().then_some(art)
    }
}

choice! {
    pub enum Seite {
        Verkauf = "verkauf",
        Einkauf = "einkauf",
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lagerrolle {
    /// AN, AU, BS: no goods move.
    Keine,
    /// LS, EL: goods move.
    Lieferung,
    /// RE, ER: goods move unless a delivery already moved them.
    Rechnung,
}

impl BelegTyp {
    /// Parses an abbreviation in any case, including the aliases VR and VL (D10).
    pub fn parse_alias(text: &str) -> Option<BelegTyp> {
        match text.to_ascii_uppercase().as_str() {
            "VR" => Some(BelegTyp::Re),
            "VL" => Some(BelegTyp::Ls),
            other => BelegTyp::parse(other),
        }
    }

    /// The facts about a type from which everything else follows. The table `belegtyp` holds the same for
    /// SQL. The number series of a type is that of its abbreviation
    /// ([`Reihe::Beleg`](super::number::Reihe::Beleg)); when it becomes final by itself is a setting of the
    /// company (D4).
    const fn facts(self) -> (Seite, Lagerrolle, &'static str, Option<BelegTyp>) {
        match self {
            BelegTyp::An => (Seite::Verkauf, Lagerrolle::Keine, "Angebot", None),
            BelegTyp::Au => (Seite::Verkauf, Lagerrolle::Keine, "Auftrag", None),
            BelegTyp::Ls => (Seite::Verkauf, Lagerrolle::Lieferung, "Lieferschein", Some(BelegTyp::Re)),
            BelegTyp::Re => (Seite::Verkauf, Lagerrolle::Rechnung, "Rechnung", Some(BelegTyp::Ls)),
            BelegTyp::Bs => (Seite::Einkauf, Lagerrolle::Keine, "Bestellung", None),
            BelegTyp::El => {
                (Seite::Einkauf, Lagerrolle::Lieferung, "Einkaufslieferschein", Some(BelegTyp::Er))
            }
            BelegTyp::Er => (Seite::Einkauf, Lagerrolle::Rechnung, "Eingangsrechnung", Some(BelegTyp::El)),
        }
    }

    pub const fn bezeichnung(self) -> &'static str {
        self.facts().2
    }

    /// The German name of a document of this type, which also depends on whether it is a Gutschrift, the
    /// counter document of a storno, or negative.
    pub const fn art(self, art: Option<Rechnungsart>, is_storno: bool, is_negative: bool) -> &'static str {
        match (self, art, is_storno) {
            (BelegTyp::Re, _, true) => "Stornorechnung",
            (BelegTyp::Re, _, false) if is_negative => "Rechnungskorrektur",
            (BelegTyp::Er, Some(Rechnungsart::Gutschrift), true) => "Storno der Gutschrift",
            (BelegTyp::Er, Some(Rechnungsart::Gutschrift), false) => "Gutschrift",
            (BelegTyp::Er, _, true) => "Storno der Eingangsrechnung",
            (typ, ..) => typ.bezeichnung(),
        }
    }

    pub const fn seite(self) -> Seite {
        self.facts().0
    }

    pub const fn lagerrolle(self) -> Lagerrolle {
        self.facts().1
    }

    /// Whether documents of this type record a movement of goods: LS, EL.
    pub const fn ist_lieferung(self) -> bool {
        matches!(self.lagerrolle(), Lagerrolle::Lieferung)
    }

    /// The type it is paired with: LS with RE, EL with ER.
    pub const fn gegenstueck(self) -> Option<BelegTyp> {
        self.facts().3
    }

    /// RE and ER: a price is required, a negative sum makes a credit note, and the storno of a final document
    /// has a counter document.
    pub const fn ist_rechnung(self) -> bool {
        matches!(self.lagerrolle(), Lagerrolle::Rechnung)
    }

    /// ER: the partner wrote it. A blocked partner may have sent it (D3), and a repeated number is suspicious
    /// (D5).
    pub const fn ist_fremdrechnung(self) -> bool {
        matches!(self.facts(), (Seite::Einkauf, Lagerrolle::Rechnung, ..))
    }

    /// BS: announces goods that others will bring. It creates the batches it names, without stock, and their
    /// certificate may be replaced until the goods arrive (D8).
    pub const fn kuendigt_an(self) -> bool {
        matches!(self.facts(), (Seite::Einkauf, Lagerrolle::Keine, ..))
    }
}

choice! {
    /// States of a document (D3).
    #[derive(Default)]
    pub enum BelegStatus {
        #[default]
        Offen = "offen",
        Abgeschlossen = "abgeschlossen",
        Erledigt = "erledigt",
        Storniert = "storniert",
    }
}

choice! {
    /// What happened to a document, as its history stores it (D4).
    pub enum BelegAktion {
        Aendern = "aendern",
        Abschliessen = "abschliessen",
        Storno = "storno",
        Erledigen = "erledigen",
        /// Another document changed the batches of its goods, or what they are matched with.
        Folgen = "folgen",
    }
}

impl BelegAktion {
    pub const fn in_words(self) -> &'static str {
        match self {
            BelegAktion::Aendern => "geändert",
            BelegAktion::Abschliessen => "abgeschlossen",
            BelegAktion::Storno => "storniert",
            BelegAktion::Erledigen => "erledigt",
            BelegAktion::Folgen => "einem Gegenbeleg gefolgt",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_that_meet_stand_on_one_side_and_are_a_delivery_and_its_invoice() {
        for &typ in BelegTyp::ALL {
            let other = typ.gegenstueck();
            assert_eq!(other.is_some(), typ.lagerrolle() != Lagerrolle::Keine, "{typ:?}");
            let Some(other) = other else { continue };
            assert_eq!((other.gegenstueck(), other.seite()), (Some(typ), typ.seite()), "{typ:?}");
            assert_ne!(other.lagerrolle(), typ.lagerrolle(), "{typ:?}");
            assert_eq!(typ.ist_rechnung(), typ.lagerrolle() == Lagerrolle::Rechnung, "{typ:?}");
        }
    }

    #[test]
    fn documents_are_called_by_what_they_are() {
        let (invoice, credit) = (Some(Rechnungsart::Rechnung), Some(Rechnungsart::Gutschrift));
        for (typ, art, is_storno, is_negative, called) in [
            (BelegTyp::Ls, None, false, false, "Lieferschein"),
            (BelegTyp::Re, invoice, false, false, "Rechnung"),
            (BelegTyp::Re, invoice, false, true, "Rechnungskorrektur"),
            (BelegTyp::Re, invoice, true, true, "Stornorechnung"),
            (BelegTyp::Er, invoice, false, true, "Eingangsrechnung"),
            (BelegTyp::Er, invoice, true, true, "Storno der Eingangsrechnung"),
            (BelegTyp::Er, credit, false, false, "Gutschrift"),
            (BelegTyp::Er, credit, true, true, "Storno der Gutschrift"),
        ] {
            assert_eq!(typ.art(art, is_storno, is_negative), called, "{typ:?}");
        }
    }

    #[test]
    fn types_are_read_in_any_case_and_by_alias() {
        let table = [("re", "RE"), ("VR", "RE"), ("vl", "LS"), ("Er", "ER"), ("XX", ""), ("", "")];
        for (text, canonical) in table {
            assert_eq!(BelegTyp::parse_alias(text).map_or("", BelegTyp::as_str), canonical, "{text}");
        }
    }
}
