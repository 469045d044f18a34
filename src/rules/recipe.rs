//! Production orders: their states, and the quantities of a recipe (specification; D13).

use super::fixed::{Quantity, TooLarge, divide_rounded};
use super::unit::{Conversion, is_piece};
use crate::choice;

choice! {
    #[derive(Default)]
    pub enum PaStatus {
        #[default]
        Schwebend = "schwebend",
        Geplant = "geplant",
        InBearbeitung = "in_bearbeitung",
        Erledigt = "erledigt",
        Storniert = "storniert",
    }
}

impl PaStatus {
    /// The German word shown on pages.
    pub const fn in_words(self) -> &'static str {
        match self {
            PaStatus::InBearbeitung => "in Bearbeitung",
            other => other.as_str(),
        }
    }

    /// Whether an order may change to this state: forward, also skipping states, and from any state to
    /// storniert; never back (D13).
    pub fn may_become(self, next: PaStatus) -> bool {
        // The states are declared in the order in which an order passes through them.
        next > self
    }
}

choice! {
    pub enum Zeilenart {
        Input = "input",
        Output = "output",
    }
}

/// Multiplies a recipe's quantity by a factor; also returns whether the result was rounded: pieces up for
/// inputs and down for outputs, others to 3 decimals, half up (D13).
pub fn scaled(
    menge: Quantity,
    faktor: Quantity,
    einheit: Option<&str>,
    art: Zeilenart,
) -> Result<(Quantity, bool), TooLarge> {
    const UNIT: i128 = Quantity::UNIT as i128;
    let product = i128::from(menge.units()) * i128::from(faktor.units());
    let units = match (einheit.is_some_and(is_piece), art) {
        (true, Zeilenart::Input) => (product + UNIT * UNIT - 1) / (UNIT * UNIT) * UNIT,
        (true, Zeilenart::Output) => product / (UNIT * UNIT) * UNIT,
        (false, _) => divide_rounded(product, UNIT * 1_000) * 1_000,
    };
    Ok((Quantity::from_wide(units)?, units * UNIT != product))
}

/// The weight of a line in kg; `None` if its unit is not a unit of mass, unless the quantity is 0.
pub fn weight(menge: Quantity, einheit: Option<&str>) -> Result<Option<Quantity>, TooLarge> {
    let conversion = einheit.and_then(|einheit| Conversion::between(einheit, "kg"));
    match menge.is_zero() {
        true => Ok(Some(menge)),
        false => conversion.map(|conversion| conversion.quantity(menge)).transpose(),
    }
}

/// Whether the outputs are implausible for these inputs: more than 1.05 times or less than half of them
/// (D13).
pub fn yield_is_doubtful(inputs: Quantity, outputs: Quantity) -> bool {
    let (inputs, outputs) = (i128::from(inputs.units()), i128::from(outputs.units()));
    outputs * 100 > inputs * 105 || outputs * 2 < inputs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::choice::Choice;

    #[test]
    fn quantities_are_scaled_and_pieces_stay_whole() {
        use Zeilenart::{Input, Output};
        let table = [
            ("12.5", "3", "kg", Input, "37.500", false),
            ("3", "1.5", "Stk", Input, "5.000", true),
            ("3", "1.5", "Stk", Output, "4.000", true),
            ("3", "2", "Stück", Input, "6.000", false),
            ("1", "0.4", "Sack", Output, "0.000", true),
            ("1", "0.000001", "Karton", Input, "1.000", true),
            ("7", "1.1", "Pal", Output, "7.000", true),
            ("0.0005", "1", "t", Input, "0.001", true),
            ("0.0004", "1", "t", Output, "0.000", true),
            ("0.333", "0.5", "", Output, "0.167", true),
        ];
        for (menge, faktor, einheit, art, expected, rounded) in table {
            let quantity = |text: &str| Quantity::parse(text).unwrap().value;
            let (soll, was_rounded) = scaled(quantity(menge), quantity(faktor), Some(einheit), art).unwrap();
            assert_eq!((soll.to_string().as_str(), was_rounded), (expected, rounded), "{menge} × {faktor}");
        }
        let large = Quantity::whole(999_999_999_999);
        assert_eq!(scaled(large, large, Some("kg"), Input), Err(TooLarge));
        assert_eq!(scaled(large, large, Some("Stk"), Input), Err(TooLarge));
    }

    #[test]
    fn orders_go_forward_and_can_be_cancelled() {
        for (from, all) in PaStatus::ALL.iter().zip(["gies", "ies", "es", "s", ""]) {
            let reachable: String = PaStatus::ALL
                .iter()
                .filter(|next| from.may_become(**next))
                .map(|next| match next {
                    PaStatus::Storniert => 's',
                    next => next.as_str().chars().next().unwrap(),
                })
                .collect();
            assert_eq!(reachable, all, "{}", from.as_str());
        }
    }

    #[test]
    fn a_yield_is_doubtful_beyond_its_limits() {
        let quantity = |text: &str| Quantity::parse(text).unwrap().value;
        let table = [
            ("100", "105", false),
            ("100", "105.000001", true),
            ("100", "50", false),
            ("100", "49.999999", true),
            ("0", "0", false),
            ("0", "1", true),
            ("1", "0", true),
            ("999999999999", "999999999999", false),
        ];
        for (inputs, outputs, expected) in table {
            assert_eq!(
                yield_is_doubtful(quantity(inputs), quantity(outputs)),
                expected,
                "{inputs} {outputs}"
            );
        }
        let kg = |menge, einheit| weight(quantity(menge), einheit).unwrap().map(|kg| kg.to_string());
        assert_eq!(kg("1.5", Some("t")).as_deref(), Some("1500.000"));
        assert_eq!((kg("2", Some("Sack")), kg("2", None)), (None, None));
        assert_eq!(kg("0", Some("Sack")).as_deref(), Some("0.000"));
    }
}
