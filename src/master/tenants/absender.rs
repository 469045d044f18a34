//! The company as the sender on a printed sheet (D25).

use super::firma::{self, Firma};
use super::settings;
use crate::master::laender;
use crate::papers::blatt::{Absender, Aufdruck, Konto};
use crate::platform::db::tx::Tx;
use crate::platform::failure::{Failure, Result};
use crate::rules::error::{Checked, Code, Refusal};

/// Default country of a company.
const GERMANY: &str = "DE";

impl Firma {
    /// The company's country: ISO 3166-1 alpha-2.
    pub fn land(&self) -> &str {
        self.staat.as_deref().unwrap_or(GERMANY)
    }

    pub fn konto(&self) -> Option<Konto> {
        let inhaber = self.kontoinhaber.as_ref().or(self.firma.as_ref());
        let (iban, inhaber) = self.iban.as_ref().zip(inhaber)?;
        Some(Konto { inhaber: inhaber.clone(), iban: iban.clone(), bic: self.bic.clone() })
    }

    /// Refuses to print a sheet while mandatory master data is missing; names what is missing.
    pub fn check_complete(&self) -> Checked<()> {
        let missing = self.missing();
        if missing.is_empty() {
            return Ok(());
        }
        let message = format!(
            "Ohne die Stammdaten der Firma entsteht kein PDF. Bitte eintragen lassen (partnerd tenant set): {}.",
            missing.join(", ")
        );
        Err(Refusal::new(Code::KeinPdf, message))
    }
}

/// The text printed across each page of the company's sheets.
pub fn aufdruck(tx: &Tx<'_>) -> Result<Option<Aufdruck>> {
    Ok(settings::load(tx)?.test.then_some(Aufdruck::Test))
}

/// Returns the company as a recipient in this country sees it, or a refusal that names what is missing.
pub fn absender(tx: &Tx<'_>, firma: &Firma, empfaenger: &str) -> Result<Absender> {
    firma.check_complete()?;
    let gone = || Failure::Broken("the logo of the company is gone".into());
    let logo = firma.logo.as_ref().map(|sha256| firma::logo(tx, sha256)?.ok_or_else(gone)).transpose()?;
    let land = firma.land();
    Ok(Absender {
        firma: firma.firma.clone().unwrap_or_default(),
        strasse: firma.strasse.clone().unwrap_or_default(),
        plz: firma.plz.clone().unwrap_or_default(),
        ort: firma.ort.clone().unwrap_or_default(),
        staat: (land != empfaenger).then(|| laender::name_de(land).to_owned()),
        ust_id: firma.ust_id.clone(),
        steuernummer: firma.steuernummer.clone(),
        registernummer: firma.registernummer.clone(),
        rechnungstext: firma.rechnungstext.clone(),
        kontakt_name: firma.kontakt_name.clone(),
        telefon: firma.kontakt_telefon.clone(),
        email: firma.kontakt_email.clone().or_else(|| firma.email.clone()),
        konto: firma.konto(),
        oeko_kontrollstelle: firma.oeko_kontrollstelle.clone(),
        logo,
        name_im_logo: firma.logo_mit_name.as_deref() == Some("ja"),
    })
}
