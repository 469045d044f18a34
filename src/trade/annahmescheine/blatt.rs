//! The printed receipt (D25): from the delivered to the paid weight, with each deduction in per cent and kg.

use super::model::Annahmeschein;
use super::qualitaet;
use crate::goods::{kontrakte, waage};
use crate::master::kunden;
use crate::master::tenants::{self, firma};
use crate::papers::blatt::numbers::german;
use crate::papers::blatt::{Abschnitt, Abzug, Angabe, Blatt, Tabelle, Wert, Zeile, settled};
use crate::platform::db::columns::Json;
use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::rules::day::Day;
use crate::rules::receipt::{AnnahmescheinStatus, deductions, tonnes};

/// Returns the sheet of a receipt; refuses if the company's master data is incomplete.
pub fn annahmeschein(tx: &Tx<'_>, schein: &Annahmeschein) -> Result<Blatt> {
    let firma = firma::load(tx)?;
    let partner = schein.partner_id.map(|id| kunden::find(tx, id)).transpose()?.flatten();
    let staat = partner.as_ref().map_or(firma.land(), |partner| partner.staat.as_str());
    let anschrift = partner.as_ref().map(|partner| partner.anschrift(firma.land()));
    let storno = schein.storno_grund.as_ref().map(|grund| format!("Storniert: {grund}"));
    Ok(Blatt {
        titel: format!("Annahmeschein {}", schein.belegnummer),
        untertitel: storno.filter(|_| schein.status == AnnahmescheinStatus::Storniert),
        datum: schein.lieferdatum.map_or_else(|| Day::in_berlin(schein.created_at), |tag| tag.0),
        absender: tenants::absender(tx, &firma, staat)?,
        anschrift: anschrift.unwrap_or_default(),
        angaben: angaben(tx, schein, partner.map(|partner| partner.kundennr))?,
        abschnitte: abschnitte(tx, schein)?,
        aufdruck: tenants::aufdruck(tx)?,
        erechnung: None,
    })
}

fn angaben(tx: &Tx<'_>, schein: &Annahmeschein, kundennr: Option<String>) -> Result<Vec<Angabe>> {
    let wiegung = schein.wiegung_id.map(|id| waage::find(tx, id)).transpose()?.flatten();
    let named = |id| kontrakte::named(tx, id, schein.kontrakt_position_id);
    let kontrakt = schein.kontrakt_id.map(named).transpose()?.flatten();
    let (wiegeschein, kennzeichen) =
        wiegung.map_or((None, None), |wiegung| (Some(wiegung.wiegeschein_nr), wiegung.kennzeichen));
    let schema = schein.schema.as_ref().zip(schein.schema_version);
    let known = [
        ("Lieferdatum", schein.lieferdatum.map(|tag| tag.0.german())),
        ("Lieferant", kundennr),
        ("Wiegeschein", wiegeschein),
        ("Kennzeichen", kennzeichen),
        ("Kontrakt", kontrakt),
        ("Lieferschein", schein.el_beleg_nummer.clone()),
        ("Ihre Charge", schein.fremde_charge_nr.clone()),
        ("Gerät", qualitaet::gemessen(tx, schein)?.geraet),
        ("Schema", schema.map(|(nummer, nr)| format!("{nummer}, Version {nr}"))),
    ];
    Ok(known.into_iter().filter_map(|(name, wert)| Some(Angabe::new(name, wert?))).collect())
}

fn abschnitte(tx: &Tx<'_>, schein: &Annahmeschein) -> Result<Vec<Abschnitt>> {
    let mut abschnitte = Vec::new();
    match qualitaet::rechnung(tx, schein)? {
        Some(rechnung) => {
            let ware = schein.artikel_bezeichnung.clone().unwrap_or_else(|| "Rohware".to_owned());
            abschnitte.push(Abschnitt::Tabelle(settled::note(ware, &rechnung)));
        }
        None => {
            abschnitte.extend(abrechnung(schein)?.map(Abschnitt::Tabelle));
            abschnitte.extend(preis(schein).map(Abschnitt::Tabelle));
        }
    }
    let mut bemerkung: Vec<String> = schein.bemerkung.iter().cloned().collect();
    let locks = schein.sperrgruende.iter().flat_map(|Json(befunde)| befunde);
    bemerkung.extend(locks.map(|befund| format!("Zu klären: {}", qualitaet::said(befund))));
    if let Some((nummer, kg)) = schein.abrechnung_beleg_nummer.as_ref().zip(schein.abgerechnet_kg) {
        bemerkung.push(format!("Abgerechnet mit {nummer}: {} kg.", german(kg, 0)));
    }
    if schein.vorlaeufig {
        bemerkung.push("Vorläufig: abgerechnet wird nach dem Mittel der Partie.".to_owned());
    }
    abschnitte.push(Abschnitt::Text { ueberschrift: None, absaetze: bemerkung });
    abschnitte.push(Abschnitt::Unterschriften(["Annahme", "Anlieferer"].map(str::to_owned).to_vec()));
    Ok(abschnitte)
}

/// Returns the weights; a receipt imported with its net quantity may lack the others.
fn abrechnung(schein: &Annahmeschein) -> Result<Option<Tabelle>> {
    let Some((anlieferung, netto)) = schein.anlieferung().zip(schein.netto_menge_kg) else { return Ok(None) };
    let found = deductions(&anlieferung)?;
    let besatz = Abzug {
        bezeichnung: "Besatz".to_owned(),
        gemessen: schein.besatz_prozent,
        basis: schein.basisbesatz_prozent,
        abzug: Some(found.besatz_prozent),
        kg: found.besatz_kg,
    };
    let feuchte = Abzug {
        bezeichnung: format!("Feuchte (Faktor {})", german(schein.schwundfaktor, 1)),
        gemessen: schein.feuchte_prozent,
        basis: schein.basisfeuchte_prozent,
        abzug: Some(found.schwund_prozent),
        kg: found.schwund_kg,
    };
    let other = Abzug {
        bezeichnung: "Sonstige Abzüge".to_owned(),
        gemessen: None,
        basis: None,
        abzug: None,
        kg: anlieferung.abzuege,
    };
    let mut abzuege = vec![];
    abzuege.extend(schein.besatz_prozent.map(|_| besatz));
    abzuege.extend(schein.feuchte_prozent.map(|_| feuchte));
    abzuege.extend((!anlieferung.abzuege.is_zero()).then_some(other));
    let ware = schein.artikel_bezeichnung.as_deref().unwrap_or("Rohware");
    Ok(Some(Tabelle::abrechnung(ware, anlieferung.menge, &abzuege, netto)))
}

fn preis(schein: &Annahmeschein) -> Option<Tabelle> {
    let (netto, preis) = schein.netto_menge_kg.zip(schein.preis_je_t)?;
    let betrag = schein.netto_betrag?;
    let ware = schein.artikel_bezeichnung.clone().unwrap_or_else(|| "Rohware".to_owned());
    let zellen = vec![
        Wert::Text(ware),
        Wert::Menge(tonnes(netto), "t".to_owned()),
        Wert::Preis(preis, "t".to_owned()),
        Wert::Betrag(betrag),
    ];
    let spalten = ["Preis", "Menge", "je Tonne", "Betrag netto"].map(str::to_owned).to_vec();
    Some(Tabelle { ueberschrift: None, spalten, zeilen: vec![Zeile { zellen, summe: false }] })
}
