//! Decides by its type whether a document is read as an invoice (BT-3, a number of UNTDID 1001).

use super::model::Unlesbar;

/// The types that EN 16931 lists as invoices (code lists of its validation 1.3.16, BR-CL-01), without
/// [`NOT_READ`].
const INVOICES: &[u16] = &[
    71, 80, 82, 84, 102, 130, 202, 203, 204, 211, 218, 219, 295, 326, 331, 380, 382, 383, 384, 385, 386, 387,
    388, 390, 393, 394, 395, 456, 457, 471, 472, 473, 500, 501, 527, 553, 575, 623, 633, 780, 817, 870, 875,
    876, 877, 935,
];
/// The types that it lists as credit notes: their positive quantities are credited.
const CREDIT_NOTES: &[u16] = &[81, 83, 262, 296, 308, 381, 396, 420, 458, 502, 503, 532];

const SELF_BILLED: &str =
    "Das ist eine Gutschrift, die der Kunde über unsere Lieferung schreibt, keine Eingangsrechnung.";
/// Types in those lists that ask us for no money.
const NOT_READ: &[(u16, &str)] = &[
    (261, SELF_BILLED),
    (389, SELF_BILLED),
    (325, "Das ist eine Proforma-Rechnung. Bitte die Rechnung vom Lieferanten anfordern."),
    (
        751,
        "Das sind Angaben für die Buchhaltung, keine Rechnung. Bitte die Rechnung vom Lieferanten anfordern.",
    ),
];

/// Whether a document of this type is a credit note; refuses a type that cannot become an ER. Without a type
/// it is an invoice.
pub fn is_credit_note(typ: Option<&str>) -> Result<bool, Unlesbar> {
    let Some(typ) = typ else { return Ok(false) };
    let number: u16 = typ.parse().unwrap_or_default();
    if let Some((_, message)) = NOT_READ.iter().find(|(known, _)| *known == number) {
        return Err(Unlesbar::KeineRechnung((*message).to_owned()));
    }
    if CREDIT_NOTES.contains(&number) || INVOICES.contains(&number) {
        return Ok(CREDIT_NOTES.contains(&number));
    }
    let shown: String = typ.chars().filter(char::is_ascii_alphanumeric).take(3).collect();
    let message = format!(
        "Dokumente der Art {shown} sind keine Rechnungen (BT-3, EN 16931). Bitte die Rechnung vom Lieferanten \
         anfordern."
    );
    Err(Unlesbar::KeineRechnung(message))
}
