//! The table of a goods receipt: from the delivered weight to the paid one.

use super::model::{Tabelle, Wert, Zeile};
use crate::rules::fixed::{Percent, Quantity};

pub struct Abzug {
    /// For example `Besatz`, `Feuchte (Faktor 1,3)`.
    pub bezeichnung: String,
    pub gemessen: Option<Percent>,
    pub basis: Option<Percent>,
    /// The deduction, in per cent of the weight that the deductions above leave.
    pub abzug: Option<Percent>,
    /// The deduction in kg; positive.
    pub kg: Quantity,
}

impl Tabelle {
    /// Lists the deductions in per cent and kg. Because the net weight (D23) is rounded to whole kg, its
    /// difference to the weight that the deductions leave has a row of its own.
    pub fn abrechnung(
        ueberschrift: &str,
        angeliefert: Quantity,
        abzuege: &[Abzug],
        netto: Quantity,
    ) -> Tabelle {
        let kg = |weight: Quantity| Wert::Menge(weight, "kg".to_owned());
        let row = |name: &str, percents: [Option<Percent>; 3], weight: Quantity| {
            let mut zellen = vec![Wert::Text(name.to_owned())];
            zellen.extend(percents.map(|percent| percent.map_or(Wert::Leer, Wert::Prozent)));
            zellen.push(kg(weight));
            Zeile { zellen, summe: false }
        };
        let mut zeilen = vec![row("Angelieferte Menge", [None; 3], angeliefert)];
        let mut left = Ok(angeliefert);
        for abzug in abzuege {
            zeilen.push(row(&abzug.bezeichnung, [abzug.gemessen, abzug.basis, abzug.abzug], -abzug.kg));
            left = left.and_then(|left| left.minus(abzug.kg));
        }
        // Weights beyond all limits have no rounding row.
        let rounding = left.and_then(|left| netto.minus(left)).unwrap_or_default();
        if !rounding.is_zero() {
            zeilen.push(row("Rundung", [None; 3], rounding));
        }
        zeilen.push(Zeile { summe: true, ..row("Abrechnungsmenge", [None; 3], netto) });
        Tabelle {
            ueberschrift: Some(ueberschrift.to_owned()),
            spalten: ["Abrechnung", "gemessen", "Basis", "Abzug", "Menge"].map(str::to_owned).to_vec(),
            zeilen,
        }
    }
}
