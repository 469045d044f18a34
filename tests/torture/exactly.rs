//! The exact value of a number in JSON's grammar, computed from its text alone, for comparison with fixed decimals.

use rust_decimal::Decimal;

/// Places by which the point may move beyond the existing digits: further away, a number exceeds every limit,
/// or is zero.
const FAR: i64 = 100;

/// 10^12, which no value reaches (D14).
const LIMIT: u128 = 1_000_000_000_000;

/// Whether a text is a number in JSON's grammar, checked independently.
pub fn is_number(text: &str) -> bool {
    let begins = text.starts_with(|letter: char| letter == '-' || letter.is_ascii_digit());
    begins
        && text.ends_with(|letter: char| letter.is_ascii_digit())
        && serde_json::from_str::<&serde_json::value::RawValue>(text).is_ok()
}

/// A number without an exponent: sign, digits before the point and after it; `None` if it is no number.
fn written_out(text: &str) -> Option<(bool, String, String)> {
    if !is_number(text) {
        return None;
    }
    let unsigned = text.trim_start_matches('-');
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let (mut whole, mut fraction) = (whole.to_owned(), fraction.to_owned());
    let far = FAR + text.len() as i64;
    let beyond = if exponent.starts_with('-') { -far } else { far };
    let shift = exponent.parse::<i64>().unwrap_or(beyond).clamp(-far, far);
    let zeros = "0".repeat(shift.unsigned_abs() as usize);
    if shift >= 0 {
        fraction += &zeros;
        let rest = fraction.split_off(shift as usize);
        whole += &fraction;
        fraction = rest;
    } else {
        whole = zeros + &whole;
        fraction = whole.split_off(whole.len() - shift.unsigned_abs() as usize) + &fraction;
    }
    Some((text.starts_with('-'), whole.trim_start_matches('0').to_owned(), fraction))
}

/// A number in units of `places` decimals, rounded half away from zero, and whether rounding changed it by
/// 1e-9 or more.
pub enum Exact {
    NoNumber,
    TooLarge,
    Units(i64, bool),
}

pub fn exact(text: &str, places: u32) -> Exact {
    let Some((is_negative, whole, fraction)) = written_out(text) else { return Exact::NoNumber };
    if whole.len() > 12 {
        return Exact::TooLarge;
    }
    let places = places as usize;
    let fraction = format!("{fraction:0<12}");
    let (kept, lost) = fraction.split_at(places);
    let is_up = lost.starts_with(['5', '6', '7', '8', '9']);
    let units = format!("0{whole}{kept}").parse::<u128>().unwrap() + u128::from(is_up);
    if units >= LIMIT * 10_u128.pow(places as u32) {
        return Exact::TooLarge;
    }
    // The lost or added part, in 1e-9; all further digits are less than one of them.
    let (near, far) = lost.split_at(9 - places);
    let below = near.parse::<u64>().unwrap_or(0);
    let above = 10_u64.pow(9 - places as u32) - below;
    let is_whole = far.bytes().all(|digit| digit == b'0');
    let moved = if is_up { above > 1 || is_whole } else { below > 0 };
    let units = units as i64;
    Exact::Units(if is_negative { -units } else { units }, moved)
}

/// An integer; `None` if any digit after the point is not zero.
pub fn whole(text: &str) -> Option<i64> {
    let (is_negative, whole, fraction) = written_out(text)?;
    let is_whole = whole.len() <= 12 && fraction.bytes().all(|digit| digit == b'0');
    let number = is_whole.then(|| format!("0{whole}").parse::<i64>().unwrap())?;
    Some(if is_negative { -number } else { number })
}

/// Formats a number of these units, with at least `shown` decimals.
pub fn shown(units: i64, places: u32, shown: u32) -> String {
    let mut number = Decimal::new(units, places).normalize();
    if number.scale() < shown {
        number.rescale(shown);
    }
    number.to_string()
}
