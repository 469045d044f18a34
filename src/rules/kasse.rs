//! The cash register: kinds of receipts, and the printed amounts of a line (specification, Barverkauf; D7).

use super::fixed::{Money, Percent, Price, TooLarge};
use super::tax::contained_tax;
use crate::choice;

const HALF_A_CENT: Price = Price::from_units(5_000);

choice! {
    pub enum BonArt {
        Verkauf = "verkauf",
        Storno = "storno",
    }
}

/// Returns gross and contained tax of a line from the amounts that a register printed (DSFinV-K, Bonpos_USt).
/// A register that computes gross leaves net and tax blank or 0; one that computes net leaves gross blank or
/// 0. `None` if nothing was printed.
pub fn printed(
    brutto: Option<Price>,
    netto: Option<Price>,
    ust: Option<Price>,
    rate: Percent,
) -> Result<Option<(Money, Money)>, TooLarge> {
    let cents = |amount: Price| Money::round(amount.decimal());
    let said = |amount: Option<Price>| amount.filter(|amount| !amount.is_zero());
    Ok(match (said(brutto), said(netto), said(ust)) {
        (Some(gross), _, Some(tax)) => Some((cents(gross)?, cents(tax)?)),
        (Some(gross), Some(net), None) => Some((cents(gross)?, cents(gross.minus(net)?)?)),
        (Some(gross), None, None) => {
            let gross = cents(gross)?;
            Some((gross, contained_tax(gross, rate)))
        }
        (None, Some(net), tax) => {
            let tax = tax.unwrap_or_default();
            Some((cents(net.plus(tax)?)?, cents(tax)?))
        }
        (None, None, Some(_)) => None,
        (None, None, None) => brutto.or(netto).or(ust).map(|_| (Money::ZERO, Money::ZERO)),
    })
}

/// Whether a register's net and tax add up to its gross, to the cent; true if it did not print all three.
pub fn adds_up(brutto: Option<Price>, netto: Option<Price>, ust: Option<Price>) -> bool {
    let said = |amount: Option<Price>| amount.filter(|amount| !amount.is_zero());
    let (Some(brutto), Some(netto), Some(ust)) = (said(brutto), said(netto), ust) else { return true };
    let sum = netto.plus(ust).and_then(|sum| brutto.minus(sum));
    sum.is_ok_and(|rest| rest.abs() < HALF_A_CENT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amount(text: &str) -> Option<Price> {
        Price::parse(text).ok().map(|parsed| parsed.value)
    }

    #[test]
    fn what_a_register_left_out_follows_from_what_it_printed() {
        let table = [
            (("11.90", "10.00", "1.90"), Some("11.90 1.90")),
            // The printed amounts, even if we would compute others.
            (("11.90", "10.01", "1.89"), Some("11.90 1.89")),
            (("11.90", "", ""), Some("11.90 1.90")),
            (("11.90", "0", "0"), Some("11.90 1.90")),
            (("11.90", "10.00", ""), Some("11.90 1.90")),
            (("", "10.00", "1.90"), Some("11.90 1.90")),
            (("0", "10.00", "1.90"), Some("11.90 1.90")),
            // Rounded once, after adding.
            (("", "0.00400", "0.00100"), Some("0.01 0.00")),
            (("-11.90", "-10.00", "-1.90"), Some("-11.90 -1.90")),
            (("0", "0", "0"), Some("0.00 0.00")),
            (("", "", ""), None),
            (("", "", "1.90"), None),
        ];
        for ((brutto, netto, ust), expected) in table {
            let got = printed(amount(brutto), amount(netto), amount(ust), Percent::whole(19)).unwrap();
            let got = got.map(|(gross, tax)| format!("{gross} {tax}"));
            assert_eq!(got.as_deref(), expected, "{brutto} {netto} {ust}");
        }
    }

    #[test]
    fn net_and_tax_add_up_to_the_gross_where_all_are_printed() {
        let table = [
            (("11.90", "10.00", "1.90"), true),
            (("11.90", "10.01", "1.90"), false),
            (("11.90", "10.00000", "1.89501"), true),
            (("11.90", "10.00", "0"), false),
            (("11.90", "10.00", ""), true),
            (("11.90", "0", "0"), true),
            (("0", "10.00", "1.90"), true),
            (("-11.90", "-10.00", "-1.80"), false),
        ];
        for ((brutto, netto, ust), expected) in table {
            assert_eq!(
                adds_up(amount(brutto), amount(netto), amount(ust)),
                expected,
                "{brutto} {netto} {ust}"
            );
        }
    }
}
