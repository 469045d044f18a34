//! Writes bericht.txt: what was handed over, so that one can check that nothing is missing and nothing was
//! altered.

use super::archiv::Datei;
use super::tabelle::{Art, Tabelle};
use super::verzeichnis::Lieferant;
use super::zeile::{Geschrieben, dezimal};
use super::zeitraum::Zeitraum;
use crate::rules::bytes::hex;

/// What a hand-over does not contain, and who has it.
pub const NICHT_ENTHALTEN: &str = "Nicht enthalten: Zahlungen und Buchungen, denn die Bücher führt der \
     Steuerberater; Exporte der Kassen (DSFinV-K), die nicht eingelesen wurden. Eingelesene stehen mit den \
     Dateien der Belege unverändert in kasse/.";

pub struct Bericht<'b> {
    pub lieferant: &'b Lieferant,
    pub zeitraum: Zeitraum,
    pub tabellen: &'b [(&'static Tabelle, Geschrieben)],
    /// All files but the report.
    pub dateien: &'b [Datei],
    /// The ends of the chains of the log and of the evidence.
    pub ketten: &'b [String],
    /// Documents whose sheet could not be drawn, and why.
    pub ohne_pdf: &'b [String],
}

impl Bericht<'_> {
    /// Formats the report. Lines end with CR LF.
    pub fn text(&self) -> String {
        let mut lines = vec![
            "Datenüberlassung für die Betriebsprüfung (§ 147 Abs. 6 AO, Z3)".to_owned(),
            String::new(),
            format!("Firma:    {}, {}", self.lieferant.name, self.lieferant.ort),
            format!("Zeitraum: {} bis {}", self.zeitraum.von.german(), self.zeitraum.bis.german()),
            format!("Programm: {}", self.lieferant.stand),
            String::new(),
            NICHT_ENTHALTEN.to_owned(),
            String::new(),
            "Enden der Ketten (`partnerd check` prüft sie):".to_owned(),
        ];
        lines.extend(self.ketten.iter().map(|kette| format!("  {kette}")));
        lines.extend([
            String::new(),
            "Tabellen, mit Summen und mit Spalten, in denen Zeichen ersetzt sind".to_owned(),
        ]);
        lines.push(
            "(\" durch ', ; durch , und Zeilenwechsel, Tabulator und Ähnliches durch Leerzeichen):"
                .to_owned(),
        );
        self.tabellen.iter().for_each(|(tabelle, stand)| of_table(tabelle, stand, &mut lines));
        if !self.ohne_pdf.is_empty() {
            lines.extend([String::new(), "Belege ohne PDF:".to_owned()]);
            lines.extend(self.ohne_pdf.iter().map(|why| format!("  {why}")));
        }
        lines.extend([String::new(), "Dateien (Bytes, sha256):".to_owned()]);
        let file = |datei: &Datei| format!("  {} {} {}", datei.name, datei.bytes, hex(&datei.sha256));
        lines.extend(self.dateien.iter().map(file));
        lines.push(String::new());
        lines.join("\r\n")
    }
}

fn of_table(tabelle: &Tabelle, stand: &Geschrieben, lines: &mut Vec<String>) {
    lines.push(format!("  {}: {} Zeilen", tabelle.csv(), stand.zeilen));
    for (spalte, stand) in tabelle.spalten.iter().zip(&stand.spalten) {
        if let Art::Zahl { stellen, hat_summe: true } = spalte.art {
            lines.push(format!("    Summe {}: {}", spalte.name, dezimal(stand.summe, stellen)));
        }
        if stand.ersetzt > 0 {
            lines.push(format!("    Ersetzt in {}: {} Texte", spalte.name, stand.ersetzt));
        }
    }
}
