//! Numbers: integers within bounds, and decimals of fixed scale, read to the last digit (D14).

use std::borrow::Cow;

use super::at::{At, FromJson};
use crate::http::json::Json;
use crate::rules::error::{Checked, Code, HintCode};
use crate::rules::fixed::{self, Money, NumberError, Percent, Price, Quantity};

/// A whole number within bounds: 30, 30.0 or "30".
pub struct Int<const MIN: i64, const MAX: i64>;

/// An id of master data that we do not keep (niederlassung_id, waage_id …): int32.
pub type Kennung = Int<{ i32::MIN as i64 }, { i32::MAX as i64 }>;

/// A number of days, up to about ten years.
pub type Tage = Int<0, 3_650>;

impl<const MIN: i64, const MAX: i64> FromJson for Int<MIN, MAX> {
    type Value = i64;
    const BLANK_IS_NULL: bool = false;

    fn from_json(json: &Json<'_>, at: &mut At<'_>) -> Checked<i64> {
        match number(json, at).and_then(|text| fixed::parse_whole(&text)) {
            Some(value) if (MIN..=MAX).contains(&value) => Ok(value),
            Some(_) => {
                at.refuse(Code::WertUngueltig, format!("Die Zahl muss zwischen {MIN} und {MAX} liegen."))
            }
            None => at.refuse(Code::FeldUngueltig, "Hier wird eine ganze Zahl erwartet."),
        }
    }
}

/// The text of a number: a JSON number, or a string with one. In a cell of a table 1.234,56 is
/// 1234.56, and a number may begin with zeros.
fn number<'j>(json: &'j Json<'_>, at: &At<'_>) -> Option<Cow<'j, str>> {
    match json {
        Json::Number(text) => Some(Cow::Borrowed(text)),
        Json::String(cell) if at.is_tabular() => Some(Cow::Owned(plain_number(cell.trim()))),
        Json::String(text) => Some(Cow::Borrowed(text.trim())),
        _ => None,
    }
}

/// A number of a cell without thousands separators and leading zeros. With a comma, dots before it
/// must stand between groups of three digits; what is neither German nor plain does not
/// become a number, and is refused.
fn plain_number(cell: &str) -> String {
    let (sign, unsigned) = cell.strip_prefix('-').map_or(("", cell), |unsigned| ("-", unsigned));
    let plain = match unsigned.split_once(',') {
        Some((whole, decimals)) => match ungrouped(whole) {
            Some(whole) => format!("{whole}.{decimals}"),
            None => return cell.to_owned(),
        },
        None if unsigned.matches('.').count() > 1 => match ungrouped(unsigned) {
            Some(whole) => whole,
            None => return cell.to_owned(),
        },
        None => unsigned.to_owned(),
    };
    let digits = plain.trim_start_matches('0');
    let zero = if digits.starts_with(|c: char| c.is_ascii_digit()) || plain.is_empty() { "" } else { "0" };
    format!("{sign}{zero}{digits}")
}

/// Digits without the dots between groups of three.
fn ungrouped(text: &str) -> Option<String> {
    let groups: Vec<&str> = text.split('.').collect();
    let (first, rest) = groups.split_first()?;
    let first_fits = rest.is_empty() || (1..=3).contains(&first.len());
    (first_fits && rest.iter().all(|group| group.len() == 3)).then(|| groups.concat())
}

/// A decimal of `places` decimals, as an integer of them.
fn decimal(json: &Json<'_>, at: &mut At<'_>, places: u32) -> Checked<i64> {
    let Some(text) = number(json, at) else {
        return at.refuse(Code::FeldUngueltig, "Hier wird eine Zahl erwartet.");
    };
    match fixed::parse(&text, places) {
        Ok(parsed) => {
            if parsed.rounded {
                at.hint(
                    HintCode::Gerundet,
                    format!("Der Wert wurde auf {places} Nachkommastellen gerundet."),
                );
            }
            Ok(parsed.value)
        }
        Err(NumberError::TooLarge) => {
            at.refuse(Code::FeldUngueltig, "Die Zahl ist zu groß: sie muss unter 1.000.000.000.000 liegen.")
        }
        Err(NumberError::Malformed) => at
            .refuse(Code::FeldUngueltig, "Hier wird eine Zahl mit Dezimalpunkt erwartet, zum Beispiel 12.5."),
    }
}

impl FromJson for Quantity {
    type Value = Quantity;
    const BLANK_IS_NULL: bool = false;
    fn from_json(json: &Json<'_>, at: &mut At<'_>) -> Checked<Quantity> {
        decimal(json, at, 6).map(Quantity::from_units)
    }
}

impl FromJson for Price {
    type Value = Price;
    const BLANK_IS_NULL: bool = false;
    fn from_json(json: &Json<'_>, at: &mut At<'_>) -> Checked<Price> {
        decimal(json, at, 6).map(Price::from_units)
    }
}

impl FromJson for Percent {
    type Value = Percent;
    const BLANK_IS_NULL: bool = false;

    /// 0 to 100 per cent (D6).
    fn from_json(json: &Json<'_>, at: &mut At<'_>) -> Checked<Percent> {
        let percent = Percent::from_units(decimal(json, at, 6)?);
        if (Percent::ZERO..=Percent::whole(100)).contains(&percent) {
            return Ok(percent);
        }
        at.refuse(Code::WertUngueltig, "Der Prozentwert muss zwischen 0 und 100 liegen.")
    }
}

impl FromJson for Money {
    type Value = Money;
    const BLANK_IS_NULL: bool = false;
    fn from_json(json: &Json<'_>, at: &mut At<'_>) -> Checked<Money> {
        decimal(json, at, 2).map(Money::from_units)
    }
}

/// A weight in kg, kept to 3 decimals (D12).
pub struct Gewicht;

impl FromJson for Gewicht {
    type Value = Quantity;
    const BLANK_IS_NULL: bool = false;

    fn from_json(json: &Json<'_>, at: &mut At<'_>) -> Checked<Quantity> {
        let grams = decimal(json, at, 3)?;
        Ok(Quantity::from_units(grams * 1_000))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_german_or_plain_numbers_or_none() {
        let table = [
            ("1.234,56", "1234.56"),
            ("1234.56", "1234.56"),
            ("1234,5", "1234.5"),
            ("-1.234.567", "-1234567"),
            ("007", "7"),
            ("0,5", "0.5"),
            ("0", "0"),
            ("", ""),
            // Neither: what comes out is no number by JSON's grammar, and is refused.
            ("1,234.56", "1.234.56"),
            ("1.23,4", "1.23,4"),
            ("1.2.3", "1.2.3"),
        ];
        for (cell, plain) in table {
            assert_eq!(plain_number(cell), plain, "{cell}");
        }
    }
}
