//! Net quantity of a goods receipt (D23).

use rust_decimal::{Decimal, RoundingStrategy};

use super::fixed::{Money, Percent, Price, Quantity, TooLarge};
use super::price::line_total;
use crate::choice;

choice! {
    /// States of a goods receipt (D3).
    #[derive(Default)]
    pub enum AnnahmescheinStatus {
        #[default]
        Offen = "offen",
        Abgerechnet = "abgerechnet",
        Storniert = "storniert",
    }
}

/// A delivery: its weight and its laboratory values. A basis that is unknown means no deduction (D21a).
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
    /// Weight loss for each per cent of moisture, in per cent.
    pub schwundfaktor: Quantity,
    /// Other deductions in kg.
    pub abzuege: Quantity,
}

/// What is left of a delivery after each deduction, in kg, unrounded (D23).
struct Rest {
    /// After deducting impurities.
    cleaned: Decimal,
    /// After also deducting excess moisture.
    dried: Decimal,
    /// Per cent of `cleaned` that is deducted for moisture.
    schwund: Decimal,
}

impl Rest {
    fn of(anlieferung: &Anlieferung) -> Rest {
        let besatz = excess(anlieferung.besatz, anlieferung.basisbesatz);
        let schwund =
            excess(anlieferung.feuchte, anlieferung.basisfeuchte) * anlieferung.schwundfaktor.decimal();
        let cleaned = anlieferung.menge.decimal() * (Decimal::ONE - besatz / Decimal::ONE_HUNDRED);
        Rest { cleaned, dried: cleaned * (Decimal::ONE - schwund / Decimal::ONE_HUNDRED), schwund }
    }
}

/// The deductions of a delivery, each in per cent and kg, as shown to the person who delivered it. The kg are
/// rounded to 10 g; the paid quantity is [`net_quantity`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abzuege {
    /// Per cent of the delivery: impurities above their basis.
    pub besatz_prozent: Percent,
    pub besatz_kg: Quantity,
    /// Per cent of the rest: moisture above its basis, times the factor.
    pub schwund_prozent: Percent,
    pub schwund_kg: Quantity,
}

/// Computes the deductions of a delivery (D23).
pub fn deductions(anlieferung: &Anlieferung) -> Result<Abzuege, TooLarge> {
    let Rest { cleaned, dried, schwund } = Rest::of(anlieferung);
    let kg = |taken: Decimal| {
        Quantity::round(taken.round_dp_with_strategy(2, RoundingStrategy::MidpointAwayFromZero))
    };
    Ok(Abzuege {
        besatz_prozent: Percent::round(excess(anlieferung.besatz, anlieferung.basisbesatz))?,
        besatz_kg: kg(anlieferung.menge.decimal() - cleaned)?,
        schwund_prozent: Percent::round(schwund)?,
        schwund_kg: kg(cleaned - dried)?,
    })
}

/// The paid quantity in whole kg, rounded once, half up; `None` if it is below zero (D23).
pub fn net_quantity(anlieferung: &Anlieferung) -> Result<Option<Quantity>, TooLarge> {
    let net = Rest::of(anlieferung).dried - anlieferung.abzuege.decimal();
    if net.is_sign_negative() && !net.is_zero() {
        return Ok(None);
    }
    Quantity::round(net.round_dp_with_strategy(0, RoundingStrategy::MidpointAwayFromZero)).map(Some)
}

/// `round2(net / 1000 × preis_je_t)` (D23).
pub fn net_amount(netto_kg: Quantity, preis_je_t: Price) -> Result<Money, TooLarge> {
    line_total(tonnes(netto_kg), preis_je_t, Percent::ZERO)
}

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
            // An unknown basis deducts nothing.
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
    fn deductions_are_named_in_per_cent_and_kg() {
        let quantity = |text: &str| Quantity::parse(text).unwrap().value;
        // menge, besatz, basisbesatz, feuchte, basisfeuchte, schwundfaktor: per cent and kg of both
        // deductions
        let table = [
            (["24860", "2.8", "2.0", "16.2", "14.5", "1.3"], ["0.80", "198.880", "2.21", "545.010"]),
            (["24860", "2.8", "", "16.2", "", "1.3"], ["0.00", "0.000", "0.00", "0.000"]),
            (["24860", "1.0", "2.0", "14.0", "14.5", "1.3"], ["0.00", "0.000", "0.00", "0.000"]),
            (["1000", "0", "0", "15.5", "15", "1"], ["0.00", "0.000", "0.50", "5.000"]),
        ];
        for ([menge, besatz, basisbesatz, feuchte, basisfeuchte, faktor], expected) in table {
            let found = deductions(&Anlieferung {
                menge: quantity(menge),
                besatz: percent(besatz),
                basisbesatz: percent(basisbesatz),
                feuchte: percent(feuchte),
                basisfeuchte: percent(basisfeuchte),
                schwundfaktor: quantity(faktor),
                abzuege: Quantity::ZERO,
            });
            let found = found.unwrap();
            let shown = [
                found.besatz_prozent.to_string(),
                found.besatz_kg.to_string(),
                found.schwund_prozent.to_string(),
                found.schwund_kg.to_string(),
            ];
            assert_eq!(shown, expected, "{menge} kg");
        }
    }

    #[test]
    fn the_amount_follows_from_tonnes() {
        let price = Price::parse("213.455").unwrap().value;
        assert_eq!(net_amount(Quantity::whole(24_116), price).unwrap().to_string(), "5147.68");
    }
}
