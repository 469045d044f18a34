//! The weighing slip (D25): drawn from the current weighing with the current master data.

use super::model::Wiegung;
use crate::master::tenants::{self, firma};
use crate::master::{artikel, kunden};
use crate::papers::blatt::numbers::moment;
use crate::papers::blatt::{Abschnitt, Angabe, Blatt, Tabelle, Wert, Zeile};
use crate::platform::db::tx::Tx;
use crate::platform::failure::{Failure, Result};
use crate::rules::day::{Day, Instant};
use crate::rules::fixed::Quantity;
use crate::rules::weighing::{Richtung, WiegungStatus};

/// Returns the slip of a weighing; refuses if the company's master data is incomplete.
pub fn wiegeschein(tx: &Tx<'_>, wiegung: &Wiegung) -> Result<Blatt> {
    let firma = firma::load(tx)?;
    let partner = kunden::find(tx, wiegung.partner_id)?;
    let partner = partner.ok_or_else(|| Failure::Broken("the partner of a weighing is gone".into()))?;
    Ok(Blatt {
        titel: format!("Wiegeschein {}", wiegung.wiegeschein_nr),
        untertitel: untertitel(wiegung),
        datum: Day::in_berlin(wiegung.ts_erst),
        absender: tenants::absender(tx, &firma, &partner.staat)?,
        anschrift: partner.anschrift(firma.land()),
        angaben: angaben(wiegung, &partner.kundennr),
        abschnitte: vec![
            Abschnitt::Tabelle(gewichte(wiegung, ware(tx, wiegung)?)),
            Abschnitt::Text { ueberschrift: None, absaetze: wiegung.bemerkung.iter().cloned().collect() },
            Abschnitt::Unterschriften(["Wiegemeister", "Fahrer"].map(str::to_owned).to_vec()),
        ],
        aufdruck: tenants::aufdruck(tx)?,
        erechnung: None,
    })
}

fn untertitel(wiegung: &Wiegung) -> Option<String> {
    match wiegung.status {
        WiegungStatus::Storno => {
            let grund = wiegung.storno_grund.as_deref().unwrap_or_default();
            Some(format!("Storniert: {grund}"))
        }
        _ if wiegung.gewicht_netto_kg.is_none() => Some("Erstwiegung; die Zweitwiegung steht aus".to_owned()),
        _ => wiegung.fremdwiegung.then(|| "Fremdwiegung".to_owned()),
    }
}

fn angaben(wiegung: &Wiegung, kundennr: &str) -> Vec<Angabe> {
    let richtung = wiegung.richtung.map(|richtung| match richtung {
        Richtung::Eingang => "Eingang",
        Richtung::Ausgang => "Ausgang",
    });
    let known = [
        ("Datum", Some(Day::in_berlin(wiegung.ts_erst).german())),
        ("Partner", Some(kundennr.to_owned())),
        ("Kennzeichen", wiegung.kennzeichen.clone()),
        ("Fahrer", wiegung.fahrer.clone()),
        ("Richtung", richtung.map(str::to_owned)),
    ];
    known.into_iter().filter_map(|(name, wert)| Some(Angabe::new(name, wert?))).collect()
}

fn ware(tx: &Tx<'_>, wiegung: &Wiegung) -> Result<Option<String>> {
    let artikel = wiegung.artikel_id.map(|id| artikel::must_have(tx, id)).transpose()?;
    let artikel = artikel.map(|artikel| format!("{} ({})", artikel.bezeichnung, artikel.artikelnummer));
    let charge = wiegung.charge_nr.as_ref().and_then(Option::as_ref).map(|nr| format!("Charge {nr}"));
    let parts: Vec<_> = [artikel, charge].into_iter().flatten().collect();
    Ok((!parts.is_empty()).then(|| parts.join(", ")))
}

fn gewichte(wiegung: &Wiegung, ueberschrift: Option<String>) -> Tabelle {
    let row = |name: &str, when: Option<Instant>, weight: Quantity, summe| {
        let text = |text: String| if text.is_empty() { Wert::Leer } else { Wert::Text(text) };
        let waage = when.map_or(String::new(), |_| format!("Waage {}", wiegung.waage_id));
        let zellen = vec![
            text(name.to_owned()),
            text(when.map(moment).unwrap_or_default()),
            text(waage),
            Wert::Menge(weight, "kg".to_owned()),
        ];
        Zeile { zellen, summe }
    };
    let mut zeilen = vec![row("Erstgewicht", Some(wiegung.ts_erst), wiegung.gewicht_erst_kg, false)];
    if let Some(zweit) = wiegung.gewicht_zweit_kg {
        zeilen.push(row("Zweitgewicht", wiegung.ts_zweit, zweit, false));
    }
    if let Some(netto) = wiegung.gewicht_netto_kg {
        zeilen.push(row("Nettogewicht", None, netto, true));
    }
    let spalten = ["Wägung", "Zeit", "Waage", "Gewicht"].map(str::to_owned).to_vec();
    Tabelle { ueberschrift, spalten, zeilen }
}
