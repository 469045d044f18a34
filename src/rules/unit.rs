//! Units of quantity and their conversion (D6).

use rust_decimal::Decimal;

use super::error::{Code, Refusal};
use super::fixed::{Fixed, Price, Quantity, TooLarge};

/// Units of mass and their weight in grams.
const MASS: &[(&str, i64)] = &[("g", 1), ("kg", 1_000), ("dt", 100_000), ("t", 1_000_000)];

/// Other spellings of a unit: to = t, dz = dt, St and Stück = Stk, Liter = l (D6).
const ALIASES: &[(&str, &str)] =
    &[("to", "t"), ("dz", "dt"), ("st", "stk"), ("stück", "stk"), ("liter", "l")];

const PIECES: &[&str] = &["stk", "sack", "karton", "pal"];

/// Whether quantities in a unit are whole pieces (D13).
pub fn is_piece(unit: &str) -> bool {
    PIECES.contains(&canonical(unit).as_str())
}

/// Units by their UN/ECE code (Recommendation 20; packages, with an X, from 21). If a unit has several codes,
/// the first one is written; to a trader the others mean the same.
const UNECE: &[(&str, &str)] = &[
    ("GRM", "g"),
    ("KGM", "kg"),
    ("DTN", "dt"),
    ("TNE", "t"),
    ("H87", "Stk"),
    ("C62", "Stk"),
    ("EA", "Stk"),
    ("PCE", "Stk"),
    ("NAR", "Stk"),
    ("XBG", "Sack"),
    ("XSA", "Sack"),
    ("XCT", "Karton"),
    ("XPX", "Pal"),
    ("LTR", "l"),
    ("MTQ", "m3"),
    ("MTQ", "m³"),
    ("HUR", "h"),
    ("KMT", "km"),
    ("LS", "pauschal"),
];

/// The UN/ECE code of a unit (EN 16931 BT-130); `None` if this table has none.
pub fn unece_code(unit: &str) -> Option<&'static str> {
    let unit = canonical(unit.trim());
    UNECE.iter().find(|(_, known)| known.eq_ignore_ascii_case(&unit)).map(|(code, _)| *code)
}

/// The unit of a UN/ECE code; `None` if this table does not have the code.
pub fn of_unece_code(code: &str) -> Option<&'static str> {
    UNECE.iter().find(|(known, _)| *known == code).map(|(_, unit)| *unit)
}

/// The conversion of one unit into another: the weight of each in grams, or 1 for both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conversion {
    from: i64,
    to: i64,
}

impl Conversion {
    pub const NONE: Conversion = Conversion { from: 1, to: 1 };

    /// The conversion in the opposite direction.
    pub fn reversed(self) -> Conversion {
        Conversion { from: self.to, to: self.from }
    }

    pub fn between(from: &str, to: &str) -> Option<Conversion> {
        let (from, to) = (canonical(from), canonical(to));
        if from == to {
            return Some(Conversion::NONE);
        }
        Some(Conversion { from: grams(&from)?, to: grams(&to)? })
    }

    /// The refusal of a unit (in the field `einheit`) that cannot be converted into another.
    pub fn missing(from: &str, to: &str) -> Box<Refusal> {
        let message = format!("Die Einheit {from} lässt sich nicht in {to} umrechnen.");
        Refusal::field(Code::EinheitNichtUmrechenbar, "einheit", message)
    }

    /// Converts a quantity into the other unit, rounded to 6 decimals.
    pub fn quantity(self, quantity: Quantity) -> Result<Quantity, TooLarge> {
        scaled(quantity, self.from, self.to)
    }

    /// Converts a price per unit into a price per other unit, rounded to 6 decimals: 0.2455 €/kg is 245.50
    /// €/t.
    pub fn price(self, price: Price) -> Result<Price, TooLarge> {
        scaled(price, self.to, self.from)
    }
}

/// `value × times / by`, rounded.
fn scaled<const SCALE: u32, const SHOWN: usize>(
    value: Fixed<SCALE, SHOWN>,
    times: i64,
    by: i64,
) -> Result<Fixed<SCALE, SHOWN>, TooLarge> {
    if times == by {
        return Ok(value);
    }
    Fixed::round(value.decimal() * Decimal::from(times) / Decimal::from(by))
}

fn canonical(unit: &str) -> String {
    let unit = unit.to_lowercase();
    match ALIASES.iter().find(|(alias, _)| *alias == unit) {
        Some((_, name)) => (*name).to_owned(),
        None => unit,
    }
}

fn grams(unit: &str) -> Option<i64> {
    MASS.iter().find(|(name, _)| *name == unit).map(|(_, grams)| *grams)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_have_codes_of_the_united_nations() {
        let table = [
            ("t", Some("TNE")),
            ("To", Some("TNE")),
            ("dz", Some("DTN")),
            ("KG", Some("KGM")),
            ("Stück", Some("H87")),
            (" Sack ", Some("XBG")),
            ("m³", Some("MTQ")),
            ("Liter", Some("LTR")),
            ("Bund", None),
            ("", None),
        ];
        for (unit, code) in table {
            assert_eq!(unece_code(unit), code, "{unit}");
        }
    }

    #[test]
    fn a_code_that_is_written_is_read_as_the_same_unit() {
        for (code, unit) in UNECE {
            let written = unece_code(unit).unwrap();
            let read = of_unece_code(written).unwrap();
            assert_eq!(of_unece_code(code).map(unece_code), Some(Some(written)), "{code} {unit}");
            assert_eq!(unece_code(read), Some(written), "{code} {unit} {read}");
        }
        assert_eq!(of_unece_code("MTR"), None);
    }

    #[test]
    fn quantities_and_prices_change_units() {
        let table = [
            ("t", "kg", Some(("1.5", "1500.000", "0.0015"))),
            ("to", "T", Some(("1.5", "1.500", "1.5000"))),
            ("dz", "kg", Some(("1.5", "150.000", "0.0150"))),
            ("kg", "t", Some(("0.2455", "0.000246", "245.5000"))),
            ("Stück", "Stk", Some(("3", "3.000", "3.0000"))),
            ("Sack", "sack", Some(("3", "3.000", "3.0000"))),
            ("Sack", "kg", None),
            ("l", "kg", None),
        ];
        for (from, to, expected) in table {
            let conversion = Conversion::between(from, to);
            let Some((value, quantity, price)) = expected else {
                assert_eq!(conversion, None, "{from} to {to}");
                continue;
            };
            let conversion = conversion.unwrap();
            let converted = conversion.quantity(Quantity::parse(value).unwrap().value).unwrap();
            assert_eq!(converted.to_string(), quantity, "{from} to {to}");
            let converted = conversion.price(Price::parse(value).unwrap().value).unwrap();
            assert_eq!(converted.to_string(), price, "{from} to {to}");
        }
        let tonnes = Conversion::between("t", "g").unwrap();
        assert_eq!(tonnes.quantity(Quantity::whole(999_999_999_999)), Err(TooLarge));
    }
}
