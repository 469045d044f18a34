//! Rates of a step: exact fractions, rounded only when they become a printed figure (D29f).

use crate::rules::fixed::{TooLarge, Zahl, divide_rounded};

/// Millionths in one.
pub(super) const ONE: i128 = 1_000_000;

/// Decimals of a difference times a rate: six of each.
const PLACES: usize = 12;

/// A rate in per cent, in EUR/t or in EUR; the denominator is positive.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rate {
    numerator: i128,
    denominator: i128,
}

impl Rate {
    pub const ZERO: Rate = Rate { numerator: 0, denominator: ONE * ONE };

    pub fn of(satz: Zahl) -> Rate {
        Rate { numerator: i128::from(satz.units()) * ONE, denominator: ONE * ONE }
    }

    /// Multiplies a difference in millionths by a rate.
    pub fn times(difference: i128, satz: Zahl) -> Rate {
        Rate { numerator: difference * i128::from(satz.units()), denominator: ONE * ONE }
    }

    /// Multiplies a number of steps by a rate.
    pub fn steps(count: i128, satz: Zahl) -> Rate {
        Rate::times(count * ONE, satz)
    }

    /// Adds two rates that were both made of differences.
    pub fn plus(self, other: Rate) -> Rate {
        Rate { numerator: self.numerator + other.numerator, ..self }
    }

    /// Shrink to a standard weight: `difference / (100 − basis)` in per cent, plus a handling loss in per
    /// cent.
    pub fn standard_weight(difference: i128, basis: Zahl, handling: Zahl) -> Rate {
        let rest = 100 * ONE - i128::from(basis.units());
        let numerator = 100 * difference * ONE + i128::from(handling.units()) * rest;
        Rate { numerator, denominator: ONE * rest }
    }

    /// Applies the rate to a reference, rounded half away from zero; `divisor` converts the product of both
    /// units into the unit of the result.
    pub fn of_reference(self, reference: i128, divisor: i128) -> Result<i128, TooLarge> {
        let product = self.numerator.checked_mul(reference).ok_or(TooLarge)?;
        Ok(divide_rounded(product, self.denominator.checked_mul(divisor).ok_or(TooLarge)?))
    }

    /// The rate with all its decimals and a point; `None` if the decimals do not end.
    pub fn text(self) -> Option<String> {
        (self.denominator == ONE * ONE).then(|| decimals(self.numerator, PLACES))
    }
}

/// Formats a value without trailing zeros: "1.5", "13".
pub fn plain(wert: Zahl) -> String {
    decimals(i128::from(wert.units()), 6)
}

fn decimals(units: i128, places: usize) -> String {
    let digits = format!("{:0width$}", units.unsigned_abs(), width = places + 1);
    let (whole, fraction) = digits.split_at(digits.len() - places);
    let sign = if units < 0 { "-" } else { "" };
    match fraction.trim_end_matches('0') {
        "" => format!("{sign}{whole}"),
        fraction => format!("{sign}{whole}.{fraction}"),
    }
}
