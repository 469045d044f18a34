//! Exact decimals of fixed scale (D14): money, quantities, prices, percentages.
//!
//! Each is an integer of its smallest unit, as the database stores it, and is written with a dot and at least
//! as many decimals as its kind shows. No binary float is involved anywhere.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use rust_decimal::{Decimal, RoundingStrategy};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Absolute values must stay below this (D14): 10^12 units.
pub const LIMIT: i64 = 1_000_000_000_000;

/// Most digits before the decimal point of a value below [`LIMIT`].
const LIMIT_DIGITS: i64 = 12;

/// Bytes of the longest number: a sign, the digits of an i64, a point.
const LONGEST: usize = 21;

/// A decimal number: an integer of `SCALE` decimals, shown with at least `SHOWN` of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Fixed<const SCALE: u32, const SHOWN: usize>(i64);

/// Euro, in cents: "20.43".
pub type Money = Fixed<2, 2>;
/// A quantity or a weight, in millionths: "12.500".
pub type Quantity = Fixed<6, 3>;
/// Euro per unit, in millionths: "0.3200".
pub type Price = Fixed<6, 4>;
/// Per cent, in millionths: "7.00".
pub type Percent = Fixed<6, 2>;
/// A measured value in any unit, or a basis or rate for it, in millionths: "16.2" (D29).
pub type Zahl = Fixed<6, 1>;

/// Error: a value reached [`LIMIT`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLarge;

impl<const SCALE: u32, const SHOWN: usize> Fixed<SCALE, SHOWN> {
    pub const ZERO: Self = Self(0);
    /// Smallest units per whole: 100 cents in a euro.
    pub const UNIT: i64 = 10i64.pow(SCALE);

    pub const fn units(self) -> i64 {
        self.0
    }

    pub const fn from_units(units: i64) -> Self {
        Self(units)
    }

    pub const fn whole(number: i64) -> Self {
        Self(number * Self::UNIT)
    }

    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    pub const fn is_negative(self) -> bool {
        self.0 < 0
    }

    pub const fn abs(self) -> Self {
        Self(self.0.abs())
    }

    pub fn plus(self, other: Self) -> Result<Self, TooLarge> {
        Self::from_wide(i128::from(self.0) + i128::from(other.0))
    }

    pub fn minus(self, other: Self) -> Result<Self, TooLarge> {
        self.plus(-other)
    }

    /// Converts a number of smallest units, which may be too large.
    pub fn from_wide(units: i128) -> Result<Self, TooLarge> {
        match i64::try_from(units) {
            Ok(units) if units.unsigned_abs() < LIMIT.unsigned_abs() * Self::UNIT.unsigned_abs() => {
                Ok(Self(units))
            }
            _ => Err(TooLarge),
        }
    }

    pub fn decimal(self) -> Decimal {
        Decimal::new(self.0, SCALE)
    }

    /// Rounds commercially (half away from zero) to the scale of this kind.
    pub fn round(value: Decimal) -> Result<Self, TooLarge> {
        let mut rounded = value.round_dp_with_strategy(SCALE, RoundingStrategy::MidpointAwayFromZero);
        rounded.rescale(SCALE);
        if rounded.scale() == SCALE { Self::from_wide(rounded.mantissa()) } else { Err(TooLarge) }
    }

    /// Writes the number digit by digit from the end: a page of receipt lines has 25,000 of them, so speed
    /// matters.
    pub fn text(self, buffer: &mut [u8; LONGEST]) -> &str {
        let (mut units, mut decimals) = (self.0.unsigned_abs(), SCALE as usize);
        while decimals > SHOWN && units.is_multiple_of(10) {
            units /= 10;
            decimals -= 1;
        }
        let mut at = buffer.len();
        let mut write = |byte| {
            at -= 1;
            buffer[at] = byte;
        };
        let mut digits = 0;
        // At least one digit stands before the point.
        while units > 0 || digits <= decimals {
            if digits == decimals {
                write(b'.');
            }
            write(b'0' + (units % 10) as u8);
            units /= 10;
            digits += 1;
        }
        if self.0 < 0 {
            write(b'-');
        }
        str::from_utf8(&buffer[at..]).unwrap_or_default()
    }

    pub fn parse(text: &str) -> Result<Parsed<Self>, NumberError> {
        let parsed = parse(text, SCALE)?;
        Ok(Parsed { value: Self(parsed.value), rounded: parsed.rounded })
    }
}

impl<const SCALE: u32, const SHOWN: usize> std::ops::Neg for Fixed<SCALE, SHOWN> {
    type Output = Self;
    fn neg(self) -> Self {
        Self(-self.0)
    }
}

impl<const SCALE: u32, const SHOWN: usize> fmt::Display for Fixed<SCALE, SHOWN> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text(&mut [0; LONGEST]))
    }
}

impl<const SCALE: u32, const SHOWN: usize> Serialize for Fixed<SCALE, SHOWN> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.text(&mut [0; LONGEST]))
    }
}

impl<'de, const SCALE: u32, const SHOWN: usize> Deserialize<'de> for Fixed<SCALE, SHOWN> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        let parsed = Self::parse(&text).map_err(|_| D::Error::custom(format!("{text} is no number")))?;
        Ok(parsed.value)
    }
}

/// Adds up the quantities of each key.
pub fn sums<K: Ord>(
    quantities: impl IntoIterator<Item = (K, Quantity)>,
) -> Result<BTreeMap<K, Quantity>, TooLarge> {
    let mut sums: BTreeMap<K, Quantity> = BTreeMap::new();
    for (key, quantity) in quantities {
        let sum = sums.entry(key).or_default();
        *sum = sum.plus(quantity)?;
    }
    Ok(sums)
}

/// Divides integers, rounding half away from zero; `divisor` must be positive.
pub fn divide_rounded(dividend: i128, divisor: i128) -> i128 {
    let quotient = dividend / divisor;
    let remainder = (dividend % divisor).abs();
    if remainder >= divisor - remainder { quotient + dividend.signum() } else { quotient }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberError {
    Malformed,
    TooLarge,
}

/// A parsed number, and whether it lost digits that a person may have meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parsed<T> {
    pub value: T,
    /// True if rounding changed it by 1e-9 or more, which is more than float noise (D14).
    pub rounded: bool,
}

/// Parses a number in JSON's grammar into an integer with `places` decimals, rounded half away from zero.
/// Works on the digits, and so is exact at any length.
pub fn parse(text: &str, places: u32) -> Result<Parsed<i64>, NumberError> {
    let number = Digits::split(text).ok_or(NumberError::Malformed)?;
    let digits = number.digits.trim_start_matches('0');
    if digits.is_empty() {
        return Ok(Parsed { value: 0, rounded: false });
    }
    // Position of the decimal point, counted from the first non-zero digit.
    let leading_zeros = (number.digits.len() - digits.len()) as i64;
    let point = number.point.saturating_sub(leading_zeros);
    if point > LIMIT_DIGITS {
        return Err(NumberError::TooLarge);
    }
    let end = point.saturating_add(i64::from(places));
    let mut value = (0..end.max(0)).fold(0i64, |value, at| value * 10 + digit(digits, at));
    let up = digit(digits, end) >= 5;
    value += i64::from(up);
    if value >= LIMIT * 10i64.pow(places) {
        return Err(NumberError::TooLarge);
    }
    let rounded = lost_more_than_noise(digits, end, i64::from(places), up);
    Ok(Parsed { value: if number.negative { -value } else { value }, rounded })
}

/// Parses a whole number: 30, 30.0 or 3e1; `None` if a digit after the point is not zero.
pub fn parse_whole(text: &str) -> Option<i64> {
    let number = Digits::split(text)?;
    let behind = usize::try_from(number.point.max(0)).ok()?;
    let is_whole = number.digits.bytes().skip(behind).all(|digit| digit == b'0');
    if is_whole { parse(text, 0).ok().map(|parsed| parsed.value) } else { None }
}

/// The digit at a place; 0 before the first and after the last digit.
fn digit(digits: &str, at: i64) -> i64 {
    let digit = usize::try_from(at).ok().and_then(|at| digits.as_bytes().get(at));
    digit.map_or(0, |byte| i64::from(byte - b'0'))
}

/// Whether the digits from `end` on differ from the rounded value by 1e-9 or more.
fn lost_more_than_noise(digits: &str, end: i64, places: i64, up: bool) -> bool {
    let noise_at = end.saturating_add(9 - places).max(end);
    let expected = if up { 9 } else { 0 };
    if (end..noise_at).any(|at| digit(digits, at) != expected) {
        return true;
    }
    // Exactly 1e-9 below the rounded value is a loss; further digits after the nines make the difference
    // smaller.
    up && usize::try_from(noise_at)
        .is_ok_and(|at| digits.get(at..).is_none_or(|rest| rest.bytes().all(|byte| byte == b'0')))
}

/// A number split into its digits without the point, the position of the point, and the sign.
struct Digits {
    negative: bool,
    digits: String,
    point: i64,
}

impl Digits {
    /// Splits by JSON's grammar: `-? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?`.
    fn split(text: &str) -> Option<Digits> {
        let (negative, rest) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (mantissa, exponent) = rest
            .split_once(['e', 'E'])
            .map_or((rest, None), |(mantissa, exponent)| (mantissa, Some(exponent)));
        let (whole, fraction) =
            mantissa.split_once('.').map_or((mantissa, None), |(whole, fraction)| (whole, Some(fraction)));
        let all_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        let unsigned = exponent.map(|exponent| exponent.strip_prefix(['+', '-']).unwrap_or(exponent));
        let has_form = all_digits(whole)
            && (whole.len() == 1 || !whole.starts_with('0'))
            && fraction.is_none_or(all_digits)
            && unsigned.is_none_or(all_digits);
        if !has_form {
            return None;
        }
        // An exponent beyond i64 exceeds every limit anyway.
        let size = unsigned.map_or(0, |size| size.parse::<i64>().unwrap_or(i64::MAX / 4).min(i64::MAX / 4));
        let shift = if exponent.is_some_and(|exponent| exponent.starts_with('-')) { -size } else { size };
        let digits = [whole, fraction.unwrap_or_default()].concat();
        Some(Digits { negative, digits, point: whole.len() as i64 + shift })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_have_nothing_behind_the_point() {
        let table = [
            ("30", Some(30)),
            ("-30.0", Some(-30)),
            ("3e1", Some(30)),
            ("300e-1", Some(30)),
            ("0e-99", Some(0)),
            ("0.000", Some(0)),
            ("30.5", None),
            ("3e-1", None),
            ("2.58e-42", None),
            ("1e-99999999999999999999", None),
            ("30.0000000000000000000000000000000000001", None),
            ("29.99999999999999999", None),
            ("1e12", None),
            ("030", None),
            ("x", None),
        ];
        for (text, expected) in table {
            assert_eq!(parse_whole(text), expected, "{text}");
        }
    }

    #[test]
    fn numbers_are_read_to_the_last_digit() {
        let ok = |value, rounded| Ok(Parsed { value, rounded });
        let table: &[(&str, Result<Parsed<i64>, NumberError>)] = &[
            ("0", ok(0, false)),
            ("-0.0", ok(0, false)),
            ("12.5", ok(12_500_000, false)),
            ("1e3", ok(1_000_000_000, false)),
            ("1E-7", ok(0, true)),
            ("5e-7", ok(1, true)),
            ("-5e-7", ok(-1, true)),
            ("0.30000000000000004", ok(300_000, false)),
            ("0.2999999999", ok(300_000, false)),
            ("0.299999999", ok(300_000, true)),
            ("0.2999999990", ok(300_000, true)),
            ("0.2999999990001", ok(300_000, false)),
            ("0.1234565", ok(123_457, true)),
            ("0.12345649999999999999999999999999999", ok(123_456, true)),
            ("1e400", Err(NumberError::TooLarge)),
            ("1e99999999999999999999", Err(NumberError::TooLarge)),
            ("1e-99999999999999999999", ok(0, false)),
            ("999999999999.999999", ok(999_999_999_999_999_999, false)),
            ("999999999999.9999999", Err(NumberError::TooLarge)),
            ("1000000000000", Err(NumberError::TooLarge)),
            ("0e5", ok(0, false)),
            ("007", Err(NumberError::Malformed)),
            ("+5", Err(NumberError::Malformed)),
            (".5", Err(NumberError::Malformed)),
            ("5.", Err(NumberError::Malformed)),
            ("1_000", Err(NumberError::Malformed)),
            ("12,50", Err(NumberError::Malformed)),
            ("", Err(NumberError::Malformed)),
            ("-", Err(NumberError::Malformed)),
            ("1e", Err(NumberError::Malformed)),
            ("1e+-3", Err(NumberError::Malformed)),
            ("NaN", Err(NumberError::Malformed)),
            ("٣", Err(NumberError::Malformed)),
        ];
        for (text, expected) in table {
            assert_eq!(parse(text, 6), *expected, "{text}");
        }
    }

    #[test]
    fn numbers_are_written_with_the_decimals_of_their_kind() {
        assert_eq!(Money::from_units(-5).to_string(), "-0.05");
        assert_eq!(Quantity::whole(12).to_string(), "12.000");
        assert_eq!(Quantity::from_units(123_456).to_string(), "0.123456");
        assert_eq!(Price::from_units(245_500).to_string(), "0.2455");
        assert_eq!(Price::from_units(-320_000).to_string(), "-0.3200");
        assert_eq!(Percent::from_units(7_800_000).to_string(), "7.80");
        assert_eq!(Quantity::ZERO.to_string(), "0.000");
        assert_eq!(Quantity::from_units(1_000_000_000_000_000).to_string(), "1000000000.000");
        assert_eq!(Money::from_units(i64::MIN).to_string(), "-92233720368547758.08");
        assert_eq!(serde_json::to_string(&Price::from_units(-1)).unwrap(), "\"-0.000001\"");
    }

    #[test]
    fn halves_round_away_from_zero() {
        let table = [(5, 10, 1), (-5, 10, -1), (4, 10, 0), (-4, 10, 0), (15, 10, 2), (24, 10, 2)];
        for (dividend, divisor, expected) in table {
            assert_eq!(divide_rounded(dividend, divisor), expected, "{dividend}/{divisor}");
        }
        assert_eq!(Money::round(Decimal::new(20_425, 3)), Ok(Money::from_units(2043)));
        assert_eq!(Money::round(Decimal::new(-20_425, 3)), Ok(Money::from_units(-2043)));
    }
}
