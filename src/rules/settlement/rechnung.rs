//! A note that was computed, as it is printed, sent and stored (D29f, D29l).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

use super::model::{Grenzfolge, SatzEinheit, SchrittZeile, Wirkung};
use super::rate::ONE;
use super::values::Grund;
use crate::rules::fixed::{Money, Price, Quantity, TooLarge, Zahl, divide_rounded};
use crate::rules::receipt::net_amount;

/// What a limit or a step finds.
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

/// A printed figure, in the unit that the effect of its row says.
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

/// A row as it is stored, in which a figure does not say what it is of.
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

/// A printed row: `ergebnis` is `satz` of `bezug`, rounded to whole kg, to the decimals of the price or to the cent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "StoredZeile")]
#[schemars(rename = "AbrechnungsZeile", !from)]
pub struct Zeile {
    pub nr: i64,
    pub code: String,
    pub text: String,
    pub wirkung: Wirkung,
    pub merkmal: Option<String>,
    /// null for what is the same for each note.
    pub wert: Option<Zahl>,
    /// The rate with all its decimals; null where they do not end, and rechnung says it.
    pub satz: Option<String>,
    /// Of a standardgewicht and a staffel by intervals: how the rate follows from the value.
    pub rechnung: Option<String>,
    pub einheit: SatzEinheit,
    /// The row of the table, or the interval of the staffel, that the value is in.
    pub treffer: Option<SchrittZeile>,
    /// kg of quantities and costs, EUR/t of prices; null where the rate is of nothing.
    pub bezug: Option<Groesse>,
    /// kg, EUR/t or EUR, with the sign of the farmer: what he loses is below 0.
    pub ergebnis: Groesse,
    /// What is left: kg or EUR/t; null for costs.
    pub danach: Option<Groesse>,
}

/// A note that was computed. What a value that is missing leaves unknown is none.
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
    /// Sum of the rows of costs.
    pub kosten: Option<Money>,
    /// Goods and costs.
    pub summe: Option<Money>,
    pub zeilen: Vec<Zeile>,
    /// What a limit or a step has against it.
    pub befunde: Vec<Befund>,
}

impl Rechnung {
    /// A note without a scheme, whose net weight is known (D23): what was deducted is one row.
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
