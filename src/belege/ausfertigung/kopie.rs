//! The partner of a document as it was when the document became final (D24).

use crate::db::record::record;
use crate::kunden::Kunde;

record! {
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Kopie from beleg as b {
        kundennr: Option<String> = "b.kunden_kundennr",
        name: String = "b.kunden_name",
        strasse: Option<String> = "b.kunden_strasse",
        plz: Option<String> = "b.kunden_plz",
        ort: Option<String> = "b.kunden_ort",
        staat: String = "b.kunden_staat",
        ust_id: Option<String> = "b.kunden_ust_id",
        steuernummer: Option<String> = "b.kunden_steuernummer",
        email: Option<String> = "b.kunden_email",
        iban: Option<String> = "b.kunden_iban",
        bic: Option<String> = "b.kunden_bic",
        kaeuferreferenz: Option<String> = "b.kunden_kaeuferreferenz",
        e_adresse: Option<String> = "b.kunden_e_adresse",
    }
}

impl From<&Kunde> for Kopie {
    fn from(kunde: &Kunde) -> Kopie {
        Kopie {
            kundennr: Some(kunde.kundennr.clone()),
            name: kunde.name.clone(),
            strasse: kunde.strasse.clone(),
            plz: kunde.plz.clone(),
            ort: kunde.ort.clone(),
            staat: kunde.staat.clone(),
            ust_id: kunde.ust_id.clone(),
            steuernummer: kunde.steuernummer.clone(),
            email: kunde.email.clone(),
            iban: kunde.iban.clone(),
            bic: kunde.bic.clone(),
            kaeuferreferenz: kunde.kaeuferreferenz.clone(),
            e_adresse: kunde.e_adresse.clone(),
        }
    }
}
