//! The figures (Kennzahlen) of the VAT return (D35). The form computes the tax of the common rates from whole
//! euros and so differs by cents from the documents: both amounts are given.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::umsatz::Umsatz;
use crate::rules::datev::Fall;
use crate::rules::fixed::{Money, Percent, TooLarge};
use crate::rules::tax::{Gebiet, share};

/// Where the form states the tax of a base.
#[derive(Debug, Clone, Copy)]
enum Steuer {
    Keine,
    /// Computed by the form from whole euros.
    Berechnet,
    /// In cents, in a figure of its own.
    Kennzahl(u8),
    /// In this figure, which has no base; no document states the amount.
    Unbekannt,
}

use Steuer::{Berechnet, Keine, Unbekannt};

/// Maps a case to figures: case, its rate in per cent and the partner's place (if they matter); then the
/// figures of its base, of its tax and of the input tax.
type Zuordnung = (Fall, Option<i64>, Option<Gebiet>, Option<u8>, Steuer, Option<u8>);

/// The form of 2026 (BMF 2025-12-29, III C 3 – S 7344/00039/007/036). The first matching row applies; a case
/// without a row is in no figure. Purchases from flat-rate farmers (§ 24 UStG) are ordinary input tax.
const FORMULAR_2026: &[Zuordnung] = &[
    (Fall::Erloes, Some(19), None, Some(81), Berechnet, None),
    (Fall::Erloes, Some(7), None, Some(86), Berechnet, None),
    (Fall::Erloes, Some(0), None, Some(87), Keine, None),
    (Fall::Erloes, None, None, Some(35), Steuer::Kennzahl(36), None),
    (Fall::ErloesIg, None, None, Some(41), Keine, None),
    (Fall::ErloesAusfuhr, None, None, Some(43), Keine, None),
    (Fall::ErloesFrei, None, None, Some(48), Keine, None),
    (Fall::ErloesNichtSteuerbar, None, None, Some(45), Keine, None),
    (Fall::Erloes13b, None, Some(Gebiet::Inland), Some(60), Keine, None),
    (Fall::Erloes13b, None, Some(Gebiet::Eu), Some(21), Keine, None),
    (Fall::Erloes13b, None, None, Some(45), Keine, None),
    (Fall::Aufwand, None, None, None, Keine, Some(66)),
    (Fall::AufwandIg, Some(19), None, Some(89), Berechnet, Some(61)),
    (Fall::AufwandIg, Some(7), None, Some(93), Berechnet, Some(61)),
    (Fall::AufwandIg, Some(0), None, Some(91), Keine, None),
    (Fall::AufwandIg, None, None, Some(95), Steuer::Kennzahl(98), Some(61)),
    (Fall::Aufwand13b, None, Some(Gebiet::Eu), Some(46), Steuer::Kennzahl(47), Some(67)),
    (Fall::Aufwand13b, None, None, Some(84), Steuer::Kennzahl(85), Some(67)),
    // The customs notice states the tax, not the supplier's invoice.
    (Fall::AufwandEinfuhr, None, None, Some(62), Unbekannt, None),
];

/// The name of a figure on the form.
fn bezeichnung(kennzahl: u8) -> &'static str {
    match kennzahl {
        21 => "Sonstige Leistungen an Unternehmer in anderen EU-Ländern (§ 18b Satz 1 Nr. 2 UStG)",
        35 => "Steuerpflichtige Umsätze zu anderen Steuersätzen",
        41 => "Innergemeinschaftliche Lieferungen an Abnehmer mit USt-IdNr.",
        43 => "Weitere steuerfreie Umsätze mit Vorsteuerabzug, vor allem Ausfuhren",
        45 => "Übrige nicht steuerbare Umsätze (Leistungsort nicht im Inland)",
        46 => "Sonstige Leistungen eines Unternehmers in einem anderen EU-Land (§ 13b Abs. 1 UStG)",
        48 => "Steuerfreie Umsätze ohne Vorsteuerabzug",
        60 => "Steuerpflichtige Umsätze, deren Steuer der Empfänger schuldet (§ 13b Abs. 5 UStG)",
        61 => "Vorsteuer aus innergemeinschaftlichen Erwerben",
        62 => "Einfuhrumsatzsteuer: der Betrag aus den Bescheiden des Zolls",
        66 => "Vorsteuer aus Rechnungen von anderen Unternehmern",
        67 => "Vorsteuer aus Leistungen im Sinne des § 13b UStG",
        81 => "Steuerpflichtige Umsätze zu 19 %",
        84 => "Andere Leistungen im Sinne des § 13b Abs. 2 UStG",
        86 => "Steuerpflichtige Umsätze zu 7 %",
        87 => "Steuerpflichtige Umsätze zu 0 %",
        89 => "Innergemeinschaftliche Erwerbe zu 19 %",
        91 => "Steuerfreie innergemeinschaftliche Erwerbe",
        93 => "Innergemeinschaftliche Erwerbe zu 7 %",
        95 => "Innergemeinschaftliche Erwerbe zu anderen Steuersätzen",
        _ => "",
    }
}

/// The forms, each with the first year in which it is valid.
const FORMULARE: &[(i64, &[Zuordnung])] = &[(2026, FORMULAR_2026)];

/// Returns the newest form valid in a year, with its own year; `None` for years before the first form.
fn formular(jahr: i64) -> Option<(i64, &'static [Zuordnung])> {
    FORMULARE.iter().rev().find(|(ab, _)| *ab <= jahr).copied()
}

/// Returns the year of the form whose figures apply in a year; `None` if they are unknown.
pub fn formular_jahr(jahr: i64) -> Option<i64> {
    formular(jahr).map(|(ab, _)| ab)
}

/// A figure of the form, summed over the documents of a period.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Kennzahl {
    pub kennzahl: u8,
    /// German, as the form calls it.
    pub bezeichnung: &'static str,
    /// The figure that states the tax; null if the form computes the tax itself or there is none.
    pub steuer_kennzahl: Option<u8>,
    /// Net, to the cent; null for input tax, where the documents supply only the tax.
    pub basis: Option<Money>,
    /// As on the form: cents are cut off, towards zero. Null if the form states only the tax.
    pub basis_euro: Option<i64>,
    /// As stated in the documents; where the company owes the tax, as computed for each document. Null if
    /// there is none.
    pub steuer: Option<Money>,
    pub steuer_formular: Option<Money>,
    /// By how much the tax on the form exceeds that of the documents.
    pub differenz: Option<Money>,
}

/// Totals of the documents of one case and rate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FallSumme {
    pub fall: Fall,
    pub mwst_satz: Option<Percent>,
    pub basis: Money,
    pub steuer: Money,
}

/// The contribution of a document's group to a figure.
#[derive(Debug, Clone, Copy)]
pub struct Beitrag {
    pub kennzahl: u8,
    basis: Option<Money>,
    /// `None` if the figure has no tax.
    pub steuer: Option<Money>,
    satz: Option<Percent>,
    wo: Steuer,
}

#[derive(Debug, Default)]
struct Summe {
    basis: Option<Money>,
    steuer: Option<Money>,
    satz: Option<Percent>,
    steuer_kennzahl: Option<u8>,
    is_unbekannt: bool,
}

/// Returns what a group contributes to the figures: its base with its tax, and the input tax. A
/// Kleinunternehmer declares no sales of its own and deducts nothing, but owes the tax of acquisitions and §
/// 13b (§ 19 UStG).
pub fn beitraege(umsatz: &Umsatz) -> impl Iterator<Item = Beitrag> + use<> {
    let Umsatz { satz, basis, steuer, is_kleinunternehmer, .. } = *umsatz;
    let both = zuordnung(umsatz).map(|&(fall, _, _, of_basis, wo, of_vorsteuer)| {
        let owed = satz.filter(|_| fall.is_owed_by_us()).map(|satz| share(basis, satz));
        let betrag = owed.unwrap_or(steuer);
        let is_own_sale = is_kleinunternehmer && fall == Fall::ErloesFrei;
        let steuer = (!matches!(wo, Keine | Unbekannt)).then_some(betrag);
        let of_basis = of_basis.filter(|_| !is_own_sale);
        let of_vorsteuer = of_vorsteuer.filter(|_| !is_kleinunternehmer);
        [
            of_basis.map(|kennzahl| Beitrag { kennzahl, basis: Some(basis), steuer, satz, wo }),
            of_vorsteuer.map(|kennzahl| Beitrag {
                kennzahl,
                basis: None,
                steuer: Some(betrag),
                satz: None,
                wo: Keine,
            }),
        ]
    });
    both.into_iter().flatten().flatten()
}

/// Returns the figures by number, and the totals of the cases they consist of.
///
/// # Errors
///
/// If a sum is too large.
pub fn kennzahlen(umsaetze: &[Umsatz]) -> Result<(Vec<Kennzahl>, Vec<FallSumme>), TooLarge> {
    let mut summen: BTreeMap<u8, Summe> = BTreeMap::new();
    let mut faelle: BTreeMap<(Fall, Option<Percent>), (Money, Money)> = BTreeMap::new();
    for umsatz in umsaetze {
        let (basis, steuer) = faelle.entry((umsatz.fall, umsatz.satz)).or_default();
        *basis = basis.plus(umsatz.basis)?;
        *steuer = steuer.plus(umsatz.steuer)?;
        for beitrag in beitraege(umsatz) {
            summen.entry(beitrag.kennzahl).or_default().add(&beitrag)?;
        }
    }
    let kennzahlen = summen.into_iter().map(|(kennzahl, summe)| summe.of(kennzahl));
    let fall = |((fall, mwst_satz), (basis, steuer))| FallSumme { fall, mwst_satz, basis, steuer };
    Ok((kennzahlen.collect::<Result<_, _>>()?, faelle.into_iter().map(fall).collect()))
}

fn zuordnung(umsatz: &Umsatz) -> Option<&'static Zuordnung> {
    let fits = |(fall, satz, gebiet, ..): &&Zuordnung| {
        *fall == umsatz.fall
            && satz.is_none_or(|satz| umsatz.satz == Some(Percent::whole(satz)))
            && gebiet.is_none_or(|gebiet| gebiet == umsatz.gebiet)
    };
    formular(umsatz.datum.year())?.1.iter().find(fits)
}

impl Summe {
    fn add(&mut self, beitrag: &Beitrag) -> Result<(), TooLarge> {
        match beitrag.wo {
            Keine => {}
            Berechnet => self.satz = beitrag.satz,
            Steuer::Kennzahl(kennzahl) => self.steuer_kennzahl = Some(kennzahl),
            Unbekannt => self.is_unbekannt = true,
        }
        for (summe, betrag) in [(&mut self.basis, beitrag.basis), (&mut self.steuer, beitrag.steuer)] {
            if let Some(betrag) = betrag {
                *summe = Some(summe.unwrap_or_default().plus(betrag)?);
            }
        }
        Ok(())
    }

    fn of(self, kennzahl: u8) -> Result<Kennzahl, TooLarge> {
        let Summe { basis, steuer, satz, steuer_kennzahl, is_unbekannt } = self;
        let basis_euro = basis.filter(|_| !is_unbekannt).map(|basis| basis.units() / Money::UNIT);
        let computed = satz.zip(basis_euro).map(|(satz, euro)| share(Money::whole(euro), satz));
        let steuer_formular = computed.or(steuer);
        let differenz =
            steuer_formular.zip(steuer).map(|(formular, steuer)| formular.minus(steuer)).transpose()?;
        let bezeichnung = bezeichnung(kennzahl);
        Ok(Kennzahl {
            kennzahl,
            bezeichnung,
            steuer_kennzahl,
            basis,
            basis_euro,
            steuer,
            steuer_formular,
            differenz,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::day::Day;

    fn umsatz(fall: Fall, satz: Option<i64>, basis: i64, steuer: i64) -> Umsatz {
        Umsatz {
            datum: Day::new(2026, 10, 12),
            fall,
            satz: satz.map(|hundredths| Percent::from_units(hundredths * 10_000)),
            is_kleinunternehmer: false,
            gebiet: Gebiet::Inland,
            basis: Money::from_units(basis),
            steuer: Money::from_units(steuer),
        }
    }

    /// Kennzahl; base and whole euros; tax as printed and tax on the form. `None` if the figure has no base
    /// or no tax.
    type Row = (u8, Option<(i64, i64)>, Option<(i64, i64)>);

    fn rows(umsaetze: &[Umsatz], is_kleinunternehmer: bool) -> Vec<Row> {
        let umsaetze: Vec<_> =
            umsaetze.iter().map(|umsatz| Umsatz { is_kleinunternehmer, ..*umsatz }).collect();
        let (kennzahlen, _) = kennzahlen(&umsaetze).unwrap();
        let row = |of: Kennzahl| {
            let steuer = of.steuer.zip(of.steuer_formular);
            let differenz = steuer.map(|(steuer, formular)| formular.minus(steuer).unwrap());
            assert_eq!(of.differenz, differenz);
            assert!(!of.bezeichnung.is_empty(), "{of:?}");
            let basis = of.basis.zip(of.basis_euro).map(|(basis, euro)| (basis.units(), euro));
            (of.kennzahl, basis, steuer.map(|(steuer, formular)| (steuer.units(), formular.units())))
        };
        kennzahlen.into_iter().map(row).collect()
    }

    /// The documents of the worked examples of D32, October; the last two are the sales of a cash day.
    fn october() -> Vec<Umsatz> {
        let eu = |umsatz: Umsatz| Umsatz { gebiet: Gebiet::Eu, ..umsatz };
        vec![
            umsatz(Fall::Erloes, Some(700), 610_313, 42_722),
            umsatz(Fall::Erloes, Some(700), 100_000, 7_000),
            umsatz(Fall::Erloes, Some(1900), 8_000, 1_520),
            umsatz(Fall::Erloes, Some(700), 30_000, 2_100),
            umsatz(Fall::Erloes, Some(700), 3_035, 212),
            umsatz(Fall::Aufwand, Some(780), 497_200, 38_782),
            umsatz(Fall::Aufwand, Some(780), 484_770, 37_812),
            umsatz(Fall::Aufwand, Some(780), 484_770, 37_812),
            umsatz(Fall::Aufwand, Some(1900), 10_000, 1_900),
            umsatz(Fall::Aufwand, Some(1900), 5_000, 950),
            eu(umsatz(Fall::ErloesIg, None, 1_000_000, 0)),
            umsatz(Fall::ErloesAusfuhr, None, 250_000, 0),
            eu(umsatz(Fall::AufwandIg, Some(700), 500_000, 0)),
            eu(umsatz(Fall::Aufwand13b, Some(1900), 80_000, 0)),
            umsatz(Fall::AufwandOhne, None, 30_000, 0),
            umsatz(Fall::Erloes, Some(700), 99, 7),
            umsatz(Fall::Erloes, Some(700), 0, 0),
            umsatz(Fall::Erloes, Some(700), 0, 0),
            umsatz(Fall::Erloes, Some(700), 60_000, 4_200),
            umsatz(Fall::Erloes, Some(1900), 10_000, 1_900),
        ]
    }

    #[test]
    fn the_figures_of_the_worked_examples_are_right_to_the_cent() {
        let expected: Vec<Row> = vec![
            (41, Some((1_000_000, 10_000)), None),
            (43, Some((250_000, 2_500)), None),
            (46, Some((80_000, 800)), Some((15_200, 15_200))),
            (61, None, Some((35_000, 35_000))),
            (66, None, Some((117_256, 117_256))),
            (67, None, Some((15_200, 15_200))),
            (81, Some((18_000, 180)), Some((3_420, 3_420))),
            (86, Some((803_447, 8_034)), Some((56_241, 56_238))),
            (93, Some((500_000, 5_000)), Some((35_000, 35_000))),
        ];
        assert_eq!(rows(&october(), false), expected);
        let november = [
            umsatz(Fall::Erloes, Some(700), -610_313, -42_722),
            umsatz(Fall::Erloes, Some(700), -10_000, -700),
        ];
        assert_eq!(rows(&november, false), [(86, Some((-620_313, -6_203)), Some((-43_422, -43_421)))]);
    }

    #[test]
    fn each_case_goes_to_its_figures() {
        let abroad = |umsatz: Umsatz, gebiet| Umsatz { gebiet, ..umsatz };
        let table: &[(Umsatz, &[Row])] = &[
            (umsatz(Fall::Erloes, Some(0), 199, 0), &[(87, Some((199, 1)), None)]),
            (
                umsatz(Fall::Erloes, Some(1600), 10_050, 1_608),
                &[(35, Some((10_050, 100)), Some((1_608, 1_608)))],
            ),
            (umsatz(Fall::ErloesFrei, None, -199, 0), &[(48, Some((-199, -1)), None)]),
            (umsatz(Fall::ErloesNichtSteuerbar, None, 100, 0), &[(45, Some((100, 1)), None)]),
            (umsatz(Fall::Erloes13b, None, 100, 0), &[(60, Some((100, 1)), None)]),
            (abroad(umsatz(Fall::Erloes13b, None, 100, 0), Gebiet::Eu), &[(21, Some((100, 1)), None)]),
            (abroad(umsatz(Fall::Erloes13b, None, 100, 0), Gebiet::Drittland), &[(45, Some((100, 1)), None)]),
            (
                umsatz(Fall::AufwandIg, Some(1900), 10_099, 0),
                &[(61, None, Some((1_919, 1_919))), (89, Some((10_099, 100)), Some((1_919, 1_900)))],
            ),
            (
                umsatz(Fall::AufwandIg, Some(550), 10_000, 0),
                &[(61, None, Some((550, 550))), (95, Some((10_000, 100)), Some((550, 550)))],
            ),
            (umsatz(Fall::AufwandIg, Some(0), 100, 0), &[(91, Some((100, 1)), None)]),
            (
                abroad(umsatz(Fall::Aufwand13b, Some(1900), 10_000, 0), Gebiet::Drittland),
                &[(67, None, Some((1_900, 1_900))), (84, Some((10_000, 100)), Some((1_900, 1_900)))],
            ),
            // The entered amount is the tax of the customs, not the value of the goods.
            (umsatz(Fall::AufwandEinfuhr, None, 100, 0), &[(62, None, None)]),
            (umsatz(Fall::AufwandOhne, None, 100, 0), &[]),
        ];
        for (umsatz, expected) in table {
            assert_eq!(rows(&[*umsatz], false), *expected, "{umsatz:?}");
        }
    }

    #[test]
    fn tax_in_cents_has_a_figure_of_its_own() {
        let of = |umsatz: Umsatz| {
            let (kennzahlen, _) = kennzahlen(&[umsatz]).unwrap();
            kennzahlen.iter().map(|of| (of.kennzahl, of.steuer_kennzahl)).collect::<Vec<_>>()
        };
        assert_eq!(of(umsatz(Fall::Erloes, Some(1600), 100, 16)), [(35, Some(36))]);
        assert_eq!(of(umsatz(Fall::AufwandIg, Some(550), 100, 0)), [(61, None), (95, Some(98))]);
        assert_eq!(of(umsatz(Fall::Aufwand13b, Some(1900), 100, 0)), [(67, None), (84, Some(85))]);
        assert_eq!(of(umsatz(Fall::Erloes, Some(700), 100, 7)), [(86, None)]);
    }

    #[test]
    fn a_kleinunternehmer_owes_what_it_buys_abroad_and_deducts_nothing() {
        let bought = umsatz(Fall::AufwandIg, Some(700), 10_000, 0);
        let sold = umsatz(Fall::ErloesFrei, None, 50_000, 0);
        assert_eq!(rows(&[bought, sold], true), [(93, Some((10_000, 100)), Some((700, 700)))]);
    }

    #[test]
    fn cases_are_summed_by_rate_and_no_figure_is_guessed_for_other_years() {
        let (_, faelle) = kennzahlen(&october()).unwrap();
        let of_erloes: Vec<_> = faelle.iter().filter(|of| of.fall == Fall::Erloes).collect();
        assert_eq!(of_erloes.len(), 2);
        assert_eq!(of_erloes[0].mwst_satz, Some(Percent::whole(7)));
        assert_eq!((of_erloes[0].basis.units(), of_erloes[0].steuer.units()), (803_447, 56_241));
        let earlier = Umsatz { datum: Day::new(2025, 12, 31), ..october()[0] };
        assert_eq!(rows(&[earlier], false), []);
        assert_eq!([2025, 2026, 2027].map(formular_jahr), [None, Some(2026), Some(2026)]);
    }
}
