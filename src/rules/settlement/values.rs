//! Measured values of raw goods (D29a). An absent value was not measured; 0 is a value.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::choice;
use crate::rules::fixed::{Quantity, Zahl, divide_rounded};

choice! {
    /// How the values of several receipts become one (D29e, mittelung partie).
    pub enum Mittel {
        /// The mean, weighted by the delivered weight.
        Gewogen = "gewogen",
        /// The largest value, which is the worst.
        Maximum = "maximum",
        /// No mean.
        Keins = "keins",
    }
}

choice! {
    /// Why a receipt waits for a person.
    pub enum Grund {
        Grenzwert = "GRENZWERT",
        MerkmalFehlt = "MERKMAL_FEHLT",
        TabelleEndet = "TABELLE_ENDET",
        MittelUnmoeglich = "MITTEL_UNMOEGLICH",
        ZertifikatFehlt = "ZERTIFIKAT_FEHLT",
        ZertifikatAbgelaufen = "ZERTIFIKAT_ABGELAUFEN",
    }
}

choice! {
    /// Where a value was measured.
    pub enum Quelle {
        /// At the scale, when the lorry arrived.
        Annahme = "annahme",
        Labor = "labor",
        Nachanalyse = "nachanalyse",
    }
}

/// A value of a receipt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Messwert {
    /// Code of the Merkmal.
    pub merkmal: String,
    pub wert: Zahl,
}

/// Something that can be measured, with the decimals and the unit of its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merkmal {
    pub code: String,
    pub bezeichnung: String,
    pub einheit: String,
    /// Decimals, 0 to 3.
    pub stellen: i64,
    pub mittel: Mittel,
}

/// The values of a receipt by the code of the Merkmal. Whatever its unit, a value has six decimals.
pub type Werte = BTreeMap<String, Zahl>;

/// The Merkmale that each company has from the beginning (D29a): code, name, unit, decimals, mean.
pub const SHIPPED: &[(&str, &str, &str, i64, Mittel)] = &[
    ("feuchte", "Feuchte", "%", 1, Mittel::Gewogen),
    ("besatz", "Besatz", "%", 2, Mittel::Gewogen),
    ("schwarzbesatz", "Schwarzbesatz", "%", 2, Mittel::Gewogen),
    ("kornbesatz", "Kornbesatz", "%", 2, Mittel::Gewogen),
    ("aspiration", "Aspiration", "%", 1, Mittel::Gewogen),
    ("fremdgetreide", "Fremdgetreide", "%", 1, Mittel::Gewogen),
    ("bruchkorn", "Bruchkorn", "%", 1, Mittel::Gewogen),
    ("auswuchs", "Auswuchs", "%", 1, Mittel::Gewogen),
    ("protein", "Protein", "%", 1, Mittel::Gewogen),
    ("oelgehalt", "Ölgehalt", "%", 1, Mittel::Gewogen),
    ("hl_gewicht", "Naturalgewicht", "kg/hl", 1, Mittel::Gewogen),
    ("fallzahl", "Fallzahl", "s", 0, Mittel::Keins),
    ("sedimentation", "Sedimentation", "ml", 0, Mittel::Keins),
    ("don", "DON", "µg/kg", 0, Mittel::Maximum),
    ("zea", "ZEA", "µg/kg", 0, Mittel::Maximum),
    ("mutterkorn", "Mutterkorn", "%", 2, Mittel::Maximum),
    ("schaedlinge", "Lebende Schädlinge", "0 oder 1", 0, Mittel::Maximum),
    ("keimfaehigkeit", "Keimfähigkeit", "%", 0, Mittel::Gewogen),
    ("vollgerste", "Vollgerste", "%", 1, Mittel::Gewogen),
];

/// Rounds a value to `stellen` decimals, half away from zero: 15.05 is 15.1, 15.04 is 15.0 (D29a).
pub fn rounded(wert: Zahl, stellen: i64) -> Zahl {
    let grid = grid(stellen);
    Zahl::from_units((divide_rounded(i128::from(wert.units()), i128::from(grid)) as i64).saturating_mul(grid))
}

/// Millionths in one unit of the last decimal.
pub(super) fn grid(stellen: i64) -> i64 {
    10i64.pow(6 - stellen.clamp(0, 6) as u32)
}

fn whole_kg(menge: Quantity) -> i128 {
    divide_rounded(i128::from(menge.units()), i128::from(Quantity::UNIT))
}

/// Combines the values of several receipts of a partie, each with its delivered weight rounded to whole kg:
/// `Σ(wert × kg) / Σ kg`, or the largest value, at the decimals of the Merkmal (D29e). Fails if a receipt
/// lacks the value or the Merkmal has no mean; equal values need no mean.
pub fn mean(merkmal: &Merkmal, werte: &[(Option<Zahl>, Quantity)]) -> Result<Zahl, Grund> {
    let known: Option<Vec<(i128, i128)>> =
        werte.iter().map(|(wert, kg)| Some((i128::from((*wert)?.units()), whole_kg(*kg)))).collect();
    let known = known.filter(|known| !known.is_empty()).ok_or(Grund::MerkmalFehlt)?;
    let units = match merkmal.mittel {
        Mittel::Maximum => known.iter().map(|(wert, _)| *wert).max().unwrap_or_default(),
        Mittel::Gewogen => {
            let weight: i128 = known.iter().map(|(_, kg)| kg).sum();
            divide_rounded(
                known.iter().map(|(wert, kg)| wert * kg).sum(),
                weight.max(1) * i128::from(grid(merkmal.stellen)),
            ) * i128::from(grid(merkmal.stellen))
        }
        Mittel::Keins if known.iter().all(|(wert, _)| *wert == known[0].0) => known[0].0,
        Mittel::Keins => return Err(Grund::MittelUnmoeglich),
    };
    Zahl::from_wide(units).map_err(|_| Grund::MittelUnmoeglich)
}
