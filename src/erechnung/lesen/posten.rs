//! From what an e-invoice says to the items of a document here: quantity, price and discount so that the total of each
//! line is the printed one to the cent (D6).

use rust_decimal::Decimal;

use super::model::{Gelesen, Unlesbar, Zeile, Zuschlag};
use super::values::too_many_lines;
use crate::rules::fixed::{Fixed, Money, Percent, Price, Quantity};
use crate::rules::price::line_total;
use crate::rules::tax::Steuerkategorie;
use crate::rules::unit::of_unece_code;

/// Longest name and longest description of an item, in characters (D18).
const NAME_CHARS_MAX: usize = 255;
const TEXT_CHARS_MAX: usize = 4_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Posten {
    /// The line it comes from, counted from 0; none for an allowance or charge of the document, and for a sum that
    /// stands for lines that the invoice does not have.
    pub zeile: Option<usize>,
    /// Negative in a credit note.
    pub menge: Quantity,
    /// As it stands here, else the UN/ECE code.
    pub einheit: Option<String>,
    /// Net price of one unit before the discount; negative for an allowance.
    pub ep_netto: Price,
    pub rabatt_prozent: Percent,
    /// This and the category: none where the invoice does not say.
    pub mwst_satz: Option<Percent>,
    pub steuer_kategorie: Option<Steuerkategorie>,
    pub bezeichnung: String,
    pub langtext: Option<String>,
    /// Whether quantity, price and discount give the total that the line prints.
    pub ist_genau: bool,
}

/// The items of an e-invoice: its lines, then its allowances and charges. Without lines (profiles MINIMUM and BASIC WL)
/// one item for each tax rate, else one for the sum.
pub fn posten(gelesen: &Gelesen) -> Result<Vec<Posten>, Unlesbar> {
    let only_rate = match gelesen.gruppen.as_slice() {
        [only] => only.mwst_satz,
        _ => None,
    };
    let is_turned = gelesen.ist_gutschrift;
    let has_amount = |zeile: &Zeile| zeile.netto.is_some() || zeile.preis.is_some() && zeile.menge.is_some();
    let posten: Vec<_> = if gelesen.zeilen.iter().any(has_amount) {
        let lines =
            gelesen.zeilen.iter().enumerate().map(|(at, zeile)| of_line(at, zeile, is_turned, only_rate));
        let charges = gelesen.zuschlaege.iter().map(|zuschlag| of_charge(zuschlag, is_turned, only_rate));
        lines.chain(charges).collect()
    } else {
        of_sums(gelesen, is_turned)
    };
    too_many_lines(posten.len().max(gelesen.gruppen.len()))?;
    Ok(posten)
}

fn signed<const SCALE: u32, const SHOWN: usize>(
    value: Fixed<SCALE, SHOWN>,
    is_turned: bool,
) -> Fixed<SCALE, SHOWN> {
    if is_turned { -value } else { value }
}

impl Posten {
    /// What it comes to; none where that is too large.
    pub fn netto(&self) -> Option<Money> {
        line_total(self.menge, self.ep_netto, self.rabatt_prozent).ok()
    }
}

fn of_line(at: usize, zeile: &Zeile, is_turned: bool, only_rate: Option<Percent>) -> Posten {
    let amounts = Amounts::of(zeile);
    let code = zeile.einheit.as_deref();
    let name = zeile.bezeichnung.as_deref().or(zeile.beschreibung.as_deref());
    let description = zeile.beschreibung.as_deref().filter(|text| Some(*text) != name);
    Posten {
        zeile: Some(at),
        menge: signed(amounts.menge, is_turned),
        einheit: code.map(|code| one_line(of_unece_code(code).unwrap_or(code), NAME_CHARS_MAX)),
        ep_netto: amounts.preis,
        rabatt_prozent: amounts.rabatt,
        mwst_satz: zeile.mwst_satz.or_else(|| rate(zeile.steuer_kategorie)).or(only_rate),
        steuer_kategorie: zeile.steuer_kategorie,
        bezeichnung: name
            .map_or_else(|| format!("Position {}", at + 1), |name| one_line(name, NAME_CHARS_MAX)),
        langtext: description.map(|text| lines(text, TEXT_CHARS_MAX)).filter(|text| !text.is_empty()),
        ist_genau: amounts.ist_genau,
    }
}

/// An allowance or a charge: one piece at its amount, which is a discount line where it is negative (D6).
fn of_charge(zuschlag: &Zuschlag, is_turned: bool, only_rate: Option<Percent>) -> Posten {
    let name = if zuschlag.betrag.is_negative() { "Abschlag" } else { "Zuschlag" };
    let grund = zuschlag.grund.as_deref().unwrap_or(name);
    let rate = zuschlag.mwst_satz.or_else(|| rate(zuschlag.steuer_kategorie)).or(only_rate);
    Posten {
        steuer_kategorie: zuschlag.steuer_kategorie,
        ..sum(signed(zuschlag.betrag, is_turned), rate, one_line(grund, NAME_CHARS_MAX))
    }
}

fn of_sums(gelesen: &Gelesen, is_turned: bool) -> Vec<Posten> {
    let nummer = gelesen.nummer.as_deref().unwrap_or_default();
    let name = one_line(&format!("Rechnung {nummer}"), NAME_CHARS_MAX);
    let groups = gelesen.gruppen.iter().filter_map(|group| {
        let rate = group.mwst_satz.or_else(|| rate(group.steuer_kategorie));
        let posten = sum(signed(group.netto?, is_turned), rate, name.clone());
        Some(Posten { steuer_kategorie: group.steuer_kategorie, ..posten })
    });
    let groups: Vec<_> = groups.collect();
    match (groups.is_empty(), gelesen.summen.netto) {
        (true, Some(netto)) => vec![sum(signed(netto, is_turned), None, name)],
        _ => groups,
    }
}

fn sum(betrag: Money, mwst_satz: Option<Percent>, bezeichnung: String) -> Posten {
    Posten {
        zeile: None,
        menge: Quantity::whole(1),
        einheit: None,
        ep_netto: Price::round(betrag.decimal()).unwrap_or_default(),
        rabatt_prozent: Percent::ZERO,
        mwst_satz,
        steuer_kategorie: None,
        bezeichnung,
        langtext: None,
        ist_genau: true,
    }
}

/// A category without tax has the rate 0.
fn rate(kategorie: Option<Steuerkategorie>) -> Option<Percent> {
    kategorie.filter(|kategorie| *kategorie != Steuerkategorie::Steuerpflichtig).map(|_| Percent::ZERO)
}

struct Amounts {
    menge: Quantity,
    preis: Price,
    rabatt: Percent,
    ist_genau: bool,
}

impl Amounts {
    /// The printed price, where it gives the printed total; else with a discount; else the price that follows from the
    /// total. Allowances and charges of the line are in its total (BT-131).
    fn of(zeile: &Zeile) -> Amounts {
        let one = Quantity::whole(1);
        let menge = zeile.menge.filter(|menge| !menge.is_zero()).unwrap_or(one);
        let printed = zeile.preis.and_then(|preis| per_unit(preis, zeile.basis));
        let Some(netto) = zeile.netto else {
            let preis = printed.unwrap_or_default();
            return Amounts { menge, preis, rabatt: Percent::ZERO, ist_genau: printed.is_some() };
        };
        let gives = |preis, rabatt| line_total(menge, preis, rabatt) == Ok(netto);
        if let Some(preis) = printed {
            let discounts =
                [Some(Percent::ZERO), discount(menge, preis, netto, 2), discount(menge, preis, netto, 6)];
            if let Some(rabatt) = discounts.into_iter().flatten().find(|rabatt| gives(preis, *rabatt)) {
                return Amounts { menge, preis, rabatt, ist_genau: true };
            }
        }
        let preis = Price::round(netto.decimal() / menge.decimal()).unwrap_or_default();
        Amounts { menge, preis, rabatt: Percent::ZERO, ist_genau: gives(preis, Percent::ZERO) }
    }
}

/// The discount in per cent, rounded to this number of decimals, that gives a line this total; none without one.
fn discount(menge: Quantity, preis: Price, netto: Money, decimals: u32) -> Option<Percent> {
    let gross = menge.decimal().checked_mul(preis.decimal()).filter(|gross| !gross.is_zero())?;
    let share = Decimal::ONE.checked_sub(netto.decimal().checked_div(gross)?)?;
    let percent = Percent::round(share.checked_mul(Decimal::ONE_HUNDRED)?.round_dp(decimals)).ok()?;
    (Percent::ZERO..=Percent::whole(100)).contains(&percent).then_some(percent)
}

fn per_unit(preis: Price, basis: Option<Quantity>) -> Option<Price> {
    match basis.filter(|basis| !basis.is_zero()) {
        Some(basis) => Price::round(preis.decimal().checked_div(basis.decimal())?).ok(),
        None => Some(preis),
    }
}

/// A text on one line without control characters, cut to this number of characters.
pub fn one_line(text: &str, max: usize) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    cut(&words.collect::<Vec<_>>().join(" "), max)
}

/// A text of several lines without other control characters, cut to this number of characters.
fn lines(text: &str, max: usize) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let kept: String = text.chars().map(|c| if c.is_control() && c != '\n' { ' ' } else { c }).collect();
    cut(kept.trim(), max)
}

fn cut(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        Some((end, _)) => text.get(..end).unwrap_or_default().trim_end().to_owned(),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number<const SCALE: u32, const SHOWN: usize>(text: &str) -> Option<Fixed<SCALE, SHOWN>> {
        (!text.is_empty()).then(|| Fixed::parse(text).unwrap().value)
    }

    #[test]
    fn quantity_price_and_discount_give_the_printed_total() {
        // Quantity, price, base quantity, total; quantity, price, discount, whether the total is met.
        let table = [
            ("10", "2.5", "", "25.00", "10.000 2.5000 0.00", true),
            ("24860", "253.50", "1000", "6302.01", "24860.000 0.2535 0.00", true),
            ("7", "3.335", "", "20.43", "7.000 3.3350 12.49", true),
            ("3", "100", "", "0", "3.000 100.0000 100.00", true),
            ("-7", "3.335", "", "-20.43", "-7.000 3.3350 12.49", true),
            ("3", "33.33", "", "100.00", "3.000 33.333333 0.00", true),
            ("3", "", "", "100.00", "3.000 33.333333 0.00", true),
            ("", "", "", "100.00", "1.000 100.0000 0.00", true),
            ("0", "5", "", "12.00", "1.000 12.0000 0.00", true),
            ("4", "2.5", "0", "10.00", "4.000 2.5000 0.00", true),
            ("4", "2.5", "", "", "4.000 2.5000 0.00", true),
            ("4", "", "", "", "4.000 0.0000 0.00", false),
            ("999999", "1", "", "1000000.25", "999999.000 1.000001 0.00", false),
            ("1", "999999999999", "0.000001", "5", "1.000 5.0000 0.00", true),
            ("999999999999", "999999999999", "", "1", "999999999999.000 0.0000 0.00", false),
        ];
        for (menge, preis, basis, netto, expected, ist_genau) in table {
            let zeile = Zeile {
                menge: number(menge),
                preis: number(preis),
                basis: number(basis),
                netto: number(netto),
                ..Zeile::default()
            };
            let found = Amounts::of(&zeile);
            let shown = format!("{} {} {}", found.menge, found.preis, found.rabatt);
            assert_eq!(
                (shown.as_str(), found.ist_genau),
                (expected, ist_genau),
                "{menge} × {preis} / {basis} = {netto}"
            );
        }
    }

    #[test]
    fn texts_are_cut_and_cleaned() {
        assert_eq!(one_line(" Weizen\r\n\u{b} A \u{0}", 255), "Weizen A");
        assert_eq!(one_line("äöü äöü", 4), "äöü");
        assert_eq!(lines(" a\r\nb\rc\u{7}d ", 255), "a\nb\nc d");
    }
}
