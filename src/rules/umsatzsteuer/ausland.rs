//! Declarations of trade with other EU countries (D35): the recapitulative statement (ZM), and when Intrastat
//! begins.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::umsatz::Umsatz;
use crate::choice;
use crate::rules::datev::Fall;
use crate::rules::day::Day;
use crate::rules::fixed::{Money, TooLarge};
use crate::rules::tax::Gebiet;

/// The statement is monthly if the deliveries of a quarter, or of one of the four before, exceed this (§ 18a
/// (1) UStG).
const MONATLICH_UEBER: Money = Money::whole(50_000);

/// Quarters that decide this: the current one and those before.
const QUARTALE: i64 = 5;

/// Thresholds by their first year: arrivals and dispatches of a year must be declared beyond them (IHK
/// Siegen, IHK Nordschwarzwald).
const SCHWELLEN: &[(i64, Money, Money)] = &[(2025, Money::whole(3_000_000), Money::whole(1_000_000))];

choice! {
    /// The kind of sale, which has its own row for each customer (§ 18a (7) UStG). Triangular trade (D) is
    /// missing, because no document states it.
    pub enum ZmArt {
        Lieferung = "L",
        Leistung = "S",
    }
}

impl ZmArt {
    /// Returns the kind of row for a group; `None` if it is not declared. A service is one whose tax a
    /// business elsewhere in the EU owes (§ 18a (2) UStG).
    pub fn of(umsatz: &Umsatz) -> Option<ZmArt> {
        match umsatz.fall {
            Fall::ErloesIg => Some(ZmArt::Lieferung),
            Fall::Erloes13b if umsatz.gebiet == Gebiet::Eu => Some(ZmArt::Leistung),
            _ => None,
        }
    }
}

/// A row of the statement: the sales of one kind to one customer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ZmZeile {
    pub ust_id: String,
    pub art: ZmArt,
    /// To the cent; negative if credits outweigh.
    pub summe: Money,
    /// As declared: cents are cut off, towards zero.
    pub summe_euro: i64,
}

/// Builds the statement, ordered by the customer's VAT id and the kind.
pub fn zm<'a>(betraege: impl IntoIterator<Item = (&'a str, ZmArt, Money)>) -> Result<Vec<ZmZeile>, TooLarge> {
    let mut summen: BTreeMap<(&str, ZmArt), Money> = BTreeMap::new();
    for (ust_id, art, betrag) in betraege {
        let summe = summen.entry((ust_id, art)).or_default();
        *summe = summe.plus(betrag)?;
    }
    let zeile = |((ust_id, art), summe): ((&str, ZmArt), Money)| ZmZeile {
        ust_id: ust_id.to_owned(),
        art,
        summe,
        summe_euro: summe.units() / Money::UNIT,
    };
    Ok(summen.into_iter().map(zeile).collect())
}

/// Deliveries into the EU in a quarter; services do not count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Quartal {
    pub jahr: i64,
    /// 1 to 4.
    pub quartal: i64,
    pub summe: Money,
    /// Whether the deliveries exceed 50,000 EUR: then the statement is monthly in this quarter and the four that
    /// follow.
    pub ueberschritten: bool,
}

/// Number of quarters since the year 0.
fn quartal(day: Day) -> i64 {
    day.year() * 4 + i64::from(day.month() - 1) / 3
}

/// The first day of the quarters that [`quartale`] sums.
pub fn quartale_ab(bis: Day) -> Day {
    let first = quartal(bis) - (QUARTALE - 1);
    let month = i8::try_from(first.rem_euclid(4) * 3 + 1).unwrap_or(1);
    Day::in_month(first.div_euclid(4), month, 1)
}

/// Returns the quarter of a day and the four before it, the earliest first.
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
    /// Null if the threshold of the year is unknown.
    pub schwelle_eingaenge: Option<Money>,
    pub eingaenge_ueberschritten: bool,
    pub versendungen: Money,
    pub schwelle_versendungen: Option<Money>,
    pub versendungen_ueberschritten: bool,
}

/// Returns each year of a period, the earliest first.
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
            is_kleinunternehmer: false,
            gebiet: Gebiet::Eu,
            basis: Money::from_units(cents),
            steuer: Money::ZERO,
        }
    }

    #[test]
    fn the_statement_has_a_row_for_each_vat_id_in_whole_euros() {
        use ZmArt::{Leistung, Lieferung};
        let of = |cents| Money::from_units(cents);
        let rows = zm([
            ("PL5260001246", Lieferung, of(-150_099)),
            ("ATU13585627", Leistung, of(8_550)),
            ("ATU13585627", Lieferung, of(999_999)),
            ("ATU13585627", Lieferung, of(100)),
            ("PL5260001246", Lieferung, of(50_000)),
        ]);
        let row = |ust_id: &str, art, cents, summe_euro| ZmZeile {
            ust_id: ust_id.to_owned(),
            art,
            summe: of(cents),
            summe_euro,
        };
        let expected = [
            row("ATU13585627", Lieferung, 1_000_099, 10_000),
            row("ATU13585627", Leistung, 8_550, 85),
            row("PL5260001246", Lieferung, -100_099, -1_000),
        ];
        assert_eq!(rows.as_deref(), Ok(expected.as_slice()));
    }

    #[test]
    fn services_are_those_that_a_business_elsewhere_in_the_eu_owes_the_tax_of() {
        for (fall, gebiet, expected) in [
            (Fall::ErloesIg, Gebiet::Eu, Some(ZmArt::Lieferung)),
            (Fall::Erloes13b, Gebiet::Eu, Some(ZmArt::Leistung)),
            (Fall::Erloes13b, Gebiet::Inland, None),
            (Fall::Erloes13b, Gebiet::Drittland, None),
            (Fall::ErloesNichtSteuerbar, Gebiet::Eu, None),
            (Fall::Aufwand13b, Gebiet::Eu, None),
            (Fall::AufwandIg, Gebiet::Eu, None),
        ] {
            let umsatz = Umsatz { gebiet, ..umsatz((2026, 10, 1), fall, 100) };
            assert_eq!(ZmArt::of(&umsatz), expected, "{umsatz:?}");
        }
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
            umsatz((2026, 10, 20), Fall::Erloes13b, 9_000_000),
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
