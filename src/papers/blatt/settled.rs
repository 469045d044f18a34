//! Tables of settled receipts: value, rate, reference, result and remainder of each row, so that each row can
//! be recomputed from what is printed above it (D29f).

use super::model::{Tabelle, Wert, Zeile};
use super::numbers::german;
use crate::rules::fixed::{Money, Quantity, TooLarge};
use crate::rules::settlement::{self, AbrechnungsPosten, Groesse, Rechnung, Wirkung};

/// The table of a receipt settled by its scheme, from the delivered weight to the amount paid.
pub fn note(ueberschrift: String, rechnung: &Rechnung) -> Tabelle {
    let mut zeilen = vec![left("Anlieferung", Groesse::Kg(rechnung.brutto_kg))];
    let of = |wirkung| rechnung.zeilen.iter().filter(move |zeile| zeile.wirkung == wirkung);
    zeilen.extend(of(Wirkung::Menge).map(line));
    if let Some(netto) = rechnung.netto_kg {
        zeilen.push(Zeile { summe: true, ..left("Abrechnungsgewicht", Groesse::Kg(netto)) });
    }
    if let Some(grundpreis) = rechnung.grundpreis {
        zeilen.push(left("Grundpreis", Groesse::JeTonne(grundpreis)));
    }
    zeilen.extend(of(Wirkung::Preis).map(line));
    if let (Some(kg), Some(preis), Some(ware)) = (rechnung.netto_kg, rechnung.preis_je_t, rechnung.ware) {
        let goods = format!("Ware: {} kg × {} €/t", german(kg, 0), german(preis, 2));
        zeilen.push(result(&goods, ware));
    }
    zeilen.extend(of(Wirkung::Kosten).map(line));
    if let Some(summe) = rechnung.summe {
        zeilen.push(Zeile { summe: true, ..result("Betrag netto", summe) });
    }
    let spalten =
        ["Zeile", "Messwert", "Satz", "Bezug", "Ergebnis", "danach", "Einheit"].map(str::to_owned).to_vec();
    Tabelle { ueberschrift: Some(ueberschrift), spalten, zeilen }
}

/// Totals of the receipts in one settlement: the delivered weight, each deduction, the paid weight.
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
        zellen: vec![Wert::Text(text.to_owned()), Wert::Menge(kg, "kg".to_owned())],
        summe: false,
    };
    let mut zeilen = vec![line("Anlieferung", brutto)];
    zeilen.extend(deducted.into_iter().map(|(text, kg)| line(text, kg)));
    zeilen.push(Zeile { summe: true, ..line("Abrechnungsgewicht", netto) });
    let ueberschrift = Some(format!("Zusammen, {} Anlieferungen", posten.len()));
    Ok(Tabelle { ueberschrift, spalten: vec!["Alle".to_owned(), "Menge".to_owned()], zeilen })
}

/// The heading of a receipt in a settlement.
fn heading(posten: &AbrechnungsPosten) -> String {
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
        posten.geraet.as_ref().map(|geraet| format!("Gerät {geraet}")),
        posten.ist_mittel.then(|| "Mittel der Partie".to_owned()),
    ];
    of.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// The table of a receipt in its settlement: its heading, its rows, and its parts if it has several prices.
pub fn posten(posten: &AbrechnungsPosten) -> Tabelle {
    let several = posten.teile.len() > 1;
    let whole = match several {
        true => Rechnung { ware: None, summe: None, ..posten.rechnung.clone() },
        false => computed_with(posten),
    };
    let mut table = note(heading(posten), &whole);
    for teil in posten.teile.iter().filter(|_| several) {
        let of =
            teil.kontrakt.as_ref().map_or_else(|| "Rest".to_owned(), |nummer| format!("Kontrakt {nummer}"));
        let text = format!("{of}: {} kg × {} €/t", german(teil.kg, 0), german(teil.preis_je_t, 2));
        table.zeilen.push(result(&text, teil.ware));
    }
    if let Some(text) = advance(posten) {
        let wert = posten.rechnung.summe.filter(|_| posten.abschlag_prozent.is_some());
        table.zeilen.extend(wert.map(|wert| result("Wert nach dieser Analyse, netto", wert)));
        table.zeilen.push(Zeile { summe: true, ..result(&format!("Abschlag: {text}"), posten.betrag) });
    }
    if !posten.abschlaege.is_zero() {
        table.zeilen.push(result("abzüglich Abschläge", -posten.abschlaege));
    }
    table
}

/// The part of the calculation that leads to the paid amount: an advance at its own price depends on the
/// weight alone, and an advance in per cent is not the sum.
fn computed_with(posten: &AbrechnungsPosten) -> Rechnung {
    let mut rechnung = posten.rechnung.clone();
    if posten.is_advance() {
        rechnung.summe = None;
    }
    if posten.abschlag_je_t.is_some() {
        (rechnung.grundpreis, rechnung.ware) = (None, None);
        rechnung.zeilen.retain(|zeile| zeile.wirkung == Wirkung::Menge);
    }
    rechnung
}

/// The weight of an advance, with its price or its share of the value.
pub fn advance(posten: &AbrechnungsPosten) -> Option<String> {
    let kg = german(posten.rechnung.netto_kg.unwrap_or_default(), 0);
    let at_price = posten.abschlag_je_t.map(|preis| format!("{kg} kg × {} €/t", german(preis, 2)));
    at_price.or_else(|| {
        let (prozent, wert) = (posten.abschlag_prozent?, posten.rechnung.summe.unwrap_or_default());
        Some(format!("{kg} kg, {} % von {} €", german(prozent, 0), german(wert, 2)))
    })
}

/// A row that states what is left.
fn left(text: &str, danach: Groesse) -> Zeile {
    let (danach, einheit) = figure(danach);
    row(text, Wert::Leer, danach, einheit)
}

/// A row that states an amount.
fn result(text: &str, betrag: Money) -> Zeile {
    let (ergebnis, einheit) = figure(Groesse::Euro(betrag));
    row(text, ergebnis, Wert::Leer, einheit)
}

fn row(text: &str, ergebnis: Wert, danach: Wert, einheit: &str) -> Zeile {
    let none = [Wert::Leer, Wert::Leer, Wert::Leer];
    let mut zellen = vec![Wert::Text(text.to_owned())];
    zellen.extend(none);
    zellen.extend([ergebnis, danach, Wert::Text(einheit.to_owned())]);
    Zeile { zellen, summe: false }
}

fn line(zeile: &settlement::Zeile) -> Zeile {
    let mut text = zeile.text.clone();
    if let Some(hit) = &zeile.treffer {
        let from = hit.von.map_or_else(|| "bis ".to_owned(), |von| format!("{} bis ", german(von, 0)));
        text.push_str(&format!(" (Zeile {from}{})", german(hit.bis, 0)));
    }
    let einheit = zeile.einheit.as_str().replace("EUR", "€");
    let satz = match (&zeile.satz, &zeile.rechnung) {
        (_, Some(rechnung)) => rechnung.clone(),
        (Some(satz), None) => format!("{} {einheit}", satz.replace('.', ",").replace('-', "−")),
        (None, None) => String::new(),
    };
    let bezug = match zeile.bezug {
        Some(Groesse::Kg(kg)) => Wert::Menge(kg, "kg".to_owned()),
        Some(Groesse::JeTonne(preis)) => Wert::Preis(preis, "t".to_owned()),
        Some(Groesse::Euro(betrag)) => Wert::Betrag(betrag),
        None => Wert::Leer,
    };
    let (ergebnis, einheit) = figure(zeile.ergebnis);
    let zellen = vec![
        Wert::Text(text),
        zeile.wert.map_or(Wert::Leer, |wert| Wert::Zahl(Quantity::from_units(wert.units()))),
        Wert::Text(satz),
        bezug,
        ergebnis,
        zeile.danach.map_or(Wert::Leer, |danach| figure(danach).0),
        Wert::Text(einheit.to_owned()),
    ];
    Zeile { zellen, summe: false }
}

/// A figure and its unit; a row shows the unit once, behind both of its figures.
fn figure(groesse: Groesse) -> (Wert, &'static str) {
    match groesse {
        Groesse::Kg(kg) => (Wert::Zahl(kg), "kg"),
        Groesse::JeTonne(preis) => (Wert::Text(german(preis, 2)), "€/t"),
        Groesse::Euro(betrag) => (Wert::Text(german(betrag, 2)), "€"),
    }
}
