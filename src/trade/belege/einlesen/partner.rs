//! Finds the sender of an e-invoice, and checks that we are its recipient.

use crate::master::kunden::{self, Kunde, Merkmal};
use crate::master::tenants::firma;
use crate::papers::erechnung::Partei;
use crate::papers::erechnung::lesen::{Gelesen, one_line};
use crate::platform::db::tx::Tx;
use crate::platform::failure::Result;
use crate::rules::error::{HintCode, Hints};
use crate::rules::kennnummer::plain;

/// Maximum length of a name in a message, in characters.
const NAME_CHARS_MAX: usize = 100;

/// Returns the partner and how it was found.
pub fn of(tx: &Tx<'_>, gelesen: &Gelesen, hints: &mut Hints) -> Result<Option<(Kunde, &'static str)>> {
    let sender = &gelesen.verkaeufer;
    let mut named: Vec<(Merkmal, &'static str, String)> = Vec::new();
    named.extend(sender.ust_id.as_deref().map(|id| (Merkmal::UstId, "ust_id", plain(id))));
    let steuernummer = sender.steuernummer.as_deref();
    named.extend(steuernummer.map(|number| (Merkmal::Steuernummer, "steuernummer", plain(number))));
    named.extend(gelesen.ibans.iter().map(|iban| (Merkmal::Iban, "iban", iban.clone())));
    let name = Some(sender.name.trim()).filter(|name| !name.is_empty());
    named.extend(name.map(|name| (Merkmal::Name, "name", name.to_owned())));
    let mut several = None;
    for (merkmal, durch, value) in named.into_iter().filter(|(_, _, value)| !value.is_empty()) {
        let mut found = likely(kunden::with(tx, merkmal, &value)?, merkmal, sender);
        match (found.pop(), found.is_empty()) {
            (Some(kunde), true) => {
                check_account(gelesen, &kunde, hints);
                return Ok(Some((kunde, durch)));
            }
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
    hints.add_field(HintCode::PartnerUnbekannt, "gefunden.partner", message);
    Ok(None)
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

/// Adds a hint if the invoice is addressed to another company's VAT id.
pub fn check_receiver(tx: &Tx<'_>, gelesen: &Gelesen, hints: &mut Hints) -> Result<()> {
    let firma = firma::load(tx)?;
    let own = firma.ust_id.as_deref().map(plain);
    let named = gelesen.kaeufer.ust_id.as_deref().map(plain);
    if let (Some(own), Some(named)) = (own, named)
        && own != named
    {
        let message = format!(
            "Die Rechnung ist an {} gerichtet, nicht an die eigene USt-IdNr. Bitte prüfen, ob sie für diese Firma ist.",
            one_line(&gelesen.kaeufer.name, NAME_CHARS_MAX)
        );
        hints.add(HintCode::EmpfaengerPruefen, message);
    }
    Ok(())
}
