//! Finds the sender of an e-invoice, and checks that we are its recipient.

use std::collections::BTreeSet;

use super::model::GefundenerPartner;
use crate::master::kunden::{self, Kunde, Merkmal};
use crate::master::tenants::firma;
use crate::papers::erechnung::Partei;
use crate::papers::erechnung::lesen::{Gelesen, one_line};
use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::rules::error::{HintCode, Hints};
use crate::rules::kennnummer::{is_same_steuernummer, is_steuernummer, plain};
use crate::rules::plausible::country_of_eu_ust_id;
use crate::rules::text::folded_key;
use crate::rules::verweis::Verweis;

/// Maximum length of a name in a message, in characters.
const NAME_CHARS_MAX: usize = 100;

/// Letters of a word that says who somebody is.
const WORD_CHARS: usize = 4;

/// Words of names that say nothing of it, folded.
const LEGAL_FORMS: &[&str] = &[
    "gmbh",
    "ggmbh",
    "mbh",
    "kgaa",
    "gesellschaft",
    "genossenschaft",
    "eingetragene",
    "limited",
    "inhaber",
    "firma",
    "herr",
    "frau",
    "familie",
    "und",
];

/// A partner, how it was found, and whether that is no proof.
pub struct Fund {
    pub kunde: Kunde,
    pub durch: &'static str,
    pub is_doubtful: bool,
}

impl Fund {
    pub fn shown(self) -> GefundenerPartner {
        let Kunde { id, kundennr, name, .. } = self.kunde;
        GefundenerPartner { id, kundennr, name, durch: self.durch.to_owned() }
    }
}

/// Returns the partner that the request names, else the one that the marks of the sender name.
pub fn of(
    tx: &Tx<'_>,
    named: Option<&Verweis>,
    gelesen: &Gelesen,
    hints: &mut Hints,
) -> Result<Option<Fund>> {
    let sender = &gelesen.verkaeufer;
    if let Some(kunde) = kunden::named(tx, named, None)? {
        return Ok(Some(sent(kunde, gelesen, hints)));
    }
    let mut several = None;
    for (merkmal, durch, value) in marks(gelesen) {
        let found = kunden::with(tx, merkmal, &value)?;
        let (excluded, found): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|kunde| contradiction(kunde, sender).is_some());
        excluded.iter().for_each(|kunde| hint_excluded(kunde, sender, durch, hints));
        let mut found = likely(found, merkmal, sender);
        match (found.pop(), found.is_empty()) {
            (Some(kunde), true) => return Ok(Some(likeliest(kunde, (merkmal, durch), gelesen, hints))),
            (Some(_), false) => several = several.or(Some(durch)),
            (None, _) => {}
        }
    }
    let message = match several {
        Some(durch) => format!(
            "Mehrere Lieferanten haben dieselbe Angabe ({durch}). Bitte kunden_id im Vorschlag ergänzen."
        ),
        None => "Der Absender der Rechnung ist kein bekannter Lieferant. Bitte anlegen oder kunden_id im Vorschlag \
            ergänzen."
            .to_owned(),
    };
    hint_partner(HintCode::PartnerUnbekannt, message, hints);
    Ok(None)
}

/// The partner that the request names.
fn sent(kunde: Kunde, gelesen: &Gelesen, hints: &mut Hints) -> Fund {
    if let Some(why) = contradiction(&kunde, &gelesen.verkaeufer) {
        let message = format!("{} ist als Absender genannt, aber {why}.", kunde.name);
        hint_partner(HintCode::PartnerPruefen, message, hints);
    }
    check_account(gelesen, &kunde, hints);
    Fund { kunde, durch: "kunden_id", is_doubtful: false }
}

/// The only partner with a mark.
fn likeliest(
    kunde: Kunde,
    (merkmal, durch): (Merkmal, &'static str),
    gelesen: &Gelesen,
    hints: &mut Hints,
) -> Fund {
    check_account(gelesen, &kunde, hints);
    let is_doubtful = is_weak(merkmal, &kunde, gelesen);
    if is_doubtful {
        let message = format!(
            "{} ist nur wahrscheinlich der Absender: Es stimmt allein {durch}. Bitte prüfen und kunden_id senden.",
            kunde.name
        );
        hint_partner(HintCode::PartnerPruefen, message, hints);
    }
    Fund { kunde, durch, is_doubtful }
}

/// The marks of the sender, the strongest first.
fn marks(gelesen: &Gelesen) -> Vec<(Merkmal, &'static str, String)> {
    let sender = &gelesen.verkaeufer;
    let mut marks: Vec<(Merkmal, &'static str, String)> = Vec::new();
    marks.extend(sender.ust_id.as_deref().map(|id| (Merkmal::UstId, "ust_id", plain(id))));
    let steuernummer = sender.steuernummer.as_deref();
    marks.extend(steuernummer.map(|number| (Merkmal::Steuernummer, "steuernummer", plain(number))));
    marks.extend(gelesen.ibans.iter().map(|iban| (Merkmal::Iban, "iban", iban.clone())));
    marks.push((Merkmal::Name, "name", sender.name.trim().to_owned()));
    marks.retain(|(_, _, value)| !value.is_empty());
    marks
}

/// Whether the mark by which a partner was found proves nothing: a name or an account alone, or a number of the
/// authorities beside another name.
fn is_weak(merkmal: Merkmal, kunde: &Kunde, gelesen: &Gelesen) -> bool {
    let sender = &gelesen.verkaeufer;
    let is_named = shares_word(&kunde.name, &sender.name) || shares_word(&kunde.nachname_firma, &sender.name);
    let has_account = kunde.iban.as_ref().is_some_and(|iban| gelesen.ibans.contains(&plain(iban)));
    let is_there =
        kunde.plz.is_some() && kunde.plz.as_deref().map(str::trim) == sender.plz.as_deref().map(str::trim);
    match merkmal {
        Merkmal::Name => !has_account && !is_there,
        Merkmal::UstId | Merkmal::Steuernummer | Merkmal::Iban => !is_named && !sender.name.trim().is_empty(),
    }
}

/// Says why a partner cannot be the sender: both have a VAT id of a right form, or else a tax number, and these differ.
fn contradiction(kunde: &Kunde, sender: &Partei) -> Option<String> {
    let formed =
        |id: &Option<String>| id.as_deref().map(plain).filter(|id| country_of_eu_ust_id(id).is_some());
    if let Some((own, theirs)) = formed(&kunde.ust_id).zip(formed(&sender.ust_id)) {
        return (own != theirs)
            .then(|| format!("die USt-IdNr. ist hinterlegt als {own}, die Rechnung nennt {theirs}"));
    }
    let formed =
        |number: &Option<String>| number.as_deref().map(plain).filter(|number| is_steuernummer(number));
    let (own, theirs) = formed(&kunde.steuernummer).zip(formed(&sender.steuernummer))?;
    let differs = !is_same_steuernummer(&own, &theirs);
    differs.then(|| format!("die Steuernummer ist hinterlegt als {own}, die Rechnung nennt {theirs}"))
}

fn hint_excluded(kunde: &Kunde, sender: &Partei, durch: &str, hints: &mut Hints) {
    let why = contradiction(kunde, sender).unwrap_or_default();
    let message =
        format!("{} ({}) ist nicht der Absender, obwohl {durch} stimmt: {why}.", kunde.name, kunde.kundennr);
    hint_partner(HintCode::PartnerAusgeschlossen, message, hints);
}

fn hint_partner(code: HintCode, message: String, hints: &mut Hints) {
    hints.add_field(code, "gefunden.partner", message);
}

/// Whether two names have a word of four letters in common; names without such a word, a word at all.
fn shares_word(one: &str, other: &str) -> bool {
    let words = |name: &str, least: usize| -> BTreeSet<String> {
        let folded = folded_key(name);
        let words = folded.split(|letter: char| !letter.is_alphanumeric());
        let is_word = |word: &&str| word.chars().count() >= least && !LEGAL_FORMS.contains(word);
        words.filter(is_word).map(str::to_owned).collect()
    };
    let long = [words(one, WORD_CHARS), words(other, WORD_CHARS)];
    let least = if long.iter().any(BTreeSet::is_empty) { 1 } else { WORD_CHARS };
    !words(one, least).is_disjoint(&words(other, least))
}

/// Narrows several partners down to suppliers, then to those in the sender's place. A name alone does not
/// count if the places differ.
fn likely(mut found: Vec<Kunde>, merkmal: Merkmal, sender: &Partei) -> Vec<Kunde> {
    let same_place = |kunde: &Kunde| match (&kunde.plz, &sender.plz) {
        (Some(own), Some(theirs)) => own.trim() == theirs.trim(),
        _ => merkmal != Merkmal::Name || kunde.plz.is_none(),
    };
    if merkmal == Merkmal::Name {
        found.retain(same_place);
    }
    if found.iter().any(|kunde| kunde.partner_typen.lieferant) {
        found.retain(|kunde| kunde.partner_typen.lieferant);
    }
    if found.len() > 1 && found.iter().any(same_place) {
        found.retain(same_place);
    }
    found
}

/// Adds a hint if the account differs from the stored one, which may be fraud.
fn check_account(gelesen: &Gelesen, kunde: &Kunde, hints: &mut Hints) {
    let Some(known) = kunde.iban.as_deref().map(plain) else { return };
    if !gelesen.ibans.is_empty() && !gelesen.ibans.contains(&known) {
        let message = "Die Rechnung nennt ein anderes Konto als das hinterlegte. Bitte beim Lieferanten unter einer \
            bekannten Telefonnummer nachfragen, bevor Geld fließt.";
        hints.add_field(HintCode::IbanAbweichend, "gefunden.partner", message);
    }
}

/// Adds a hint if the invoice is addressed to another company's VAT id, or without one to another name.
pub fn check_receiver(tx: &Tx<'_>, gelesen: &Gelesen, hints: &mut Hints) -> Result<()> {
    let firma = firma::load(tx)?;
    let own = firma.ust_id.as_deref().map(plain);
    let named = gelesen.kaeufer.ust_id.as_deref().map(plain).filter(|id| !id.is_empty());
    let buyer = gelesen.kaeufer.name.trim();
    let what = match (own, named, firma.firma.as_deref()) {
        (Some(own), Some(named), _) if own != named => "die eigene USt-IdNr.",
        (_, None, Some(firma)) if !buyer.is_empty() && !shares_word(firma, buyer) => "diese Firma",
        _ => return Ok(()),
    };
    let buyer = one_line(buyer, NAME_CHARS_MAX);
    let message = format!(
        "Die Rechnung ist an {buyer} gerichtet, nicht an {what} Bitte prüfen, ob sie für diese Firma ist."
    );
    hints.add(HintCode::EmpfaengerPruefen, message.replace("Firma Bitte", "Firma. Bitte"));
    Ok(())
}
