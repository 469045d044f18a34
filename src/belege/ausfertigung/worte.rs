//! What sheet and e-invoice call things.

use super::angaben::{Partie, Ware};
use super::vorlage::Vorlage;
use crate::belege::model::{Beleg, BelegPosition};
use crate::blatt::numbers::{day, german};
use crate::laender;
use crate::rules::document::BelegTyp;

/// What a document is: `Rechnung`, `Stornorechnung`.
pub fn art(beleg: &Beleg) -> &'static str {
    let is_storno = beleg.storno_von_beleg_id.is_some();
    match beleg.beleg_typ {
        BelegTyp::An => "Angebot",
        BelegTyp::Au => "Auftragsbestätigung",
        BelegTyp::Ls => "Lieferschein",
        BelegTyp::Bs => "Bestellung",
        BelegTyp::El => "Wareneingang",
        BelegTyp::Re if is_storno => "Stornorechnung",
        BelegTyp::Re if beleg.summe_netto.is_negative() => "Rechnungskorrektur",
        BelegTyp::Re => "Rechnung",
        BelegTyp::Er if is_storno => "Storno der Gutschrift",
        BelegTyp::Er => "Gutschrift",
    }
}

/// What the sum of a document is called.
pub fn summe(beleg: &Beleg) -> &'static str {
    let is_storno = beleg.storno_von_beleg_id.is_some();
    match beleg.beleg_typ {
        BelegTyp::An => "Angebotssumme",
        BelegTyp::Au => "Auftragssumme",
        BelegTyp::Bs => "Bestellsumme",
        BelegTyp::Ls | BelegTyp::El => "Summe",
        BelegTyp::Re | BelegTyp::Er if is_storno => "Stornobetrag",
        BelegTyp::Re => "Rechnungsbetrag",
        BelegTyp::Er => "Gutschriftsbetrag",
    }
}

/// The positions with what is known of their goods.
pub fn paired<'v>(vorlage: &Vorlage<'v>) -> impl Iterator<Item = (&'v BelegPosition, &'v Ware)> {
    static NOTHING: Ware = Ware {
        artikelnummer: None,
        artikel: None,
        ean: None,
        chargen: Vec::new(),
        wiegungen: Vec::new(),
        kontrakt: None,
        lieferscheine: Vec::new(),
    };
    let angaben = vorlage.angaben;
    let positionen = vorlage.positionen.iter().enumerate();
    positionen.map(|(at, position)| (position, angaben.positionen.get(at).unwrap_or(&NOTHING)))
}

/// What a position is about: its own text, else the name of its article.
pub fn bezeichnung(position: &BelegPosition, ware: &Ware) -> String {
    let own = position.bezeichnung.as_ref().filter(|text| !text.trim().is_empty());
    own.or(ware.artikel.as_ref()).cloned().unwrap_or_default()
}

/// What is said of the goods of a position, name and value; with the country of origin where that has no place of its own.
pub fn merkmale(ware: &Ware, with_origin: bool) -> Vec<(&'static str, String)> {
    let mut found: Vec<(&'static str, String)> = Vec::new();
    let several = ware.chargen.len() > 1;
    for partie in &ware.chargen {
        found.extend(merkmale_einer_partie(partie, with_origin || several));
    }
    for gewogen in &ware.wiegungen {
        found.extend([
            ("Wiegeschein", gewogen.wiegeschein_nr.clone()),
            ("Brutto", format!("{} kg", german(gewogen.brutto, 0))),
            ("Tara", format!("{} kg", german(gewogen.tara, 0))),
            ("Netto", format!("{} kg", german(gewogen.netto, 0))),
        ]);
    }
    found
}

fn merkmale_einer_partie(partie: &Partie, with_origin: bool) -> Vec<(&'static str, String)> {
    let origin = partie.herkunftsland.as_deref().filter(|_| with_origin);
    let known = [
        ("Charge", partie.charge_nr.clone()),
        ("Charge des Lieferanten", partie.fremde_charge_nr.clone().filter(|_| partie.charge_nr.is_none())),
        ("MHD", partie.mhd.map(day)),
        ("Herkunft", origin.map(|land| laender::name_de(land).to_owned())),
        ("Kontrollstelle", partie.kontrollstelle.clone()),
    ];
    known.into_iter().filter_map(|(name, wert)| Some((name, wert?))).collect()
}
