//! Numbers and days in German notation: 1.234,56 and 22.11.2026.

use crate::rules::day::{Day, Instant};
use crate::rules::fixed::Fixed;

/// Formats a number with points between thousands and a decimal comma: all its decimals except trailing
/// zeros, but not less than `at_least`. A negative number begins with a minus sign (U+2212), which is as wide
/// as a digit.
pub fn german<const SCALE: u32, const SHOWN: usize>(value: Fixed<SCALE, SHOWN>, at_least: usize) -> String {
    let exact = value.to_string();
    let (sign, digits) = exact.strip_prefix('-').map_or(("", exact.as_str()), |digits| ("\u{2212}", digits));
    let (whole, decimals) = digits.split_once('.').unwrap_or((digits, ""));
    let decimals = format!("{:0<at_least$}", decimals.trim_end_matches('0'));
    let comma = if decimals.is_empty() { "" } else { "," };
    format!("{sign}{}{comma}{decimals}", grouped(whole))
}

/// Puts a point between thousands.
pub fn grouped(digits: &str) -> String {
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push('.');
        }
        grouped.push(digit);
    }
    grouped
}

/// Least number of decimals for a quantity of this unit: tonnes are written to the kilogram.
pub fn decimals(einheit: &str) -> usize {
    match einheit.to_lowercase().as_str() {
        "t" | "to" => 3,
        "dt" | "dz" => 2,
        _ => 0,
    }
}

/// `DD.MM.YYYY HH:MM` in Berlin.
pub fn moment(instant: Instant) -> String {
    let minute = instant.minute_in_berlin();
    format!("{} {:02}:{:02}", Day::in_berlin(instant).german(), minute / 60, minute % 60)
}

/// Formats an IBAN in groups of four, separated by `between`.
pub fn iban(iban: &str, between: &str) -> String {
    let letters: Vec<char> = iban.chars().filter(|letter| !letter.is_whitespace()).collect();
    letters.chunks(4).map(String::from_iter).collect::<Vec<_>>().join(between)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::fixed::{Money, Percent, Price, Quantity};

    #[test]
    fn numbers_have_points_a_comma_and_their_decimals() {
        let table = [
            (german(Money::from_units(0), 2), "0,00"),
            (german(Money::from_units(-5), 2), "\u{2212}0,05"),
            (german(Money::from_units(100_000), 2), "1.000,00"),
            (german(Money::from_units(99_999_999_999_999), 2), "999.999.999.999,99"),
            (german(Quantity::whole(12), 0), "12"),
            (german(Quantity::whole(12), 3), "12,000"),
            (german(Quantity::from_units(-1_234_500_000), 0), "\u{2212}1.234,5"),
            (german(Quantity::from_units(1), 3), "0,000001"),
            (german(Price::from_units(245_500), 2), "0,2455"),
            (german(Price::whole(245), 2), "245,00"),
            (german(Percent::from_units(7_800_000), 0), "7,8"),
            (german(Percent::whole(19), 0), "19"),
        ];
        for (text, expected) in table {
            assert_eq!(text, expected);
        }
    }

    #[test]
    fn days_and_accounts_are_written_as_people_read_them() {
        assert_eq!(Day::new(2026, 1, 5).german(), "05.01.2026");
        assert_eq!(
            iban("DE02120300000000202051", "\u{a0}"),
            "DE02\u{a0}1203\u{a0}0000\u{a0}0000\u{a0}2020\u{a0}51"
        );
        assert_eq!(iban("DE02 1203 0000", " "), "DE02 1203 0000");
        assert_eq!(["t", "kg", "dt", "Stk"].map(decimals), [3, 0, 2, 0]);
    }
}
