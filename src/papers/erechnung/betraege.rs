//! Quantities, prices and sums in the form that EN 16931 requires.

use super::model::{Position, Rechnung, Typ};
use crate::rules::document::Rechnungsart;
use crate::rules::fixed::{Money, Percent, Price, Quantity, TooLarge};
use crate::rules::price::line_total;
use crate::rules::tax::{Gruppe, Steuerkategorie, Summen, groups};

pub struct Betraege {
    /// BT-3.
    pub typ: Typ,
    pub zeilen: Vec<Zeile>,
    /// BG-23.
    pub gruppen: Vec<Gruppe<Steuerkategorie>>,
    /// BT-106, 110, 112.
    pub summen: Summen,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Zeile {
    /// BT-129.
    pub menge: Quantity,
    /// BT-146, never negative (BR-27).
    pub preis: Price,
    /// BG-27, if there is a discount.
    pub rabatt: Option<Rabatt>,
    /// BT-131.
    pub netto: Money,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rabatt {
    /// BT-136.
    pub betrag: Money,
    /// BT-138 and BT-137, quantity × price; `None` if the line total does not follow from them
    /// (PEPPOL-EN16931-R040).
    pub aus: Option<(Percent, Money)>,
}

impl Betraege {
    /// Computes the amounts of a document. Fails only for amounts that no stored document has: sums beyond
    /// 10^12, and lines that would exceed it without their discount.
    pub fn of(rechnung: &Rechnung) -> Result<Betraege, TooLarge> {
        let lines = rechnung.positionen.iter();
        let stored = Summen::of(lines.clone().map(|line| (line.gesamtpreis, line.mwst_satz)))?;
        let typ = match (rechnung.art, &rechnung.storno_von) {
            (Rechnungsart::Gutschrift, _) => Typ::Gutschrift,
            (Rechnungsart::Rechnung, Some(_)) => Typ::Storno,
            (Rechnungsart::Rechnung, None) if stored.netto.is_negative() => Typ::Rechnungskorrektur,
            (Rechnungsart::Rechnung, None) => Typ::Rechnung,
        };
        let turned = typ == Typ::Rechnungskorrektur;
        let zeilen = lines.clone().map(|line| Zeile::of(line, turned)).collect::<Result<Vec<_>, _>>()?;
        let taxed =
            lines.zip(&zeilen).map(|(line, zeile)| (line.steuer_kategorie, line.mwst_satz, zeile.netto));
        let gruppen = groups(taxed)?;
        let summen = Summen::of_groups(&gruppen)?;
        Ok(Betraege { typ, zeilen, gruppen, summen })
    }
}

impl Zeile {
    /// Computes the amounts of a position. A negative price moves its sign to the quantity; `turned` reverses
    /// the signs of a document whose sum is negative.
    fn of(position: &Position, turned: bool) -> Result<Zeile, TooLarge> {
        let sign = |negative: bool, value: Quantity| if negative { -value } else { value };
        let preis = position.ep_netto.abs();
        let menge = sign(position.ep_netto.is_negative() != turned, position.menge);
        let netto = if turned { -position.gesamtpreis } else { position.gesamtpreis };
        let basis = line_total(menge, preis, Percent::ZERO)?;
        let betrag = basis.minus(netto)?;
        let prozent = position.rabatt_prozent;
        let follows = line_total(menge, preis, prozent) == Ok(netto);
        let aus = (follows && !prozent.is_zero()).then_some((prozent, basis));
        let rabatt = (!betrag.is_zero()).then_some(Rabatt { betrag, aus });
        Ok(Zeile { menge, preis, rabatt, netto })
    }
}

#[cfg(test)]
mod tests {
    use super::super::model::Bezug;
    use super::*;
    use crate::rules::day::Day;

    fn position(menge: &str, preis: &str, rabatt: &str) -> Position {
        let menge = Quantity::parse(menge).unwrap().value;
        let ep_netto = Price::parse(preis).unwrap().value;
        let rabatt_prozent = Percent::parse(rabatt).unwrap().value;
        Position {
            position: 1,
            menge,
            ep_netto,
            rabatt_prozent,
            gesamtpreis: line_total(menge, ep_netto, rabatt_prozent).unwrap(),
            steuer_kategorie: Steuerkategorie::Steuerpflichtig,
            mwst_satz: Percent::whole(7),
            bezeichnung: "Weizen".to_owned(),
            ..Position::default()
        }
    }

    fn rechnung(art: Rechnungsart, storno: bool, positionen: Vec<Position>) -> Rechnung {
        let datum = Day::new(2026, 11, 2);
        Rechnung {
            art,
            nummer: "RE-2026-00002".to_owned(),
            datum,
            storno_von: storno.then(|| Bezug { nummer: "RE-2026-00001".to_owned(), datum }),
            lieferdatum: Some(datum),
            positionen,
            ..Rechnung::default()
        }
    }

    #[test]
    fn a_price_is_never_negative_and_a_discount_is_an_allowance() {
        // Quantity, price, discount; whether the signs are reversed; then quantity, price, allowance (its
        // percentage and base), total.
        let table = [
            ("12.5", "320", "0", false, "12.500 320.0000 - 4000.00"),
            ("7", "3.335", "12.5", false, "7.000 3.3350 2.92 (12.50 of 23.35) 20.43"),
            ("-7", "3.335", "12.5", false, "-7.000 3.3350 -2.92 (12.50 of -23.35) -20.43"),
            ("1", "-50", "0", false, "-1.000 50.0000 - -50.00"),
            ("-1", "-50", "10", false, "1.000 50.0000 5.00 (10.00 of 50.00) 45.00"),
            ("1", "-50", "0", true, "1.000 50.0000 - 50.00"),
            ("-2", "50", "0", true, "2.000 50.0000 - 100.00"),
            ("2", "50", "0", true, "-2.000 50.0000 - -100.00"),
            ("3", "100", "100", false, "3.000 100.0000 300.00 (100.00 of 300.00) 0.00"),
            ("1", "0.01", "0.000001", false, "1.000 0.0100 - 0.01"),
        ];
        for (menge, preis, rabatt, turned, expected) in table {
            let zeile = Zeile::of(&position(menge, preis, rabatt), turned).unwrap();
            let rabatt_text = zeile.rabatt.map_or("-".to_owned(), |rabatt| {
                let aus = rabatt.aus.map(|(prozent, basis)| format!(" ({prozent} of {basis})"));
                format!("{}{}", rabatt.betrag, aus.unwrap_or_default())
            });
            let shown = format!("{} {} {rabatt_text} {}", zeile.menge, zeile.preis, zeile.netto);
            assert_eq!(shown, expected, "{menge} × {preis} − {rabatt} %, {turned}");
        }
        let huge = position("999999999999", "1000", "100");
        assert_eq!(Zeile::of(&huge, false), Err(TooLarge));
        let mut other = position("10", "1", "10");
        other.gesamtpreis = Money::from_units(950);
        let rabatt = Zeile::of(&other, false).unwrap().rabatt;
        assert_eq!(rabatt, Some(Rabatt { betrag: Money::from_units(50), aus: None }));
    }

    #[test]
    fn the_type_follows_from_art_storno_and_sum() {
        let table = [
            (Rechnungsart::Rechnung, false, "1", "380", "107.00"),
            (Rechnungsart::Rechnung, false, "-1", "381", "107.00"),
            (Rechnungsart::Rechnung, false, "0", "380", "0.00"),
            (Rechnungsart::Rechnung, true, "-1", "384", "-107.00"),
            (Rechnungsart::Rechnung, true, "1", "384", "107.00"),
            (Rechnungsart::Gutschrift, false, "1", "389", "107.00"),
            (Rechnungsart::Gutschrift, false, "-1", "389", "-107.00"),
            (Rechnungsart::Gutschrift, true, "-1", "389", "-107.00"),
        ];
        for (art, storno, menge, typ, brutto) in table {
            let rechnung = rechnung(art, storno, vec![position(menge, "100", "0")]);
            let betraege = Betraege::of(&rechnung).unwrap();
            let found = (betraege.typ.as_str(), betraege.summen.brutto.to_string());
            assert_eq!(found, (typ, brutto.to_owned()), "{art:?} {storno} {menge}");
        }
    }

    #[test]
    fn groups_are_told_apart_by_rate_and_category() {
        let line = |menge, kategorie, satz| Position {
            steuer_kategorie: kategorie,
            mwst_satz: Percent::whole(satz),
            ..position(menge, "10.05", "0")
        };
        use Steuerkategorie::{Ausfuhr, Steuerfrei, Steuerpflichtig};
        let lines = vec![
            line("1", Steuerpflichtig, 7),
            line("2", Steuerfrei, 0),
            line("3", Steuerpflichtig, 19),
            line("4", Ausfuhr, 0),
            line("-5", Steuerpflichtig, 7),
        ];
        let betraege = Betraege::of(&rechnung(Rechnungsart::Rechnung, true, lines)).unwrap();
        let groups = betraege.gruppen.iter();
        let shown = groups.map(|g| format!("{} {} {} {}", g.merkmal.as_str(), g.satz, g.netto, g.steuer));
        let expected =
            ["S 7.00 -40.20 -2.81", "E 0.00 20.10 0.00", "S 19.00 30.15 5.73", "G 0.00 40.20 0.00"];
        assert_eq!(shown.collect::<Vec<_>>(), expected);
    }
}
