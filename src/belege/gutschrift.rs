//! Credit notes that the company writes for its suppliers (self-billing, UStG § 14 (2); D24).

use super::model::Beleg;
use crate::kunden::Kunde;
use crate::rules::document::BelegTyp;
use crate::rules::error::{Checked, Code, HintCode, Hints, Refusal};

/// Whether a document is one, by what was sent: only an ER can be.
pub fn asked(typ: BelegTyp, sent: Option<bool>) -> Checked<bool> {
    match sent {
        Some(true) if !typ.ist_fremdrechnung() => {
            let message = "Nur eine ER kann eine Gutschrift an den Lieferanten sein. Bitte gutschrift weglassen oder \
                eine ER anlegen.";
            Err(Refusal::field(Code::FeldWiderspruch, "gutschrift", message))
        }
        sent => Ok(sent.unwrap_or(false)),
    }
}

/// The law asks that both agreed on it before.
pub fn hint_not_agreed(beleg: &Beleg, kunde: &Kunde, hints: &mut Hints) {
    if beleg.gutschrift && kunde.gutschrift_vereinbart_am.is_none() {
        let message = format!(
            "Mit {} ist nicht vereinbart, dass die Firma die Gutschriften schreibt (§ 14 Abs. 2 UStG). Bitte beim \
             Lieferanten gutschrift_vereinbart_am eintragen.",
            kunde.name
        );
        hints.add_field(HintCode::GutschriftNichtVereinbart, "gutschrift", message);
    }
}
