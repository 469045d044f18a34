//! Checks whether the figures of an e-invoice fit together, by the rules of EN 16931 that compute. Codes and
//! texts are not checked: the law requires correct figures, and a wrong code harms no reader.

use schemars::JsonSchema;
use serde::Serialize;

use super::model::Gelesen;
use crate::rules::fixed::{Money, TooLarge};
use crate::rules::tax::share;

/// A rule of EN 16931 that the figures of an invoice break.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Regel")]
pub struct Verstoss {
    /// Its name, such as `BR-CO-15`.
    pub regel: &'static str,
    pub message: String,
}

/// Returns the rules that the figures break. A rule is skipped if one of its figures is missing.
pub fn verstoesse(gelesen: &Gelesen) -> Vec<Verstoss> {
    let mut found = Vec::new();
    let mut compare = |regel, what: &str, printed: Option<Money>, computed: Option<Money>| {
        if let (Some(printed), Some(computed)) = (printed, computed)
            && printed != computed
        {
            let message = format!("{what}: gedruckt {printed}, gerechnet {computed}.");
            found.push(Verstoss { regel, message });
        }
    };
    let summen = &gelesen.summen;
    let netto_zeilen = sum(gelesen.zeilen.iter().map(|zeile| zeile.netto));
    let netto_zeilen = netto_zeilen.filter(|_| !gelesen.zeilen.is_empty());
    compare("BR-CO-10", "Summe der Positionen", summen.positionen, netto_zeilen);
    let zuschlaege = sum(gelesen.zuschlaege.iter().map(|zuschlag| Some(zuschlag.betrag)));
    let positionen = summen.positionen.or(netto_zeilen);
    let netto = positionen.zip(zuschlaege).and_then(|(lines, more)| lines.plus(more).ok());
    compare("BR-CO-13", "Nettosumme", summen.netto, netto);
    let has_groups = !gelesen.gruppen.is_empty();
    let steuern = sum(gelesen.gruppen.iter().map(|group| group.steuer)).filter(|_| has_groups);
    compare("BR-CO-14", "Summe der Steuer", summen.mwst, steuern);
    let brutto = summen.netto.zip(summen.mwst).and_then(|(netto, mwst)| netto.plus(mwst).ok());
    compare("BR-CO-15", "Bruttosumme", summen.brutto, brutto);
    for group in &gelesen.gruppen {
        let Some((netto, satz)) = group.netto.zip(group.mwst_satz) else { continue };
        compare("BR-CO-17", &format!("Steuer zu {satz} %"), group.steuer, Some(share(netto, satz)));
    }
    found
}

/// `None` if an amount is missing or the sum is too large.
fn sum(mut amounts: impl Iterator<Item = Option<Money>>) -> Option<Money> {
    let add = |sum: Money, amount: Option<Money>| amount.ok_or(TooLarge).and_then(|amount| sum.plus(amount));
    amounts.try_fold(Money::ZERO, add).ok()
}
