//! Weighings (specification, transition table; D12).

use super::fixed::Quantity;
use crate::choice;

/// Heaviest lorry that our scales can carry (D12), in kg.
pub const WEIGHT_MAX: Quantity = Quantity::whole(200_000);

choice! {
    pub enum Richtung {
        Eingang = "eingang",
        Ausgang = "ausgang",
    }
}

choice! {
    #[derive(Default)]
    pub enum WiegungStatus {
        #[default]
        Offen = "offen",
        Fertig = "fertig",
        Storno = "storno",
    }
}

/// Returns the net weight, |first − second| in kg, and the direction: goods came in if the first weight is
/// heavier. `None` if both weights are equal.
pub fn net(erst: Quantity, zweit: Quantity) -> Option<(Quantity, Richtung)> {
    if erst == zweit {
        return None;
    }
    let richtung = if erst > zweit { Richtung::Eingang } else { Richtung::Ausgang };
    let difference = Quantity::from_units(erst.units().abs_diff(zweit.units()) as i64);
    Some((difference, richtung))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn net_weight_and_direction_follow_from_the_difference() {
        let kg = Quantity::whole;
        let (netto, richtung) = net(kg(40_120), kg(15_260)).unwrap();
        assert_eq!((netto.to_string().as_str(), richtung), ("24860.000", Richtung::Eingang));
        assert_eq!(net(kg(12_340), kg(30_500)), Some((kg(18_160), Richtung::Ausgang)));
        assert_eq!(net(kg(5), kg(5)), None);
    }
}
