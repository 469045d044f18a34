//! Prices and line totals (D6).

use schemars::JsonSchema;
use serde::Serialize;

use super::fixed::{Money, Percent, Price, Quantity, TooLarge, divide_rounded};

/// A tiered price, valid from a quantity in the article's unit on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Staffelpreis")]
pub struct Tier {
    pub ab_menge: Quantity,
    pub preis: Price,
}

/// 100 % in the smallest units of [`Percent`].
const HUNDRED: i128 = Percent::whole(100).units() as i128;

/// Returns the price of the tier with the largest `ab_menge` ≤ |menge| (specification; D6).
pub fn tier_price(tiers: &[Tier], menge: Quantity) -> Option<Price> {
    let reached = tiers.iter().filter(|tier| tier.ab_menge <= menge.abs());
    reached.max_by_key(|tier| tier.ab_menge).map(|tier| tier.preis)
}

/// Computes `round2(menge × preis × (1 − rabatt / 100))`, rounded half away from zero.
///
/// In integers, because the exact product can have more digits than a decimal holds.
pub fn line_total(menge: Quantity, preis: Price, rabatt: Percent) -> Result<Money, TooLarge> {
    let gross = i128::from(menge.units()) * i128::from(preis.units());
    let product = gross.checked_mul(HUNDRED - i128::from(rabatt.units())).ok_or(TooLarge)?;
    let units = i128::from(Quantity::UNIT) * i128::from(Price::UNIT) * HUNDRED;
    Money::from_wide(divide_rounded(product, units / i128::from(Money::UNIT)))
}

/// The unit price after discount, rounded half away from zero.
pub fn discounted(preis: Price, rabatt: Percent) -> Result<Price, TooLarge> {
    let product = i128::from(preis.units()) * (HUNDRED - i128::from(rabatt.units()));
    Price::from_wide(divide_rounded(product, HUNDRED))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total(menge: &str, preis: &str, rabatt: &str) -> Result<String, TooLarge> {
        let menge = Quantity::parse(menge).unwrap().value;
        let preis = Price::parse(preis).unwrap().value;
        let rabatt = Percent::parse(rabatt).unwrap().value;
        line_total(menge, preis, rabatt).map(|total| total.to_string())
    }

    #[test]
    fn line_totals_are_exact() {
        let table = [
            ("7", "3.335", "12.5", Ok("20.43")),
            ("1250.500", "0.2455", "0", Ok("307.00")),
            ("-120", "0.2455", "0", Ok("-29.46")),
            ("1", "0.005", "0", Ok("0.01")),
            ("-1", "0.005", "0", Ok("-0.01")),
            ("3", "100", "100", Ok("0.00")),
            ("123456789012.123456", "0.123456", "33.333333", Ok("10160987613.66")),
            ("999999999999", "1", "0", Ok("999999999999.00")),
            ("999999999999", "1.1", "0", Err(TooLarge)),
            ("999999999999.999999", "999999999999.999999", "0.000001", Err(TooLarge)),
        ];
        for (menge, preis, rabatt, expected) in table {
            let expected = expected.map(str::to_owned);
            assert_eq!(total(menge, preis, rabatt), expected, "{menge} × {preis} − {rabatt} %");
        }
    }
}
