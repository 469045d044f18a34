//! The fields of a partner as people read and type them. The form and the labels of the history come from
//! this table.

use serde_json::Value;

use crate::leitstand::kit::parts::{amount, number, optional, or_blank};
use crate::leitstand::kit::verlauf::Lesart;
use crate::master::kunden::Kunde;
use crate::master::laender::name_de;
use crate::rules::choice::Choice;
use crate::rules::day::Day;
use crate::rules::stammdaten::{Anrede, ERechnung, KundeStatus, PartnerTyp};
use crate::rules::tax::Steuerart;

#[derive(Clone, Copy)]
pub enum Art {
    /// A line of text, with the type of its input.
    Zeile(&'static str),
    Text,
    Zahl,
    Tag,
    /// One of some values; `true` allows none of them.
    Auswahl(fn() -> Vec<&'static str>, bool),
    Land,
    Rollen,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Wann {
    Immer,
    /// Only in the form of a new partner: it never changes.
    Neu,
    /// Only in the form of an existing partner: the interface takes it only as a change (D3, D18).
    Spaeter,
    /// In both forms while it has no value: it is set once and never changes (D34).
    Einmal,
}

/// A field: its name in the interface, its label, its kind, when it is shown, and a partner's value.
pub struct Feld(pub &'static str, pub &'static str, pub Art, pub Wann, pub fn(&Kunde) -> String);

fn of(value: Option<impl Choice>) -> String {
    optional(value, Choice::text).to_owned()
}

const LINE: Art = Art::Zeile("text");

fn texts<C: Choice>() -> Vec<&'static str> {
    C::ALL.iter().map(|value| value.text()).collect()
}

/// The parts of the form: their headings and their fields.
pub const GRUPPEN: &[(&str, &[Feld])] = &[
    ("Wer", WER),
    ("Anschrift", ANSCHRIFT),
    ("Erreichbar", ERREICHBAR),
    ("Steuer und E-Rechnung", STEUER),
    ("Zahlung", ZAHLUNG),
    ("Buchhaltung (leer: mit dem ersten Stapel von selbst)", BUCHHALTUNG),
    ("Notizen", &[Feld("notizen", "Notizen", Art::Text, Wann::Immer, |k| or_blank(&k.notizen))]),
];

const WER: &[Feld] = &[
    Feld("kundennr", "Nummer (leer: die nächste)", LINE, Wann::Neu, |k| k.kundennr.clone()),
    Feld("anrede", "Anrede", Art::Auswahl(texts::<Anrede>, true), Wann::Immer, |k| of(k.anrede)),
    Feld("vorname", "Vorname", LINE, Wann::Immer, |k| or_blank(&k.vorname)),
    Feld("nachname_firma", "Nachname oder Firma", LINE, Wann::Immer, |k| k.nachname_firma.clone()),
    Feld("partner_typen", "Rollen", Art::Rollen, Wann::Immer, |_| String::new()),
    Feld("status", "Status", Art::Auswahl(texts::<KundeStatus>, false), Wann::Spaeter, |k| {
        of(Some(k.status))
    }),
];

const ANSCHRIFT: &[Feld] = &[
    Feld("strasse", "Straße und Hausnummer", LINE, Wann::Immer, |k| or_blank(&k.strasse)),
    Feld("plz", "Postleitzahl", LINE, Wann::Immer, |k| or_blank(&k.plz)),
    Feld("ort", "Ort", LINE, Wann::Immer, |k| or_blank(&k.ort)),
    Feld("staat", "Land", Art::Land, Wann::Immer, |k| k.staat.clone()),
];

const ERREICHBAR: &[Feld] = &[
    Feld("email", "E-Mail", LINE, Wann::Immer, |k| or_blank(&k.email)),
    Feld("telefon", "Telefon", Art::Zeile("tel"), Wann::Immer, |k| or_blank(&k.telefon)),
    Feld("telefon2", "Zweites Telefon", Art::Zeile("tel"), Wann::Immer, |k| or_blank(&k.telefon2)),
];

const STEUER: &[Feld] = &[
    Feld("ust_id", "USt-IdNr.", LINE, Wann::Immer, |k| or_blank(&k.ust_id)),
    Feld("steuernummer", "Steuernummer", LINE, Wann::Immer, |k| or_blank(&k.steuernummer)),
    Feld("steuerart", "Besteuerung", Art::Auswahl(texts::<Steuerart>, true), Wann::Spaeter, |k| {
        of(k.steuerart)
    }),
    Feld("e_rechnung", "E-Rechnung als", Art::Auswahl(texts::<ERechnung>, false), Wann::Immer, |k| {
        of(Some(k.e_rechnung))
    }),
    Feld("kaeuferreferenz", "Leitweg-ID oder Referenz", LINE, Wann::Immer, |k| or_blank(&k.kaeuferreferenz)),
    Feld("e_adresse", "Elektronische Adresse", LINE, Wann::Immer, |k| or_blank(&k.e_adresse)),
    Feld("gutschrift_vereinbart_am", "Gutschriften vereinbart am", Art::Tag, Wann::Immer, |k| {
        optional(k.gutschrift_vereinbart_am, |day| day.to_string())
    }),
    Feld("betriebsnummer", "Betriebsnummer", LINE, Wann::Immer, |k| or_blank(&k.betriebsnummer)),
];

const ZAHLUNG: &[Feld] = &[
    Feld("zahlungsziel_tage", "Zahlungsziel (Tage)", Art::Zahl, Wann::Immer, |k| {
        optional(k.zahlungsziel_tage, amount)
    }),
    Feld("skonto_tage", "Skonto (Tage)", Art::Zahl, Wann::Spaeter, |k| optional(k.skonto_tage, amount)),
    Feld("skonto_prozent", "Skonto (%)", Art::Zahl, Wann::Spaeter, |k| optional(k.skonto_prozent, amount)),
    Feld("iban", "IBAN", LINE, Wann::Immer, |k| or_blank(&k.iban)),
    Feld("bic", "BIC", LINE, Wann::Immer, |k| or_blank(&k.bic)),
];

const BUCHHALTUNG: &[Feld] = &[
    Feld("debitor_konto", "Debitorenkonto", LINE, Wann::Einmal, |k| {
        optional(k.debitor_konto, |konto| konto.to_string())
    }),
    Feld("kreditor_konto", "Kreditorenkonto", LINE, Wann::Einmal, |k| {
        optional(k.kreditor_konto, |konto| konto.to_string())
    }),
];

pub fn felder() -> impl Iterator<Item = &'static Feld> {
    GRUPPEN.iter().flat_map(|(_, felder)| felder.iter())
}

/// A value of an enumeration in words; others are returned unchanged.
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

pub const LESART: Lesart = (label_of, words_of);

fn label_of(name: &str) -> Option<&str> {
    Some(match name {
        "kundennr" => "Nummer",
        "name" => "Name auf Belegen",
        "vb_id" => "Vertriebler",
        name => felder().find(|feld| feld.0 == name).map_or(name, |feld| feld.1),
    })
}

pub fn rollen(rollen: impl IntoIterator<Item = PartnerTyp>) -> String {
    rollen.into_iter().map(|rolle| wording(rolle.as_str())).collect::<Vec<_>>().join(", ")
}

/// A value in a history, as people read it.
fn words_of(name: &str, value: &Value) -> String {
    let art = felder().find(|feld| feld.0 == name).map(|feld| feld.2);
    match (art, value) {
        (Some(Art::Zahl), Value::String(text)) => amount(text),
        (Some(Art::Tag), Value::String(text)) => {
            Day::parse_plain(text).map_or_else(|| text.clone(), Day::german)
        }
        (Some(Art::Land), Value::String(text)) => name_de(text).to_owned(),
        (Some(Art::Auswahl(..)), Value::String(text)) => wording(text).to_owned(),
        (_, Value::Array(found)) => {
            rollen(found.iter().filter_map(|rolle| PartnerTyp::parse(rolle.as_str()?)))
        }
        (_, Value::String(text)) => text.clone(),
        (Some(Art::Zeile(_)), Value::Number(found)) => found.to_string(),
        (_, Value::Number(found)) => number(found),
        _ => String::new(),
    }
}
