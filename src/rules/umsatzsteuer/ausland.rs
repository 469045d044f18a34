//! What is declared of goods to and from other countries of the EU (D35): the recapitulative statement (ZM), and when
//! Intrastat begins.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::umsatz::Umsatz;
use crate::rules::buchung::Fall;
use crate::rules::day::Day;
use crate::rules::fixed::{Money, TooLarge};

/// Beyond it in a quarter, or in one of the four before, the statement is monthly (§ 18a (1) UStG).
const MONATLICH_UEBER: Money = Money::whole(50_000);

/// How many quarters decide it.
const QUARTALE: i64 = 5;

/// Of a year on: arrivals and dispatches of a year, beyond which they are declared (IHK Siegen, IHK Nordschwarzwald).
const SCHWELLEN: &[(i64, Money, Money)] = &[(2025, Money::whole(3_000_000), Money::whole(1_000_000))];

/// A row of the statement: what a customer got.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ZmZeile {
    pub ust_id: String,
    /// To the cent; negative where credits outweigh.
    pub summe: Money,
    /// As it is declared: cents are cut off, towards zero.
    pub summe_euro: i64,
}

/// The statement of deliveries, by the customer's VAT id.
pub fn zm<'a>(lieferungen: impl IntoIterator<Item = (&'a str, Money)>) -> Result<Vec<ZmZeile>, TooLarge> {
    let mut summen: BTreeMap<&str, Money> = BTreeMap::new();
    for (ust_id, betrag) in lieferungen {
        let summe = summen.entry(ust_id).or_default();
        *summe = summe.plus(betrag)?;
    }
    let zeile = |(ust_id, summe): (&str, Money)| ZmZeile {
        ust_id: ust_id.to_owned(),
        summe,
        summe_euro: summe.units() / Money::UNIT,
    };
    Ok(summen.into_iter().map(zeile).collect())
}

/// What was delivered into the EU in a quarter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Quartal {
    pub jahr: i64,
    /// 1 to 4.
    pub quartal: i64,
    pub summe: Money,
    /// Whether it is more than 50,000 EUR: then the statement is monthly in it and the four that follow.
    pub ueberschritten: bool,
}

/// Quarters since the year 0.
fn quartal(day: Day) -> i64 {
    day.year() * 4 + i64::from(day.month() - 1) / 3
}

/// The first day whose deliveries decide about the statement of a day.
pub fn quartale_ab(bis: Day) -> Day {
    let first = quartal(bis) - (QUARTALE - 1);
    let month = i8::try_from(first.rem_euclid(4) * 3 + 1).unwrap_or(1);
    Day::in_month(first.div_euclid(4), month, 1)
}

/// The quarter of a day and the four before it, the earliest first.
pub fn quartale(umsaetze: &[Umsatz], bis: Day) -> Result<Vec<Quartal>, TooLarge> {
    let last = quartal(bis);
    (last - (QUARTALE - 1)..=last)
        .map(|number| {
            let of_quarter =
                |umsatz: &&Umsatz| umsatz.fall == Fall::ErloesIg && quartal(umsatz.datum) == number;
            let summe = sum(umsaetze.iter().filter(of_quarter))?;
            let ueberschritten = summe > MONATLICH_UEBER;
            Ok(Quartal {
                jahr: number.div_euclid(4),
                quartal: number.rem_euclid(4) + 1,
                summe,
                ueberschritten,
            })
        })
        .collect()
}

/// Goods from and to other countries of the EU in a year, against the thresholds of Intrastat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct IntrastatJahr {
    pub jahr: i64,
    pub eingaenge: Money,
    /// Null where that of the year is not known.
    pub schwelle_eingaenge: Option<Money>,
    pub eingaenge_ueberschritten: bool,
    pub versendungen: Money,
    pub schwelle_versendungen: Option<Money>,
    pub versendungen_ueberschritten: bool,
}

/// The years of a period, the earliest first.
pub fn intrastat(umsaetze: &[Umsatz], von: Day, bis: Day) -> Result<Vec<IntrastatJahr>, TooLarge> {
    (von.year()..=bis.year()).map(|jahr| of_year(umsaetze, jahr)).collect()
}

fn of_year(umsaetze: &[Umsatz], jahr: i64) -> Result<IntrastatJahr, TooLarge> {
    let of =
        |fall| sum(umsaetze.iter().filter(move |umsatz| umsatz.fall == fall && umsatz.datum.year() == jahr));
    let (eingaenge, versendungen) = (of(Fall::AufwandIg)?, of(Fall::ErloesIg)?);
    let schwellen = SCHWELLEN.iter().rev().find(|(ab, ..)| *ab <= jahr);
    let (of_eingaenge, of_versendungen) =
        (schwellen.map(|(_, schwelle, _)| *schwelle), schwellen.map(|(.., schwelle)| *schwelle));
    Ok(IntrastatJahr {
        jahr,
        eingaenge,
        schwelle_eingaenge: of_eingaenge,
        eingaenge_ueberschritten: of_eingaenge.is_some_and(|schwelle| eingaenge > schwelle),
        versendungen,
        schwelle_versendungen: of_versendungen,
        versendungen_ueberschritten: of_versendungen.is_some_and(|schwelle| versendungen > schwelle),
    })
}

fn sum<'a>(umsaetze: impl Iterator<Item = &'a Umsatz>) -> Result<Money, TooLarge> {
    umsaetze.map(|umsatz| umsatz.basis).try_fold(Money::ZERO, Money::plus)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::tax::Gebiet;

    fn umsatz(datum: (i16, i8, i8), fall: Fall, cents: i64) -> Umsatz {
        Umsatz {
            datum: Day::new(datum.0, datum.1, datum.2),
            fall,
            satz: None,
            gebiet: Gebiet::Eu,
            basis: Money::from_units(cents),
            steuer: Money::ZERO,
        }
    }

    #[test]
    fn the_statement_has_a_row_for_each_vat_id_in_whole_euros() {
        let of = |cents| Money::from_units(cents);
        let rows = zm([
            ("PL5260001246", of(-150_099)),
            ("ATU13585627", of(999_999)),
            ("ATU13585627", of(100)),
            ("PL5260001246", of(50_000)),
        ]);
        let row = |ust_id: &str, cents, summe_euro| ZmZeile {
            ust_id: ust_id.to_owned(),
            summe: of(cents),
            summe_euro,
        };
        assert_eq!(
            rows,
            Ok(vec![row("ATU13585627", 1_000_099, 10_000), row("PL5260001246", -100_099, -1_000)])
        );
    }

    #[test]
    fn a_quarter_above_50000_is_named() {
        let umsaetze = [
            umsatz((2025, 9, 30), Fall::ErloesIg, 9_000_000),
            umsatz((2025, 10, 1), Fall::ErloesIg, 5_000_000),
            umsatz((2026, 3, 31), Fall::ErloesIg, 5_000_001),
            umsatz((2026, 3, 31), Fall::AufwandIg, 9_000_000),
            umsatz((2026, 10, 19), Fall::ErloesIg, 6_000_000),
            umsatz((2026, 12, 31), Fall::ErloesIg, -1_000_000),
        ];
        let quarters = |bis| {
            let quarters = quartale(&umsaetze, bis).unwrap();
            let row = |of: Quartal| (of.jahr, of.quartal, of.summe.units(), of.ueberschritten);
            quarters.into_iter().map(row).collect::<Vec<_>>()
        };
        let expected = [
            (2025, 4, 5_000_000, false),
            (2026, 1, 5_000_001, true),
            (2026, 2, 0, false),
            (2026, 3, 0, false),
            (2026, 4, 5_000_000, false),
        ];
        assert_eq!(quarters(Day::new(2026, 10, 31)), expected);
        assert_eq!(quarters(Day::new(2026, 7, 1))[0], (2025, 3, 9_000_000, true));
        assert_eq!(quartale_ab(Day::new(2026, 10, 31)), Day::new(2025, 10, 1));
        assert_eq!(quartale_ab(Day::new(2026, 1, 1)), Day::new(2025, 1, 1));
        assert_eq!(quartale_ab(Day::new(2026, 9, 30)), Day::new(2025, 7, 1));
    }

    #[test]
    fn intrastat_compares_each_year_with_its_thresholds() {
        let umsaetze = [
            umsatz((2024, 12, 31), Fall::AufwandIg, 999_999_999_999),
            umsatz((2025, 1, 1), Fall::AufwandIg, 300_000_000),
            umsatz((2026, 12, 31), Fall::AufwandIg, 300_000_001),
            umsatz((2026, 6, 1), Fall::ErloesIg, 100_000_001),
            umsatz((2026, 6, 2), Fall::ErloesIg, -1),
        ];
        let years = intrastat(&umsaetze, Day::new(2024, 12, 1), Day::new(2026, 12, 31)).unwrap();
        let row = |of: &IntrastatJahr| {
            let known = of.schwelle_eingaenge.is_some() && of.schwelle_versendungen.is_some();
            (
                of.jahr,
                known,
                of.eingaenge_ueberschritten,
                of.versendungen.units(),
                of.versendungen_ueberschritten,
            )
        };
        let expected = [
            (2024, false, false, 0, false),
            (2025, true, false, 0, false),
            (2026, true, true, 100_000_000, false),
        ];
        assert_eq!(years.iter().map(row).collect::<Vec<_>>(), expected);
    }
}
