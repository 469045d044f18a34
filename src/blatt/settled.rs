//! The rows of a settled note on paper: value, rate, reference, result and what is left, so that each can be computed again
//! from what is printed above it (D29f).

use super::model::{Tabelle, Wert, Zeile};
use super::numbers::german;
use crate::rules::fixed::{Quantity, TooLarge};
use crate::rules::settlement::{self, AbrechnungsPosten, Groesse, Rechnung, Wirkung};

/// A note by its scheme, from the delivered weight to what is paid.
pub fn note(ueberschrift: String, rechnung: &Rechnung) -> Tabelle {
    let mut zeilen = vec![row("Anlieferung", Wert::Leer, Groesse::Kg(rechnung.brutto_kg))];
    let of = |wirkung| rechnung.zeilen.iter().filter(move |zeile| zeile.wirkung == wirkung);
    zeilen.extend(of(Wirkung::Menge).map(line));
    if let Some(netto) = rechnung.netto_kg {
        let netto = row("Abrechnungsgewicht", Wert::Leer, Groesse::Kg(netto));
        zeilen.push(Zeile { summe: true, ..netto });
    }
    if let Some(grundpreis) = rechnung.grundpreis {
        zeilen.push(row("Grundpreis", Wert::Leer, Groesse::JeTonne(grundpreis)));
    }
    zeilen.extend(of(Wirkung::Preis).map(line));
    if let (Some(kg), Some(preis), Some(ware)) = (rechnung.netto_kg, rechnung.preis_je_t, rechnung.ware) {
        let goods = format!("Ware: {} kg × {} €/t", german(kg, 0), german(preis, 2));
        zeilen.push(row(&goods, size(Groesse::Euro(ware)), Groesse::Euro(ware)));
    }
    zeilen.extend(of(Wirkung::Kosten).map(line));
    if let Some(summe) = rechnung.summe {
        let sum = row("Betrag netto", size(Groesse::Euro(summe)), Groesse::Euro(summe));
        zeilen.push(Zeile { summe: true, ..sum });
    }
    let spalten = ["Zeile", "Messwert", "Satz", "Bezug", "Ergebnis", "danach"].map(str::to_owned).to_vec();
    Tabelle { ueberschrift: Some(ueberschrift), spalten, zeilen }
}

/// What notes of one settlement come to together: the weight that was delivered, each deduction, the weight that is paid.
pub fn together(posten: &[&AbrechnungsPosten]) -> Result<Tabelle, TooLarge> {
    let (mut brutto, mut netto) = (Quantity::ZERO, Quantity::ZERO);
    let mut deducted: Vec<(&str, Quantity)> = Vec::new();
    for rechnung in posten.iter().map(|posten| &posten.rechnung) {
        brutto = brutto.plus(rechnung.brutto_kg)?;
        netto = netto.plus(rechnung.netto_kg.unwrap_or_default())?;
        for zeile in rechnung.zeilen.iter().filter(|zeile| zeile.wirkung == Wirkung::Menge) {
            let Groesse::Kg(kg) = zeile.ergebnis else { continue };
            match deducted.iter_mut().find(|(text, _)| *text == zeile.text) {
                Some((_, sum)) => *sum = sum.plus(kg)?,
                None => deducted.push((&zeile.text, kg)),
            }
        }
    }
    let line = |text: &str, kg| Zeile {
        zellen: vec![Wert::Text(text.to_owned()), size(Groesse::Kg(kg))],
        summe: false,
    };
    let mut zeilen = vec![line("Anlieferung", brutto)];
    zeilen.extend(deducted.into_iter().map(|(text, kg)| line(text, kg)));
    zeilen.push(Zeile { summe: true, ..line("Abrechnungsgewicht", netto) });
    let ueberschrift = Some(format!("Zusammen, {} Anlieferungen", posten.len()));
    Ok(Tabelle { ueberschrift, spalten: vec!["Alle".to_owned(), "Menge".to_owned()], zeilen })
}

/// The block of a note in its settlement: what it is, its rows, and its parts where it has several prices.
pub fn posten(posten: &AbrechnungsPosten) -> Tabelle {
    let of = [
        Some(posten.belegnummer.clone()),
        posten.lieferdatum.map(|day| format!("vom {}", day.german())),
        posten.artikel_bezeichnung.clone(),
        posten.wiegeschein_nr.as_ref().map(|nummer| format!("Wiegeschein {nummer}")),
        posten
            .schema
            .as_ref()
            .zip(posten.schema_version)
            .map(|(nummer, version)| format!("Schema {nummer}, Version {version}")),
        posten.ist_mittel.then(|| "Mittel der Partie".to_owned()),
    ];
    let title = of.into_iter().flatten().collect::<Vec<_>>().join(" · ");
    let several = posten.teile.len() > 1;
    let whole = match several {
        true => Rechnung { ware: None, summe: None, ..posten.rechnung.clone() },
        false => posten.rechnung.clone(),
    };
    let mut table = note(title, &whole);
    for teil in posten.teile.iter().filter(|_| several) {
        let of =
            teil.kontrakt.as_ref().map_or_else(|| "Rest".to_owned(), |nummer| format!("Kontrakt {nummer}"));
        let text = format!("{of}: {} kg × {} €/t", german(teil.kg, 0), german(teil.preis_je_t, 2));
        table.zeilen.push(row(&text, size(Groesse::Euro(teil.ware)), Groesse::Euro(teil.ware)));
    }
    table
}

/// A row without a rate; euros are no rest.
fn row(text: &str, ergebnis: Wert, danach: Groesse) -> Zeile {
    let danach = if matches!(danach, Groesse::Euro(_)) { Wert::Leer } else { size(danach) };
    Zeile {
        zellen: vec![Wert::Text(text.to_owned()), Wert::Leer, Wert::Leer, Wert::Leer, ergebnis, danach],
        summe: false,
    }
}

fn line(zeile: &settlement::Zeile) -> Zeile {
    let mut text = zeile.text.clone();
    if let Some(hit) = &zeile.treffer {
        let from = hit.von.map(|von| format!("{} bis ", german(von, 0))).unwrap_or_else(|| "bis ".to_owned());
        text.push_str(&format!(" (Zeile {from}{})", german(hit.bis, 0)));
    }
    let einheit = zeile.einheit.as_str().replace("EUR", "€");
    let satz = match (&zeile.satz, &zeile.rechnung) {
        (_, Some(rechnung)) => rechnung.clone(),
        (Some(satz), None) => format!("{} {einheit}", satz.replace('.', ",").replace('-', "−")),
        (None, None) => String::new(),
    };
    let wert = zeile.wert.map_or(Wert::Leer, |wert| Wert::Text(german(wert, 0)));
    let zellen = vec![
        Wert::Text(text),
        wert,
        Wert::Text(satz),
        zeile.bezug.map_or(Wert::Leer, size),
        size(zeile.ergebnis),
        zeile.danach.map_or(Wert::Leer, size),
    ];
    Zeile { zellen, summe: false }
}

fn size(groesse: Groesse) -> Wert {
    match groesse {
        Groesse::Kg(kg) => Wert::Menge(kg, "kg".to_owned()),
        Groesse::JeTonne(preis) => Wert::Preis(preis, "t".to_owned()),
        Groesse::Euro(betrag) => Wert::Betrag(betrag),
    }
}
