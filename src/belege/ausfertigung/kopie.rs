//! The partner of a document as it was when the document became final (D24).

use crate::kunden::Kunde;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kopie {
    pub kundennr: Option<String>,
    pub name: String,
    pub strasse: Option<String>,
    pub plz: Option<String>,
    pub ort: Option<String>,
    pub staat: String,
    pub ust_id: Option<String>,
    pub steuernummer: Option<String>,
    pub email: Option<String>,
    pub iban: Option<String>,
    pub bic: Option<String>,
    pub kaeuferreferenz: Option<String>,
    pub e_adresse: Option<String>,
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
