//! Files uploaded for documents: e-invoices of others, logos.

use partnerd::papers::blatt::check_logo;
use partnerd::papers::erechnung::lesen::{Gelesen, gedruckt, posten, read, verstoesse};
use partnerd::rules::fixed::Money;
use partnerd::rules::price::line_total;

use super::values::same;

const LINES_MAX: usize = 1_000;
const SENTENCES_MAX: usize = 50;
const NAME_CHARS_MAX: usize = 255;

/// An e-invoice, as XML or in a PDF; the items of each line add up to its printed total.
pub fn invoice(bytes: &[u8]) -> Result<(), String> {
    let Ok(gelesen) = read(bytes) else { return Ok(()) };
    same("lines", gelesen.zeilen.len() <= LINES_MAX, true)?;
    same("sentences", gelesen.zweifel.len() <= SENTENCES_MAX, true)?;
    verstoesse(&gelesen);
    gedruckt(&gelesen);
    totals(&gelesen)
}

fn totals(gelesen: &Gelesen) -> Result<(), String> {
    let Ok(posten) = posten(gelesen) else { return Ok(()) };
    for one in &posten {
        same("length of a name", one.bezeichnung.chars().count() <= NAME_CHARS_MAX, true)?;
        let printed = one.zeile.and_then(|at| gelesen.zeilen[at].netto).filter(|_| one.ist_genau);
        let Some(printed) = printed else { continue };
        let printed = if gelesen.ist_gutschrift { -printed } else { printed };
        let total = line_total(one.menge, one.ep_netto, one.rabatt_prozent);
        same("total of a line", total.ok(), Some(printed))?;
    }
    let _ = posten.iter().try_fold(Money::ZERO, |sum, posten| sum.plus(posten.netto()));
    Ok(())
}

pub fn logo(bytes: &[u8]) -> Result<(), String> {
    let _ = check_logo(bytes);
    Ok(())
}
