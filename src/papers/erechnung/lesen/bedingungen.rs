//! Terms of payment: due dates and cash discounts.

use super::model::Skonto;
use super::tree::Node;
use super::values::Values;
use crate::rules::day::Day;
use crate::rules::fixed::{Percent, Quantity};

/// How a German invoice writes a cash discount into its terms (XRechnung, BR-DE-18).
const MARK: &str = "#SKONTO#";

/// Most discounts that are read.
const SKONTI_MAX: usize = 10;

/// The terms of an invoice.
pub struct Bedingungen<'t> {
    pub faellig: Option<Day>,
    pub hat_raten: bool,
    /// The first description.
    pub worte: Option<&'t str>,
    pub skonti: Vec<Skonto>,
}

impl<'t> Bedingungen<'t> {
    /// The terms of these due dates, discounts and descriptions; discounts in words come last.
    pub fn of(
        days: impl IntoIterator<Item = Day>,
        skonti: Vec<Skonto>,
        worte: &[&'t str],
    ) -> Bedingungen<'t> {
        let (faellig, hat_raten) = latest(days);
        let skonti = joined(skonti, worte.iter().flat_map(|worte| in_words(worte)).collect());
        Bedingungen { faellig, hat_raten, worte: worte.first().copied(), skonti }
    }
}

/// Returns the latest due date, and whether there are several.
fn latest(days: impl IntoIterator<Item = Day>) -> (Option<Day>, bool) {
    let mut days: Vec<Day> = days.into_iter().collect();
    days.sort_unstable();
    days.dedup();
    (days.last().copied(), days.len() > 1)
}

/// The discount of an element, given its rate, its days and their unit.
pub fn structured(term: Node<'_>, [rate, days, unit]: [&str; 3], values: &mut Values) -> Option<Skonto> {
    let prozent: Percent = values.number(term, rate)?;
    let tage: Quantity = values.number(term, days)?;
    let is_in_days = term.find(days).and_then(|days| days.attribute(unit)).is_none_or(|unit| unit == "DAY");
    let whole = tage.units() / Quantity::UNIT;
    (is_in_days && prozent > Percent::ZERO && whole >= 0).then_some(Skonto { tage: whole, prozent })
}

/// The discounts in the words of the terms: `#SKONTO#TAGE=14#PROZENT=2.00#`.
fn in_words(text: &str) -> Vec<Skonto> {
    let lines = text.split(MARK).skip(1).filter_map(|rest| {
        let value =
            |name: &str| rest.lines().next()?.split('#').find_map(|part| part.trim().strip_prefix(name));
        let tage = value("TAGE=")?.trim().parse().ok().filter(|days: &i64| *days >= 0)?;
        let prozent = Percent::parse(value("PROZENT=")?.trim()).ok()?.value;
        Some(Skonto { tage, prozent })
    });
    lines.take(SKONTI_MAX).collect()
}

/// Each discount once, those of elements before those in words.
fn joined(structured: Vec<Skonto>, words: Vec<Skonto>) -> Vec<Skonto> {
    let mut all: Vec<Skonto> = Vec::new();
    for skonto in structured.into_iter().chain(words) {
        if !all.contains(&skonto) && all.len() < SKONTI_MAX {
            all.push(skonto);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn discounts_are_read_from_words() {
        let skonto = |tage, prozent: &str| Skonto { tage, prozent: Percent::parse(prozent).unwrap().value };
        let table = [
            ("#SKONTO#TAGE=14#PROZENT=2.00#", vec![skonto(14, "2")]),
            (
                "Netto\n#SKONTO#TAGE=7#PROZENT=3.00#\n#SKONTO#TAGE=14#PROZENT=2.25#BASISBETRAG=100.00#\n",
                vec![skonto(7, "3"), skonto(14, "2.25")],
            ),
            ("#SKONTO#TAGE=x#PROZENT=2.00#", vec![]),
            ("14 Tage 2 % Skonto", vec![]),
        ];
        for (text, expected) in table {
            assert_eq!(in_words(text), expected, "{text}");
        }
    }
}
