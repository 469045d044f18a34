//! A computed receipt, as it is printed, sent and stored (D29f, D29l).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

use super::model::{Grenzfolge, SatzEinheit, SchrittZeile, Wirkung};
use super::rate::ONE;
use super::values::Grund;
use crate::rules::fixed::{Money, Price, Quantity, TooLarge, Zahl, divide_rounded};
use crate::rules::receipt::net_amount;

/// A finding of a limit or a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "AbrechnungsBefund")]
pub struct Befund {
    pub code: Grund,
    pub aktion: Grenzfolge,
    pub merkmal: Option<String>,
    /// null: not measured.
    pub wert: Option<Zahl>,
    pub grenze: Option<Zahl>,
    /// German sentence.
    pub text: String,
}

/// A printed figure; the effect of its row determines its unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Groesse {
    Kg(Quantity),
    JeTonne(Price),
    Euro(Money),
}

impl Serialize for Groesse {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Groesse::Kg(kg) => kg.serialize(serializer),
            Groesse::JeTonne(price) => price.serialize(serializer),
            Groesse::Euro(money) => money.serialize(serializer),
        }
    }
}

/// A row as it is stored, in which a figure does not state its unit.
#[derive(Deserialize)]
struct StoredZeile {
    nr: i64,
    code: String,
    text: String,
    wirkung: Wirkung,
    merkmal: Option<String>,
    wert: Option<Zahl>,
    satz: Option<String>,
    rechnung: Option<String>,
    einheit: SatzEinheit,
    treffer: Option<SchrittZeile>,
    bezug: Option<Zahl>,
    ergebnis: Zahl,
    danach: Option<Zahl>,
}

impl From<StoredZeile> for Zeile {
    fn from(stored: StoredZeile) -> Zeile {
        let StoredZeile { nr, code, text, wirkung, merkmal, wert, satz, rechnung, einheit, treffer, .. } =
            stored;
        let kg = |zahl: Zahl| Groesse::Kg(Quantity::from_units(zahl.units()));
        let price = |zahl: Zahl| Groesse::JeTonne(Price::from_units(zahl.units()));
        let cents = |zahl: Zahl| Groesse::Euro(Money::from_units(zahl.units() / CENT));
        let (bezug, ergebnis) = match wirkung {
            Wirkung::Menge => (stored.bezug.map(kg), kg(stored.ergebnis)),
            Wirkung::Preis => (stored.bezug.map(price), price(stored.ergebnis)),
            Wirkung::Kosten => (stored.bezug.map(kg), cents(stored.ergebnis)),
        };
        let danach = stored.danach.map(if wirkung == Wirkung::Preis { price } else { kg });
        Zeile {
            nr,
            code,
            text,
            wirkung,
            merkmal,
            wert,
            satz,
            rechnung,
            einheit,
            treffer,
            bezug,
            ergebnis,
            danach,
        }
    }
}

/// Millionths in a cent.
const CENT: i64 = 10_000;

/// A printed row: `ergebnis` is `satz` applied to `bezug`, rounded to whole kg, to the decimals of the price
/// or to the cent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "StoredZeile")]
#[schemars(rename = "AbrechnungsZeile", !from)]
pub struct Zeile {
    pub nr: i64,
    pub code: String,
    pub text: String,
    pub wirkung: Wirkung,
    pub merkmal: Option<String>,
    /// null for a step that is the same for each receipt.
    pub wert: Option<Zahl>,
    /// The rate with all its decimals; null if they do not end, and then `rechnung` states it.
    pub satz: Option<String>,
    /// For a standardgewicht, and for a staffel by intervals: how the rate follows from the value.
    pub rechnung: Option<String>,
    pub einheit: SatzEinheit,
    /// The row of the table, or the interval of the staffel, that contains the value.
    pub treffer: Option<SchrittZeile>,
    /// kg for quantities and costs, EUR/t for prices; null if the rate refers to nothing.
    pub bezug: Option<Groesse>,
    /// kg, EUR/t or EUR, from the farmer's point of view: a loss is below 0.
    pub ergebnis: Groesse,
    /// What is left, in kg or EUR/t; null for costs.
    pub danach: Option<Groesse>,
}

/// A computed receipt. Figures that depend on a missing value are `None`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "AbrechnungsRechnung")]
pub struct Rechnung {
    /// Delivered weight in whole kg.
    pub brutto_kg: Quantity,
    pub netto_kg: Option<Quantity>,
    /// The price per t before the steps.
    pub grundpreis: Option<Price>,
    /// The settled price per t.
    pub preis_je_t: Option<Price>,
    /// Net weight times price.
    pub ware: Option<Money>,
    /// Sum of the cost rows.
    pub kosten: Option<Money>,
    /// Goods plus costs.
    pub summe: Option<Money>,
    pub zeilen: Vec<Zeile>,
    /// Findings of limits and steps against it.
    pub befunde: Vec<Befund>,
}

impl Rechnung {
    /// A receipt without a scheme, whose net weight is known (D23): its deduction becomes one row.
    pub fn as_stated(
        menge: Quantity,
        netto_kg: Option<Quantity>,
        preis: Option<Price>,
    ) -> Result<Rechnung, TooLarge> {
        let brutto_kg = Quantity::from_wide(divide_rounded(i128::from(menge.units()), ONE) * ONE)?;
        let deducted = netto_kg.unwrap_or(brutto_kg).minus(brutto_kg)?;
        let row = Zeile {
            nr: 1,
            code: "annahmeschein".to_owned(),
            text: "Abzüge laut Annahmeschein".to_owned(),
            wirkung: Wirkung::Menge,
            merkmal: None,
            wert: None,
            satz: None,
            rechnung: None,
            einheit: SatzEinheit::Prozent,
            treffer: None,
            bezug: Some(Groesse::Kg(brutto_kg)),
            ergebnis: Groesse::Kg(deducted),
            danach: netto_kg.map(Groesse::Kg),
        };
        let ware = netto_kg.zip(preis).map(|(kg, preis)| net_amount(kg, preis)).transpose()?;
        Ok(Rechnung {
            brutto_kg,
            netto_kg,
            grundpreis: preis,
            preis_je_t: preis,
            ware,
            kosten: Some(Money::ZERO),
            summe: ware,
            zeilen: (!deducted.is_zero()).then_some(row).into_iter().collect(),
            befunde: Vec::new(),
        })
    }
}
