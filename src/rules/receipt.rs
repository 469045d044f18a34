//! Net quantity of a goods receipt (D23).

use rust_decimal::{Decimal, RoundingStrategy};

use super::fixed::{Money, Percent, Price, Quantity, TooLarge};
use super::price::line_total;
use crate::choice;

choice! {
    /// States of a goods-receipt note (D3).
    pub enum AnnahmescheinStatus {
        Offen = "offen",
        Abgerechnet = "abgerechnet",
        Storniert = "storniert",
    }
}

/// What was delivered, and what the laboratory says of it. A basis that is not known means: no
/// deduction (D21a).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Anlieferung {
    /// Delivered weight in kg.
    pub menge: Quantity,
    /// Impurities.
    pub besatz: Option<Percent>,
    /// Impurities that are not deducted.
    pub basisbesatz: Option<Percent>,
    /// Moisture.
    pub feuchte: Option<Percent>,
    /// Moisture that is not deducted.
    pub basisfeuchte: Option<Percent>,
    /// How much weight a per cent of moisture costs, in per cent.
    pub schwundfaktor: Quantity,
    /// Other deductions in kg.
    pub abzuege: Quantity,
}

/// What is paid for, in whole kg, rounded once, half up; below zero none (D23).
pub fn net_quantity(anlieferung: &Anlieferung) -> Result<Option<Quantity>, TooLarge> {
    let Anlieferung { menge, schwundfaktor, abzuege, .. } = anlieferung;
    let besatz = excess(anlieferung.besatz, anlieferung.basisbesatz);
    let feuchte = excess(anlieferung.feuchte, anlieferung.basisfeuchte);
    let cleaned = menge.decimal() * (Decimal::ONE - besatz / Decimal::ONE_HUNDRED);
    let dried = cleaned * (Decimal::ONE - feuchte * schwundfaktor.decimal() / Decimal::ONE_HUNDRED);
    let net = dried - abzuege.decimal();
    if net.is_sign_negative() && !net.is_zero() {
        return Ok(None);
    }
    Quantity::round(net.round_dp_with_strategy(0, RoundingStrategy::MidpointAwayFromZero)).map(Some)
}

/// `round2(net / 1000 × preis_je_t)` (D23).
pub fn net_amount(netto_kg: Quantity, preis_je_t: Price) -> Result<Money, TooLarge> {
    line_total(tonnes(netto_kg), preis_je_t, Percent::ZERO)
}

/// Whole kg in t.
pub fn tonnes(kg: Quantity) -> Quantity {
    Quantity::from_units(kg.units() / 1_000)
}

fn excess(value: Option<Percent>, basis: Option<Percent>) -> Decimal {
    let difference = value.zip(basis).map(|(value, basis)| value.decimal() - basis.decimal());
    difference.unwrap_or_default().max(Decimal::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn percent(text: &str) -> Option<Percent> {
        (!text.is_empty()).then(|| Percent::parse(text).unwrap().value)
    }

    #[test]
    fn the_net_quantity_is_rounded_once() {
        // menge, besatz, basisbesatz, feuchte, basisfeuchte, schwundfaktor, abzuege, net
        let table = [
            ("50000", "0.6", "0", "25", "13", "1.2", "0", Some("42543.000")),
            ("24860", "2.8", "2.0", "16.2", "14.5", "1.3", "0", Some("24116.000")),
            ("24860", "1.0", "2.0", "13.0", "14.5", "1.3", "0", Some("24860.000")),
            // A basis that is not known deducts nothing.
            ("24860", "2.8", "", "16.2", "", "1.3", "10", Some("24850.000")),
            // Half a kilogram goes up; anything below zero is refused.
            ("1000.5", "", "", "", "", "1", "0", Some("1001.000")),
            ("1000.499", "", "", "", "", "1", "0", Some("1000.000")),
            ("10", "", "", "", "", "1", "10", Some("0.000")),
            ("10", "", "", "", "", "1", "10.001", None),
            ("10", "", "", "90", "0", "2", "0", None),
        ];
        for (menge, besatz, basisbesatz, feuchte, basisfeuchte, faktor, abzuege, expected) in table {
            let quantity = |text: &str| Quantity::parse(text).unwrap().value;
            let anlieferung = Anlieferung {
                menge: quantity(menge),
                besatz: percent(besatz),
                basisbesatz: percent(basisbesatz),
                feuchte: percent(feuchte),
                basisfeuchte: percent(basisfeuchte),
                schwundfaktor: quantity(faktor),
                abzuege: quantity(abzuege),
            };
            let net = net_quantity(&anlieferung).unwrap().map(|net| net.to_string());
            assert_eq!(net.as_deref(), expected, "{anlieferung:?}");
        }
    }

    #[test]
    fn the_amount_follows_from_tonnes() {
        let price = Price::parse("213.455").unwrap().value;
        assert_eq!(net_amount(Quantity::whole(24_116), price).unwrap().to_string(), "5147.68");
    }
}
