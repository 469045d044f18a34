//! A scheme in words: shown on the pages and printed on the sheet that a farmer gets before delivering (D25,
//! D29).

use std::collections::BTreeMap;

use super::gueltig::{Gueltig, merkmale};
use crate::master::tenants::{self, firma};
use crate::papers::blatt::numbers::german;
use crate::papers::blatt::{Abschnitt, Angabe, Anschrift, Blatt, Tabelle, Wert, Zeile};
use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::rules::fixed::{Quantity, Zahl};
use crate::rules::settlement::{
    Basisseite, Fehlt, Grenze, Grenzfolge, Merkmal, Schema, Schritt, SchrittZeile, Schrittregel, Wirkung,
};

/// Returns the sheet of a version; refuses if the company's master data is incomplete.
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
    let mut abschnitte = vec![Abschnitt::Text { ueberschrift: None, absaetze: notes(schema) }];
    abschnitte.extend(tables(tx, schema)?.into_iter().map(Abschnitt::Tabelle));
    Ok(Blatt {
        titel: format!("Abrechnungsschema {}", kopf.nummer),
        untertitel: Some(kopf.bezeichnung.clone()),
        datum: kopf.gueltig_von,
        absender: tenants::absender(tx, &firma, firma.land())?,
        anschrift: Anschrift::default(),
        angaben,
        abschnitte,
        aufdruck: tenants::aufdruck(tx)?,
        erechnung: None,
    })
}

/// Returns everything that a scheme computes and requires: its steps in order, the rows of their tables, its
/// limits.
pub fn tables(tx: &Tx<'_>, schema: &Schema) -> Result<Vec<Tabelle>> {
    let merkmale = merkmale(tx)?;
    let words = Words { schema, merkmale: &merkmale };
    let mut tables = Vec::new();
    for (wirkung, title) in [
        (Wirkung::Menge, "Menge: in dieser Reihenfolge, jede Zeile auf ganze kg gerundet"),
        (Wirkung::Preis, "Preis je t, in dieser Reihenfolge"),
        (Wirkung::Kosten, "Kosten und Zuschläge"),
    ] {
        let mut steps: Vec<&Schritt> =
            schema.schritte.iter().filter(|step| step.wirkung == wirkung).collect();
        steps.sort_by_key(|step| step.nr);
        if !steps.is_empty() {
            let zeilen = steps.iter().map(|step| row(words.step(step))).collect();
            tables.push(table(title, &["Schritt", "Messwert", "Beginn", "Satz", "Bezug"], zeilen));
        }
        tables.extend(steps.into_iter().filter(|step| !step.zeilen.is_empty()).map(|step| words.rows(step)));
    }
    if !schema.grenzen.is_empty() {
        let zeilen = schema.grenzen.iter().map(|grenze| row(words.limit(grenze))).collect();
        tables.push(table("Grenzen", &["Grenze", "Messwert", "Wert", "Folge"], zeilen));
    }
    Ok(tables)
}

/// Returns the sentences for all schemes, then those for this one.
pub fn notes(schema: &Schema) -> Vec<String> {
    let always = "Abzüge der Menge sind in % positiv angegeben, Abzüge von Preis und Kosten sind negativ. \
                  Ein Wert genau auf \
                  einer Grenze ist noch innerhalb. Ein Wert außerhalb einer Tabelle wird nicht \
                  fortgeschrieben, sondern besprochen. Was nicht gemessen wurde, zählt nicht als 0.";
    let partie = "Anlieferungen, die zusammen abgerechnet werden, haben je Messwert ein gemeinsames Mittel, \
                  gewogen nach dem angelieferten Gewicht.";
    let bio = "Die Ware braucht ein Biozertifikat, das am Tag der Lieferung gilt.";
    let own = [schema.is_partie().then_some(partie), schema.bio.then_some(bio)];
    [Some(always)].into_iter().chain(own).flatten().map(str::to_owned).collect()
}

fn table(title: &str, spalten: &[&str], zeilen: Vec<Zeile>) -> Tabelle {
    let spalten = spalten.iter().map(|spalte| (*spalte).to_owned()).collect();
    Tabelle { ueberschrift: Some(title.to_owned()), spalten, zeilen }
}

fn row<const N: usize>(zellen: [String; N]) -> Zeile {
    Zeile { zellen: zellen.into_iter().map(Wert::Text).collect(), summe: false }
}

/// Formats a number in German with all its decimals.
fn number(zahl: Zahl) -> String {
    german(zahl, 0)
}

fn side(seite: Basisseite) -> &'static str {
    match seite {
        Basisseite::Ueber => "über",
        Basisseite::Unter => "unter",
    }
}

fn unit_of(step: &Schritt) -> String {
    step.einheit.as_str().replace("EUR", "€")
}

/// The words of a scheme, with the names of its Merkmale.
struct Words<'w> {
    schema: &'w Schema,
    merkmale: &'w BTreeMap<String, Merkmal>,
}

impl Words<'_> {
    fn merkmal(&self, code: Option<&String>) -> String {
        let known = code.and_then(|code| self.merkmale.get(code));
        known.map_or_else(
            || code.cloned().unwrap_or_default(),
            |merkmal| format!("{} ({})", merkmal.bezeichnung, merkmal.einheit),
        )
    }

    /// Formats a value in the unit of its Merkmal.
    fn value(&self, zahl: Zahl, code: Option<&String>) -> String {
        let einheit = code.and_then(|code| self.merkmale.get(code)).map(|merkmal| merkmal.einheit.as_str());
        // "0 oder 1" lists the possible values and is not a unit.
        match einheit.filter(|einheit| !einheit.contains(' ')) {
            Some(einheit) => format!("{} {einheit}", number(zahl)),
            None => number(zahl),
        }
    }

    /// Describes a step: name, what is measured, threshold, rate, reference.
    fn step(&self, step: &Schritt) -> [String; 5] {
        let code = step.merkmal.as_ref();
        let mut begin = match (step.richtung, step.basis) {
            (Some(seite), Some(basis)) => format!("{} {}", side(seite), self.value(basis, code)),
            _ => String::new(),
        };
        for (word, zahl) in [("gezählt ab", step.zaehlt_ab), ("höchstens bis", step.grenzwert)] {
            if let Some(zahl) = zahl {
                begin.push_str(&format!(", {word} {}", self.value(zahl, code)));
            }
        }
        let mut name = step.text.clone();
        if step.fehlt == Fehlt::Keine {
            name.push_str(" (entfällt, wo nicht gemessen wird)");
        }
        [name, self.merkmal(code), begin, self.rate(step), self.reference(step)]
    }

    fn rate(&self, step: &Schritt) -> String {
        let (einheit, code) = (unit_of(step), step.merkmal.as_ref());
        let satz = step.satz.map_or(String::new(), number);
        match (step.regel, step.schritt) {
            (Schrittregel::Tabelle, _) => format!("laut Tabelle, in {einheit}"),
            (Schrittregel::Staffel, _) => format!("laut Staffel, in {einheit}"),
            (Schrittregel::Standardgewicht, _) if step.satz.is_some() => {
                format!("(Wert − Basis) / (100 − Basis) + {satz} %")
            }
            (Schrittregel::Standardgewicht, _) => "(Wert − Basis) / (100 − Basis)".to_owned(),
            (Schrittregel::Fest, _) => format!("{satz} {einheit}"),
            (Schrittregel::Faktor, Some(each)) if step.angefangen => {
                format!("{satz} {einheit} je angefangene {}", self.value(each, code))
            }
            (Schrittregel::Faktor, Some(each)) => {
                format!("{satz} {einheit} je volle {}", self.value(each, code))
            }
            (Schrittregel::Faktor, None) => {
                format!("{satz} {einheit} je {}", self.value(Zahl::whole(1), code))
            }
        }
    }

    /// Returns what the rate refers to.
    fn reference(&self, step: &Schritt) -> String {
        let text = match (step.bezug.as_deref(), step.wirkung) {
            (None, Wirkung::Kosten) => "je Anlieferung",
            (None, _) => "",
            (Some("brutto"), _) => "angeliefertes Gewicht",
            (Some("netto"), _) => "Abrechnungsgewicht",
            (Some("grundpreis"), _) => "Grundpreis",
            (Some("vorher"), Wirkung::Preis) => "Preis davor",
            (Some("vorher"), _) => "Gewicht davor",
            (Some(after), _) => {
                let named = after.strip_prefix("nach:");
                let step = self.schema.schritte.iter().find(|step| Some(step.code.as_str()) == named);
                return format!("Gewicht nach {}", step.map_or(after, |step| &step.text));
            }
        };
        text.to_owned()
    }

    /// Returns the rows of a table, or the intervals of a staffel.
    fn rows(&self, step: &Schritt) -> Tabelle {
        let (title, head) = match (step.regel, step.gestaffelt) {
            (Schrittregel::Staffel, true) => {
                (format!("{}: jede Stufe mit ihrem Satz", step.text), "Abweichung")
            }
            (Schrittregel::Staffel, false) => {
                (format!("{}: die ganze Abweichung mit dem Satz ihrer Stufe", step.text), "Abweichung")
            }
            _ => (step.text.clone(), "Messwert"),
        };
        let mut last = None;
        let line = |zeile: &SchrittZeile| {
            let bis = self.value(zeile.bis, step.merkmal.as_ref());
            let text = match (zeile.von, last.replace(zeile.bis)) {
                (Some(von), _) => format!("{} bis {bis}", number(von)),
                (None, Some(von)) => format!("über {} bis {bis}", number(von)),
                (None, None) => format!("bis {bis}"),
            };
            let satz = Wert::Zahl(Quantity::from_units(zeile.satz.units()));
            Zeile { zellen: vec![Wert::Text(text), satz], summe: false }
        };
        let zeilen = step.zeilen.iter().map(line).collect();
        table(&title, &[head, &format!("Satz in {}", unit_of(step))], zeilen)
    }

    fn limit(&self, grenze: &Grenze) -> [String; 4] {
        let folge = match grenze.aktion {
            Grenzfolge::Hinweis => "Hinweis",
            Grenzfolge::Sperren => "wird besprochen",
            Grenzfolge::Abweisen => "wird nicht angenommen",
        };
        let code = Some(&grenze.merkmal);
        let wert = format!("{} {}", side(grenze.richtung), self.value(grenze.wert, code));
        [grenze.text.clone(), self.merkmal(code), wert, folge.to_owned()]
    }
}
