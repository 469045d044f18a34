//! The wording of sheet and e-invoice.

use std::sync::LazyLock;

use super::angaben::{Partie, Ware};
use super::vorlage::Vorlage;
use crate::master::laender;
use crate::papers::blatt::numbers::german;
use crate::rules::day::Day;
use crate::rules::document::BelegTyp;
use crate::trade::belege::model::{Beleg, BelegPosition};

/// The word for the sum, and the sentence before the positions; `{vom}` is replaced by the day of the
/// delivery.
const fn worte(typ: BelegTyp) -> (&'static str, &'static str) {
    match typ {
        BelegTyp::An => ("Angebotssumme", "Wir bieten Ihnen an:"),
        BelegTyp::Au => ("Auftragssumme", "Wir bestätigen Ihren Auftrag:"),
        BelegTyp::Ls => ("Summe", "Wir liefern Ihnen:"),
        BelegTyp::Re => ("Rechnungsbetrag", "Für unsere Lieferung{vom} berechnen wir Ihnen:"),
        BelegTyp::Bs => ("Bestellsumme", "Wir bestellen bei Ihnen:"),
        BelegTyp::El => ("Summe", "Wir haben von Ihnen angenommen:"),
        BelegTyp::Er => ("Gutschriftsbetrag", "Für Ihre Lieferung{vom} schreiben wir Ihnen gut:"),
    }
}

/// The recipient's name for the document (`Rechnung`, `Stornorechnung`; order and delivery).
pub fn art(beleg: &Beleg) -> &'static str {
    match beleg.beleg_typ {
        BelegTyp::Au => "Auftragsbestätigung",
        BelegTyp::El => "Wareneingang",
        typ => {
            let is_storno = beleg.storno_von_beleg_id.is_some();
            typ.art(beleg.rechnungsart, is_storno, beleg.summe_netto.is_negative())
        }
    }
}

pub fn summe(beleg: &Beleg) -> &'static str {
    match beleg.storno_von_beleg_id {
        Some(_) if beleg.beleg_typ.ist_rechnung() => "Stornobetrag",
        _ => worte(beleg.beleg_typ).0,
    }
}

/// Returns the company's own texts before and after the positions; none if the document cancels or corrects,
/// because they are written for ordinary documents.
pub fn eigene_texte(vorlage: &Vorlage<'_>) -> [Option<String>; 2] {
    let Vorlage { beleg, firma, storno_von, .. } = vorlage;
    if storno_von.is_some() || beleg.beleg_typ.ist_rechnung() && beleg.summe_netto.is_negative() {
        return [None, None];
    }
    firma.texte(beleg.beleg_typ).map(|text| text.map(str::to_owned))
}

/// Returns the sentence before the positions: when the goods were delivered, or which invoices are corrected.
/// After a salutation it starts in lower case.
pub fn einleitung(vorlage: &Vorlage<'_>, goes_on: bool) -> String {
    let sentence = satz(vorlage);
    let mut letters = sentence.chars();
    match letters.next() {
        Some(first) if goes_on => first.to_lowercase().chain(letters).collect(),
        _ => sentence,
    }
}

fn satz(vorlage: &Vorlage<'_>) -> String {
    let Vorlage { beleg, angaben, .. } = vorlage;
    if beleg.beleg_typ.ist_rechnung() && beleg.summe_netto.is_negative() {
        let what = if beleg.is_written_for_supplier() { "Gutschrift" } else { "Rechnung" };
        let many = if angaben.berichtigt.len() > 1 { "en" } else { "" };
        let which: Vec<_> = angaben.berichtigt.iter().map(|bezug| format!(" {bezug}")).collect();
        return format!("Wir berichtigen unsere {what}{many}{}:", which.join(","));
    }
    let sentence = worte(beleg.beleg_typ).1;
    if let Some((von, bis)) = angaben.liefertage().filter(|_| !has_one_day(vorlage)) {
        let deliveries = format!("Lieferungen vom {} bis {}", von.german(), bis.german());
        return sentence.replace("Lieferung{vom}", &deliveries);
    }
    let vom = angaben.lieferdatum.map(|lieferdatum| format!(" vom {}", lieferdatum.german()));
    sentence.replace("{vom}", &vom.unwrap_or_default())
}

/// Returns the first and last day that an invoice covers: its own period, else that of several deliveries;
/// neither if it states a lieferdatum.
pub fn zeitraum(vorlage: &Vorlage<'_>) -> (Option<Day>, Option<Day>) {
    let own = [vorlage.beleg.leistung_von, vorlage.beleg.leistung_bis].map(|day| day.map(|day| day.0));
    match (own, vorlage.angaben.liefertage(), vorlage.beleg.lieferdatum) {
        ([None, None], Some((von, bis)), None) => (Some(von), Some(bis)),
        ([von, bis], ..) => (von, bis),
    }
}

/// Whether all goods came on one day, according to the deliveries or the document.
pub fn has_one_day(vorlage: &Vorlage<'_>) -> bool {
    vorlage.beleg.lieferdatum.is_some() || vorlage.angaben.liefertage().is_none_or(|(von, bis)| von == bis)
}

pub fn paired<'v>(vorlage: &'v Vorlage<'_>) -> impl Iterator<Item = (&'v BelegPosition, &'v Ware)> {
    static NOTHING: LazyLock<Ware> = LazyLock::new(Ware::default);
    let angaben = &vorlage.angaben;
    let positionen = vorlage.positionen.iter().enumerate();
    positionen.map(|(at, position)| (position, angaben.positionen.get(at).unwrap_or(&NOTHING)))
}

/// Returns the title of a position: its own text, else the name of its article.
pub fn bezeichnung(position: &BelegPosition, ware: &Ware) -> String {
    let own = position.bezeichnung.as_ref().filter(|text| !text.trim().is_empty());
    own.or(ware.artikel.as_ref()).cloned().unwrap_or_default()
}

/// Returns the attributes of a position's goods as name and value; includes the country of origin if it is
/// shown nowhere else.
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
        ("MHD", partie.mhd.map(Day::german)),
        ("Herkunft", origin.map(|land| laender::name_de(land).to_owned())),
        ("Kontrollstelle", partie.kontrollstelle.clone()),
    ];
    known.into_iter().filter_map(|(name, wert)| Some((name, wert?))).collect()
}
