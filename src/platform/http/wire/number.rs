//! Numbers: integers within bounds, and decimals of fixed scale, read to the last digit (D14).

use std::borrow::Cow;
use std::marker::PhantomData;

use super::at::{At, FromJson};
use super::cell::{Decimal, plain_number, shown_in_percent};
use crate::platform::http::json::Json;
use crate::rules::error::{Checked, Code, HintCode};
use crate::rules::fixed::{self, Fixed, Money, NumberError, Percent, Price, Quantity, Zahl};

/// A whole number within bounds: 30, 30.0 or "30".
pub struct Int<const MIN: i64, const MAX: i64>;

/// An id of master data that we do not store (niederlassung_id, waage_id …): int32.
pub type Kennung = Int<{ i32::MIN as i64 }, { i32::MAX as i64 }>;

/// A number of days, up to about ten years.
pub type Tage = Int<0, 3_650>;

impl<const MIN: i64, const MAX: i64> FromJson for Int<MIN, MAX> {
    type Value = i64;

    fn from_json(json: &Json<'_>, at: &mut At<'_>) -> Checked<i64> {
        match number(json, at).and_then(|text| fixed::parse_whole(&text)) {
            Some(value) if (MIN..=MAX).contains(&value) => {
                at.was_read(|| value.to_string());
                Ok(value)
            }
            Some(_) => {
                at.refuse(Code::WertUngueltig, format!("Die Zahl muss zwischen {MIN} und {MAX} liegen."))
            }
            None => at.refuse(Code::FeldUngueltig, "Hier wird eine ganze Zahl erwartet."),
        }
    }
}

/// Returns the text of a number: a JSON number, or a string holding one. In a table with a decimal comma,
/// 1.234,56 means 1234.56; a number may have leading zeros.
fn number<'j>(json: &'j Json<'_>, at: &At<'_>) -> Option<Cow<'j, str>> {
    match (json, at.decimal) {
        (Json::Number(text), _) => Some(Cow::Borrowed(text)),
        (Json::String(cell), Some(decimal)) => {
            at.see_number(cell);
            Some(plain_number(cell.trim(), decimal))
        }
        (Json::String(text), None) => Some(Cow::Borrowed(text.trim())),
        _ => None,
    }
}

/// Reads a decimal with `places` decimals, as an integer in that unit.
fn decimal(json: &Json<'_>, at: &mut At<'_>, places: u32) -> Checked<i64> {
    let Some(text) = number(json, at) else {
        return at.refuse(Code::FeldUngueltig, "Hier wird eine Zahl erwartet.");
    };
    match fixed::parse(&text, places) {
        Ok(parsed) => {
            if parsed.rounded {
                let message = format!("Der Wert wurde auf {places} Nachkommastellen gerundet.");
                at.hint(HintCode::Gerundet, message);
            }
            at.was_read(|| german(parsed.value, places));
            Ok(parsed.value)
        }
        Err(NumberError::TooLarge) => {
            at.refuse(Code::FeldUngueltig, "Die Zahl ist zu groß: sie muss unter 1.000.000.000.000 liegen.")
        }
        Err(NumberError::Malformed) => at.refuse(Code::FeldUngueltig, malformed(at.decimal)),
    }
}

/// Formats a number with `places` decimals in German, without group separators.
fn german(value: i64, places: u32) -> String {
    let (scale, sign) = (10_u64.pow(places), if value < 0 { "-" } else { "" });
    let (whole, rest) = (value.unsigned_abs() / scale, value.unsigned_abs() % scale);
    let rest = format!("{rest:0>width$}", width = places as usize);
    match rest.trim_end_matches('0') {
        "" => format!("{sign}{whole}"),
        rest => format!("{sign}{whole},{rest}"),
    }
}

/// Returns the message for a malformed number, in the notation of the file.
fn malformed(decimal: Option<Decimal>) -> &'static str {
    match decimal {
        None => "Hier wird eine Zahl erwartet, zum Beispiel 12.5; auf den Seiten 12,5.",
        Some(Decimal::Comma) => {
            "Hier wird eine Zahl erwartet, zum Beispiel 1234,5 oder 1.234,5: In dieser Datei trennt das Komma die \
             Nachkommastellen, der Punkt Tausender."
        }
        Some(Decimal::Point) => {
            "Hier wird eine Zahl erwartet, zum Beispiel 1234.5: In dieser Datei trennt der Punkt die Nachkommastellen."
        }
    }
}

macro_rules! read_as_decimal {
    ($($type:ident of $places:literal),+) => {$(
        impl FromJson for $type {
            type Value = $type;

            fn from_json(json: &Json<'_>, at: &mut At<'_>) -> Checked<$type> {
                decimal(json, at, $places).map($type::from_units)
            }
        }
    )+};
}

read_as_decimal!(Quantity of 6, Price of 6, Money of 2, Zahl of 6);

/// A decimal that is 0 or more: a price of master data, an agreed quantity.
pub struct NotNegative<T>(PhantomData<T>);

impl<const SCALE: u32, const SHOWN: usize> FromJson for NotNegative<Fixed<SCALE, SHOWN>>
where
    Fixed<SCALE, SHOWN>: FromJson<Value = Fixed<SCALE, SHOWN>>,
{
    type Value = Fixed<SCALE, SHOWN>;

    fn from_json(json: &Json<'_>, at: &mut At<'_>) -> Checked<Self::Value> {
        let value = Fixed::from_json(json, at)?;
        match value.is_negative() {
            true => at.refuse(Code::WertUngueltig, "Der Wert darf nicht negativ sein."),
            false => Ok(value),
        }
    }
}

impl FromJson for Percent {
    type Value = Percent;

    const IS_PERCENTAGE: bool = true;

    /// 0 to 100 per cent (D6); in a table with or without the % sign.
    fn from_json(json: &Json<'_>, at: &mut At<'_>) -> Checked<Percent> {
        let figure = match json {
            Json::String(text) if at.is_tabular() => {
                text.trim_end().strip_suffix('%').map(|figure| Json::String(figure.trim_end().into()))
            }
            Json::Number(digits) => shown_in_percent(digits).map(Json::Number),
            _ => None,
        };
        if let Some(Json::Number(_)) = figure {
            let message = "Diese Spalte hat in der Tabelle das Format Prozent; gelesen wurde, was dort zu sehen ist: \
                           0,02 als 2 %.";
            at.hint(HintCode::WertAlsProzent, message);
        }
        let percent = Percent::from_units(decimal(figure.as_ref().unwrap_or(json), at, 6)?);
        if (Percent::ZERO..=Percent::whole(100)).contains(&percent) {
            return Ok(percent);
        }
        at.refuse(Code::WertUngueltig, "Der Prozentwert muss zwischen 0 und 100 liegen.")
    }
}

/// A weight in kg, kept to 3 decimals (D12).
pub struct Gewicht;

impl FromJson for Gewicht {
    type Value = Quantity;

    fn from_json(json: &Json<'_>, at: &mut At<'_>) -> Checked<Quantity> {
        let grams = decimal(json, at, 3)?;
        Ok(Quantity::from_units(grams * 1_000))
    }
}

/// A weight from a lorry scale, read as a [`Gewicht`].
pub struct Waegung;

/// Weights below this, in kg, cannot be those of a lorry.
const LORRY_MIN: Quantity = Quantity::whole(100);

impl FromJson for Waegung {
    type Value = Quantity;

    /// In "40.120" the point may have been meant as a thousands separator (D18).
    fn from_json(json: &Json<'_>, at: &mut At<'_>) -> Checked<Quantity> {
        let weight = Gewicht::from_json(json, at)?;
        let is_doubtful = |text: &str| {
            let decimals = text.split_once('.').map(|(_, decimals)| decimals.len());
            decimals == Some(3) && weight < LORRY_MIN && !weight.is_zero()
        };
        if let Json::String(text) = json
            && is_doubtful(text.trim())
        {
            let message = format!(
                "Der Punkt ist das Dezimalzeichen: gelesen wurden {weight} kg. Bitte prüfen, ob {} kg gemeint sind.",
                text.trim().replace('.', "")
            );
            at.hint(HintCode::WertFraglich, message);
        }
        Ok(weight)
    }
}
