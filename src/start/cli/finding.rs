//! A finding of `doctor` about the machine.

use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Ok,
    Warning,
    Wrong,
}

impl Severity {
    pub fn in_words(self) -> &'static str {
        match self {
            Severity::Ok => "ok",
            Severity::Warning => "Warnung",
            Severity::Wrong => "FEHLER",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The subject, as programs compare it.
    pub look: &'static str,
    pub state: Severity,
    /// The result, with advice if it is not good.
    pub finding: String,
}

impl Finding {
    /// Returns the subject in words for a person.
    pub fn look_in_words(&self) -> &'static str {
        let known = LOOKS.iter().find(|(look, _)| *look == self.look);
        known.map_or(self.look, |(_, words)| words)
    }
}

const LOOKS: [(&str, &str); 16] = [
    ("rights", "Rechte"),
    ("disk", "Platte"),
    ("drive", "Laufwerk"),
    ("database", "Datenbank"),
    ("owner", "Besitzer"),
    ("pages", "Seiten"),
    ("clock", "Uhr"),
    ("seals", "Siegel"),
    ("bounds", "Grenzen"),
    ("company", "Firma"),
    ("people", "Zugänge"),
    ("names", "Namen"),
    ("files", "Dateien"),
    ("port", "Port"),
    ("leitstand", "Leitstand"),
    ("backups", "Sicherungen"),
];

pub fn ok(look: &'static str, finding: impl Into<String>) -> Finding {
    Finding { look, state: Severity::Ok, finding: finding.into() }
}

pub fn warning(look: &'static str, finding: impl Into<String>) -> Finding {
    Finding { look, state: Severity::Warning, finding: finding.into() }
}

pub fn wrong(look: &'static str, finding: impl Into<String>) -> Finding {
    Finding { look, state: Severity::Wrong, finding: finding.into() }
}
