//! Enumerations of master data (specification; D3, D18).

use crate::choice;

choice! {
    /// States of an article (D3).
    #[derive(Default)]
    pub enum ArtikelStatus {
        #[default]
        Aktiv = "aktiv",
        Auslauf = "auslauf",
        Inaktiv = "inaktiv",
    }
}

choice! {
    /// States of a partner (D3).
    #[derive(Default)]
    pub enum KundeStatus {
        #[default]
        Aktiv = "aktiv",
        Gesperrt = "gesperrt",
        Inaktiv = "inaktiv",
    }
}

choice! {
    /// The form in which a partner receives its e-invoices (D24).
    #[derive(Default)]
    pub enum ERechnung {
        #[default]
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
    #[derive(Default)]
    pub enum EingangQuelle {
        Beleg = "beleg",
        Produktion = "produktion",
        #[default]
        Manuell = "manuell",
    }
}
