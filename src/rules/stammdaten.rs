//! Enumerations of master data (specification; D3, D18).

use crate::choice;

choice! {
    /// States of an article (D3).
    pub enum ArtikelStatus {
        Aktiv = "aktiv",
        Auslauf = "auslauf",
        Inaktiv = "inaktiv",
    }
}

choice! {
    /// States of a partner (D3).
    pub enum KundeStatus {
        Aktiv = "aktiv",
        Gesperrt = "gesperrt",
        Inaktiv = "inaktiv",
    }
}

choice! {
    /// As what a partner gets its e-invoices (D24).
    pub enum ERechnung {
        Zugferd = "zugferd",
        Xrechnung = "xrechnung",
        Aus = "aus",
    }
}

choice! {
    /// Roles of a partner (specification, Kunde).
    pub enum PartnerTyp {
        Kunde = "kunde",
        Lieferant = "lieferant",
        Spediteur = "spediteur",
    }
}

choice! {
    pub enum Anrede {
        Herr = "Herr",
        Frau = "Frau",
        Firma = "Firma",
    }
}

choice! {
    /// Where the first quantity of a batch came from (specification).
    pub enum EingangQuelle {
        Beleg = "beleg",
        Produktion = "produktion",
        Manuell = "manuell",
    }
}
