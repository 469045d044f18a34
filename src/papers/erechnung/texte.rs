//! The texts of an e-invoice; the law prescribes some of them word for word.

use super::model::{Bezug, Rechnung, Typ, filled};
use super::xml::{is_blank, is_space};
use crate::rules::day::Day;
use crate::rules::document::Rechnungsart;
use crate::rules::fixed::Percent;
use crate::rules::tax::{Steuerart, Steuerkategorie};

/// § 14 Abs. 4 Satz 1 Nr. 10 UStG: the word that a self-billed invoice must contain.
const GUTSCHRIFT: &str = "Gutschrift";
/// Heading of an invoice with a negative sum (D26).
const KORREKTUR: &str = "Rechnungskorrektur";
/// § 24 Abs. 1 UStG: the farmer's rate, which differs from the rates of § 12.
const DURCHSCHNITTSSATZ: &str = "Umsatzsteuer nach dem Durchschnittssatz für land- und forstwirtschaftliche Betriebe \
    (§ 24 UStG)";
/// § 34a Satz 1 Nr. 5 UStDV.
const KLEINUNTERNEHMER: &str = "Steuerbefreiung für Kleinunternehmer (§ 19 Abs. 1 UStG)";
/// § 14 Abs. 4 Satz 1 Nr. 8 UStG: the invoice must say that an exemption applies, but not which one.
const STEUERFREI: &str = "Für diesen Umsatz gilt eine Steuerbefreiung";
/// § 14a Abs. 5 UStG, word for word.
const STEUERSCHULDUMKEHR: &str = "Steuerschuldnerschaft des Leistungsempfängers";
/// § 14a Abs. 3 with § 14 Abs. 4 Satz 1 Nr. 8 UStG.
const IG_LIEFERUNG: &str = "Steuerfreie innergemeinschaftliche Lieferung (§ 4 Nr. 1 Buchst. b, § 6a UStG)";
/// § 14 Abs. 4 Satz 1 Nr. 8 UStG.
const AUSFUHR: &str = "Steuerfreie Ausfuhrlieferung (§ 4 Nr. 1 Buchst. a, § 6 UStG)";
/// § 1 Abs. 1 UStG.
const NICHT_STEUERBAR: &str = "Nicht steuerbar";
/// BT-20 if nothing was agreed: § 271 Abs. 1 BGB; the standard requires terms or a day (BR-CO-25).
const SOFORT: &str = "Sofort zahlbar";
/// BT-20 of a Rechnungskorrektur.
const ERSTATTUNG: &str = "Der Betrag wird verrechnet oder erstattet";

/// BT-22: the kind of the document, what the law requires, and the caller's own remarks.
pub fn notes(rechnung: &Rechnung, typ: Typ) -> Vec<String> {
    let mut notes = Vec::new();
    if rechnung.art == Rechnungsart::Gutschrift {
        notes.push(GUTSCHRIFT.to_owned());
    }
    if let Some(bezug) = &rechnung.storno_von {
        let what = if rechnung.art == Rechnungsart::Gutschrift { "Gutschrift" } else { "Rechnung" };
        notes.push(format!("Storno der {what} {bezug}"));
    }
    if typ == Typ::Rechnungskorrektur {
        notes.push(KORREKTUR.to_owned());
    }
    if !rechnung.berichtigt.is_empty() {
        let berichtigt: Vec<_> = rechnung.berichtigt.iter().map(Bezug::to_string).collect();
        notes.push(format!("Berichtigung zu {}", berichtigt.join(", ")));
    }
    if rechnung.durchschnittssatz {
        notes.push(DURCHSCHNITTSSATZ.to_owned());
    }
    notes.extend(rechnung.bemerkungen.iter().cloned());
    notes
}

/// BT-120 and BT-121: why there is no tax, and the code of this reason if there is one.
pub fn exemption(
    kategorie: Steuerkategorie,
    steuerart: Option<Steuerart>,
) -> (Option<&'static str>, Option<&'static str>) {
    match kategorie {
        Steuerkategorie::Steuerpflichtig | Steuerkategorie::Nullsatz => (None, None),
        Steuerkategorie::Steuerfrei if steuerart == Some(Steuerart::Kleinunternehmer) => {
            (Some(KLEINUNTERNEHMER), None)
        }
        Steuerkategorie::Steuerfrei => (Some(STEUERFREI), None),
        Steuerkategorie::Steuerschuldumkehr => (Some(STEUERSCHULDUMKEHR), Some("VATEX-EU-AE")),
        Steuerkategorie::IgLieferung => (Some(IG_LIEFERUNG), Some("VATEX-EU-IC")),
        Steuerkategorie::Ausfuhr => (Some(AUSFUHR), Some("VATEX-EU-G")),
        Steuerkategorie::NichtSteuerbar => (Some(NICHT_STEUERBAR), Some("VATEX-EU-O")),
    }
}

/// BT-120 and BT-121 of a category: the reasons of all its lines, since it stands once in a document.
pub fn exemptions(kategorie: Steuerkategorie, rechnung: &Rechnung) -> (Option<String>, Option<&'static str>) {
    let lines = rechnung.positionen.iter().filter(|line| line.steuer_kategorie == kategorie);
    let (mut reasons, mut code) = (Vec::new(), None);
    for (reason, own) in lines.map(|line| exemption(kategorie, line.steuerart)) {
        reasons.extend(reason.filter(|reason| !reasons.contains(reason)));
        code = own;
    }
    ((!reasons.is_empty()).then(|| reasons.join("; ")), code)
}

/// BT-20 of a document with something to pay: the agreed text, then Skonto in the format of XRechnung, which
/// receivers of ZUGFeRD know too.
pub fn payment_terms(rechnung: &Rechnung, typ: Typ) -> Option<String> {
    if typ == Typ::Rechnungskorrektur {
        return Some(ERSTATTUNG.to_owned());
    }
    let zahlung = &rechnung.zahlung;
    let mut lines: Vec<String> = Vec::new();
    if let Some(text) = filled(&zahlung.text) {
        // A line that begins with # would be read as Skonto (BR-DE-18).
        let is_hash = |letter: char| letter == '#' || is_space(letter);
        let written = text.split(['\r', '\n']).map(|line| line.trim_start_matches(is_hash));
        lines.extend(written.filter(|line| !is_blank(line)).map(str::to_owned));
    }
    if let Some(skonto) = zahlung.skonto.filter(|skonto| !skonto.prozent.is_zero()) {
        lines.push(skonto_line(skonto.tage, skonto.prozent));
    }
    if lines.is_empty() && zahlung.ziel_tage.is_none() {
        lines.push(SOFORT.to_owned());
    }
    // The line of a Skonto must end with a line break (BR-DE-18).
    (!lines.is_empty()).then(|| lines.join("\n") + "\n")
}

/// BT-9: the day on which payment is due.
pub fn due_date(rechnung: &Rechnung, typ: Typ) -> Option<Day> {
    let tage = rechnung.zahlung.ziel_tage.filter(|_| typ != Typ::Rechnungskorrektur)?;
    Some(Day::of_number(rechnung.datum.number().saturating_add(tage)))
}

/// Formats `#SKONTO#TAGE=14#PROZENT=2.00#` (BR-DE-18); in words if the percentage has more than two decimals.
fn skonto_line(tage: i64, prozent: Percent) -> String {
    const HUNDREDTH: i64 = Percent::UNIT / 100;
    if prozent.units() % HUNDREDTH == 0 && !prozent.is_negative() && tage >= 0 {
        format!("#SKONTO#TAGE={tage}#PROZENT={prozent}#")
    } else {
        format!("{} % Skonto bei Zahlung innerhalb von {tage} Tagen", prozent.to_string().replace('.', ","))
    }
}
