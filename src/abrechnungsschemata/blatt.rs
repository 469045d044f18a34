//! The table of a scheme as a sheet (D25, D29): what a farmer is given before he delivers.

use super::gueltig::Gueltig;
use crate::blatt::numbers::german;
use crate::blatt::{Abschnitt, Angabe, Anschrift, Blatt, Tabelle, Wert, Zeile};
use crate::db::tx::Tx;
use crate::failure::Result;
use crate::rules::fixed::Zahl;
use crate::rules::settlement::{Basisseite, Grenze, Grenzfolge, Schema, Schritt, Schrittregel, Wirkung};
use crate::tenants::{self, firma};

/// The sheet of a version; refused where the company's master data are not complete.
pub fn schema(tx: &Tx<'_>, gueltig: &Gueltig) -> Result<Blatt> {
    let Gueltig { kopf, schema } = gueltig;
    let firma = firma::load(tx)?;
    let mut angaben = vec![
        Angabe::new("Version", kopf.version.to_string()),
        Angabe::new("Gültig ab", kopf.gueltig_von.german()),
    ];
    angaben.extend(kopf.gueltig_bis.map(|bis| Angabe::new("Gültig bis", bis.german())));
    angaben.extend(kopf.erntejahr.map(|jahr| Angabe::new("Ernte", jahr.to_string())));
    angaben.push(Angabe::new("Artikel", kopf.artikel.join(", ")));
    Ok(Blatt {
        titel: format!("Abrechnungsschema {}", kopf.nummer),
        untertitel: Some(kopf.bezeichnung.clone()),
        datum: kopf.gueltig_von,
        absender: tenants::absender(tx, &firma, firma.land())?,
        anschrift: Anschrift::default(),
        angaben,
        abschnitte: sections(schema),
        aufdruck: tenants::aufdruck(tx)?,
        erechnung: None,
    })
}

fn sections(schema: &Schema) -> Vec<Abschnitt> {
    let mut sections = Vec::new();
    for (wirkung, title) in [
        (Wirkung::Menge, "Menge: in dieser Reihenfolge, jede Zeile auf ganze kg gerundet"),
        (Wirkung::Preis, "Preis je t"),
        (Wirkung::Kosten, "Kosten und Zuschläge"),
    ] {
        let mut steps: Vec<&Schritt> =
            schema.schritte.iter().filter(|step| step.wirkung == wirkung).collect();
        steps.sort_by_key(|step| step.nr);
        if !steps.is_empty() {
            let spalten = [title, "Messwert", "Beginn", "Satz", "Bezug"].map(str::to_owned).to_vec();
            let zeilen = steps.iter().map(|step| row(cells(step))).collect();
            sections.push(Abschnitt::Tabelle(Tabelle { ueberschrift: None, spalten, zeilen }));
        }
        sections.extend(steps.into_iter().filter(|step| !step.zeilen.is_empty()).map(table));
    }
    if !schema.grenzen.is_empty() {
        let spalten = ["Grenze", "Messwert", "Wert", "Folge"].map(str::to_owned).to_vec();
        let zeilen = schema.grenzen.iter().map(limit).collect();
        sections.push(Abschnitt::Tabelle(Tabelle { ueberschrift: None, spalten, zeilen }));
    }
    let closing = "Abzüge der Menge sind in % positiv angegeben, Abzüge von Preis und Kosten sind negativ. Ein Wert genau auf \
                   einer Grenze ist noch innerhalb. Ein Wert außerhalb einer Tabelle wird nicht fortgeschrieben, sondern \
                   besprochen. Was nicht gemessen wurde, zählt nicht als 0.";
    sections.push(Abschnitt::Text { ueberschrift: None, absaetze: vec![closing.to_owned()] });
    sections
}

fn row(zellen: Vec<String>) -> Zeile {
    Zeile { zellen: zellen.into_iter().map(Wert::Text).collect(), summe: false }
}

/// All its decimals.
fn number(zahl: Zahl) -> String {
    german(zahl, 0)
}

fn side(seite: Basisseite) -> &'static str {
    match seite {
        Basisseite::Ueber => "über",
        Basisseite::Unter => "unter",
    }
}

/// What a step says: name, value, where it begins, rate, reference.
fn cells(step: &Schritt) -> Vec<String> {
    let mut begin = match (step.richtung, step.basis) {
        (Some(seite), Some(basis)) => format!("{} {}", side(seite), number(basis)),
        _ => String::new(),
    };
    for (word, zahl) in [("ab", step.zaehlt_ab), ("höchstens bis", step.grenzwert)] {
        if let Some(zahl) = zahl {
            begin.push_str(&format!(", {word} {}", number(zahl)));
        }
    }
    let einheit = step.einheit.as_str().replace("EUR", "€");
    let satz = step.satz.map_or(String::new(), number);
    let rate = match (step.regel, step.schritt) {
        (Schrittregel::Tabelle | Schrittregel::Staffel, _) => format!("siehe Tabelle ({einheit})"),
        (Schrittregel::Standardgewicht, _) if step.satz.is_some() => {
            format!("(Wert − Basis) / (100 − Basis) + {satz} %")
        }
        (Schrittregel::Standardgewicht, _) => "(Wert − Basis) / (100 − Basis)".to_owned(),
        (Schrittregel::Fest, _) => format!("{satz} {einheit}"),
        (Schrittregel::Faktor, Some(each)) if step.angefangen => {
            format!("{satz} {einheit} je angefangene {}", number(each))
        }
        (Schrittregel::Faktor, Some(each)) => format!("{satz} {einheit} je volle {}", number(each)),
        (Schrittregel::Faktor, None) => format!("{satz} {einheit} je 1"),
    };
    let merkmal = step.merkmal.clone().unwrap_or_default();
    vec![step.text.clone(), merkmal, begin, rate, step.bezug.clone().unwrap_or_default()]
}

/// The rows of a table, or the intervals of a staffel.
fn table(step: &Schritt) -> Abschnitt {
    let einheit = step.einheit.as_str().replace("EUR", "€");
    let [from, to] = match step.regel {
        Schrittregel::Staffel => ["", "Abweichung bis"],
        _ => ["von", "bis"],
    };
    let ueberschrift = match (step.regel, step.gestaffelt) {
        (Schrittregel::Staffel, true) => format!("{}: jede Stufe mit ihrem Satz", step.text),
        (Schrittregel::Staffel, false) => {
            format!("{}: die ganze Abweichung mit dem Satz ihrer Stufe", step.text)
        }
        _ => step.text.clone(),
    };
    let spalten = vec![ueberschrift, from.to_owned(), to.to_owned(), format!("Satz in {einheit}")];
    let line = |zeile: &crate::rules::settlement::SchrittZeile| {
        row(vec![
            String::new(),
            zeile.von.map_or(String::new(), number),
            number(zeile.bis),
            number(zeile.satz),
        ])
    };
    let zeilen = step.zeilen.iter().map(line).collect();
    Abschnitt::Tabelle(Tabelle { ueberschrift: None, spalten, zeilen })
}

fn limit(grenze: &Grenze) -> Zeile {
    let folge = match grenze.aktion {
        Grenzfolge::Hinweis => "Hinweis",
        Grenzfolge::Sperren => "wird besprochen",
        Grenzfolge::Abweisen => "wird nicht angenommen",
    };
    let wert = format!("{} {}", side(grenze.richtung), number(grenze.wert));
    row(vec![grenze.text.clone(), grenze.merkmal.clone(), wert, folge.to_owned()])
}
