//! The fields of a partner as people read and type them: the form is made of this table, and the history named by it.

use serde_json::Value;

use super::parts::{amount_of, date_of, number, text};
use super::verlauf::Lesart;
use crate::laender::name_de;
use crate::rules::choice::Choice;
use crate::rules::stammdaten::{Anrede, ERechnung, KundeStatus};
use crate::rules::tax::Steuerart;

/// What is typed into a field.
#[derive(Clone, Copy)]
pub enum Art {
    /// A line of text: the type of the input, and what a browser may fill in.
    Zeile(&'static str),
    /// Several lines.
    Text,
    /// A number, with a comma.
    Zahl,
    /// A day.
    Tag,
    /// One of some values; whether it may be none of them.
    Auswahl(fn() -> Vec<&'static str>, bool),
    /// A country.
    Land,
    /// The roles of a partner.
    Rollen,
}

/// In which form a field stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Wann {
    /// In both.
    Immer,
    /// In that of a new partner alone: it never changes.
    Neu,
    /// In that of a partner who is there: the interface takes it by a change alone (D3, D18).
    Spaeter,
}

/// A field: its name in the interface, its label, what is typed into it, and when.
pub struct Feld(pub &'static str, pub &'static str, pub Art, pub Wann);

const LINE: Art = Art::Zeile("text");

fn texts<C: Choice>() -> Vec<&'static str> {
    C::ALL.iter().map(|value| value.text()).collect()
}

/// The fields in groups.
pub const GRUPPEN: &[(&str, &[Feld])] = &[
    (
        "Wer",
        &[
            Feld("kundennr", "Nummer (leer: die nächste)", LINE, Wann::Neu),
            Feld("anrede", "Anrede", Art::Auswahl(texts::<Anrede>, true), Wann::Immer),
            Feld("vorname", "Vorname", LINE, Wann::Immer),
            Feld("nachname_firma", "Nachname oder Firma", LINE, Wann::Immer),
            Feld("partner_typen", "Rollen", Art::Rollen, Wann::Immer),
            Feld("status", "Status", Art::Auswahl(texts::<KundeStatus>, false), Wann::Spaeter),
        ],
    ),
    (
        "Anschrift",
        &[
            Feld("strasse", "Straße und Hausnummer", LINE, Wann::Immer),
            Feld("plz", "Postleitzahl", LINE, Wann::Immer),
            Feld("ort", "Ort", LINE, Wann::Immer),
            Feld("staat", "Land", Art::Land, Wann::Immer),
        ],
    ),
    (
        "Erreichbar",
        &[
            Feld("email", "E-Mail", LINE, Wann::Immer),
            Feld("telefon", "Telefon", Art::Zeile("tel"), Wann::Immer),
            Feld("telefon2", "Zweites Telefon", Art::Zeile("tel"), Wann::Immer),
        ],
    ),
    (
        "Steuer und E-Rechnung",
        &[
            Feld("ust_id", "USt-IdNr.", LINE, Wann::Immer),
            Feld("steuernummer", "Steuernummer", LINE, Wann::Immer),
            Feld("steuerart", "Besteuerung", Art::Auswahl(texts::<Steuerart>, true), Wann::Spaeter),
            Feld("e_rechnung", "E-Rechnung als", Art::Auswahl(texts::<ERechnung>, false), Wann::Immer),
            Feld("kaeuferreferenz", "Leitweg-ID oder Referenz", LINE, Wann::Immer),
            Feld("e_adresse", "Elektronische Adresse", LINE, Wann::Immer),
            Feld("gutschrift_vereinbart_am", "Gutschriften vereinbart am", Art::Tag, Wann::Immer),
            Feld("betriebsnummer", "Betriebsnummer", LINE, Wann::Immer),
        ],
    ),
    (
        "Zahlung",
        &[
            Feld("zahlungsziel_tage", "Zahlungsziel (Tage)", Art::Zahl, Wann::Immer),
            Feld("skonto_tage", "Skonto (Tage)", Art::Zahl, Wann::Spaeter),
            Feld("skonto_prozent", "Skonto (%)", Art::Zahl, Wann::Spaeter),
            Feld("iban", "IBAN", LINE, Wann::Immer),
            Feld("bic", "BIC", LINE, Wann::Immer),
        ],
    ),
    ("Notizen", &[Feld("notizen", "Notizen", Art::Text, Wann::Immer)]),
];

/// All fields.
pub fn felder() -> impl Iterator<Item = &'static Feld> {
    GRUPPEN.iter().flat_map(|(_, felder)| felder.iter())
}

/// A value of an enumeration in words; what needs none is shown as it is.
pub fn wording(value: &str) -> &str {
    match value {
        "kunde" => "Kunde",
        "lieferant" => "Lieferant",
        "spediteur" => "Spediteur",
        "regel" => "Regelbesteuerung",
        "pauschal_24" => "pauschal (§ 24 UStG)",
        "kleinunternehmer" => "Kleinunternehmer (§ 19 UStG)",
        "zugferd" => "ZUGFeRD",
        "xrechnung" => "XRechnung",
        "aus" => "keine",
        other => other,
    }
}

/// How the history of a partner is read.
pub const LESART: Lesart = Lesart { label: label_of, wert };

fn label_of(name: &str) -> Option<&str> {
    Some(match name {
        "kundennr" => "Nummer",
        "name" => "Name auf Belegen",
        "vb_id" => "Vertriebler",
        name => felder().find(|feld| feld.0 == name).map_or(name, |feld| feld.1),
    })
}

/// The roles of a partner in words.
pub fn rollen(kunde: &Value) -> String {
    let rollen = kunde["partner_typen"].as_array().into_iter().flatten();
    rollen.filter_map(Value::as_str).map(wording).collect::<Vec<_>>().join(", ")
}

/// A field of an answer as people read it; blank where nothing is said.
pub fn wert(answer: &Value, name: &str) -> String {
    match felder().find(|feld| feld.0 == name).map(|feld| feld.2) {
        Some(Art::Tag) => date_of(answer, name),
        Some(Art::Zahl) => amount_of(answer, name),
        Some(Art::Auswahl(..)) => wording(text(answer, name)).to_owned(),
        Some(Art::Land) => name_de(text(answer, name)).to_owned(),
        Some(Art::Rollen) => rollen(answer),
        Some(Art::Zeile(_) | Art::Text) | None => match &answer[name] {
            Value::String(text) => text.clone(),
            Value::Number(found) => number(&found.to_string()),
            _ => String::new(),
        },
    }
}
