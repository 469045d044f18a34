//! The rows of a settled note on paper: value, rate, reference, result and what is left, so that each can be computed again
//! from what is printed above it (D29f).

use super::blatt::number;
use crate::blatt::numbers::german;
use crate::blatt::{Tabelle, Wert, Zeile};
use crate::rules::settlement::{self, Groesse, Rechnung, Wirkung, plain};

/// A note by its scheme, from the delivered weight to what is paid.
pub fn table(ueberschrift: String, rechnung: &Rechnung) -> Tabelle {
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
        let from = hit.von.map(|von| format!("{} bis ", number(von))).unwrap_or_else(|| "bis ".to_owned());
        text.push_str(&format!(" (Zeile {from}{})", number(hit.bis)));
    }
    let einheit = zeile.einheit.as_str().replace("EUR", "€");
    let satz = match (&zeile.satz, &zeile.rechnung) {
        (_, Some(rechnung)) => rechnung.clone(),
        (Some(satz), None) => format!("{} {einheit}", satz.replace('.', ",").replace('-', "−")),
        (None, None) => String::new(),
    };
    let wert = zeile.wert.map_or(Wert::Leer, |wert| Wert::Text(plain(wert).replace('.', ",")));
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
